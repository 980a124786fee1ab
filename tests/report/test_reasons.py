"""Findings in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proof.locale.languages import LANGUAGES, translations
from proof.locale.notices import in_english
from proof.model.flags import Evidence, Kind
from proof.model.notices import Notice, NoticeCode
from proof.model.result import PageResult, Status
from proof.report.reasons import kind_name, percent, status_name, why
from proof.verify.page_findings import unreadable


def english(message: str) -> str:
    return message


def test_a_substitution_says_what_either_side_has_and_how_sure_the_engine_was(checked: PageResult) -> None:
    assert why(checked.flags[0], english) == "The image reads 某 (97%); the text's 其 gets 0.1%."


def test_what_the_ink_says_and_what_a_column_reads_follow_the_finding(checked: PageResult) -> None:
    insertion = next(flag for flag in checked.flags if flag.kind is Kind.INSERTION)
    assert why(insertion, english) == (
        "The text has 分; the image shows no such character here. There is no ink for a character here."
    )
    layout = next(flag for flag in checked.flags if flag.kind is Kind.LAYOUT)
    assert why(layout, english) == "A column stands elsewhere on the image. The image reads: 得附載於後"


def test_a_character_that_the_engine_does_not_know_is_said_to_be_one(checked: PageResult) -> None:
    evidence = replace(checked.flags[0].evidence, reason="unknown to the engine", p_text=None)
    assert "其 is not among the characters that can be read." in why(
        replace(checked.flags[0], evidence=evidence), english
    )


@pytest.mark.parametrize(
    ("reason", "code"), [("page blank", NoticeCode.IMAGE_BLANK), ("image mirrored", NoticeCode.IMAGE_MIRRORED)]
)
def test_an_image_that_cannot_be_read_is_named_once(checked: PageResult, reason: str, code: NoticeCode) -> None:
    (flag,) = unreadable(checked, reason, Notice(code)).flags
    said = why(flag, english)
    assert said.lower().count("this image is") == 1
    assert said.lower().startswith(in_english(Notice(code)).split(":")[0])


def test_ink_that_could_not_be_read_is_not_said_to_be_a_character(checked: PageResult) -> None:
    ink = replace(checked.flags[0], kind=Kind.OMISSION, suggested="", evidence=Evidence("ink"))
    assert why(ink, english) == "There is ink that could not be read."


def test_of_two_equal_characters_it_says_that_the_text_has_one(checked: PageResult) -> None:
    one = replace(
        checked.flags[0], kind=Kind.OMISSION, transcribed="揖", suggested="揖揖", evidence=Evidence("not transcribed")
    )
    assert why(one, english).startswith("The image reads 揖揖, the text has 揖.")


def test_what_lowered_a_finding_is_said(checked: PageResult) -> None:
    evidence = replace(checked.flags[0].evidence, reason="doubt", rule="run together in this hand")
    said = why(replace(checked.flags[0], evidence=evidence), english)
    assert said.endswith("hard to read. In this hand the two are often confused: score lowered.")


def test_a_variant_names_the_rule_that_hid_it(checked: PageResult) -> None:
    variant = next(flag for flag in checked.flags if flag.kind is Kind.VARIANT)
    assert "Rule: one to one." in why(variant, english)


def test_a_reason_without_a_sentence_of_its_own_is_given_as_it_is(checked: PageResult) -> None:
    layout = next(flag for flag in checked.flags if flag.kind is Kind.LAYOUT)
    assert why(replace(layout, evidence=Evidence("something new")), english) == "Something new."


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_kind_and_status_has_words_in_every_language(language: str, checked: PageResult) -> None:
    say = translations(language).gettext
    words = [kind_name(kind, say) for kind in Kind] + [status_name(status, say) for status in Status]
    assert all(words)
    if language != "en":
        assert all("\u4e00" <= word[0] <= "\u9fff" for word in words)
        for flag in checked.flags:
            assert "%(" not in why(flag, say)


def test_percentages_claim_no_certainty_that_is_none() -> None:
    assert [percent(p) for p in (1.0, 0.9712, 0.995, 0.5, 0.0161, 0.0008, 0.0)] == [
        "> 99.9%",
        "97%",
        "99.5%",
        "50%",
        "1.6%",
        "0.1%",
        "< 0.1%",
    ]
