"""Oddities that a transcription can be read with, but that a proofreader should know of."""

from __future__ import annotations

from pathlib import Path

from proof.text.encoding import Decoded
from proof.text.read import parse_transcription, read_transcription


def warnings(text: str) -> tuple[str, ...]:
    return parse_transcription(Decoded(text, "utf-8", False), Path("juan.txt")).warnings


def test_a_page_without_columns_is_told() -> None:
    assert warnings("<pb:K_WYG_001-1a>¶\n\n<pb:K_WYG_001-1b>¶\n甲¶\n") == (
        "juan.txt:1: page K_WYG_001-1a has no column",
    )


def test_marks_that_name_no_half_folio_are_told_once() -> None:
    assert warnings("<pb:p1>¶\n甲¶\n<pb:p2>¶\n乙¶\n") == (
        "juan.txt:1: the page mark p1 names no half-folio such as 10a; 2 marks are so",
    )


def test_the_few_lines_without_a_pilcrow_are_told() -> None:
    page = "<pb:K_WYG_001-{}a>¶\n" + "甲¶\n" * 8
    text = "".join(page.format(leaf) for leaf in range(1, 5))
    assert warnings(text) == ()
    assert warnings(text + "* 版本\n目次¶\n") == (
        "juan.txt:37: 1 columns end without the pilcrow that the others have (lines 37): are they columns?",
    )
    assert warnings(text.replace("甲¶", "甲")) == (), "where none has it, none is missed"


def test_the_corpus_has_few_blemishes_and_they_are_real(shared: Path) -> None:
    """The remains of a table of contents within juan 184, and a half-folio left empty."""
    assert (
        read_transcription(shared / "kanripo/KR1d0087/KR1d0087_184.txt")
        .warnings[0]
        .endswith("2 columns end without the pilcrow that the others have (lines 452, 453): are they columns?")
    )
    assert any(
        "KR1d0085_WYG_008-66a has no column" in warning
        for warning in read_transcription(shared / "kanripo/KR1d0085/KR1d0085_008.txt").warnings
    )
    for path in sorted(shared.glob("kanripo/KR1d0030/*_*.txt")):
        assert read_transcription(path).warnings == ()
