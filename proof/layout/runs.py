"""The runs of a column: where main text in full width gives way to a note in two half-rows.

A note leaves the middle of its column free of ink, and main text does not. The transcription proposes which runs to
expect, and the image decides where they end, or, where it plainly contradicts, which runs there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.half_folio import ColumnArea
from proof.layout.rules import connected
from proof.text.model import Cell, Column, Run

THROUGH_INK_COST = 5.5
"""What a boundary costs that goes through ink, in cells that plainly speak."""

THROUGH_INK_COST_UNRULED = 33.0
"""The same on a page that is not ruled, where notes have little ink."""

LOWEST_NOTE = 0.5
"""Cells: the least height of a note's cell on a page that is not ruled."""

COUNT_COST = 1.6
"""What it costs that a run is longer or shorter than its count of cells, for each cell, as many times as rows that
plainly speak."""

COUNT_SLACK_CELLS = 0.5
"""Cells by which a run may be longer or shorter than its count at no cost."""

STRICT_COUNT_COST = 3.0
"""`COUNT_COST` where runs are cut as long as they are counted: a glyph that is clear in its middle beside a note (引,
北) is then none of it."""

STRICT_COUNT_SLACK_CELLS = 0.3
"""`COUNT_SLACK_CELLS` there."""

MISCOUNTED = 4.0
"""Cells, beyond these, by which a run is longer at most: the transcription may lack some."""

SHORTEST = 0.4
"""Of its count of cells: no run is shorter."""

CONTRAST = 1.0
"""What it weighs where a boundary is that main text gives way to a note there, in cells that plainly speak."""

BELOW_FRAME = 0.2
"""Cells between the top of a column and its text."""

SPECK = 0.012
"""Of a cell's area: a piece of ink smaller than this is noise where main text and notes are told apart."""

WINDOW_CELLS = 0.9
"""Cells: the stretch of a column of which the middle is looked at together."""

WINDOW_CELLS_UNRULED = 0.6
"""The same on a page that is not ruled."""

JOINED = 0.6
"""Cells: text with no more blank paper in it goes on."""

EVEN_INK = 0.9
"""Ink about the middle of a column against the ink across all of it: above this a place speaks for main text, below it
for a note."""

EVEN_INK_UNRULED = 0.75
"""The same on a page that is not ruled."""

PLAIN_INK_CHANGE = 0.4
"""By how much more or less a place speaks plainly."""

MIDDLE_WIDTHS = 0.16
"""Of a column's width: how much of it is its middle."""

MIDDLE_ASIDE_WIDTHS = 0.1
"""Of a column's width: how far aside its middle may lie on a page that is not ruled."""

PRICE = 2.0
"""Cells that must plainly speak for it that main text gives way to a note, where the image alone tells: a single glyph
may be clear in the middle (北, 門)."""

MIN_MAIN_PIECE_WIDTHS = 0.45
"""Of a column's width: a piece of ink on a boundary that is wider is of main text, not of a note."""

MIN_TOUCHING_CELLS = 1.25
"""Cells: a piece of ink on a boundary that is higher is of glyphs that touch."""

MIN_TOUCHING_REACH_CELLS = 0.4
"""Cells to either side of the boundary that such a piece reaches."""

BESIDE_BOUNDARY_CELLS = 0.35
"""Cells beyond the boundary within which what lies beside such a piece goes with it."""

SIDE_WIDTHS = 0.33
"""Of a column's width: its sides. One is free of ink about a glyph of main text that leans, and where one half-row of a
note alone goes on."""

FREE_SIDE_CELLS = 0.3
"""Cells: how far up and down such a side is free."""

MAX_ONE_SIDED_GAIN = 0.35
"""By how much, at most, a row with ink at one side speaks where main text is expected: there it says little."""

TOO_WIDE = 0.55
"""Of a column's width: a piece of ink that is wider is of no glyph of a note. Of 4,000 glyphs of notes on rendered
pages one in a thousand is, of those of main text six in ten."""

STEP = 2
"""Pixels between the places where a boundary is tried."""

BLOCK = 10
"""Pixels: the rows for which the gap between two half-rows is looked for together."""


class CutBy(StrEnum):
    """How the runs of a column are found: by the image with the transcription's help, by the image alone, by counting
    the transcription's cells, or by both, the count weighing more."""

    BEST = "best"
    SEEN = "seen"
    COUNTED = "counted"
    STRICT = "strict"


@dataclass(frozen=True, slots=True)
class ColumnStretch:
    """A stretch of a column from `top` to `bottom` (pixels of the rectified page): main text or a note.

    `blank`: the transcription has only spaces here.
    """

    note: bool
    top: float
    bottom: float
    blank: bool = False


@dataclass(frozen=True, slots=True)
class Strokes:
    """The connected pieces of a column's ink: `labels` (height x width, 0 the paper), and for each piece
    (index 0 unused) its extent from `left` to `right` and from `top` to `bottom`, its longer side, its area, and its
    middle `x`, `y`."""

    labels: NDArray[np.intp]
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    top: NDArray[np.intp]
    bottom: NDArray[np.intp]
    span: NDArray[np.intp]
    area: NDArray[np.intp]
    x: NDArray[np.float64]
    y: NDArray[np.float64]


class _Expected(NamedTuple):
    """A run as the transcription has it: main text or a note, its height in cells, and by how many cells its right
    half-row goes on after the left one (negative: the left one after the right)."""

    note: bool
    cells: float
    longer: int

    @classmethod
    def of(cls, run: Run) -> _Expected:
        return cls(run.note, float(max(len(run.right), len(run.left))), longer_by(run))


class _Worth(NamedTuple):
    """What a run is worth that begins at every place of a grid (`begins`) and ends there (`ends`), added up: the sum of
    what its rows say for it; and how the rows `above` the place speak if it ends there, and those `below` if it
    begins."""

    begins: NDArray[np.float64]
    ends: NDArray[np.float64]
    above: NDArray[np.float64]
    below: NDArray[np.float64]


class _Rows(NamedTuple):
    """How much every row of pixels speaks for main text (positive) or a note, from -1 to 1: where `main` text is
    expected, where both half-rows of a note are, and where its right or its left one `goes_on` alone."""

    main: NDArray[np.float64]
    note: NDArray[np.float64]
    goes_on: tuple[NDArray[np.float64], NDArray[np.float64]]

    @classmethod
    def of(cls, gain: NDArray[np.float64], alone: NDArray[np.bool_]) -> _Rows:
        """The rows of a column by the ink about their middle (`main_gain`) and where one half has ink `alone`."""
        both = np.maximum(gain, 0.0)
        right, left = (
            np.where(alone[1 - side], both, np.where(alone[side], np.minimum(gain, 0.0), gain)) for side in (0, 1)
        )
        either = alone.any(axis=0)
        main = np.where(either, np.clip(gain, -MAX_ONE_SIDED_GAIN, MAX_ONE_SIDED_GAIN), gain)
        return cls(main, np.where(either, both, gain), (right, left))

    def worth(self, run: _Expected, grid: NDArray[np.intp], cell: float) -> _Worth:
        """What a run is worth on a grid of places; cells are `cell` pixels high."""
        last = len(self.main) - 1
        half = round(WINDOW_CELLS * cell / 2)
        above, below = (grid - half).clip(0, last), (grid + half).clip(0, last)
        if not run.note:
            total = _summed(self.main)[grid]
            return _Worth(-total, total, self.main[above], self.main[below])
        end = self.goes_on[run.longer < 0] if run.longer else self.note
        total, at_end = _summed(self.note), _summed(end)
        both = (grid - round(abs(run.longer) * cell)).clip(0)
        ends = -total[both] - (at_end[grid] - at_end[both])
        return _Worth(total[grid], ends, -end[above], -self.note[below])


def _summed(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum of the rows before each place, and of all."""
    return np.concatenate([[0.0], np.cumsum(rows)])


def one_sided(ink: NDArray[np.uint8], pitch: float) -> NDArray[np.bool_]:
    """For every row of pixels (2 x height) whether there is ink at the right side of the column and none at the left
    about there, and the other way round."""
    across, window = round(SIDE_WIDTHS * ink.shape[1]), 2 * round(FREE_SIDE_CELLS * pitch) + 1
    counts = (np.count_nonzero(part, axis=1).astype(np.float32) for part in (ink[:, -across:], ink[:, :across]))
    right, left = (_windowed(count[:, None], window)[:, 0] * window >= SPECK * pitch * pitch for count in counts)
    return np.array([right & ~left, left & ~right])


def strokes_of(ink: NDArray[np.uint8]) -> Strokes:
    labels, stats, centres = connected(ink)
    left, top, width, height, area = (stats[:, i].astype(np.intp) for i in range(5))
    span = np.maximum(width, height)
    middle = np.asarray(centres, dtype=np.float64)
    # a table is looked up by numbers of this kind in half of the time
    numbers = np.asarray(labels, dtype=np.intp)
    return Strokes(numbers, left, left + width, top, top + height, span, area, middle[:, 0], middle[:, 1])


def told_runs(area: ColumnArea, top: int, bottom: int) -> list[ColumnStretch]:
    """Main text and notes where a person said which is where, counted from `top`; none where nobody did. A note to the
    frame goes on to the end of the ink."""
    if area.notes is None:
        return []
    stretches, at = [], 0.0
    near = 0.01 * (area.bottom - area.top)
    for first, last in area.notes:
        start = 0.0 if first - area.top < near else first - top
        end = float(bottom - top) if area.bottom - last < near else last - top
        stretches += [ColumnStretch(False, at, start)] if start > at else []
        stretches.append(ColumnStretch(True, max(start, at), end))
        at = end
    return stretches if at >= bottom - top else [*stretches, ColumnStretch(False, at, float(bottom - top))]


def find_runs(
    gain: NDArray[np.float64], ink: NDArray[np.uint8], column: Column | None, pitch: float, way: CutBy, lower: bool
) -> list[ColumnStretch]:
    """Main text and notes from top to bottom, `top` and `bottom` counted from the top of `ink`. `lower`: the cells of a
    note may be lower than those of main text."""
    if column is None or not column.runs or way is CutBy.SEEN:
        return _seen_stretches(gain, pitch)
    expected = [_Expected.of(run) for run in column.runs]
    end = column.runs[-1]
    expected[-1] = expected[-1]._replace(cells=float(max(_written_cells(end.right), _written_cells(end.left))))
    last = float(np.append(0, np.flatnonzero(gain))[-1]) / pitch
    share = _note_share(expected, last) if lower else 1.0
    expected = [run._replace(cells=run.cells * share) if run.note else run for run in expected]
    guide = np.zeros_like(gain) if way is CutBy.COUNTED else gain
    rows = _Rows.of(guide, np.zeros((2, len(ink)), np.bool_) if lower else one_sided(ink, pitch))
    each, free = (
        (STRICT_COUNT_COST, STRICT_COUNT_SLACK_CELLS) if way is CutBy.STRICT else (COUNT_COST, COUNT_SLACK_CELLS)
    )
    # what is free for main text would be a whole row of a note whose rows are half as high
    price = ((each, free), (each, free * share))
    laid = _guided_stretches(
        rows, ink, expected, pitch, last, THROUGH_INK_COST_UNRULED if lower else THROUGH_INK_COST, price
    )
    blank = [all(cell.blank for cell in run.cells) for run in column.runs]
    return [replace(stretch, blank=empty) for stretch, empty in zip(laid, blank, strict=True)]


def longer_by(run: Run) -> int:
    """By how many characters the right half-row of a note goes on after the left one; negative where the left does."""
    return _written_cells(run.right) - _written_cells(run.left) if run.note else 0


def _written_cells(half: Sequence[Cell]) -> int:
    """The cells of a half-row, or of main text, but for the blank ones at its end."""
    return max((n for n, cell in enumerate(half, 1) if not cell.blank), default=0)


def _note_share(expected: Sequence[_Expected], cells: float) -> float:
    """The height of a note's row, in cells, where notes have rows of their own height: what the main text leaves of the
    column's `cells` is shared among them."""
    notes = sum(run.cells for run in expected if run.note)
    main = sum(run.cells for run in expected if not run.note)
    return min(max((cells - main) / notes, LOWEST_NOTE), 1.0) if notes else 1.0


def main_gain(ink: NDArray[np.uint8], strokes: Strokes, pitch: float, lower: bool) -> NDArray[np.float64]:
    """For every row of pixels how much it speaks for main text (positive) or a note (negative).

    From -1 to 1. The half-rows of a note leave the middle of their column nearly free, main text fills it. Blank paper
    is as clear and says nothing: where text begins and ends it is the middle of the text that is looked at. Specks
    (noise, the dots of a seal) are left out; zero where no ink is at all. `lower` as in `find_runs`.
    """
    _, width = ink.shape
    cells, even, aside = (
        (WINDOW_CELLS_UNRULED, EVEN_INK_UNRULED, MIDDLE_ASIDE_WIDTHS) if lower else (WINDOW_CELLS, EVEN_INK, 0.0)
    )
    window = max(3, round(cells * pitch))
    real = strokes.area >= SPECK * pitch * pitch
    real[0] = False
    inked = real[strokes.labels]
    within = slice(round(0.06 * width), round(0.94 * width))
    across = np.count_nonzero(inked[:, within], axis=1)
    body = _windowed((across / max(within.stop - within.start, 1)).astype(np.float32)[:, None], window)[:, 0]
    low, high = round((0.5 - aside) * (width - 1)), round((0.5 + aside) * (width - 1)) + 1
    reach = round(MIDDLE_WIDTHS * width) // 2
    first = max(0, low - reach)
    about = cv2.blur(inked[:, first : high + reach].astype(np.float32), (2 * reach + 1, 1))
    middle = _windowed(np.asarray(about[:, low - first : high - first], np.float32), window).min(axis=1)
    gain = np.zeros(len(ink))
    for first, last in _written(across > 0, round(JOINED * pitch)):
        half = min(window, last - first) / 2
        rows = np.clip(np.arange(first, last), first + half, last - half).astype(np.intp)
        filled = window / (2 * half)
        present = np.minimum(filled * body[rows] / 0.1, 1.0)
        share = middle[rows] / np.maximum(body[rows], 1e-6)
        gain[first:last] = np.clip((share - even) / PLAIN_INK_CHANGE, -1.0, 1.0) * present
    if not lower:
        # a glyph of main text that leans leaves the middle as free as a note does
        large = real & (strokes.right - strokes.left >= TOO_WIDE * width)
        rows = large[strokes.labels].any(axis=1)
        gain[rows] = np.maximum(gain[rows], 0.0)
    return gain


def _windowed(profiles: NDArray[np.float32], window: int) -> NDArray[np.float32]:
    """The mean of so many rows about every row of pixels; beyond the ends there is nothing."""
    return np.asarray(cv2.boxFilter(profiles, -1, (1, window), borderType=cv2.BORDER_CONSTANT), np.float32)


def _written(rows: NDArray[np.bool_], gap: int) -> list[tuple[int, int]]:
    """From which row to which (exclusive) there is ink, gaps of so many rows and fewer left aside."""
    inked = np.flatnonzero(rows)
    if not inked.size:
        return []
    after = np.flatnonzero(np.diff(inked) > gap + 1)
    firsts, lasts = inked[np.append(0, after + 1)], inked[np.append(after, inked.size - 1)] + 1
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))


def _seen_stretches(gain: NDArray[np.float64], pitch: float) -> list[ColumnStretch]:
    """The stretches that the image alone suggests: the best two-state path, where a change has its price."""
    blocks = np.add.reduceat(gain, np.arange(0, gain.size, BLOCK)).tolist()
    price = PRICE * pitch
    main = note = 0.0
    came: list[tuple[bool, bool]] = []
    for value in blocks:
        came.append((note - price > main, main - price > note))
        main, note = max(main, note - price) + value, max(note, main - price) - value
    in_note = note > main
    states = []
    for from_note, from_main in reversed(came):
        states.append(in_note)
        in_note = not in_note if (from_main if in_note else from_note) else in_note
    states.reverse()
    edges = [0, *(i for i in range(1, len(states)) if states[i] != states[i - 1]), len(states)]
    return [
        ColumnStretch(states[a], float(a * BLOCK), float(min(b * BLOCK, gain.size)))
        for a, b in pairwise(edges)
        if a < b
    ]


def _guided_stretches(
    rows: _Rows,
    ink: NDArray[np.uint8],
    expected: Sequence[_Expected],
    pitch: float,
    last: float,
    through: float,
    price: tuple[tuple[float, float], tuple[float, float]],
) -> list[ColumnStretch]:
    """The transcription's runs laid on the column, each boundary where the image puts it; its text ends `last` cells
    below the top, `through` is what ink costs that a boundary goes through, `price` what a cell more or less does, and
    how many are free, of main text and of notes.

    Dynamic programming over boundaries on a grid of two pixels: its `rows` speak for a run, a boundary through ink
    costs, and so does a run that is longer or shorter than its cells: where the transcription lacks a character one run
    is, and where a note is taken for main text two are.
    """
    height = len(ink)
    if len(expected) == 1:
        return [ColumnStretch(expected[0].note, 0.0, float(height))]
    cells = sum(run.cells for run in expected)
    squeezed = min(1.0, height / (pitch * cells)) if cells else 1.0
    grid = np.arange(0, height + STEP, STEP).clip(0, height)
    across = np.convolve((ink > 0).mean(axis=1), np.ones(3) / 3, mode="same")
    cut = np.concatenate([across, [0.0]])[grid.clip(0, height)] * pitch * through
    worth = [rows.worth(run, grid, pitch * squeezed) for run in expected]
    best = np.where(grid == 0, 0.0, -np.inf)
    back: list[NDArray[np.intp]] = []
    start = BELOW_FRAME
    for run, own_worth, next_worth in zip(expected, worth, worth[1:], strict=False):
        value, came = _run_before(best + own_worth.begins, start + squeezed * run.cells, pitch, price[run.note])
        # one window above against one below: sharper than the rows, which change over a window's length
        best = value + own_worth.ends + CONTRAST * pitch * (own_worth.above + next_worth.below) - cut
        back.append(came)
        start = 0.0
    run, own_worth = expected[-1], worth[-1]
    final = best + own_worth.begins + own_worth.ends[min(len(grid) - 1, round(last * pitch / STEP))]
    place = int((final - _miscount(last - grid / pitch, squeezed * run.cells, pitch, price[run.note])).argmax())
    bounds = [place]
    for came in reversed(back[1:]):
        place = int(came[place])
        bounds.append(place)
    edges = [0.0, *(float(grid[b]) for b in reversed(bounds)), float(height)]
    return [ColumnStretch(run.note, a, b) for run, a, b in zip(expected, edges, edges[1:], strict=False)]


def runs_of_ink(stretches: Sequence[ColumnStretch], strokes: Strokes, pitch: float, lower: bool) -> NDArray[np.intp]:
    """For every pixel of a column the number of the stretch that its ink belongs to, `lower` as in `find_runs`.

    Where one ends and the next begins no piece of ink is cut but two glyphs that touch: each goes where most of it is,
    and what is wider than a note's glyph to the main text. What lies beside such a piece goes with it.
    """
    height, width = strokes.labels.shape
    cuts = np.array([round(stretch.top) for stretch in stretches[1:]], np.intp)
    rows = np.searchsorted(cuts, np.arange(height), side="right")
    high = strokes.bottom - strokes.top > MIN_TOUCHING_CELLS * pitch
    wide = (strokes.right - strokes.left > MIN_MAIN_PIECE_WIDTHS * width) & ~high & (not lower)
    runs, parted = np.full(len(strokes.area), -1), np.zeros(len(strokes.area), np.bool_)
    for number, (cut, (above, below)) in enumerate(zip(cuts.tolist(), pairwise(stretches), strict=True)):
        here = np.unique(strokes.labels[min(cut, height - 1)])
        here = here[(here > 0) & (strokes.top[here] < cut) & (strokes.area[here] >= SPECK * pitch * pitch)]
        share = np.array([np.count_nonzero(strokes.labels[:cut] == piece) for piece in here]) / strokes.area[here]
        beyond = np.minimum(cut - strokes.top[here], strokes.bottom[here] - cut)
        touch = high[here] & (beyond > MIN_TOUCHING_REACH_CELLS * pitch)
        parted[here[touch]] = True
        down = np.where(wide[here] & (above.note != below.note), above.note, share < 0.5)[~touch]
        here = here[~touch]
        runs[here] = number + down
        reach = round(BESIDE_BOUNDARY_CELLS * pitch)
        if here.size and down.all():
            rows[max(strokes.top[here].min(), cut - reach) : cut] = number + 1
        elif here.size and not down.any():
            rows[cut : min(strokes.bottom[here].max(), cut + reach)] = number
    runs = np.where(runs < 0, rows[strokes.y.astype(np.intp).clip(0, height - 1)], runs)
    return np.where(parted[strokes.labels], rows[:, None], runs[strokes.labels])


def _miscount(
    cells: NDArray[np.float64], count: float, pitch: float, price: tuple[float, float]
) -> NDArray[np.float64]:
    """What it costs that a run is so many `cells` long and not as many as were counted: a `price` for each beyond as
    many as are free."""
    each, free = price
    off = np.minimum(np.maximum(np.abs(cells - count) - free, 0.0), MISCOUNTED)
    return np.asarray(each * pitch * off, dtype=np.float64)


def _run_before(
    best: NDArray[np.float64], count: float, pitch: float, price: tuple[float, float]
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """For every place of the grid the best that ends there a run of about so many cells, and where that begins; `best`
    is what the best is worth that ends at a place."""
    cell = pitch / STEP
    shortest = int(SHORTEST * count * cell)
    longest = int(np.ceil((count + COUNT_SLACK_CELLS + MISCOUNTED) * cell))
    padded = np.concatenate([np.full(longest, -np.inf), best])[: best.size + longest - shortest]
    lengths = np.arange(longest, shortest - 1, -1)
    ways = np.lib.stride_tricks.sliding_window_view(padded, lengths.size) - _miscount(
        lengths / cell, count, pitch, price
    )
    way = ways.argmax(axis=1)
    every = np.arange(best.size)
    return ways[every, way], (every - lengths[way]).clip(0)
