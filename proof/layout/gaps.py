"""Periods of ink, and columns that are really two columns each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proof.layout.rules import true_ranges

Profile = NDArray[np.float64]
"""For every x a share, from 0 to 1, of the rows of a region."""

MIN_AUTOCORRELATION = 0.08
"""Minimum autocorrelation at the lag of a period."""

MIN_PEAK_RATIO = 0.6
"""Minimum height of a peak of the autocorrelation relative to the highest peak: the first such peak is the pitch, the
others are multiples of it."""

MAX_EMPTY_INK = 0.01
"""Maximum share of inked rows that counts as no ink."""

MAX_GAP_INK = 0.25
"""Maximum ink of a gap, relative to the mean ink."""

GAP_REACH_WIDTHS = 0.2
"""Maximum distance of a gap from the middle or side of a column, in widths of the column."""

MIN_MIDDLE_GAP = 0.75
"""Minimum width of the gaps in the middle of columns, relative to the gaps between them, for both to part columns."""

MIN_PAIRS = 2
"""Minimum number of columns with ink on both sides of their middle."""

MIN_HALF_INK = 0.06
"""Minimum share of a column's ink on either side of its middle."""


@dataclass(frozen=True, slots=True)
class Span:
    """The left and right edge of a column, in pixels."""

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
    peaks = lags[
        (alike[lags] > alike[lags - 1]) & (alike[lags] >= alike[lags + 1]) & (alike[lags] > MIN_AUTOCORRELATION)
    ]
    if not peaks.size:
        return None
    first = int(peaks[alike[peaks] >= MIN_PEAK_RATIO * alike[peaks].max()][0])
    a, b, c = (float(value) for value in alike[first - 1 : first + 2])
    return first + 0.5 * (a - c) / min(a - 2 * b + c, -1e-9)


def are_pairs(across: Profile, spans: Sequence[Span]) -> bool:
    """Whether each of these columns is really two: the gaps in their middles are as wide as the gaps between them."""
    inked = across[across > 2 * MAX_EMPTY_INK]
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
    """The width of the widest gap within `reach` of `x`, in pixels."""
    part = slight[max(0, round(x - reach)) : round(x + reach) + 1]
    return max((end - start for start, end in true_ranges(part)), default=0)
