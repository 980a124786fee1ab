"""Pages with a frame and a rule or two are not taken for ruled half-folios of eight columns."""

from __future__ import annotations

import numpy as np
import pytest

from proof.layout.half_folio import find_layout
from proof.layout.photograph import page_columns
from proof.layout.ruled import text_against
from proof.layout.rules import ink_mask, inked_along, long_strokes
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
    assert text_against(ink, upright, level, rules.tolist(), (0.1 * height, 0.9 * height), 0.3) == (lost >= 2)
