"""Characters to glyphs: the transcription as the hypothesis, the image as the evidence.

One dynamic programme per column over the transcribed cells and the glyphs on the image. Every step has a
cost in nats: a cell on a glyph costs minus the log-probability that the engine gives to what is
transcribed; a glyph without a cell (omission) and a cell without a glyph (insertion) cost what it takes to
believe that; two neighbours put the other way round (transposition) are a step of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from math import inf, log

from proof.text.model import Cell
from proof.verify.glyphs import Glyph

WORST = 10.0
"""Nats, at most, for a cell on a glyph that is something else."""

FARTHER = 0.02
"""Share of the nats beyond `WORST` that counts."""

SKIP_CELL = 8.0
"""Nats for a transcribed character of which nothing is on the image."""

SKIP_GLYPH = 8.0
"""Nats for a glyph, surely there, that is not transcribed; a faint one costs as much as it is present."""

SWAP = 2.5
"""Nats for two characters the other way round, beside what they cost in their places."""

FITS = 6.0
"""Nats: a cell on a glyph that costs less can be that glyph."""

SILENT = 3.0
"""Nats for a cell on a glyph of which the engine read nothing."""

UNKNOWN = 3.5
"""Nats for a character that the engine does not know, on any glyph."""

OFFSIDE = 4.0
"""Nats for a character of one half-row (or of the main text) on a glyph of another."""


BAND = 8
"""Cells: how far the alignment may leave the diagonal beyond what the two counts differ by."""


class Step(StrEnum):
    MATCH = "match"
    SWAP = "swap"
    EXTRA_CELL = "extra cell"
    EXTRA_GLYPH = "extra glyph"


@dataclass(frozen=True, slots=True)
class Pairing:
    """One step of the alignment: cells and glyphs by their number in the column.

    A match has one of each, a swap two of each (in the transcription's order and the image's), an extra
    cell no glyph, an extra glyph no cell. `before` is the number of the cell that follows an extra glyph.
    """

    step: Step
    cells: tuple[int, ...]
    glyphs: tuple[int, ...]
    before: int


Likeness = Callable[[str, Glyph], float | None]
"""Log-probability that a transcribed character stands as this glyph, in any of its forms; None where the
engine does not know the character."""


def align(cells: Sequence[Cell], glyphs: Sequence[Glyph], likeness: Likeness) -> tuple[list[Pairing], float]:
    """The cheapest alignment of a column's transcribed cells (blank ones left out) to its glyphs, and its cost.

    Every cell and every glyph is in exactly one pairing, in order.
    """
    n, m = len(cells), len(glyphs)
    reach = BAND + abs(n - m)
    match = _costs(cells, glyphs, likeness, reach)
    skip_glyph = [_skip_cost(g) for g in glyphs]

    # whether a cell or a glyph and the next stand one below the other in one row
    cells_follow = [one.row == other.row for one, other in pairwise(cells)]
    glyphs_follow = [one.strip == other.strip for one, other in pairwise(glyphs)]

    # plain lists: element by element they are several times quicker than arrays
    total = [[inf] * (m + 1) for _ in range(n + 1)]
    came = [[0] * (m + 1) for _ in range(n + 1)]
    total[0][0] = 0.0
    for i in range(n + 1):
        middle = round(i * m / n) if n else 0
        row, above, here = total[i], total[i - 1], match[i - 1] if i else []
        may_swap = i > 1 and cells_follow[i - 2]
        for j in range(max(0, middle - reach), min(m, middle + reach) + 1):
            best, how = row[j], 0
            if i and j and above[j - 1] + here[j - 1] < best:
                best, how = above[j - 1] + here[j - 1], 1
            if i and above[j] + SKIP_CELL < best:
                best, how = above[j] + SKIP_CELL, 2
            if j and row[j - 1] + skip_glyph[j - 1] < best:
                best, how = row[j - 1] + skip_glyph[j - 1], 3
            if may_swap and j > 1 and glyphs_follow[j - 2]:
                # both must fit the other way round: else it is an insertion and an omission
                one, other = match[i - 2][j - 1], here[j - 2]
                if one < FITS and other < FITS and total[i - 2][j - 2] + (one + other) + SWAP < best:
                    best, how = total[i - 2][j - 2] + (one + other) + SWAP, 4
            row[j], came[i][j] = best, how
    return _traced(came, n, m), total[n][m]


def _costs(cells: Sequence[Cell], glyphs: Sequence[Glyph], likeness: Likeness, reach: int) -> list[list[float]]:
    """The cost of every cell on every glyph within `reach` of the diagonal; infinite beyond."""
    n, m = len(cells), len(glyphs)
    costs = [[inf] * m for _ in range(n)]
    for i, cell in enumerate(cells):
        middle = round(i * m / n)
        for j in range(max(0, middle - reach - 1), min(m, middle + reach + 1)):
            glyph = glyphs[j]
            if glyph.silent:
                cost = SILENT
            else:
                value = likeness(cell.text, glyph)
                cost = UNKNOWN if value is None else _match_cost(value)
            costs[i][j] = cost + (OFFSIDE if glyph.row != cell.row else 0.0)
    return costs


def _match_cost(value: float) -> float:
    """Nats for a cell on a glyph with this log-probability. Beyond `WORST` it is surely something else; that
    it costs a little more the less it looks like it tells for which of two such glyphs it was taken."""
    return -value if -value <= WORST else WORST + FARTHER * (-value - WORST)


def _skip_cost(glyph: Glyph) -> float:
    """What it takes to believe that a glyph is not transcribed; a faint glyph may be no glyph at all."""
    if glyph.silent:
        return SILENT
    absent = -log(max(1.0 - glyph.presence, 1e-6))
    return SKIP_GLYPH if glyph.presence > 0.5 else min(SKIP_GLYPH, 0.3 + absent)


def _traced(came: list[list[int]], n: int, m: int) -> list[Pairing]:
    path: list[Pairing] = []
    i, j = n, m
    while i or j:
        how = came[i][j]
        if how == 1:
            i, j = i - 1, j - 1
            path.append(Pairing(Step.MATCH, (i,), (j,), i))
        elif how == 2:
            i -= 1
            path.append(Pairing(Step.EXTRA_CELL, (i,), (), i))
        elif how == 3:
            j -= 1
            path.append(Pairing(Step.EXTRA_GLYPH, (), (j,), i))
        else:
            i, j = i - 2, j - 2
            path.append(Pairing(Step.SWAP, (i, i + 1), (j, j + 1), i))
    return path[::-1]
