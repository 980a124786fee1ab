"""Every format gives one model, and every character knows its place in the file."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof.errors import TextError, UsageError
from proof.text.addresses import Address, Addresses
from proof.text.layers import BlockKind, Layer
from proof.text.read import detect_format, read_transcription
from proof.text.transcription import Format, Transcription
from tests.build import transcription
from tests.remarks import remark_codes

SEEDS = {
    "000_8d937d0b6d447d78.txt": Format.CRITICAL,
    "001_4b1015a6353d5b95.txt": Format.INLINE,
    "002_b2ea0a06aa9e0d29.txt": Format.ZHUSHU,
    "003_ef0b6b28549717f0.txt": Format.MIRROR,
    "004_ad33b9c10ca74f2c.txt": Format.INLINE,
}

INLINE = (
    "<!-- { } -->\n"
    "　　公坐取宾所媵觯兴【至此又言兴者明公崇礼不倦也　疏曰若然君尊】唯公所赐【扑普卜反】\n　　右公为士举旅\n"
)
ZHUSHU = "宾辞以俎。俎者,肴之贵者也。\n[疏]“宾辞以俎”。○注“俎者”至“贵者也”。○释曰:俎所盛。\n离犹扌奎也。不言。\n"
CRITICAL = (
    '---\ntitle: "鄉射禮第五"\n---\n\n### 數獲 {#5.3.10}\n\n'
    "東面于中西[^3]坐。<small>固東面矣，\n\n其義如是。</small>二筭為純。\n\n[^3]: 西：原作東，據嚴本校勘記改。\n"
)
KANRIPO = (
    "#+TITLE: 書\n"
    "<pb:KR1d0030_WYG_010-1a>¶\n大射儀(案比今注/訛作北)¶\n　鄭注&KR0058;也¶\n　公也¶\n<pb:KR1d0030_WYG_010-1b>¶\n命¶\n"
)


def layered(read: Transcription) -> list[tuple[Layer, str]]:
    return [(stretch.layer, stretch.source) for stretch in read.stretches()]


def check_places(read: Transcription) -> int:
    """Stretches follow one another, and they and their cells stand where they say; gives the number of cells."""
    stretches = sorted(read.stretches(), key=lambda stretch: stretch.start)
    assert all(read.text[s.start : s.end] == s.source for s in stretches)
    assert all(before.end <= after.start for before, after in pairwise(stretches))
    cells = [cell for stretch in stretches for cell in stretch.cells()]
    assert all(read.text[c.start : c.start + c.length] == c.text for c in cells)
    return len(cells)


@pytest.mark.parametrize(("name", "form"), SEEDS.items())
def test_a_seed_is_recognised_read_and_written_back_byte_for_byte(shared: Path, name: str, form: Format) -> None:
    path = shared / "seeds" / name
    read = read_transcription(path)
    assert read.format is form
    assert read.data() == path.read_bytes()
    assert check_places(read) > 3000


def test_a_note_holds_commentary_subcommentary_and_glosses() -> None:
    read = transcription(INLINE)
    assert layered(read) == [
        (Layer.CANON, "公坐取宾所媵觯兴"),
        (Layer.COMMENTARY, "至此又言兴者明公崇礼不倦也"),
        (Layer.SUBCOMMENTARY, "疏曰若然君尊"),
        (Layer.CANON, "唯公所赐"),
        (Layer.GLOSS, "扑普卜反"),
        (Layer.HEADING, "右公为士举旅"),
    ]
    assert [block.kind for block in read.blocks] == [BlockKind.PARAGRAPH, BlockKind.HEADING]


def test_the_subcommentary_tells_where_classic_and_commentary_part() -> None:
    read = transcription(ZHUSHU)
    assert layered(read) == [
        (Layer.CANON, "宾辞以俎。"),
        (Layer.COMMENTARY, "俎者,肴之贵者也。"),
        (Layer.LEMMA, "“宾辞以俎”。○注“俎者”至“贵者也”。"),
        (Layer.SUBCOMMENTARY, "俎所盛。"),
        (Layer.UNDIVIDED, "离犹扌奎也。不言。"),
    ]
    last = list(read.stretches())[-1]
    assert [cell.text for cell in last.cells()][:4] == ["离", "犹", "扌奎", "也"], "a character in two halves is one"


def test_headings_commentary_and_footnotes_of_a_critical_edition() -> None:
    read = transcription(CRITICAL)
    assert read.title == "鄉射禮第五"
    assert [(block.kind, block.level, block.anchor) for block in read.blocks[:1]] == [(BlockKind.HEADING, 3, "5.3.10")]
    assert layered(read) == [
        (Layer.HEADING, "數獲"),
        (Layer.CANON, "東面于中西"),
        (Layer.CANON, "坐。"),
        (Layer.COMMENTARY, "固東面矣，"),
        (Layer.COMMENTARY, "其義如是。"),
        (Layer.CANON, "二筭為純。"),
    ]
    (note,) = read.footnotes
    assert (note.label, note.text) == ("3", "西：原作東，據嚴本校勘記改。")
    assert note.anchor is not None
    assert read.text[note.anchor - 1] == "西"
    assert read.text[note.start : note.start + len(note.text)] == note.text
    addresses = Addresses(read)  # of a place without pages: a line of the file
    assert addresses.of(read.text.index("二筭")) == Address("", 9, 13)
    assert addresses.of(0) == Address("", 1, 0)


def test_columns_have_their_layers_and_addresses() -> None:
    read = transcription(KANRIPO)
    assert layered(read) == [
        (Layer.CANON, "大射儀"),
        (Layer.EDITOR, "案比今注"),
        (Layer.EDITOR, "訛作北"),
        (Layer.COMMENTARY, "　鄭注&KR0058;也"),
        (Layer.COMMENTARY, "　公也"),
        (Layer.CANON, "命"),
    ]
    addresses = Addresses(read)
    assert addresses.of(read.text.index("&KR")) == Address("KR1d0030_WYG_010-1a", 2, 3)
    assert addresses.start(Address("KR1d0030_WYG_010-1b", 1, 0), 1) == read.text.index("命")
    with pytest.raises(UsageError, match="outside"):
        addresses.start(Address("KR1d0030_WYG_010-1b", 1, 1), 1)


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("　　甲【乙丙\n　　丁【戊己】\n", 1, "bracket-open"),
        ("　　甲】乙【丙丁】\n", 1, "bracket-not-opened"),
        ("　　甲【乙丙】\n　　\ue172\n", 2, "private-character"),
        ("[疏]“甲”。○释曰:乙\n", 1, "subcommentary-alone"),
        ("甲乙\n[疏“甲”。○释曰:乙\n[疏]“乙”。○释曰:乙\n", 2, "subcommentary-open"),
        ("<small>甲\n\n乙\n", 1, "small-open"),
        ("<small>甲</small>\n乙</small>\n", 2, "small-not-opened"),
        ("<small>甲</small>\n\n乙[^1]\n", 3, "footnote-missing"),
        ("<small>甲</small>\n\n[^1]: 乙：原作丙。\n", 3, "footnote-unused"),
        ("---\ntitle: 甲\n<small>乙</small>\n", 3, "front-matter-open"),
        ("---\ntitle: 甲\n\n### 乙 {#1}\n丙\n---\n丁\n", 4, "front-matter-open"),
        ("---\ntitle: 甲\nauthor 乙\n---\n<small>丙</small>\n", 3, "front-matter-broken"),
        ("--\ntitle: 甲\n---\n<small>丙</small>\n", 1, "front-matter-broken"),
    ],
)
def test_a_malformed_line_is_named(text: str, line: int, expected: str) -> None:
    assert (line, expected) in remark_codes(transcription(text))


def test_front_matter_without_end_and_what_is_in_no_format_are_refused() -> None:
    with pytest.raises(TextError, match=r"text.txt:1: the front matter has no end"):
        transcription("---\ntitle: x\nauthor: y\n", form=Format.CRITICAL)
    assert detect_format("no Chinese text\n") is None
    with pytest.raises(TextError, match=r"its format is not recognised, and it is not Chinese text"):
        transcription("no Chinese text\n")


def test_of_markdown_the_words_are_read() -> None:
    read = transcription("# 射義\n\n> **大射**之[儀](https://example.org)，\n\n1. 見![圖](a.png)後\n- 君有命\n")
    assert read.format is Format.CRITICAL
    assert "|".join(stretch.source for stretch in read.stretches()) == "射義|大射|之|儀|，|見|後|君有命"


MARKS = (
    "【|】|　|疏曰|今按|音|反|如字|[疏]|“|”|至|注|○|释曰:|<small>|</small>|[^1]|[^1]:|---|\n|\r\n|### |{#5}|<!--|-->|"
    "甲|乙|扌|(|)|/|&KR1;|¶|<pb:KR1d0030_WYG_010-1a>¶\n|卷十 第 1a 页 WYG0103-0192c.png\n|title: |\ufeff|\x00|\x85|𩔖|?"
)


@given(st.lists(st.sampled_from(MARKS.split("|")), max_size=40).map("".join), st.sampled_from([None, *Format]))
@settings(max_examples=300, deadline=None)
def test_no_arrangement_of_marks_breaks_a_reader(text: str, form: Format | None) -> None:
    try:
        read = transcription(text, form=form)
    except TextError:
        return
    check_places(read)
