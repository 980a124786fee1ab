"""A slice of a running edition on the columns of its page."""

from __future__ import annotations

from proof.layout.half_folio import ColumnArea
from proof.layout.runs import CutBy
from proof.ocr.belief import Belief
from proof.text.column import parse_column
from proof.text.model import Column, Row
from proof.verify.columns import ReadColumn
from proof.verify.glyphs import Glyph
from proof.verify.lines import Assignment, LineFault
from proof.verify.slices import lines_of_columns, without_slips

ROWS = 6
PITCH = 100.0
Seen = list[tuple[str, int, Row]]
"""Characters as the recogniser read them: each with the cell in which it stands, from 0, and its row."""


def glyph(character: str, cell: int, row: Row) -> Glyph:
    top = cell * PITCH
    return Glyph(Belief({character: -0.01}), 1.0, 0, row, 0, top, PITCH, top + PITCH, top + PITCH / 2, PITCH)


def column(number: int, seen: Seen) -> ReadColumn:
    area = ColumnArea(number, 0, PITCH, 0, ROWS * PITCH, 0)
    return ReadColumn(area, None, (), tuple(glyph(*one) for one in seen), (), 0.0, CutBy.SEEN)


def laid(source: str, *columns: Seen) -> Assignment:
    """A line of an edition, which does not say how its notes are divided, on the columns of a page."""
    read = [column(number, seen) for number, seen in enumerate(columns, 1)]
    line = Column(1, source, 0, 1, parse_column(source).runs)
    return lines_of_columns(
        [line], [one.area for one in read], read, ROWS, lambda character, at: at.log_prob(character)
    )


def main(characters: str, cell: int = 0) -> Seen:
    return [(character, at, Row.MAIN) for at, character in enumerate(characters, cell)]


def note(right: str, left: str, cell: int) -> Seen:
    return [
        *((character, at, Row.RIGHT) for at, character in enumerate(right, cell)),
        *((character, at, Row.LEFT) for at, character in enumerate(left, cell)),
    ]


def rows_of(line: Column | None) -> list[str]:
    """The runs of a line: main text as it is, notes as right/left."""
    assert line is not None
    assert [line.source[cell.offset : cell.offset + cell.length] for cell in line.cells if cell.glyph] == [
        cell.text for cell in line.cells if cell.glyph
    ]
    return [
        "/".join("".join(cell.text for cell in row) for row in ((run.right, run.left) if run.note else (run.right,)))
        for run in line.runs
    ]


def test_a_note_stands_in_the_half_rows_in_which_its_glyphs_do() -> None:
    found = laid("甲乙丙丁戊己庚辛", [*main("甲乙"), *note("丙丁", "戊己", 2), *main("庚", 4)], main("辛"))
    assert rows_of(found.lines[0]) == ["甲乙", "丙丁/戊己", "庚"]
    assert rows_of(found.lines[1]) == ["辛"]


def test_where_a_right_half_follows_a_left_one_another_note_begins() -> None:
    found = laid("甲乙丙丁戊己", [*main("甲"), *note("乙", "丙", 1), *note("丁戊", "己", 2)])
    assert rows_of(found.lines[0]) == ["甲", "乙/丙", "丁戊/己"]


def test_blank_cells_stand_where_the_image_has_none_before_text_and_before_a_note() -> None:
    found = laid("甲乙丙丁", [*main("甲", 1), *note("乙", "丙", 3), *main("丁", 5)])
    assert rows_of(found.lines[0]) == ["\u3000甲", "\u3000", "乙/丙", "\u3000丁"]


def test_a_character_that_the_image_does_not_show_stands_in_the_row_of_its_neighbour() -> None:
    found = laid("甲乙丙丁戊", [*main("甲"), *note("乙", "丁戊", 1)])
    assert rows_of(found.lines[0]) == ["甲", "乙丙/丁戊"]
    first = laid("甲乙丙丁", note("乙丙", "丁", 0))
    assert rows_of(first.lines[0]) == ["甲乙丙/丁"]


def test_a_column_between_others_of_which_the_edition_has_nothing_is_missing_from_it() -> None:
    found = laid("甲乙丙丁", main("甲乙"), main("戊己庚"), main("丙丁"))
    assert found.lines[1] is None
    assert [(one.trouble, one.column, one.read) for one in found.troubles] == [(LineFault.MISSING, 1, "戊己庚")]


def test_a_note_so_short_that_it_may_be_main_text_can_be_had_as_that() -> None:
    found = laid("甲乙丙丁戊己庚辛", [*main("甲"), *note("乙", "丙", 1), *main("丁", 2), *note("戊己", "庚辛", 3)])
    line = found.lines[0]
    assert line is not None
    assert rows_of(without_slips(line)) == ["甲乙丙丁戊己庚辛"]
    plain = laid("甲乙", main("甲乙")).lines[0]
    assert plain is not None
    assert without_slips(plain) is None
