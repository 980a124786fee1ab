"""The order in which the lines of a classical page are read."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.model.geometry import Box
from proof.ocr.engine import Pixels, ReadCharacter
from proof.ocr.page import PageLine, PageReading, Quad, reading_order

HEIGHT, WIDTH = 450, 350


def outline(x: float, y: float, w: float, h: float) -> Quad:
    return (x, y), (x + w, y), (x + w, y + h), (x, y + h)


def turned(quad: Quad, degrees: float) -> Quad:
    """The outline on a page that lies turned: columns lean to the right at their foot where positive."""
    sine, cosine = math.sin(math.radians(degrees)), math.cos(math.radians(degrees))
    a, b, c, d = (
        (
            WIDTH / 2 + (x - WIDTH / 2) * cosine + (y - HEIGHT / 2) * sine,
            HEIGHT / 2 - (x - WIDTH / 2) * sine + (y - HEIGHT / 2) * cosine,
        )
        for x, y in quad
    )
    return a, b, c, d


def ruled(*heights: int, left: int = 20, right: int = 330, degrees: float = 0.0) -> Pixels:
    """A page with horizontal rules at these heights, and a little ink, so that there is something to tell paper
    from."""
    page = np.full((HEIGHT, WIDTH), 255, np.uint8)
    page[50:55, 50:55] = 0
    for y in heights:
        for x in range(left, right):
            at = round(y - (x - WIDTH / 2) * math.tan(math.radians(degrees)))
            page[at - 1 : at + 1, x] = 0
    return page


BLANK = ruled()


def order(page: Pixels, lines: Sequence[Quad], seed: int = 1) -> list[tuple[int, int, int]]:
    """(register, column, line) in reading order, the lines found in whatever order."""
    shuffled = list(range(len(lines)))
    random.Random(seed).shuffle(shuffled)  # noqa: S311 - no secret
    places = reading_order(page, [lines[number] for number in shuffled])
    return [(place.register, place.column, shuffled[place.index]) for place in places]


def columns(top: float, bottom: float) -> list[Quad]:
    """A row of six columns, from the right."""
    return [outline(300 - 50 * number, top, 30, bottom - top) for number in range(6)]


UPPER, LOWER = columns(50, 200), columns(225, 400)
DOWN_THE_COLUMNS = [line for pair in zip(range(6), range(6, 12), strict=True) for line in pair]
"""How the lines of two rows of columns are read where nothing parts them."""


def test_parts_of_a_column_are_read_from_the_top_and_a_gap_alone_parts_no_registers() -> None:
    """Verses leave one too."""
    found = order(BLANK, [*UPPER, *LOWER])
    assert found == [(1, number // 2 + 1, line) for number, line in enumerate(DOWN_THE_COLUMNS)]


@pytest.mark.parametrize("degrees", [0.0, 1.5, -1.5])
def test_a_rule_across_the_text_parts_registers(degrees: float) -> None:
    lines = [turned(line, degrees) for line in (*UPPER, *LOWER)]
    page = ruled(212, degrees=degrees)
    assert order(page, lines) == [(number // 6 + 1, number % 6 + 1, number) for number in range(12)]


def test_a_double_rule_is_one_and_two_rules_part_three_registers() -> None:
    assert {register for register, _, _ in order(ruled(210, 215), [*UPPER, *LOWER])} == {1, 2}
    lines = [*columns(25, 150), *columns(160, 280), *columns(290, 425)]
    assert [line for _, _, line in order(ruled(155, 285), lines)] == list(range(18))


def test_a_note_is_read_right_half_first_between_the_main_text_around_it() -> None:
    head, tail = outline(150, 50, 30, 100), outline(150, 265, 30, 100)
    right, left = outline(165.5, 152, 14.5, 100), outline(150, 152, 14.5, 110)
    before, after = outline(200, 50, 30, 350), outline(100, 50, 30, 350)
    lines = [before, head, right, left, tail, after]
    assert order(BLANK, lines) == [(1, 1, 0), (1, 2, 1), (1, 2, 2), (1, 2, 3), (1, 2, 4), (1, 3, 5)]


@given(
    st.lists(
        st.tuples(st.floats(0, 325), st.floats(0, 425), st.floats(0, 150), st.floats(0, 150), st.floats(-90, 90)),
        max_size=12,
    )
)
def test_every_line_gets_one_place_whatever_was_found(found: list[tuple[float, float, float, float, float]]) -> None:
    lines = [turned(outline(x, y, w, h), degrees) for x, y, w, h, degrees in found]
    places = reading_order(ruled(212), lines)
    assert sorted(place.index for place in places) == list(range(len(lines)))


def line(text: str, quad: Quad, register: int = 1, column: int = 1, *, vertical: bool = True) -> PageLine:
    step = 1 / len(text)
    characters = tuple(
        ReadCharacter(character, number * step, (number + 1) * step, 0.9) for number, character in enumerate(text)
    )
    return PageLine(characters, 0.9, quad, vertical, register, column)


def test_a_character_has_its_box_on_the_page() -> None:
    upright = line("天地", outline(100, 200, 40, 100))
    flat = line("天地", outline(100, 200, 100, 40), vertical=False)
    assert upright.box == Box(100, 200, 40, 100)
    assert [upright.character_box(character) for character in upright.characters] == [
        Box(100, y, 40, 50) for y in (200, 250)
    ]
    assert [flat.character_box(character) for character in flat.characters] == [Box(x, 200, 50, 40) for x in (100, 150)]


def test_the_text_of_a_page_has_a_line_for_each_column() -> None:
    quad = outline(0, 0, 10, 20)
    lines = line("天", quad, 1, 1), line("地玄", quad, 1, 1), line("黃", quad, 1, 2), line("宇", quad, 2, 1)
    assert PageReading(lines).text == "天地玄\n黃\n宇"
