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
from proof.ocr.page import PageLine, PageReading, Quad, reading_order, skew

HEIGHT, WIDTH = 900, 700


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


def blank() -> Pixels:
    """A page with a little ink, so that there is something to tell paper from."""
    page = np.full((HEIGHT, WIDTH), 255, np.uint8)
    page[100:110, 100:110] = 0
    return page


def ruled(*heights: int, left: int = 40, right: int = 660, degrees: float = 0.0) -> Pixels:
    """A page with horizontal rules at these heights."""
    page = blank()
    for y in heights:
        for x in range(left, right):
            at = round(y - (x - WIDTH / 2) * math.tan(math.radians(degrees)))
            page[at - 2 : at + 2, x] = 0
    return page


def order(page: Pixels, lines: Sequence[Quad], seed: int = 1) -> list[tuple[int, int, int]]:
    """(register, column, line) in reading order, the lines found in whatever order."""
    shuffled = list(range(len(lines)))
    random.Random(seed).shuffle(shuffled)  # noqa: S311 - no secret
    places = reading_order(page, [lines[number] for number in shuffled])
    return [(place.register, place.column, shuffled[place.index]) for place in places]


def columns(top: float, bottom: float, count: int = 6) -> list[Quad]:
    """A row of columns, from the right."""
    return [outline(600 - 100 * number, top, 60, bottom - top) for number in range(count)]


def test_a_page_without_lines_has_no_order() -> None:
    assert reading_order(blank(), []) == []


@given(st.floats(-3, 3), st.integers())
def test_columns_are_read_from_right_to_left_on_a_page_turned_up_to_3_degrees(degrees: float, seed: int) -> None:
    lines = [turned(line, degrees) for line in columns(100, 800)]
    assert order(blank(), lines, seed) == [(1, number + 1, number) for number in range(6)]


@given(st.floats(-3, 3))
def test_the_skew_is_measured_on_long_lines(degrees: float) -> None:
    lines = [turned(line, degrees) for line in columns(100, 800)]
    assert skew(lines) == pytest.approx(degrees, abs=1e-6)
    assert skew([outline(10, 10, 50, 60)]) == 0.0


def test_parts_of_a_column_are_read_from_the_top() -> None:
    upper, lower = columns(100, 400), columns(450, 800)
    lines = [line for pair in zip(upper, lower, strict=True) for line in pair]
    assert order(blank(), lines) == [(1, number // 2 + 1, number) for number in range(12)]


def test_a_gap_alone_does_not_part_registers_since_verses_leave_one_too() -> None:
    lines = [*columns(100, 400), *columns(450, 800)]
    assert [line for _, _, line in order(blank(), lines)] == [0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11]


@pytest.mark.parametrize("degrees", [0.0, 1.5, -1.5])
def test_a_rule_across_the_text_parts_registers(degrees: float) -> None:
    lines = [turned(line, degrees) for line in (*columns(100, 400), *columns(450, 800))]
    page = ruled(425, degrees=degrees)
    assert order(page, lines) == [(number // 6 + 1, number % 6 + 1, number) for number in range(12)]


def test_a_double_rule_is_one() -> None:
    lines = [*columns(100, 400), *columns(450, 800)]
    assert {register for register, _, _ in order(ruled(421, 430), lines)} == {1, 2}


def test_three_registers() -> None:
    lines = [*columns(50, 300), *columns(320, 560), *columns(580, 850)]
    assert [line for _, _, line in order(ruled(310, 570), lines)] == list(range(18))


def test_the_rules_of_a_table_beside_other_columns_part_nothing() -> None:
    title = outline(600, 100, 60, 700)
    cells = [line for column in range(4) for line in (outline(400 - 100 * column, 100, 60, 300),)]
    cells += [outline(400 - 100 * column, 450, 60, 350) for column in range(4)]
    read = order(ruled(425, right=480), [title, *cells])
    assert [line for _, _, line in read] == [0, 1, 5, 2, 6, 3, 7, 4, 8]


def test_the_rows_of_a_table_that_fills_the_page_are_no_registers() -> None:
    tops = range(100, 800, 100)
    cells = [outline(600 - 100 * column, top + 10, 60, 80) for column in range(6) for top in tops]
    assert [line for _, _, line in order(ruled(*tops), cells)] == list(range(len(cells)))


def test_a_rule_that_a_line_crosses_parts_nothing() -> None:
    lines = [*columns(100, 400), *columns(450, 800)[:5], outline(100, 350, 60, 300)]
    assert {register for register, _, _ in order(ruled(425), lines)} == {1}


def test_a_frame_parts_nothing_from_a_raised_character() -> None:
    lines = [outline(600, 60, 60, 30), *columns(110, 800)]
    assert {register for register, _, _ in order(ruled(100, 810), lines)} == {1}


def test_lines_in_the_margin_beside_registers_come_last() -> None:
    fold = outline(10, 300, 25, 300)
    read = order(ruled(425), [*columns(100, 400), *columns(450, 800), fold])
    assert read[-1] == (0, 1, 12)
    assert [line for _, _, line in read] == list(range(13))


def test_a_note_is_read_right_half_first_between_the_main_text_around_it() -> None:
    head = outline(300, 100, 60, 200)
    right, left = outline(331, 305, 29, 200), outline(300, 305, 29, 220)
    tail = outline(300, 530, 60, 200)
    before, after = outline(400, 100, 60, 700), outline(200, 100, 60, 700)
    lines = [before, head, right, left, tail, after]
    assert order(blank(), lines) == [(1, 1, 0), (1, 2, 1), (1, 2, 2), (1, 2, 3), (1, 2, 4), (1, 3, 5)]


@given(
    st.lists(
        st.tuples(st.floats(0, 650), st.floats(0, 850), st.floats(0, 300), st.floats(0, 300), st.floats(-90, 90)),
        max_size=12,
    )
)
def test_every_line_gets_one_place_whatever_was_found(found: list[tuple[float, float, float, float, float]]) -> None:
    lines = [turned(outline(x, y, w, h), degrees) for x, y, w, h, degrees in found]
    places = reading_order(ruled(425), lines)
    assert sorted(place.index for place in places) == list(range(len(lines)))


def line(text: str, quad: Quad, register: int = 1, column: int = 1, *, vertical: bool = True) -> PageLine:
    step = 1 / len(text)
    characters = tuple(
        ReadCharacter(character, number * step, (number + 1) * step, 0.9) for number, character in enumerate(text)
    )
    return PageLine(characters, 0.9, quad, vertical, register, column)


def test_a_character_has_its_box_on_the_page() -> None:
    upright = line("天地", outline(100, 200, 40, 100))
    assert upright.box == Box(100, 200, 40, 100)
    assert [upright.character_box(each) for each in upright.characters] == [
        Box(100, 200, 40, 50),
        Box(100, 250, 40, 50),
    ]
    flat = line("天地", outline(100, 200, 100, 40), vertical=False)
    assert [flat.character_box(each) for each in flat.characters] == [Box(100, 200, 50, 40), Box(150, 200, 50, 40)]


def test_the_text_of_a_page_has_a_line_for_each_column() -> None:
    quad = outline(0, 0, 10, 20)
    reading = PageReading(
        (line("天", quad, 1, 1), line("地玄", quad, 1, 1), line("黃", quad, 1, 2), line("宇", quad, 2, 1))
    )
    assert reading.text == "天地玄\n黃\n宇"
