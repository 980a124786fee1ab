"""Columns of an image where the lines of the file are others."""

from __future__ import annotations

from pathlib import Path

from proof.exports.corrections import Correction
from proof.exports.marked_pages import MarkedPage, mark
from proof.model.geometry import Box
from proof.model.result import CheckedCharacter, CheckedColumn, PageResult, Status
from proof.text.model import Row

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


# line 3 ends in the right column with a note of two half-rows, goes on in the left one, where line 4 begins
SHARED = page(
    character("大", 3, 10, 200, 50),
    character("射", 3, 11, 200, 90),
    character("注", 3, 13, 245, 130, Row.RIGHT),
    character("曰", 3, 14, 200, 130, Row.LEFT),
    character("儀", 3, 16, 100, 50),
    character("君", 4, 2, 100, 90),
    columns=(CheckedColumn(3, RIGHT), CheckedColumn(3, LEFT), CheckedColumn(4, LEFT)),
)


def test_a_column_is_what_stands_in_it_whatever_line_of_the_file_that_is() -> None:
    marked = mark(SHARED, running=True)
    assert told(marked) == [["大射", "注", "曰"], ["儀君"]]
    assert marked is not None
    assert [(column.number, column.box) for column in marked.columns] == [(1, RIGHT), (2, LEFT)]


def test_corrections_of_a_line_go_into_the_columns_in_which_it_stands() -> None:
    given = [
        Correction("1a", 3, 16, 1, "義", "儀"),
        Correction("1a", 4, 2, 0, "命", ""),
        Correction("1b", 3, 10, 1, "太", "大"),
        Correction("", 3, 11, 1, "躬", "射"),
        Correction("", 3, 90, 1, "與", "于"),
    ]
    assert told(mark(SHARED, given, running=True)) == [["大躬", "注", "曰"], ["義命君"]]


def test_a_missing_note_is_on_its_page_without_its_marks() -> None:
    given = [Correction("1a", 4, 2, 0, "(命/之)", "")]
    assert told(mark(SHARED, given, running=True)) == [["大射", "注", "曰"], ["儀命之君"]]
