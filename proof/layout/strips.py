"""From columns to strips: what a recogniser reads in one go.

A column is main text in full width, broken by notes in two half-rows. A note leaves the middle of its
column free of ink, and main text does not; where one gives way to the other is found there. The
transcription proposes which runs to expect, and the image decides where they end, or, where it plainly
contradicts, which runs there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.half_folio import ColumnArea, Layout
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

LENGTHS = ((128, 8), (256, 16), (10_000, 32))
"""Up to so many pixels a strip's length is a multiple of so many. A recogniser prepares itself for every length that
it meets and may remember it: of these there are few enough, and none is stretched by more than an eighth."""

NEAR = 0.35
"""Cells: how far from the outermost stroke the dots of its glyph may lie."""

MARGIN = 0.22
"""Cells of white above and below a strip's ink."""

LEAST_INK = 0.02
"""Of a cell's area: less ink than this in a whole column is no text."""

SPECK = 0.012
"""Of a cell's area: a piece of ink smaller than this is noise where main text and notes are told apart."""

BLOCK = 10
"""Pixels: the rows for which the gap between two half-rows is looked for together."""

DRIFT = 2
"""Pixels: how far the gap may move from one block to the next."""

STROKE = 0.22
"""Cells: a piece of ink as long as this is a stroke; text begins with the first and ends with the last."""

LONG_STROKE = 0.5
"""Cells: a stroke that no seal's dots and no dirt make: where the transcription has only spaces, ink is read
if it has one."""

OVERHANG = 0.07
"""Of the column's width: how far a stroke of one half-row may reach over the middle."""

GUTTER_REACH = 0.13
"""Of the column's width: how far from its middle the gap between two half-rows may lie."""

WINDOW = 1.1
"""Cells: the stretch of a column over which such a line is looked for."""

BETWEEN = 0.045
"""Share of ink on the clearest line near the middle above which a place speaks for main text."""


class CutBy(StrEnum):
    """How the runs of a column are found: by the image with the transcription's help, by the image alone,
    or by counting the transcription's cells."""

    BEST = "best"
    SEEN = "seen"
    COUNTED = "counted"


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
class Strip:
    """One piece of a column to be read: `pixels` (length x STRIP_WIDTH, grey), and where it was cut.

    `left`, `top`, `right`, `bottom` are on the rectified page, `clean` is that part of it with its own ink
    alone. `run` counts the column's stretches from 0.
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


@dataclass(frozen=True, slots=True)
class _Strokes:
    """The connected pieces of a column's ink: `labels` (height x width, 0 the paper), and for each piece
    (index 0 unused) its extent from `left` to `right`, its longer side, its area, and its middle `x`, `y`."""

    labels: NDArray[np.int32]
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    span: NDArray[np.intp]
    area: NDArray[np.intp]
    x: NDArray[np.float64]
    y: NDArray[np.float64]


def _strokes(ink: NDArray[np.uint8]) -> _Strokes:
    _, labels, stats, centres = cv2.connectedComponentsWithStats(ink, connectivity=8)
    left, width, height, area = (stats[:, i].astype(np.intp) for i in (0, 2, 3, 4))
    span = np.maximum(width, height)
    middle = np.asarray(centres, dtype=np.float64)
    return _Strokes(np.asarray(labels), left, left + width, span, area, middle[:, 0], middle[:, 1])


def cut_strips(
    layout: Layout, area: ColumnArea, column: Column | None, rows: int, way: CutBy = CutBy.BEST
) -> tuple[Strip, ...]:
    """The strips of one column in reading order; none where it has no ink.

    `column` is what the transcription has for it, None where that is not known. `rows` is the number of
    cells between the frame's top and bottom.
    """
    pitch = (area.bottom - area.top) / rows
    top = area.top - area.raised - (0.15 * pitch if area.raised else 0.12 * pitch)
    bottom = area.bottom + 0.12 * pitch
    y0, y1 = round(max(0.0, top)), round(min(float(layout.ink.shape[0]), bottom))
    x0, x1 = round(max(0.0, area.left)), round(area.right)
    ink = layout.ink[y0:y1, x0:x1]
    if not ink.size or np.count_nonzero(ink) < LEAST_INK * pitch * pitch:
        return ()
    strokes = _strokes(ink)
    gain = _main_gain(ink, strokes, pitch)
    strips: list[Strip] = []
    told = _told_stretches(area, y0, y1)
    for number, stretch in enumerate(told or _stretches(gain, ink, column, pitch, way)):
        first, last = round(stretch.top), round(stretch.bottom)
        if first >= last:
            continue  # a line longer than the column can squeeze a run to nothing
        if stretch.blank and not (strokes.span >= LONG_STROKE * pitch)[strokes.labels[first:last]].any():
            continue
        solid = (strokes.span >= STROKE * pitch)[strokes.labels[first:last]]
        for row, low, high, keep in _halves(ink, strokes, stretch):
            cut = _Cut(x0 + low, y0 + first, x0 + high, y0 + last, keep, keep & solid)
            strip = _strip(layout, cut, area.number, number, row, pitch)
            if strip is not None:
                strips.append(strip)
    return tuple(strips)


def _told_stretches(area: ColumnArea, top: int, bottom: int) -> list[ColumnStretch]:
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


def _halves(
    ink: NDArray[np.uint8], strokes: _Strokes, stretch: ColumnStretch
) -> list[tuple[Row, int, int, NDArray[np.bool_]]]:
    """The rows of one stretch: which, from where to where across the column, and which ink is its own.

    The half-rows of a note are told apart stroke by stroke, since the tail of one character may pass
    under its neighbour; only a stroke that lies on both sides is cut in the middle.
    """
    first, last = round(stretch.top), round(stretch.bottom)
    width = ink.shape[1]
    own = ink[first:last] > 0
    if not stretch.note:
        return [(Row.MAIN, 0, width, own)]
    gutter = _gutter(ink[first:last])
    labels = strokes.labels[first:last]
    overhang = round(OVERHANG * width)
    here = gutter[(strokes.y.astype(np.intp) - first).clip(0, last - first - 1)]
    both = (strokes.left < here - 2 * overhang) & (strokes.right > here + 2 * overhang)
    on_right = np.where(both[labels], np.arange(width)[None, :] >= gutter[:, None], (strokes.x >= here)[labels])
    middle = int(np.median(gutter))
    return [
        (Row.RIGHT, max(0, middle - overhang), width, own & on_right),
        (Row.LEFT, 0, min(width, middle + overhang), own & ~on_right),
    ]


def _stretches(
    gain: NDArray[np.float64], ink: NDArray[np.uint8], column: Column | None, pitch: float, way: CutBy
) -> list[ColumnStretch]:
    """Main text and notes from top to bottom, `top` and `bottom` counted from the top of `ink`."""
    if column is None or not column.runs or way is CutBy.SEEN:
        return _seen_stretches(gain, pitch)
    expected = [(run.note, max(len(run.right), len(run.left))) for run in column.runs]
    laid = _guided_stretches(np.zeros_like(gain) if way is CutBy.COUNTED else gain, ink, expected, pitch)
    blank = [all(cell.blank for cell in run.cells) for run in column.runs]
    return [replace(stretch, blank=empty) for stretch, empty in zip(laid, blank, strict=True)]


def _main_gain(ink: NDArray[np.uint8], strokes: _Strokes, pitch: float) -> NDArray[np.float64]:
    """For every row of pixels how much it speaks for main text (positive) or a note (negative).

    Around a note an upright line near the middle runs clear of ink for more than a cell; main text blocks
    every such line. So the measure is the ink on the clearest of these lines. Specks (noise, the dots of a
    seal) are left out; zero where no ink is at all.
    """
    _, width = ink.shape
    window = max(3, round(WINDOW * pitch))
    real = strokes.area >= SPECK * pitch * pitch
    real[0] = False
    solid = cv2.boxFilter(real[strokes.labels].astype(np.float32), -1, (3, window), borderType=cv2.BORDER_CONSTANT)
    low, high = round((0.5 - GUTTER_REACH) * width), round((0.5 + GUTTER_REACH) * width)
    clearest = solid[:, low:high].min(axis=1)
    body = solid[:, round(0.06 * width) : round(0.94 * width)].mean(axis=1)
    present = np.minimum(body / 0.1, 1.0)
    return np.asarray((np.minimum(clearest, 2 * BETWEEN) - BETWEEN) * present, dtype=np.float64)


def _seen_stretches(gain: NDArray[np.float64], pitch: float) -> list[ColumnStretch]:
    """The stretches that the image alone suggests: the best two-state path, a change costing a cell and a half."""
    blocks = np.add.reduceat(gain, np.arange(0, gain.size, BLOCK)).tolist()
    price = 1.5 * pitch * BETWEEN
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
    gain: NDArray[np.float64], ink: NDArray[np.uint8], expected: Sequence[tuple[bool, int]], pitch: float
) -> list[ColumnStretch]:
    """The transcription's runs laid on the column, each boundary where the image puts it.

    Dynamic programming over boundaries on a grid of two pixels: ink in the middle speaks for main text, a
    boundary through ink or far from where the count of cells puts it costs.
    """
    step = 2
    height = gain.size
    grid = np.arange(0, height + step, step).clip(0, height)
    total = np.concatenate([[0.0], np.cumsum(gain)])[grid]
    across = np.convolve((ink > 0).mean(axis=1), np.ones(3) / 3, mode="same")
    cut = np.concatenate([across, [0.0]])[grid.clip(0, height)] * pitch * 0.25
    # one window above against one below: sharper than the gain, which changes over a window's length
    half = round(WINDOW * pitch / 2)
    contrast = (gain[(grid - half).clip(0, height - 1)] - gain[(grid + half).clip(0, height - 1)]) * pitch
    if len(expected) == 1:
        return [ColumnStretch(expected[0][0], 0.0, float(height))]
    ends = np.cumsum([count for _, count in expected])[:-1] * pitch
    best = np.where(grid == 0, 0.0, -np.inf)
    back: list[NDArray[np.intp]] = []
    for (note, _), end in zip(expected[:-1], ends, strict=True):
        sign = -1.0 if note else 1.0
        running = best - sign * total
        arg = np.maximum.accumulate(np.where(running == np.maximum.accumulate(running), np.arange(grid.size), 0))
        prior = 0.2 * BETWEEN * np.clip(np.abs(grid - end) - 0.5 * pitch, 0, 4 * pitch)
        best = running[arg] + sign * (total + contrast) - cut - prior
        back.append(arg)
    note = expected[-1][0]
    final = best + (-1.0 if note else 1.0) * (total[-1] - total)
    place = int(final.argmax())
    bounds = [place]
    for arg in reversed(back[1:]):
        place = int(arg[place])
        bounds.append(place)
    edges = [0.0, *(float(grid[b]) for b in reversed(bounds)), float(height)]
    return [ColumnStretch(note, a, b) for (note, _), a, b in zip(expected, edges, edges[1:], strict=False)]


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


def _strip(layout: Layout, cut: _Cut, column: int, run: int, row: Row, pitch: float) -> Strip | None:
    """The strip of one rectangle, trimmed to its ink; None where there is none."""
    filled = np.nonzero(np.count_nonzero(cut.solid, axis=1) >= 2)[0]
    if filled.size < 0.08 * pitch:
        return None
    margin = round(MARGIN * pitch)
    # the dots that belong to the first and the last glyph are smaller than what was looked for
    near = round(NEAR * pitch)
    inked = slice(max(0, int(filled[0]) - near), min(len(cut.keep), int(filled[-1]) + 1 + near))
    grey = layout.grey[cut.top : cut.bottom, cut.left : cut.right][inked]
    keep = cut.keep[inked, -grey.shape[1] :] if row is Row.RIGHT else cut.keep[inked, : grey.shape[1]]
    own = cv2.dilate(keep.astype(np.uint8), np.ones((3, 3), np.uint8))
    clean = np.where(own > 0, grey, 255).astype(np.uint8)
    clean = np.pad(clean, ((margin, margin), (0, 0)), constant_values=255)
    top = cut.top + inked.start - margin
    pixels = _squeezed(clean, row, pitch, 1.0)
    return Strip(pixels, clean, column, run, row, cut.left, top, cut.right, top + clean.shape[0])


def window(strip: Strip, top: float, bottom: float, pitch: float, zoom: float) -> Strip:
    """The part of a strip between two y of the rectified page, stretched lengthwise by `zoom`."""
    first = max(0, round(top - strip.top))
    last = min(strip.clean.shape[0], round(bottom - strip.top))
    clean = strip.clean[first:last]
    pixels = _squeezed(clean, strip.row, pitch, zoom)
    return replace(strip, pixels=pixels, clean=clean, top=strip.top + first, bottom=strip.top + last)


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
