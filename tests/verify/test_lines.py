"""Columns to lines: what is missing, doubled or elsewhere is one finding, and the rest stays in its place."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from proof.text.column import parse_column
from proof.text.model import Column
from proof.verify.lines import LineFault, assign, in_order

PAGE = [
    "司射適西階西倚扑升自西階",
    "鄭注倚扑者將即君前不敢佩",
    "公卿大夫辯聞也",
    "公許遂適西階上命賓御于公",
    "大夫則降即位而後告",
]


def lines(texts: list[str]) -> list[Column]:
    return [Column(n, text, 0, n, parse_column(text).runs) for n, text in enumerate(texts, 1)]


def same(character: str) -> str:
    return character


def test_a_page_in_order_is_laid_out_in_order() -> None:
    assignment = assign(lines(PAGE), PAGE, same)
    assert [line.number if line else None for line in assignment.lines] == [1, 2, 3, 4, 5]
    assert assignment.troubles == ()


def test_a_few_misread_characters_change_nothing() -> None:
    read = [text.replace("西", "四").replace("公", "么") for text in PAGE]
    assert assign(lines(PAGE), read, same).troubles == ()


def test_a_line_left_out_is_one_finding_that_says_what_the_column_shows() -> None:
    assignment = assign(lines([*PAGE[:2], *PAGE[3:]]), PAGE, same)
    assert [(t.trouble, t.line, t.column, t.read) for t in assignment.troubles] == [(LineFault.MISSING, 3, 2, PAGE[2])]
    assert [line.number if line else None for line in assignment.lines] == [1, 2, None, 3, 4]


def test_a_line_that_stands_twice_is_one_finding() -> None:
    assignment = assign(lines([*PAGE[:2], PAGE[1], *PAGE[2:]]), PAGE, same)
    assert [t.trouble for t in assignment.troubles] == [LineFault.DOUBLED]
    assert assignment.troubles[0].line in (2, 3)


def test_two_lines_that_changed_places_are_told_and_still_read_on_their_own_columns() -> None:
    assignment = assign(lines([PAGE[0], PAGE[3], PAGE[2], PAGE[1], PAGE[4]]), PAGE, same)
    assert {t.trouble for t in assignment.troubles} == {LineFault.MOVED}
    assert [line.source if line else None for line in assignment.lines] == PAGE


def test_a_column_of_which_notes_are_read_as_main_text_stands_between_its_neighbours() -> None:
    """士(駿奔樂且/有儀乃錫)純嘏永(佐丕基返/神奏圜鐘)宮殷(祀既/畢靈), of which the column beside it took the place."""
    noted = "士(駿奔樂且/有儀乃錫)純嘏永(佐丕基返/神奏圜鐘)宮殷(祀既/畢靈)"
    text = lines([PAGE[0], "(寧/之)", PAGE[1], noted, *PAGE[2:]])
    read = "士駿奔樂且屯又之佐丕基送第殳祀既二有儀乃錫台胡矛神奏国糖官房畢重"
    assignment = assign(text, [*PAGE[:2], read, *PAGE[2:]], same)
    assert [line.number for line in assignment.lines if line] == [1, 3, 4, 5, 6, 7]
    assert [(t.trouble, t.line) for t in assignment.troubles] == [(LineFault.NOT_ON_PAGE, 2)]
    other = assign(lines([PAGE[1], "一耦出西面揖當楅北面揖及楅揖", *PAGE[3:]]), PAGE, same)
    assert {t.trouble for t in other.troubles} == {LineFault.MISSING, LineFault.NOT_ON_PAGE}


def test_a_line_of_another_page_is_not_on_this_one() -> None:
    assignment = assign(lines([*PAGE, "一耦出西面揖當楅北面揖及楅揖"]), PAGE, same)
    assert [t.trouble for t in assignment.troubles] == [LineFault.NOT_ON_PAGE]


def test_lines_beyond_the_last_column_are_not_on_the_page() -> None:
    assignment = in_order(lines(PAGE), 4)
    assert [(t.trouble, t.line) for t in assignment.troubles] == [(LineFault.NOT_ON_PAGE, 5)]


@given(st.lists(st.text("天地玄黃宇宙洪荒日月", max_size=12), max_size=8), st.permutations(range(8)))
def test_no_line_is_laid_on_two_columns(texts: list[str], order: list[int]) -> None:
    shown = [texts[n] for n in order if n < len(texts)]
    laid = [line.number for line in assign(lines(texts), shown, same).lines if line]
    assert len(laid) == len(set(laid))
