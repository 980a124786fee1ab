"""From columns to strips: what a recogniser reads in one go.

Every run of a column (`proof.layout.runs`) is cut out with its own ink alone, a note in its two half-rows, and squeezed
to the pitch at which the recogniser reads best.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.half_folio import ColumnArea, Layout
from proof.layout.rules import connected, inked_along
from proof.layout.runs import (
    BLOCK,
    CutBy,
    Strokes,
    find_runs,
    main_gain,
    runs_of_ink,
    strokes_of,
    told_runs,
)
from proof.text.model import Column, Row

STRIP_WIDTH = 48
"""Pixels across a strip, as the recogniser takes it."""

MAIN_PITCH = 16
"""Pixels along a strip for one cell of main text. Squeezing the strip to this costs the recogniser nothing
in accuracy (a second look at a doubtful place is less squeezed) and saves half of its time."""

NOTE_PITCH = 20
"""The same for a note; its strips are half as wide, so they are squeezed more."""

FEW = 3.4
"""Cells: a strip shorter than this is not squeezed."""

ALONE_PITCH = 42.0
"""Pixels along a strip for one cell where it holds only a few."""

PROPORTION = 0.62
"""The height of a cell against the width of a column whose glyphs fill it: cells of a ruled column are 0.55 of it."""

NOTE_CELL = 0.75
"""Cells: the height of a note's where there are no rules; its strips are squeezed by that."""

DARK = 160
"""Grey value below which there is ink."""

WHITE = np.uint8(255)

LONE = 1.35
"""Height against width: a piece of a column that is higher holds more than one character."""

LONE_SIZE = 0.75
"""Of the strip's width: how large a single character is drawn."""

LENGTHS = ((128, 8), (256, 16), (10_000, 32))
"""Up to so many pixels a strip's length is a multiple of so many. A recogniser prepares itself for every length that
it meets and may remember it: of these there are few enough, and none is stretched by more than an eighth."""

GUTTER_REACH = 0.13
"""Of the column's width: how far from its middle the gap between two half-rows may lie."""

NEAR = 0.35
"""Cells: how far from the outermost stroke the dots of its glyph may lie."""

SMALLEST = 0.006
"""Of a cell's area: a piece of ink smaller than this is a speck where a place is looked at again."""

MIN_CLEAR_SPECKS = 4
"""Specks that stand clear of all strokes within the length of a cell: from so many on they are the dots of a seal. A
worn glyph leaves as many that are clear, but hardly ever `MIN_SPECKS`."""

CLEAR_CELLS = 0.12
"""Cells: a speck so far from all strokes stands clear of them."""

MIN_SPECKS = 12
"""Specks within the length of a cell, clear or not: fewer are no seal."""

MAX_SEAL_DOT_AREA = 0.0015
"""Of a cell's area: most dots of a seal are smaller. Those of a worn glyph are longer."""

MIN_TINY_SHARE = 0.4
"""Of the pieces without a stroke within the length of a cell: so many are as small as the dots of a seal where one
lies."""

MIN_CROWD = 26
"""Pieces without a stroke within the length of a cell: so many are of a seal, whatever their size; no glyph wears to
more."""

MIN_SEALED_STROKE_CELLS = 0.35
"""Cells: a glyph under a seal has a stroke as long as this."""

MAX_FROM_STROKE_CELLS = 0.25
"""Cells: under a seal what stands farther from such a stroke is of no glyph."""

MARGIN = 0.22
"""Cells of white above and below a strip's ink."""

LEAST_INK = 0.02
"""Of a cell's area: less ink than this in a whole column is no text."""

DRIFT = 2
"""Pixels: how far the gap may move from one block to the next."""

STROKE = 0.22
"""Cells: a piece of ink as long as this is a stroke; text begins with the first and ends with the last."""

SHORT_STROKE = 0.13
"""The same on a page that is not ruled, where characters of notes may be a third of the others' size."""

LONG_STROKE = 0.5
"""Cells: a stroke that no seal's dots and no dirt make: where the transcription has only spaces, ink is read
if it has one."""

OVER_RULE_WIDTHS = 0.12
"""Of the column's width: how far strokes may reach over its rules."""

MAX_SPECKS_PX = 3
"""Pixels of ink in a column of pixels beyond a rule: no more are specks and no stroke."""

OVERHANG = 0.07
"""Of the column's width: how far a stroke of one half-row may reach over the middle."""


@dataclass(frozen=True, slots=True)
class Strip:
    """One piece of a column to be read: `pixels` (length x STRIP_WIDTH, grey), and where it was cut.

    `left`, `top`, `right`, `bottom` are on the rectified page, `clean` is that part of it with its own ink
    alone. `run` counts the column's stretches from 0. `cell` is the height of a cell by which the strip is squeezed;
    `lone`: it holds one character, laid so that the recogniser, for which strips are turned, sees it upright.
    """

    pixels: NDArray[np.uint8]
    clean: NDArray[np.uint8]
    column: int
    run: int
    row: Row
    left: float
    top: float
    right: float
    bottom: float
    cell: float
    lone: bool = False


def cut_strips(
    layout: Layout, area: ColumnArea, column: Column | None, rows: int, way: CutBy = CutBy.BEST
) -> tuple[Strip, ...]:
    """The strips of one column in reading order; none where it has no ink.

    `column` is what the transcription has for it, None where that is not known. `rows` is the number of
    cells between the frame's top and bottom.
    """
    pitch = area.cell(rows)
    top = area.top - area.raised - (0.15 * pitch if area.raised else 0.12 * pitch)
    bottom = area.bottom + 0.12 * pitch
    y0, y1 = round(max(0.0, top)), round(min(float(layout.ink.shape[0]), bottom))
    x0, x1 = _across(layout, area, y0, y1)
    ink = layout.ink_of(area.number, np.s_[y0:y1, x0:x1])
    if not ink.size or np.count_nonzero(ink) < LEAST_INK * pitch * pitch:
        return ()
    strokes = strokes_of(ink)
    lower = area.pitch is not None
    gain = main_gain(ink, strokes, pitch, lower)
    strips: list[Strip] = []
    runs = told_runs(area, y0, y1) or find_runs(gain, ink, column, pitch, way, lower)
    run_of = runs_of_ink(runs, strokes, pitch, lower)
    least = SHORT_STROKE if lower else STROKE
    for number, stretch in enumerate(runs):
        own = (ink > 0) & (run_of == number)
        inked = np.flatnonzero(own.any(axis=1))
        if not inked.size:
            continue  # a line longer than the column can squeeze a run to nothing
        first, last = min(round(stretch.top), int(inked[0])), max(round(stretch.bottom), int(inked[-1]) + 1)
        labels, own = strokes.labels[first:last], own[first:last]
        if stretch.blank and not (own & (strokes.span >= LONG_STROKE * pitch)[labels]).any():
            continue
        solid = (strokes.span >= least * pitch)[labels]
        for row, low, high, keep in _rows(own, strokes, first) if stretch.note else [(Row.MAIN, 0, own.shape[1], own)]:
            cut = _Cut(x0 + low, y0 + first, x0 + high, y0 + last, keep, keep & solid)
            strip = _strip(layout, cut, area, number, row, pitch)
            if strip is not None:
                strips.append(strip)
    return tuple(strips)


def _across(layout: Layout, area: ColumnArea, top: int, bottom: int) -> tuple[int, int]:
    """From where to where a column goes across the page: to its rules, or as far as strokes of its own reach over
    them."""
    left, right = round(max(0.0, area.left)), round(area.right)
    over = round(OVER_RULE_WIDTHS * area.width)
    low, high = max(0, left - over), min(layout.ink.shape[1], right + over)
    inked = np.flatnonzero(inked_along(layout.ink_of(area.number, np.s_[top:bottom, low:high]), 0) > MAX_SPECKS_PX)
    if not inked.size:
        return left, right
    return min(left, low + int(inked[0])), max(right, low + int(inked[-1]) + 1)


def _rows(own: NDArray[np.bool_], strokes: Strokes, first: int) -> list[tuple[Row, int, int, NDArray[np.bool_]]]:
    """The half-rows of a note whose ink is `own` and begins at row of pixels `first`: which, from where to where across
    the column, and which ink is its own.

    They are told apart stroke by stroke, since the tail of one character may pass under its neighbour; only a stroke
    that lies on both sides is cut in the middle.
    """
    height, width = own.shape
    gutter = _gutter(own.astype(np.uint8))
    labels = strokes.labels[first : first + height]
    overhang = round(OVERHANG * width)
    here = gutter[(strokes.y.astype(np.intp) - first).clip(0, height - 1)]
    both = (strokes.left < here - 2 * overhang) & (strokes.right > here + 2 * overhang)
    on_right = np.where(both[labels], np.arange(width)[None, :] >= gutter[:, None], (strokes.x >= here)[labels])
    middle = int(np.median(gutter))
    return [
        (Row.RIGHT, max(0, middle - overhang), width, own & on_right),
        (Row.LEFT, 0, min(width, middle + overhang), own & ~on_right),
    ]


def _gutter(ink: NDArray[np.uint8]) -> NDArray[np.intp]:
    """For every row of pixels the x that parts the two half-rows of a note.

    The emptiest way down near the middle, found block by block: half-rows written by hand drift, and a
    straight cut would take the 亻 from 使.
    """
    height, width = ink.shape
    blocks = max(1, height // BLOCK)
    low, high = round((0.5 - GUTTER_REACH) * width), round((0.5 + GUTTER_REACH) * width)
    inked = cv2.resize((ink[:, low:high] > 0).astype(np.float32), (high - low, blocks), interpolation=cv2.INTER_AREA)
    wide = cv2.blur(inked, (5, 3))
    xs = np.arange(low, high)
    cost = wide + 0.12 * np.abs(xs / width - 0.5)
    breadth = high - low
    padded = np.full(breadth + 2 * DRIFT, np.inf)
    total = padded[DRIFT : DRIFT + breadth]
    total[:] = cost[0]
    # row by row the total one place further to the right: a view, so that it follows the total from block to block
    moved = np.lib.stride_tricks.sliding_window_view(padded, breadth)
    drift = 0.01 * np.abs(np.arange(-DRIFT, DRIFT + 1))[:, None]
    steps = np.empty((blocks, *moved.shape))
    for block in range(1, blocks):
        np.add(moved, drift, out=steps[block])
        np.add(cost[block], steps[block].min(axis=0), out=total)
    came = steps[1:].argmin(axis=1) - DRIFT
    path = np.zeros(blocks, dtype=np.intp)
    path[-1] = int(total.argmin())
    for block in range(blocks - 1, 0, -1):
        path[block - 1] = path[block] + came[block - 1, path[block]]
    rows = np.minimum(np.arange(height) * blocks // max(height, 1), blocks - 1)
    return np.asarray(low + path[rows], dtype=np.intp)


@dataclass(frozen=True, slots=True)
class _Cut:
    """A rectangle of the rectified page, in whole pixels, which of its ink is to be read, and which of that
    is more than specks."""

    left: int
    top: int
    right: int
    bottom: int
    keep: NDArray[np.bool_]
    solid: NDArray[np.bool_]


def _strip(layout: Layout, cut: _Cut, area: ColumnArea, run: int, row: Row, pitch: float) -> Strip | None:
    """The strip of one rectangle, trimmed to its ink; None where there is none."""
    filled = np.nonzero(np.count_nonzero(cut.solid, axis=1) >= 2)[0]
    if filled.size < (0.08 * pitch if area.pitch is None else 1):
        return None
    margin = round(MARGIN * pitch)
    # the dots that belong to the first and the last glyph are smaller than what was looked for
    near = round(NEAR * pitch)
    inked = slice(max(0, int(filled[0]) - near), min(len(cut.keep), int(filled[-1]) + 1 + near))
    grey = layout.grey[cut.top : cut.bottom, cut.left : cut.right][inked]
    keep = cut.keep[inked, -grey.shape[1] :] if row is Row.RIGHT else cut.keep[inked, : grey.shape[1]]
    clean = np.maximum(grey, WHITE * ~_near(keep, 3))
    clean = _without_specks(np.pad(clean, ((margin, margin), (0, 0)), constant_values=255), pitch, MIN_CLEAR_SPECKS)
    top = cut.top + inked.start - margin
    # a column without rules is no wider than its glyphs: it is squeezed as a ruled one with such glyphs would be
    cell = pitch if area.pitch is None else min(pitch, PROPORTION * area.width)
    if area.pitch is not None and row is not Row.MAIN:
        cell *= NOTE_CELL
    lone = area.pitch is not None and _is_lone(clean, pitch)
    pixels = _laid(clean, 1.0) if lone else _squeezed(clean, row, cell, 1.0)
    return Strip(pixels, clean, area.number, run, row, cut.left, top, cut.right, top + clean.shape[0], cell, lone)


def _is_lone(clean: NDArray[np.uint8], pitch: float) -> bool:
    """Whether a piece of a page holds a single character: no higher than a cell, nor much higher than wide."""
    rows, across = (np.flatnonzero((clean < DARK).any(axis=axis)) for axis in (1, 0))
    if not rows.size:
        return False
    high, wide = int(rows[-1] - rows[0]) + 1, int(across[-1] - across[0]) + 1
    return high < 1.1 * pitch and high < LONE * wide


def _laid(clean: NDArray[np.uint8], zoom: float) -> NDArray[np.uint8]:
    """A single character on a square, turned clockwise, as large as the recogniser likes it; 二 in a strip that is
    turned the other way would be 11."""
    rows, across = (np.flatnonzero((clean < DARK).any(axis=axis)) for axis in (1, 0))
    if not rows.size:
        return np.full((STRIP_WIDTH, STRIP_WIDTH), 255, np.uint8)
    glyph = clean[rows[0] : rows[-1] + 1, across[0] : across[-1] + 1]
    size = LONE_SIZE * STRIP_WIDTH / (1.0 + 0.2 * (zoom - 1.0))
    scale = size / max(glyph.shape)
    high, wide = (max(1, round(side * scale)) for side in glyph.shape)
    drawn = cv2.resize(glyph, (wide, high), interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
    square = np.full((STRIP_WIDTH, STRIP_WIDTH), 255, np.uint8)
    top, left = (STRIP_WIDTH - high) // 2, (STRIP_WIDTH - wide) // 2
    square[top : top + high, left : left + wide] = drawn
    return np.ascontiguousarray(np.rot90(square, -1))


def window(strip: Strip, top: float, bottom: float, zoom: float, page: NDArray[np.uint8] | None = None) -> Strip:
    """The part of a strip between two y of the rectified page, stretched lengthwise by `zoom`: without specks, or as
    the grey `page` is there, with its rules."""
    first = max(0, round(top - strip.top))
    last = min(strip.clean.shape[0], round(bottom - strip.top))
    clean = strip.clean[first:last]
    if page is None:
        clean = _without_specks(clean, strip.cell)
    elif not strip.lone:
        clean = _as_it_is(page, strip, clean, first)
    pixels = _laid(clean, zoom) if strip.lone else _squeezed(clean, strip.row, strip.cell, zoom)
    return replace(strip, pixels=pixels, clean=clean, top=strip.top + first, bottom=strip.top + last)


def _without_specks(clean: NDArray[np.uint8], cell: float, many: float = 0.0) -> NDArray[np.uint8]:
    """A part of a strip without pieces of ink too small for a stroke, such as a seal or dirt leaves; where `many` is
    given, only as far as so many stand clear of all strokes in the length of a cell, and there without all that stands
    by itself and has no stroke."""
    inked = clean < DARK
    numbered, boxes, centres = connected(inked.astype(np.uint8))
    labels = numbered.astype(np.intp)
    small = boxes[:, cv2.CC_STAT_AREA] < SMALLEST * cell * cell
    small[0] = False
    alone = np.zeros_like(small)

    def ink_of(pieces: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return np.asarray(np.append(False, pieces[1:])[labels])

    if many:
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
        by_stroke = labels[_near(ink_of(span >= STROKE * cell), round(2 * CLEAR_CELLS * cell) | 1)]
        dotted = sealed & _crowded(ys, ys[small & (np.bincount(by_stroke, minlength=len(ys)) == 0)], cell, many)
        small &= dotted
        alone = dotted & (span < MIN_SEALED_STROKE_CELLS * cell)
        alone[0] = False
    drop = np.zeros_like(inked)
    # where ink has faded, what is small and beside a stroke is of it
    for pieces, reach in ((small, 5 if many else 3), (alone, round(2 * MAX_FROM_STROKE_CELLS * cell) | 1)):
        if pieces.any():
            drop |= ink_of(pieces) & ~_near(ink_of(~pieces), reach)
    if not drop.any():
        return clean
    return np.maximum(clean, WHITE * (_near(drop, 3) & ~_near(~drop & inked, 3)))


def _crowded(ys: NDArray[np.float64], dots: NDArray[np.float64], cell: float, many: float) -> NDArray[np.bool_]:
    """About which of the `ys` so many of the `dots` stand in the length of a cell."""
    return np.asarray(_about(ys, dots, cell) >= many)


def _about(ys: NDArray[np.float64], dots: NDArray[np.float64], cell: float) -> NDArray[np.intp]:
    """How many of the `dots` stand in the length of a cell about each of the `ys`."""
    along = np.sort(dots)
    return np.searchsorted(along, ys + cell / 2) - np.searchsorted(along, ys - cell / 2)


def _near(ink: NDArray[np.bool_], reach: int) -> NDArray[np.bool_]:
    """`ink` with what lies around it, in a square of `reach` pixels."""
    return np.asarray(cv2.dilate(ink.astype(np.uint8), np.ones((reach, reach), np.uint8)), dtype=np.bool_)


def _as_it_is(page: NDArray[np.uint8], strip: Strip, clean: NDArray[np.uint8], first: int) -> NDArray[np.uint8]:
    """A part of a strip that begins at its row of pixels `first`, with all that stands there; of a half-row its own
    half alone."""
    shown = np.full_like(clean, 255)
    top, left = round(strip.top) + first, round(strip.left)
    high, low = max(0, -top), max(0, min(clean.shape[0], page.shape[0] - top))
    across = min(clean.shape[1], page.shape[1] - left)
    shown[high:low, :across] = page[top + high : top + low, left : left + across]
    other = round(OVERHANG / (0.5 + OVERHANG) * clean.shape[1])
    if strip.row is Row.RIGHT:
        return shown[:, other:]
    return shown[:, :-other] if strip.row is Row.LEFT else shown


def _squeezed(clean: NDArray[np.uint8], row: Row, pitch: float, zoom: float) -> NDArray[np.uint8]:
    """A piece of the rectified page as the recogniser takes it: STRIP_WIDTH wide, cells at their set pitch."""
    along = (MAIN_PITCH if row is Row.MAIN else NOTE_PITCH) * zoom
    if clean.shape[0] < FEW * pitch:
        # a character or two without neighbours: the recogniser needs them in their true proportions
        along = max(along, ALONE_PITCH)
    length = _whole(max(STRIP_WIDTH // 2, round(clean.shape[0] * along / pitch)))
    return np.asarray(cv2.resize(clean, (STRIP_WIDTH, length), interpolation=cv2.INTER_AREA), dtype=np.uint8)


def _whole(length: int) -> int:
    """The next of `LENGTHS`: never a shorter one, since cells are as short as they can be read."""
    step = next((step for longest, step in LENGTHS if length <= longest), LENGTHS[-1][1])
    return -(-length // step) * step
