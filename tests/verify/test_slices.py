"""A slice of a running edition, or the lines of a page that go over several columns, on the columns of the page."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proof.layout.half_folio import ColumnArea
from proof.text.model import Column, Row
from proof.verify.columns import ReadColumn
from proof.verify.line_assignment import Assignment, LineFault
from proof.verify.places import placeholders
from proof.verify.slices import lines_of_columns
from tests.verify.columns import AREA, PITCH, exact, glyph_at, shown_as, unread
from tests.verify.pages import line

ROWS = 6
Seen = list[tuple[str, int, Row]]
"""Characters as the recogniser read them: each with the cell in which it stands, from 0, and its row."""


def column(number: int, seen: Seen) -> ReadColumn:
    area = ColumnArea(number, 0, PITCH, 0, ROWS * PITCH, 0)
    return replace(unread(area), glyphs=tuple(glyph_at(cell, {text: -0.01}, row=row) for text, cell, row in seen))


def laid(source: str, *columns: Seen) -> Assignment:
    """A line of an edition, which does not say how its notes are divided, on the columns of a page."""
    read = [column(number, seen) for number, seen in enumerate(columns, 1)]
    return lines_of_columns([line(source)], [column.area for column in read], read, ROWS, exact)


def main(characters: str, cell: int = 0) -> Seen:
    return [(character, at, Row.MAIN) for at, character in enumerate(characters, cell)]


def note(right: str, left: str, cell: int) -> Seen:
    return [
        *((character, at, Row.RIGHT) for at, character in enumerate(right, cell)),
        *((character, at, Row.LEFT) for at, character in enumerate(left, cell)),
    ]


def rows_of(own: Column | None) -> list[str]:
    """The runs of a line: main text as it is, notes as right/left."""
    assert own is not None
    for cell in own.cells:
        assert not cell.glyph or own.source[cell.offset : cell.offset + cell.length] == cell.text
    return [
        "/".join("".join(cell.text for cell in row) for row in ((run.right, run.left) if run.is_note else (run.right,)))
        for run in own.runs
    ]


@pytest.mark.parametrize(
    ("source", "columns", "expected"),
    [
        pytest.param(
            "甲乙丙丁戊己庚辛",
            [[*main("甲乙"), *note("丙丁", "戊己", 2), *main("庚", 4)], main("辛")],
            [["甲乙", "丙丁/戊己", "庚"], ["辛"]],
            id="a note stands in the half-rows in which its glyphs do",
        ),
        pytest.param(
            "甲乙丙丁戊己",
            [[*main("甲"), *note("乙", "丙", 1), *note("丁戊", "己", 2)]],
            [["甲", "乙/丙", "丁戊/己"]],
            id="where a right half follows a left one another note begins",
        ),
        pytest.param(
            "甲乙丙丁",
            [[*main("甲", 1), *note("乙", "丙", 3), *main("丁", 5)]],
            [["\u3000甲", "\u3000", "乙/丙", "\u3000丁"]],
            id="blank cells stand where the image has none before text and before a note",
        ),
        pytest.param(
            "甲乙丙丁戊",
            [[*main("甲"), *note("乙", "丁戊", 1)]],
            [["甲", "乙丙/丁戊"]],
            id="a character that the image does not show stands in the row of its neighbour",
        ),
        pytest.param("甲乙丙丁", [note("乙丙", "丁", 0)], [["甲乙丙/丁"]], id="the first one, too"),
    ],
)
def test_a_slice_is_laid_on_the_columns_as_its_glyphs_stand(
    source: str, columns: list[Seen], expected: list[list[str]]
) -> None:
    assert [rows_of(line) for line in laid(source, *columns).lines] == expected


@pytest.mark.parametrize(
    ("columns", "number", "before", "row"),
    [
        ([main("甲乙戊丙")], 0, 2, Row.MAIN),
        ([note("甲乙戊", "丙", 0)], 0, 2, Row.RIGHT),
        ([note("甲乙", "戊丙", 0)], 0, 2, Row.LEFT),
        ([main("甲乙戊"), main("丙")], 0, 2, Row.MAIN),
        ([main("甲乙"), main("戊丙")], 1, 0, Row.MAIN),
        ([main("甲乙"), note("戊丙", "", 0)], 1, 0, Row.RIGHT),
    ],
)
def test_a_placeholder_in_a_slice_is_where_the_image_shows_a_character_for_it(
    columns: list[Seen], number: int, before: int, row: Row
) -> None:
    own = laid("甲乙□丙", *columns).lines[number]
    assert own is not None
    read = replace(unread(AREA), line=own, cells=tuple(cell for cell in own.cells if cell.glyph))
    assert [(sign.text, sign.offset) for sign in placeholders(read, before, row)] == [("□", 2)]


def test_a_column_between_others_of_which_the_edition_has_nothing_is_missing_within_its_line() -> None:
    found = laid("甲乙丙丁", main("甲乙"), main("戊己庚"), main("丙丁"))
    assert [own.source if own else None for own in found.lines] == ["甲乙", "甲乙", "甲乙丙丁"]
    assert [own.begin if own else None for own in found.lines] == [0, 2, 2]
    assert found.lines[1] is not None
    assert not found.lines[1].cells
    assert not found.troubles


@pytest.mark.parametrize(
    ("joined", "sources"),
    [
        ((False, False), [None, "司射北", "司射北面", None]),
        ((True, False), ["司射", "司射北", "司射北面", None]),
        ((False, True), [None, "司射北", "司射北面", "司射北面"]),
    ],
)
def test_a_column_at_the_edge_of_a_page_is_missing_where_the_text_goes_on_there(
    joined: tuple[bool, bool], sources: list[str | None]
) -> None:
    """The page has the last two characters of the line, one in each of its two inner columns."""
    text = replace(line("司射北面"), parsed=tuple(replace(run, right=run.right[2:]) for run in line("司射北面").runs))
    read = [column(number, main(shown)) for number, shown in enumerate(["東西", "北", "面", "大夫"], 1)]
    found = lines_of_columns([text], [one.area for one in read], read, ROWS, exact, joined=joined)
    assert [own.source if own else None for own in found.lines] == sources
    assert not found.troubles


def on_columns(text: list[Column], columns: list[str]) -> Assignment:
    """The lines of a page on its columns, which show what is written here."""
    areas = [replace(AREA, number=number) for number in range(1, len(columns) + 1)]
    read = [replace(unread(area), glyphs=tuple(shown_as(source))) for area, source in zip(areas, columns, strict=True)]
    return lines_of_columns(text, areas, read, ROWS, exact, bounded=True)


@pytest.mark.parametrize(
    ("source", "columns", "expected"),
    [
        pytest.param(
            "司(北/面)射夫", ["司(北/面)射", "夫"], [["司", "北/面", "射"], ["夫"]], id="the notes of the text"
        ),
        pytest.param(
            "司射\u3000\u3000北\u3000面", ["司射", "北面"], [["司射"], ["\u3000\u3000北\u3000面"]], id="blanks"
        ),
        pytest.param(
            "司(北面夫/之)", ["司(北/面)", "(夫/之)"], [["司", "北/面"], ["夫/之"]], id="a note over two columns"
        ),
        pytest.param(
            "(司/射其)(北/面)", ["(司/射)", "(北/面)"], [["司/射其"], ["北/面"]], id="a surplus character of a note"
        ),
    ],
)
def test_a_line_over_several_columns_has_in_each_what_the_text_has_there(
    source: str, columns: list[str], expected: list[list[str]]
) -> None:
    assert [rows_of(own) for own in on_columns([line(source)], columns).lines] == expected


def test_a_column_that_a_line_lacks_is_missing_within_it_and_one_beside_it_on_its_own() -> None:
    found = on_columns([line("司射北面"), line("夫之", 2)], ["東也", "司射", "西耦", "北面", "夫之", "大也"])
    assert [own.source if own else None for own in found.lines] == [None, "司射", "司射", "司射北面", "夫之", None]
    missing = [(fault.line, fault.column) for fault in found.troubles if fault.fault is LineFault.MISSING]
    assert missing == [(1, 0), (3, 5)]
