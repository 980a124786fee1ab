"""Columns, registers and leaves read off a map of labels."""

from __future__ import annotations

import numpy as np
import pytest

from proof.layout.cores import registers_of
from proof.layout.labels import Label
from proof.layout.segmenter import LabelMap

HEIGHT, WIDTH = 300, 260
PITCH, GLYPH = 20, 14


class Labels:
    """A map of labels that is filled by hand, in its pixels."""

    def __init__(self) -> None:
        self.values = np.zeros((len(Label), HEIGHT, WIDTH), np.float32)

    def put(self, label: Label, left: float, top: float, right: float, bottom: float, probability: float = 1.0) -> None:
        rows, columns = slice(round(top), round(bottom)), slice(round(left), round(right))
        self.values[list(Label).index(label), rows, columns] = probability

    def column(self, x: float, top: float, bottom: float, wide: float = GLYPH) -> None:
        self.put(Label.CORE, x - 1, top, x + 2, bottom)
        self.put(Label.TEXT, x - wide / 2, top, x + wide / 2, bottom)

    def columns(self, xs: list[int], top: float, bottom: float) -> None:
        for x in xs:
            self.column(x, top, bottom)

    def found(self) -> list[tuple[int, list[tuple[int, int, int]]]]:
        """The leaf of each register, and its columns from right to left: their middle, their top and their foot."""
        return [
            (register.leaf, [(round(core.x), round(core.top), round(core.bottom)) for core in register.cores])
            for register in registers_of(LabelMap(self.values, 0.5))
        ]


def xs(first: int, count: int) -> list[int]:
    return [first - PITCH * number for number in range(count)]


@pytest.fixture
def page() -> Labels:
    """A page of eight columns."""
    labels = Labels()
    labels.columns(xs(220, 8), 40, 260)
    return labels


def places(page: Labels) -> list[int]:
    """The middles of the columns of a page of one register."""
    [(leaf, columns)] = page.found()
    assert leaf == 0
    return [x for x, _, _ in columns]


def test_columns_come_from_right_to_left(page: Labels) -> None:
    assert page.found() == [(0, [(x, 40, 260) for x in xs(220, 8)])]


@pytest.mark.parametrize(("apart", "count"), [(17, 8), (37, 8), (20, 2)])
def test_what_the_edge_of_the_image_cuts_off_is_no_column(apart: int, count: int) -> None:
    """Nor where it stands as far from the next column as columns do, or beside too few to compare it with."""
    page = Labels()
    page.columns(xs(257 - apart, count), 40, 260)
    page.column(257, 40, 260)
    assert places(page) == xs(257 - apart, count)


@pytest.mark.parametrize("lined", [True, False])
def test_columns_above_a_line_and_below_it_are_two_registers_from_above(lined: bool) -> None:
    """Without a line it is verse with a gap in the same rows of all columns: one register."""
    page = Labels()
    page.columns(xs(220, 8), 40, 140)
    page.columns(xs(220, 8), 160, 260)
    if lined:
        page.put(Label.LINE, 60, 149, 240, 151)
    stretches = [(40, 140), (160, 260)] if lined else [(40, 260)]
    assert page.found() == [(0, [(x, *stretch) for x in xs(220, 8)]) for stretch in stretches]


@pytest.mark.parametrize("lined", [True, False])
def test_a_glyph_on_the_line_between_two_registers_does_not_join_their_columns(lined: bool) -> None:
    """Where no line crosses it, it is one column beside two registers."""
    page = Labels()
    for top in (40, 160):
        page.columns(xs(200, 9), top, top + 100)
    page.column(220, 40, 260)
    page.put(Label.LINE, 30, 149, 240 if lined else 209, 151)
    first = [[(220, 40, 149)], [(220, 151, 260)]] if lined else [[], [(220, 40, 260)]]
    assert page.found() == [
        (0, [*columns, *((x, top, top + 100) for x in xs(200, 9))])
        for columns, top in zip(first, (40, 160), strict=True)
    ]


def test_raised_text_belongs_to_the_column_below_it_whether_the_frame_parts_them_or_not(page: Labels) -> None:
    page.put(Label.LINE, 70, 34, 230, 37)
    page.column(220, 16, 30)
    page.column(120, 16, 50)
    tops = [16, 40, 40, 40, 40, 16, 40, 40]
    assert page.found() == [(0, [(x, top, 260) for x, top in zip(xs(220, 8), tops, strict=True)])]


def test_a_register_of_short_and_indented_columns_is_one() -> None:
    page = Labels()
    for top in (20, 110, 200):
        page.put(Label.LINE, 20, top - 6, 235, top - 4)
    for top in (20, 200):
        page.columns(xs(220, 10), top, top + 75)
    page.columns(xs(220, 7), 110, 123)
    page.columns(xs(80, 3), 130, 185)
    assert [[x for x, _, _ in columns] for _, columns in page.found()] == [xs(220, 10)] * 3


@pytest.mark.parametrize("edge", [220, 80])
def test_a_line_that_is_broken_at_the_last_column_parts_that_too(edge: int) -> None:
    page = Labels()
    for top in (20, 150):
        page.columns(xs(220, 8), top, top + 120)
    page.put(Label.LINE, 72 if edge == 220 else 88, 144, 212 if edge == 220 else 228, 146)
    assert [len(columns) for _, columns in page.found()] == [8, 8]
