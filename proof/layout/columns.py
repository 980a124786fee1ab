"""Columns found on a page of any kind made ready for being cut into strips like those of a ruled half-folio.

A column's area is the body of its glyphs and not the gap beside them: what stands in the gap (page numbers of the
original, marks of readers) is no text of the page. How high a cell is, is the period of the ink down the columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.gaps import first_period
from proof.layout.half_folio import ColumnArea, Layout, Outline
from proof.layout.page import FoundColumn, PageLayout
from proof.layout.regions import Region
from proof.layout.rules import Mask, connected, inked_along

ROOM = 0.06
"""Of a glyph's width: the white beside the ink of a column."""

CORE = 0.16
"""Of a glyph's width, to either side of a column's middle: where main text always has ink, a note in rows none."""

OVER = 0.22
"""Of a glyph's width: how far beyond the usual extent of its column's glyphs one may reach."""

NEAR = 0.15
"""Of a glyph's width: how far from its column's glyphs the middle of a dot or a small stroke of one may lie."""

SLACK = 0.4
"""Of a glyph's width: how far above the first large stroke of a column and below the last its small ones may stand."""

NOTE_REACH = 1.05
"""Of a glyph's width: how far from the middle of its column a character of a note may stand."""

RULE = 4
"""Pixels at the working size: how far from where a rule was found its strokes may lie."""

WIDE = 0.8
"""Of the wide glyphs of a column: narrower ones do not tell how far glyphs reach."""

MIN_CELL_GLYPHS = 0.6
"""Widths of a glyph: cells are no lower."""

MAX_CELL_GLYPHS = 2.2
"""Widths of a glyph: cells are no higher."""

AROUND = 3
"""Columns to either side that tell where a column begins that is indented or raised."""

INDENTED = 0.6
"""Cells: a column that begins so much lower than those around it is indented, so much higher it is raised."""

EDGE_PX = 3
"""Pixels: ink so near to the edge of the image runs into it."""

MIN_CUT_SHARE = 0.5
"""Of the columns that come near to the edge: so many run into it where it cuts them off; others end between two glyphs
there."""

BESIDE = 0.5
"""Of a glyph's width: a piece of ink no larger than this that reaches out of a column's body stands beside it."""


@dataclass(frozen=True, slots=True)
class _Body:
    """A column with where its glyphs reach from `left` to `right`; `number` counts from 1 over the page."""

    number: int
    column: FoundColumn
    left: float
    right: float

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2


def as_layout(page_layout: PageLayout) -> Layout:
    """The layout of a page whose columns were found, for `cut_strips` and all that follows."""
    areas: list[ColumnArea] = []
    owners = np.zeros(page_layout.sheet.ink.shape, dtype=np.int16)
    ink = _without_rules(page_layout)
    for register in dict.fromkeys(column.register for column in page_layout.columns):
        own = [column for column in page_layout.columns if column.register == register]
        pitch = cell_height(page_layout.text, own)
        usual = float(np.median([column.glyph for column in own]))
        bodies = [_Body(len(areas) + 1 + i, c, *_body(page_layout.text, c, usual)) for i, c in enumerate(own)]
        _give(owners, ink, page_layout.regions[register - 1], bodies, usual)
        firsts = [_first(owners, body, usual) for body in bodies]
        for body, first, top in zip(bodies, firsts, _tops(firsts, pitch), strict=True):
            raised = max(0.0, top - first) if top - first > INDENTED * pitch else 0.0
            begin, end = top if raised else min(top, first), body.column.bottom + 0.2 * pitch
            left, right = _reach(owners, body, usual)
            areas.append(ColumnArea(body.number, left, right, begin, end, raised, pitch=pitch))
    ink[owners == 0] = 0
    sheet = page_layout.sheet
    # of several registers those at the edge alone would be cut, and how many of their cells are seen is not known
    whole = len(page_layout.regions) > 1
    cut = tuple(None if whole or not _runs_into(owners, areas, edge) else edge for edge in (0.0, float(len(owners))))
    outline = Outline(sheet.rectification, tuple(areas), bool(areas), None, sheet.skew, cut=(cut[0], cut[1]))
    return Layout(outline, sheet.grey, ink, 0.0, owners)


def _runs_into(owners: NDArray[np.int16], areas: Sequence[ColumnArea], edge: float) -> bool:
    """Whether the image cuts columns off at its upper or lower edge: the ink of many that come near runs into it."""
    near = [a for a in areas if a.pitch and min(abs(a.top - a.raised - edge), abs(a.bottom - edge)) < a.pitch]
    rows = owners[:EDGE_PX] if not edge else owners[-EDGE_PX:]
    return sum(bool((rows == area.number).any()) for area in near) > max(1.0, MIN_CUT_SHARE * len(near))


def _without_rules(page_layout: PageLayout) -> Mask:
    """The ink of the sheet without the rules between columns."""
    ink = page_layout.sheet.ink.copy()
    for region, rules in zip(page_layout.regions, page_layout.rules, strict=True):
        rows = slice(region.top, region.bottom)
        for x in rules:
            across = slice(max(0, round(x) - RULE), round(x) + RULE + 1)
            ink[rows, across][page_layout.sheet.upright[rows, across] > 0] = 0
    return ink


def _give(owners: NDArray[np.int16], ink: Mask, region: Region, bodies: Sequence[_Body], usual: float) -> None:
    """Write into `owners` which column of a register every piece of its ink belongs to.

    Pieces of glyphs stand in the body of their column; what joins two is parted where the columns part. A small piece
    between two columns is part of a note of the one that has no glyph of main text at its height; where both have
    one, it stands beside the text and is no part of it.
    """
    slack = round(SLACK * usual)
    high = max(0, round(min([region.top, *(body.column.top for body in bodies)])) - slack)
    low = round(max(body.column.bottom for body in bodies)) + slack
    part = ink[high:low]
    labels, stats, centres = connected(part)
    boxes, middles = np.array(stats, dtype=np.intp), np.array(centres, dtype=np.float64)
    small = np.maximum(boxes[:, 2], boxes[:, 3]) < BESIDE * usual
    owner = np.zeros(len(boxes), dtype=np.int16)
    near = NEAR * usual
    for body in bodies:
        inside = (middles[:, 0] >= body.left - near) & (middles[:, 0] <= body.right + near)
        top, bottom = boxes[:, 1] + high, boxes[:, 1] + boxes[:, 3] + high
        within = (top >= body.column.top - slack) & (bottom <= body.column.bottom + slack)
        owner[inside & within & small] = body.number

    def off(body: _Body) -> NDArray[np.bool_]:
        """Ornaments and the like: large pieces of which the middle lies beside the body."""
        beside = (middles[:, 0] < body.left - NEAR * usual) | (middles[:, 0] > body.right + NEAR * usual)
        return np.asarray(beside & (boxes[:, 2] < 1.5 * usual), dtype=np.bool_)

    clear = {body.number: _clear_rows(part, body, usual) for body in bodies}
    for piece in np.flatnonzero(small & (owner == 0))[1:].tolist():
        owner[piece] = _of_a_note(boxes[piece], float(middles[piece, 0]), bodies, clear, usual)
    owner[0] = 0
    owned = owner[labels]
    for body in bodies:
        column = body.column
        rows = slice(max(0, round(column.top) - 3 - high), round(column.bottom) + 3 - high)
        left, right = max(column.left, body.left - OVER * usual), min(column.right, body.right + OVER * usual)
        across = slice(max(0, round(left)), round(right))
        here = owned[rows, across]
        here[(part[rows, across] > 0) & ~(small | off(body))[labels[rows, across]]] = body.number
    place = owners[high:low]
    place[owned > 0] = owned[owned > 0]


def _clear_rows(part: Mask, body: _Body, usual: float) -> NDArray[np.bool_]:
    """The rows in which the middle of a column is free of ink: there stands no glyph of main text."""
    core = part[:, max(0, round(body.middle - CORE * usual)) : round(body.middle + CORE * usual)]
    return np.asarray(inked_along(core, 1) == 0, dtype=np.bool_)


def _of_a_note(
    box: NDArray[np.intp], middle: float, bodies: Sequence[_Body], clear: dict[int, NDArray[np.bool_]], usual: float
) -> int:
    """The column that has a small piece of ink (x, y, w, h) beside its body in a note; 0 where none has."""
    rows = slice(max(0, int(box[1]) - 1), int(box[1] + box[3]) + 1)
    near = [
        (abs(middle - body.middle), body.number)
        for body in bodies
        if abs(middle - body.middle) < NOTE_REACH * usual and clear[body.number][rows].all()
    ]
    return min(near, default=(0.0, 0))[1]


def _first(owners: NDArray[np.int16], body: _Body, usual: float) -> float:
    """The y at which a column's own ink begins."""
    top = max(0, round(body.column.top - SLACK * usual))
    across = slice(max(0, round(body.left - usual)), round(body.right + usual))
    rows = np.flatnonzero((owners[top : round(body.column.bottom), across] == body.number).any(axis=1))
    return float(top + rows[0]) if rows.size else body.column.top


def _reach(owners: NDArray[np.int16], body: _Body, usual: float) -> tuple[float, float]:
    """The left and right edge of a column: as far as its own ink, as much on one side as on the other."""
    column = body.column
    first, last = max(0, round(body.left - usual)), round(body.right + usual)
    rows = slice(max(0, round(column.top) - 3), round(column.bottom) + 3)
    mine = np.flatnonzero((owners[rows, first:last] == body.number).any(axis=0))
    half = (body.right - body.left) / 2
    if mine.size:
        half = max(half, body.middle - first - float(mine[0]), first + float(mine[-1]) + 1 - body.middle)
    half += ROOM * usual
    return max(0.0, body.middle - half), min(float(owners.shape[1]), body.middle + half)


def cell_height(text: Mask, columns: Sequence[FoundColumn]) -> float:
    """How far glyphs stand apart down the columns of a register, in pixels."""
    usual = float(np.median([column.glyph for column in columns]))
    low, high = max(4, int(MIN_CELL_GLYPHS * usual)), int(MAX_CELL_GLYPHS * usual)
    total = np.zeros(high + 2)
    for column in columns:
        part = text[round(column.top) : round(column.bottom), round(column.left) : round(column.right)]
        if part.shape[0] < 3 * high or not part.shape[1]:
            continue
        down = inked_along(part, 1) / part.shape[1]
        even = down - cv2.blur(down[None, :], (2 * high + 1, 1))[0]
        spectrum = np.fft.rfft(even, 2 * even.size)
        total += np.fft.irfft(spectrum * np.conj(spectrum))[: high + 2]
    if not total[0]:
        return 1.1 * usual
    return first_period(total / total[0], low, high) or 1.1 * usual


def _tops(firsts: Sequence[float], pitch: float) -> list[float]:
    """Where each column's first cell begins, whether or not it holds a character: told by the columns around it."""
    tops = np.array(firsts)
    levels = []
    for number, top in enumerate(tops):
        near = tops[max(0, number - AROUND) : number + AROUND + 1]
        first = float(np.sort(near)[min(1, len(near) - 1)])  # the second: one may be raised
        level = float(np.median(near[np.abs(near - first) < INDENTED * pitch]))
        levels.append(float(top) if abs(top - level) < INDENTED * pitch else level)
    return levels


def _body(text: Mask, column: FoundColumn, usual: float) -> tuple[float, float]:
    """From where to where the glyphs of a column reach: of the rows as high as a glyph the wide ones tell."""
    first = round(column.left)
    own = text[round(column.top) : round(column.bottom), first : round(column.right)]
    step = max(4, round(usual))
    extents = []
    for start in range(0, max(own.shape[0] - step // 2, 1), step):
        inked = np.flatnonzero(inked_along(own[start : start + step], 0) > 1)
        if inked.size:
            extents.append((float(inked[0]), float(inked[-1] + 1)))
    widths = np.array([b - a for a, b in extents])
    if not widths.size:
        return column.left, column.right
    wide = np.array(extents)[widths >= WIDE * np.quantile(widths, 0.8)]
    left, right = (float(value) for value in np.median(wide, axis=0))
    room = max(0.0, (usual - right + left) / 2)
    return max(column.left, first + left - room), min(column.right, first + right + room)
