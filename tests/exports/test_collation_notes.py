"""Collation notes in the house style of critical editions, and in the plain form."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from proof.exports.collation_notes import house_note, notes_of
from proof.exports.corrections import Correction, PlacedCorrection
from proof.exports.note_files import house_list, with_footnotes
from proof.exports.source import CorrectedSource, correct
from proof.exports.spreadsheet import spreadsheet
from proof.model.flags import LINE_BREAK, Kind
from proof.store.authorities import IMAGE
from proof.text.conversions import simplified_text
from proof.text.edit import Edit
from proof.text.model import Script
from proof.text.read import parse_transcription, read_transcription
from proof.text.remarks import RemarkCode
from tests.build import transcription
from tests.timing import seconds_of

KANRIPO = "<pb:KR1_WYG_010-1a>¶\n　大夫之西北耦(案比今注/訛作北據)¶\n司射不告告者&KR0058;揖耦以¶\n"
CRITICAL = "### 數獲 {#5}\n\n東面于中東[^3]坐。<small>固東面矣。</small>\n\n[^3]: 坐：原脫。\n\n二筭為純矣。\n"
PAGE = "KR1_WYG_010-1a"


def corrected(text: str, *corrections: Correction) -> CorrectedSource:
    return correct(transcription(text), corrections)


def four() -> CorrectedSource:
    return corrected(
        KANRIPO,
        Correction(PAGE, 2, 15, 2, "以耦", "耦以", kind=Kind.TRANSPOSITION, authority="影像"),
        Correction(PAGE, 2, 3, 1, "", "告", authority="理校"),
        Correction(PAGE, 1, 5, 1, "比", "北", authority="影像", note="參見次頁。"),
        Correction(PAGE, 1, 3, 0, "與", ""),
    )


def test_the_house_style_says_what_stood_there_and_after_what_it_was_changed() -> None:
    assert house_list(notes_of(four())).splitlines() == [
        "卷十",
        "〔一〕葉一上第一行　大夫〔與〕之西比耦　與：原脫，今補。",
        "〔二〕葉一上第一行　夫與之西〔比〕耦案比今　比：原作北，據影像改。參見次頁。",
        "〔三〕葉一上第二行　司射不〔〕告者&KR0058;揖　告：原衍，據理校刪。",
        "〔四〕葉一上第二行　告者&KR0058;揖〔以耦〕　以耦：原作耦以，據影像乙正。",
    ]


def test_the_context_of_a_note_has_characters_alone_in_every_format() -> None:
    done = corrected(CRITICAL, Correction("", 3, 4, 1, "西", "東"), Correction("", 3, 19, 1, "當", "東"))
    assert [line.partition("　")[2] for line in house_list(notes_of(done)).splitlines()] == [
        "東面于中〔西〕坐固當面　西：原作東，今改。",
        "中西坐固〔當〕面矣　當：原作東，今改。",
    ]


def test_a_moved_character_is_named_by_the_character_that_it_follows() -> None:
    text = "### 數獲 {#5}\n\n面于中坐。<small>東固面矣。</small>\n"
    moved = (
        Correction("", 3, 0, 0, "東", "", flag="a", moved="b", kind=Kind.OMISSION),
        Correction("", 3, 12, 1, "", "東", flag="b", moved="a", kind=Kind.INSERTION),
    )
    (note,) = notes_of(corrected(text, *moved)).notes
    assert note.words == "東：原在坐下，今乙正。"


def test_the_spreadsheet_counts_characters_as_the_page_has_them() -> None:
    source = four()
    rows = csv.DictReader(spreadsheet(source.edition, source.placed).decode("utf-8-sig").splitlines())
    assert [(row["column"], row["character"], row["before"], row["after"]) for row in rows] == [
        ("1", "3", "", "與"),
        ("1", "5", "北", "比"),
        ("2", "4", "告", ""),
        ("2", "9", "耦以", "以耦"),
    ]


def test_a_long_reading_is_named_by_its_beginning_and_its_end() -> None:
    lost = "大夫與大夫命上射曰某御于子命下射"
    (note,) = notes_of(corrected(KANRIPO, Correction(PAGE, 1, 6, 0, lost, ""))).notes
    assert note.words == "「大夫」至「下射」十六字：原脫，今補。"
    lost = "\u3000大夫與大夫命&KR0058;射(曰某御于/子命)下射"
    (note,) = notes_of(corrected(KANRIPO, Correction(PAGE, 1, 0, 0, lost, ""))).notes
    assert note.words == "「大夫」至「下射」十六字：原脫，今補。", "indentation and marks are no characters"
    (note,) = notes_of(corrected(KANRIPO, Correction(PAGE, 1, 0, 0, "\u3000\u3000鄭注", ""))).notes
    assert note.words == "鄭注：原脫，今補。"


def test_notes_on_four_times_as_many_pages_take_some_four_times_as_long() -> None:
    line = "司射不告告者揖耦以司射不告告者揖耦以"

    def pages(number: int) -> CorrectedSource:
        text = "".join(f"<pb:KR1_WYG_010-{page}a>¶\n" + f"{line}¶\n" * 8 for page in range(1, number + 1))
        places = [(page, column) for page in range(1, number + 1) for column in range(1, 9)]
        return corrected(
            text, *(Correction(f"KR1_WYG_010-{page}a", column, 2, 1, "又", "不") for page, column in places)
        )

    few, many = pages(100), pages(400)
    allowed = 8 * seconds_of(lambda: notes_of(few))
    assert seconds_of(lambda: notes_of(many), enough=allowed) <= allowed


def test_an_authority_that_the_project_knows_as_a_witness_is_followed() -> None:
    by_hand = Correction(PAGE, 1, 5, 1, "比", "北", authority="明")
    notes = notes_of(corrected(KANRIPO, by_hand), names={"明": ""})
    assert [note.words for note in notes.notes] == ["比：原作北，從明本改。"]
    assert notes.witnesses == {"明本": ""}
    named = notes_of(corrected(KANRIPO, replace(by_hand, names=(("明", "明通津草堂本"),))), names={"明": ""})
    assert named.witnesses == {"明本": "明通津草堂本"}


def test_footnotes_stand_in_place_and_their_text_follows_the_paragraph() -> None:
    done = corrected(
        CRITICAL, Correction("", 3, 4, 1, "西", "東", authority="嚴本校勘記"), Correction("", 7, 4, 1, "", "矣")
    )
    assert with_footnotes(done, notes_of(done)) == (
        "### 數獲 {#5}\n\n東面于中西[^4][^3]坐。<small>固東面矣。</small>\n\n[^3]: 坐：原脫。\n"
        "[^4]: 西：原作東，據嚴本校勘記改。\n\n二筭為純[^5]。\n\n[^5]: 矣：原衍，今刪。\n"
    )
    assert "[^4]" not in done.text


@pytest.mark.parametrize(
    ("source", "place"),
    [
        (KANRIPO, (PAGE, 1, 5)),
        (KANRIPO.replace("\n", "\r\n").removesuffix("\r\n"), (PAGE, 1, 5)),
        ("卷十 第 1a 页 WYG0103-0192c.png\n　大夫之西北耦(案比今注/訛作北據)\n司射\n", ("WYG0103-0192c", 1, 5)),
        ("　　大夫之西北耦【案比今注】坐\n", ("", 1, 6)),
        ("大夫之西北耦\n[疏]“大夫”至“北耦”。○釋曰：比也\n", ("", 1, 4)),
        ("　　大夫之西北耦。\n坐\n", ("", 1, 6)),
        (CRITICAL.replace("東面", "北面", 1), ("", 3, 0)),
    ],
)
def test_a_text_with_footnotes_is_read_as_the_text_with_its_notes_beside_it(
    tmp_path: Path, source: str, place: tuple[str, int, int]
) -> None:
    page, line, offset = place
    done = corrected(source, Correction(page, line, offset, 1, "比", "北", authority="影像", note="參見\n次頁。"))
    written = with_footnotes(done, notes_of(done)).encode()
    (tmp_path / "text.txt").write_bytes(written)
    read = read_transcription(tmp_path / "text.txt")
    before = parse_transcription(replace(done.edition.decoded, text=done.text), done.edition.path)
    assert [cell.text for stretch in read.stretches() for cell in stretch.cells()] == [
        cell.text for stretch in before.stretches() for cell in stretch.cells()
    ]
    assert [len(each.columns) for each in read.pages] == [len(each.columns) for each in before.pages]
    assert read.remarks == tuple(replace(remark, path=read.path) for remark in before.remarks)
    (note,) = [note for note in read.footnotes if "影像" in note.text]
    assert note.text == "比：原作北，據影像改。參見 次頁。"
    assert note.anchor is not None
    assert read.text[: note.anchor].endswith("比")
    assert read.data() == written
    assert read.data([Edit(note.anchor - 1, 1, "龜")]) == written.replace("比[^".encode(), "龜[^".encode())


def test_a_footnote_without_a_place_and_a_place_without_a_footnote_are_remarked(tmp_path: Path) -> None:
    damaged = KANRIPO.replace("北耦", "北[^1][^3]耦[^1]").replace("告告", "(告")
    (tmp_path / "text.txt").write_text(f"{damaged}\n[^1]: 甲\n[^2]: 乙\n", encoding="utf-8")
    read = read_transcription(tmp_path / "text.txt")
    assert [(note.text, read.text[: note.anchor][-1]) for note in read.footnotes] == [("甲", "北")]
    assert [(remark.notice.code, remark.line) for remark in read.remarks] == [
        (RemarkCode.FOOTNOTE_MISSING, 2),
        (RemarkCode.FOOTNOTE_TWICE, 2),
        (RemarkCode.NOTE_OPEN, 3),
        (RemarkCode.FOOTNOTE_UNUSED, 4),
    ]


@pytest.mark.parametrize(("line", "words"), [(2, "射：原在第二行司下，今乙正。"), (3, "射：原在第三行司下，今移。")])
def test_a_character_that_moved_over_the_end_of_a_column_is_one_note(line: int, words: str) -> None:
    text = KANRIPO.replace("司射", "甲¶\n司射") if line == 3 else KANRIPO
    done = corrected(
        text,
        Correction(PAGE, 1, 1, 0, "射", "", flag="in", moved="out"),
        Correction(PAGE, line, 1, 1, "", "射", flag="out", moved="in", context="司[射]不告告"),
    )
    assert [note.words for note in notes_of(done).notes] == [words]


@pytest.mark.parametrize(("between", "verb"), [("\n\n", "乙正"), ("\n甲\n", "移")])
def test_a_character_that_moved_to_the_next_paragraph_was_near_whatever_lines_are_blank(
    between: str, verb: str
) -> None:
    text = f"大射{between}司告"
    done = corrected(
        text,
        Correction("", 1, 2, 0, "司", "", flag="in", moved="out"),
        Correction("", 3, 0, 1, "", "司", flag="out", moved="in", context="[司]告"),
    )
    assert [note.words for note in notes_of(done).notes] == [f"司：原在第三行行首，今{verb}。"]


def test_a_column_that_moved_behind_the_last_one_of_its_page_is_one_note() -> None:
    column, end = "　大夫之西北耦(案比今注/訛作北據)", len(KANRIPO)
    done = corrected(
        KANRIPO,
        Correction(PAGE, 3, 0, 0, column, "", kind=Kind.LAYOUT, flag="in", moved="out", start=end, column=3),
        Correction(PAGE, 1, 0, len(column), "", column, kind=Kind.LAYOUT, flag="out", moved="in",
                   start=KANRIPO.index(column)),
    )  # fmt: skip
    assert [note.words for note in notes_of(done).notes] == [f"{column}：原在第一行行首，今移。"]


def test_a_note_counts_columns_as_the_corrected_text_has_them() -> None:
    begin, end = KANRIPO.index("　大夫"), KANRIPO.index("¶", KANRIPO.index("耦以"))
    done = corrected(
        KANRIPO,
        Correction(PAGE, 1, 0, 0, "甲乙", "", kind=Kind.LAYOUT, start=begin, column=1),
        Correction(PAGE, 1, 0, 0, "丙丁", "", kind=Kind.LAYOUT, start=begin, column=2),
        Correction(PAGE, 1, 5, 1, "比", "北"),
        Correction(PAGE, 2, 17, 0, "戊己", "", kind=Kind.LAYOUT, start=end, column=5),
    )
    notes = notes_of(done, [Correction(PAGE, 2, 1, 1, "射", "射", start=done.edition.text.index("射"), doubt="謝")])
    columns = done.text.split("¶\n")[1:]
    assert [note.line for note in notes.notes] == [1, 2, 3, 4, 5]
    assert all(note.lemma in columns[note.line - 1] for note in notes.notes)
    assert "第四行" in house_list(notes)


def test_a_text_that_is_kept_is_noted_with_what_the_copy_reads() -> None:
    done = corrected(
        KANRIPO,
        Correction(PAGE, 1, 5, 1, "北", "北", authority="影像", copy_reads="比"),
        Correction(PAGE, 1, 6, 1, "耦", "耦", authority="理校", copy_reads=""),
        Correction(PAGE, 2, 3, 0, "", "", authority="嚴本", copy_reads="告"),
        Correction(PAGE, 2, 4, 1, "告", "告", copy_reads="吿", readings=(("嚴", "吿"), ("毛", "告"))),
    )
    assert [note.words for note in notes_of(done).notes] == [
        "北：影像作比，今不從。",
        "耦：影像無，據理校不從。",
        "告：嚴本有，今不從。",
        "告：毛本同，影像、嚴本作吿，今不從。",
    ]
    assert done.text == KANRIPO


def test_the_notes_on_a_simplified_text_are_simplified_to_the_last_word() -> None:
    changes = [("比", "北"), ("", "北"), ("比", ""), ("比北", "北比"), (LINE_BREAK, ""), ("", LINE_BREAK), ("北", "北")]
    corrections = [Correction(PAGE, 1, 0, len(old), new, old, kind=Kind.LAYOUT) for new, old in changes]
    kept = Correction(PAGE, 1, 0, 1, "北", "北")
    corrections += [replace(kept, copy_reads="", authority=authority) for authority in ("", "理校")]
    corrections += [replace(kept, doubt=doubt) for doubt in ("", "北", "比")]
    corrections += [replace(correction, readings=(("毛", ""), ("徐", "化"))) for correction in corrections]
    corrections += [replace(correction, authority=IMAGE) for correction in corrections]
    for correction in corrections:
        words = house_note(PlacedCorrection(correction, Edit(0, 0, "")), Script.SIMPLIFIED)
        assert words == simplified_text(words)


def test_every_witness_is_named_with_its_reading_and_in_full_once() -> None:
    readings = (("四庫", "比"), ("SBCK", "比"), ("嚴", "北"))
    done = corrected(
        KANRIPO,
        Correction(PAGE, 1, 5, 1, "比", "北", authority="四庫", readings=readings),
        Correction(PAGE, 2, 3, 1, "", "告", authority="四庫", readings=(("四庫", ""), ("嚴", "告"))),
        Correction(PAGE, 1, 3, 0, "與", "", authority="嚴", readings=(("嚴", "與"), ("四庫", ""))),
    )
    doubtful = Correction(PAGE, 2, 1, 1, "射", "射", doubt="馬", readings=(("嚴", "馬"),), start=KANRIPO.index("射不"))
    notes = notes_of(done, [doubtful], {"嚴": "嚴州本儀禮鄭注"})
    assert [note.words for note in notes.notes] == [
        "與：原脫，嚴本有，四庫本亦無，從嚴本補。",
        "比：原作北，嚴本同，四庫本、叢刊本作比，從四庫本改。",
        "射：嚴本作馬，疑當作馬。",
        "告：原衍，嚴本同，四庫本無，從四庫本刪。",
    ]
    assert notes.witnesses == {"叢刊本": "四部叢刊本", "四庫本": "文淵閣四庫全書本", "嚴本": "嚴州本儀禮鄭注"}
    assert house_list(notes).startswith("叢刊本：四部叢刊本\n嚴本：嚴州本儀禮鄭注\n四庫本：文淵閣四庫全書本\n\n卷十\n")


def test_without_corrections_there_is_nothing_to_note() -> None:
    done = corrected(CRITICAL)
    assert house_list(notes_of(done)) == ""
    assert with_footnotes(done, notes_of(done)) == CRITICAL
