"""The page-reference mirror: page marks with an image reference, lost columns as empty lines."""

from __future__ import annotations

from proof.model.refs import Folio
from tests.build import transcription
from tests.remarks import remark_codes


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


def test_a_mark_that_names_no_folio_or_image_still_begins_a_page_and_is_told() -> None:
    text = transcription("卷十 第 一 页 img-7.png\n甲\n卷十 第 1b 页 img-8.png\n乙\n")
    assert [(p.id, p.folio, p.ref) for p in text.pages] == [("img-7", None, None), ("img-8", Folio(1, "b"), None)]
    assert remark_codes(text) == [(1, "mark-without-folio"), (3, "image-unknown")]
