"""A page as it was photographed: brought into even light and laid flat where it needs that, then cut into columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from proof.images.light import EvenPage, evenly_lit, strengthened
from proof.images.negative import turned_over
from proof.images.size import shrunk
from proof.layout.columns import as_layout
from proof.layout.dewarp import laid_flat
from proof.layout.flattening import Flattened, Flattening
from proof.layout.half_folio import PAGE_HEIGHT, Layout, laid_out
from proof.layout.overrides import LayoutOverrideShape
from proof.layout.page import find_columns
from proof.layout.rules import measured_ink
from proof.model.notices import Notice, NoticeCode

Grey = NDArray[np.uint8]

MEASURED = 1000
"""Pixels: how far a page is from flat is measured on one of this height."""


def page_columns(
    page: Grey,
    columns: int = 8,
    rows: int = 21,
    origin: tuple[float, float] = (0, 0),
    hint: LayoutOverrideShape | None = None,
) -> Layout:
    """The columns of a page, ruled or not.

    What is white on black is turned over first; what is pale, in uneven light, askew, seen at an angle or curved is set
    right, and the outline remarks on it. `columns` is how many a ruled half-folio has (0 where that is not known),
    `rows` how many characters a full column holds, `origin` where `page` lies in its image file. `hint` is what a
    person said of the layout: then nothing is looked for.
    """
    even, small, remarks = in_even_light(page)
    ink = measured_ink(small, MEASURED)
    flat = laid_flat(*ink, columns)
    if flat is None:
        layout = _columns_of(even.pixels, small, columns, rows, origin, hint)
    else:
        flattening, damage = flat[0].enlarged(max(1.0, page.shape[0] / PAGE_HEIGHT)), flat[1]
        told = hint and _laid_flat(hint, flattening, origin)
        pixels = flattening.flat(even.pixels, even.paper)
        small, _ = shrunk(pixels, PAGE_HEIGHT)
        layout = _columns_of(pixels, small, columns, rows, (0, 0), told)
        back = Flattened.of_flat(layout.rectification, flattening, origin)
        layout = replace(layout, outline=replace(layout.outline, rectification=back, skew=damage.skew))
        remarks += damage.notices
    return replace(layout, outline=replace(layout.outline, remarks=remarks)) if remarks else layout


def in_even_light(page: Grey) -> tuple[EvenPage, Grey, tuple[Notice, ...]]:
    """A page (height x width) as its columns are looked for, whatever light it was seen in: with pale ink strengthened,
    what is white on black turned over, shade divided out; the same at `PAGE_HEIGHT`; and what is to be said of that."""
    small, _ = shrunk(page, PAGE_HEIGHT)
    strong = strengthened(page, small)
    plain = turned_over(strong, small if strong is page else None)
    if plain is not page:
        small, _ = shrunk(plain, PAGE_HEIGHT)
    even = evenly_lit(plain, small)
    if even.shaded:
        small, _ = shrunk(even.pixels, PAGE_HEIGHT)
    pale = strong is not page and bool((strong < 255).any())
    said = ((NoticeCode.PAGE_PALE, pale), (NoticeCode.PAGE_IN_SHADE, even.shaded))
    return even, small, tuple(Notice.of(code) for code, so in said if so)


def _columns_of(
    page: Grey, small: Grey, columns: int, rows: int, origin: tuple[float, float], hint: LayoutOverrideShape | None
) -> Layout:
    """As `page_columns`, of a page that lies flat in even light; `small` is the same at `PAGE_HEIGHT`."""
    if hint:
        return laid_out(page, hint, rows, origin, small)
    found = find_columns(page, origin, columns)
    layout = as_layout(found)
    if found.kind == "columns":
        return layout
    registers = len(found.regions)
    table = found.kind == "table"
    why = Notice.of(NoticeCode.LEVEL_LINES, number=registers - 1) if table else Notice.of(NoticeCode.NOT_RULED)
    return replace(layout, ink=found.sheet.ink, outline=replace(layout.outline, ruled=False, why=why))


def _laid_flat(hint: LayoutOverrideShape, flattening: Flattening, origin: tuple[float, float]) -> LayoutOverrideShape:
    """What a person said of the layout, on the page laid flat."""
    corners = flattening.to_flat(np.array(hint.corners, dtype=np.float64) - np.array(origin))
    (a, b, c, d) = ((float(x), float(y)) for x, y in corners)
    more = tuple(_laid_flat(region, flattening, origin) for region in hint.more)
    return replace(hint, corners=(a, b, c, d), more=more)
