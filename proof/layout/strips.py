"""Cuts columns into strips, the images that a recogniser reads.

Every run of a column (`proof.layout.runs`) is cut out with only its own ink, a note as two half-rows, and squeezed to
the pitch at which the recogniser reads best.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.crossings import OVER_RULE_WIDTHS
from proof.layout.half_folio import ColumnArea, Layout
from proof.layout.rules import connected, inked_along
from proof.layout.runs import (
    BLOCK_PX,
    CutBy,
    InkPieces,
    find_runs,
    given_runs,
    main_gain,
    pitch_with_low_notes,
    runs_of_ink,
)
from proof.text.model import Column, Row

STRIP_WIDTH = 48
"""Width of a strip, as the recogniser expects it, in pixels."""

MAIN_PITCH = 16
"""Length of a cell of main text along a strip, in pixels. This pitch costs the recogniser no accuracy (a second look at
a doubtful place uses a longer one) and saves half of its time."""

NOTE_PITCH = 20
"""The same for a note, whose strips are half as wide before they are scaled."""

MIN_SQUEEZED_CELLS = 3.4
"""Length below which a strip is not squeezed, in cells."""

SHORT_STRIP_PITCH = 42.0
"""Minimum length of a cell along such a short strip, in pixels."""

MAX_CELL_WIDTHS = 0.62
"""Maximum height of a cell by which an unruled column is squeezed, in widths of the column. Cells of a ruled column
have 0.55."""

NOTE_CELL_SHARE = 0.75
"""Height of a note's cell by which its strips are squeezed on an unruled page, in cells of main text."""

DARK = 160
"""Grey value below which a pixel is ink."""

WHITE = np.uint8(255)

MAX_LONE_RATIO = 1.35
"""Height, relative to the width, from which a piece of a column holds more than one character. If single characters are
read like others, one of 183 errors on 20 pages without rules is missed."""

LONE_SIZE_SHARE = 0.75
"""Size at which a single character is drawn, as a share of the strip's width."""

LENGTH_STEPS_PX = ((128, 8), (256, 16), (10_000, 32))
"""Maximum lengths of strips, each with the step to whose multiples such lengths are rounded up, in pixels. A recogniser
prepares itself for each length and may remember it, so there are few of them; a strip longer than 56 pixels grows by at
most an eighth."""

MAX_GUTTER_OFFSET_WIDTHS = 0.13
"""Maximum distance of the gap between two half-rows from the middle, as a share of the column's width. If the gap is
straight, 16 flags more are false in 42 texts with notes."""

MAX_DOT_DISTANCE_CELLS = 0.35
"""Maximum distance of a glyph's dots above the first and below the last stroke of a strip, in cells."""

MIN_PIECE_AREA = 0.006
"""Area below which a piece of ink is a speck, as a share of a cell's area."""

MIN_CLEAR_SPECKS = 4
"""Specks clear of all strokes within the length of a cell from which they are the dots of a seal. A worn glyph may
leave as many, but hardly ever `MIN_SPECKS` in all."""

MIN_CLEAR_DISTANCE_CELLS = 0.12
"""Minimum distance of a clear speck from all strokes, in cells."""

MIN_SPECKS = 12
"""Minimum number of specks, clear or not, within the length of a cell under a seal. If the dots of seals stay, one of
63 errors is missed on 12 drawn pages under seals, three right readings are not suggested, and two flags are false."""

MIN_SEALED_STROKE_CELLS = 0.35
"""Length below which a piece of ink is short, in cells: a glyph under a seal has a longer stroke."""

MAX_STROKE_DISTANCE_CELLS = 0.25
"""Maximum distance of a short piece of a glyph from such a longer stroke under a seal, in cells."""

MARGIN_CELLS = 0.22
"""White margin above and below a strip's ink, in cells."""

MAX_GUTTER_STEP_PX = 2
"""Maximum shift of the gap between half-rows from one block to the next, in pixels."""

MIN_STROKE_CELLS = 0.22
"""Length from which a piece of ink is a stroke, in cells; text begins with the first stroke and ends with the last."""

MAX_SPECKS_PX = 3
"""Maximum ink of specks in a column of pixels beyond a rule, in pixels; more ink is a stroke."""

OVERHANG_WIDTHS = 0.07
"""Maximum distance that a stroke of one half-row reaches over the middle, as a share of the column's width."""


@dataclass(frozen=True, slots=True)
class StripPlace:
    """Where a strip was cut, in pixels of the rectified page; `column` is the number of its column, `run` that of its
    run within the column, from 0."""

    column: int
    run: int
    row: Row
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Strip(StripPlace):
    """A part of a column to be read.

    `pixels` (length x STRIP_WIDTH, grey) is the image for the recogniser, `clean` the part of the rectified page at the
    strip's place with only its own ink. `cell` is the height of a cell by which the strip is squeezed. `lone`: the
    strip holds one character, turned so that the recogniser, which turns strips, sees it upright.
    """

    pixels: NDArray[np.uint8]
    clean: NDArray[np.uint8]
    cell: float
    lone: bool = False


class _RowInk(NamedTuple):
    """A row of a run: its left and right edge in the column, and the mask of its ink between the column's edges."""

    row: Row
    left: int
    right: int
    ink: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Cut:
    """A rectangle of the rectified page in whole pixels, with masks of the ink to read (`ink`) and of the strokes in it
    (`strokes`)."""

    left: int
    top: int
    right: int
    bottom: int
    ink: NDArray[np.bool_]
    strokes: NDArray[np.bool_]


def cut_strips(
    layout: Layout, area: ColumnArea, column: Column | None, rows: int, cut_by: CutBy = CutBy.BEST
) -> tuple[Strip, ...]:
    """The strips of one column in reading order; empty where it has no ink.

    `column` is the line of the transcription for it, None if unknown. `rows` is the number of cells between the top and
    the bottom of the frame.
    """
    pitch = area.cell(rows)
    top = area.top - area.raised - (0.15 * pitch if area.raised else 0.12 * pitch)
    bottom = area.bottom + 0.12 * pitch
    y0, y1 = round(max(0.0, top)), round(min(float(layout.ink.shape[0]), bottom))
    x0, x1 = _left_and_right(layout, area, y0, y1)
    ink = layout.ink_of(area.number, np.s_[y0:y1, x0:x1])
    if not ink.any():
        return ()
    if cut_by is CutBy.LOW_NOTES and column is not None and column.runs:
        pitch = pitch_with_low_notes(ink, column)
        area = replace(area, measured_pitch=pitch)
    pieces = InkPieces.of(ink)
    # the height of a cell is measured on unruled pages, where notes may have low cells
    low_notes = area.measured_pitch is not None
    runs = given_runs(area, y0, y1)
    if not runs:
        gain = main_gain(pieces, pitch, low_notes)
        runs = find_runs(gain, ink, column, pitch, cut_by, low_notes)
    run_of_pixel = runs_of_ink(runs, pieces, pitch)
    is_stroke = pieces.span >= MIN_STROKE_CELLS * pitch
    strips = []
    for number, run in enumerate(runs):
        run_ink = (ink > 0) & (run_of_pixel == number)
        inked = np.flatnonzero(run_ink.any(axis=1))
        if not inked.size:
            continue  # a line longer than the column can squeeze a run to nothing
        first, last = min(round(run.top), int(inked[0])), max(round(run.bottom), int(inked[-1]) + 1)
        labels, run_ink = pieces.labels[first:last], run_ink[first:last]
        strokes = is_stroke[labels]
        half_rows = (
            _half_rows(run_ink, pieces, first) if run.is_note else [_RowInk(Row.MAIN, 0, run_ink.shape[1], run_ink)]
        )
        for row, left, right, row_ink in half_rows:
            cut = _Cut(x0 + left, y0 + first, x0 + right, y0 + last, row_ink, row_ink & strokes)
            strip = _strip(layout, cut, area, number, row, pitch)
            if strip is not None:
                strips.append(strip)
    return tuple(strips)


def _left_and_right(layout: Layout, area: ColumnArea, top: int, bottom: int) -> tuple[int, int]:
    """The left and right edge of a column in pixels: its rules, or as far as its strokes reach over them."""
    left, right = round(max(0.0, area.left)), round(area.right)
    over = round(OVER_RULE_WIDTHS * area.width)
    low, high = max(0, left - over), min(layout.ink.shape[1], right + over)
    inked = np.flatnonzero(inked_along(layout.ink_of(area.number, np.s_[top:bottom, low:high]), 0) > MAX_SPECKS_PX)
    if not inked.size:
        return left, right
    return min(left, low + int(inked[0])), max(right, low + int(inked[-1]) + 1)


def _half_rows(own: NDArray[np.bool_], pieces: InkPieces, first: int) -> list[_RowInk]:
    """The half-rows of a note. `own` is the ink of the note, which begins at row of pixels `first` of the column.

    Each stroke goes whole to one half-row, since the tail of a character may pass under its neighbour; only a stroke
    that reaches far to both sides is cut in the middle.
    """
    height, width = own.shape
    gutter = _gutter(own.astype(np.uint8))
    labels = pieces.labels[first : first + height]
    overhang = round(OVERHANG_WIDTHS * width)
    gutter_of_piece = gutter[(pieces.y.astype(np.intp) - first).clip(0, height - 1)]
    is_cut = (pieces.left < gutter_of_piece - 2 * overhang) & (pieces.right > gutter_of_piece + 2 * overhang)
    right_of_gutter = np.arange(width)[None, :] >= gutter[:, None]
    on_right = np.where(is_cut[labels], right_of_gutter, (pieces.x >= gutter_of_piece)[labels])
    middle = int(np.median(gutter))
    return [
        _RowInk(Row.RIGHT, max(0, middle - overhang), width, own & on_right),
        _RowInk(Row.LEFT, 0, min(width, middle + overhang), own & ~on_right),
    ]


def _gutter(ink: NDArray[np.uint8]) -> NDArray[np.intp]:
    """For every row of pixels the x that separates the two half-rows of a note.

    It is the path with least ink near the middle, found block by block: handwritten half-rows drift, and a straight cut
    would separate the 亻 from 使.
    """
    height, width = ink.shape
    blocks = max(1, height // BLOCK_PX)
    low, high = round((0.5 - MAX_GUTTER_OFFSET_WIDTHS) * width), round((0.5 + MAX_GUTTER_OFFSET_WIDTHS) * width)
    breadth = high - low
    inked = cv2.resize((ink[:, low:high] > 0).astype(np.float32), (breadth, blocks), interpolation=cv2.INTER_AREA)
    cost = cv2.blur(inked, (5, 3)) + 0.12 * np.abs(np.arange(low, high) / width - 0.5)
    padded = np.full(breadth + 2 * MAX_GUTTER_STEP_PX, np.inf)
    total = padded[MAX_GUTTER_STEP_PX : MAX_GUTTER_STEP_PX + breadth]
    total[:] = cost[0]
    # a view with total[x + i - MAX_GUTTER_STEP_PX] at (i, x), which follows the changes of total
    shifted = np.lib.stride_tricks.sliding_window_view(padded, breadth)
    step_cost = 0.01 * np.abs(np.arange(-MAX_GUTTER_STEP_PX, MAX_GUTTER_STEP_PX + 1))[:, None]
    path_costs = np.empty((blocks, *shifted.shape))
    for block in range(1, blocks):
        np.add(shifted, step_cost, out=path_costs[block])
        np.add(cost[block], path_costs[block].min(axis=0), out=total)
    steps = path_costs[1:].argmin(axis=1) - MAX_GUTTER_STEP_PX
    path = np.zeros(blocks, dtype=np.intp)
    path[-1] = int(total.argmin())
    for block in range(blocks - 1, 0, -1):
        path[block - 1] = path[block] + steps[block - 1, path[block]]
    block_of_row = np.minimum(np.arange(height) * blocks // max(height, 1), blocks - 1)
    return np.asarray(low + path[block_of_row], dtype=np.intp)


def _strip(layout: Layout, cut: _Cut, area: ColumnArea, run: int, row: Row, pitch: float) -> Strip | None:
    """The strip of a rectangle, trimmed to its ink; None where it has too few strokes."""
    is_unruled = area.measured_pitch is not None
    filled = np.nonzero(np.count_nonzero(cut.strokes, axis=1) >= 2)[0]
    if not filled.size:
        return None
    margin = round(MARGIN_CELLS * pitch)
    # the dots of the first and the last glyph are no strokes
    dot_distance = round(MAX_DOT_DISTANCE_CELLS * pitch)
    inked = slice(max(0, int(filled[0]) - dot_distance), min(len(cut.ink), int(filled[-1]) + 1 + dot_distance))
    grey = layout.grey[cut.top : cut.bottom, cut.left : cut.right][inked]
    ink = cut.ink[inked, -grey.shape[1] :] if row is Row.RIGHT else cut.ink[inked, : grey.shape[1]]
    clean = np.maximum(grey, WHITE * ~_dilated(ink, 3))
    clean = np.pad(clean, ((margin, margin), (0, 0)), constant_values=255)
    clean = _without_specks(clean, pitch, only_under_seals=True)
    top = cut.top + inked.start - margin
    # an unruled column is no wider than its glyphs: it is squeezed like a ruled one with such glyphs
    cell = min(pitch, MAX_CELL_WIDTHS * area.width) if is_unruled else pitch
    if is_unruled and row is not Row.MAIN:
        cell *= NOTE_CELL_SHARE
    lone = is_unruled and _is_lone(clean, pitch)
    pixels = _lone_character(clean, 1.0) if lone else _squeezed(clean, row, cell, 1.0)
    bottom = top + clean.shape[0]
    return Strip(area.number, run, row, cut.left, top, cut.right, bottom, pixels, clean, cell, lone)


def _ink_extent(clean: NDArray[np.uint8]) -> tuple[int, int, int, int] | None:
    """The left, top, right and bottom (exclusive) of the ink of a grey image; None without ink."""
    down, across = (np.flatnonzero((clean < DARK).any(axis=axis)) for axis in (1, 0))
    if not down.size:
        return None
    return int(across[0]), int(down[0]), int(across[-1]) + 1, int(down[-1]) + 1


def _is_lone(clean: NDArray[np.uint8], pitch: float) -> bool:
    """Whether a piece of a page holds a single character: hardly higher than a cell, and not much higher than wide."""
    extent = _ink_extent(clean)
    if extent is None:
        return False
    left, top, right, bottom = extent
    height = bottom - top
    return height < 1.1 * pitch and height < MAX_LONE_RATIO * (right - left)


def _lone_character(clean: NDArray[np.uint8], zoom: float) -> NDArray[np.uint8]:
    """A single character on a square strip, scaled and turned clockwise for the recogniser. In a strip turned the other
    way, 二 would be 11."""
    square = np.full((STRIP_WIDTH, STRIP_WIDTH), 255, np.uint8)
    extent = _ink_extent(clean)
    if extent is None:
        return square
    left, top, right, bottom = extent
    glyph = clean[top:bottom, left:right]
    scale = LONE_SIZE_SHARE * STRIP_WIDTH / (1.0 + 0.2 * (zoom - 1.0)) / max(glyph.shape)
    height, width = (max(1, round(side * scale)) for side in glyph.shape)
    scaled = cv2.resize(glyph, (width, height), interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
    y, x = (STRIP_WIDTH - height) // 2, (STRIP_WIDTH - width) // 2
    square[y : y + height, x : x + width] = scaled
    return np.ascontiguousarray(np.rot90(square, -1))


def window(strip: Strip, top: float, bottom: float, zoom: float, page: NDArray[np.uint8] | None = None) -> Strip:
    """The part of a strip between two y of the rectified page, lengthened by `zoom`: cleaned of specks or, if the grey
    `page` is given, as on the page, with its rules."""
    first = max(0, round(top - strip.top))
    last = min(strip.clean.shape[0], round(bottom - strip.top))
    clean = strip.clean[first:last]
    if page is None:
        clean = _without_specks(clean, strip.cell)
    elif not strip.lone:
        clean = _from_page(page, strip, clean, first)
    pixels = _lone_character(clean, zoom) if strip.lone else _squeezed(clean, strip.row, strip.cell, zoom)
    return replace(strip, pixels=pixels, clean=clean, top=strip.top + first, bottom=strip.top + last)


def _without_specks(clean: NDArray[np.uint8], pitch: float, only_under_seals: bool = False) -> NDArray[np.uint8]:
    """A part of a strip without pieces of ink too small for a stroke, such as a seal or dirt leaves. With
    `only_under_seals` the rest of the strip is left as it is, and under seals isolated short pieces are removed,
    too."""
    inked = clean < DARK
    labels, boxes, centres = connected(inked.astype(np.uint8))
    pieces = _Pieces(labels.astype(np.intp), boxes, centres[:, 1], pitch)
    small = pieces.is_small
    drop = np.zeros_like(inked)
    if only_under_seals:
        sealed = pieces.under_seals(small)
        small &= sealed
        short = sealed & pieces.is_short
        if short.any():
            reach = round(2 * MAX_STROKE_DISTANCE_CELLS * pitch) | 1
            drop |= pieces.ink_of(short) & ~_dilated(pieces.ink_of(~short), reach)
    if small.any():
        # where ink has faded, small pieces beside a stroke belong to it
        drop |= pieces.ink_of(small) & ~_dilated(pieces.ink_of(~small), 5 if only_under_seals else 3)
    if not drop.any():
        return clean
    return np.maximum(clean, WHITE * (_dilated(drop, 3) & ~_dilated(~drop & inked, 3)))


@dataclass(frozen=True, slots=True)
class _Pieces:
    """The connected pieces of ink of a strip: the number of each pixel's piece (0: paper), the extent and area of each
    piece (columns as of `cv2.CC_STAT_LEFT`), and the `y` of its middle. Entry 0 of the arrays is the paper."""

    labels: NDArray[np.intp]
    boxes: NDArray[np.int32]
    y: NDArray[np.float64]
    pitch: float

    @property
    def span(self) -> NDArray[np.int32]:
        """The longer side of each piece."""
        sides = self.boxes[:, cv2.CC_STAT_WIDTH : cv2.CC_STAT_HEIGHT + 1]
        return np.asarray(sides.max(axis=1), np.int32)

    @property
    def is_short(self) -> NDArray[np.bool_]:
        """Which pieces are shorter than the strokes of a glyph under a seal."""
        short = self.span < MIN_SEALED_STROKE_CELLS * self.pitch
        short[0] = False
        return np.asarray(short, np.bool_)

    @property
    def is_small(self) -> NDArray[np.bool_]:
        """Which pieces are too small for a stroke."""
        small = self.boxes[:, cv2.CC_STAT_AREA] < MIN_PIECE_AREA * self.pitch * self.pitch
        small[0] = False
        return np.asarray(small, np.bool_)

    def ink_of(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The ink of the chosen pieces."""
        return np.asarray(np.append(False, chosen[1:])[self.labels])

    def near(self, chosen: NDArray[np.bool_], distance: float) -> NDArray[np.intp]:
        """How many of the chosen pieces are above or below each piece, at most `distance` away."""
        chosen_y = np.sort(self.y[chosen])
        return np.searchsorted(chosen_y, self.y + distance) - np.searchsorted(chosen_y, self.y - distance)

    def under_seals(self, small: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which pieces are under a seal, by the `small` pieces within the length of a cell around each."""
        half = self.pitch / 2
        sealed = self.near(small, half) >= MIN_SPECKS
        if not sealed.any():
            return np.asarray(sealed)
        reach = round(2 * MIN_CLEAR_DISTANCE_CELLS * self.pitch) | 1
        by_stroke = self.labels[_dilated(self.ink_of(self.span >= MIN_STROKE_CELLS * self.pitch), reach)]
        clear = small & (np.bincount(by_stroke, minlength=len(self.y)) == 0)
        return np.asarray(sealed & (self.near(clear, half) >= MIN_CLEAR_SPECKS))


def _dilated(ink: NDArray[np.bool_], side: int) -> NDArray[np.bool_]:
    """`ink` dilated by a square with sides of `side` pixels."""
    return np.asarray(cv2.dilate(ink.astype(np.uint8), np.ones((side, side), np.uint8)), dtype=np.bool_)


def _from_page(page: NDArray[np.uint8], strip: Strip, clean: NDArray[np.uint8], first: int) -> NDArray[np.uint8]:
    """The part `clean` of a strip, from its row of pixels `first` on, with all ink of the page; of a half-row only its
    own half."""
    shown = np.full_like(clean, 255)
    top, left = round(strip.top) + first, round(strip.left)
    on_page = slice(max(0, -top), max(0, min(clean.shape[0], page.shape[0] - top)))
    width = min(clean.shape[1], page.shape[1] - left)
    shown[on_page, :width] = page[top + on_page.start : top + on_page.stop, left : left + width]
    overhang = round(OVERHANG_WIDTHS / (0.5 + OVERHANG_WIDTHS) * clean.shape[1])
    if strip.row is Row.RIGHT:
        return shown[:, overhang:]
    return shown[:, :-overhang] if strip.row is Row.LEFT else shown


def _squeezed(clean: NDArray[np.uint8], row: Row, pitch: float, zoom: float) -> NDArray[np.uint8]:
    """A part of the rectified page as a strip: STRIP_WIDTH wide, cells at the recogniser's pitch times `zoom`."""
    strip_pitch = (MAIN_PITCH if row is Row.MAIN else NOTE_PITCH) * zoom
    if clean.shape[0] < MIN_SQUEEZED_CELLS * pitch:
        # the recogniser needs a few characters without neighbours in their true proportions
        strip_pitch = max(strip_pitch, SHORT_STRIP_PITCH)
    length = _rounded_up(max(STRIP_WIDTH // 2, round(clean.shape[0] * strip_pitch / pitch)))
    return np.asarray(cv2.resize(clean, (STRIP_WIDTH, length), interpolation=cv2.INTER_AREA), dtype=np.uint8)


def _rounded_up(length: int) -> int:
    """`length` rounded up by `LENGTH_STEPS_PX`; never down, since cells are as short as can be read."""
    step = next((step for longest, step in LENGTH_STEPS_PX if length <= longest), LENGTH_STEPS_PX[-1][1])
    return -(-length // step) * step
