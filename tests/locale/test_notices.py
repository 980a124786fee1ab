"""Every notice is a code with values, and a sentence in the language of whoever is shown it."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import proof
from proof.images.find import ImageIndex
from proof.locale.languages import LANGUAGES, translations
from proof.locale.notices import NOTICES, as_record, in_english, in_words
from proof.model.notices import Notice, NoticeCode
from proof.model.refs import Folio, ImageRef, sequence_findings
from proof.report.reasons import LISTS, REASONS
from proof.text.authorities import NAMES
from proof.text.column import parse_column
from proof.text.model import Column, Page
from proof.text.variants import COMMON
from proof.verify.lines import LineFault
from proof.verify.pairing import gate, neighbours_of

PROOF = Path(proof.__file__).parent
CHINESE = [language for language in LANGUAGES if language != "en"]
PLACE = re.compile(r"%\((\w+)\)s")
WORDS = re.compile(r"[a-z]{2,} [a-z]{2,}", re.ASCII)

folios = st.one_of(st.none(), st.builds(Folio, st.integers(1, 30), st.sampled_from("ab")))
images = st.one_of(
    st.none(),
    st.builds(
        ImageRef, st.just("WYG"), st.integers(103, 104), st.integers(1, 40), st.sampled_from(["a", "b", "c", "d", ""])
    ),
)


def samples(code: NoticeCode) -> Iterator[Notice]:
    """Notices of a code, for each of its sentences."""
    for number in (1, 7):
        names = sorted(set(PLACE.findall(NOTICES[code].of({"number": number}))) - {"number"})
        yield Notice.of(code, **dict.fromkeys(names, "甲"), number=number)


@pytest.mark.parametrize("code", NoticeCode)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_code_has_a_sentence_in_every_language(code: NoticeCode, language: str) -> None:
    say = translations(language).gettext
    for notice in samples(code):
        told = in_words(notice, say)
        assert told
        assert "%(" not in told
        assert (told == in_english(notice)) == (language == "en" or code is NoticeCode.AS_TOLD)
        assert language == "en" or not WORDS.search(told), told


def test_no_code_is_there_that_nobody_uses() -> None:
    code = "\n".join(path.read_text(encoding="utf-8") for path in PROOF.rglob("*.py") if path.name != "notices.py")
    unused = {one for one in NoticeCode if f"NoticeCode.{one.name}" not in code}
    assert unused == {NoticeCode.AS_TOLD}, "that one alone is for errors without a notice, by `Notice.of_error`"


@given(st.lists(st.tuples(folios, images), min_size=2, max_size=6))
def test_no_break_of_a_sequence_of_pages_stays_in_english(leaves: list[tuple[Folio | None, ImageRef | None]]) -> None:
    for finding in sequence_findings(leaves):
        for language in CHINESE:
            told = in_words(finding.notice, translations(language).gettext)
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
    assert carried.message
    told = in_words(carried.message, translations("zh-Hant").gettext)
    assert told != in_english(carried.message)
    assert not WORDS.search(told), told


def test_a_notice_within_a_notice_is_told_in_the_same_language() -> None:
    why = Notice.of(NoticeCode.LEVEL_LINES, number=2)
    told = in_words(Notice.of(NoticeCode.READ_BY_PAGE_PIPELINE, why=why, engine="x"), translations("zh-Hant").gettext)
    assert in_words(why, translations("zh-Hant").gettext) in told


def test_one_is_said_otherwise_than_several() -> None:
    one, two = (in_english(Notice.of(NoticeCode.CARRIES_LATER, page="2b", number=number)) for number in (1, 2))
    assert (one, two) == ("this image carries 2b, one page on", "this image carries 2b, 2 pages on")


def test_programs_get_text_code_and_values() -> None:
    notice = Notice.of(NoticeCode.PART_OF_CELL, number=0.4)
    assert as_record(notice) == {"text": "0.4 of a cell", "code": "part-of-cell", "values": {"number": 0.4}}


@pytest.mark.parametrize("code", NoticeCode)
def test_a_notice_comes_back_from_json(code: NoticeCode) -> None:
    for notice in samples(code):
        outer = Notice.of(NoticeCode.SEQUENCE, one="1a", other="2a", what=notice)
        assert Notice.of_json(outer.as_json()) == outer


TOLD = frozenset({"notice", "notices", "message", "findings", "why", "trouble", "ink", "unread"})
EDGE = ("proof.web", "proof.commands", "proof.report", "proof.fetch.fetch", "proof.store.migrations")
"""Where sentences are what is made. What a fetch came to goes straight to the command line."""


def test_no_field_that_crosses_a_stage_is_a_sentence() -> None:
    """What tells something, from reading an image to the store, is a `Notice` by its type."""
    sentences = []
    for module in pkgutil.walk_packages(proof.__path__, "proof."):
        if module.name.startswith(EDGE) or module.name == "proof.__main__":
            continue
        for name, thing in vars(importlib.import_module(module.name)).items():
            if isinstance(thing, type) and dataclasses.is_dataclass(thing) and thing.__module__ == module.name:
                told = [field for field in dataclasses.fields(thing) if field.name in TOLD]
                sentences += [f"{module.name}.{name}.{f.name}: {f.type}" for f in told if "str" in str(f.type)]
    assert sentences == ["proof.store.recovery.Unplaced.why: str"]


@pytest.mark.slow
def test_no_notice_is_given_a_sentence_as_a_value() -> None:
    given_words = []
    for path in PROOF.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("Notice.of", "Notice.of_error")):
                words = [one.value for one in ast.walk(node) if isinstance(one, ast.Constant)]
                given_words += [f"{path.name}: {one}" for one in words if isinstance(one, str) and " " in one.strip()]
    assert given_words == []


OF_CHARACTERS = frozenset(
    {"posterior", "unknown to the engine", "variant", "transposition", "no glyph", "not transcribed", "witness"}
    | {"by hand"}
)
"""Reasons that say no more than the kind of the flag, which has a sentence."""


def test_every_reason_for_a_flag_has_a_sentence() -> None:
    reasons = {fault.value for fault in LineFault}
    for path in PROOF.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Evidence":
                given = [one.value for one in node.keywords if one.arg == "reason"] + node.args[:1]
                reasons |= {one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)}
    assert {"ink", "image mismatch"} <= reasons
    assert reasons - OF_CHARACTERS - set(REASONS) == set()


def test_every_list_of_variants_has_a_name() -> None:
    assert set(LISTS) == {*NAMES.values(), COMMON.rule, "house", "project"}


def test_what_the_finder_of_images_remarks_is_told_in_chinese(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "other.png").touch()
    (tmp_path / "images" / "a.png").symlink_to(tmp_path / "other.png")
    [notice] = ImageIndex([tmp_path / "images"]).notices
    assert notice.code is NoticeCode.LINK_OUTWARD
    assert "連結" in in_words(notice, translations("zh-Hant").gettext)
