"""Figures among columns: drawings, diagrams, what is no text.

Told by pieces of ink larger than any glyph: nearly two cells high and as wide as a glyph, or broader in both
directions than any stroke. Characters that were joined in writing are as high but stand where the transcription has
text; a column is a figure's only where the transcription has none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from proof.images.opencv import cv2
from proof.layout.half_folio import ColumnArea, Layout
from proof.layout.page import PageLayout
from proof.layout.rules import connected, glyph_width

MAX_GLYPH_CELLS = 1.9
"""Cells: no glyph is higher."""

MIN_FIGURE_WIDTHS = 0.3
"""Of a column's width: a piece of ink that is higher than a glyph and as wide as this is of a figure."""

SOLID = 0.36
"""Cells: ink as broad as this in both directions is no stroke."""


LARGE = 2.2
"""Widths of a glyph: a piece of ink that is larger in both directions is a drawing or a seal."""

BRIDGE = 9
"""Pixels: the width of a gap in a figure where a rule was taken away."""

PART = 0.1
"""Of a column's width: how far a figure reaches into a column that it stands in."""


def figure_columns(layout: Layout, areas: Sequence[ColumnArea], rows: int) -> set[int]:
    """The numbers of those of `areas` in which something stands that is no text. Give the columns for which the
    transcription has nothing: a figure may reach over several of them."""
    if not areas:
        return set()
    ink = np.zeros_like(layout.ink)
    for area in areas:
        place = slice(max(0, round(area.top)), round(area.bottom)), slice(max(0, round(area.left)), round(area.right))
        ink[place] = layout.ink_of(area.number, place)
    pitch, width = areas[0].cell(rows), float(np.median([area.width for area in areas]))
    joined = np.asarray(cv2.morphologyEx(ink, cv2.MORPH_CLOSE, np.ones((1, BRIDGE), np.uint8)), dtype=np.uint8)
    labels, stats, _ = connected(joined)
    large = (stats[:, cv2.CC_STAT_HEIGHT] > MAX_GLYPH_CELLS * pitch) & (
        stats[:, cv2.CC_STAT_WIDTH] > MIN_FIGURE_WIDTHS * width
    )
    side = max(3, round(SOLID * pitch))
    solid = cv2.erode(ink, np.ones((side, side), np.uint8), borderValue=(0,))
    large[np.unique(labels[solid > 0])] = True
    large[0] = False
    found = set()
    for x, _, wide, *_ in stats[large].tolist():
        for area in areas:
            if min(x + wide, area.right) - max(x, area.left) > PART * area.width:
                found.add(area.number)
    return found


def large_pieces(page_layout: PageLayout) -> list[tuple[float, float, float, float]]:
    """Where on a page something stands that is larger than glyphs in both directions (left, top, right, bottom on the
    sheet): drawings and seals, whatever the transcription has there."""
    sizes = [column.glyph for column in page_layout.columns] or [glyph_width(page_layout.text)]
    least = LARGE * float(np.median(sizes))
    _, stats, _ = connected(page_layout.text)
    return [
        (float(x), float(y), float(x + w), float(y + h))
        for x, y, w, h, _ in stats[1:].tolist()
        if min(w, h) > least > 0
        and any(r.left <= x and x + w <= r.right and r.top <= y + h / 2 <= r.bottom for r in page_layout.regions)
    ]
