"""Columns of an image where the lines of the file are others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from proof.exports.corrections import Correction
from proof.exports.marked_pages import MarkedPage, mark
from proof.model.flags import LINE_BREAK, Kind
from proof.model.geometry import Box
from proof.model.result import CheckedCharacter, CheckedColumn, PageResult, Status
from proof.text.model import Row
from tests.build import flag

RIGHT, LEFT = Box(200, 50, 90, 700), Box(100, 50, 90, 700)


def character(text: str, line: int, offset: int, x: float, y: float, row: Row = Row.MAIN) -> CheckedCharacter:
    wide = 90 if row is Row.MAIN else 45
    return CheckedCharacter(line, offset, 1, row, text, Box(x, y, wide, 40), text, 0.9)


def page(*characters: CheckedCharacter, columns: tuple[CheckedColumn, ...]) -> PageResult:
    return PageResult(
        "1a", "", Status.CHECKED, image=Path("1a.png"), image_size=(300, 800), columns=columns, characters=characters
    )


def told(marked: MarkedPage | None) -> list[list[str]]:
    assert marked is not None
    return [[line.text for line in column.lines] for column in marked.columns]


LINE_3 = "一二三四五六七八九十大射(注曰)儀也而後"
# line 3 ends in the right column with a note of two half-rows, goes on in the left one, where line 4 begins
SHARED = page(
    character("大", 3, 10, 200, 50),
    character("射", 3, 11, 200, 90),
    character("注", 3, 13, 245, 130, Row.RIGHT),
    character("曰", 3, 14, 200, 130, Row.LEFT),
    character("儀", 3, 16, 100, 50),
    character("君", 4, 2, 100, 90),
    columns=(CheckedColumn(3, RIGHT, LINE_3), CheckedColumn(3, LEFT, LINE_3), CheckedColumn(4, LEFT, "\u3000\u3000君")),
)


def test_a_column_is_what_stands_in_it_whatever_line_of_the_file_that_is() -> None:
    marked = mark(SHARED, running=True)
    assert told(marked) == [["大射", "注", "曰"], ["儀君"]]
    assert marked is not None
    assert [(column.number, column.box) for column in marked.columns] == [(1, RIGHT), (2, LEFT)]


def test_corrections_of_a_line_go_into_the_columns_in_which_it_stands() -> None:
    """Line 3 may be on page 1b as well: what is inserted between the two pages is on the one that is named."""
    given = [
        Correction("1a", 3, 16, 1, "義", "儀"),
        Correction("1a", 4, 2, 0, "命", ""),
        Correction("1b", 3, 10, 1, "太", "大"),
        Correction("", 3, 11, 1, "躬", "射"),
        Correction("1b", 3, 9, 0, "又", ""),
        Correction("1b", 3, 10, 0, "又", ""),
        Correction("1b", 3, 90, 1, "與", "于"),
    ]
    assert told(mark(SHARED, given, running=True)) == [["太躬", "注", "曰"], ["義命君"]]


def test_a_missing_note_is_on_its_page_without_its_marks() -> None:
    given = [Correction("1a", 4, 2, 0, "(命/之)", "")]
    assert told(mark(SHARED, given, running=True)) == [["大射", "注", "曰"], ["儀命之君"]]


JOINED = page(
    character("大", 1, 0, 200, 50),
    character("射", 1, 1, 200, 90),
    character("儀", 1, 2, 100, 50),
    character("君", 1, 3, 100, 90),
    columns=(CheckedColumn(1, RIGHT, "大射儀君"), CheckedColumn(1, LEFT, "大射儀君")),
)
"""Two columns of the image that are one in the text."""


def test_two_columns_that_the_text_has_as_one_have_each_their_own_characters() -> None:
    for split in ([], [Correction("1a", 1, 2, 0, LINE_BREAK, "", kind=Kind.LAYOUT)]):
        marked = mark(JOINED, [*split, Correction("1a", 1, 4, 0, "禮", "")])
        assert told(marked) == [["大射"], ["儀君禮"]]
        assert marked is not None
        assert [column.number for column in marked.columns] == [1, 2]


@pytest.mark.parametrize(
    ("line", "offset", "order"), [(1, 0, "新大儀"), (1, 1, "大新儀"), (2, 0, "大新儀"), (2, 1, "大儀新")]
)
def test_an_added_column_is_a_column_of_its_own(line: int, offset: int, order: str) -> None:
    box = Box(150, 50, 50, 700)
    found = flag(line, offset, "", "新", kind=Kind.LAYOUT, id="f-new", bbox=box)
    checked = page(
        character("大", 1, 0, 200, 50),
        character("儀", 2, 0, 100, 50),
        columns=(CheckedColumn(1, RIGHT, "大"), CheckedColumn(2, LEFT, "儀")),
    )
    added = Correction("1a", line, offset, 0, "新", "", kind=Kind.LAYOUT, flag="f-new")
    marked = mark(replace(checked, flags=(found,)), [added])
    assert told(marked) == [[character] for character in order]
    assert marked is not None
    assert marked.columns[order.index("新")].box == box


NOTED = page(
    character("大", 1, 0, 200, 50),
    character("案", 1, 2, 245, 90, Row.RIGHT),
    character("比", 1, 3, 245, 130, Row.RIGHT),
    character("訛", 1, 5, 200, 90, Row.LEFT),
    columns=(CheckedColumn(1, RIGHT, "大(案比/訛作)"),),
)
"""The image has no 作."""


@pytest.mark.parametrize(
    ("offset", "rows"),
    [
        (0, "新大 案比 訛作"),
        (1, "大新 案比 訛作"),
        (2, "大 新案比 訛作"),
        (4, "大 案比新 訛作"),
        (5, "大 案比 新訛作"),
        (7, "大 案比 訛作新"),
        (8, "大 案比 訛作 新"),
    ],
)
def test_an_insertion_is_in_the_row_in_which_the_text_has_it(offset: int, rows: str) -> None:
    assert told(mark(NOTED, [Correction("1a", 1, offset, 0, "新", "")])) == [rows.split()]


def test_punctuation_that_the_image_lacks_is_in_no_line() -> None:
    """Recognisers are trained on the lines."""
    source = CheckedColumn(1, RIGHT, "大，射。")
    checked = page(character("大", 1, 0, 200, 50), character("射", 1, 2, 200, 90), columns=(source,))
    assert told(mark(checked)) == [["大射"]]


def test_halves_of_a_note_that_are_exchanged_have_no_mark_of_the_note() -> None:
    assert told(mark(NOTED, [Correction("1a", 1, 2, 5, "訛作/案比", "案比/訛作")])) == [["大", "訛作", "案比"]]
    assert told(mark(NOTED, [Correction("1a", 1, 6, 1, "", "作")])) == [["大", "案比", "訛"]]
