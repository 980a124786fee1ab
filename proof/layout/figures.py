"""Figures among columns: drawings, diagrams, seals.

A figure is a piece of ink that is higher than any glyph and not much narrower, or solid ink that is broader in both
directions than any stroke. Characters that were joined in writing can be as high, but the transcription has text there:
figures are only searched in columns for which it has none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from proof.images.opencv import cv2
from proof.layout.half_folio import ColumnArea, Layout
from proof.layout.rules import connected

MAX_GLYPH_CELLS = 1.9
"""Maximum height of a glyph, in cells."""

MIN_FIGURE_WIDTHS = 0.3
"""Minimum width of a figure that is higher than a glyph, as a share of a column's width."""

MIN_SOLID_CELLS = 0.36
"""Minimum side of a square of solid ink that is no stroke, in cells."""

ERASED_RULE_PX = 9
"""Maximum width of the gap that an erased rule leaves in a figure, in pixels."""

MIN_REACH_WIDTHS = 0.1
"""Minimum distance by which a figure must reach into a column to stand in it, as a share of the column's width."""


def figure_columns(layout: Layout, areas: Sequence[ColumnArea], rows: int) -> set[int]:
    """The numbers of those of `areas` in which a figure stands. `areas` must be the columns for which the transcription
    has no text, since a figure may reach over several of them; `rows` is the number of cells in a column."""
    if not areas:
        return set()
    ink = np.zeros_like(layout.ink)
    for area in areas:
        place = slice(max(0, round(area.top)), round(area.bottom)), slice(max(0, round(area.left)), round(area.right))
        ink[place] = layout.ink_of(area.number, place)
    pitch, width = areas[0].cell(rows), float(np.median([area.width for area in areas]))
    joined = np.asarray(cv2.morphologyEx(ink, cv2.MORPH_CLOSE, np.ones((1, ERASED_RULE_PX), np.uint8)), dtype=np.uint8)
    labels, stats, _ = connected(joined)
    is_high = stats[:, cv2.CC_STAT_HEIGHT] > MAX_GLYPH_CELLS * pitch
    is_figure = is_high & (stats[:, cv2.CC_STAT_WIDTH] > MIN_FIGURE_WIDTHS * width)
    side = max(3, round(MIN_SOLID_CELLS * pitch))
    solid = cv2.erode(ink, np.ones((side, side), np.uint8), borderValue=(0,))
    is_figure[np.unique(labels[solid > 0])] = True
    is_figure[0] = False
    return {
        area.number
        for x, _, figure_width, *_ in stats[is_figure].tolist()
        for area in areas
        if min(x + figure_width, area.right) - max(x, area.left) > MIN_REACH_WIDTHS * area.width
    }
