"""The engine's bias with the hand or print of a work, learned from all of its readings in the work.

A character may be read as another throughout a work. If the engine gives the transcribed character some probability
each time, the two look alike in this hand (羲 and 義, 己 and 已), and a single reading proves little, however sure the
engine is. If it gives none, the pair is a recurring error (托 for 託) and stays raised. If only few occurrences of a
character are read as the other, such as a 三 of which a stroke has faded, they say nothing about the rest. A character
that the engine does not know is read as one of similar shape. Once that reading is known, another one is evidence of an
error.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import log
from statistics import median
from typing import NamedTuple

from proof.model.flags import LANGUAGE, PLACEHOLDER, Evidence, Flag, Kind, without_language
from proof.model.result import PageResult
from proof.ocr.belief import MIN_PROBABILITY
from proof.text.alike import run_together
from proof.verify.findings import EXPECTED_SCORE
from proof.verify.scores import ALIKE_WEIGHT

MIN_COUNT = 3
"""Minimum number of occurrences of a pair that is a bias."""

MIN_PAIR_SHARE = 0.1
"""Minimum share of a character's occurrences that are read as the other of a pair that is a bias. On the pages that
this was fitted to (rendered ones of two seeds, planted real ones, a canon) the share of readings that were no error was
0.25 and more (羲, 餕, 囉), or 0.02 and less (三 as 二), so that all values between have the same result."""

MIN_UNKNOWN_SHARE = 0.25
"""Minimum share of a usual reading among the readings of a character that the engine does not know. A character may
have two of them (唎 is read as 利 and as 喇)."""

MIN_USUAL_SHARE = 0.6
"""Minimum share of a reading that is so usual that another one is evidence of an error."""

MIN_ALIKE_PROBABILITY = 0.02
"""Minimum median probability of the transcribed character for a pair that looks so alike in this hand that
`ALIKE_WEIGHT` applies to it. That of a recurring error is far lower."""

MAX_REMEMBERED = 200
"""Maximum number of values that are kept for the median of a pair."""

POSITION_AFTER_ALL_PAGES = 2**62
"""The position of a page that is not in the run: after all pages that are."""

UNUSUAL_SCORE = 5.0
"""Score in nats of a character that the engine does not know and reads with certainty, but not as usual."""

MIN_CERTAIN_PROBABILITY = 0.9
"""Minimum probability of a certain reading."""


class Remembered(NamedTuple):
    """A probability or score from a flag, with the position of the flag's page in the run and its index on the page."""

    position: int
    ordinal: int
    value: float


@dataclass(slots=True)
class EngineBias:
    """Counts over the pages of a work, gathered page by page. Memory grows with the number of different pairs, not of
    pages.

    - `pair_counts`: how often each pair (transcribed, read) occurs
    - `text_probabilities`: for each pair the probabilities of the transcribed character; of more than `MAX_REMEMBERED`
      the first by page and flag, in whatever order the pages came
    - `unknown_readings`: for characters that the engine does not know, how often it read which character
    - `unknown_scores`: for these pairs the scores that the page alone gave, remembered in the same way
    - `other_forms`: how often which variant form of a character was read
    - `occurrences`: how often each of the `recurring` characters stands on the images of the work. For a character that
      it lacks, every pair that occurs `MIN_COUNT` times is a bias.
    """

    text_probabilities: defaultdict[tuple[str, str], list[Remembered]] = field(
        default_factory=lambda: defaultdict(list)
    )
    pair_counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    unknown_readings: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    unknown_scores: defaultdict[tuple[str, str], list[Remembered]] = field(default_factory=lambda: defaultdict(list))
    other_forms: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    occurrences: Mapping[str, int] = field(default_factory=dict)

    @property
    def recurring(self) -> set[str]:
        """The characters that are read as one other often enough for a bias."""
        return {transcribed for (transcribed, _), number in self.pair_counts.items() if number >= MIN_COUNT}

    def add_page(self, result: PageResult, position: int = POSITION_AFTER_ALL_PAGES) -> None:
        """Count the flags of a page, which stands at `position` among the pages of the run."""
        for ordinal, flag in enumerate(result.flags):
            self.add_flag(flag, position, ordinal)

    def add_flag(self, flag: Flag, position: int = POSITION_AFTER_ALL_PAGES, ordinal: int = 0) -> None:
        """Count a flag if it says how a character is read. What the language model changed in it is left out."""
        flag = without_language(flag)
        if flag.kind is Kind.VARIANT:
            self.other_forms[flag.transcribed][flag.suggested] += 1
        if not _is_misread(flag):
            return
        pair = (flag.transcribed, flag.suggested)
        if flag.evidence.p_text is None:
            self.unknown_readings[flag.transcribed][flag.suggested] += 1
            _remember(self.unknown_scores[pair], Remembered(position, ordinal, _page_score(flag)))
            return
        self.pair_counts[pair] += 1
        _remember(self.text_probabilities[pair], Remembered(position, ordinal, flag.evidence.p_text))

    def rescored(self, flag: Flag) -> Flag:
        """The flag with its score by the whole run; `raised` does not change. Idempotent, since the score is computed
        from that which the page alone gave (`evidence.base`)."""
        if not _is_misread(flag):
            return flag
        base = _page_score(flag)
        score, rule = self._score_and_rule(flag, base)
        if score == base and flag.evidence.base is None:
            return flag
        return replace(flag, score=score, evidence=replace(flag.evidence, base=base, rule=rule))

    def _score_and_rule(self, flag: Flag, base: float) -> tuple[float, str]:
        """The score of a flag by the whole run, and the rule that changes it."""
        pair = (flag.transcribed, flag.suggested)
        p_text = flag.evidence.p_text
        if p_text is None:
            return self._score_and_rule_of_unknown(flag.transcribed, flag.suggested, flag.evidence, base)
        if self.pair_counts[pair] < max(MIN_COUNT, MIN_PAIR_SHARE * self.occurrences.get(flag.transcribed, 0)):
            return base, ""
        # the median, since one reading under a stain says nothing about the others
        usual_p_text = median(remembered.value for remembered in self.text_probabilities[pair])
        deduction = max(log(max(usual_p_text, MIN_PROBABILITY) / max(p_text, MIN_PROBABILITY)), 0.0)
        alike_in_this_hand = usual_p_text >= MIN_ALIKE_PROBABILITY and not run_together(*pair)
        if not deduction and not alike_in_this_hand:
            return base, ""
        return (base - deduction) * (ALIKE_WEIGHT if alike_in_this_hand else 1.0), "run together in this hand"

    def _score_and_rule_of_unknown(
        self, transcribed: str, read: str, evidence: Evidence, base: float
    ) -> tuple[float, str]:
        """The score of a character that the engine does not know, by its other occurrences, and the rule."""
        readings = self.unknown_readings[transcribed]
        if readings[read] >= max(MIN_COUNT, MIN_UNKNOWN_SHARE * readings.total()):
            # evidence of the ink that the other occurrences lack still counts
            usual_score = median(remembered.value for remembered in self.unknown_scores[transcribed, read])
            excess = base - usual_score if evidence.ink is not None else 0.0
            return min(base, max(excess, EXPECTED_SCORE)), "always read so"
        readings = readings + self.other_forms[transcribed]
        usual, count = readings.most_common(1)[0] if readings else ("", 0)
        is_usual = count >= MIN_COUNT and count >= MIN_USUAL_SHARE * readings.total()
        is_certain = evidence.p_best is not None and evidence.p_best >= MIN_CERTAIN_PROBABILITY
        return (UNUSUAL_SCORE, f"elsewhere read {usual}") if is_usual and is_certain else (base, "")


def _is_misread(flag: Flag) -> bool:
    """Whether a flag says that a character is read as another. Flags that the language model alone raised and those
    about placeholders of the text do not."""
    return flag.kind is Kind.SUBSTITUTION and flag.evidence.reason not in (LANGUAGE, PLACEHOLDER)


def _page_score(flag: Flag) -> float:
    """The score that the page alone gave a flag."""
    return flag.score if flag.evidence.base is None else flag.evidence.base


def _remember(remembered: list[Remembered], new: Remembered) -> None:
    """Add a number; of more than `MAX_REMEMBERED` keep the first by page and flag."""
    if len(remembered) < MAX_REMEMBERED:
        remembered.append(new)
    elif new.position < POSITION_AFTER_ALL_PAGES and new < (latest := max(remembered)):
        remembered[remembered.index(latest)] = new
