"""The gate before any comparison: an image that carries another page is one finding."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.locale.notices import in_english
from proof.model.refs import Folio
from proof.text.model import Page
from proof.verify.pairing import PageShown, neighbours_of, page_shown
from tests.verify.pages import line

TEXTS = [
    "欽定四庫全書儀禮集釋卷十宋李如圭撰大射儀司射適西階西倚扑升自西階東面請射于公",
    "鄭注告諸公卿于堂上尊之也司射自西階上北面告于大夫曰請降司射先降搢扑反位大夫從之降",
    "眾耦立于大夫之南西面北上若有士與大夫為耦則以大夫之耦為上鄭注為上居羣士之上命大夫之耦曰",
    "此命入次之事也司射既命而反位不言之者上射出當作取矢事未訖一耦出西面揖當楅北面揖及楅揖",
]


PAGES = [
    Page(f"p{number}", Folio(number // 2 + 1, "ab"[number % 2]), None, "", 1, (line(text),))
    for number, text in enumerate(TEXTS)
]


def carried(read: str, number: int) -> PageShown:
    """What an image of which this is read carries where that page is looked for."""
    return page_shown(read, PAGES[number], neighbours_of(PAGES, number), str)


@pytest.mark.parametrize(
    ("read", "number", "other", "message"),
    [
        (TEXTS[2], 1, PAGES[2], "this image carries 2a, one page on"),
        (TEXTS[0], 2, PAGES[0], "this image carries 1a, 2 pages back"),
        ("關關雎鳩在河之洲窈窕淑女君子好逑參差荇菜左右流之", 1, None, ""),
        ("", 1, None, ""),
    ],
)
def test_an_image_of_another_page_does_not_fit_and_the_page_is_named(
    read: str, number: int, other: Page | None, message: str
) -> None:
    found = carried(read, number)
    assert not found.fits
    assert found.other is other
    if message:
        assert found.message
        assert in_english(found.message) == message


def test_a_title_leaf_is_too_little_to_judge_by() -> None:
    title = Page("t", None, None, "", 1, (line("卷十"),))
    assert page_shown("卷七", title, [], str).fits


@given(st.data())
def test_a_third_of_the_characters_misread_does_not_make_it_another_page(data: st.DataObject) -> None:
    text = TEXTS[1]
    wrong = data.draw(st.sets(st.integers(0, len(text) - 1), max_size=len(text) // 3))
    read = "".join("囗" if i in wrong else character for i, character in enumerate(text))
    assert carried(read, 1).fits
