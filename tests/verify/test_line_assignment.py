"""Columns to lines: what is missing, doubled or elsewhere is one finding, and the rest stays in its place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.verify.line_assignment import Assignment, LineFault, assign, in_order
from tests.verify.pages import line

PAGE = [
    "司射適西階西倚扑升自西階",
    "鄭注倚扑者將即君前不敢佩",
    "公卿大夫辯聞也",
    "公許遂適西階上命賓御于公",
    "大夫則降即位而後告",
]


OTHER = "一耦出西面揖當楅北面揖及楅揖"


def laid(texts: list[str], read: list[str]) -> Assignment:
    return assign([line(text, number) for number, text in enumerate(texts, 1)], read, str)


def numbers(assignment: Assignment) -> list[int | None]:
    return [own.number if own else None for own in assignment.lines]


@pytest.mark.parametrize("misread", ["", "西公"])
def test_a_page_in_order_is_laid_out_in_order(misread: str) -> None:
    """A few misread characters change nothing."""
    assignment = laid(PAGE, [text.translate(str.maketrans(misread, "口" * len(misread))) for text in PAGE])
    assert numbers(assignment) == [1, 2, 3, 4, 5]
    assert assignment.troubles == ()


def test_a_line_left_out_is_one_finding_that_says_what_the_column_shows() -> None:
    assignment = laid([*PAGE[:2], *PAGE[3:]], PAGE)
    assert [(t.fault, t.line, t.column, t.read) for t in assignment.troubles] == [(LineFault.MISSING, 3, 2, PAGE[2])]
    assert numbers(assignment) == [1, 2, None, 3, 4]


def test_a_line_that_stands_twice_is_one_finding() -> None:
    [trouble] = laid([*PAGE[:2], PAGE[1], *PAGE[2:]], PAGE).troubles
    assert trouble.fault is LineFault.DOUBLED
    assert trouble.line in (2, 3)


def test_two_lines_that_changed_places_are_told_and_still_read_on_their_own_columns() -> None:
    assignment = laid([PAGE[0], PAGE[3], PAGE[2], PAGE[1], PAGE[4]], PAGE)
    assert {t.fault for t in assignment.troubles} == {LineFault.MOVED}
    assert [own.source if own else None for own in assignment.lines] == PAGE


@given(st.permutations(PAGE))
def test_lines_in_whatever_order_are_each_read_on_their_own_column(lines: list[str]) -> None:
    assignment = laid(lines, PAGE)
    assert [own.source if own else None for own in assignment.lines] == PAGE
    assert {trouble.fault for trouble in assignment.troubles} <= {LineFault.MOVED}


def test_a_line_of_another_page_and_one_beyond_the_last_column_are_not_on_this_one() -> None:
    assert [t.fault for t in laid([*PAGE, OTHER], PAGE).troubles] == [LineFault.NOT_ON_PAGE]
    beyond = in_order([line(text, number) for number, text in enumerate(PAGE, 1)], 4)
    assert [(t.fault, t.line) for t in beyond.troubles] == [(LineFault.NOT_ON_PAGE, 5)]


@pytest.mark.parametrize(
    ("lines", "read", "divided"),
    [
        (
            ["司射適西階", "北面告于公大夫降即位", "一耦揖當楅"],
            ["司射適西階", "北面告于公", "大夫降即位", "一耦揖當楅"],
            [(2, 5)],
        ),
        (
            ["司射適西階", "北面告于公  大夫降即位", "一耦揖當楅"],
            ["司射適西階", "北面告于公", "大夫降即位", "一耦揖當楅"],
            [(2, 5)],
        ),
        (
            ["司射適西階", "北面告于公大夫降即位君前不敢佩", "一耦揖當楅"],
            ["司射適西階", "北面告于公", "大夫降即位", "君前不敢佩", "一耦揖當楅"],
            [(2, 5), (2, 10)],
        ),
        (
            ["司射適西階", "北面告(于公)大夫降即位", "一耦揖當楅"],
            ["司射適西階", "北面告于公", "大夫降即位", "一耦揖當楅"],
            [(2, 7)],
        ),
        (
            ["一耦揖當楅", "北面告于公大夫降即位", "司射適西階"],
            ["司射適西階", "北面告于公", "大夫降即位", "一耦揖當楅"],
            [(2, 5)],
        ),
        (["北面告于公大夫降即位", "一耦揖當楅", "一耦揖當楅"], ["北面告于公", "大夫降即位", "一耦揖當楅"], [(1, 5)]),
        (
            ["", "北面告于公大夫降即位", "君前不敢佩", "一耦揖當楅"],
            ["司射適西階", "", "北面告于公", "大夫降即位", "君前不敢佩", "一耦揖當楅"],
            [(2, 5)],
        ),
        (
            ["司射適西階北面告于公大夫降即位一耦揖當楅", "君前不敢佩", "階上命賓御", "將即西倚扑"],
            ["司射適西階", "北面告于公", "大夫降即位", "一耦揖當楅", "君前不敢佩", "階上命賓御", "將即西倚扑"],
            [],
        ),
        (
            ["司射適西階", "北面告(于公大夫降即位)", "一耦揖當楅"],
            ["司射適西階", "北面告于公", "大夫降即位", "一耦揖當楅"],
            [],
        ),
        (
            ["司射適西階北面告于公", "大夫降即位一耦揖當楅"],
            ["司射適西階", "北面告于公", "大夫降即位", "一耦揖當楅"],
            [],
        ),
    ],
    ids=[
        "two columns",
        "at blanks",
        "three columns",
        "behind a note",
        "with others moved",
        "beside one that is doubled",
        "beside a blank column",
        "a paragraph",
        "within a note",
        "no line is a column",
    ],
)
def test_a_line_is_to_be_divided_where_it_goes_on_in_the_next_column(
    lines: list[str], read: list[str], divided: list[tuple[int, int]]
) -> None:
    assignment = laid(lines, read)
    found = [trouble for trouble in assignment.troubles if trouble.fault is LineFault.UNDIVIDED]
    assert [(trouble.line, trouble.offset) for trouble in found] == divided
    parts = ["".join(cell.text for cell in own.cells if cell.glyph) for own in assignment.lines if own]
    assert not divided or set(parts) <= set(read)


@given(st.lists(st.text("天地玄黃宇宙洪荒日月", max_size=12), max_size=8), st.permutations(range(8)))
def test_no_line_is_laid_on_two_columns_undivided(texts: list[str], order: list[int]) -> None:
    assignment = laid(texts, [texts[n] for n in order if n < len(texts)])
    own = [number for number in numbers(assignment) if number]
    divided = sum(trouble.fault is LineFault.UNDIVIDED for trouble in assignment.troubles)
    assert len(own) == len(set(own)) + divided
    shown = [cell.offset for line in assignment.lines if line and line.number == 1 for cell in line.cells]
    assert len(shown) == len(set(shown))


def test_a_line_that_stands_twice_is_not_laid_on_a_column_that_the_text_lacks() -> None:
    assignment = laid([*PAGE[:2], PAGE[4], PAGE[4]], PAGE)
    assert numbers(assignment)[2:4] == [None, None]
    faults = {LineFault.MISSING: 2, LineFault.DOUBLED: 1}
    assert {fault: sum(t.fault is fault for t in assignment.troubles) for fault in faults} == faults
