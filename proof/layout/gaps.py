"""Periods of the ink along columns, and columns that are really two columns each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proof.layout.rules import true_ranges

MIN_AUTOCORRELATION = 0.08
"""Minimum autocorrelation at the lag of a period."""

MIN_PEAK_RATIO = 0.6
"""Minimum height of a peak of the autocorrelation relative to the highest peak: the first such peak is the period, the
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


def first_period(correlation: NDArray[np.float64], low: int, high: int) -> float | None:
    """The lag of the first high peak of an autocorrelation (1 at lag 0) from `low` to `high`, refined by a parabola;
    None where there is none."""
    lags = np.arange(low, high)
    before, at, after = correlation[lags - 1], correlation[lags], correlation[lags + 1]
    peaks = lags[(at > before) & (at >= after) & (at > MIN_AUTOCORRELATION)]
    if not peaks.size:
        return None
    first = int(peaks[correlation[peaks] >= MIN_PEAK_RATIO * correlation[peaks].max()][0])
    left, peak, right = (float(value) for value in correlation[first - 1 : first + 2])
    return first + 0.5 * (left - right) / min(left - 2 * peak + right, -1e-9)


def are_pairs(across: NDArray[np.float64], spans: Sequence[Span]) -> bool:
    """Whether each of these columns is really two: the gaps in their middles are as wide as the gaps between them.
    `across` is the share of inked rows at every x."""
    inked = across[across > 2 * MAX_EMPTY_INK]
    if not inked.size:
        return False
    is_gap = across < MAX_GAP_INK * float(inked.mean())
    middle_gaps, gaps_between, with_two_halves = [], [], 0
    for number, span in enumerate(spans):
        left, middle, right = round(span.left), round(span.middle), round(span.right)
        halves = float(across[left:middle].sum()), float(across[middle:right].sum())
        with_two_halves += min(halves) > MIN_HALF_INK * sum(halves)
        middle_gaps.append(_gap_width(is_gap, span.middle, GAP_REACH_WIDTHS * span.width))
        if number and span.left == spans[number - 1].right:
            gaps_between.append(_gap_width(is_gap, span.left, GAP_REACH_WIDTHS * span.width))
    if with_two_halves < MIN_PAIRS or not gaps_between:
        return False
    usual = float(np.median(gaps_between))
    return usual > 0 and float(np.median(middle_gaps)) > MIN_MIDDLE_GAP * usual


def _gap_width(is_gap: NDArray[np.bool_], x: float, reach: float) -> int:
    """The width of the widest gap within `reach` of `x`, in pixels."""
    part = is_gap[max(0, round(x - reach)) : round(x + reach) + 1]
    return max((end - start for start, end in true_ranges(part)), default=0)
