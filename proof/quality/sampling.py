"""Samples of characters that were not flagged. From the decisions on them the number of missed errors is estimated."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from math import sqrt

from proof.model.flags import Evidence, Flag, Kind, with_ids
from proof.model.result import CheckedCharacter, PageResult
from proof.text.contexts import context_of
from proof.text.model import is_han

REASON = "sample"
"""The reason in the evidence of a sample."""

SCORE_RANGE_NATS = 6.0
"""Samples get scores of at most so many nats above the threshold, so that people see them among the flags."""

Z_95 = 1.959964
"""Standard deviations on either side of the mean that hold 95 % of a normal distribution."""


def samples_of(result: PageResult, rate: float, threshold: float) -> tuple[Flag, ...]:
    """Samples of the Han characters of a page that have no flag on them or beside them: about `rate` in 10,000.

    A hash of the place decides, so that the same page of the same text always has the same samples.
    """
    if rate <= 0:
        return ()
    near_flags = {
        (flag.line, offset) for flag in result.flags for offset in range(flag.offset - 1, flag.offset + flag.length + 1)
    }
    sources = {column.number: column.source for column in result.columns}
    samples = []
    for character in result.characters:
        chance, score_share = _hashed(result.page, character)
        is_free = (character.line, character.offset) not in near_flags and is_han(character.text)
        if chance < rate / 10_000 and is_free:
            source = sources.get(character.line, character.text)
            samples.append(_sample(result, character, source, threshold + SCORE_RANGE_NATS * score_share))
    return with_ids(samples)


def _hashed(page: str, character: CheckedCharacter) -> tuple[float, float]:
    """Two numbers from 0 to 1 that depend only on the character and its place."""
    key = f"{page}\x1f{character.line}\x1f{character.offset}\x1f{character.text}"
    digest = hashlib.blake2b(key.encode(), digest_size=16).digest()
    return int.from_bytes(digest[:8], "big") / 2**64, int.from_bytes(digest[8:], "big") / 2**64


def _sample(result: PageResult, character: CheckedCharacter, source: str, score: float) -> Flag:
    text = source[character.offset : character.offset + character.length]
    return Flag(
        page=result.page,
        ref=result.ref,
        line=character.line,
        offset=character.offset,
        length=character.length,
        kind=Kind.AUDIT,
        transcribed=text,
        suggested=text,
        score=score,
        raised=False,
        bbox=character.box,
        evidence=Evidence(REASON, p_text=character.p_text, alternatives=character.alternatives),
        context=context_of(source, character.offset, character.length),
    )


@dataclass(frozen=True, slots=True)
class Estimate:
    """Estimate of the errors missed in 10,000 characters: `rate`, and its 95 % interval from `low` to `high`. It rests
    on the number of decided `samples`, and on the number of those that were `wrong`."""

    samples: int
    wrong: int
    rate: float
    low: float
    high: float


def estimate(samples: int, wrong: int) -> Estimate:
    """Estimate of the errors among the characters that were not flagged, from `wrong` errors in `samples`."""
    low, high = interval(wrong, samples)
    return Estimate(samples, wrong, 10_000 * wrong / samples if samples else 0.0, 10_000 * low, 10_000 * high)


def interval(count: int, total: int) -> tuple[float, float]:
    """Wilson's 95 % score interval (1927) of a share, of which a sample has `count` cases in `total`. It is also valid
    for small totals, and for a count of 0 or of all."""
    if not total:
        return 0.0, 1.0
    share, square = count / total, Z_95**2
    middle = (share + square / (2 * total)) / (1 + square / total)
    half_width = Z_95 * sqrt(share * (1 - share) / total + square / (4 * total**2)) / (1 + square / total)
    low = 0.0 if count == 0 else max(middle - half_width, 0.0)  # exactly 0, in spite of rounding
    high = 1.0 if count == total else min(middle + half_width, 1.0)
    return low, high
