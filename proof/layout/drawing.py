"""What was found on a page, drawn on it and told in JSON."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.columns import as_layout
from proof.layout.figures import large_pieces
from proof.layout.page import FoundColumn, PageLayout
from proof.layout.runs import CutBy
from proof.layout.strips import cut_strips
from proof.text.model import Row

ROOM = 0.3
"""Of a glyph's width: the room above and below a character that is its cell's."""

COLUMN = (40, 40, 220)
"""Blue, green, red: what is drawn around a column."""

REGISTER = (200, 120, 0)
"""The same around a register."""

NOTE = (60, 160, 60)
"""The same around a half-row of a note."""

FIGURE = (180, 40, 180)
"""The same around a figure."""

Rectangle = tuple[float, float, float, float]
"""Left, top, right and bottom on the sheet."""


def as_json(layout: PageLayout) -> dict[str, Any]:
    """The layout in pixels of the file; columns right to left, registers from top to bottom."""
    columns = []
    for column in layout.columns:
        x, y, w, h = layout.file_box(*with_room(layout, column)).rounded()
        columns.append({"x": x, "y": y, "w": w, "h": h, "register": column.register})
    registers = []
    for region in layout.regions:
        x, y, w, h = layout.file_box(region.left, region.top, region.right, region.bottom).rounded()
        registers.append({"x": x, "y": y, "w": w, "h": h, "leaf": region.leaf + 1})
    return {
        "kind": layout.kind,
        "columns": columns,
        "registers": registers,
        "frame": _frame(layout),
        "notes": [_box(layout, *note) for note in _notes(layout)],
        "figures": [_box(layout, *figure) for figure in large_pieces(layout)],
        "skew": round(layout.sheet.skew, 2),
    }


def _box(layout: PageLayout, left: float, top: float, right: float, bottom: float) -> dict[str, int]:
    x, y, w, h = layout.file_box(left, top, right, bottom).rounded()
    return {"x": x, "y": y, "w": w, "h": h}


def _frame(layout: PageLayout) -> dict[str, int] | None:
    """The rectangle that level lines bound above and below and the outermost rules at the sides; None where lines are
    missing."""
    if not layout.regions or not layout.regions[0].lined[0] or not layout.regions[-1].lined[1]:
        return None
    rules = [x for own in layout.rules for x in own]
    if len(rules) < 2:
        return None
    return _box(layout, min(rules), layout.regions[0].top, max(rules), layout.regions[-1].bottom)


def _notes(layout: PageLayout) -> list[Rectangle]:
    """The half-rows of notes, as the image alone shows them."""
    page = as_layout(layout)
    strips = [strip for area in page.columns for strip in cut_strips(page, area, None, 1, CutBy.SEEN)]
    return [(s.left, s.top, s.right, s.bottom) for s in strips if s.row is not Row.MAIN]


def drawn(layout: PageLayout, page: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The page (grey, as in its file) with its columns, numbered in reading order, and its registers drawn in."""
    picture = np.asarray(cv2.cvtColor(page, cv2.COLOR_GRAY2BGR), dtype=np.uint8)
    thick = max(1, round(page.shape[0] / 700))
    for region in layout.regions:
        _outline(picture, layout, (region.left, region.top, region.right, region.bottom), REGISTER, thick)
    for note in _notes(layout):
        _outline(picture, layout, note, NOTE, thick)
    for figure in large_pieces(layout):
        _outline(picture, layout, figure, FIGURE, 2 * thick)
    for number, column in enumerate(layout.columns, 1):
        place = _outline(picture, layout, with_room(layout, column), COLUMN, thick)
        cv2.putText(picture, str(number), place, cv2.FONT_HERSHEY_SIMPLEX, 0.5 * thick, COLUMN, thick)
    return picture


def with_room(layout: PageLayout, column: FoundColumn) -> Rectangle:
    """Left, top, right and bottom of a column with the room that its first and its last character have."""
    region, room = layout.regions[column.register - 1], ROOM * column.glyph
    top, bottom = min(column.top, region.top), max(column.bottom, region.bottom)
    return column.left, max(top, column.top - room), column.right, min(bottom, column.bottom + room)


def _outline(
    picture: NDArray[np.uint8],
    layout: PageLayout,
    rectangle: Rectangle,
    colour: tuple[int, int, int],
    thick: int,
) -> tuple[int, int]:
    """Draw a rectangle of the sheet as it lies in the file; gives its upper left corner."""
    left, top, right, bottom = rectangle
    corners = np.array([[left, top], [right, top], [right, bottom], [left, bottom]], dtype=np.float64)
    points = np.round(layout.sheet.rectification.to_file(corners)).astype(np.int32)
    cv2.polylines(picture, [points], True, colour, thick)
    return int(points[0, 0]), int(points[0, 1])
