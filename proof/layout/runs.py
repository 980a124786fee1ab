"""Divides a column into runs: main text in full width, and notes in two half-rows.

A note leaves the middle of its column free of ink, main text does not. The transcription gives the expected runs; the
image decides where they end or, where it clearly contradicts, which runs there are.
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
"""Cost of a boundary through rows full of ink, in cells of clear evidence: the sum of the gains of a cell's rows if
each is 1."""

THROUGH_INK_COST_UNRULED = 33.0
"""The same on an unruled page, where notes have little ink."""

MIN_NOTE_CELL = 0.5
"""Minimum height of a note's cell on an unruled page, in cells of main text."""

LOW_NOTE_CELL = 0.6
"""Height of a row of a note in cells of main text, where a note has more rows than its column has cells."""

COUNT_COST = 1.6
"""Cost of every cell by which a run is longer or shorter than transcribed, in cells of clear evidence."""

COUNT_SLACK_CELLS = 0.5
"""Cells by which a run may be longer or shorter than transcribed at no cost."""

STRICT_COUNT_COST = 3.0
"""`COUNT_COST` for `CutBy.STRICT`: a glyph beside a note that is clear in its middle (引, 北) then does not join the
note."""

STRICT_COUNT_SLACK_CELLS = 0.3
"""`COUNT_SLACK_CELLS` for `CutBy.STRICT`."""

MAX_MISCOUNT_CELLS = 4.0
"""Maximum number of cells, beyond those at no cost, by which a run is longer: the transcription may lack characters."""

MIN_LENGTH_SHARE = 0.4
"""Minimum length of a run, as a share of its transcribed length."""

CONTRAST_WEIGHT = 1.0
"""Weight of the rows just above and just below a boundary, in cells of clear evidence."""

TOP_MARGIN_CELLS = 0.2
"""Distance between the top of a column and its text, in cells."""

MIN_PIECE_AREA = 0.012
"""Area below which a piece of ink is noise, as a share of a cell's area."""

WINDOW_CELLS = 0.9
"""Length of the window over which the ink in a column's middle is averaged, in cells."""

WINDOW_CELLS_UNRULED = 0.6
"""The same on an unruled page."""

MAX_BLANK_CELLS = 0.6
"""Maximum length of blank paper within continuous text, in cells."""

EVEN_INK = 0.9
"""Density of ink in the middle of a column, relative to the whole column, above which rows indicate main text and below
which a note."""

EVEN_INK_UNRULED = 0.75
"""The same on an unruled page."""

CLEAR_INK_CHANGE = 0.4
"""Difference from that density at which rows indicate either clearly (gain 1 or -1)."""

MIDDLE_WIDTHS = 0.16
"""Width of a column's middle, as a share of the column's width."""

MAX_MIDDLE_SHIFT_WIDTHS = 0.1
"""Maximum distance of this middle from the centre on an unruled page, as a share of the column's width."""

CHANGE_COST = 2.0
"""Cost of a change between main text and a note where the image alone decides, in cells of clear evidence: a single
glyph may be clear in the middle (北, 門)."""

MIN_MAIN_PIECE_WIDTHS = 0.45
"""Width above which a piece of ink on a boundary belongs to main text, as a share of the column's width."""

MIN_TOUCHING_CELLS = 1.25
"""Height above which a piece of ink on a boundary consists of glyphs that touch, in cells."""

MIN_TOUCHING_REACH_CELLS = 0.4
"""Minimum distance that touching glyphs reach to either side of the boundary, in cells."""

BESIDE_BOUNDARY_CELLS = 0.35
"""Distance from a boundary within which ink beside a piece on the boundary goes to the same run, in cells."""

SIDE_WIDTHS = 0.33
"""Width of a column's sides, as a share of the column's width. One side is free of ink beside a leaning glyph of main
text, and where one half-row of a note is longer than the other."""

FREE_SIDE_CELLS = 0.3
"""Distance above and below a row over which a side must be free, in cells."""

MAX_ONE_SIDED_GAIN = 0.35
"""Maximum absolute gain of a row with ink at one side only, where main text is expected."""

MAX_NOTE_PIECE_WIDTHS = 0.55
"""Maximum width of a piece of ink in a note, as a share of the column's width. On rendered pages one in 1,000 of 4,000
glyphs of notes is wider, and 6 in 10 glyphs of main text."""

GRID_PX = 2
"""Distance between the positions tried for a boundary, in pixels."""

BLOCK_PX = 10
"""Height of the blocks in which a change of run or the gap between half-rows is searched, in pixels."""


class CutBy(StrEnum):
    """How the runs of a column are found: by the image with the transcription as a guide (BEST), by the image alone
    (SEEN), by the number of transcribed cells alone (COUNTED), by both with more weight on that number (STRICT), or as
    BEST with cells of main text that leave low rows to the notes (LOW_NOTES)."""

    BEST = "best"
    SEEN = "seen"
    COUNTED = "counted"
    STRICT = "strict"
    LOW_NOTES = "low notes"


@dataclass(frozen=True, slots=True)
class ColumnStretch:
    """A stretch of main text or of a note from `top` to `bottom`, in pixels of the rectified page below the top of the
    cut column.

    `blank`: the transcription has only spaces here.
    """

    note: bool
    top: float
    bottom: float
    blank: bool = False


@dataclass(frozen=True, slots=True)
class Strokes:
    """The connected pieces of a column's ink: `labels` (height x width) is the number of each pixel's piece, 0 for
    paper; the other arrays have an entry per piece (entry 0 unused): its edges, its longer side (`span`), its area and
    its middle (`x`, `y`)."""

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
    """A transcribed run: main text or a note, its height in cells, and by how many cells its right half-row is longer
    than the left one (negative: shorter)."""

    note: bool
    cells: float
    longer: int

    @classmethod
    def of(cls, run: Run) -> _Expected:
        return cls(run.note, float(run.height), longer_by(run))


class _Worth(NamedTuple):
    """The gain of a run as cumulative sums on a grid of positions: that of a run from a to b is `begins[a] + ends[b]`.
    `above` is the gain of the rows above a position if the run ends there, `below` that of the rows below if it begins
    there."""

    begins: NDArray[np.float64]
    ends: NDArray[np.float64]
    above: NDArray[np.float64]
    below: NDArray[np.float64]


class _Rows(NamedTuple):
    """The gain of every row of pixels for main text (positive) or a note (negative), -1 to 1: where `main` text is
    expected, where both half-rows of a `note` are, and where its right or its left one `goes_on` alone."""

    main: NDArray[np.float64]
    note: NDArray[np.float64]
    goes_on: tuple[NDArray[np.float64], NDArray[np.float64]]

    @classmethod
    def of(cls, gain: NDArray[np.float64], alone: NDArray[np.bool_]) -> _Rows:
        """The gains of the rows of a column, from those of `main_gain` and the rows with ink on one side `alone`
        (`one_sided`)."""
        both = np.maximum(gain, 0.0)
        right, left = (
            np.where(alone[1 - side], both, np.where(alone[side], np.minimum(gain, 0.0), gain)) for side in (0, 1)
        )
        either = alone.any(axis=0)
        main = np.where(either, np.clip(gain, -MAX_ONE_SIDED_GAIN, MAX_ONE_SIDED_GAIN), gain)
        return cls(main, np.where(either, both, gain), (right, left))

    def worth(self, run: _Expected, grid: NDArray[np.intp], cell: float) -> _Worth:
        """The gain of a run on a grid of positions; cells are `cell` pixels high."""
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
    """The sums of all rows before each row, and of all rows."""
    return np.concatenate([[0.0], np.cumsum(rows)])


def one_sided(ink: NDArray[np.uint8], pitch: float) -> NDArray[np.bool_]:
    """Whether the ink around every row of pixels is only at the right side of the column, and whether only at the left
    side (2 x height)."""
    across, window = round(SIDE_WIDTHS * ink.shape[1]), 2 * round(FREE_SIDE_CELLS * pitch) + 1
    counts = (np.count_nonzero(part, axis=1).astype(np.float32) for part in (ink[:, -across:], ink[:, :across]))
    right, left = (
        _windowed(count[:, None], window)[:, 0] * window >= MIN_PIECE_AREA * pitch * pitch for count in counts
    )
    return np.array([right & ~left, left & ~right])


def strokes_of(ink: NDArray[np.uint8]) -> Strokes:
    labels, stats, centres = connected(ink)
    left, top, width, height, area = (stats[:, i].astype(np.intp) for i in range(5))
    span = np.maximum(width, height)
    middle = np.asarray(centres, dtype=np.float64)
    # indexing with intp takes half the time
    numbers = np.asarray(labels, dtype=np.intp)
    return Strokes(numbers, left, left + width, top, top + height, span, area, middle[:, 0], middle[:, 1])


def runs_set_by_hand(area: ColumnArea, top: int, bottom: int) -> list[ColumnStretch]:
    """Main text and notes as a person marked them, in pixels below `top`; empty where nobody did. A note marked up to
    an end of the column extends to the end of the ink."""
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
    """Main text and notes from top to bottom, in pixels below the top of `ink`. `gain` is that of `main_gain`, `pitch`
    the height of a cell in pixels. `lower`: the cells of a note may be lower than those of main text, as on an unruled
    page."""
    if column is None or not column.runs or way is CutBy.SEEN:
        return _seen_stretches(gain, pitch)
    expected = [_Expected.of(run) for run in column.runs]
    end = column.runs[-1]
    expected[-1] = expected[-1]._replace(cells=float(max(_written_cells(end.right), _written_cells(end.left))))
    inked = np.append(0, np.flatnonzero(gain))
    first, last = float(inked[min(1, len(inked) - 1)]) / pitch, float(inked[-1]) / pitch
    # an indent is seldom transcribed; a transcribed one is not on the image where the column begins with its ink
    start = max(TOP_MARGIN_CELLS, first) - _leading_blanks(column.runs[0])
    share = _note_share(expected, last - start) if lower else 1.0
    expected = [run._replace(cells=run.cells * share) if run.note else run for run in expected]
    guide = np.zeros_like(gain) if way is CutBy.COUNTED else gain
    rows = _Rows.of(guide, np.zeros((2, len(ink)), np.bool_) if lower else one_sided(ink, pitch))
    each, free = (
        (STRICT_COUNT_COST, STRICT_COUNT_SLACK_CELLS) if way is CutBy.STRICT else (COUNT_COST, COUNT_SLACK_CELLS)
    )
    # scaled: the cells at no cost for main text would be a whole row of a note with rows half as high
    price = ((each, free), (each, free * share))
    stretches = _guided_stretches(
        rows, ink, expected, pitch, (start, last), THROUGH_INK_COST_UNRULED if lower else THROUGH_INK_COST, price
    )
    blank = [all(cell.blank for cell in run.cells) for run in column.runs]
    return [replace(stretch, blank=empty) for stretch, empty in zip(stretches, blank, strict=True)]


def height_with_low_notes(column: Column) -> float:
    """The height of a column in cells of main text where the rows of its notes are `LOW_NOTE_CELL` of one high."""
    return sum(run.height * (LOW_NOTE_CELL if run.note else 1.0) for run in column.runs)


def cell_beside_low_notes(ink: NDArray[np.uint8], column: Column) -> float:
    """The height of a cell of main text in pixels where the rows of notes are so low, and the runs of the column fill
    it as far as its `ink` reaches."""
    end = float(np.flatnonzero(ink.any(axis=1))[-1] + 1)
    return end / (TOP_MARGIN_CELLS + height_with_low_notes(column))


def longer_by(run: Run) -> int:
    """By how many characters the right half-row of a note is longer than the left one; negative where it is shorter, 0
    for main text."""
    return _written_cells(run.right) - _written_cells(run.left) if run.note else 0


def _leading_blanks(run: Run) -> int:
    """The number of cells with nothing in them at the beginning of a run; all cells of a run of spaces."""
    rows = [n for half in (run.right, run.left) for n, cell in enumerate(half) if not cell.blank]
    return min(rows, default=run.height)


def _written_cells(half: Sequence[Cell]) -> int:
    """The number of cells of a half-row, or of main text, without blank ones at its end."""
    return max((n for n, cell in enumerate(half, 1) if not cell.blank), default=0)


def _note_share(expected: Sequence[_Expected], cells: float) -> float:
    """The height of a note's row, in cells, where notes have lower rows: the part of the column's `cells` without main
    text, divided by the number of their rows."""
    notes = sum(run.cells for run in expected if run.note)
    main = sum(run.cells for run in expected if not run.note)
    return min(max((cells - main) / notes, MIN_NOTE_CELL), 1.0) if notes else 1.0


def main_gain(ink: NDArray[np.uint8], strokes: Strokes, pitch: float, lower: bool) -> NDArray[np.float64]:
    """How strongly every row of pixels indicates main text (positive) or a note (negative), -1 to 1; 0 without ink.

    The half-rows of a note leave the middle of their column nearly free, main text fills it. Blank paper is free, too,
    and no evidence: near the ends of a text the window is moved into the text. Specks (noise, the dots of a seal) are
    ignored. `lower` as in `find_runs`.
    """
    _, width = ink.shape
    cells, even, aside = (
        (WINDOW_CELLS_UNRULED, EVEN_INK_UNRULED, MAX_MIDDLE_SHIFT_WIDTHS) if lower else (WINDOW_CELLS, EVEN_INK, 0.0)
    )
    window = max(3, round(cells * pitch))
    real = strokes.area >= MIN_PIECE_AREA * pitch * pitch
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
    for first, last in _written(across > 0, round(MAX_BLANK_CELLS * pitch)):
        half = min(window, last - first) / 2
        rows = np.clip(np.arange(first, last), first + half, last - half).astype(np.intp)
        filled = window / (2 * half)
        present = np.minimum(filled * body[rows] / 0.1, 1.0)
        share = middle[rows] / np.maximum(body[rows], 1e-6)
        gain[first:last] = np.clip((share - even) / CLEAR_INK_CHANGE, -1.0, 1.0) * present
    if not lower:
        # a leaning glyph of main text leaves the middle as free as a note does
        large = real & (strokes.right - strokes.left >= MAX_NOTE_PIECE_WIDTHS * width)
        rows = large[strokes.labels].any(axis=1)
        gain[rows] = np.maximum(gain[rows], 0.0)
    return gain


def _windowed(profiles: NDArray[np.float32], window: int) -> NDArray[np.float32]:
    """The mean of `window` rows around every row of pixels, with zeros beyond the ends."""
    return np.asarray(cv2.boxFilter(profiles, -1, (1, window), borderType=cv2.BORDER_CONSTANT), np.float32)


def _written(rows: NDArray[np.bool_], gap: int) -> list[tuple[int, int]]:
    """The first row and the end (exclusive) of each stretch with ink, where gaps of up to `gap` rows do not end a
    stretch."""
    inked = np.flatnonzero(rows)
    if not inked.size:
        return []
    after = np.flatnonzero(np.diff(inked) > gap + 1)
    firsts, lasts = inked[np.append(0, after + 1)], inked[np.append(after, inked.size - 1)] + 1
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))


def _seen_stretches(gain: NDArray[np.float64], pitch: float) -> list[ColumnStretch]:
    """The stretches that the image alone suggests: the best path of two states, in which every change has a cost."""
    blocks = np.add.reduceat(gain, np.arange(0, gain.size, BLOCK_PX)).tolist()
    price = CHANGE_COST * pitch
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
        ColumnStretch(states[a], float(a * BLOCK_PX), float(min(b * BLOCK_PX, gain.size)))
        for a, b in pairwise(edges)
        if a < b
    ]


def _guided_stretches(
    rows: _Rows,
    ink: NDArray[np.uint8],
    expected: Sequence[_Expected],
    pitch: float,
    ends: tuple[float, float],
    through: float,
    price: tuple[tuple[float, float], tuple[float, float]],
) -> list[ColumnStretch]:
    """The transcribed runs in the column, each boundary where the image supports it best (dynamic programming on a
    grid).

    The gain of a run comes from `rows`. A boundary through ink costs `through`. `price` is the cost of each surplus or
    missing cell and the number of cells at no cost, for main text and for notes. The text begins and `ends` so many
    cells below the top. A missing character changes the length of one run, a note taken for main text that of two.
    """
    height = len(ink)
    if len(expected) == 1:
        return [ColumnStretch(expected[0].note, 0.0, float(height))]
    cells = sum(run.cells for run in expected)
    squeezed = min(1.0, height / (pitch * cells)) if cells else 1.0
    grid = np.arange(0, height + GRID_PX, GRID_PX).clip(0, height)
    across = np.convolve((ink > 0).mean(axis=1), np.ones(3) / 3, mode="same")
    cut = np.concatenate([across, [0.0]])[grid.clip(0, height)] * pitch * through
    worth = [rows.worth(run, grid, pitch * squeezed) for run in expected]
    best = np.where(grid == 0, 0.0, -np.inf)
    back: list[NDArray[np.intp]] = []
    start, last = ends
    for run, own_worth, next_worth in zip(expected, worth, worth[1:], strict=False):
        length = max(start + squeezed * run.cells, 0.0)
        value, came = _run_before(best + own_worth.begins, length, pitch, price[run.note])
        # the window above against the one below: sharper than the rows, whose gain changes over a window's length
        best = value + own_worth.ends + CONTRAST_WEIGHT * pitch * (own_worth.above + next_worth.below) - cut
        back.append(came)
        start = 0.0
    run, own_worth = expected[-1], worth[-1]
    final = best + own_worth.begins + own_worth.ends[min(len(grid) - 1, round(last * pitch / GRID_PX))]
    place = int((final - _miscount(last - grid / pitch, squeezed * run.cells, pitch, price[run.note])).argmax())
    bounds = [place]
    for came in reversed(back[1:]):
        place = int(came[place])
        bounds.append(place)
    edges = [0.0, *(float(grid[b]) for b in reversed(bounds)), float(height)]
    return [ColumnStretch(run.note, a, b) for run, a, b in zip(expected, edges, edges[1:], strict=False)]


def runs_of_ink(stretches: Sequence[ColumnStretch], strokes: Strokes, pitch: float, lower: bool) -> NDArray[np.intp]:
    """For every pixel of a column the number of the stretch that its ink belongs to, `lower` as in `find_runs`.

    At a boundary only glyphs that touch are cut. Any other piece of ink goes whole to the stretch with most of it, or
    to the main text if it is wider than a glyph of a note; ink beside it goes to the same stretch.
    """
    height, width = strokes.labels.shape
    cuts = np.array([round(stretch.top) for stretch in stretches[1:]], np.intp)
    rows = np.searchsorted(cuts, np.arange(height), side="right")
    high = strokes.bottom - strokes.top > MIN_TOUCHING_CELLS * pitch
    wide = (strokes.right - strokes.left > MIN_MAIN_PIECE_WIDTHS * width) & ~high & (not lower)
    runs, parted = np.full(len(strokes.area), -1), np.zeros(len(strokes.area), np.bool_)
    for number, (cut, (above, below)) in enumerate(zip(cuts.tolist(), pairwise(stretches), strict=True)):
        on_cut = np.unique(strokes.labels[min(cut, height - 1)])
        is_piece = strokes.area[on_cut] >= MIN_PIECE_AREA * pitch * pitch
        on_cut = on_cut[(on_cut > 0) & (strokes.top[on_cut] < cut) & is_piece]
        share = np.array([np.count_nonzero(strokes.labels[:cut] == piece) for piece in on_cut]) / strokes.area[on_cut]
        beyond = np.minimum(cut - strokes.top[on_cut], strokes.bottom[on_cut] - cut)
        touch = high[on_cut] & (beyond > MIN_TOUCHING_REACH_CELLS * pitch)
        parted[on_cut[touch]] = True
        down = np.where(wide[on_cut] & (above.note != below.note), above.note, share < 0.5)[~touch]
        whole = on_cut[~touch]
        runs[whole] = number + down
        reach = round(BESIDE_BOUNDARY_CELLS * pitch)
        if whole.size and down.all():
            rows[max(strokes.top[whole].min(), cut - reach) : cut] = number + 1
        elif whole.size and not down.any():
            rows[cut : min(strokes.bottom[whole].max(), cut + reach)] = number
    runs = np.where(runs < 0, rows[strokes.y.astype(np.intp).clip(0, height - 1)], runs)
    return np.where(parted[strokes.labels], rows[:, None], runs[strokes.labels])


def _miscount(
    cells: NDArray[np.float64], count: float, pitch: float, price: tuple[float, float]
) -> NDArray[np.float64]:
    """The cost of a run of `cells` where `count` are transcribed. `price` is the cost of each cell and the number of
    cells at no cost."""
    each, free = price
    off = np.minimum(np.maximum(np.abs(cells - count) - free, 0.0), MAX_MISCOUNT_CELLS)
    return np.asarray(each * pitch * off, dtype=np.float64)


def _run_before(
    best: NDArray[np.float64], count: float, pitch: float, price: tuple[float, float]
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """For every position of the grid the value of the best path whose last run, of about `count` cells, ends there, and
    the position where that run begins. `best` is the value of the best path up to each position."""
    cell = pitch / GRID_PX
    shortest = int(MIN_LENGTH_SHARE * count * cell)
    longest = int(np.ceil((count + COUNT_SLACK_CELLS + MAX_MISCOUNT_CELLS) * cell))
    padded = np.concatenate([np.full(longest, -np.inf), best])[: best.size + longest - shortest]
    lengths = np.arange(longest, shortest - 1, -1)
    ways = np.lib.stride_tricks.sliding_window_view(padded, lengths.size) - _miscount(
        lengths / cell, count, pitch, price
    )
    way = ways.argmax(axis=1)
    every = np.arange(best.size)
    return ways[every, way], (every - lengths[way]).clip(0)
