"""A glyph is cut out of its row by those that surely stand beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from proof.layout.glyph_shapes import LENGTH, Shapes
from proof.layout.half_folio import ColumnArea
from proof.ocr.drawn_shapes import DrawnShapes
from proof.text.model import Row
from proof.verify.glyph_ink import GlyphInk
from proof.verify.glyphs import Glyph
from tests.verify.columns import AREA, PITCH, glyph_at, unread


def pointing(at: int) -> Shapes:
    shape = np.zeros((1, LENGTH), np.int8)
    shape[0, at] = 120
    return shape


class Page:
    """A half-folio all of whose glyphs have one shape; what was asked of it."""

    def __init__(self) -> None:
        self.asked: list[tuple[Row, tuple[float, ...], int]] = []

    def shape(self, area: ColumnArea, row: Row, places: Sequence[float], number: int) -> Shapes:
        self.asked.append((row, tuple(places), number))
        return pointing(0)

    def ink_size(self, area: ColumnArea, row: Row, places: Sequence[float], number: int) -> tuple[int, int]:
        self.asked.append((row, tuple(places), number))
        return 40, 30


def test_its_ink_is_measured_in_cells_between_its_neighbours() -> None:
    page, own = Page(), glyph(2)
    column = replace(unread(AREA), glyphs=(glyph(1), own, glyph(3)))
    ink = GlyphInk(page, DrawnShapes.made_of("", {}))
    assert ink.size(column, own) == (40 / PITCH, 30 / PITCH)
    assert page.asked == [(Row.MAIN, (75.0, 125.0, 175.0), 1)]


def glyph(place: int, row: Row = Row.MAIN, presence: float = 1.0) -> Glyph:
    read = glyph_at(place, {"附": -0.1}, presence, row)
    return replace(read, y=read.y + 5)


def test_a_glyph_is_held_against_both_characters_by_the_ink_between_its_neighbours() -> None:
    page, own = Page(), glyph(2)
    beside = (glyph(3), own, glyph(1), replace(glyph(4), presence=0.2), glyph(5, Row.LEFT))
    column = replace(unread(AREA), glyphs=beside)
    evidence = GlyphInk(page, DrawnShapes.made_of("", {"附": pointing(0), "弣": pointing(1)}))
    assert (evidence.form_preference(column, own, "附", "弣") or 0) > 0.5
    assert (evidence.form_preference(column, own, "弣", "附") or 0) < -0.5
    assert page.asked == [(Row.MAIN, (75.0, 125.0, 175.0), 1)] * 2
    assert evidence.form_preference(column, own, "附", "楅") is None
    assert len(page.asked) == 2
