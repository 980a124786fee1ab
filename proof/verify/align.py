"""Aligning the transcribed characters (cells) of a column with the glyphs on the image.

Dynamic programming over each column; every step has a cost in nats. A cell on a glyph costs minus the log-probability
that the engine gives to the transcribed character. A glyph without a cell (omission) and a cell without a glyph
(insertion) have fixed costs. Two exchanged neighbours (transposition) are a step of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby, pairwise
from math import exp, inf, log

from proof.ocr.belief import MIN_PROBABILITY
from proof.text.model import Cell
from proof.verify.glyphs import PROBABLE_PRESENCE, Glyph

MISMATCH_NATS = 10.0
"""Cost up to which a cell on a glyph counts in full. If it costs more, the glyph is surely another character."""

BEYOND_MISMATCH_WEIGHT = 0.02
"""Weight of every nat above `MISMATCH_NATS`."""

SKIP_CELL_NATS = 8.0
"""Cost of a transcribed character without a glyph."""

LONG_RUN_CELLS = 3
LONG_RUN_SKIP_NATS = 1.0
"""Cost of a transcribed character without a glyph behind `LONG_RUN_CELLS` others: a surplus passage goes on over dirt
on the image."""

SKIP_GLYPH_NATS = 8.0
"""Cost of a glyph without a transcription that is probably there."""

SKIP_FAINT_GLYPH_NATS = 0.3
"""Cost of a fainter glyph without a transcription, in addition to the improbability that no glyph is there."""

SWAP_NATS = 2.5
"""Cost of exchanging two characters, beside the costs of the two matches."""

PREFERRED_GLYPH_NATS = 10.0
"""Minimum difference of the log-probabilities of a transcribed character on two glyphs, neither of which it is, for it
to be assigned to the more similar glyph. Of errors planted beside an omission on real pages (seeds 301 to 340)
look-alikes differ by more; those that differ by less were as often assigned to the wrong glyph as to the right one."""

SWAPPED_MATCH_NATS = 6.0
"""Cost of a match below which each of two exchanged cells must be."""

UNKNOWN_CHARACTER_NATS = 3.5
"""Cost of a character that the engine does not know on a glyph that it reads with certainty."""

UNSURE_READING_NATS = 1.0
"""Maximum number of nats that are subtracted from `UNKNOWN_CHARACTER_NATS` if the reading is unsure. An engine that
sees an unknown shape wavers between similar ones; a certain reading is likely to be a character that it knows."""

OTHER_ROW_NATS = 4.0
"""Cost of a character of one half-row (or of main text) on a glyph of another."""

ONE_RUN_NATS = 1.0
"""Maximum additional cost of one run of missing or surplus characters that is preferred to two runs with a few matches
between them."""

BAND_CELLS = 8
"""Maximum distance of the alignment from the diagonal, in addition to the difference of the two counts."""

PAGE_BAND_CELLS = 80
"""The same for the text of a whole page, of which columns may be missing, doubled or moved: some four columns."""

FIRST_LIMIT_NATS = 16.0
"""Maximum cost of a path in the first search, in addition to that of the difference of the two counts. If no path is
cheaper, the search is repeated without a limit."""

ROUNDING_NATS = 1e-9
"""Possible error of a sum of costs."""

_LONG_RUN = range(1, LONG_RUN_CELLS + 1)

# The steps as numbers, which are faster in the innermost loop than members of `Step`; 0 is no step.
_MATCH = 1
_EXTRA_CELL = 2
_EXTRA_GLYPH = 3
_SWAP = 4


class Step(StrEnum):
    MATCH = "match"
    SWAP = "swap"
    EXTRA_CELL = "extra cell"
    EXTRA_GLYPH = "extra glyph"


@dataclass(frozen=True, slots=True)
class Pairing:
    """One step of the alignment: cells and glyphs by their number in the column.

    A match has one of each; a swap has two of each, the cells in the order of the transcription, the glyphs in that of
    the image; an extra cell has no glyph, and an extra glyph no cell. `before` is the number of the cell that follows
    an extra glyph.
    """

    step: Step
    cells: tuple[int, ...]
    glyphs: tuple[int, ...]
    before: int


Likeness = Callable[[str, Glyph], float | None]
"""Log-probability that a glyph is a transcribed character, in any of its forms; None if the engine does not know the
character."""


def align(
    cells: Sequence[Cell], glyphs: Sequence[Glyph], likeness: Likeness, limit: float = inf, band: int = BAND_CELLS
) -> tuple[list[Pairing], float]:
    """The cheapest alignment of a column's transcribed cells (without blank ones) with its glyphs, and its cost.

    `band` is the maximum distance from the diagonal, in addition to the difference of the two counts.

    Every cell and every glyph is in exactly one pairing, in order. If no alignment costs `limit` or less, there are no
    pairings and the cost is infinite. Only costs that can belong to the cheapest path are computed; in a column without
    errors these are the costs on the diagonal.
    """
    costs = _Costs(cells, glyphs, likeness, band)
    n, m = len(cells), len(glyphs)
    if n != m:
        first_limit = SKIP_CELL_NATS * abs(n - m) + FIRST_LIMIT_NATS
    else:
        first_limit = costs.diagonal()
        if first_limit <= limit and not costs.diagonal_may_be_beaten(first_limit):
            return [Pairing(Step.MATCH, (i,), (i,), i) for i in range(n)], first_limit
    steps, total = _cheapest(costs, min(first_limit + ROUNDING_NATS, limit))
    if total == inf and first_limit + ROUNDING_NATS < limit:
        steps, total = _cheapest(costs, limit)
    pairings = _in_one_run(_traced(steps, n, m), costs) if total < inf else []
    return _omissions_first(pairings, cells, glyphs, likeness), total


def _for_either(cell: Cell, first: Glyph, second: Glyph, likeness: Likeness) -> bool:
    """Whether a transcribed character is neither of two glyphs of a row and may stand for either."""
    if first.strip != second.strip:
        return False
    on_first, on_second = likeness(cell.text, first), likeness(cell.text, second)
    if on_first is None or on_second is None:
        return False
    is_neither = max(on_first, on_second) < -MISMATCH_NATS
    return is_neither and max(on_first, on_second) - min(on_first, on_second) < PREFERRED_GLYPH_NATS


class _Costs:
    """The costs of matching the cells of a column with its glyphs, each computed when first needed."""

    def __init__(self, cells: Sequence[Cell], glyphs: Sequence[Glyph], likeness: Likeness, band: int) -> None:
        self._cells, self._glyphs, self._likeness = cells, glyphs, likeness
        self._match: list[list[float | None]] = [[None] * len(glyphs) for _ in cells]
        self.skip_glyph = [skip_cost(glyph) for glyph in glyphs]
        self.reach = band + abs(len(cells) - len(glyphs))
        # whether a cell, or a glyph, and the next one are in the same row
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
        log_prob = self._likeness(cell.text, glyph)
        cost = _unknown_cost(glyph) if log_prob is None else _match_cost(log_prob)
        if not glyph.probable:  # else a trace of its neighbour would stand for a doubled character
            cost += log(PROBABLE_PRESENCE) - log(max(glyph.presence, MIN_PROBABILITY))
        return cost + (OTHER_ROW_NATS if glyph.row != cell.row else 0.0)

    def swap(self, i: int, j: int) -> float:
        """The cost, without `SWAP_NATS`, of cells `i` and `i` + 1 exchanged on glyphs `j` and `j` + 1. It is infinite
        if either does not fit; there is an insertion and an omission instead."""
        if not (self.cells_follow[i] and self.glyphs_follow[j]):
            return inf
        first, second = self.match(i, j + 1), self.match(i + 1, j)
        return first + second if first < SWAPPED_MATCH_NATS and second < SWAPPED_MATCH_NATS else inf

    def diagonal(self) -> float:
        """The cost of every cell on the glyph of the same number."""
        return sum((self.match(i, i) for i in range(len(self._cells))), 0.0)

    def diagonal_may_be_beaten(self, diagonal: float) -> bool:
        """Whether another path may cost less than `diagonal`: one that skips a cell and a glyph, or swaps two cells."""
        if diagonal + ROUNDING_NATS > SKIP_CELL_NATS + min(self.skip_glyph, default=0.0):
            return bool(self._cells)
        for i in range(len(self._cells) - 1):
            straight = self.match(i, i) + self.match(i + 1, i + 1) + ROUNDING_NATS
            if straight > SWAP_NATS and straight > self.swap(i, i) + SWAP_NATS:
                return True
        return False


def _cheapest(costs: _Costs, limit: float) -> tuple[list[list[int]], float]:
    """The number of the last step of the cheapest path to every place (after `i` cells and `j` glyphs), and the total
    cost; infinite if that is more than `limit`."""
    n, m = costs.shape
    skip_glyph, reach = costs.skip_glyph, costs.reach
    # plain lists, which are several times faster than arrays when read element by element
    total = [[inf] * (m + 1) for _ in range(n + 1)]
    steps = [[0] * (m + 1) for _ in range(n + 1)]
    total[0][0] = 0.0
    for i in range(n + 1):
        middle = round(i * m / n) if n else 0
        row, above = total[i], total[i - 1]
        for j in range(max(0, middle - reach), min(m, middle + reach) + 1):
            best, step = row[j], 0
            if i and j and above[j - 1] < inf and (cost := above[j - 1] + costs.match(i - 1, j - 1)) < best:
                best, step = cost, _MATCH
            if i:
                in_long_run = i > LONG_RUN_CELLS and all(steps[i - k][j] == _EXTRA_CELL for k in _LONG_RUN)
                cost = above[j] + (LONG_RUN_SKIP_NATS if in_long_run else SKIP_CELL_NATS)
                if cost < best:
                    best, step = cost, _EXTRA_CELL
            if j and row[j - 1] + skip_glyph[j - 1] < best:
                best, step = row[j - 1] + skip_glyph[j - 1], _EXTRA_GLYPH
            if i > 1 and j > 1 and total[i - 2][j - 2] + SWAP_NATS < best:
                cost = total[i - 2][j - 2] + costs.swap(i - 2, j - 2) + SWAP_NATS
                if cost < best:
                    best, step = cost, _SWAP
            if best <= limit:
                row[j], steps[i][j] = best, step
    return steps, total[n][m]


def _in_one_run(pairings: list[Pairing], costs: _Costs) -> list[Pairing]:
    """The pairings, with two runs of extra glyphs, or of extra cells, joined to one if the matches between them fit as
    well before the first run or after the second: if 東也禁承也名 is transcribed as 東也名, the text lacks 禁承也 or
    也禁承, not 也 and 禁承 in two places."""
    steps = [pairing.step for pairing in pairings]
    start = 0
    while (runs := _two_runs(steps, start)) is not None:
        first, matches, end = runs
        additional_cost, joined = min(_joined_runs(pairings[first:end], costs), key=lambda way: way[0])
        if additional_cost <= ONE_RUN_NATS:
            pairings[first:end] = joined
            steps[first:end] = [pairing.step for pairing in joined]
            start = first
        else:
            start = matches
    return pairings


def _two_runs(steps: Sequence[Step], start: int) -> tuple[int, int, int] | None:
    """The first two runs of one kind, from `start` on, with only matches between them: the start of the first run, the
    start of the matches, and the end of the second run. None if there are no such runs."""
    runs = [(step, len(list(group))) for step, group in groupby(steps[start:])]
    begin = start
    for (kind, first), (middle, matches), (last, second) in zip(runs, runs[1:], runs[2:], strict=False):
        if kind in (Step.EXTRA_GLYPH, Step.EXTRA_CELL) and middle is Step.MATCH and last is kind:
            return begin, begin + first, begin + first + matches + second
        begin += first
    return None


def _joined_runs(run: Sequence[Pairing], costs: _Costs) -> Iterator[tuple[float, list[Pairing]]]:
    """The two ways to join two runs: with the matches between them moved before or after the joined run. Each comes
    after its additional cost. `run` are both runs with the matches."""
    kind = run[0].step
    matches = [pairing for pairing in run if pairing.step is Step.MATCH]
    cells = [number for pairing in run for number in pairing.cells]
    glyphs = [number for pairing in run for number in pairing.glyphs]
    cost_before = sum(costs.match(pairing.cells[0], pairing.glyphs[0]) for pairing in matches)
    match_count, extra_count = len(matches), len(run) - len(matches)
    for first in (0, extra_count):  # the number of extra glyphs, or cells, before the matches
        i, j = (0, first) if kind is Step.EXTRA_GLYPH else (first, 0)
        moved = [Pairing(Step.MATCH, (cells[i + n],), (glyphs[j + n],), cells[i + n]) for n in range(match_count)]
        if kind is Step.EXTRA_GLYPH:
            before = cells[0] if first else cells[-1] + 1
            extra = [Pairing(kind, (), (number,), before) for number in glyphs[:first] or glyphs[match_count:]]
        else:
            extra = [Pairing(kind, (number,), (), number) for number in cells[:first] or cells[match_count:]]
        cost = sum(costs.match(pairing.cells[0], pairing.glyphs[0]) for pairing in moved) - cost_before
        yield cost, [*extra, *moved] if first else [*moved, *extra]


def _omissions_first(
    pairings: list[Pairing], cells: Sequence[Cell], glyphs: Sequence[Glyph], likeness: Likeness
) -> list[Pairing]:
    """The pairings, with an extra glyph moved before the wrong character beside it if that may stand for either glyph.
    So the result does not depend on the improbable readings that the engine lists."""
    result: list[Pairing] = []
    for pairing in pairings:
        result.append(pairing)
        last = len(result) - 1
        while last and result[last].step is Step.EXTRA_GLYPH and result[last - 1].step is Step.MATCH:
            match, extra = result[last - 1], result[last]
            (cell,), (matched_glyph,), (extra_glyph,) = match.cells, match.glyphs, extra.glyphs
            if not _for_either(cells[cell], glyphs[matched_glyph], glyphs[extra_glyph], likeness):
                break
            result[last - 1] = Pairing(Step.EXTRA_GLYPH, (), (matched_glyph,), cell)
            result[last] = replace(match, glyphs=(extra_glyph,))
            last -= 1
    return result


def _match_cost(log_prob: float) -> float:
    """The cost of a cell on a glyph with this log-probability. Above `MISMATCH_NATS` the glyph is surely another
    character; the small addition decides to which of two such glyphs the cell is assigned."""
    cost = -log_prob
    return cost if cost <= MISMATCH_NATS else MISMATCH_NATS + BEYOND_MISMATCH_WEIGHT * (cost - MISMATCH_NATS)


def _unknown_cost(glyph: Glyph) -> float:
    """The cost of a character that the engine does not know, on a glyph."""
    return UNKNOWN_CHARACTER_NATS - UNSURE_READING_NATS * (1.0 - exp(glyph.log_prob(glyph.best)))


def skip_cost(glyph: Glyph) -> float:
    """The cost of a glyph without a transcription; a faint one may be no glyph at all."""
    return SKIP_GLYPH_NATS if glyph.probable else SKIP_FAINT_GLYPH_NATS - log(1.0 - glyph.presence)


def _traced(steps: list[list[int]], n: int, m: int) -> list[Pairing]:
    """The pairings of the cheapest path, from the last step to every place."""
    path: list[Pairing] = []
    i, j = n, m
    while i or j:
        step = steps[i][j]
        if step == _MATCH:
            i, j = i - 1, j - 1
            path.append(Pairing(Step.MATCH, (i,), (j,), i))
        elif step == _EXTRA_CELL:
            i -= 1
            path.append(Pairing(Step.EXTRA_CELL, (i,), (), i))
        elif step == _EXTRA_GLYPH:
            j -= 1
            path.append(Pairing(Step.EXTRA_GLYPH, (), (j,), i))
        else:
            i, j = i - 2, j - 2
            path.append(Pairing(Step.SWAP, (i, i + 1), (j, j + 1), i))
    return path[::-1]
