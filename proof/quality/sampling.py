"""Samples of what was not flagged: looked at by proofreaders among the flags, they tell how many errors were missed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from math import sqrt

from proof.model.flags import Evidence, Flag, Kind, context_of
from proof.model.result import CheckedCharacter, PageResult
from proof.text.model import is_han
from proof.verify.page_findings import numbered

REASON = "sample"
SPREAD = 6.0
"""Scores over which samples are strewn, from the threshold up: they are met among the flags."""

CONFIDENT = 1.959964
"""Standard deviations on either side that hold 95 in 100."""


def samples_of(result: PageResult, rate: float, threshold: float) -> tuple[Flag, ...]:
    """Samples of a page: of 10,000 characters without a flag about `rate`.

    Chance decides, and always in the same way: the same page in the same text has the same samples.
    """
    if rate <= 0:
        return ()
    taken = {
        (flag.line, place) for flag in result.flags for place in range(flag.offset - 1, flag.offset + flag.length + 1)
    }
    sources = {column.number: column.source for column in result.columns}
    samples = []
    for one in result.characters:
        place, score = _drawn(result.page, one)
        if place < rate / 10_000 and (one.line, one.offset) not in taken and is_han(one.text):
            samples.append(_sample(result, one, sources.get(one.line, one.text), threshold + SPREAD * score))
    return numbered(samples)


def _drawn(page: str, one: CheckedCharacter) -> tuple[float, float]:
    """Two numbers from 0 to 1 that hang on the place alone."""
    digest = hashlib.blake2b(f"{page}\x1f{one.line}\x1f{one.offset}\x1f{one.text}".encode(), digest_size=16).digest()
    return int.from_bytes(digest[:8], "big") / 2**64, int.from_bytes(digest[8:], "big") / 2**64


def _sample(result: PageResult, one: CheckedCharacter, source: str, score: float) -> Flag:
    return Flag(
        page=result.page,
        ref=result.ref,
        line=one.line,
        offset=one.offset,
        length=one.length,
        kind=Kind.AUDIT,
        transcribed=source[one.offset : one.offset + one.length],
        suggested=source[one.offset : one.offset + one.length],
        score=score,
        raised=False,
        bbox=one.box,
        evidence=Evidence(REASON, p_text=one.p_text, alternatives=one.alternatives),
        context=context_of(source, one.offset, one.length),
    )


@dataclass(frozen=True, slots=True)
class Estimate:
    """Errors per 10,000 characters that were missed: as counted, and the interval that holds the truth in 95 of
    100 cases. `samples` were decided, `wrong` of them were errors."""

    samples: int
    wrong: int
    rate: float
    low: float
    high: float


def estimate(samples: int, wrong: int) -> Estimate:
    """What `wrong` of so many samples tell of all characters that were not flagged."""
    low, high = interval(wrong, samples)
    return Estimate(samples, wrong, 10_000 * wrong / samples if samples else 0.0, 10_000 * low, 10_000 * high)


def interval(count: int, every: int) -> tuple[float, float]:
    """Where a share lies of which `count` in `every` were seen: Wilson's score interval (1927), which holds for few,
    and where none or all were seen."""
    if not every:
        return 0.0, 1.0
    share, square = count / every, CONFIDENT**2
    middle = (share + square / (2 * every)) / (1 + square / every)
    reach = CONFIDENT * sqrt(share * (1 - share) / every + square / (4 * every**2)) / (1 + square / every)
    low = 0.0 if count == 0 else max(middle - reach, 0.0)
    high = 1.0 if count == every else min(middle + reach, 1.0)
    return low, high
