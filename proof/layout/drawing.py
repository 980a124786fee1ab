"""Gives the layout of a page as JSON, and draws it on the page."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.half_folio import Layout, Outline
from proof.layout.runs import CutBy
from proof.layout.strips import cut_strips
from proof.text.model import Row

COLUMN_COLOUR = (40, 40, 220)
"""Blue, green and red of the lines around columns."""

NOTE_COLOUR = (60, 160, 60)
"""The same for half-rows of notes."""

LINE_HEIGHT_PX = 700
"""Height of a page for each pixel of a line's thickness, in pixels."""

Rectangle = tuple[float, float, float, float]
"""Left, top, right and bottom, in pixels of the rectified page."""


def as_json(layout: Layout, rows: int) -> dict[str, Any]:
    """The layout in pixels of the file; columns right to left, registers from top to bottom. A full column has `rows`
    cells."""
    return {
        "columns": [_json_box(layout, column) for column in columns_of(layout.outline)],
        "notes": [_json_box(layout, note) for note in _notes(layout, rows)],
        "skew": round(layout.outline.skew, 2),
    }


def columns_of(outline: Outline) -> list[Rectangle]:
    """The rectangles of the columns, with what is raised above them; none where a page has no columns."""
    areas = outline.columns if outline.ruled else ()
    return [(area.left, area.top - area.raised, area.right, area.bottom) for area in areas]


def _json_box(layout: Layout, rectangle: Rectangle) -> dict[str, int]:
    x, y, w, h = layout.outline.file_box(*rectangle).rounded()
    return {"x": x, "y": y, "w": w, "h": h}


def _notes(layout: Layout, rows: int) -> list[Rectangle]:
    """The half-rows of notes, found by the image alone."""
    areas = layout.columns if layout.ruled else ()
    strips = [strip for area in areas for strip in cut_strips(layout, area, None, rows, CutBy.SEEN)]
    return [(strip.left, strip.top, strip.right, strip.bottom) for strip in strips if strip.row is not Row.MAIN]


def drawn(layout: Layout, page: NDArray[np.uint8], rows: int) -> NDArray[np.uint8]:
    """The page (grey, as in its file) with its columns, numbered in reading order, and its notes drawn on it."""
    picture = np.asarray(cv2.cvtColor(page, cv2.COLOR_GRAY2BGR), dtype=np.uint8)
    thickness = max(1, round(page.shape[0] / LINE_HEIGHT_PX))
    for note in _notes(layout, rows):
        _draw_rectangle(picture, layout, note, NOTE_COLOUR, thickness)
    for number, column in enumerate(columns_of(layout.outline), 1):
        corner = _draw_rectangle(picture, layout, column, COLUMN_COLOUR, thickness)
        size = 0.5 * thickness
        cv2.putText(picture, str(number), corner, cv2.FONT_HERSHEY_SIMPLEX, size, COLUMN_COLOUR, thickness)
    return picture


def _draw_rectangle(
    picture: NDArray[np.uint8],
    layout: Layout,
    rectangle: Rectangle,
    colour: tuple[int, int, int],
    thickness: int,
) -> tuple[int, int]:
    """Draw a rectangle of the rectified page at its place in the file; gives its upper left corner there."""
    left, top, right, bottom = rectangle
    corners = np.array([[left, top], [right, top], [right, bottom], [left, bottom]], dtype=np.float64)
    points = np.round(layout.rectification.to_file(corners)).astype(np.int32)
    cv2.polylines(picture, [points], True, colour, thickness)
    return int(points[0, 0]), int(points[0, 1])
