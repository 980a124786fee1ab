"""The Kanripo format: page marks, pilcrows, properties in the head."""

from __future__ import annotations

from pathlib import Path

import pytest

from proof.model.refs import Folio
from proof.text.kanripo import header_property
from proof.text.model import Script
from proof.text.read import read_transcription
from tests.build import transcription
from tests.remarked import remarked

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


def test_without_a_head_the_page_marks_name_work_and_juan() -> None:
    text = transcription(BODY)
    assert (text.title, text.work, text.pages[0].juan) == ("", "KR1d0030", "010")


def test_a_file_of_two_juan_names_each_by_its_own_heading_or_number() -> None:
    headed = transcription(HEAD + BODY + "#+PROPERTY: JUAN 卷十一\n" + BODY.replace("_010-", "_011-"))
    assert [page.juan for page in headed.pages] == ["卷十", "卷十", "卷十一", "卷十一"]
    bare = transcription(HEAD + BODY + BODY.replace("_010-", "_011-"))
    assert [page.juan for page in bare.pages] == ["卷十", "卷十", "011", "011"]


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


def test_text_that_is_on_no_page_is_told() -> None:
    text = transcription("大射儀¶\n<pb:K_WYG_001-1a>儀禮¶\n甲¶\n")
    assert [c.source for c in text.pages[0].columns] == ["儀禮", "甲"]
    assert remarked(text) == [(1, "lines-on-no-page")]


def test_an_entity_of_the_other_branch_is_one_cell(shared: Path) -> None:
    text = read_transcription(shared / "kanripo/KR1d0087/WYG/KR1d0087_223.txt")
    entities = [cell for page in text.pages for c in page.columns for cell in c.cells if cell.text.startswith("&")]
    assert {cell.text for cell in entities} >= {"&KR0058;"}
    assert all(cell.length == 8 and cell.glyph for cell in entities)
    assert text.remarks == ()
