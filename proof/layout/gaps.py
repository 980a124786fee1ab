"""Columns that are really two columns each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proof.layout.rules import true_ranges

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
