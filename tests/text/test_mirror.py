"""The page-reference mirror: page marks with an image reference, lost columns as empty lines."""

from __future__ import annotations

from pathlib import Path

from proof.model.refs import Folio, ImageRef
from proof.text.model import Row, Script
from proof.text.read import read_transcription
from tests.build import transcription
from tests.remarked import remarked


def test_pages_begin_at_the_first_page_mark_and_an_empty_line_is_a_lost_column() -> None:
    head, mark = "书名或作者\n声明:本站\n卷十\n", "卷十 第 1{} 页 WYG0103-0192{}.png\n"
    text = transcription(f"{head}{mark.format('a', 'c')}大\n\n射\n{mark.format('b', 'd')}仪")
    assert text.format == "mirror"
    assert [(p.id, p.juan, [c.source for c in p.columns]) for p in text.pages] == [
        ("WYG0103-0192c", "卷十", ["大", "", "射"]),
        ("WYG0103-0192d", "卷十", ["仪"]),
    ]
    assert [c.number for c in text.pages[0].columns] == [1, 2, 3]
    assert text.remarks == ()


def test_a_page_mark_in_traditional_script_is_one_too() -> None:
    text = transcription("卷十 第 1a 頁 WYG0103-0192c.png\n釋曰大射儀\n")
    assert text.pages[0].folio == Folio(1, "a")
    assert text.script is Script.TRADITIONAL


def test_a_mark_that_names_no_folio_or_image_still_begins_a_page_and_is_told() -> None:
    text = transcription("卷十 第 一 页 img-7.png\n甲\n卷十 第 1b 页 img-8.png\n乙\n")
    assert [(p.id, p.folio, p.ref) for p in text.pages] == [("img-7", None, None), ("img-8", Folio(1, "b"), None)]
    assert remarked(text) == [(1, "mark-without-folio"), (3, "image-unknown")]


def test_the_seed_is_read_whole(shared: Path) -> None:
    text = read_transcription(shared / "seeds/003_ef0b6b28549717f0.txt")
    assert (text.format, text.script, len(text.pages)) == ("mirror", Script.SIMPLIFIED, 65)
    assert text.remarks == ()
    page = text.pages[1]
    assert (page.id, page.folio, page.juan) == ("WYG0103-0192d", Folio(1, "b"), "卷十")
    assert page.ref == ImageRef("WYG", 103, 192, "d")
    column = page.columns[4]
    assert column.source == "司射东面于大夫之西比耦大夫与大夫(案比今注疏/本讹作北据)"
    main, note = column.runs
    assert (main.note, note.note) == (False, True)
    assert "".join(cell.text for cell in note.right) == "案比今注疏"
    assert [(cell.text, cell.row) for cell in note.left] == [(char, Row.LEFT) for char in "本讹作北据"]
    by_folio = {str(page.folio): page for page in text.pages}
    lost = [by_folio["5a"].columns[7], by_folio["8a"].columns[0]]
    assert [(column.source, column.runs) for column in lost] == [("", ())] * 2
