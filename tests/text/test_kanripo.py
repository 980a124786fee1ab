"""The Kanripo format: page marks, pilcrows, properties in the head."""

from __future__ import annotations

import pytest

from proof.model.refs import Folio
from proof.text.kanripo import header_property
from proof.text.model import Script
from tests.build import transcription

HEAD = (
    "# -*- mode: mandoku-view; -*-\n#+TITLE: 儀禮集釋\n#+DATE: 2015-08-24 22:08:32.228837\n"
    "#+PROPERTY: ID KR1d0030\n#+PROPERTY: BASEEDITION WYG\n#+PROPERTY: JUAN 卷十\n"
)
BODY = "<pb:KR1d0030_WYG_010-1a>¶\n欽定四庫全書¶\n　大射儀(某/甲)¶\n¶\n\n# a remark\n<pb:KR1d0030_WYG_010-1b>¶\n反位¶\n"


def test_the_head_names_title_work_and_juan_and_a_page_has_its_id_folio_and_columns() -> None:
    text = transcription(HEAD + BODY)
    assert (text.format, text.title, text.work) == ("kanripo", "儀禮集釋", "KR1d0030")
    assert {page.juan for page in text.pages} == {"卷十"}
    assert text.script is Script.TRADITIONAL
    assert text.remarks == ()
    page, following = text.pages
    assert (page.id, page.folio, page.ref) == ("KR1d0030_WYG_010-1a", Folio(1, "a"), None)
    assert [(c.number, c.source, c.file_line) for c in page.columns] == [
        (1, "欽定四庫全書", 8),
        (2, "　大射儀(某/甲)", 9),
        (3, "", 10),
    ]
    assert [c.source for c in following.columns] == ["反位"]
    assert following.file_line == 13


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("#+TITLE: 儀禮集釋", ("TITLE", "儀禮集釋")),
        ("#+PROPERTY: ID KR1d0030  ", ("ID", "KR1d0030")),
        ("#+PROPERTY: JUAN 原序[蔣汾功]", ("JUAN", "原序[蔣汾功]")),
        ("#+PROPERTY: IDENTITY x", None),
        ("#+DATE: 2015", None),
        ("# TITLE: x", None),
    ],
)
def test_properties_of_the_head(line: str, expected: tuple[str, str] | None) -> None:
    assert header_property(line) == expected


def test_a_lost_column_is_a_pilcrow_alone_and_an_empty_line_is_none() -> None:
    text = transcription("<pb:K_WYG_001-1a>¶\n\n¶\n\n甲¶¶\n乙\n")
    assert [(c.number, c.source) for c in text.pages[0].columns] == [(1, ""), (2, "甲"), (3, "乙")]
