"""The runs of a column: where main text in full width gives way to a note in two half-rows.

A note leaves the middle of its column free of ink, and main text does not. The transcription proposes which runs to
expect, and the image decides where they end, or, where it plainly contradicts, which runs there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.half_folio import ColumnArea
from proof.layout.rules import inked_along
from proof.text.model import Column

THROUGH, THROUGH_SMALL = 0.25, 1.5
"""What a boundary costs that goes through ink, in cells; on a page that is not ruled notes have little of it."""

LOWEST_NOTE = 0.5
"""Cells: the least height of a note's cell on a page that is not ruled."""

LEAST_HEIGHT = 0.4
"""Of the height that the count of its cells gives a run on a page that is not ruled: none is lower."""

SPECK = 0.012
"""Of a cell's area: a piece of ink smaller than this is noise where main text and notes are told apart."""

WINDOW = 1.1
"""Cells: the stretch of a column over which such a line is looked for."""

JOINED = 0.6
"""Cells: text with no more blank paper in it goes on."""

BETWEEN = 0.045
"""Share of ink on the clearest line near the middle above which a place speaks for main text."""

BLOCK = 10
"""Pixels: the rows for which the gap between two half-rows is looked for together."""

GUTTER_REACH = 0.13
"""Of the column's width: how far from its middle the gap between two half-rows may lie."""


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
class Strokes:
    """The connected pieces of a column's ink: `labels` (height x width, 0 the paper), and for each piece
    (index 0 unused) its extent from `left` to `right`, its longer side, its area, and its middle `x`, `y`."""

    labels: NDArray[np.int32]
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    span: NDArray[np.intp]
    area: NDArray[np.intp]
    x: NDArray[np.float64]
    y: NDArray[np.float64]


def strokes_of(ink: NDArray[np.uint8]) -> Strokes:
    _, labels, stats, centres = cv2.connectedComponentsWithStats(ink, connectivity=8)
    left, width, height, area = (stats[:, i].astype(np.intp) for i in (0, 2, 3, 4))
    span = np.maximum(width, height)
    middle = np.asarray(centres, dtype=np.float64)
    return Strokes(np.asarray(labels), left, left + width, span, area, middle[:, 0], middle[:, 1])


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
    expected = [(run.note, float(max(len(run.right), len(run.left)))) for run in column.runs]
    if lower:
        expected = _note_cells(expected, np.flatnonzero(inked_along(ink, 1))[-1] / pitch)
    guide = np.zeros_like(gain) if way is CutBy.COUNTED else gain
    laid = _guided_stretches(guide, ink, expected, pitch, THROUGH_SMALL if lower else THROUGH)
    blank = [all(cell.blank for cell in run.cells) for run in column.runs]
    return [replace(stretch, blank=empty) for stretch, empty in zip(laid, blank, strict=True)]


def _note_cells(expected: Sequence[tuple[bool, float]], cells: float) -> list[tuple[bool, float]]:
    """The heights of runs where notes have cells of their own height: what the main text leaves of the column's `cells`
    is shared among them."""
    notes = sum(height for note, height in expected if note)
    main = sum(height for note, height in expected if not note)
    share = min(max((cells - main) / notes, LOWEST_NOTE), 1.0) if notes else 1.0
    return [(note, height * share if note else height) for note, height in expected]


def main_gain(ink: NDArray[np.uint8], strokes: Strokes, pitch: float) -> NDArray[np.float64]:
    """For every row of pixels how much it speaks for main text (positive) or a note (negative).

    Around a note an upright line near the middle runs clear of ink for more than a cell; main text blocks
    every such line. So the measure is the ink on the clearest of these lines. Blank paper is as clear and says
    nothing: where text begins and ends the line is looked for within the text. Specks (noise, the dots of a
    seal) are left out; zero where no ink is at all.
    """
    _, width = ink.shape
    window = max(3, round(WINDOW * pitch))
    real = strokes.area >= SPECK * pitch * pitch
    real[0] = False
    inked = real[strokes.labels]
    solid = cv2.boxFilter(inked.astype(np.float32), -1, (3, window), borderType=cv2.BORDER_CONSTANT)
    low, high = round((0.5 - GUTTER_REACH) * width), round((0.5 + GUTTER_REACH) * width)
    clearest = solid[:, low:high].min(axis=1)
    within = slice(round(0.06 * width), round(0.94 * width))
    body = solid[:, within].mean(axis=1)
    gain = np.zeros(len(ink))
    for first, last in _written(np.asarray(inked[:, within].any(axis=1)), round(JOINED * pitch)):
        half = min(window, last - first) / 2
        rows = np.clip(np.arange(first, last), first + half, last - half).astype(np.intp)
        filled = window / (2 * half)
        present = np.minimum(filled * body[rows] / 0.1, 1.0)
        gain[first:last] = (np.minimum(filled * clearest[rows], 2 * BETWEEN) - BETWEEN) * present
    return gain


def _written(rows: NDArray[np.bool_], gap: int) -> list[tuple[int, int]]:
    """From which row to which (exclusive) there is ink, gaps of so many rows and fewer left aside."""
    inked = np.flatnonzero(rows)
    if not inked.size:
        return []
    after = np.flatnonzero(np.diff(inked) > gap + 1)
    firsts, lasts = inked[np.append(0, after + 1)], inked[np.append(after, inked.size - 1)] + 1
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))


def _seen_stretches(gain: NDArray[np.float64], pitch: float) -> list[ColumnStretch]:
    """The stretches that the image alone suggests: the best two-state path, a change costing two cells: a single
    glyph may be clear in the middle (北, 門)."""
    blocks = np.add.reduceat(gain, np.arange(0, gain.size, BLOCK)).tolist()
    price = 2.0 * pitch * BETWEEN
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


def _least_heights(expected: Sequence[tuple[bool, float]], cell: float, steps: int) -> list[int]:
    """How many of the `steps` of a column each run takes at least, where a cell has `cell` of them: characters that
    the transcription has are not squeezed to nothing, however little their ink tells."""
    least = [LEAST_HEIGHT * count * cell for _, count in expected]
    share = min(1.0, 0.5 * steps / max(sum(least), 1e-9))
    return [int(share * height) for height in least]


def _guided_stretches(
    gain: NDArray[np.float64],
    ink: NDArray[np.uint8],
    expected: Sequence[tuple[bool, float]],
    pitch: float,
    through: float,
) -> list[ColumnStretch]:
    """The transcription's runs laid on the column, each boundary where the image puts it; `through` is what ink costs
    that a boundary goes through.

    Dynamic programming over boundaries on a grid of two pixels: ink in the middle speaks for main text, a
    boundary through ink or far from where the count of cells puts it costs.
    """
    step = 2
    height = gain.size
    grid = np.arange(0, height + step, step).clip(0, height)
    total = np.concatenate([[0.0], np.cumsum(gain)])[grid]
    across = np.convolve((ink > 0).mean(axis=1), np.ones(3) / 3, mode="same")
    cut = np.concatenate([across, [0.0]])[grid.clip(0, height)] * pitch * through
    # one window above against one below: sharper than the gain, which changes over a window's length
    half = round(WINDOW * pitch / 2)
    contrast = (gain[(grid - half).clip(0, height - 1)] - gain[(grid + half).clip(0, height - 1)]) * pitch
    if len(expected) == 1:
        return [ColumnStretch(expected[0][0], 0.0, float(height))]
    ends = np.cumsum([count for _, count in expected])[:-1] * pitch
    room = _least_heights(expected, pitch / step, grid.size) if through == THROUGH_SMALL else [0] * len(expected)
    best = np.where(grid == 0, 0.0, -np.inf)
    back: list[NDArray[np.intp]] = []
    for (note, _), end, least in zip(expected[:-1], ends, room, strict=False):
        sign = -1.0 if note else 1.0
        running = best - sign * total
        arg = np.maximum.accumulate(np.where(running == np.maximum.accumulate(running), np.arange(grid.size), 0))
        arg = np.concatenate([np.zeros(least, np.intp), arg[: arg.size - least]])
        prior = 0.2 * BETWEEN * np.clip(np.abs(grid - end) - 0.5 * pitch, 0, 4 * pitch)
        best = running[arg] + sign * (total + contrast) - cut - prior
        best[:least] = -np.inf
        back.append(arg)
    note = expected[-1][0]
    final = best + (-1.0 if note else 1.0) * (total[-1] - total)
    place = int(final[: final.size - room[-1]].argmax())
    bounds = [place]
    for arg in reversed(back[1:]):
        place = int(arg[place])
        bounds.append(place)
    edges = [0.0, *(float(grid[b]) for b in reversed(bounds)), float(height)]
    return [ColumnStretch(note, a, b) for (note, _), a, b in zip(expected, edges, edges[1:], strict=False)]
