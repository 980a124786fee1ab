"""The engine's bias with the hand or print of a work, from all its readings there.

A character may be read as another throughout a work. If the engine gives the transcribed character some probability
each time, the two look alike in this hand (羲 and 義, 己 and 已), and a single reading proves little, however sure it
is. If it gives none, the pair is a recurring error (托 for 託) and stays raised. If few of a character's occurrences
are read so, as 三 of which a stroke has faded, that says nothing about the others. A character that the engine does not
know is read as one of similar shape; where that is known, another reading in its place is evidence of an error.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import log
from statistics import median

from proof.model.flags import LANGUAGE, PLACEHOLDER, Evidence, Flag, Kind, without_language
from proof.model.result import PageResult
from proof.ocr.belief import MIN_PROBABILITY
from proof.text.alike import run_together
from proof.verify.findings import EXPECTED_SCORE
from proof.verify.scores import ALIKE_WEIGHT

MIN_TIMES = 3
"""Times that a pair must occur to be a bias."""

MIN_PAIR_SHARE = 0.1
"""Share of a character's occurrences that a pair must make up to be a bias. On the pages that this was fitted to
(rendered ones of two seeds, planted real ones, a canon) readings that were no error made up a quarter and more of the
occurrences (羲, 餕, 囉), or a fiftieth and less (三 as 二): any share between raises the same."""

MIN_UNKNOWN_SHARE = 0.25
"""Share of the readings of a character that the engine does not know from which a reading is its usual one; there may
be two (唎 read as 利 and as 喇)."""

MIN_USUAL_SHARE = 0.6
"""Share of these readings from which the most frequent one is expected, and another one is evidence of an error."""

MIN_ALIKE_PROBABILITY = 0.02
"""Median probability of the transcribed character from which a pair looks so alike in this hand that `ALIKE_WEIGHT`
applies to it. That of a recurring error is lower by far."""

MAX_REMEMBERED = 200
"""Readings of a pair that are remembered, for the median."""

POSITION_AFTER_ALL_PAGES = 2**62
"""The position of a page that is not in the run: after all that are."""


UNUSUAL_SCORE = 5.0
"""Score in nats of an unknown character that is certainly read as another than usual."""

MIN_CERTAIN_PROBABILITY = 0.9
"""Probability from which a reading counts as certain."""


@dataclass(slots=True)
class EngineBias:
    """Counts over a run, gathered page by page; memory grows with the number of different pairs, not of pages.

    `chances` has for each pair (transcribed, read) the probabilities of the transcribed character, the first
    `MAX_REMEMBERED` by page and flag, in whatever order the pages came; `times` counts them all. For characters that
    the engine does not know, `unknown` counts its readings, and `scores` has the scores that the page alone gave them,
    remembered in the same way. `forms` counts the other forms of a character that were read. `occurrences` is how often
    the `recurring` characters stand on the images of the work; 0, for one that it lacks, lets any pair be a bias.
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
        """The characters that are read as one other often enough for a bias."""
        return {transcribed for (transcribed, _), number in self.times.items() if number >= MIN_TIMES}

    def add(self, result: PageResult, position: int = POSITION_AFTER_ALL_PAGES) -> None:
        """Count the flags of a page, which stands at `position` among the pages of the run."""
        for ordinal, flag in enumerate(result.flags):
            self.learn(flag, position, ordinal)

    def learn(self, flag: Flag, position: int = POSITION_AFTER_ALL_PAGES, ordinal: int = 0) -> None:
        """Count a flag if it says how a character is read, without the language model's part in it."""
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
        """The flag with its score by the whole run; `raised` does not change. Starts from the score that the page alone
        gave (`evidence.base`), so that settling twice changes nothing."""
        if not _is_misread(flag):
            return flag
        base = _base(flag)
        score, rule = self._judged(flag, base)
        if score == base and flag.evidence.base is None:
            return flag
        return replace(flag, score=score, evidence=replace(flag.evidence, base=base, rule=rule))

    def _judged(self, flag: Flag, base: float) -> tuple[float, str]:
        """The score of a flag by the whole run, and the rule that changes it."""
        pair = (flag.transcribed, flag.suggested)
        p_text = flag.evidence.p_text
        if p_text is None:
            return self._judged_unknown(flag.transcribed, flag.suggested, flag.evidence, base)
        if self.times[pair] < max(MIN_TIMES, MIN_PAIR_SHARE * self.occurrences.get(flag.transcribed, 0)):
            return base, ""
        # the median: one reading under a stain says nothing about the others
        usual = median(chance for _, _, chance in self.chances[pair])
        deduction = max(log(max(usual, MIN_PROBABILITY) / max(p_text, MIN_PROBABILITY)), 0.0)
        alike = usual >= MIN_ALIKE_PROBABILITY and not run_together(*pair)
        if not deduction and not alike:
            return base, ""
        return (base - deduction) * (ALIKE_WEIGHT if alike else 1.0), "run together in this hand"

    def _judged_unknown(self, transcribed: str, read: str, evidence: Evidence, base: float) -> tuple[float, str]:
        """The score of a character that the engine does not know, by its other occurrences, and the rule."""
        readings = self.unknown[transcribed]
        if readings[read] >= max(MIN_TIMES, MIN_UNKNOWN_SHARE * readings.total()):
            # evidence of the ink that the other occurrences lack still counts
            others = median(score for _, _, score in self.scores[transcribed, read])
            beyond_others = base - others if evidence.ink is not None else 0.0
            return min(base, max(beyond_others, EXPECTED_SCORE)), "always read so"
        readings = readings + self.forms[transcribed]
        usual, count = readings.most_common(1)[0] if readings else ("", 0)
        if count < MIN_TIMES or count < MIN_USUAL_SHARE * readings.total():
            return base, ""
        certain = evidence.p_best is not None and evidence.p_best >= MIN_CERTAIN_PROBABILITY
        return (UNUSUAL_SCORE, f"elsewhere read {usual}") if certain else (base, "")


def _is_misread(flag: Flag) -> bool:
    """Whether a flag says that a character is read as another, unlike one that the language model alone raised or one
    about a placeholder of the text."""
    return flag.kind is Kind.SUBSTITUTION and flag.evidence.reason not in (LANGUAGE, PLACEHOLDER)


def _base(flag: Flag) -> float:
    """The score that the page alone gave a flag."""
    return flag.score if flag.evidence.base is None else flag.evidence.base


def _remember(known: list[tuple[int, int, float]], place: tuple[int, int, float]) -> None:
    """Add a value with its place (page and flag), and keep the first `MAX_REMEMBERED` by place."""
    if len(known) < MAX_REMEMBERED:
        known.append(place)
    elif place[0] < POSITION_AFTER_ALL_PAGES and place < (latest := max(known)):
        known[known.index(latest)] = place
