"""Page marks, lines and what is no text, as the documentation of Mandoku defines them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.errors import TextError
from proof.exports.source import correct
from proof.text.lines import lines
from tests.build import transcription
from tests.remarks import remark_codes


def columns(text: str) -> dict[str, list[str]]:
    return {page.id: [column.source for column in page.columns] for page in transcription(text).pages}


def test_a_pilcrow_ends_a_line_wherever_it_stands() -> None:
    text = "<pb:K_Yan_001-1a>祖堂集卷第一\n父字槃裱，\n母¶字槃頭末，¶\n¶所治¶¶國名\n"
    assert columns(text) == {"K_Yan_001-1a": ["祖堂集卷第一", "父字槃裱，", "母", "字槃頭末，", "所治", "國名"]}


def test_headings_drawers_comments_and_annotations_are_no_text() -> None:
    text = (
        "<pb:K_T_001-1a>¶\n** 1 紀\n:PROPERTIES:\n:CUSTOM_ID: 一\n:END:\n阿脩羅¶\n:zhu:\n阿脩羅 [a1xiu1luo1]\n:END:\n"
        "# src: 1\n#+BEGIN_VERSE\n龍神¶\t dragons\n** 006 迦葉佛::<pb:K_T_001-1b>¶PROPERTIES\n乙¶\n:zhu:\n丙¶\n"
    )
    assert columns(text) == {"K_T_001-1a": ["阿脩羅", "龍神"], "K_T_001-1b": ["乙", ":zhu:", "丙"]}
    assert remark_codes(transcription(text)) == [
        (2, "heading"),
        (12, "annotation"),
        (13, "heading"),
        (15, "drawer-open"),
    ]


def test_text_before_the_first_mark_is_on_the_page_that_the_head_names() -> None:
    head = "#+TITLE: 長阿含經\n#+PROPERTY: LASTPB <pb:K_T_002-0011a> ¶\n#+PROPERTY: JUAN 2\n¶\n"
    text = f"{head}《佛說長阿含經》卷第二¶\n\n** （二）第一分遊行經¶\n如是我聞：\n<pb:K_T_002-0011b>¶\n國人奉¶\n"
    assert columns(text) == {
        "K_T_002-0011a": ["《佛說長阿含經》卷第二", "（二）第一分遊行經", "如是我聞："],
        "K_T_002-0011b": ["國人奉"],
    }
    assert remark_codes(transcription(text)) == [(5, "page-continued")]
    assert columns(f"{head}卷第二¶\n") == {"K_T_002-0011a": ["卷第二"]}, "a juan within one page has no mark at all"
    unnamed = head.replace("<pb:K_T_002-0011a>", "<md:K_T_002-0011a>")
    assert columns(f"{unnamed}<pb:K_T_002-1b>¶\n甲¶\n") == {"K_T_002-1b": ["甲"]}


def test_the_page_before_the_first_mark_is_implied_by_it_and_told() -> None:
    text = "#+TITLE: 論衡\n\n<md:K_SBCK_001-1a>¶　王充¶撰\n　逢遇篇¶\n<pb:K_WYG_001-1b>\n或髙才\n"
    assert columns(text) == {
        "K_WYG_001-1a": ["<md:K_SBCK_001-1a>¶　王充¶撰", "　逢遇篇"],
        "K_WYG_001-1b": ["或髙才"],
    }
    assert remark_codes(transcription(text)) == [(3, "page-implied")]
    assert columns("序¶\n<pb:K_WYG_001-2a>\n甲¶\n") == {"K_WYG_001-2a": ["甲"]}, "1a or 1b: nobody can tell"


KANRIPO = "<pb:K_WYG_001-1a>¶\n甲¶\n{}\n乙¶\n"
MIRROR = "卷十 第 1a 页 WYG0103-0192c.png\n甲\n{}\n乙\n"


@pytest.mark.parametrize(
    ("form", "mark", "code", "pages"),
    [
        (KANRIPO, "<pb:K_WYG_001-1b¶", "mark-unclosed", 2),
        (KANRIPO, "<pb:¶", "mark-malformed", 1),
        (KANRIPO, "# <pb:K_WYG_001-1b>", "mark-not-read", 1),
        (KANRIPO, "<pb:K_WYG_001-1c>¶", "mark-without-folio", 2),
        (MIRROR, "卷十 第 1b 页", "mark-without-image", 2),
        (MIRROR, "卷十 第 1b 页 WYG0103-0192e.png", "quadrant-impossible", 2),
        (MIRROR, "卷 十 第 1b 页 WYG0103-0192d.png", "mark-malformed", 1),
        (MIRROR, "卷十 第1b页 WYG0103-0192d.png", "mark-malformed", 1),
    ],
)
def test_a_malformed_mark_is_named_with_its_line(form: str, mark: str, code: str, pages: int) -> None:
    read = transcription(form.format(mark))
    assert (3, code) in remark_codes(read)
    assert len(read.pages) == pages


PIECES = st.sampled_from(
    "甲 乙丙 ( ) / ¶ ¶\n \n \r\n 　 \t <pb:K_WYG_001-1a> <pb:K_WYG_001-1b> <pb:K_WYG_001-2a>¶\n <pb:odd> <pb: > "
    "<pb:K_WYG_001-3a <md:K_SBCK_001-1a> &KR0058; &foo; & [金*本] [ ⿰金本 *\\s一\n :zhu:\n :END:\n # #+TITLE:\\s甲\n "
    "卷十\\s第\\s1a\\s页\\sWYG0103-0192c.png\n 卷十\\s第\\s1b\\s页\n".replace("\n ", "\x00 ").split(" ")
).map(lambda piece: piece.replace("\\s", " ").replace("\x00", "\n"))


@given(st.lists(PIECES, max_size=40).map("".join))
def test_every_character_is_text_or_markup_and_stands_in_one_place(text: str) -> None:
    """Parts of the file follow one another without overlapping; between them are line endings and pilcrows alone. A
    cell is within its column, and no two share a character."""
    at = 0
    for line in lines(text):
        assert line.start >= at
        assert not text[at : line.start].strip("¶\r\n　 ")
        assert text[line.start : line.start + len(line.source)] == line.source
        at = line.start + len(line.source)
    assert not text[at:].strip("¶\r\n　 ")
    try:
        read = transcription(text)
    except TextError:
        assert "<pb:K_WYG_001-1" not in re.sub(r"^#.*|\t.*", "", text, flags=re.MULTILINE) or ":END:" in text
        return
    taken: set[int] = set()
    for page in read.pages:
        for column in page.columns:
            assert text[column.start : column.start + len(column.source)] == column.source
            for cell in column.cells:
                places = set(range(column.start + cell.offset, column.start + cell.offset + cell.length))
                assert not places & taken
                taken |= places
                assert column.source[cell.offset : cell.offset + cell.length] == cell.text
    assert correct(read, []).data == text.encode()
    assert not read.paged or {at for s in read.stretches() for at in range(s.start, s.end)} <= taken
