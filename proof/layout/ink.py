"""The cells of a column, found from its ink alone, without a recogniser."""

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


def has_ink(ink: Mask, left: float, top: float, right: float, bottom: float, min_share: float = MIN_INK_SHARE) -> bool:
    """Whether ink covers more than `min_share` of a rectangle of the rectified page; by default enough for a glyph."""
    part = ink[max(0, round(top)) : max(0, round(bottom)), max(0, round(left)) : max(0, round(right))]
    return bool(part.size and np.count_nonzero(part) > min_share * part.size)


def ink_cells(
    ink: Mask, left: float, top: float, right: float, bottom: float, pitch: float, above: int = 0
) -> list[InkCell]:
    """The cells of about `pitch` into which the ink of a strip is divided, cut where least ink is; `above` is the
    number of rows of pixels that the page has above `ink`.

    Dynamic programming over cuts on a grid of a tenth of a cell: a cell costs the square of the difference of its
    height from the pitch, a cut costs the ink that it goes through, and empty space costs nothing."""
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
    mass: list[float], cut: list[float], stretched: list[float], shortest: int, min_ink: float, empty: float
) -> tuple[list[float], list[tuple[int, bool]]]:
    """For every place on the grid the cost of the cheapest path to it, and the place before it on that path, with
    whether a cell (or empty space) lies between the two.

    `mass` is the ink above each place, `cut` the cost of a cut there, `stretched` the cost of a cell by its number of
    steps. A cell has at least `shortest` steps and at least `min_ink`; a step with less ink than `empty` is empty.
    Lists are used since single elements of arrays take ten times as long."""
    count = len(mass) - 1
    best = [0.0] + [inf] * count
    came: list[tuple[int, bool]] = [(0, False)] * (count + 1)
    for end in range(1, count + 1):
        if mass[end] - mass[end - 1] < empty and best[end - 1] < best[end]:
            best[end], came[end] = best[end - 1], (end - 1, False)
        for size in range(shortest, min(len(stretched) - 1, end) + 1):
            start = end - size
            if mass[end] - mass[start] < min_ink:
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
