"""Remarks as sentences: every code has one in every language, each kind is said once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from proof.locale.languages import LANGUAGES, translations
from proof.report.remarks import sentence, sentences
from proof.text.remarks import Remark, RemarkCode

PLACEHOLDER = re.compile(r"%\((\w+)\)s")


def open_note(file: str, line: int, column: int) -> Remark:
    return Remark.of(Path(file), line, RemarkCode.NOTE_OPEN, page="K_WYG_001-1a", column=column, what="")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_code_has_a_sentence_in_every_language(language: str) -> None:
    for code in RemarkCode:
        assert code.sentence
        values = dict.fromkeys(PLACEHOLDER.findall(code.sentence + code.done), "12")
        words = sentence(Remark.of(Path("juan.txt"), 3, code, **values), translations(language).gettext)
        assert words.startswith("juan.txt:3")
        assert "%(" not in words


def test_each_kind_is_said_once_with_its_number_its_first_place_and_what_was_done() -> None:
    remarks = [open_note("a.txt", line, line) for line in range(2, 1302)]
    remarks += [Remark.of(Path("a.txt"), 5, RemarkCode.NO_COLUMN, page="K_WYG_001-2a"), open_note("b.txt", 2, 1)]
    assert sentences(remarks, str) == [
        "a.txt:2: page K_WYG_001-1a, column 2: a note is not closed in this column; it ends with the column "
        "(1,301 such remarks in 2 files)",
        "a.txt:5: page K_WYG_001-2a has no column; read as an empty page",
    ]
    assert len(sentences(remarks, str, each=True)) == len(remarks)
    assert sentences(remarks[:1], translations("zh-Hant").gettext) == [
        "a.txt:2：K_WYG_001-1a 葉第 2 行：注文在本行未閉合；至行末為止"
    ]
