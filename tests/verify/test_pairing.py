"""The gate before any comparison: an image that carries another page is one finding."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from proof.locale.notices import in_english
from proof.model.refs import Folio
from proof.text.column import parse_column
from proof.text.model import Column, Page
from proof.verify.pairing import gate, neighbours_of

TEXTS = [
    "欽定四庫全書儀禮集釋卷十宋李如圭撰大射儀司射適西階西倚扑升自西階東面請射于公",
    "鄭注告諸公卿于堂上尊之也司射自西階上北面告于大夫曰請降司射先降搢扑反位大夫從之降",
    "眾耦立于大夫之南西面北上若有士與大夫為耦則以大夫之耦為上鄭注為上居羣士之上命大夫之耦曰",
    "此命入次之事也司射既命而反位不言之者上射出當作取矢事未訖一耦出西面揖當楅北面揖及楅揖",
]


def page(number: int) -> Page:
    text = TEXTS[number]
    column = Column(1, text, 0, 1, parse_column(text).runs)
    return Page(f"p{number}", Folio(number // 2 + 1, "ab"[number % 2]), None, "", 1, (column,))


PAGES = [page(number) for number in range(len(TEXTS))]


def same(character: str) -> str:
    return character


def test_an_image_of_its_own_page_passes() -> None:
    assert gate(TEXTS[1], PAGES[1], neighbours_of(PAGES, 1), same).fits


def test_an_image_one_page_on_is_named() -> None:
    carried = gate(TEXTS[2], PAGES[1], neighbours_of(PAGES, 1), same)
    assert not carried.fits
    assert carried.other is PAGES[2]
    assert carried.message
    assert in_english(carried.message) == "this image carries 2a, one page on"


def test_an_image_two_pages_back_is_named() -> None:
    back = gate(TEXTS[0], PAGES[2], neighbours_of(PAGES, 2), same).message
    assert back
    assert in_english(back) == "this image carries 1a, 2 pages back"


def test_an_image_of_quite_another_book_is_none_of_the_pages_around() -> None:
    carried = gate("關關雎鳩在河之洲窈窕淑女君子好逑參差荇菜左右流之", PAGES[1], neighbours_of(PAGES, 1), same)
    assert not carried.fits
    assert carried.other is None


def test_a_blank_sheet_is_not_the_page() -> None:
    assert not gate("", PAGES[1], neighbours_of(PAGES, 1), same).fits


def test_a_title_leaf_is_too_little_to_judge_by() -> None:
    title = Page("t", None, None, "", 1, (Column(1, "卷十", 0, 1, parse_column("卷十").runs),))
    assert gate("卷七", title, [], same).fits


@given(st.data())
def test_a_third_of_the_characters_misread_does_not_make_it_another_page(data: st.DataObject) -> None:
    text = TEXTS[1]
    wrong = data.draw(st.sets(st.integers(0, len(text) - 1), max_size=len(text) // 3))
    read = "".join("囗" if i in wrong else character for i, character in enumerate(text))
    assert gate(read, PAGES[1], neighbours_of(PAGES, 1), same).fits
