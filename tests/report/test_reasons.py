"""Findings in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

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


SENTENCES: list[tuple[dict[str, Any], str]] = [
    ({}, "The image reads 某 (97%); the text's 其 gets 0.1%."),
    ({"reason": "unknown to the engine", "p_text": None}, "其 is not among the characters that can be read."),
    (
        {"reason": "doubt", "rule": "run together in this hand"},
        "hard to read. In this hand the two are often confused: score lowered.",
    ),
]


@pytest.mark.parametrize(("evidence", "expected"), SENTENCES)
def test_a_finding_says_what_the_engine_saw_and_how_sure_it_was(
    checked: PageResult, evidence: dict[str, Any], expected: str
) -> None:
    flag = checked.flags[0]
    assert expected in why(replace(flag, evidence=replace(flag.evidence, **evidence)), english)


def test_forms_between_which_the_text_does_not_decide_are_named(checked: PageResult) -> None:
    flag = next(flag for flag in checked.flags if flag.kind is Kind.OMISSION)
    evidence = replace(flag.evidence, spellings=("余於餘", "馀于餘", "馀於餘"))
    reason = why(replace(flag, suggested="余于餘", evidence=evidence), english)
    assert "does not decide between the forms 余/馀, 于/於:" in reason


@pytest.mark.parametrize(
    ("kind", "changes", "expected"),
    [
        (
            Kind.INSERTION,
            {},
            "The text has 分; the image shows no such character here. There is no ink for a character here.",
        ),
        (Kind.LAYOUT, {}, "A column is at another place on the image. The image reads: 得附載於後"),
        (Kind.LAYOUT, {"evidence": Evidence("something new")}, "Something new."),
        (Kind.OMISSION, {"suggested": "", "evidence": Evidence("ink")}, "There is ink that could not be read."),
        (
            Kind.OMISSION,
            {"transcribed": "揖", "suggested": "揖揖", "evidence": Evidence("not transcribed")},
            "The image reads 揖揖, the text has 揖.",
        ),
        (Kind.VARIANT, {}, "Rule: one to one."),
    ],
)
def test_each_kind_of_finding_has_its_sentence(
    checked: PageResult, kind: Kind, changes: dict[str, Any], expected: str
) -> None:
    flag = replace(next(flag for flag in checked.flags if flag.kind is kind), **changes)
    reason = why(flag, english)
    assert reason.endswith(expected) if kind is Kind.VARIANT else reason.startswith(expected)


@pytest.mark.parametrize(
    ("kind", "ink", "expected"),
    [
        (Kind.OMISSION, Notice.of(NoticeCode.PART_OF_CELL, number=0.4), "There is ink for one character here."),
        (Kind.OMISSION, Notice.of(NoticeCode.PART_OF_CELL, number=1.6), "There is ink for one character here."),
        (Kind.INSERTION, Notice.of(NoticeCode.ROOM, number=0.2), "There is no ink for a character here."),
        (Kind.INSERTION, Notice.of(NoticeCode.ROOM, number=0.5), ""),
        (Kind.INSERTION, Notice.of(NoticeCode.ROOM, number=1.1), ""),
    ],
)
def test_what_is_said_of_the_ink_never_contradicts_what_the_image_shows(
    checked: PageResult, kind: Kind, ink: Notice, expected: str
) -> None:
    """A glyph in a narrow cell is a glyph; room without a glyph is no ink."""
    flag = next(flag for flag in checked.flags if flag.kind is kind)
    sentences = why(replace(flag, evidence=replace(flag.evidence, ink=ink)), english)
    assert sentences.endswith(expected)
    assert ("ink" in sentences) == bool(expected)


def test_a_moved_column_is_said_in_one_sentence(checked: PageResult) -> None:
    flag = replace(next(flag for flag in checked.flags if flag.kind is Kind.LAYOUT), transcribed="得附載於後", line=3)
    other = replace(flag, transcribed="", suggested="得附載於後", line=5)
    assert why(flag, english, other) == (
        "得附載於後 moved from column 3 to column 5: the text has it in the first, the image in the second."
    )


@pytest.mark.parametrize(
    ("reason", "code"), [("page blank", NoticeCode.IMAGE_BLANK), ("image mirrored", NoticeCode.IMAGE_MIRRORED)]
)
def test_an_image_that_cannot_be_read_is_named_once(checked: PageResult, reason: str, code: NoticeCode) -> None:
    (flag,) = unreadable(checked, reason, Notice(code)).flags
    text = why(flag, english)
    assert text.lower().count("this image is") == 1
    assert text.lower().startswith(in_english(Notice(code)).split(":")[0])


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
