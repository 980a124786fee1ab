"""Cuts columns into strips, the images that a recogniser reads.

Every run of a column (`proof.layout.runs`) is cut out with only its own ink, a note as two half-rows, and squeezed to
the pitch at which the recogniser reads best.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.half_folio import ColumnArea, Layout
from proof.layout.rules import connected, inked_along
from proof.layout.runs import (
    BLOCK_PX,
    CutBy,
    Strokes,
    cell_beside_low_notes,
    find_runs,
    main_gain,
    runs_of_ink,
    runs_set_by_hand,
    strokes_of,
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
"""Height, relative to the width, from which a piece of a column holds more than one character."""

LONE_SIZE_SHARE = 0.75
"""Size at which a single character is drawn, as a share of the strip's width."""

LENGTH_STEPS_PX = ((128, 8), (256, 16), (10_000, 32))
"""Maximum lengths of strips, each with the step to whose multiples such lengths are rounded up, in pixels. A recogniser
prepares itself for each length and may remember it, so there are few of them; a strip longer than 56 pixels grows by at
most an eighth."""

MAX_GUTTER_OFFSET_WIDTHS = 0.13
"""Maximum distance of the gap between two half-rows from the middle, as a share of the column's width."""

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
"""Minimum number of specks, clear or not, within the length of a cell under a seal."""

MAX_SEAL_DOT_AREA = 0.0015
"""Area below which most dots of a seal are, as a share of a cell's area. Those of a worn glyph are larger."""

MIN_TINY_SHARE = 0.4
"""Share of dots of that size among the short pieces within the length of a cell from which there is a seal."""

MIN_CROWD = 26
"""Short pieces of any area within the length of a cell from which they belong to a seal: no glyph wears to more."""

MIN_SEALED_STROKE_CELLS = 0.35
"""Length below which a piece of ink is short, in cells: a glyph under a seal has a longer stroke."""

MAX_STROKE_DISTANCE_CELLS = 0.25
"""Maximum distance of a short piece of a glyph from such a longer stroke under a seal, in cells."""

MARGIN_CELLS = 0.22
"""White margin above and below a strip's ink, in cells."""

MIN_INK_AREA = 0.02
"""Minimum area of ink in a column with text, as a share of a cell's area."""

MAX_GUTTER_STEP_PX = 2
"""Maximum shift of the gap between half-rows from one block to the next, in pixels."""

MIN_STROKE_CELLS = 0.22
"""Length from which a piece of ink is a stroke, in cells; text begins with the first stroke and ends with the last."""

MIN_STROKE_CELLS_UNRULED = 0.13
"""The same on an unruled page, where characters of notes may have a third of the size of others."""

MIN_LONG_STROKE_CELLS = 0.5
"""Length from which a stroke is neither from a seal nor dirt, in cells: where the transcription has only spaces, only
ink with such a stroke is read."""

OVER_RULE_WIDTHS = 0.12
"""Maximum distance that strokes reach over the rules of a column, as a share of its width."""

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


def cut_strips(
    layout: Layout, area: ColumnArea, column: Column | None, rows: int, way: CutBy = CutBy.BEST
) -> tuple[Strip, ...]:
    """The strips of one column in reading order; empty where it has no ink.

    `column` is the line of the transcription for it, None if unknown. `rows` is the number of cells between the top and
    the bottom of the frame.
    """
    pitch = area.cell(rows)
    top = area.top - area.raised - (0.15 * pitch if area.raised else 0.12 * pitch)
    bottom = area.bottom + 0.12 * pitch
    y0, y1 = round(max(0.0, top)), round(min(float(layout.ink.shape[0]), bottom))
    x0, x1 = _across(layout, area, y0, y1)
    ink = layout.ink_of(area.number, np.s_[y0:y1, x0:x1])
    if not ink.size or np.count_nonzero(ink) < MIN_INK_AREA * pitch * pitch:
        return ()
    if way is CutBy.LOW_NOTES and column is not None and column.runs:
        pitch = cell_beside_low_notes(ink, column)
        area = replace(area, pitch=pitch)
    strokes = strokes_of(ink)
    lower = area.pitch is not None
    gain = main_gain(ink, strokes, pitch, lower)
    strips: list[Strip] = []
    runs = runs_set_by_hand(area, y0, y1) or find_runs(gain, ink, column, pitch, way, lower)
    run_of = runs_of_ink(runs, strokes, pitch, lower)
    least = MIN_STROKE_CELLS_UNRULED if lower else MIN_STROKE_CELLS
    for number, stretch in enumerate(runs):
        own = (ink > 0) & (run_of == number)
        inked = np.flatnonzero(own.any(axis=1))
        if not inked.size:
            continue  # a line longer than the column can squeeze a run to nothing
        first, last = min(round(stretch.top), int(inked[0])), max(round(stretch.bottom), int(inked[-1]) + 1)
        labels, own = strokes.labels[first:last], own[first:last]
        if stretch.blank and not (own & (strokes.span >= MIN_LONG_STROKE_CELLS * pitch)[labels]).any():
            continue
        solid = (strokes.span >= least * pitch)[labels]
        for row, low, high, keep in _rows(own, strokes, first) if stretch.note else [(Row.MAIN, 0, own.shape[1], own)]:
            cut = _Cut(x0 + low, y0 + first, x0 + high, y0 + last, keep, keep & solid)
            strip = _strip(layout, cut, area, number, row, pitch)
            if strip is not None:
                strips.append(strip)
    return tuple(strips)


def _across(layout: Layout, area: ColumnArea, top: int, bottom: int) -> tuple[int, int]:
    """The left and right edge of a column in pixels: its rules, or as far as its strokes reach over them."""
    left, right = round(max(0.0, area.left)), round(area.right)
    over = round(OVER_RULE_WIDTHS * area.width)
    low, high = max(0, left - over), min(layout.ink.shape[1], right + over)
    inked = np.flatnonzero(inked_along(layout.ink_of(area.number, np.s_[top:bottom, low:high]), 0) > MAX_SPECKS_PX)
    if not inked.size:
        return left, right
    return min(left, low + int(inked[0])), max(right, low + int(inked[-1]) + 1)


def _rows(own: NDArray[np.bool_], strokes: Strokes, first: int) -> list[tuple[Row, int, int, NDArray[np.bool_]]]:
    """The half-rows of a note: each with its left and right edge in the column and the mask of its ink. `own` is the
    ink of the note, which begins at row of pixels `first` of the column.

    Each stroke goes whole to one half-row, since the tail of a character may pass under its neighbour; only a stroke
    that reaches far to both sides is cut in the middle.
    """
    height, width = own.shape
    gutter = _gutter(own.astype(np.uint8))
    labels = strokes.labels[first : first + height]
    overhang = round(OVERHANG_WIDTHS * width)
    here = gutter[(strokes.y.astype(np.intp) - first).clip(0, height - 1)]
    both = (strokes.left < here - 2 * overhang) & (strokes.right > here + 2 * overhang)
    on_right = np.where(both[labels], np.arange(width)[None, :] >= gutter[:, None], (strokes.x >= here)[labels])
    middle = int(np.median(gutter))
    return [
        (Row.RIGHT, max(0, middle - overhang), width, own & on_right),
        (Row.LEFT, 0, min(width, middle + overhang), own & ~on_right),
    ]


def _gutter(ink: NDArray[np.uint8]) -> NDArray[np.intp]:
    """For every row of pixels the x that separates the two half-rows of a note.

    It is the path with least ink near the middle, found block by block: handwritten half-rows drift, and a straight cut
    would separate the 亻 from 使.
    """
    height, width = ink.shape
    blocks = max(1, height // BLOCK_PX)
    low, high = round((0.5 - MAX_GUTTER_OFFSET_WIDTHS) * width), round((0.5 + MAX_GUTTER_OFFSET_WIDTHS) * width)
    inked = cv2.resize((ink[:, low:high] > 0).astype(np.float32), (high - low, blocks), interpolation=cv2.INTER_AREA)
    wide = cv2.blur(inked, (5, 3))
    xs = np.arange(low, high)
    cost = wide + 0.12 * np.abs(xs / width - 0.5)
    breadth = high - low
    padded = np.full(breadth + 2 * MAX_GUTTER_STEP_PX, np.inf)
    total = padded[MAX_GUTTER_STEP_PX : MAX_GUTTER_STEP_PX + breadth]
    total[:] = cost[0]
    # a view with total[x + i - MAX_GUTTER_STEP_PX] at (i, x), which follows the changes of total
    moved = np.lib.stride_tricks.sliding_window_view(padded, breadth)
    drift = 0.01 * np.abs(np.arange(-MAX_GUTTER_STEP_PX, MAX_GUTTER_STEP_PX + 1))[:, None]
    steps = np.empty((blocks, *moved.shape))
    for block in range(1, blocks):
        np.add(moved, drift, out=steps[block])
        np.add(cost[block], steps[block].min(axis=0), out=total)
    came = steps[1:].argmin(axis=1) - MAX_GUTTER_STEP_PX
    path = np.zeros(blocks, dtype=np.intp)
    path[-1] = int(total.argmin())
    for block in range(blocks - 1, 0, -1):
        path[block - 1] = path[block] + came[block - 1, path[block]]
    rows = np.minimum(np.arange(height) * blocks // max(height, 1), blocks - 1)
    return np.asarray(low + path[rows], dtype=np.intp)


@dataclass(frozen=True, slots=True)
class _Cut:
    """A rectangle of the rectified page in whole pixels, with masks of the ink to read (`keep`) and of the strokes in
    it (`solid`)."""

    left: int
    top: int
    right: int
    bottom: int
    keep: NDArray[np.bool_]
    solid: NDArray[np.bool_]


def _strip(layout: Layout, cut: _Cut, area: ColumnArea, run: int, row: Row, pitch: float) -> Strip | None:
    """The strip of a rectangle, trimmed to its ink; None where it has too few strokes."""
    filled = np.nonzero(np.count_nonzero(cut.solid, axis=1) >= 2)[0]
    if filled.size < (0.08 * pitch if area.pitch is None else 1):
        return None
    margin = round(MARGIN_CELLS * pitch)
    # the dots of the first and the last glyph are no strokes
    near = round(MAX_DOT_DISTANCE_CELLS * pitch)
    inked = slice(max(0, int(filled[0]) - near), min(len(cut.keep), int(filled[-1]) + 1 + near))
    grey = layout.grey[cut.top : cut.bottom, cut.left : cut.right][inked]
    keep = cut.keep[inked, -grey.shape[1] :] if row is Row.RIGHT else cut.keep[inked, : grey.shape[1]]
    clean = np.maximum(grey, WHITE * ~_near(keep, 3))
    clean = _without_specks(np.pad(clean, ((margin, margin), (0, 0)), constant_values=255), pitch, MIN_CLEAR_SPECKS)
    top = cut.top + inked.start - margin
    # an unruled column is no wider than its glyphs: it is squeezed like a ruled one with such glyphs
    cell = pitch if area.pitch is None else min(pitch, MAX_CELL_WIDTHS * area.width)
    if area.pitch is not None and row is not Row.MAIN:
        cell *= NOTE_CELL_SHARE
    lone = area.pitch is not None and _is_lone(clean, pitch)
    pixels = _laid(clean, 1.0) if lone else _squeezed(clean, row, cell, 1.0)
    bottom = top + clean.shape[0]
    return Strip(area.number, run, row, cut.left, top, cut.right, bottom, pixels, clean, cell, lone)


def _is_lone(clean: NDArray[np.uint8], pitch: float) -> bool:
    """Whether a piece of a page holds a single character: hardly higher than a cell, and not much higher than wide."""
    rows, across = (np.flatnonzero((clean < DARK).any(axis=axis)) for axis in (1, 0))
    if not rows.size:
        return False
    high, wide = int(rows[-1] - rows[0]) + 1, int(across[-1] - across[0]) + 1
    return high < 1.1 * pitch and high < MAX_LONE_RATIO * wide


def _laid(clean: NDArray[np.uint8], zoom: float) -> NDArray[np.uint8]:
    """A single character on a square strip, scaled and turned clockwise for the recogniser. In a strip turned the other
    way, 二 would be 11."""
    rows, across = (np.flatnonzero((clean < DARK).any(axis=axis)) for axis in (1, 0))
    if not rows.size:
        return np.full((STRIP_WIDTH, STRIP_WIDTH), 255, np.uint8)
    glyph = clean[rows[0] : rows[-1] + 1, across[0] : across[-1] + 1]
    size = LONE_SIZE_SHARE * STRIP_WIDTH / (1.0 + 0.2 * (zoom - 1.0))
    scale = size / max(glyph.shape)
    high, wide = (max(1, round(side * scale)) for side in glyph.shape)
    drawn = cv2.resize(glyph, (wide, high), interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
    square = np.full((STRIP_WIDTH, STRIP_WIDTH), 255, np.uint8)
    top, left = (STRIP_WIDTH - high) // 2, (STRIP_WIDTH - wide) // 2
    square[top : top + high, left : left + wide] = drawn
    return np.ascontiguousarray(np.rot90(square, -1))


def window(strip: Strip, top: float, bottom: float, zoom: float, page: NDArray[np.uint8] | None = None) -> Strip:
    """The part of a strip between two y of the rectified page, lengthened by `zoom`: without specks or, where the grey
    `page` is given, as it is there, with its rules."""
    first = max(0, round(top - strip.top))
    last = min(strip.clean.shape[0], round(bottom - strip.top))
    clean = strip.clean[first:last]
    if page is None:
        clean = _without_specks(clean, strip.cell)
    elif not strip.lone:
        clean = _as_it_is(page, strip, clean, first)
    pixels = _laid(clean, zoom) if strip.lone else _squeezed(clean, strip.row, strip.cell, zoom)
    return replace(strip, pixels=pixels, clean=clean, top=strip.top + first, bottom=strip.top + last)


def _without_specks(clean: NDArray[np.uint8], cell: float, least: float = 0.0) -> NDArray[np.uint8]:
    """A part of a strip without pieces of ink too small for a stroke, such as a seal or dirt leaves. With `least`, only
    places with at least that many clear specks within the length of a cell change; isolated short pieces are removed
    there, too."""
    inked = clean < DARK
    numbered, boxes, centres = connected(inked.astype(np.uint8))
    labels = numbered.astype(np.intp)
    small = boxes[:, cv2.CC_STAT_AREA] < MIN_PIECE_AREA * cell * cell
    small[0] = False
    alone = np.zeros_like(small)

    def ink_of(pieces: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return np.asarray(np.append(False, pieces[1:])[labels])

    if least:
        span, ys = boxes[:, cv2.CC_STAT_WIDTH : cv2.CC_STAT_HEIGHT + 1].max(axis=1), centres[:, 1]
        sealed = _crowded(ys, ys[small], cell, MIN_SPECKS)
        if not sealed.any():
            return clean
        short = span < MIN_SEALED_STROKE_CELLS * cell
        short[0] = False
        tiny, about = (
            small & (boxes[:, cv2.CC_STAT_AREA] < MAX_SEAL_DOT_AREA * cell * cell),
            _about(ys, ys[short], cell),
        )
        plainly = (about >= MIN_CROWD) | (_about(ys, ys[tiny], cell) >= MIN_TINY_SHARE * about)
        sealed &= _crowded(ys, ys[sealed & plainly], 2 * cell, 1)
        by_stroke = labels[
            _near(ink_of(span >= MIN_STROKE_CELLS * cell), round(2 * MIN_CLEAR_DISTANCE_CELLS * cell) | 1)
        ]
        dotted = sealed & _crowded(ys, ys[small & (np.bincount(by_stroke, minlength=len(ys)) == 0)], cell, least)
        small &= dotted
        alone = dotted & (span < MIN_SEALED_STROKE_CELLS * cell)
        alone[0] = False
    drop = np.zeros_like(inked)
    # where ink has faded, small pieces beside a stroke belong to it
    for pieces, reach in ((small, 5 if least else 3), (alone, round(2 * MAX_STROKE_DISTANCE_CELLS * cell) | 1)):
        if pieces.any():
            drop |= ink_of(pieces) & ~_near(ink_of(~pieces), reach)
    if not drop.any():
        return clean
    return np.maximum(clean, WHITE * (_near(drop, 3) & ~_near(~drop & inked, 3)))


def _crowded(ys: NDArray[np.float64], dots: NDArray[np.float64], cell: float, least: float) -> NDArray[np.bool_]:
    """Around which of the `ys` at least `least` of the `dots` are within the length of a cell."""
    return np.asarray(_about(ys, dots, cell) >= least)


def _about(ys: NDArray[np.float64], dots: NDArray[np.float64], cell: float) -> NDArray[np.intp]:
    """How many of the `dots` are within the length of a cell around each of the `ys`."""
    along = np.sort(dots)
    return np.searchsorted(along, ys + cell / 2) - np.searchsorted(along, ys - cell / 2)


def _near(ink: NDArray[np.bool_], reach: int) -> NDArray[np.bool_]:
    """`ink` dilated by a square with sides of `reach` pixels."""
    return np.asarray(cv2.dilate(ink.astype(np.uint8), np.ones((reach, reach), np.uint8)), dtype=np.bool_)


def _as_it_is(page: NDArray[np.uint8], strip: Strip, clean: NDArray[np.uint8], first: int) -> NDArray[np.uint8]:
    """A part of a strip, from its row of pixels `first` on, as it is on the page; of a half-row only its own half."""
    shown = np.full_like(clean, 255)
    top, left = round(strip.top) + first, round(strip.left)
    high, low = max(0, -top), max(0, min(clean.shape[0], page.shape[0] - top))
    across = min(clean.shape[1], page.shape[1] - left)
    shown[high:low, :across] = page[top + high : top + low, left : left + across]
    other = round(OVERHANG_WIDTHS / (0.5 + OVERHANG_WIDTHS) * clean.shape[1])
    if strip.row is Row.RIGHT:
        return shown[:, other:]
    return shown[:, :-other] if strip.row is Row.LEFT else shown


def _squeezed(clean: NDArray[np.uint8], row: Row, pitch: float, zoom: float) -> NDArray[np.uint8]:
    """A part of the rectified page as a strip: STRIP_WIDTH wide, cells at the recogniser's pitch times `zoom`."""
    along = (MAIN_PITCH if row is Row.MAIN else NOTE_PITCH) * zoom
    if clean.shape[0] < MIN_SQUEEZED_CELLS * pitch:
        # the recogniser needs a few characters without neighbours in their true proportions
        along = max(along, SHORT_STRIP_PITCH)
    length = _whole(max(STRIP_WIDTH // 2, round(clean.shape[0] * along / pitch)))
    return np.asarray(cv2.resize(clean, (STRIP_WIDTH, length), interpolation=cv2.INTER_AREA), dtype=np.uint8)


def _whole(length: int) -> int:
    """`length` rounded up by `LENGTH_STEPS_PX`; never down, since cells are as short as can be read."""
    step = next((step for longest, step in LENGTH_STEPS_PX if length <= longest), LENGTH_STEPS_PX[-1][1])
    return -(-length // step) * step
