"""Where ink is, whatever a recogniser makes of it: the cells of a column counted from the ink alone."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from proof.layout.rules import Mask

MIN_INK_SHARE = 0.012
"""Share of a cell's area that ink must cover for a glyph to stand there; 一 covers some 0.03."""


@dataclass(frozen=True, slots=True)
class InkCell:
    """One cell that holds ink, `top` to `bottom` in pixels of the rectified page."""

    top: float
    bottom: float


def has_ink(ink: Mask, left: float, top: float, right: float, bottom: float, least: float = MIN_INK_SHARE) -> bool:
    """Whether ink covers more than `least` of a rectangle of the rectified page (enough for a glyph)."""
    part = ink[max(0, round(top)) : max(0, round(bottom)), max(0, round(left)) : max(0, round(right))]
    return bool(part.size and np.count_nonzero(part) > least * part.size)


def ink_cells(
    ink: Mask, left: float, top: float, right: float, bottom: float, pitch: float, above: int = 0
) -> list[InkCell]:
    """Part the ink of a strip into cells of about `pitch`, cutting where least ink is; `above` is how many rows of
    pixels the page has above `ink`.

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
    stretched = [((size * step / pitch - 1.0) / 0.16) ** 2 for size in range(longest + 1)]
    return _walk_back(
        *_cheapest(mass.tolist(), cut.tolist(), stretched, shortest, MIN_INK_SHARE * pitch, 0.02 * step),
        grid,
        above + y0,
    )


def _cheapest(
    mass: list[float], cut: list[float], stretched: list[float], shortest: int, least: float, empty: float
) -> tuple[list[float], list[tuple[int, bool]]]:
    """For every place on the grid what the best way there costs, and from where it comes, by a cell or by empty space.

    `mass` is the ink above each place and `cut` what a cut there costs; a cell of so many steps costs `stretched`, has
    at least `shortest` of them and ink of at least `least`; a step with less than `empty` is empty. Plain numbers: an
    array is asked for one of its elements in ten times the time."""
    count = len(mass) - 1
    best = [0.0] + [inf] * count
    came: list[tuple[int, bool]] = [(0, False)] * (count + 1)
    for end in range(1, count + 1):
        if mass[end] - mass[end - 1] < empty and best[end - 1] < best[end]:
            best[end], came[end] = best[end - 1], (end - 1, False)
        for size in range(shortest, min(len(stretched) - 1, end) + 1):
            start = end - size
            if mass[end] - mass[start] < least:
                continue
            cost = best[start] + stretched[size] + cut[start] + cut[end]
            if cost < best[end]:
                best[end], came[end] = cost, (start, True)
    return best, came


def _walk_back(best: list[float], came: list[tuple[int, bool]], grid: NDArray[np.intp], y0: int) -> list[InkCell]:
    cells: list[InkCell] = []
    end = len(best) - 1
    while end > 0 and best[end] == inf:
        end -= 1
    while end > 0:
        start, filled = came[end]
        if filled:
            cells.append(InkCell(float(y0 + grid[start]), float(y0 + grid[end])))
        end = start
    return cells[::-1]
