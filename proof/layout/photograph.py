"""Finds the columns of a photographed page, after evening its light and, if necessary, laying it flat."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from proof.images.light import EvenPage, evenly_lit, strengthened
from proof.images.negative import blocks_inverted
from proof.images.size import shrunk
from proof.layout.columns import as_layout
from proof.layout.dewarp import laid_flat
from proof.layout.extent import MAX_COLUMNS, MIN_COLUMNS, CountedColumns, other_count, with_cut_edges
from proof.layout.flattening import Flattened, Flattening
from proof.layout.half_folio import Layout, find_layout, is_wide
from proof.layout.ink import has_ink
from proof.layout.overrides import LayoutOverrideShape
from proof.layout.page import PageLayout, find_columns
from proof.layout.rules import PAGE_HEIGHT, Mask, measured_ink
from proof.model.notices import Notice, NoticeCode

Grey = NDArray[np.uint8]

MEASURED_HEIGHT = 1000
"""The height, in pixels, at which flatness is measured and columns are counted."""

MAX_WIDTH_DIFFERENCE = 0.08
"""Maximum relative difference of widths that count as equal."""

MIN_FOUND_WIDTH = 0.6
"""Minimum width of the columns that the network finds, in widths of a ruled column: two narrower columns, one of them
empty, may stand in one ruled column."""

MAX_EMPTY_COLUMNS = 2
"""Maximum number of empty columns of a ruled page."""

MAX_MIDDLE_DISTANCE = 0.3
"""Maximum distance between the middles of a ruled column and of the column that the network finds in it, in widths of a
column."""

SIDE_ROOM = 0.3
"""Room on either side of the counted columns, in widths of a column: too little for another column."""


def page_columns(
    page: Grey,
    columns: int,
    rows: int,
    origin: tuple[float, float] = (0, 0),
    override: LayoutOverrideShape | None = None,
) -> Layout:
    """The columns of a page: by its rules if it is a ruled half-folio, otherwise by the network.

    White on black is inverted first; pale ink, uneven light, skew, perspective and curvature are corrected, and the
    outline's remarks name them. Arguments as in `find_layout`.
    """
    even, small, remarks = in_even_light(page)
    ink = measured_ink(small, MEASURED_HEIGHT)
    flat = laid_flat(*ink, columns)
    if flat is None:
        layout = _columns_of(even.pixels, small, ink, columns, rows, origin, override)
    else:
        flattening, damage = flat
        flattening = flattening.enlarged(max(1.0, page.shape[0] / PAGE_HEIGHT))
        flat_override = override and _override_laid_flat(override, flattening, origin)
        pixels = flattening.flat(even.pixels, even.paper)
        small, _ = shrunk(pixels, PAGE_HEIGHT)
        ink = measured_ink(small, MEASURED_HEIGHT)
        layout = _columns_of(pixels, small, ink, columns, rows, (0, 0), flat_override)
        rectification = Flattened.of_flat(layout.rectification, flattening, origin)
        outline = replace(layout.outline, rectification=rectification, skew=damage.skew)
        layout = replace(layout, outline=outline)
        remarks += damage.notices
    if layout.ruled and not override and layout.columns[0].measured_pitch is None:
        layout = with_cut_edges(layout, rows, (page.shape[0], page.shape[1]), origin)
    return replace(layout, outline=replace(layout.outline, remarks=remarks)) if remarks else layout


def in_even_light(page: Grey) -> tuple[EvenPage, Grey, tuple[Notice, ...]]:
    """A page (height x width) with pale ink strengthened, white on black inverted and shade divided out; the same at
    `PAGE_HEIGHT`; and the notices about these corrections."""
    small, _ = shrunk(page, PAGE_HEIGHT)
    strong = strengthened(page, small)
    positive = blocks_inverted(strong, small if strong is page else None)
    if positive is not page:
        small, _ = shrunk(positive, PAGE_HEIGHT)
    even = evenly_lit(positive, small)
    if even.shaded:
        small, _ = shrunk(even.pixels, PAGE_HEIGHT)
    notices = []
    if strong is not page and bool((strong < 255).any()):
        notices.append(Notice.of(NoticeCode.PAGE_PALE))
    if even.shaded:
        notices.append(Notice.of(NoticeCode.PAGE_IN_SHADE))
    return even, small, tuple(notices)


def _columns_of(
    page: Grey,
    small: Grey,
    ink: tuple[Mask, float],
    columns: int,
    rows: int,
    origin: tuple[float, float],
    override: LayoutOverrideShape | None,
) -> Layout:
    """As `page_columns`, of a flat page in even light. `small` is the page at `PAGE_HEIGHT`; `ink` is the ink of
    `small` at `MEASURED_HEIGHT`, with the factor by which it was scaled."""
    layout: Layout | None = None
    if columns and not override:
        measured, scale = ink
        counted = other_count(measured, columns)
        if counted is not None:
            counted = counted.enlarged(1 / scale).enlarged(page.shape[0] / small.shape[0])
            layout = _layout_of_counted(page, counted, columns, rows, origin)
    if layout is None or not layout.ruled:
        layout = find_layout(page, columns, rows, origin, override, small)
    is_sure = layout.ruled and not layout.doubtful
    if is_sure and not is_wide(layout):
        return layout
    page_layout = find_columns(page, origin)
    is_opening = len({region.leaf for region in page_layout.regions}) > 1
    if not page_layout.has_columns or (is_sure and not is_opening):
        return layout
    if layout.ruled and _same_columns(layout, page_layout):
        return _within_frame(page, layout, page_layout, rows, origin)
    if layout.ruled and len(page_layout.regions) == 1:
        # the network does not find empty columns, which the rules show
        found = len(page_layout.columns)
        for count in range(max(found, MIN_COLUMNS), min(found + MAX_EMPTY_COLUMNS, MAX_COLUMNS) + 1):
            other = find_layout(page, count, rows, origin, None, small)
            if other.ruled and not other.doubtful and _same_columns(other, page_layout):
                return other
    return as_layout(page_layout)


def _layout_of_counted(
    page: Grey, counted: CountedColumns, columns: int, rows: int, origin: tuple[float, float]
) -> Layout:
    """The layout of the columns that were counted where `columns` were expected."""
    layout = _layout_within(page, counted, rows, origin)
    missing = max(0, columns - counted.columns)
    # wide columns may be those of an opening, and there may be more columns than were counted
    doubtful = layout.doubtful or is_wide(layout) or counted.partial or counted.columns == MAX_COLUMNS
    return replace(layout, outline=replace(layout.outline, missing=missing), doubtful=doubtful)


def _same_columns(layout: Layout, page_layout: PageLayout) -> bool:
    """Whether the network's columns are those of a ruled layout: as wide, and each in the middle of a ruled column. The
    other ruled columns may be empty, but are neither the fold strip of an opening nor the gap between its leaves."""
    wide = is_wide(layout)
    if wide and len({region.leaf for region in page_layout.regions}) > 1:
        return False
    ruled_width = float(np.median([area.width for area in layout.columns]))
    widths = [column.width for column in page_layout.columns]
    if not widths or float(np.median(widths)) < MIN_FOUND_WIDTH * ruled_width:
        return False
    spacings = [
        (first.left + first.right - second.left - second.right) / 2
        for first, second in pairwise(page_layout.columns)
        if first.register == second.register
    ]
    if spacings and abs(float(np.median(spacings)) / ruled_width - 1.0) > MAX_WIDTH_DIFFERENCE:
        return False
    numbers = _ruled_columns(layout, page_layout)
    if None in numbers:
        return False
    if not wide:
        return True
    others = [area for area in layout.columns if area.number not in numbers]
    return not any(has_ink(layout.ink, area.left, area.top, area.right, area.bottom) for area in others)


def _ruled_columns(layout: Layout, page_layout: PageLayout) -> list[int | None]:
    """For each of the network's columns the number of the ruled column in whose middle it stands, or None."""
    centres = [
        page_layout.rectification.file_box(column.left, column.top, column.right, column.bottom).centre
        for column in page_layout.columns
    ]
    numbers: list[int | None] = []
    for x in layout.rectification.to_page(np.array(centres))[:, 0]:
        distances = [abs(x - (area.left + area.right) / 2) for area in layout.columns]
        distance, area = min(zip(distances, layout.columns, strict=True), key=lambda pair: pair[0])
        numbers.append(area.number if distance < MAX_MIDDLE_DISTANCE * area.width else None)
    return numbers


def _within_frame(
    page: Grey, layout: Layout, page_layout: PageLayout, rows: int, origin: tuple[float, float]
) -> Layout:
    """The layout without the columns that may lie beyond the frame and in which the network finds none."""
    numbers = _ruled_columns(layout, page_layout)
    kept = [area for area in layout.columns if area.number not in layout.beyond or area.number in numbers]
    if len(kept) in (len(layout.columns), 0):
        return layout
    left, right = kept[-1].left, kept[0].right
    # a heading may stand over two columns
    count = round((right - left) / float(np.median([area.width for area in kept])))
    box = layout.outline.file_box(left, kept[0].top, right, kept[0].bottom)
    columns = CountedColumns(count, box.x - origin[0], box.right - origin[0], 1.0)
    inner = _layout_within(page, columns, rows, origin)
    return inner if inner.ruled else layout


def _layout_within(page: Grey, columns: CountedColumns, rows: int, origin: tuple[float, float]) -> Layout:
    """The layout of these columns on the part of the page that they cover."""
    room = SIDE_ROOM * (columns.right - columns.left) / columns.columns
    left, right = max(0, round(columns.left - room)), round(columns.right + room)
    part = np.ascontiguousarray(page[:, left:right])
    return find_layout(part, columns.columns, rows, (origin[0] + left, origin[1]))


def _override_laid_flat(
    override: LayoutOverrideShape, flattening: Flattening, origin: tuple[float, float]
) -> LayoutOverrideShape:
    """The layout that a person set, on the page laid flat."""
    corners = flattening.to_flat(np.array(override.corners, dtype=np.float64) - np.array(origin))
    a, b, c, d = ((float(x), float(y)) for x, y in corners)
    more = tuple(_override_laid_flat(region, flattening, origin) for region in override.more)
    return replace(override, corners=(a, b, c, d), more=more)
