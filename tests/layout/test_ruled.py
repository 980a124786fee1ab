"""Pages with a frame and a rule or two are not taken for ruled half-folios of eight columns."""

from __future__ import annotations

import pytest

from proof.layout.half_folio import find_layout
from proof.layout.photograph import page_columns
from tests.layout.drawn import Layout, draw, right

PAGES = {
    "some rules": Layout(columns=12, rules=0.3, pitch=70, seed=3),
    "an opening with some": Layout(columns=9, leaves=2, rules=0.3, pitch=70, seed=2),
    "ten rules": Layout(columns=10, rules=1.0, pitch=70),
}


@pytest.mark.parametrize("layout", PAGES.values(), ids=PAGES.keys())
def test_all_columns_are_found_where_eight_are_expected(layout: Layout) -> None:
    page = draw(layout)
    found = page_columns(page.pixels, 8, 21)
    boxes = [found.file_box(one.left, one.top, one.right, one.bottom) for one in found.columns]
    assert found.ruled
    assert [number for number, true in enumerate(page.columns) if not right(boxes, true)] == []


def test_eight_ruled_columns_are_not_doubted() -> None:
    assert not find_layout(draw(Layout(columns=8, rules=1.0, pitch=100, glyph=70)).pixels).doubtful


def test_eight_columns_of_which_half_the_rules_are_lost_are_not_doubted() -> None:
    assert not find_layout(draw(Layout(columns=8, rules=0.6, pitch=100, glyph=70, seed=4)).pixels).doubtful


def test_the_two_sides_of_a_frame_rule_no_page() -> None:
    assert not find_layout(draw(Layout(columns=16, pitch=46, glyph=36)).pixels).ruled
