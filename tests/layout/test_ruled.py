"""Pages with a frame and a rule or two are not taken for ruled half-folios of eight columns."""

from __future__ import annotations

import numpy as np
import pytest

from proof.layout.half_folio import find_layout
from proof.layout.photograph import page_columns
from proof.layout.ruled import contradicts_columns, without_headings
from proof.layout.rules import Frame, PageInk, ink_mask, inked_along, long_strokes
from tests.layout.drawn import Layout, assert_found, draw

PAGES = {
    "some rules": Layout(columns=12, rules=0.3, pitch=70, seed=3),
    "an opening, all ruled": Layout(columns=9, leaves=2, rules=1.0, pitch=70),
    "an opening of as many columns as are looked for": Layout(columns=7, leaves=2, rules=1.0, pitch=70, gutter=1.0),
    "twice as many as are looked for": Layout(columns=16, cells=22, rules=1.0, pitch=50, glyph=38),
    "seven columns": Layout(columns=7, rules=1.0, pitch=90, glyph=60),
}


@pytest.mark.parametrize("layout", PAGES.values(), ids=PAGES.keys())
def test_all_columns_are_found_where_eight_are_expected(layout: Layout) -> None:
    page = draw(layout)
    found = page_columns(page.pixels, 8, 21)
    assert found.ruled
    assert_found(found, page.columns)


def test_the_two_sides_of_a_frame_rule_no_page() -> None:
    assert not find_layout(draw(Layout(columns=16, pitch=46, glyph=36)).pixels).ruled


@pytest.mark.parametrize("lost", [0, 5])
def test_columns_in_pairs_are_doubted_where_of_two_rules_and_more_nothing_is_printed(lost: int) -> None:
    """The two rows of notes stand as two columns do: rules tell them apart, though only a third of each is left."""
    ink = ink_mask(draw(Layout(columns=16, pitch=46, glyph=36)).pixels)
    height = ink.shape[0]
    upright, level = (long_strokes(ink, height // 4, vertical=vertical) for vertical in (True, False))
    sides = np.flatnonzero(inked_along(upright, 0) > 0.5 * height)
    rules = np.linspace(float(sides[0]), float(sides[-1]), 9)
    upright[height // 3 :] = 0
    for x in rules[1 + lost : -1].round().astype(int).tolist():
        upright[: height // 3, x - 1 : x + 2] = ink[: height // 3, x - 1 : x + 2] = 255
    frame = Frame(rules.tolist(), 0.1 * height, 0.9 * height)
    assert contradicts_columns(PageInk(ink, upright, level), frame) == (lost >= 2)


@pytest.mark.parametrize(("printed", "wide", "kept"), [(False, True, 8), (False, False, 9), (True, True, 9)])
def test_a_heading_takes_the_place_of_a_rule_that_is_not_printed(printed: bool, wide: bool, kept: int) -> None:
    """A heading as wide as a column and a half stands on the place of the rule; two columns of text stand beside it."""
    height, width = 900, 100
    rules = [50.0 + width * number for number in range(9)]
    ink = np.zeros((height, 900), np.uint8)
    for x in rules:
        if printed or x != rules[-2]:
            ink[:, int(x) : int(x) + 3] = 255
    upright, level = ink.copy(), np.zeros_like(ink)
    for left in rules[:-3]:
        ink[50:850, int(left) + 15 : int(left) + 85 : 4] = 255
    heading = [(rules[-2] - 70, rules[-2] + 70)] if wide else [(x + 15, x + 85) for x in rules[-3:-1]]
    for first, last in heading:
        ink[50:400, int(first) : int(last) : 4] = 255
    assert len(without_headings(PageInk(ink, upright, level), Frame(rules, 0.0, float(height)))) == kept
