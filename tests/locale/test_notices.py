"""Every notice is a code with values, and a sentence in the language of whoever is shown it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.images.find import ImageIndex
from proof.locale.languages import LANGUAGES, translations
from proof.locale.notices import as_record, in_english, in_words
from proof.model.notices import Notice, NoticeCode
from proof.model.refs import Folio, ImageRef, sequence_findings
from proof.report.reasons import LISTS
from proof.text.authorities import NAMES
from proof.text.column import parse_column
from proof.text.model import Column, Page
from proof.text.variants import COMMON
from proof.verify.pairing import neighbours_of, page_shown

PLACE = re.compile(r"%\((\w+)\)s")
WORDS = re.compile(r"[a-z]{2,} [a-z]{2,}", re.ASCII)

folios = st.one_of(st.none(), st.builds(Folio, st.integers(1, 30), st.sampled_from("ab")))
plates = st.builds(ImageRef, st.just("WYG"), st.integers(103, 104), st.integers(1, 40), st.sampled_from([*"abcd", ""]))
images = st.one_of(st.none(), plates)


def samples(code: NoticeCode) -> Iterator[Notice]:
    """Notices of a code, for each of its sentences."""
    for number in (1, 7):
        names = sorted(set(PLACE.findall(Notice.of(code, number=number).message)) - {"number"})
        yield Notice.of(code, **dict.fromkeys(names, "甲"), number=number)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_code_has_a_sentence_in_every_language(language: str) -> None:
    say = translations(language).gettext
    for code in NoticeCode:
        for notice in samples(code):
            message = in_words(notice, say)
            assert message, code
            assert "%(" not in message, code
            assert (message == in_english(notice)) == (language == "en" or code is NoticeCode.AS_TOLD)
            assert language == "en" or not WORDS.search(message), message


@given(st.lists(st.tuples(folios, images), min_size=2, max_size=6))
def test_no_break_of_a_sequence_of_pages_stays_in_english(leaves: list[tuple[Folio | None, ImageRef | None]]) -> None:
    for finding in sequence_findings(leaves):
        message = in_words(finding, translations("zh-Hant").gettext)
        assert not WORDS.search(message), message


def page(number: int, text: str) -> Page:
    lines = [Column(1, text, 0, 1, parse_column(text).runs)]
    return Page(f"010-{number}a", Folio(number, "a"), None, "010", 1, tuple(lines))


@pytest.mark.parametrize("shown", [2, 4, None])
def test_a_wrong_image_is_told_in_chinese(shown: int | None) -> None:
    texts = ["".join(chr(0x4E00 + 40 * number + n) for n in range(40)) for number in range(6)]
    pages = [page(number + 1, text) for number, text in enumerate(texts)]
    read = texts[shown] if shown is not None else "".join(chr(0x6E00 + n) for n in range(40))
    carried = page_shown(read, pages[3], neighbours_of(pages, 3), str)
    assert carried.message
    message = in_words(carried.message, translations("zh-Hant").gettext)
    assert message != in_english(carried.message)
    assert not WORDS.search(message), message


def test_programs_get_text_code_and_values() -> None:
    notice = Notice.of(NoticeCode.PART_OF_CELL, number=0.4)
    assert as_record(notice) == {"text": "0.4 of a cell", "code": "part-of-cell", "values": {"number": 0.4}}


def test_a_notice_comes_back_from_json() -> None:
    for notice in (notice for code in NoticeCode for notice in samples(code)):
        outer = Notice.of(NoticeCode.SEQUENCE, one="1a", other="2a", what=notice)
        assert Notice.of_json(outer.as_json()) == outer


def test_every_list_of_variants_has_a_name() -> None:
    assert set(LISTS) == {*NAMES.values(), COMMON.rule, "house", "project"}


def test_what_the_finder_of_images_remarks_is_told_in_chinese(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "other.png").touch()
    (tmp_path / "images" / "a.png").symlink_to(tmp_path / "other.png")
    [notice] = ImageIndex([tmp_path / "images"]).notices
    assert notice.code is NoticeCode.LINK_OUTWARD
    assert "連結" in in_words(notice, translations("zh-Hant").gettext)
