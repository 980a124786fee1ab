"""What recurs on a page, and the gaps in between: periods of ink, columns that are two each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proof.layout.rules import runs

Profile = NDArray[np.float64]
"""For every x a share, from 0 to 1, of the rows of a region."""

PERIODIC = 0.08
"""Autocorrelation from which a period is one."""

AS_GOOD = 0.6
"""Of the highest peak of the autocorrelation: the first peak as high as this is the pitch and not a multiple of it."""

EMPTY = 0.01
"""Share of the rows: less ink than this is none."""

MAX_GAP_INK = 0.25
"""Of the average ink: where there is less, there is a gap."""

GAP_REACH_WIDTHS = 0.2
"""Of a column's width: so near to its middle, or its side, a gap is looked for."""

MIN_MIDDLE_GAP = 0.75
"""Gaps in the middle of columns that are so wide, against those between them, part columns as well."""

MIN_PAIRS = 2
"""So many columns at least have ink on either side of their middle, where each is two."""

MIN_HALF_INK = 0.06
"""Of a column's ink: so much is on either side of its middle."""


@dataclass(frozen=True, slots=True)
class Span:
    """From where to where a column goes across its region, in pixels."""

    left: float
    right: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2


def first_period(alike: Profile, low: int, high: int) -> float | None:
    """The lag of the first high peak of an autocorrelation (1 at lag 0) from `low` to `high`; None where there is
    none."""
    lags = np.arange(low, high)
    peaks = lags[(alike[lags] > alike[lags - 1]) & (alike[lags] >= alike[lags + 1]) & (alike[lags] > PERIODIC)]
    if not peaks.size:
        return None
    first = int(peaks[alike[peaks] >= AS_GOOD * alike[peaks].max()][0])
    a, b, c = (float(value) for value in alike[first - 1 : first + 2])
    return first + 0.5 * (a - c) / min(a - 2 * b + c, -1e-9)


def are_pairs(across: Profile, spans: Sequence[Span]) -> bool:
    """Whether these columns are two each: they have gaps in the middle as wide as those between them. What recurs most
    may be every other column, where some are empty."""
    inked = across[across > 2 * EMPTY]
    if not inked.size:
        return False
    slight = across < MAX_GAP_INK * float(inked.mean())
    middles, between, pairs = [], [], 0
    for number, span in enumerate(spans):
        left, middle, right = round(span.left), round(span.middle), round(span.right)
        halves = float(across[left:middle].sum()), float(across[middle:right].sum())
        pairs += min(halves) > MIN_HALF_INK * sum(halves)
        middles.append(_gap(slight, span.middle, GAP_REACH_WIDTHS * span.width))
        if number and span.left == spans[number - 1].right:
            between.append(_gap(slight, span.left, GAP_REACH_WIDTHS * span.width))
    if pairs < MIN_PAIRS or not between:
        return False
    wide = float(np.median(between))
    return wide > 0 and float(np.median(middles)) > MIN_MIDDLE_GAP * wide


def _gap(slight: NDArray[np.bool_], x: float, reach: float) -> int:
    """How many pixels the widest gap about a place is wide."""
    part = slight[max(0, round(x - reach)) : round(x + reach) + 1]
    return max((end - start for start, end in runs(part)), default=0)
