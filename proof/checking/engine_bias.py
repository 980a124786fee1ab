"""What the whole text teaches about its readings: an engine's habits with this hand and this print.

Where one character is read as another all over a work, and the engine gives what is transcribed some chance
each time, the two run together in this hand (羲 and 義, 己 and 已): a single reading then proves little,
however sure it looks. Where the engine gives it none, a recurring pair is a recurring error (托 for 託) and
stays raised. Where it happens to few of a character's occurrences, as to 三 of which a stroke has faded, it tells
nothing of the others. A character that the engine never learned is read as some neighbour in shape; once that
neighbour is known, another reading in its place is news.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import log
from statistics import median

from proof.model.flags import LANGUAGE, PLACEHOLDER, Evidence, Flag, Kind, without_language
from proof.model.result import PageResult
from proof.text.alike import run_together
from proof.verify.scores import ALIKE

OFTEN = 3
"""Times that a pair must occur before it can be a habit."""

SHARE = 0.1
"""Of the occurrences of a character: a pair that is a habit makes up so much of them. On the pages that this was fitted
to (rendered ones of two seeds, planted real ones, a canon) readings that were no error made up a quarter and more of
those of their character (羲, 餕, 囉), or a fiftieth and less (三 as 二): any share between raises the same."""

WAVERS = 0.25
"""Of the readings of a character that the engine does not know: what is read so often is how it reads it, and it may
waver between two such (唎 between 利 and 喇)."""

HALF_BELIEVED = 0.02
"""Probability of what is transcribed that is usual for a pair that the hand runs together as those of `ALIKE`: its
image decides no more than theirs. What is usual of a recurring error is less by far."""

REMEMBERED = 200
"""Readings of a pair that are remembered: enough to tell what is usual."""

LAST = 2**62
"""The position of a page that is none of the run: it comes after all that are."""

UNGIVEN_PROBABILITY = 1e-5
"""The probability taken where an engine gives none."""

STRANGER = 5.0
"""The score of an unknown character that is, for once, read as something quite else with certainty."""

CERTAIN = 0.9
"""Probability from which a reading counts as certain."""


@dataclass(slots=True)
class EngineBias:
    """Counts over a run, gathered page by page; memory grows with the kinds of pairs, not with pages.

    `chances` are, for readings of a pair (transcribed, read), the probabilities of what is transcribed, the
    first `REMEMBERED` of them by page and flag, in whatever order the pages came; `times` counts them all. `unknown`
    counts, for characters that the engine does not know, what it read, `scores` has the scores that the page
    alone gave these, remembered in the same way, and `forms` the other forms of a character that
    it read. `occurrences` says how often the `recurring` characters stand on the images of the work; of one of which
    it is not known any pair may be a habit.
    """

    chances: defaultdict[tuple[str, str], list[tuple[int, int, float]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    times: Counter[tuple[str, str]] = field(default_factory=Counter)
    unknown: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    scores: defaultdict[tuple[str, str], list[tuple[int, int, float]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    forms: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    occurrences: Mapping[str, int] = field(default_factory=dict)

    @property
    def recurring(self) -> set[str]:
        """The characters of which some pair is met often enough to be a habit."""
        return {transcribed for (transcribed, _), number in self.times.items() if number >= OFTEN}

    def add(self, result: PageResult, position: int = LAST) -> None:
        """Take in what the flags of a page say, which stands at `position` among the pages of the run."""
        for ordinal, flag in enumerate(result.flags):
            self.learn(flag, position, ordinal)

    def learn(self, flag: Flag, position: int = LAST, ordinal: int = 0) -> None:
        """Take in what one flag says, if it says how a character is read; what the language model made of it does not
        count."""
        flag = without_language(flag)
        if flag.kind is Kind.VARIANT:
            self.forms[flag.transcribed][flag.suggested] += 1
        if not _is_misread(flag):
            return
        pair = (flag.transcribed, flag.suggested)
        if flag.evidence.p_text is None:
            self.unknown[flag.transcribed][flag.suggested] += 1
            _remember(self.scores[pair], (position, ordinal, _base(flag)))
            return
        self.times[pair] += 1
        _remember(self.chances[pair], (position, ordinal, flag.evidence.p_text))

    def settled(self, flag: Flag) -> Flag:
        """The flag with the score that it has in the light of the whole run; whether it is raised is decided after.

        Starts from the score that the page alone gave (`evidence.base`), so settling twice changes nothing.
        """
        if not _is_misread(flag):
            return flag
        base = _base(flag)
        score, reason = self._judged(flag, base)
        evidence = flag.evidence
        if score == base and evidence.base is None:
            return flag
        return replace(flag, score=score, evidence=replace(evidence, base=base, rule=reason))

    def _judged(self, flag: Flag, base: float) -> tuple[float, str]:
        pair = (flag.transcribed, flag.suggested)
        own = flag.evidence.p_text
        if own is None:
            return self._stranger(flag.transcribed, flag.suggested, flag.evidence, base)
        if self.times[pair] < max(OFTEN, SHARE * self.occurrences.get(flag.transcribed, 0)):
            return base, ""
        # the median: one reading under a stain says nothing about the others
        usual = median(chance for _, _, chance in self.chances[pair])
        relief = max(log(max(usual, UNGIVEN_PROBABILITY) / max(own, UNGIVEN_PROBABILITY)), 0.0)
        half = usual >= HALF_BELIEVED and not run_together(*pair)
        if not relief and not half:
            return base, ""
        return (base - relief) * (ALIKE if half else 1.0), "run together in this hand"

    def _stranger(self, transcribed: str, read: str, evidence: Evidence, base: float) -> tuple[float, str]:
        """A character that the engine does not know: by how it reads its other occurrences."""
        readings = self.unknown[transcribed]
        if readings[read] >= max(OFTEN, WAVERS * readings.total()):
            # what the ink says that it does not say of the others stands
            others = median(score for _, _, score in self.scores[transcribed, read])
            left = base - others if evidence.ink is not None else 0.0
            return min(base, max(left, 0.01)), "always read so"
        readings = readings + self.forms[transcribed]
        usual, count = readings.most_common(1)[0] if readings else ("", 0)
        if count < OFTEN or count < 0.6 * readings.total():
            return base, ""
        certain = evidence.p_best is not None and evidence.p_best >= CERTAIN
        return (STRANGER, f"elsewhere read {usual}") if certain else (base, "")


def _is_misread(flag: Flag) -> bool:
    """Whether a flag says that a character is read as another: neither what the language model alone says nor what is
    read for a placeholder of the text does."""
    return flag.kind is Kind.SUBSTITUTION and flag.evidence.reason not in (LANGUAGE, PLACEHOLDER)


def _base(flag: Flag) -> float:
    """The score that the page alone gave a flag."""
    return flag.score if flag.evidence.base is None else flag.evidence.base


def _remember(known: list[tuple[int, int, float]], place: tuple[int, int, float]) -> None:
    """Take a value at its place into those that are remembered, the first `REMEMBERED` by their places."""
    if len(known) < REMEMBERED:
        known.append(place)
    elif place[0] < LAST and place < (latest := max(known)):
        known[known.index(latest)] = place
