"""Cells counted from the ink alone, whatever a recogniser makes of it."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from proof.facsimile.leaf import Style
from proof.facsimile.render import render_page
from proof.facsimile.wear import LEVELS, without_seal
from proof.layout.half_folio import find_layout
from proof.layout.ink import has_ink, ink_cells
from tests.half_folios import MakePage

PITCH = 50

LINES = (
    "司射適西階西倚扑升自西階東面請射于公",
    "　鄭注倚扑者將即君前不敢佩刑器也升堂者欲諸",
    "　公卿大夫辯聞也",
    "公許遂適西階上命賓御于公諸公卿則以耦告于上",
    "大夫則降即位而后告",
    "一二三十一二三十丁卜",
    "(唐石經及宋本改正今案/此說甚是且有石經爲證)",
    "",
)


def strip_of(filled: list[bool], share: float = 0.3) -> NDArray[np.uint8]:
    """A strip of cells, some of them with a square of ink that covers so much of the cell."""
    ink = np.zeros((PITCH * len(filled), 60), np.uint8)
    side = round((share * PITCH * 60) ** 0.5)
    for number, full in enumerate(filled):
        if full:
            top = number * PITCH + (PITCH - side) // 2
            ink[top : top + side, 30 - side // 2 : 30 - side // 2 + side] = 255
    return ink


@settings(max_examples=40, deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=21))
def test_every_cell_with_ink_is_counted_and_no_empty_one(filled: list[bool]) -> None:
    ink = strip_of(filled)
    cells = ink_cells(ink, 0, 0, 60, len(ink), PITCH)
    assert len(cells) == sum(filled)
    places = [n * PITCH + PITCH / 2 for n, full in enumerate(filled) if full]
    assert all(cell.top < place < cell.bottom for cell, place in zip(cells, places, strict=True))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.0, 0.4))
def test_cells_come_in_order_and_do_not_overlap(seed: int, share: float) -> None:
    ink = np.where(np.random.default_rng(seed).random((300, 50)) < share, 255, 0).astype(np.uint8)
    cells = ink_cells(ink, 0, 0, 50, 300, PITCH)
    assert all(0 <= cell.top < cell.bottom for cell in cells)
    assert all(one.bottom <= other.top for one, other in itertools.pairwise(cells))


def test_places_are_those_of_the_page_and_not_of_the_strip() -> None:
    page = np.zeros((400, 200), np.uint8)
    page[120:150, 110:140] = 255
    (cell,) = ink_cells(page, 100, 90, 160, 300, PITCH)
    assert cell.top < 120
    assert cell.bottom > 150
    assert ink_cells(page, 100, 300, 160, 200, PITCH) == []


def test_a_speck_is_not_a_character_and_the_thinnest_one_is() -> None:
    ink = np.zeros((60, 60), np.uint8)
    ink[20:24, 20:24] = 255
    assert not has_ink(ink, 0, 0, 60, 60)
    ink[30:33, 10:50] = 255
    assert has_ink(ink, 0, 0, 60, 60)
    assert not has_ink(ink, 0, 40, 60, 60)
    assert not has_ink(ink, 60, 60, 60, 60)


@pytest.mark.parametrize("wear", ["none", "moderate"])
def test_a_drawn_column_has_as_many_cells_as_characters(make_page: MakePage, wear: str) -> None:
    """And each half-row; but for one in one column. A stain has cells of its own: it is no matter of counting."""
    worn = replace(without_seal(LEVELS[wear]), stains=0.0)
    layout = find_layout(render_page(make_page(*LINES), Style(), worn, seed=3).image)

    def cells(number: int, left: float = 0.0, right: float = 1.0) -> int:
        area = layout.columns[number - 1]
        sides = area.left + left * area.width, area.left + right * area.width
        return len(ink_cells(layout.ink, sides[0], area.top, sides[1], area.bottom, area.cell(21)))

    off = [abs(cells(number) - len(line.strip("　"))) for number, line in enumerate(LINES[:6], 1)]
    assert sorted(off)[:5] == [0] * 5, off
    assert max(off) <= 1, off
    assert (cells(7, left=0.5), cells(7, right=0.5)) == (10, 10)
    assert cells(8) == 0
