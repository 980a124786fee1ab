"""Remarks of a check, kept as they were made, are told in the language of the report."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.locale.languages import translations
from proof.model.refs import Folio, ImageRef, sequence_findings
from proof.report.phrases import PHRASES, retold
from proof.text.column import parse_column
from proof.text.model import Column, Page
from proof.verify.pairing import gate, neighbours_of

HANT = translations("zh-Hant").gettext
HANS = translations("zh-Hans").gettext
WORDS = re.compile(r"[a-z]{2,}", re.ASCII)

folios = st.one_of(st.none(), st.builds(Folio, st.integers(1, 30), st.sampled_from("ab")))
images = st.one_of(
    st.none(),
    st.builds(
        ImageRef, st.just("WYG"), st.integers(103, 104), st.integers(1, 40), st.sampled_from(["a", "b", "c", "d", ""])
    ),
)


@given(st.lists(st.tuples(folios, images), min_size=2, max_size=6))
def test_no_break_of_a_sequence_of_pages_stays_in_english(leaves: list[tuple[Folio | None, ImageRef | None]]) -> None:
    for finding in sequence_findings(leaves):
        for say in (HANT, HANS):
            told = re.sub(r"\d+[ab]", "", retold(finding.message, say))
            assert not WORDS.search(told), told


def page(number: int, text: str) -> Page:
    lines = [Column(1, text, 0, 1, parse_column(text).runs)]
    return Page(f"010-{number}a", Folio(number, "a"), None, "010", 1, tuple(lines))


@pytest.mark.parametrize("shown", [2, 4, None])
def test_a_wrong_image_is_told_in_chinese(shown: int | None) -> None:
    texts = ["".join(chr(0x4E00 + 40 * number + n) for n in range(40)) for number in range(6)]
    pages = [page(number + 1, text) for number, text in enumerate(texts)]
    read = texts[shown] if shown is not None else "".join(chr(0x6E00 + n) for n in range(40))
    carried = gate(read, pages[3], neighbours_of(pages, 3), str)
    assert not carried.fits
    told = retold(carried.message, HANT)
    assert told != carried.message
    assert not WORDS.search(told), told


@pytest.mark.parametrize("phrase", PHRASES)
def test_every_phrase_is_known_again_with_its_values(phrase: str) -> None:
    names = re.findall(r"%\((\w+)\)s", phrase)
    values = {name: str(7 + n) for n, name in enumerate(names)}
    told = retold(phrase % values, HANT)
    assert told == HANT(phrase) % values
    assert not WORDS.search(told), told


def test_what_is_no_remark_of_ours_stays_as_it_is() -> None:
    said = "pages/a.png: No such file or directory"
    assert retold(said, HANT) == said


def test_in_english_a_remark_is_told_as_it_was_made() -> None:
    for phrase in PHRASES:
        values = dict.fromkeys(re.findall(r"%\((\w+)\)s", phrase), "3")
        assert retold(phrase % values, translations("en").gettext) == phrase % values
