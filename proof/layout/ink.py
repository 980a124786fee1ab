"""The cells of a column, found from its ink alone, without a recogniser."""

from __future__ import annotations

from math import inf

import numpy as np

from proof.layout.rules import Mask

MIN_INK_SHARE = 0.012
"""Share of a cell's area that ink must cover for a glyph to stand there; 一 covers some 0.03."""


def has_ink(ink: Mask, left: float, top: float, right: float, bottom: float, min_share: float = MIN_INK_SHARE) -> bool:
    """Whether ink covers more than `min_share` of a rectangle of the rectified page; by default enough for a glyph."""
    part = ink[max(0, round(top)) : max(0, round(bottom)), max(0, round(left)) : max(0, round(right))]
    return bool(part.size and np.count_nonzero(part) > min_share * part.size)


def ink_cells(ink: Mask, pitch: float) -> list[tuple[int, int]]:
    """The first row of pixels, and that behind the last one, of each of the cells of about `pitch` into which ink is
    divided, cut where least ink is.

    Dynamic programming over cuts on a grid of a tenth of a cell: a cell costs the square of the difference of its
    height from the pitch, a cut costs the ink that it goes through, and empty space costs nothing."""
    if not ink.size:
        return []
    step = max(2, round(pitch / 10))
    share = (ink > 0).mean(axis=1)
    grid = (np.arange(len(share) // step + 2) * step).clip(0, len(share))
    ink_above = np.concatenate([[0.0], np.cumsum(share)])[grid]
    smooth = np.convolve(share, np.ones(3) / 3, mode="same")
    cut_costs = np.concatenate([smooth, [0.0, 0.0]])[grid] * 6.0
    min_steps, max_steps = max(1, round(0.6 * pitch / step)), round(1.5 * pitch / step)
    cell_costs = [((size * step / pitch - 1.0) / 0.16) ** 2 for size in range(max_steps + 1)]
    min_ink, max_empty_ink = MIN_INK_SHARE * pitch, 0.02 * step
    cells = _cheapest_cells(ink_above.tolist(), cut_costs.tolist(), cell_costs, min_steps, min_ink, max_empty_ink)
    return [(start * step, end * step) for start, end in cells]


def _cheapest_cells(
    ink_above: list[float],
    cut_costs: list[float],
    cell_costs: list[float],
    min_steps: int,
    min_ink: float,
    max_empty_ink: float,
) -> list[tuple[int, int]]:
    """The first and the last position of each cell on the grid, on the cheapest path through it.

    `ink_above` is the ink above each position, `cut_costs` the cost of a cut there, `cell_costs` the cost of a cell by
    its number of steps. A cell has at least `min_steps` steps and at least `min_ink`; a step with less ink than
    `max_empty_ink` is empty. Lists are used since single elements of arrays take ten times as long."""
    count = len(ink_above) - 1
    costs = [0.0] + [inf] * count
    previous: list[tuple[int, bool]] = [(0, False)] * (count + 1)  # and whether a cell lies between the two
    for end in range(1, count + 1):
        if ink_above[end] - ink_above[end - 1] < max_empty_ink and costs[end - 1] < costs[end]:
            costs[end], previous[end] = costs[end - 1], (end - 1, False)
        for size in range(min_steps, min(len(cell_costs) - 1, end) + 1):
            start = end - size
            if ink_above[end] - ink_above[start] < min_ink:
                continue
            cost = costs[start] + cell_costs[size] + cut_costs[start] + cut_costs[end]
            if cost < costs[end]:
                costs[end], previous[end] = cost, (start, True)
    cells = []
    end = max(number for number, cost in enumerate(costs) if cost < inf)
    while end > 0:
        start, is_cell = previous[end]
        if is_cell:
            cells.append((start, end))
        end = start
    return cells[::-1]
