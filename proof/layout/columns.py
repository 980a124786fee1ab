"""Converts the columns found on a page of any kind to a `Layout`, from which strips are cut as from a ruled half-folio.

A column's area covers its glyphs, not the gaps beside them: page numbers of the original and marks of readers in the
gaps are not text. The height of a cell is the period of the ink along the columns.
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
from proof.layout.rules import Mask, connected, inked_along

MARGIN_GLYPHS = 0.06
"""White margin at either side of a column's ink, in glyph widths."""

HALF_CORE_GLYPHS = 0.16
"""Half the width of a column's core, in glyph widths: main text always has ink in it, a note in half-rows has none."""

MAX_OVERHANG_GLYPHS = 0.22
"""Maximum distance that a glyph reaches beyond the body of its column, in glyph widths."""

MAX_DOT_DISTANCE_GLYPHS = 0.15
"""Maximum distance of the middle of a dot or a small stroke from the body of its column, in glyph widths."""

MAX_END_DISTANCE_GLYPHS = 0.4
"""Maximum distance of small strokes above the first large stroke of a column and below the last, in glyph widths."""

MAX_NOTE_DISTANCE_GLYPHS = 1.05
"""Maximum distance of a character of a note from the middle of its column, in glyph widths."""

MAX_RULE_DISTANCE_PX = 4
"""Maximum distance of a rule's strokes from the position found for it, in pixels at the working size."""

MAX_RULE_EDGE_DISTANCE_PX = 7
"""Distance from the position found for a rule within which a piece of ink is a remnant of the rule's edge, in pixels at
the working size."""

MIN_WIDE_SHARE = 0.8
"""Width of a stretch of text, relative to the wide ones of its column, from which it counts for the column's body."""

MIN_CELL_GLYPHS = 0.6
"""Minimum height of a cell, in glyph widths."""

MAX_CELL_GLYPHS = 2.2
"""Maximum height of a cell, in glyph widths."""

MAX_PERIODS = 8
"""Maximum number of cells over which the height of one is measured."""

MAX_PERIOD_ERROR = 0.15
"""Maximum error of the height of a cell where it is first measured, as a share of it."""

MIN_CORRECTION = 0.02
"""Minimum correction of that height, as a share of it."""

NEIGHBOURS = 3
"""Columns on either side that decide where an indented or raised column has its first cell."""

MIN_INDENT_CELLS = 0.6
"""Minimum distance between the beginning of a column and that of its neighbours, in cells: a column that begins lower
is indented, one that begins higher is raised."""

EDGE_PX = 3
"""Distance from the edge of the image within which ink runs into it, in pixels."""

MIN_CUT_SHARE = 0.5
"""Share of the columns near an edge above which, if their ink runs into it, the edge cuts columns off; fewer may end
there between two glyphs."""

MAX_SMALL_PIECE_GLYPHS = 0.5
"""Length below which a piece of ink is small, in glyph widths: it then belongs to a column only if its middle is in the
column's body or it is part of a note."""


@dataclass(frozen=True, slots=True)
class _Body:
    """A column with the `left` and `right` edge of its glyphs; `number` counts from 1 over the page."""

    number: int
    column: FoundColumn
    left: float
    right: float

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2


def as_layout(page_layout: PageLayout) -> Layout:
    """The layout of a page from its detected columns, for `cut_strips` and the steps after it."""
    areas: list[ColumnArea] = []
    owners = np.zeros(page_layout.sheet.ink.shape, dtype=np.int16)
    ink = _without_rules(page_layout)
    for register in dict.fromkeys(column.register for column in page_layout.columns):
        own = [column for column in page_layout.columns if column.register == register]
        pitch = cell_height(page_layout.text, own)
        usual = float(np.median([column.glyph for column in own]))
        bodies = [_Body(len(areas) + 1 + i, c, *_body(page_layout.text, c, usual)) for i, c in enumerate(own)]
        _assign_ink(owners, ink, page_layout, register, bodies, usual)
        firsts = [_ink_top(owners, body, usual) for body in bodies]
        for body, first, top in zip(bodies, firsts, _tops(firsts, pitch), strict=True):
            raised = max(0.0, top - first) if top - first > MIN_INDENT_CELLS * pitch else 0.0
            begin, end = top if raised else min(top, first), body.column.bottom + 0.2 * pitch
            left, right = _edges(owners, body, usual)
            areas.append(ColumnArea(body.number, left, right, begin, end, raised, pitch=pitch))
    ink[owners == 0] = 0
    sheet = page_layout.sheet
    # the edge would cut only one of several registers, and how many of its cells are visible is unknown
    whole = len(page_layout.regions) > 1
    cut = tuple(None if whole or not _runs_into(owners, areas, edge) else edge for edge in (0.0, float(len(owners))))
    outline = Outline(sheet.rectification, tuple(areas), bool(areas), None, sheet.skew, cut=(cut[0], cut[1]))
    return Layout(outline, sheet.grey, ink, 0.0, owners)


def _runs_into(owners: NDArray[np.int16], areas: Sequence[ColumnArea], edge: float) -> bool:
    """Whether the image cuts columns off at its upper or lower `edge` (y): the ink of most columns near it runs into
    it."""
    near = [a for a in areas if a.pitch and min(abs(a.top - a.raised - edge), abs(a.bottom - edge)) < a.pitch]
    rows = owners[:EDGE_PX] if not edge else owners[-EDGE_PX:]
    return sum(bool((rows == area.number).any()) for area in near) > max(1.0, MIN_CUT_SHARE * len(near))


def _without_rules(page_layout: PageLayout) -> Mask:
    """The ink of the sheet without the rules between columns."""
    ink = page_layout.sheet.ink.copy()
    for region, rules in zip(page_layout.regions, page_layout.rules, strict=True):
        rows = slice(region.top, region.bottom)
        for x in rules:
            across = slice(max(0, round(x) - MAX_RULE_DISTANCE_PX), round(x) + MAX_RULE_DISTANCE_PX + 1)
            ink[rows, across][page_layout.sheet.upright[rows, across] > 0] = 0
    return ink


def _assign_ink(
    owners: NDArray[np.int16],
    ink: Mask,
    page_layout: PageLayout,
    register: int,
    bodies: Sequence[_Body],
    usual: float,
) -> None:
    """Write into `owners` the number of the column that each piece of a register's ink belongs to.

    Ink in the body of a column belongs to it; a large piece in two bodies is divided between them. A small piece
    between two columns belongs to a note of the one without main text at its height (the nearer one if both have none),
    and to no column if both have main text there. The ragged edges of rules, which `_without_rules` leaves, belong to
    none.
    """
    region, rules = page_layout.regions[register - 1], np.array(page_layout.rules[register - 1])
    slack = round(MAX_END_DISTANCE_GLYPHS * usual)
    high = max(0, round(min([region.top, *(body.column.top for body in bodies)])) - slack)
    low = round(max(body.column.bottom for body in bodies)) + slack
    part = ink[high:low]
    labels, stats, centres = connected(part)
    boxes, middles = np.array(stats, dtype=np.intp), np.array(centres, dtype=np.float64)
    small = np.maximum(boxes[:, 2], boxes[:, 3]) < MAX_SMALL_PIECE_GLYPHS * usual
    owner = np.zeros(len(boxes), dtype=np.int16)
    far = np.abs(rules[:, None] - np.stack([boxes[:, 0], boxes[:, 0] + boxes[:, 2] - 1])[:, None]).max(axis=0)
    is_edge = (far < MAX_RULE_EDGE_DISTANCE_PX).any(axis=0)
    near = MAX_DOT_DISTANCE_GLYPHS * usual
    for body in bodies:
        inside = (middles[:, 0] >= body.left - near) & (middles[:, 0] <= body.right + near)
        top, bottom = boxes[:, 1] + high, boxes[:, 1] + boxes[:, 3] + high
        within = (top >= body.column.top - slack) & (bottom <= body.column.bottom + slack)
        owner[inside & within & small & ~is_edge] = body.number

    def is_beside(body: _Body) -> NDArray[np.bool_]:
        """Which pieces have their middle beside the body and are no wider than a glyph and a half, as ornaments are."""
        beside = (middles[:, 0] < body.left - MAX_DOT_DISTANCE_GLYPHS * usual) | (
            middles[:, 0] > body.right + MAX_DOT_DISTANCE_GLYPHS * usual
        )
        return np.asarray(beside & (boxes[:, 2] < 1.5 * usual), dtype=np.bool_)

    clear = {body.number: _clear_rows(part, body, usual) for body in bodies}
    for piece in np.flatnonzero(small & (owner == 0) & ~is_edge)[1:].tolist():
        owner[piece] = _note_column(boxes[piece], float(middles[piece, 0]), bodies, clear, usual)
    owner[0] = 0
    owned = owner[labels]
    for body in bodies:
        column = body.column
        rows = slice(max(0, round(column.top) - 3 - high), round(column.bottom) + 3 - high)
        left, right = (
            max(column.left, body.left - MAX_OVERHANG_GLYPHS * usual),
            min(column.right, body.right + MAX_OVERHANG_GLYPHS * usual),
        )
        across = slice(max(0, round(left)), round(right))
        here = owned[rows, across]
        here[(part[rows, across] > 0) & ~(small | is_beside(body))[labels[rows, across]]] = body.number
    place = owners[high:low]
    place[owned > 0] = owned[owned > 0]


def _clear_rows(part: Mask, body: _Body, usual: float) -> NDArray[np.bool_]:
    """The rows without ink in the core of a column, where no main text stands."""
    core = part[
        :, max(0, round(body.middle - HALF_CORE_GLYPHS * usual)) : round(body.middle + HALF_CORE_GLYPHS * usual)
    ]
    return np.asarray(inked_along(core, 1) == 0, dtype=np.bool_)


def _note_column(
    box: NDArray[np.intp], middle: float, bodies: Sequence[_Body], clear: dict[int, NDArray[np.bool_]], usual: float
) -> int:
    """The number of the column to whose note a small piece of ink outside the columns' bodies belongs (`box`: x, y, w,
    h; `middle`: the x of its middle); 0 where there is none."""
    rows = slice(max(0, int(box[1]) - 1), int(box[1] + box[3]) + 1)
    near = [
        (abs(middle - body.middle), body.number)
        for body in bodies
        if abs(middle - body.middle) < MAX_NOTE_DISTANCE_GLYPHS * usual and clear[body.number][rows].all()
    ]
    return min(near, default=(0.0, 0))[1]


def _ink_top(owners: NDArray[np.int16], body: _Body, usual: float) -> float:
    """The y at which a column's own ink begins."""
    top = max(0, round(body.column.top - MAX_END_DISTANCE_GLYPHS * usual))
    across = slice(max(0, round(body.left - usual)), round(body.right + usual))
    rows = np.flatnonzero((owners[top : round(body.column.bottom), across] == body.number).any(axis=1))
    return float(top + rows[0]) if rows.size else body.column.top


def _edges(owners: NDArray[np.int16], body: _Body, usual: float) -> tuple[float, float]:
    """The left and right edge of a column, equally far from its middle, with its own ink and a margin between them."""
    column = body.column
    first, last = max(0, round(body.left - usual)), round(body.right + usual)
    rows = slice(max(0, round(column.top) - 3), round(column.bottom) + 3)
    mine = np.flatnonzero((owners[rows, first:last] == body.number).any(axis=0))
    half = (body.right - body.left) / 2
    if mine.size:
        half = max(half, body.middle - first - float(mine[0]), first + float(mine[-1]) + 1 - body.middle)
    half += MARGIN_GLYPHS * usual
    return max(0.0, body.middle - half), min(float(owners.shape[1]), body.middle + half)


def cell_height(text: Mask, columns: Sequence[FoundColumn]) -> float:
    """The distance between consecutive glyphs along the columns of a register, in pixels; 1.1 glyph widths where the
    ink has no period."""
    usual = float(np.median([column.glyph for column in columns]))
    low, high = max(4, int(MIN_CELL_GLYPHS * usual)), int(MAX_CELL_GLYPHS * usual)
    total = np.zeros(MAX_PERIODS * (high + 2))
    for column in columns:
        part = text[round(column.top) : round(column.bottom), round(column.left) : round(column.right)]
        if part.shape[0] < 3 * high or not part.shape[1]:
            continue
        down = inked_along(part, 1) / part.shape[1]
        even = down - cv2.blur(down[None, :], (2 * high + 1, 1))[0]
        spectrum = np.fft.rfft(even, 2 * even.size)
        alike = np.fft.irfft(spectrum * np.conj(spectrum))[: min(len(total), even.size)]
        total[: alike.size] += alike
    if not total[0]:
        return 1.1 * usual
    period = first_period(total[: high + 2] / total[0], low, high)
    return 1.1 * usual if period is None else _over_more_periods(total, period)


def _over_more_periods(alike: NDArray[np.float64], period: float) -> float:
    """A period of an autocorrelation, corrected by its multiples, to which an error of one adds up. A small correction
    is left out: it would part no runs otherwise, and the recogniser be shown strips of another length."""
    tried = period * (1 + np.linspace(-1, 1, 301) * MAX_PERIOD_ERROR)
    multiples = np.arange(1, MAX_PERIODS + 1)[:, None] * tried
    corrected = float(tried[int(np.interp(multiples, np.arange(len(alike)), alike).sum(axis=0).argmax())])
    return corrected if abs(corrected / period - 1) > MIN_CORRECTION else period


def _tops(firsts: Sequence[float], pitch: float) -> list[float]:
    """The y of each column's first cell, blank or not, from the columns around it."""
    tops = np.array(firsts)
    levels = []
    for number, top in enumerate(tops):
        near = tops[max(0, number - NEIGHBOURS) : number + NEIGHBOURS + 1]
        first = float(np.sort(near)[min(1, len(near) - 1)])  # the second highest: the highest may be raised
        level = float(np.median(near[np.abs(near - first) < MIN_INDENT_CELLS * pitch]))
        levels.append(float(top) if abs(top - level) < MIN_INDENT_CELLS * pitch else level)
    return levels


def _body(text: Mask, column: FoundColumn, usual: float) -> tuple[float, float]:
    """The left and right edge of a column's glyphs: the median of the wide ones among its stretches as high as a
    glyph."""
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
    wide = np.array(extents)[widths >= MIN_WIDE_SHARE * np.quantile(widths, 0.8)]
    left, right = (float(value) for value in np.median(wide, axis=0))
    room = max(0.0, (usual - right + left) / 2)
    return max(column.left, first + left - room), min(column.right, first + right + room)
