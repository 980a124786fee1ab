"""A photographed page: evened in light, laid flat if necessary, and divided into columns."""

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
from proof.layout.fold_strip import without_fold_strip
from proof.layout.half_folio import PAGE_HEIGHT, Layout, find_layout, is_wide
from proof.layout.ink import has_ink
from proof.layout.overrides import LayoutOverrideShape
from proof.layout.page import PageLayout, find_columns
from proof.layout.rules import Mask, measured_ink
from proof.model.notices import Notice, NoticeCode

Grey = NDArray[np.uint8]

MEASURED_HEIGHT = 1000
"""The height, in pixels, at which flatness is measured and columns are counted."""

MAX_WIDTH_DIFFERENCE = 0.08
"""Maximum relative difference of widths that count as equal."""

MIN_FOUND_WIDTH = 0.6
"""Minimum width of the columns that the network finds, in widths of a ruled column: of narrower ones two would stand in
one, of which one may be empty."""

MAX_EMPTY_COLUMNS = 2
"""Maximum number of empty columns of a ruled page."""

MAX_MIDDLE_DISTANCE = 0.3
"""Maximum distance between the middles of a ruled column and of the column that the network finds in it, in widths of a
column."""

SIDE_ROOM = 0.3
"""Width left on either side of the counted columns, in widths of a column: too little for another column."""


def page_columns(
    page: Grey,
    columns: int,
    rows: int,
    origin: tuple[float, float] = (0, 0),
    hint: LayoutOverrideShape | None = None,
) -> Layout:
    """The columns of a page: by its rules if it is a ruled half-folio, otherwise by the network.

    White on black is inverted first; pale ink, uneven light, skew, perspective and curvature are corrected, and the
    outline's remarks name them. Arguments as in `find_layout`.
    """
    even, small, remarks = in_even_light(page)
    ink = measured_ink(small, MEASURED_HEIGHT)
    flat = laid_flat(*ink, columns)
    if flat is None:
        layout = _columns_of(even.pixels, small, ink, columns, rows, origin, hint)
    else:
        flattening, damage = flat[0].enlarged(max(1.0, page.shape[0] / PAGE_HEIGHT)), flat[1]
        flat_hint = hint and _laid_flat(hint, flattening, origin)
        pixels = flattening.flat(even.pixels, even.paper)
        small, _ = shrunk(pixels, PAGE_HEIGHT)
        layout = _columns_of(pixels, small, measured_ink(small, MEASURED_HEIGHT), columns, rows, (0, 0), flat_hint)
        back = Flattened.of_flat(layout.rectification, flattening, origin)
        layout = replace(layout, outline=replace(layout.outline, rectification=back, skew=damage.skew))
        remarks += damage.notices
    if layout.ruled and not hint and layout.columns[0].pitch is None:
        layout = without_fold_strip(layout)
        layout = with_cut_edges(layout, rows, (page.shape[0], page.shape[1]), origin)
    return replace(layout, outline=replace(layout.outline, remarks=remarks)) if remarks else layout


def in_even_light(page: Grey) -> tuple[EvenPage, Grey, tuple[Notice, ...]]:
    """A page (height x width) with pale ink strengthened, white on black inverted and shade divided out; the same at
    `PAGE_HEIGHT`; and the notices about these corrections."""
    small, _ = shrunk(page, PAGE_HEIGHT)
    strong = strengthened(page, small)
    plain = blocks_inverted(strong, small if strong is page else None)
    if plain is not page:
        small, _ = shrunk(plain, PAGE_HEIGHT)
    even = evenly_lit(plain, small)
    if even.shaded:
        small, _ = shrunk(even.pixels, PAGE_HEIGHT)
    pale = strong is not page and bool((strong < 255).any())
    damage = ((NoticeCode.PAGE_PALE, pale), (NoticeCode.PAGE_IN_SHADE, even.shaded))
    return even, small, tuple(Notice.of(code) for code, present in damage if present)


def _columns_of(
    page: Grey,
    small: Grey,
    ink: tuple[Mask, float],
    columns: int,
    rows: int,
    origin: tuple[float, float],
    hint: LayoutOverrideShape | None,
) -> Layout:
    """As `page_columns`, of a flat page in even light. `small` is the page at `PAGE_HEIGHT`; `ink` is the ink of
    `small` at `MEASURED_HEIGHT`, with the factor by which it was scaled."""
    layout: Layout | None = None
    if columns and not hint:
        measured, scale = ink
        comb = other_count(measured, columns)
        if comb is not None:
            comb = comb.enlarged(1 / scale).enlarged(page.shape[0] / small.shape[0])
            part = _counted(page, comb, rows, origin)
            missing = max(0, columns - comb.columns)
            layout = replace(part, outline=replace(part.outline, missing=missing)) if missing else part
            # wide columns may be those of an opening, and there may be more columns than those that were counted
            uncounted = is_wide(layout) or comb.partial or comb.columns == MAX_COLUMNS
            layout = replace(layout, doubtful=layout.doubtful or uncounted)
    if layout is None or not layout.ruled:
        layout = find_layout(page, columns, rows, origin, hint, small)
    if layout.ruled and not layout.doubtful:
        return layout
    page_layout = find_columns(page, origin)
    if page_layout.kind != "columns":
        return layout
    if layout.ruled and _same_columns(layout, page_layout):
        return _within_frame(page, layout, page_layout, rows, origin)
    counted = len(page_layout.columns)
    if layout.ruled and len(page_layout.regions) == 1:
        # the network does not find empty columns, which the rules show
        for count in range(max(counted, MIN_COLUMNS), min(counted + MAX_EMPTY_COLUMNS, MAX_COLUMNS) + 1):
            other = find_layout(page, count, rows, origin, None, small)
            if other.ruled and not other.doubtful and _same_columns(other, page_layout):
                return other
    return as_layout(page_layout)


def _same_columns(layout: Layout, page_layout: PageLayout) -> bool:
    """Whether the network's columns are those of a ruled layout: as wide, and each in the middle of a ruled column. The
    other ruled columns may be empty, but are neither the fold strip of an opening nor the gap between its leaves."""
    if is_wide(layout) and len({region.leaf for region in page_layout.regions}) > 1:
        return False
    areas = layout.columns
    width = float(np.median([area.width for area in areas]))
    widths = [column.right - column.left for column in page_layout.columns]
    if not widths or float(np.median(widths)) < MIN_FOUND_WIDTH * width:
        return False
    pairs = [(a, b) for a, b in pairwise(page_layout.columns) if a.register == b.register]
    if pairs:
        pitch = float(np.median([(a.left + a.right - b.left - b.right) / 2 for a, b in pairs]))
        if abs(pitch / width - 1.0) > MAX_WIDTH_DIFFERENCE:
            return False
    numbers = _ruled_columns(layout, page_layout)
    if None in numbers:
        return False
    if not is_wide(layout):
        return True
    others = [area for area in areas if area.number not in numbers]
    return not any(has_ink(layout.ink, area.left, area.top, area.right, area.bottom) for area in others)


def _ruled_columns(layout: Layout, page_layout: PageLayout) -> list[int | None]:
    """For each of the network's columns the number of the ruled column in whose middle it stands, or None."""
    areas = layout.columns
    boxes = [
        page_layout.file_box(column.left, column.top, column.right, column.bottom).centre
        for column in page_layout.columns
    ]
    across = layout.rectification.to_page(np.array(boxes))[:, 0]
    near = [min(areas, key=lambda area: abs(x - (area.left + area.right) / 2)) for x in across]
    return [
        area.number if abs(x - (area.left + area.right) / 2) < MAX_MIDDLE_DISTANCE * area.width else None
        for x, area in zip(across, near, strict=True)
    ]


def _within_frame(
    page: Grey, layout: Layout, page_layout: PageLayout, rows: int, origin: tuple[float, float]
) -> Layout:
    """The layout without the columns that may lie beyond the frame and in which the network finds none."""
    numbers = _ruled_columns(layout, page_layout)
    kept = [area for area in layout.columns if area.number not in layout.beyond or area.number in numbers]
    if len(kept) in (len(layout.columns), 0):
        return layout
    box = layout.file_box(kept[-1].left, kept[0].top, kept[0].right, kept[0].bottom)
    inner = _counted(page, CountedColumns(len(kept), box.x - origin[0], box.right - origin[0], 1.0), rows, origin)
    return inner if inner.ruled else layout


def _counted(page: Grey, comb: CountedColumns, rows: int, origin: tuple[float, float]) -> Layout:
    """The layout of the comb's columns on the part of the page that they cover."""
    room = SIDE_ROOM * (comb.right - comb.left) / comb.columns
    left, right = max(0, round(comb.left - room)), round(comb.right + room)
    part = np.ascontiguousarray(page[:, left:right])
    return find_layout(part, comb.columns, rows, (origin[0] + left, origin[1]))


def _laid_flat(hint: LayoutOverrideShape, flattening: Flattening, origin: tuple[float, float]) -> LayoutOverrideShape:
    """The layout that a person set, on the page laid flat."""
    corners = flattening.to_flat(np.array(hint.corners, dtype=np.float64) - np.array(origin))
    (a, b, c, d) = ((float(x), float(y)) for x, y in corners)
    more = tuple(_laid_flat(region, flattening, origin) for region in hint.more)
    return replace(hint, corners=(a, b, c, d), more=more)
