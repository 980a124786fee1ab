"""Where ink is, whatever a recogniser makes of it: the cells of a column counted from the ink alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proof.layout.rules import Mask

LEAST = 0.012
"""Share of a cell's area that ink must cover for a glyph to stand there; 一 covers some 0.03."""


@dataclass(frozen=True, slots=True)
class InkCell:
    """One cell that holds ink, `top` to `bottom` in pixels of the rectified page."""

    top: float
    bottom: float


def has_ink(ink: Mask, left: float, top: float, right: float, bottom: float, least: float = LEAST) -> bool:
    """Whether ink covers more than `least` of a rectangle of the rectified page (enough for a glyph)."""
    part = ink[max(0, round(top)) : max(0, round(bottom)), max(0, round(left)) : max(0, round(right))]
    return bool(part.size and np.count_nonzero(part) > least * part.size)


def ink_cells(ink: Mask, left: float, top: float, right: float, bottom: float, pitch: float) -> list[InkCell]:
    """Part the ink of a strip into cells of about `pitch`, cutting where least ink is.

    Dynamic programming over cuts on a grid of a tenth of a cell: a cell costs the square of how far its
    height is from the pitch, a cut costs the ink it goes through, and empty space costs nothing.
    """
    y0 = max(0, round(top))
    part = ink[y0 : max(y0, round(bottom)), max(0, round(left)) : max(0, round(right))]
    if not part.size:
        return []
    step = max(2, round(pitch / 10))
    rows = (part > 0).mean(axis=1)
    count = len(rows) // step + 1
    grid = np.arange(count + 1) * step
    mass = np.concatenate([[0.0], np.cumsum(rows)])[grid.clip(0, len(rows))]
    smooth = np.convolve(rows, np.ones(3) / 3, mode="same")
    cut = np.concatenate([smooth, [0.0, 0.0]])[grid.clip(0, len(rows))] * 6.0
    shortest, longest = max(1, round(0.6 * pitch / step)), round(1.5 * pitch / step)
    least = LEAST * pitch
    best = np.full(count + 1, np.inf)
    best[0] = 0.0
    came: list[tuple[int, bool]] = [(0, False)] * (count + 1)
    for end in range(1, count + 1):
        # a step of empty space
        if mass[end] - mass[end - 1] < 0.02 * step and best[end - 1] < best[end]:
            best[end], came[end] = best[end - 1], (end - 1, False)
        for size in range(shortest, min(longest, end) + 1):
            start = end - size
            if mass[end] - mass[start] < least:
                continue
            stretch = (size * step / pitch - 1.0) / 0.16
            cost = best[start] + stretch * stretch + cut[start] + cut[end]
            if cost < best[end]:
                best[end], came[end] = float(cost), (start, True)
    return _walk_back(came, grid, y0, count, best)


def _walk_back(
    came: list[tuple[int, bool]], grid: NDArray[np.intp], y0: int, count: int, best: NDArray[np.float64]
) -> list[InkCell]:
    cells: list[InkCell] = []
    end = count
    while end > 0 and not np.isfinite(best[end]):
        end -= 1
    while end > 0:
        start, filled = came[end]
        if filled:
            cells.append(InkCell(float(y0 + grid[start]), float(y0 + grid[end])))
        end = start
    return cells[::-1]
