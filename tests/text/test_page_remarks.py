"""Oddities that a transcription can be read with, but that a proofreader should know of."""

from __future__ import annotations

from tests.build import transcription
from tests.remarked import remarked


def told(text: str) -> list[tuple[int, str]]:
    return remarked(transcription(text))


def test_a_page_without_columns_is_told() -> None:
    assert told("<pb:K_WYG_001-1a>¶\n\n<pb:K_WYG_001-1b>¶\n甲¶\n") == [(1, "no-column")]


def test_marks_that_name_no_half_folio_are_told() -> None:
    assert told("<pb:p1>¶\n甲¶\n<pb:p2>¶\n乙¶\n") == [(1, "mark-without-folio"), (3, "mark-without-folio")]


def test_the_few_lines_without_a_pilcrow_are_told() -> None:
    page = "<pb:K_WYG_001-{}>¶\n" + "甲¶\n" * 8
    text = "".join(page.format(folio) for folio in ("1a", "1b", "2a", "2b"))
    assert told(text) == []
    assert told(text + "版本\n目次¶\n") == [(37, "no-pilcrow")]
    assert told(text.replace("甲¶", "甲")) == [], "where none has it, none is missed"


def test_pages_that_do_not_follow_on_are_told() -> None:
    page = "<pb:K_WYG_001-{}>¶\n甲¶\n"
    text = "".join(page.format(folio) for folio in ("2a", "2b", "7a", "3b"))
    assert told(text) == [(5, "pages-missing"), (7, "pages-back")]
    mirror = "卷一 第 {} 页 WYG0103-0192{}.png\n甲\n"
    text = "".join(mirror.format(*page) for page in (("2a", "a"), ("2b", "b"), ("7a", "c"), ("3b", "d")))
    assert told(text) == [(5, "pages-missing"), (7, "pages-back")]


def test_an_edition_of_passages_has_pages_of_one_side_and_any_length() -> None:
    text = "".join(f"<pb:K_tls_001-{number}a>¶\n" + "甲¶\n" * 50 for number in (1, 2, 3, 5))
    assert told(text) == [(154, "pages-missing")]
