"""Gives the layout of a page as JSON, and draws it on the page."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.columns import as_layout
from proof.layout.figures import large_pieces
from proof.layout.page import FoundColumn, PageLayout
from proof.layout.regions import Region
from proof.layout.runs import CutBy
from proof.layout.strips import cut_strips
from proof.text.model import Row

CELL_MARGIN_GLYPHS = 0.3
"""Margin of a cell above and below its character, in widths of the glyphs."""

COLUMN_COLOUR = (40, 40, 220)
"""Blue, green and red of the lines around columns."""

REGISTER_COLOUR = (200, 120, 0)
"""The same for registers."""

NOTE_COLOUR = (60, 160, 60)
"""The same for half-rows of notes."""

FIGURE_COLOUR = (180, 40, 180)
"""The same for figures."""

LINE_HEIGHT_PX = 700
"""Height of a page for each pixel of a line's thickness, in pixels."""

Rectangle = tuple[float, float, float, float]
"""Left, top, right and bottom, in pixels of the straightened sheet."""


def as_json(layout: PageLayout) -> dict[str, Any]:
    """The layout in pixels of the file; columns right to left, registers from top to bottom."""
    columns = [
        _json_box(layout, with_room(layout, column)) | {"register": column.register} for column in layout.columns
    ]
    registers = [_json_box(layout, _rectangle(region)) | {"leaf": region.leaf + 1} for region in layout.regions]
    return {
        "kind": layout.kind,
        "columns": columns,
        "registers": registers,
        "frame": _json_frame(layout),
        "notes": [_json_box(layout, note) for note in _notes(layout)],
        "figures": [_json_box(layout, figure) for figure in large_pieces(layout)],
        "skew": round(layout.sheet.skew, 2),
    }


def _rectangle(region: Region) -> Rectangle:
    return region.left, region.top, region.right, region.bottom


def _json_box(layout: PageLayout, rectangle: Rectangle) -> dict[str, int]:
    x, y, w, h = layout.file_box(*rectangle).rounded()
    return {"x": x, "y": y, "w": w, "h": h}


def _json_frame(layout: PageLayout) -> dict[str, int] | None:
    """The rectangle between the level lines above the first register and below the last one and the outermost rules;
    None if lines are missing."""
    if not layout.regions or not layout.regions[0].lined_above or not layout.regions[-1].lined_below:
        return None
    rules = list(chain.from_iterable(layout.rules))
    if len(rules) < 2:
        return None
    return _json_box(layout, (min(rules), layout.regions[0].top, max(rules), layout.regions[-1].bottom))


def _notes(layout: PageLayout) -> list[Rectangle]:
    """The half-rows of notes, found by the image alone."""
    page = as_layout(layout)
    strips = [strip for area in page.columns for strip in cut_strips(page, area, None, 1, CutBy.SEEN)]
    return [(strip.left, strip.top, strip.right, strip.bottom) for strip in strips if strip.row is not Row.MAIN]


def drawn(layout: PageLayout, page: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The page (grey, as in its file) with its columns, numbered in reading order, registers, notes and figures drawn
    on it."""
    picture = np.asarray(cv2.cvtColor(page, cv2.COLOR_GRAY2BGR), dtype=np.uint8)
    thickness = max(1, round(page.shape[0] / LINE_HEIGHT_PX))
    for region in layout.regions:
        _draw_rectangle(picture, layout, _rectangle(region), REGISTER_COLOUR, thickness)
    for note in _notes(layout):
        _draw_rectangle(picture, layout, note, NOTE_COLOUR, thickness)
    for figure in large_pieces(layout):
        _draw_rectangle(picture, layout, figure, FIGURE_COLOUR, 2 * thickness)
    for number, column in enumerate(layout.columns, 1):
        corner = _draw_rectangle(picture, layout, with_room(layout, column), COLUMN_COLOUR, thickness)
        size = 0.5 * thickness
        cv2.putText(picture, str(number), corner, cv2.FONT_HERSHEY_SIMPLEX, size, COLUMN_COLOUR, thickness)
    return picture


def with_room(layout: PageLayout, column: FoundColumn) -> Rectangle:
    """The rectangle of a column with the whole cells of its first and its last character, within its register."""
    region, room = layout.regions[column.register - 1], CELL_MARGIN_GLYPHS * column.glyph
    top, bottom = min(column.top, region.top), max(column.bottom, region.bottom)
    return column.left, max(top, column.top - room), column.right, min(bottom, column.bottom + room)


def _draw_rectangle(
    picture: NDArray[np.uint8],
    layout: PageLayout,
    rectangle: Rectangle,
    colour: tuple[int, int, int],
    thickness: int,
) -> tuple[int, int]:
    """Draw a rectangle of the sheet at its place in the file; gives its upper left corner there."""
    left, top, right, bottom = rectangle
    corners = np.array([[left, top], [right, top], [right, bottom], [left, bottom]], dtype=np.float64)
    points = np.round(layout.sheet.rectification.to_file(corners)).astype(np.int32)
    cv2.polylines(picture, [points], True, colour, thickness)
    return int(points[0, 0]), int(points[0, 1])
