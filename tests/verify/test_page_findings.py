"""Findings about columns and pages as a whole; the ids by which findings are known from run to run."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.layout.half_folio import ColumnArea, Outline
from proof.layout.rules import Rectification
from proof.locale.notices import in_english
from proof.model.flags import Evidence, Flag, Kind, with_ids
from proof.model.result import PageResult, Status
from proof.text.model import Column, Row, Script
from proof.text.variants import policy_of
from proof.verify.columns import ReadColumn
from proof.verify.legibility import Legibility
from proof.verify.line_assignment import Assignment, LineFault, LineTrouble
from proof.verify.page_findings import (
    area_box,
    line_flags,
    without_illegible_notes,
    without_unlike_columns,
)
from tests.half_folios import MakePage
from tests.verify.columns import AREA, in_rows, unread

BLANK = PageResult(page="010-1a", ref="WYG0103-0192c", status=Status.CHECKED)


POLICY = policy_of(Script.TRADITIONAL)


def flag(line: int, context: str, score: float = 5.0) -> Flag:
    return Flag(
        "010-1a", "", line, 0, 1, Kind.SUBSTITUTION, "北", "比", score, True, None, Evidence("posterior"), context
    )


@given(
    st.lists(st.tuples(st.integers(1, 8), st.sampled_from(["夫之西[北]耦", "司射[北]面"])), max_size=12),
    st.floats(0, 20),
)
def test_every_finding_of_a_page_has_an_id_of_its_own_that_does_not_hang_on_its_score(
    places: list[tuple[int, str]], score: float
) -> None:
    found = with_ids(flag(line, context) for line, context in places)
    assert len({one.id for one in found}) == len(places)
    assert all(one.id for one in found)
    again = with_ids(replace(flag(line, context), score=score, raised=False) for line, context in places)
    assert [one.id for one in again] == [one.id for one in found]


def outline() -> Outline:
    return Outline(Rectification.of(1.0, 0.0, 0.0, 210, 100, (0, 0)), (), True, None, 0.0, ())


def test_an_image_that_cuts_off_the_lower_register_shows_the_columns_of_the_upper_one_as_long_as_they_are() -> None:
    """The box of a column is as far as the image shows it, and no longer than the column."""
    cut = replace(outline(), cut=(None, 200.0))
    upper, lower = (unread(replace(AREA, top=top, bottom=bottom)) for top, bottom in ((10, 95), (110, 220)))
    assert [area_box(cut, column).bottom for column in (upper, lower)] == [95, 200]
    assert [area_box(replace(cut, cut=(20.0, None)), column).y for column in (upper, lower)] == [20, 110]


def test_notes_that_are_too_small_are_one_finding_and_the_main_text_keeps_its_flags(make_page: MakePage) -> None:
    page = make_page("司射北面(夫之/西耦)司射", "北面司射")
    of_page = replace(flag(1, ""), line=0)
    flags = [of_page, *(replace(flag(1, ""), offset=offset) for offset in (2, 5, 9, 11)), flag(2, "")]
    finding, *other_flags = without_illegible_notes(BLANK, page, flags, Legibility(14.0, 9.8))
    assert (finding.line, finding.evidence.reason) == (0, "notes too small")
    assert finding.evidence.notice is not None
    assert "9 pixels" in in_english(finding.evidence.notice)
    assert [(one.line, one.offset) for one in other_flags] == [(0, of_page.offset), (1, 2), (1, 11), (2, 0)]


def findings_about(make_page: MakePage, *troubles: LineTrouble) -> list[Flag]:
    """What is said of a page of eight lines with these troubles."""
    return line_flags(BLANK, make_page(*["司射北面"] * 8), outline(), (), Assignment((), troubles), 8, POLICY)


def test_several_lines_that_are_not_on_the_image_are_one_finding(make_page: MakePage) -> None:
    """A line or two may be put in by mistake; more are columns that were not found."""
    gone = [LineTrouble(LineFault.NOT_ON_PAGE, number, None, "") for number in range(2, 6)]
    assert len(findings_about(make_page, *gone[:3])) == 3
    (found,) = findings_about(make_page, *gone)
    assert found.evidence.notice is not None
    assert "4 columns" in in_english(found.evidence.notice)
    assert "2, 3, 4, 5" in in_english(found.evidence.notice)


@pytest.mark.parametrize(("shown", "findings"), [(8, 5), (9, 1), (16, 1)])
def test_missing_columns_are_one_finding_only_where_the_image_has_more_columns_than_a_page(
    make_page: MakePage, shown: int, findings: int
) -> None:
    """More than a page has are of a second one; those of the page itself are each inserted with one key."""
    columns = [replace(unread(AREA, None), glyphs=tuple(in_rows("北面", [Row.MAIN] * 2)))] * shown
    missing = tuple(LineTrouble(LineFault.MISSING, 4, number, "北面") for number in range(3, 8))
    found = line_flags(BLANK, make_page(*["司射北面"] * 3), outline(), columns, Assignment((), missing), 8, POLICY)
    assert len(found) == findings
    assert all(flag.suggested == "北面" for flag in found) == (findings > 1)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("MMRRLLMRL", "司射(北面/夫之)西(耦/大)"),
        ("RRRRLLLLL", "(司射北面/夫之西耦大)"),
        ("MMMRRLLRL", "司射北(面夫/之西)(耦/大)"),
        ("MMMMMMMMM", "司射北面夫之西耦大"),
    ],
)
def test_a_missing_column_has_its_notes_in_the_markup_of_a_text_that_has_notes(
    make_page: MakePage, rows: str, expected: str
) -> None:
    row_of = {"M": Row.MAIN, "R": Row.RIGHT, "L": Row.LEFT}
    read = "司射北面夫之西耦大"
    column = replace(unread(AREA, None), glyphs=tuple(in_rows(read, [row_of[row] for row in rows])))
    missing = Assignment((), (LineTrouble(LineFault.MISSING, 1, 0, read),))
    for marks_notes, suggested in ((True, expected), (False, read)):
        page = replace(make_page("司射北面"), marks_notes=marks_notes)
        (found,) = line_flags(BLANK, page, outline(), (column,), missing, 8, POLICY)
        assert found.suggested == suggested


@pytest.mark.parametrize(("script", "suggested"), [(Script.SIMPLIFIED, "众於东"), (Script.TRADITIONAL, "衆於東")])
def test_a_missing_column_is_suggested_in_the_script_of_the_text(
    make_page: MakePage, script: Script, suggested: str
) -> None:
    """於, which has two simplified forms, stays until it is known which one the text uses."""
    column = replace(unread(AREA, None), glyphs=tuple(in_rows("衆於東", [Row.MAIN] * 3)))
    missing = Assignment((), (LineTrouble(LineFault.MISSING, 1, 0, "衆於東"),))
    (found,) = line_flags(BLANK, make_page("司射北面"), outline(), (column,), missing, 8, policy_of(script))
    assert found.suggested == suggested


@pytest.mark.parametrize("dirt", ["", "，"])
@pytest.mark.parametrize(("lower_by", "suggested"), [(0.0, "北面"), (1.0, "　北面"), (2.0, "　　北面")])
def test_a_missing_column_is_indented_as_the_columns_that_begin_as_low(
    make_page: MakePage, lower_by: float, suggested: str, dirt: str
) -> None:
    """Dirt above its first character is no beginning."""
    page = make_page("司射", "　東面", "　西面")
    glyphs = in_rows("北面", [Row.MAIN] * 2)

    def column(line: Column | None, lower_by: float) -> ReadColumn:
        moved = tuple(replace(glyph, y=glyph.y + lower_by * glyph.pitch) for glyph in glyphs)
        return replace(unread(AREA, line), glyphs=moved)

    columns = [column(line, float(line.source.startswith("　"))) for line in page.columns]
    missing = Assignment((), (LineTrouble(LineFault.MISSING, 4, 3, "北面"),))
    lacking = column(None, lower_by)
    lacking = replace(lacking, glyphs=(*in_rows(dirt, [Row.MAIN] * len(dirt)), *lacking.glyphs))
    (found,) = line_flags(BLANK, page, outline(), (*columns, lacking), missing, 8, POLICY)
    assert found.suggested == suggested


@pytest.mark.parametrize(
    ("unlike", "lines"), [(set(), [12]), ({0}, [*[1] * 9, 12]), ({0, 2}, [0, 12]), ({0, 1, 2}, [0, 12])]
)
def test_columns_that_differ_at_most_places_are_one_finding_where_there_are_several(
    make_page: MakePage, unlike: set[int], lines: list[int]
) -> None:
    """One line may be of another text; several columns were found wrongly. The rest of the page keeps its flags."""
    page = make_page(*["司射北面夫之西耦司射北面夫之西耦司射北面"] * 12)
    columns = [unread(ColumnArea(line.number, 0, 1, 0, 1, 0.0), line) for line in page.columns]
    flags = [[flag(n + 1, "")] * (9 if n in unlike else n == 11) for n in range(12)]
    kept, found = without_unlike_columns(BLANK, columns, flags)
    assert [one.line for one in kept] == lines
    assert found == (unlike if len(unlike) > 1 else set())
