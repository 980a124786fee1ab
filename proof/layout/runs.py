"""Divides a column into runs: main text in full width, and notes in two half-rows.

A note leaves the middle of its column free of ink, main text does not. The transcription gives the expected runs; the
image decides where they end or, where it clearly contradicts, which runs there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.crossings import MIN_STROKE_AREA
from proof.layout.half_folio import ColumnArea
from proof.layout.rules import connected
from proof.text.model import Column, Run

THROUGH_INK_COST = 33.0
"""Cost of a boundary through rows full of ink, in cells of clear evidence: the sum of the gains of a cell's rows if
each is 1."""

MIN_NOTE_CELL = 0.5
"""Minimum height of a note's cell on an unruled page, in cells of main text."""

LOW_NOTE_CELL = 0.6
"""Height of a row of a note in cells of main text, if a note has more rows than its column has cells."""

COUNT_COST = 1.6
"""Cost of every cell by which a run is longer or shorter than transcribed, in cells of clear evidence."""

COUNT_SLACK_CELLS = 0.5
"""Cells by which a run may be longer or shorter than transcribed at no cost."""

MAX_MISCOUNT_CELLS = 4.0
"""Maximum number of cells, beyond those at no cost, by which a run is longer: the transcription may lack characters."""

CONTRAST_WEIGHT = 1.0
"""Weight of the rows just above and just below a boundary, in cells of clear evidence."""

TOP_MARGIN_CELLS = 0.2
"""Distance between the top of a column and its text, in cells."""

WINDOW_CELLS = 0.9
"""Length of the window over which the ink in a column's middle is averaged, in cells."""

WINDOW_CELLS_UNRULED = 0.6
"""The same on an unruled page."""

EVEN_INK = 0.75
"""Density of ink in the middle of a column, relative to the whole column, above which rows indicate main text and below
which a note."""

CLEAR_INK_CHANGE = 0.4
"""Difference from that density at which rows indicate either clearly (gain 1 or -1)."""

MIDDLE_WIDTHS = 0.16
"""Width of a column's middle, as a share of the column's width."""

MAX_MIDDLE_SHIFT_WIDTHS = 0.1
"""Maximum distance of this middle from the centre on an unruled page, as a share of the column's width."""

CHANGE_COST = 2.0
"""Cost of a change between main text and a note where the image alone decides, in cells of clear evidence: a single
glyph may be clear in the middle (北, 門)."""

MIN_TOUCHING_CELLS = 1.25
"""Height above which a piece of ink on a boundary consists of glyphs that touch, in cells."""

GRID_PX = 2
"""Distance between the positions tried for a boundary, in pixels."""

BLOCK_PX = 10
"""Height of the blocks in which a change of run or the gap between half-rows is searched, in pixels."""


class CutBy(StrEnum):
    """What decides where the runs of a column are cut."""

    BEST = "best"
    """The image, guided by the transcription."""
    SEEN = "seen"
    """The image alone."""
    COUNTED = "counted"
    """The number of transcribed cells alone."""
    LOW_NOTES = "low notes"
    """As BEST, with cells of main text of such a height that low rows of notes fit between them."""


@dataclass(frozen=True, slots=True)
class ColumnStretch:
    """A stretch of main text or of a note from `top` to `bottom`, in pixels of the rectified page below the top of the
    cut column."""

    is_note: bool
    top: float
    bottom: float


@dataclass(frozen=True, slots=True)
class InkPieces:
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

    @classmethod
    def of(cls, ink: NDArray[np.uint8]) -> InkPieces:
        labels, stats, centres = connected(ink)
        left, top, width, height, area = (stats[:, i].astype(np.intp) for i in range(5))
        # indexing with intp takes half the time
        numbers = np.asarray(labels, dtype=np.intp)
        span, x, y = np.maximum(width, height), centres[:, 0], centres[:, 1]
        return cls(numbers, left, left + width, top, top + height, span, area, x, y)


class _ExpectedRun(NamedTuple):
    """A transcribed run: whether it is a note, and its height in `cells`. A run may be found longer or shorter by
    `slack_cells` at no cost."""

    is_note: bool
    cells: float
    slack_cells: float

    def miscount_cost(self, found_cells: NDArray[np.float64], cells: float, pitch: float) -> NDArray[np.float64]:
        """The cost of `found_cells` where `cells` are expected."""
        miscount = np.minimum(np.maximum(np.abs(found_cells - cells) - self.slack_cells, 0.0), MAX_MISCOUNT_CELLS)
        return np.asarray(COUNT_COST * pitch * miscount, dtype=np.float64)


class _RunGain(NamedTuple):
    """The gain of a run on a grid of positions: of all rows before a position (`total`), of the rows `above` it if the
    run ends there, and of the rows `below` it if the run begins there."""

    total: NDArray[np.float64]
    above: NDArray[np.float64]
    below: NDArray[np.float64]

    @classmethod
    def of(cls, gain: NDArray[np.float64], is_note: bool, grid: NDArray[np.intp], pitch: float) -> _RunGain:
        """The gain of a run of main text, or of a note, from that of all rows of pixels (`main_gain`)."""
        own = -gain if is_note else gain
        last, half_window = len(own) - 1, round(WINDOW_CELLS * pitch / 2)
        above, below = (grid - half_window).clip(0, last), (grid + half_window).clip(0, last)
        return cls(np.concatenate([[0.0], np.cumsum(own)])[grid], own[above], own[below])


def given_runs(area: ColumnArea, top: int, bottom: int) -> list[ColumnStretch]:
    """Main text and notes by the `notes` of the column, in pixels below `top`; empty where it has none. A note up to an
    end of the column extends to the end of the ink. Of a note that the image cuts off, what is on the image."""
    if area.notes is None:
        return []
    height = float(bottom - top)
    at_end = 0.01 * (area.bottom - area.top)
    stretches, previous_end = [], 0.0
    for note_top, note_bottom in area.notes:
        start = 0.0 if note_top - area.top < at_end else min(max(note_top - top, 0.0), height)
        end = height if area.bottom - note_bottom < at_end else min(max(note_bottom - top, 0.0), height)
        if start > previous_end:
            stretches.append(ColumnStretch(False, previous_end, start))
        stretches.append(ColumnStretch(True, max(start, previous_end), end))
        previous_end = end
    if previous_end < height:
        stretches.append(ColumnStretch(False, previous_end, height))
    return stretches


def find_runs(
    gain: NDArray[np.float64],
    ink: NDArray[np.uint8],
    column: Column | None,
    pitch: float,
    cut_by: CutBy,
    low_notes: bool,
) -> list[ColumnStretch]:
    """Main text and notes from top to bottom, in pixels below the top of `ink`. `gain` is that of `main_gain`, `pitch`
    the height of a cell in pixels. `low_notes`: the cells of a note may be lower than those of main text, as on an
    unruled page."""
    if column is None or not column.runs or cut_by is CutBy.SEEN:
        return _stretches_by_image(gain, pitch)
    inked = np.append(0, np.flatnonzero(gain))
    first_inked, end = float(inked[min(1, len(inked) - 1)]) / pitch, float(inked[-1]) / pitch
    # an indent is seldom transcribed; a transcribed one is not on the image where the column begins with its ink
    start = max(TOP_MARGIN_CELLS, first_inked) - _leading_blanks(column.runs[0])
    expected = _expected_runs(column)
    if low_notes:
        expected = _with_low_notes(expected, end - start)
    rows = np.zeros_like(gain) if cut_by is CutBy.COUNTED else gain
    return _guided_stretches(rows, ink, expected, pitch, start, end)


RunShape = tuple[bool, int, int, int]
"""Of a transcribed run: whether it is a note, its height in cells, and the numbers of its cells before the first
character and up to the last one."""


def run_shapes(column: Column | None, cut_by: CutBy) -> tuple[RunShape, ...]:
    """All that the strips of a column depend on in its line."""
    if column is None or cut_by is CutBy.SEEN:
        return ()
    return tuple((run.is_note, run.height, _leading_blanks(run), _written_cells(run)) for run in column.runs)


def _expected_runs(column: Column) -> list[_ExpectedRun]:
    """The transcribed runs of a column, without blank cells at its end."""
    slack = COUNT_SLACK_CELLS
    expected = [_ExpectedRun(run.is_note, float(run.height), slack) for run in column.runs]
    return [*expected[:-1], expected[-1]._replace(cells=float(_written_cells(column.runs[-1])))]


def _with_low_notes(expected: Sequence[_ExpectedRun], cells: float) -> list[_ExpectedRun]:
    """The expected runs, with rows of notes so low that all runs fit into the column's height in `cells`."""
    note_rows = sum(run.cells for run in expected if run.is_note)
    if not note_rows:
        return list(expected)
    main_cells = sum(run.cells for run in expected if not run.is_note)
    height = min(max((cells - main_cells) / note_rows, MIN_NOTE_CELL), 1.0)
    # the slack of main text would be a whole row of a note whose rows are half as high
    return [
        run._replace(cells=run.cells * height, slack_cells=run.slack_cells * height) if run.is_note else run
        for run in expected
    ]


def height_with_low_notes(column: Column) -> float:
    """The height of a column in cells of main text where the rows of its notes are `LOW_NOTE_CELL` of one high."""
    return sum(run.height * (LOW_NOTE_CELL if run.is_note else 1.0) for run in column.runs)


def pitch_with_low_notes(ink: NDArray[np.uint8], column: Column) -> float:
    """The height of a cell of main text in pixels, of which a row of a note has `LOW_NOTE_CELL`, if the runs fill the
    column as far as its `ink` reaches."""
    end = float(np.flatnonzero(ink.any(axis=1))[-1] + 1)
    return end / (TOP_MARGIN_CELLS + height_with_low_notes(column))


def _leading_blanks(run: Run) -> int:
    """The number of blank cells at the beginning of a run; all cells of a run of spaces."""
    written = [number for half in (run.right, run.left) for number, cell in enumerate(half) if not cell.blank]
    return min(written, default=run.height)


def _written_cells(run: Run) -> int:
    """The number of cells of a run, without blank ones at its end."""
    return max((n for half in (run.right, run.left) for n, cell in enumerate(half, 1) if not cell.blank), default=0)


def main_gain(pieces: InkPieces, pitch: float, low_notes: bool) -> NDArray[np.float64]:
    """How strongly every row of pixels indicates main text (positive) or a note (negative), -1 to 1; 0 without ink.

    The half-rows of a note leave the middle of their column nearly free, main text fills it. Blank paper is free, too,
    and no evidence: near the ends of a text the window is moved into the text. Specks (noise, the dots of a seal) are
    ignored. `low_notes` as in `find_runs`.
    """
    height, width = pieces.labels.shape
    if low_notes:
        window_cells, max_shift = WINDOW_CELLS_UNRULED, MAX_MIDDLE_SHIFT_WIDTHS
    else:
        window_cells, max_shift = WINDOW_CELLS, 0.0
    window = max(3, round(window_cells * pitch))
    is_stroke = pieces.area >= MIN_STROKE_AREA * pitch * pitch
    is_stroke[0] = False
    inked = is_stroke[pieces.labels]
    inner = slice(round(0.06 * width), round(0.94 * width))
    ink_counts = np.count_nonzero(inked[:, inner], axis=1)
    whole = _windowed((ink_counts / max(inner.stop - inner.start, 1)).astype(np.float32)[:, None], window)[:, 0]
    middle = _middle_density(inked, window, max_shift)
    gain = np.zeros(height)
    inked_rows = np.flatnonzero(ink_counts)
    if not inked_rows.size:
        return gain
    first, last = int(inked_rows[0]), int(inked_rows[-1]) + 1
    half_window = min(window, last - first) / 2
    rows = np.clip(np.arange(first, last), first + half_window, last - half_window).astype(np.intp)
    # little ink is little evidence
    evidence = np.minimum(window / (2 * half_window) * whole[rows] / 0.1, 1.0)
    relative = middle[rows] / np.maximum(whole[rows], 1e-6)
    gain[first:last] = np.clip((relative - EVEN_INK) / CLEAR_INK_CHANGE, -1.0, 1.0) * evidence
    return gain


def _middle_density(inked: NDArray[np.bool_], window: int, max_shift: float) -> NDArray[np.float32]:
    """The density of ink in the middle of a column, over `window` rows around every row of pixels: the lowest of all
    middles at most `max_shift` (a share of the column's width) from its centre."""
    width = inked.shape[1]
    low, high = round((0.5 - max_shift) * (width - 1)), round((0.5 + max_shift) * (width - 1)) + 1
    reach = round(MIDDLE_WIDTHS * width) // 2
    first = max(0, low - reach)
    density = cv2.blur(inked[:, first : high + reach].astype(np.float32), (2 * reach + 1, 1))
    middles = np.asarray(density[:, low - first : high - first], np.float32)
    return np.asarray(_windowed(middles, window).min(axis=1), np.float32)


def _windowed(profiles: NDArray[np.float32], window: int) -> NDArray[np.float32]:
    """The mean of `window` rows around every row of pixels, with zeros beyond the ends."""
    return np.asarray(cv2.boxFilter(profiles, -1, (1, window), borderType=cv2.BORDER_CONSTANT), np.float32)


def _stretches_by_image(gain: NDArray[np.float64], pitch: float) -> list[ColumnStretch]:
    """The stretches that the image alone suggests: the best path of two states, in which every change has a cost."""
    block_gains = np.add.reduceat(gain, np.arange(0, gain.size, BLOCK_PX)).tolist()
    change_cost = CHANGE_COST * pitch
    main = note = 0.0
    changes: list[tuple[bool, bool]] = []
    for block_gain in block_gains:
        to_main, to_note = note - change_cost, main - change_cost
        changes.append((to_main > main, to_note > note))
        main, note = max(main, to_main) + block_gain, max(note, to_note) - block_gain
    in_note = note > main
    states = []
    for changes_to_main, changes_to_note in reversed(changes):
        states.append(in_note)
        in_note ^= changes_to_note if in_note else changes_to_main
    states.reverse()
    edges = [0, *(i for i in range(1, len(states)) if states[i] != states[i - 1]), len(states)]
    return [
        ColumnStretch(states[first], float(first * BLOCK_PX), float(min(end * BLOCK_PX, gain.size)))
        for first, end in pairwise(edges)
        if first < end
    ]


def _guided_stretches(
    rows: NDArray[np.float64],
    ink: NDArray[np.uint8],
    expected: Sequence[_ExpectedRun],
    pitch: float,
    start: float,
    end: float,
) -> list[ColumnStretch]:
    """The transcribed runs in the column, each boundary where the image supports it best (dynamic programming on a
    grid).

    The gain of a run comes from that of all `rows` of pixels (`main_gain`). The text goes from `start` to `end`, in
    cells below the top. A missing character changes the length of one run, a note taken for main text that of two.
    """
    height = len(ink)
    if len(expected) == 1:
        return [ColumnStretch(expected[0].is_note, 0.0, float(height))]
    grid = np.arange(0, height + GRID_PX, GRID_PX).clip(0, height)
    ink_share = np.convolve((ink > 0).mean(axis=1), np.ones(3) / 3, mode="same")
    boundary_cost = np.concatenate([ink_share, [0.0]])[grid] * pitch * THROUGH_INK_COST
    gains = [_RunGain.of(rows, run.is_note, grid, pitch) for run in expected]
    best = np.where(grid == 0, 0.0, -np.inf)
    previous: list[NDArray[np.intp]] = []
    for run, (gain, next_gain) in zip(expected, pairwise(gains), strict=False):
        cells_above = 0.0 if previous else start
        value, begins = _best_ends(best - gain.total, run, max(cells_above + run.cells, 0.0), pitch)
        # the window above against the one below: sharper than the rows, whose gain changes over a window's length
        best = value + gain.total + CONTRAST_WEIGHT * pitch * (gain.above + next_gain.below) - boundary_cost
        previous.append(begins)
    run, gain = expected[-1], gains[-1]
    final = best - gain.total + gain.total[min(len(grid) - 1, round(end * pitch / GRID_PX))]
    final = final - run.miscount_cost(end - grid / pitch, run.cells, pitch)
    boundaries = [int(final.argmax())]
    for begins in reversed(previous[1:]):
        boundaries.append(int(begins[boundaries[-1]]))
    edges = [0.0, *(float(grid[boundary]) for boundary in reversed(boundaries)), float(height)]
    return [
        ColumnStretch(run.is_note, top, bottom) for run, (top, bottom) in zip(expected, pairwise(edges), strict=True)
    ]


def _best_ends(
    best: NDArray[np.float64], run: _ExpectedRun, cells: float, pitch: float
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """For every position of the grid the value of the best path on which a run of about so many cells ends there, and
    the position where the run begins on that path. `best` is the value of the best path to each position."""
    grid_pitch = pitch / GRID_PX
    longest = int(np.ceil((cells + COUNT_SLACK_CELLS + MAX_MISCOUNT_CELLS) * grid_pitch))
    padded = np.concatenate([np.full(longest, -np.inf), best])[: best.size + longest]
    lengths = np.arange(longest, -1, -1)
    cost = run.miscount_cost(lengths / grid_pitch, cells, pitch)
    values = np.lib.stride_tricks.sliding_window_view(padded, lengths.size) - cost
    chosen = values.argmax(axis=1)
    ends = np.arange(best.size)
    return values[ends, chosen], (ends - lengths[chosen]).clip(0)


def runs_of_ink(stretches: Sequence[ColumnStretch], pieces: InkPieces, pitch: float) -> NDArray[np.intp]:
    """For every pixel of a column the number of the stretch that its ink belongs to: that of the middle of its piece.
    Only glyphs that touch are cut between two stretches."""
    height = len(pieces.labels)
    cuts = np.array([round(stretch.top) for stretch in stretches[1:]], np.intp)
    run_of_row = np.searchsorted(cuts, np.arange(height), side="right")
    run_of_piece = run_of_row[pieces.y.astype(np.intp).clip(0, height - 1)]
    touching = pieces.bottom - pieces.top > MIN_TOUCHING_CELLS * pitch
    return np.where(touching[pieces.labels], run_of_row[:, None], run_of_piece[pieces.labels])
