"""Columns of pages of any kind: their count is never told."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from proof.facsimile.brush import rule
from proof.layout.page import find_columns
from proof.layout.photograph import page_columns
from tests.layout.drawn import Layout, assert_found, draw

PAGES = {
    "without rules": Layout(),
    "set tight": Layout(pitch=46, glyph=40, cells=20, columns=14),
    "with broken rules": Layout(rules=0.5, pitch=70),
    "in two registers": Layout(registers=2, columns=14, pitch=50, glyph=32, title=True),
    "with notes in double rows": Layout(notes=0.4, pitch=72, glyph=50),
    "that leans the other way, ruled": Layout(lean=-2.3, rules=1.0, pitch=70),
    "in registers, with marks": Layout(registers=2, columns=14, pitch=50, glyph=32, marks=True),
    "of an opening with a title in its fold": Layout(leaves=2, columns=8, fold=True),
    "of an opening whose frames stand close": Layout(leaves=2, registers=2, gutter=0.6, columns=8, cells=12),
    "with a column of a single character": Layout(short=5, few=1, cells=24, columns=12),
    "partly in double rows, set wide": Layout(notes=0.9, rules=1.0, pitch=104, glyph=40, cells=26, columns=10, seed=3),
    "in registers with empty columns": Layout(
        registers=3, cells=10, columns=13, pitch=46, glyph=40, empty=0.25, seed=6
    ),
    # of few rows: strokes are as long as the pieces of rules of another
    "of large glyphs": Layout(columns=3, cells=6, glyph=120, pitch=170),
}


@pytest.mark.parametrize("layout", PAGES.values(), ids=PAGES.keys())
def test_every_column_of_a_page_is_found_in_reading_order_and_nothing_else(layout: Layout) -> None:
    page = draw(layout)
    assert_found(find_columns(page.pixels), page.columns)


def count(pixels: NDArray[np.uint8]) -> int:
    return len(find_columns(np.asarray(pixels, np.uint8)).columns)


def test_a_ruled_page_without_text_has_no_columns() -> None:
    rng, canvas = np.random.default_rng(1), np.zeros((1400, 1000), np.uint8)
    for number in range(10):
        ends = (110.0 + 85 * number, 130.0), (110.0 + 85 * number, 1270.0)
        rule(canvas, *ends, 3.0, rng, wander=0.7, rough=0.25, lost=0.3, bow=float(rng.normal(0, 1.5)))
    for y in (130.0, 1270.0):
        rule(canvas, (110.0, y), (875.0, y), 6.0, rng)
    assert count(255 - canvas) == 0


def test_characters_in_white_on_black_are_of_their_columns() -> None:
    page = draw(Layout(pitch=70, rules=1.0))
    for number, column in enumerate(page.columns):
        for row in ((0, 5), (3, 9), (7, 16))[number % 3]:
            cell = column.h / 17
            y, x = round(column.y + row * cell), round(column.x + column.w / 2)
            part = page.pixels[y : round(y + cell), x - 25 : x + 25]
            part[:] = 255 - part
    assert_found(find_columns(page.pixels), page.columns)


def test_a_part_of_a_page_without_rules_is_not_taken_for_a_ruled_one() -> None:
    """Two sides of a frame and strokes of glyphs, which are long for so low an image, fit eight columns of double
    width; that the image cuts its columns off is said."""
    page = draw(Layout(columns=16, pitch=50, glyph=42, cells=18))
    rows = page.columns[0].y + 9.4 * 42 * 1.12
    layout = page_columns(np.ascontiguousarray(page.pixels[: round(rows)]), 8, 21)
    assert len(layout.columns) == len(page.columns)
    assert layout.outline.cut[1] is not None
