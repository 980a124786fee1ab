"""Photographs of half-folios: askew, at an angle, curved, in the shade, or of a part of the page alone."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle

import msgpack
import numpy as np
import pytest

from proof.facsimile.leaf import StripText, Style
from proof.facsimile.render import HalfFolio, RenderedPage, render_page
from proof.facsimile.wear import LEVELS
from proof.layout.half_folio import Layout, Outline
from proof.layout.photograph import page_columns
from proof.model.geometry import Box
from proof.model.notices import NoticeCode
from scripts.bench.book_pages import draw_book_kind
from tests.half_folios import MakePage
from tests.layout.damaged import Photograph, at_an_angle, bent, turned
from tests.layout.drawn import TEXT
from tests.layout.half_folio import LINES

STRIP = StripText(title="儀禮集釋", juan="卷十", leaf=1)

DAMAGE: dict[str, tuple[Callable[[np.ndarray], Photograph], NoticeCode]] = {
    "turned by 6°": (lambda page: turned(page, 6.0), NoticeCode.PAGE_ASKEW),
    "at an angle": (at_an_angle, NoticeCode.PAGE_AT_AN_ANGLE),
    "curved": (bent, NoticeCode.PAGE_CURVED),
}


@pytest.fixture(scope="module")
def drawn(make_page: MakePage) -> RenderedPage:
    return render_page(make_page(*LINES), Style(), LEVELS["light"], seed=3, strip=STRIP)


def corners_of(half: HalfFolio, number: int) -> np.ndarray:
    return np.array(half.columns[number], dtype=np.float64)


def found_corners(layout: Layout, number: int) -> np.ndarray:
    area = layout.columns[number]
    left, right, top, bottom = area.left, area.right, area.top, area.bottom
    corners = np.array([(left, top), (right, top), (right, bottom), (left, bottom)])
    return layout.rectification.to_file(corners)


@pytest.mark.parametrize("damage", DAMAGE)
def test_the_columns_of_a_page_that_does_not_lie_flat_are_found_where_they_are(
    drawn: RenderedPage, damage: str
) -> None:
    make, code = DAMAGE[damage]
    photograph = make(drawn.image)
    layout = page_columns(photograph.image, 8, 21)
    assert layout.ruled
    assert code in [remark.code for remark in layout.outline.remarks]
    (half,) = drawn.halves
    width = layout.columns[0].width * drawn.image.shape[0] / layout.grey.shape[0]
    for number in range(8):
        true = photograph.gone(corners_of(half, number))
        off = np.abs(found_corners(layout, number) - true).max()
        assert off < 0.25 * width, (number, off, width)


def test_the_outline_of_a_flattened_page_is_kept_to_the_last_bit(drawn: RenderedPage) -> None:
    outline = page_columns(bent(drawn.image).image, 8, 21).outline
    again = Outline.of_list(msgpack.unpackb(msgpack.packb(outline.as_list()), use_list=False))
    area = outline.columns[2]
    box = (area.left, area.top, area.right, area.bottom)
    assert again.file_box(*box) == outline.file_box(*box)
    assert (again.remarks, again.cut, again.missing) == (outline.remarks, outline.cut, outline.missing)


def test_a_page_in_the_shade_is_laid_out_like_one_in_the_light(drawn: RenderedPage) -> None:
    height, width = drawn.image.shape
    light = np.linspace(1.0, 0.35, width)[None, :] * np.ones((height, 1))
    shaded = (drawn.image * light).astype(np.uint8)
    usual, found = page_columns(drawn.image, 8, 21), page_columns(shaded, 8, 21)
    assert [remark.code for remark in found.outline.remarks] == [NoticeCode.PAGE_IN_SHADE]
    for column, other in zip(usual.columns, found.columns, strict=True):
        assert abs(column.left - other.left) < 3
        assert abs(column.top - other.top) < 6
    differs = np.count_nonzero(usual.ink != found.ink)
    assert differs < 0.1 * np.count_nonzero(usual.ink)


@pytest.mark.parametrize("edge", ["top", "bottom"])
def test_columns_that_are_cut_off_reach_beyond_the_image_as_far_as_they_would(drawn: RenderedPage, edge: str) -> None:
    (half,) = drawn.halves
    frame = np.array(half.frame)
    cell = (frame[3, 1] - frame[0, 1]) / 21
    first, last = round(frame[0, 1] + 4.4 * cell), round(frame[3, 1] - 4.4 * cell)
    part = np.ascontiguousarray(drawn.image[first:] if edge == "top" else drawn.image[:last])
    layout = page_columns(part, 8, 21)
    above, below = layout.outline.cut
    assert (above is not None, below is not None) == (edge == "top", edge == "bottom")
    area = layout.columns[0]
    missing = (above - area.top) if above is not None else (area.bottom - (below or 0))
    assert missing / area.cell(21) == pytest.approx(4.4, abs=0.8)


@pytest.mark.parametrize(
    ("kind", "seed"),
    [
        ("few and short", 9708),
        ("few and short", 9710),
        ("headnotes", 10010),
        ("label and stamps", 10010),
        ("large title", 10030),
        ("large title", 10241),
        ("half a strip", 10050),
        ("columns in double rows", 10263),
    ],
    ids=[
        "an opening",
        "every other column empty",
        "headnotes",
        "a label above",
        "titles over two columns",
        "a title over two columns and a column beyond the frame",
        "ten narrow columns",
        "an opening, of whose rules two thirds are broken",
    ],
)
def test_another_number_of_columns_than_the_settings_say_is_found_where_they_are(kind: str, seed: int) -> None:
    book = draw_book_kind(kind, cycle(TEXT), [seed])
    layout = page_columns(book.image, 8, 21)
    found = [layout.outline.file_box(area.left, area.top, area.right, area.bottom) for area in layout.columns]
    true = [Box(x, y, w, h) for kind, x, y, w, h in book.boxes if kind == "text"]
    for box in true:
        [own] = [other for other in found if other.contains(*box.centre)]
        assert own.w < 1.8 * box.w


def test_a_column_of_notes_beside_the_ragged_side_of_a_frame_is_as_wide_as_its_glyphs() -> None:
    book = draw_book_kind("label and stamps", cycle(TEXT), [9957])
    layout = page_columns(book.image, 8, 21)
    found = [layout.outline.file_box(area.left, area.top, area.right, area.bottom) for area in layout.columns]
    for box in (Box(x, y, w, h) for kind, x, y, w, h in book.boxes if kind == "text"):
        [own] = [other for other in found if other.contains(*box.centre)]
        assert own.w < 1.25 * box.w
