"""Columns found on a page of any kind made ready for being cut into strips like those of a ruled half-folio.

A column's area is the body of its glyphs and not the gap beside them: what stands in the gap (page numbers of the
original, marks of readers) is no text of the page. How high a cell is, is the period of the ink down the columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from proof.images.layout import ColumnArea, Layout, erase_specks
from proof.images.lines import Mask, inked_along
from proof.layout.gaps import first_period
from proof.layout.page import FoundColumn, PageLayout

ROOM = 0.42
"""Of a glyph's width: how far beyond the usual extent of its column's glyphs one may reach, and a note beside them."""

WIDE = 0.8
"""Of the wide glyphs of a column: narrower ones do not tell how far glyphs reach."""

SHORTEST, LONGEST = 0.6, 2.2
"""Cells are no lower and no higher than so many widths of a glyph."""

ALONE = 0.008
"""Of a cell's area: less ink than this, with nothing near it, is dirt; a stroke of 二 in a small note has 0.013."""

AROUND = 3
"""Columns to either side that tell where a column begins that is indented or raised."""

INDENTED = 0.6
"""Cells: a column that begins so much lower than those around it is indented, so much higher it is raised."""

BESIDE = 0.5
"""Of a glyph's width: a piece of ink no larger than this that reaches out of a column's body stands beside it."""


def as_layout(found: PageLayout) -> Layout:
    """The layout of a page whose columns were found, for `cut_strips` and all that follows."""
    areas: list[ColumnArea] = []
    ink = np.zeros_like(found.sheet.ink)
    for register in dict.fromkeys(column.register for column in found.columns):
        own = [column for column in found.columns if column.register == register]
        pitch = cell_height(found.text, own)
        usual = float(np.median([column.glyph for column in own]))
        tops = _tops(own, pitch)
        edges = _edges(found.text, own, usual)
        for column, top, (left, right) in zip(own, tops, edges, strict=True):
            raised = max(0.0, top - column.top) if top - column.top > INDENTED * pitch else 0.0
            begin = top if raised else min(top, column.top)
            end = column.bottom + 0.2 * pitch
            areas.append(ColumnArea(len(areas) + 1, left, right, begin, end, raised, pitch=pitch))
            _take(ink, found, column, (left, right), usual)
        erase_specks(ink, pitch, ALONE)
    sheet = found.sheet
    return Layout(sheet.grey, ink, sheet.rectification, tuple(areas), 0.0, bool(areas), "", sheet.skew)


def cell_height(text: Mask, columns: Sequence[FoundColumn]) -> float:
    """How far glyphs stand apart down the columns of a register, in pixels."""
    usual = float(np.median([column.glyph for column in columns]))
    low, high = max(4, int(SHORTEST * usual)), int(LONGEST * usual)
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


def _tops(columns: Sequence[FoundColumn], pitch: float) -> list[float]:
    """Where each column's first cell begins, whether or not it holds a character: told by the columns around it."""
    tops = np.array([column.top for column in columns])
    found = []
    for number, top in enumerate(tops):
        near = tops[max(0, number - AROUND) : number + AROUND + 1]
        first = float(np.sort(near)[min(1, len(near) - 1)])  # the second: one may be raised
        level = float(np.median(near[np.abs(near - first) < INDENTED * pitch]))
        found.append(float(top) if abs(top - level) < INDENTED * pitch else level)
    return found


def _edges(text: Mask, columns: Sequence[FoundColumn], usual: float) -> list[tuple[float, float]]:
    """The left and right edge of every column: where least ink is between its glyphs and the next one's (notes may
    reach beyond the glyphs on one side), but no further from its glyphs than a note reaches."""
    bodies = [_body(text, column, usual) for column in columns]
    room = ROOM * usual
    edges = [(max(c.left, a - room), min(c.right, b + room)) for c, (a, b) in zip(columns, bodies, strict=True)]
    for i, (right, left) in enumerate(pairwise(range(len(columns)))):
        low, high = bodies[left][1], bodies[right][0]
        if high - low < 3 or columns[right].left > columns[left].right + 3:
            continue
        top = min(columns[left].top, columns[right].top)
        bottom = max(columns[left].bottom, columns[right].bottom)
        gap = inked_along(text[round(top) : round(bottom), round(low) : round(high)], 0).astype(np.float64)
        off = np.abs(np.arange(gap.size) - gap.size / 2) / max(gap.size, 1)
        cut = round(low) + int((cv2.blur(gap[None, :], (3, 1))[0] + off).argmin()) if gap.size else (low + high) / 2
        edges[i] = (max(float(cut), bodies[right][0] - room), edges[i][1])
        edges[i + 1] = (edges[i + 1][0], min(float(cut), bodies[left][1] + room))
    return edges


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


def _take(ink: Mask, found: PageLayout, column: FoundColumn, body: tuple[float, float], usual: float) -> None:
    """Draw a column's own ink into `ink`: without rules beside it, and without what stands beside its glyphs."""
    top, bottom = max(0, round(column.top) - 3), round(column.bottom) + 3
    first, last = max(0, round(body[0])), round(body[1])
    own = found.sheet.ink[top:bottom, first:last].copy()
    if not own.size:
        return
    for x in found.rules[column.register - 1]:
        a, b = round(x) - 4 - first, round(x) + 5 - first
        if b > 0 and a < own.shape[1]:
            own[:, max(0, a) : b][found.sheet.upright[top:bottom, first:last][:, max(0, a) : b] > 0] = 0
    _, labels, stats, _ = cv2.connectedComponentsWithStats(own, connectivity=8)
    drop = _stray(np.asarray(stats, dtype=np.int32), own.shape[1], usual)
    own[drop[labels]] = 0
    ink[top:bottom, first:last] = own


def _stray(stats: NDArray[np.int32], breadth: int, usual: float) -> NDArray[np.bool_]:
    """Which pieces of ink (0 the paper) of a column `breadth` pixels wide are small and cut by its edge: they stand
    between it and the next."""
    x, width, height = stats[:, 0], stats[:, 2], stats[:, 3]
    drop = (np.maximum(width, height) < BESIDE * usual) & ((x == 0) | (x + width == breadth))
    drop[0] = False
    return np.asarray(drop, dtype=np.bool_)
