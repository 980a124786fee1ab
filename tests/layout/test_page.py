"""Columns of pages of any kind: their count is never told."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from proof.layout.page import find_columns
from tests.layout.drawn import Layout, draw, right

PAGES = {
    "without rules": Layout(),
    "without rules or frame": Layout(frame=False, columns=11),
    "set tight": Layout(pitch=46, glyph=40, cells=20, columns=14),
    "set wide": Layout(pitch=96, glyph=46, columns=7),
    "ruled": Layout(rules=1.0, pitch=70),
    "with broken rules": Layout(rules=0.5, pitch=70),
    "in two registers": Layout(registers=2, columns=14, pitch=50, glyph=32, title=True),
    "with notes in double rows": Layout(notes=0.4, pitch=72, glyph=50),
    "with short columns": Layout(short=3),
    "that leans": Layout(lean=1.7),
    "that leans the other way, ruled": Layout(lean=-2.3, rules=1.0, pitch=70),
    "with marks beside its last column": Layout(columns=14, pitch=50, glyph=32, marks=True),
    "in registers, with marks": Layout(registers=2, columns=14, pitch=50, glyph=32, marks=True),
    "of an opening": Layout(leaves=2, columns=8),
    "of an opening with a title in its fold": Layout(leaves=2, columns=8, fold=True),
    "of an opening whose frames stand close": Layout(leaves=2, registers=2, gutter=0.6, columns=8, cells=12),
    "of which every other column is short": Layout(short=2, few=4, cells=14, columns=12, pitch=46, glyph=40),
    "with a column of a single character": Layout(short=5, few=1, cells=24, columns=12),
    "in registers with empty columns": Layout(
        registers=3, cells=10, columns=13, pitch=46, glyph=40, empty=0.25, seed=6
    ),
}


@pytest.mark.parametrize("layout", PAGES.values(), ids=PAGES.keys())
def test_every_column_of_a_page_is_found_in_reading_order_and_nothing_else(layout: Layout) -> None:
    page = draw(layout)
    found = find_columns(page.pixels)
    boxes = [found.file_box(c.left, c.top, c.right, c.bottom) for c in found.columns]
    assert len(boxes) == len(page.columns)
    for number, true in enumerate(page.columns):
        assert right(boxes, true), number
        assert boxes[number].contains(*true.centre), "in reading order"


def test_an_ornament_that_stands_alone_beside_the_text_is_no_column() -> None:
    page = draw(Layout(frame=False, columns=11))
    wider = np.pad(page.pixels, ((0, 0), (60, 0)), constant_values=255)
    last = page.columns[-1]
    cv2.circle(wider, (round(60 + last.x - 1.3 * last.w), 140), 18, (0,), 4)
    assert len(find_columns(wider).columns) == len(page.columns)


@pytest.mark.parametrize("frame", [True, False])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_column_reaches_to_the_number_in_small_script_that_it_ends_in(seed: int, frame: bool) -> None:
    """八 is written in two strokes, neither of them as large as half a glyph; a 十 before it is thin."""
    page = draw(Layout(numbers=True, cells=13, pitch=70, frame=frame, seed=seed))
    found = find_columns(page.pixels)
    boxes = [found.file_box(c.left, c.top, c.right, c.bottom) for c in found.columns]
    ends = [box.bottom - true.bottom for box, true in zip(boxes, page.columns, strict=True)]
    assert min(ends) > -0.25 * 44


def test_strokes_of_large_glyphs_are_no_rules() -> None:
    """A page of few rows has strokes as long as the pieces of rules of another."""
    page = draw(Layout(columns=3, cells=6, glyph=120, pitch=170))
    found = find_columns(page.pixels)
    assert not found.sheet.upright[:, found.sheet.width // 3 : -found.sheet.width // 3].any()
    assert len(found.columns) == 3
