"""Characters to glyphs: the transcription as the hypothesis, the image as the evidence.

One dynamic programme per column over the transcribed cells and the glyphs on the image. Every step has a
cost in nats: a cell on a glyph costs minus the log-probability that the engine gives to what is
transcribed; a glyph without a cell (omission) and a cell without a glyph (insertion) cost what it takes to
believe that; two neighbours put the other way round (transposition) are a step of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from math import exp, inf, log

from proof.text.model import Cell, is_han
from proof.verify.glyphs import SPLINTERS, Glyph

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

TELLS = 10.0
"""Nats by which a character that is neither of two glyphs must be likelier to stand as one of them for it to be told
from that for which it was written. Of errors planted on real pages beside a character left out (seeds 301 to 340) the
look-alikes differ by more, and of the others, which differ by less, as many were taken for the wrong glyph as for the
right one."""

FITS = 6.0
"""Nats: a cell on a glyph that costs less can be that glyph."""

SILENT = 5.0
"""Nats for a cell on a glyph of which the engine read nothing."""

DEBRIS = 2.0
"""Nats for such a glyph for which nothing is transcribed: most are pieces of a frame and dots of a seal, so that it is
dearer to believe that a character stands there than that it was written for the one beside it."""

UNKNOWN = 3.5
"""Nats for a character that the engine does not know, on a glyph that it reads with certainty."""

WAVERS = 1.0
"""Nats, at most, by which that is less where the reading wavers: shown a shape that it never learned, an engine wavers
between its neighbours, and what it reads with certainty is likelier to be a character that it knows."""

OFFSIDE = 4.0
"""Nats for a character of one half-row (or of the main text) on a glyph of another."""

AS_WELL = 1.0
"""Nats that it may cost more to have what is left out, or too many, in one run and not in two with a few characters
between them that stand in either of two places as well."""


BAND = 8
"""Cells: how far the alignment may leave the diagonal beyond what the two counts differ by."""

ROOM = 16.0
"""Nats that a path may cost at first beyond what the two counts differ by; where none does, any is looked for."""

EXACT = 1e-9
"""Nats by which sums of costs may err."""


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


def align(
    cells: Sequence[Cell], glyphs: Sequence[Glyph], likeness: Likeness, most: float = inf
) -> tuple[list[Pairing], float]:
    """The cheapest alignment of a column's transcribed cells (blank ones left out) to its glyphs, and its cost.

    Every cell and every glyph is in exactly one pairing, in order. Of a sound column only the cells on their own glyphs
    are weighed, of others what a path can reach that costs no more than one that is known. Where none costs `most` or
    less there are no pairings, and the cost is infinite.
    """
    costs = _Costs(cells, glyphs, likeness)
    n, m = len(cells), len(glyphs)
    if n != m:
        known = SKIP_CELL * abs(n - m) + ROOM
    else:
        known = costs.straight()
        if known <= most and not costs.bettered(known):
            return [Pairing(Step.MATCH, (i,), (i,), i) for i in range(n)], known
    came, total = _cheapest(costs, min(known + EXACT, most))
    if total == inf and known + EXACT < most:
        came, total = _cheapest(costs, most)
    pairings = _in_one_run(_off_specks(_traced(came, n, m), glyphs), costs) if total < inf else []
    return _omissions_first(pairings, cells, glyphs, likeness), total


def for_either(cell: Cell, first: Glyph, second: Glyph, likeness: Likeness) -> bool:
    """Whether a transcribed character is neither of two glyphs of a row, and may have been written for either."""
    if first.silent or second.silent or first.strip != second.strip:
        return False
    values = likeness(cell.text, first), likeness(cell.text, second)
    known = [value for value in values if value is not None]
    return len(known) == len(values) and max(known) < -WORST and max(known) - min(known) < TELLS


class _Costs:
    """What it costs to put the cells of a column on its glyphs; each cost is worked out when it is first asked for."""

    def __init__(self, cells: Sequence[Cell], glyphs: Sequence[Glyph], likeness: Likeness) -> None:
        self._cells, self._glyphs, self._likeness = cells, glyphs, likeness
        self._match: list[list[float | None]] = [[None] * len(glyphs) for _ in cells]
        self.skip_glyph = [_skip_cost(glyph) for glyph in glyphs]
        self.reach = BAND + abs(len(cells) - len(glyphs))
        # whether a cell or a glyph and the next stand one below the other in one row
        self.cells_follow = [cell.row == following.row for cell, following in pairwise(cells)]
        self.glyphs_follow = [glyph.strip == following.strip for glyph, following in pairwise(glyphs)]

    @property
    def shape(self) -> tuple[int, int]:
        return len(self._cells), len(self._glyphs)

    def match(self, i: int, j: int) -> float:
        """The cost of a cell on a glyph; infinite beyond `reach` of the diagonal."""
        cost = self._match[i][j]
        if cost is None:
            cost = self._match[i][j] = self._cost(i, j)
        return cost

    def _cost(self, i: int, j: int) -> float:
        n, m = self.shape
        middle = round(i * m / n)
        if not middle - self.reach - 1 <= j < middle + self.reach + 1:
            return inf
        cell, glyph = self._cells[i], self._glyphs[j]
        if glyph.silent:
            cost = SILENT
        else:
            value = self._likeness(cell.text, glyph)
            cost = _unknown_cost(glyph) if value is None else _match_cost(value)
        return cost + (OFFSIDE if glyph.row != cell.row else 0.0)

    def swap(self, i: int, j: int) -> float:
        """The cost, but for `SWAP`, of cells `i` and `i` + 1 on glyphs `j` and `j` + 1 the other way round; infinite
        where they cannot be: then it is an insertion and an omission."""
        if not (self.cells_follow[i] and self.glyphs_follow[j]):
            return inf
        first, second = self.match(i, j + 1), self.match(i + 1, j)
        return first + second if first < FITS and second < FITS else inf

    def straight(self) -> float:
        """The cost of every cell on the glyph of its number; of as many glyphs as there are cells."""
        return sum((self.match(i, i) for i in range(len(self._cells))), 0.0)

    def bettered(self, straight: float) -> bool:
        """Whether something else may cost less than that: a cell and a glyph passed over, or two cells the other way
        round."""
        if straight + EXACT > SKIP_CELL + min(self.skip_glyph, default=0.0):
            return bool(self._cells)
        here = [self.match(i, i) for i in range(len(self._cells))]
        pairs = (cost + following for cost, following in pairwise(here))
        return any(both + EXACT > SWAP and both + EXACT > self.swap(i, i) + SWAP for i, both in enumerate(pairs))


def _cheapest(costs: _Costs, limit: float) -> tuple[list[list[int]], float]:
    """By which step the cheapest path comes to every place, and what the whole costs; infinite where that is more than
    `limit`."""
    n, m = costs.shape
    skip_glyph, reach = costs.skip_glyph, costs.reach
    # plain lists: element by element they are several times quicker than arrays
    total = [[inf] * (m + 1) for _ in range(n + 1)]
    came = [[0] * (m + 1) for _ in range(n + 1)]
    total[0][0] = 0.0
    for i in range(n + 1):
        middle = round(i * m / n) if n else 0
        row, above = total[i], total[i - 1]
        for j in range(max(0, middle - reach), min(m, middle + reach) + 1):
            best, how = row[j], 0
            if i and j and above[j - 1] < inf and (here := above[j - 1] + costs.match(i - 1, j - 1)) < best:
                best, how = here, 1
            if i and above[j] + SKIP_CELL < best:
                best, how = above[j] + SKIP_CELL, 2
            if j and row[j - 1] + skip_glyph[j - 1] < best:
                best, how = row[j - 1] + skip_glyph[j - 1], 3
            if i > 1 and j > 1 and total[i - 2][j - 2] + SWAP < best:
                here = total[i - 2][j - 2] + costs.swap(i - 2, j - 2) + SWAP
                if here < best:
                    best, how = here, 4
            if best <= limit:
                row[j], came[i][j] = best, how
    return came, total[n][m]


def _off_specks(pairings: list[Pairing], glyphs: Sequence[Glyph]) -> list[Pairing]:
    """The pairings with a cell on what may be a speck as one without a glyph, where the cells before and behind it have
    none."""
    settled = list(pairings)
    for number in range(len(pairings) - 2, 0, -1):
        before, pairing, after = pairings[number - 1 : number + 2]
        alone = before.step is after.step is Step.EXTRA_CELL
        if alone and pairing.step is Step.MATCH and _may_be_speck(glyphs[pairing.glyphs[0]]):
            (cell,) = pairing.cells
            glyph = Pairing(Step.EXTRA_GLYPH, (), pairing.glyphs, cell + 1)
            settled[number : number + 1] = Pairing(Step.EXTRA_CELL, pairing.cells, (), cell), glyph
    return settled


def _may_be_speck(glyph: Glyph) -> bool:
    return glyph.silent or glyph.presence <= 0.5 or glyph.best in SPLINTERS or not is_han(glyph.best)


def _in_one_run(pairings: list[Pairing], costs: _Costs) -> list[Pairing]:
    """The pairings with two runs of glyphs that are over, or of cells that have none, as one, where what is matched
    between them explains as much when it is moved before the first or behind the second: of 東也禁承也名 with 東也名 it
    is 禁承也 or 也禁承 that is left out, and not 也禁承 in parts."""
    steps = [pairing.step for pairing in pairings]
    at = 0
    while (second := _second_run(steps, at)) is not None:
        first, between, end = second
        run = pairings[first:end]
        best = min(_moved_together(run, costs), key=lambda other: other[0])
        if best[0] <= AS_WELL:
            pairings[first:end] = best[1]
            steps[first:end] = [pairing.step for pairing in best[1]]
            at = first
        else:
            at = between
    return pairings


def _second_run(steps: Sequence[Step], start: int) -> tuple[int, int, int] | None:
    """Where the first two runs of one kind with nothing but matches between them begin, where these matches begin, and
    where the second run ends, from `start` on."""
    begin = start
    while begin < len(steps):
        if steps[begin] not in (Step.EXTRA_GLYPH, Step.EXTRA_CELL):
            begin += 1
            continue
        kind, between = steps[begin], begin
        while between < len(steps) and steps[between] is kind:
            between += 1
        second = between
        while second < len(steps) and steps[second] is Step.MATCH:
            second += 1
        if between < second < len(steps) and steps[second] is kind:
            end = second
            while end < len(steps) and steps[end] is kind:
                end += 1
            return begin, between, end
        begin = second
    return None


def _moved_together(run: Sequence[Pairing], costs: _Costs) -> Iterator[tuple[float, list[Pairing]]]:
    """The ways to have two runs as one, what is matched between them before it or behind it, each with what it costs
    more."""
    kind = run[0].step
    matches = [pairing for pairing in run if pairing.step is Step.MATCH]
    cells = [number for pairing in run for number in pairing.cells]
    glyphs = [number for pairing in run for number in pairing.glyphs]
    known = sum(costs.match(pairing.cells[0], pairing.glyphs[0]) for pairing in matches)
    count, over = len(matches), len(run) - len(matches)
    for first in (0, over):
        i, j = (0, first) if kind is Step.EXTRA_GLYPH else (first, 0)
        moved = [Pairing(Step.MATCH, (cells[i + n],), (glyphs[j + n],), cells[i + n]) for n in range(count)]
        if kind is Step.EXTRA_GLYPH:
            left = glyphs[:first] or glyphs[count:]
            before = cells[0] if first else cells[-1] + 1
            extra = [Pairing(kind, (), (number,), before) for number in left]
        else:
            extra = [Pairing(kind, (number,), (), number) for number in cells[:first] or cells[count:]]
        cost = sum(costs.match(pairing.cells[0], pairing.glyphs[0]) for pairing in moved) - known
        yield cost, [*extra, *moved] if first else [*moved, *extra]


def _omissions_first(
    pairings: list[Pairing], cells: Sequence[Cell], glyphs: Sequence[Glyph], likeness: Likeness
) -> list[Pairing]:
    """The pairings with the glyph that is over before the wrong character beside it, where that may be written for
    either: of alignments that explain as much always the same, whatever the engine believes of what is improbable."""
    settled: list[Pairing] = []
    for pairing in pairings:
        settled.append(pairing)
        at = len(settled) - 1
        while at and settled[at].step is Step.EXTRA_GLYPH and settled[at - 1].step is Step.MATCH:
            before, after = settled[at - 1], settled[at]
            (cell,), (matched,), (extra,) = before.cells, before.glyphs, after.glyphs
            if not for_either(cells[cell], glyphs[matched], glyphs[extra], likeness):
                break
            settled[at - 1 : at + 1] = Pairing(Step.EXTRA_GLYPH, (), (matched,), cell), replace(before, glyphs=(extra,))
            at -= 1
    return settled


def _match_cost(value: float) -> float:
    """Nats for a cell on a glyph with this log-probability. Beyond `WORST` it is surely something else; that
    it costs a little more the less it looks like it tells for which of two such glyphs it was taken."""
    return -value if -value <= WORST else WORST + FARTHER * (-value - WORST)


def _unknown_cost(glyph: Glyph) -> float:
    """Nats for a character that the engine does not know on a glyph that it reads as something."""
    return UNKNOWN - WAVERS * (1.0 - exp(glyph.log_prob(glyph.best)))


def _skip_cost(glyph: Glyph) -> float:
    """What it takes to believe that a glyph is not transcribed; a faint glyph may be no glyph at all."""
    if glyph.silent:
        return DEBRIS
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
