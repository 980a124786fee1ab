"""Cells counted from the ink alone, whatever a recogniser makes of it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from proof.facsimile.leaf import Style
from proof.facsimile.render import RenderedPage, render_page
from proof.facsimile.wear import LEVELS, without_seal
from proof.layout.half_folio import Layout
from proof.layout.ink import has_ink, ink_cells
from proof.layout.photograph import page_columns
from proof.text.model import Page, Row

MakePage = Callable[..., Page]
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


@pytest.fixture(scope="session", params=["none", "moderate"])
def page(request: pytest.FixtureRequest, make_page: MakePage) -> tuple[RenderedPage, Layout]:
    # a stain has cells of its own: it is no matter of counting
    wear = replace(without_seal(LEVELS[request.param]), stains=0.0)
    drawn = render_page(make_page(*LINES), Style(), wear, seed=3)
    return drawn, page_columns(drawn.image)


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


def test_no_ink_no_cells() -> None:
    assert ink_cells(np.zeros((300, 60), np.uint8), 0, 0, 60, 300, PITCH) == []
    assert ink_cells(np.zeros((300, 60), np.uint8), 0, 200, 60, 100, PITCH) == []


def test_a_speck_is_not_a_character_and_the_thinnest_one_is() -> None:
    ink = np.zeros((60, 60), np.uint8)
    ink[20:24, 20:24] = 255
    assert not has_ink(ink, 0, 0, 60, 60)
    ink[30:33, 10:50] = 255
    assert has_ink(ink, 0, 0, 60, 60)
    assert not has_ink(ink, 0, 40, 60, 60)
    assert not has_ink(ink, 60, 60, 60, 60)


def counts(drawn: RenderedPage, layout: Layout, row: Row) -> list[tuple[int, int]]:
    """For every drawn column (or half-row) how many characters it has and how many cells the ink."""
    found = []
    for area in layout.columns:
        own = [one for one in drawn.characters if one.line == area.number]
        if not own or ({one.row for one in own} - {Row.RIGHT, Row.LEFT} and row is not Row.MAIN):
            continue
        if row is Row.MAIN and any(one.row is not Row.MAIN for one in own):
            continue
        middle = (area.left + area.right) / 2
        left = middle if row is Row.RIGHT else area.left
        right = middle if row is Row.LEFT else area.right
        pitch = (area.bottom - area.top) / 21
        cells = ink_cells(layout.ink, left, area.top, right, area.bottom, pitch)
        found.append((sum(one.row is row for one in own), len(cells)))
    return found


def test_the_cells_of_a_column_are_as_many_as_its_characters(page: tuple[RenderedPage, Layout]) -> None:
    pairs = counts(*page, Row.MAIN)
    assert len(pairs) == 6
    assert all(abs(characters - cells) <= 1 for characters, cells in pairs), pairs
    assert sum(characters == cells for characters, cells in pairs) >= 5, pairs


def test_the_cells_of_a_half_row_are_as_many_as_its_characters(page: tuple[RenderedPage, Layout]) -> None:
    for row in (Row.RIGHT, Row.LEFT):
        ((characters, cells),) = counts(*page, row)
        assert characters == 10
        assert cells == characters, row


def test_an_empty_column_has_no_cells(page: tuple[RenderedPage, Layout]) -> None:
    _, layout = page
    area = layout.columns[-1]
    pitch = (area.bottom - area.top) / 21
    assert ink_cells(layout.ink, area.left, area.top, area.right, area.bottom, pitch) == []
