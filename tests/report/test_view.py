"""Which part of a column is shown, and where the transcription stands beside it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.model.flags import Evidence, Flag, Kind
from proof.model.geometry import Box
from proof.model.result import CheckedCharacter, CheckedColumn, PageResult, Status
from proof.report.view import View, view_of
from proof.text.model import Row

PITCH = 50.0
COLUMN = Box(500.0, 100.0, 100.0, 21 * PITCH)
TEXT = "稱為藏書之家即應將其姓名附載于各書提要末"


def characters(text: str = TEXT, row: Row = Row.MAIN, start: int = 0) -> tuple[CheckedCharacter, ...]:
    return tuple(
        CheckedCharacter(1, start + n, 1, row, glyph, Box(520, 100 + n * PITCH, 60, PITCH), glyph, 0.9)
        for n, glyph in enumerate(text)
    )


def page(cells: tuple[CheckedCharacter, ...] | None = None, columns: bool = True) -> PageResult:
    checked_columns = (CheckedColumn(1, COLUMN, TEXT),) if columns else ()
    cells = characters() if cells is None else cells
    whole = Box(0, 0, 1160, 1559)
    return PageResult(
        "page",
        "ref",
        Status.CHECKED,
        image_size=(1160, 1559),
        image_box=whole,
        columns=checked_columns,
        characters=cells,
    )


def without(first: int, last: int) -> tuple[CheckedCharacter, ...]:
    """The characters of the column but those of these offsets."""
    return tuple(c for c in characters() if not first <= c.offset < last)


def glyphs(first: float, count: float = 1) -> Box:
    """Where so many glyphs stand on the image, from that cell on."""
    return Box(520, 100 + first * PITCH, 60, count * PITCH)


def flag(offset: int, length: int = 1, kind: Kind = Kind.SUBSTITUTION, bbox: Box | None = None) -> Flag:
    return Flag("page", "ref", 1, offset, length, kind, "", "某", 1.0, True, bbox, Evidence("posterior"), id="1")


def seen(result: PageResult, place: Flag) -> View:
    view = view_of(result, place)
    assert view is not None
    return view


def test_four_characters_stand_before_and_after_the_one_in_question_at_the_heights_of_their_glyphs() -> None:
    """Of the neighbouring columns a little is shown on either side."""
    result = page()
    view = seen(result, flag(10))
    assert view.area.h == pytest.approx(9 * PITCH)
    assert view.area.centre[1] == pytest.approx(view.focus.centre[1])
    inside = [c for c in view.characters if view.area.y < c.y < view.area.bottom]
    assert [c.text for c in inside] == list(TEXT[6:15])
    assert [c.y for c in inside] == pytest.approx([c.box.centre[1] for c in result.characters[6:15]])
    assert view.area.x < COLUMN.x
    assert view.area.right > COLUMN.right
    assert view.area.w < 1.5 * COLUMN.w


@pytest.mark.parametrize("count", [1, 4])
def test_what_is_missing_leaves_a_place_as_high_as_its_glyphs(count: int) -> None:
    run = glyphs(10, count)
    missing = replace(flag(10, length=0, kind=Kind.OMISSION, bbox=run), suggested="應將其姓"[:count])
    view = seen(page(without(10, 10 + count)), missing)
    assert view.gap is not None
    assert view.gap.centre[1] == pytest.approx(run.centre[1])
    assert (count - 0.5) * PITCH < view.gap.h < run.h
    assert not any(c.marked for c in view.characters)
    assert all(not view.gap.y < c.y < view.gap.bottom for c in view.characters)


def test_a_sign_for_a_character_stands_where_that_is() -> None:
    signs = replace(flag(10, 2, bbox=glyphs(10, 2)), transcribed="□□", suggested="應將")
    view = seen(page(without(10, 12)), replace(signs, evidence=Evidence("placeholder")))
    marked = [(c.text, c.y) for c in view.characters if c.marked]
    assert marked == [("□", 100 + 10.5 * PITCH), ("□", 100 + 11.5 * PITCH)]


def test_a_run_that_is_too_much_stands_character_by_character_beside_its_place() -> None:
    between = glyphs(9.8, 0.4)
    cells = tuple(replace(c, offset=c.offset + (9 if c.offset > 9 else 0)) for c in characters())
    surplus = replace(flag(10, 9, Kind.INSERTION, between), transcribed="甲&KR0925;")
    without = [c for c in seen(page(cells), surplus).characters if c.without_glyph]
    assert [c.text for c in without] == ["甲", "&KR0925;"]
    assert all(c.marked for c in without)
    assert without[1].y - without[0].y > without[0].em
    assert (without[0].y + without[1].y) / 2 == pytest.approx(between.centre[1])


def test_a_place_that_is_not_known_gives_no_view() -> None:
    assert view_of(page(cells=(), columns=False), flag(3)) is None
    assert view_of(replace(page(), image_size=(0, 0)), flag(3)) is None


@given(
    st.builds(Box, *[st.floats(-3000, 3000)] * 2, *[st.floats(0, 3000)] * 2),
    st.builds(Box, *[st.floats(-3000, 3000)] * 2, *[st.floats(0, 3000)] * 2),
    st.integers(0, 30),
)
def test_whatever_the_boxes_a_view_lies_on_the_image(column: Box, bbox: Box, offset: int) -> None:
    result = replace(page(), columns=(CheckedColumn(1, column),))
    view = view_of(result, flag(offset, bbox=bbox))
    if view is not None:
        assert 0 <= view.area.x <= view.area.right - 1 <= 1159 + 1e-6
        assert 0 <= view.area.y <= view.area.bottom - 1 <= 1558 + 1e-6


def test_a_character_without_room_on_the_image_stands_beside_its_place() -> None:
    """不告告者, of which the image has 不者: both 告 are shown, one below the other, beside the gap."""
    text = "不告告者"
    cells = tuple(replace(c, offset=3 * n) for n, c in enumerate(characters(text[0] + text[3])))
    gap = Box(520, 135, 60, 30)
    first, second = (
        replace(flag(offset, 1, Kind.INSERTION, gap), transcribed="告", suggested="", id=str(offset))
        for offset in (1, 2)
    )
    view = seen(replace(page(cells), flags=(first, second)), first)
    without = [character for character in view.characters if character.without_glyph]
    assert [(cell.text, cell.marked) for cell in without] == [("告", True), ("告", False)]
    assert without[0].y < (100 + 1.0 * PITCH) < without[1].y
    plain = [character for character in view.characters if not character.without_glyph]
    assert [cell.text for cell in plain] == ["不", "者"]
    assert all(cell.x > max(other.x for other in plain) for cell in without)


def test_a_character_without_room_is_shown_although_another_column_lacks_the_same_at_the_same_place() -> None:
    cells = tuple(replace(c, offset=2 * n) for n, c in enumerate(characters("不者")))
    here = replace(flag(1, 1, Kind.INSERTION, Box(520, 135, 60, 30)), transcribed="告", suggested="", id="here")
    elsewhere = replace(here, line=2, id="elsewhere")
    view = seen(replace(page(cells), flags=(here, elsewhere)), flag(2, bbox=glyphs(1)))
    assert [character.text for character in view.characters if character.without_glyph] == ["告"]


def test_a_character_without_room_in_another_column_of_the_same_line_is_not_shown() -> None:
    """A line of a text without line breaks stands in several columns."""
    elsewhere = replace(flag(3, kind=Kind.INSERTION, bbox=Box(320, 400, 60, PITCH)), transcribed="雷")
    result = replace(page(), columns=(CheckedColumn(1, COLUMN, TEXT), CheckedColumn(1, Box(300, 100, 100, 1050), TEXT)))
    place = flag(10)
    view = seen(replace(result, flags=(place, elsewhere)), place)
    assert not any(character.without_glyph for character in view.characters)


def test_a_moved_character_is_marked_where_the_text_has_it_and_where_the_image_has_it() -> None:
    there = replace(flag(3, 1, Kind.INSERTION), transcribed="藏", suggested="", id="a", moved="b")
    here = replace(flag(6, 0, Kind.OMISSION, glyphs(6)), suggested="藏", id="b", moved="a")
    for asked in (there, here):
        view = seen(replace(page(), flags=(there, here)), asked)
        assert view.gap is not None
        assert any(character.marked for character in view.characters)
