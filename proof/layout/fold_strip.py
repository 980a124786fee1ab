"""Finds the fold strip (版心) of an unfolded leaf or the gutter of an opening where it is counted as a column."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from proof.images.opencv import cv2
from proof.layout.half_folio import ColumnArea, Layout

MIN_COLUMNS = 11
"""Minimum number of columns with the fold strip among them."""

MAX_OFF_MIDDLE = 2
"""Maximum distance of the fold strip from the middle column, in columns: a leaf may be cut off at a side."""

INNER_WIDTH = 0.84
"""Part of a column's width, about its middle, in which its ink is measured: beside it rules leave remnants."""

GUTTER_WIDTH = 0.5
"""Part of the width of the gutter, about its middle, that is free of ink."""

MIN_INK_PX = 30
"""Minimum ink of a column that is measured, in pixels."""

EDGE_INK_SHARE = 0.03
"""Share of a column's ink that is ignored at each side when its width is measured: specks, and a point beside."""

MAX_TITLE_WIDTH = 0.75
"""Maximum width of the small script of a fold strip, relative to the text of the other columns."""

MAX_ASIDE_WIDTHS = 0.15
"""Maximum distance of the middle of this script from the middle of the strip, in widths of the strip."""

FISH_TAIL_WIDTHS = 0.25
"""Minimum size of the solid ink of a fish tail (魚尾), in widths of the strip."""


def without_fold_strip(layout: Layout) -> Layout:
    """A ruled layout without its fold strip or gutter, if one is counted as a column.

    A column about the middle is a fold strip if it has a fish tail. The middle column is also one if its ink is in
    smaller script than the other columns and stands in its middle, and it is a gutter if only the frames of two leaves
    leave ink at its sides.
    """
    areas = layout.columns
    if len(areas) < MIN_COLUMNS:
        return layout
    middle = len(areas) // 2
    near_middle = areas[middle - MAX_OFF_MIDDLE : middle + MAX_OFF_MIDDLE + 1]
    strips = [area for area in near_middle if _has_fish_tail(layout, area)]
    if not strips and len(areas) % 2 and (_is_in_small_script(layout, middle) or _is_gutter(layout, areas[middle])):
        strips = [areas[middle]]
    return _without_column(layout, strips[0].number) if len(strips) == 1 else layout


def _is_in_small_script(layout: Layout, index: int) -> bool:
    """Whether the ink of a column is narrower than that of the others, and in the middle of the column."""
    extents = [_ink_extent(layout, area, INNER_WIDTH) for area in layout.columns]
    extent = extents.pop(index)
    others = [right - left for left, right in filter(None, extents)]
    if extent is None or not others:
        return False
    left, right = extent
    return right - left < MAX_TITLE_WIDTH * float(np.median(others)) and abs(left + right) < 2 * MAX_ASIDE_WIDTHS


def _is_gutter(layout: Layout, area: ColumnArea) -> bool:
    return _ink_extent(layout, area, GUTTER_WIDTH) is None and _ink_extent(layout, area, INNER_WIDTH) is not None


def _ink_extent(layout: Layout, area: ColumnArea, inner_width: float) -> tuple[float, float] | None:
    """The left and right end of a column's ink, as distances from its middle in its widths; None if it has no ink. Only
    that part of its width is measured."""
    half = inner_width * area.width / 2
    middle = (area.left + area.right) / 2
    first = max(0, round(middle - half))
    place = slice(max(0, round(area.top)), round(area.bottom)), slice(first, round(middle + half))
    ink = np.count_nonzero(layout.ink_of(area.number, place), axis=0)
    if ink.sum() < MIN_INK_PX:
        return None
    share = np.cumsum(ink) / ink.sum()
    left, right = np.searchsorted(share, [EDGE_INK_SHARE, 1.0 - EDGE_INK_SHARE])
    return float((first + left - middle) / area.width), float((first + right - middle) / area.width)


def _has_fish_tail(layout: Layout, area: ColumnArea) -> bool:
    place = slice(max(0, round(area.top)), round(area.bottom)), slice(max(0, round(area.left)), round(area.right))
    side = max(3, round(FISH_TAIL_WIDTHS * area.width))
    return bool(cv2.erode(layout.ink_of(area.number, place), np.ones((side, side), np.uint8)).any())


def _without_column(layout: Layout, number: int) -> Layout:
    """A layout without the column of that number; the numbers of those after it decrease by one."""
    is_later = np.abs(layout.owners) > number
    owners = np.where(is_later, layout.owners - np.sign(layout.owners), layout.owners)
    owners[layout.owners == number] = 0
    owners[layout.owners == -number] = number  # ink at the rule between the strip and the column after it
    owners[layout.owners == 1 - number] = number - 1
    other_columns = [area for area in layout.columns if area.number != number]
    columns = tuple(replace(area, number=new_number) for new_number, area in enumerate(other_columns, 1))
    beyond = tuple(other - (other > number) for other in layout.beyond if other != number)
    outline = replace(layout.outline, columns=columns)
    return replace(layout, outline=outline, owners=owners.astype(np.int16), beyond=beyond)
