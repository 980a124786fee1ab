"""How one column is read: main text, notes in double rows, characters that take several code points."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.text.column import SPECIAL, ParsedColumn, parse_column
from proof.text.model import Cell, Row
from proof.text.remarks import Problem, RemarkCode

HAN = st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF)
OTHERS = "　| |𫝊|㑹|○|□|〓|、|&KR0058;|[金*本]|[卄/瀹]|⿰金本|葛\U000e0100"
CELLS = st.one_of(HAN, st.sampled_from(OTHERS.split("|")))
ROWS = st.lists(CELLS, min_size=1, max_size=12)
NOTES = st.tuples(ROWS, st.one_of(st.none(), st.lists(CELLS, max_size=12)))
WILD = st.text(
    st.sampled_from("司射()（）/／&KR058;[]*金<md:pb>¶　 \t⿰⿲\ufe01\U000e0100\x00\x0c\ufeff一"), max_size=40
)


COMPOSED = (
    "&KR0058; &CDP-8B7C; &M040426; &CB00123; &#x4E00; [金*本] [卄/瀹] [(亭-丁)*瓦] [&KR0058;*?] ⿰金本 ⿱艹⿰金本 "
    "⿲彳一亍 葛\U000e0100 神\ufe00"
)


def shape(parsed: ParsedColumn) -> str:
    """The runs written plainly: main text as it is, a note as `{right|left}`."""

    def words(cells: tuple[Cell, ...]) -> str:
        return "".join(cell.text for cell in cells)

    return "".join(f"{{{words(r.right)}|{words(r.left)}}}" if r.is_note else words(r.right) for r in parsed.runs)


def cells(parsed: ParsedColumn) -> list[Cell]:
    return [cell for run in parsed.runs for cell in run.cells]


def texts(parsed: ParsedColumn) -> list[str]:
    return [cell.text for cell in cells(parsed)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("", ""),
        ("　儀禮集釋　撰", "　儀禮集釋　撰"),
        ("大夫(案比今/本訛作)", "大夫{案比今|本訛作}"),
        ("(唐石經及/宋本改正)命上射曰", "{唐石經及|宋本改正}命上射曰"),
        ("(滌/溉)(釋/辟)", "{滌|溉}{釋|辟}"),
        ("(　　之書/　　　　謹按)", "{　　之書|　　　　謹按}"),
        ("(一位帝/在  三)", "{一位帝|在  三}"),
        ("公入(焉/)", "公入{焉|}"),
        ("公入(/焉)", "公入{|焉}"),
        ("(侯王謂天子)反", "{侯王謂天子|}反"),
        ("公（案比／本訛）入", "公{案比|本訛}入"),
        ("公()入(/)", "公入"),
        ("[原序](甲/乙)", "[原序]{甲|乙}"),
        ("蔣[蔣汾功]曰[沔-丏+丐]", "蔣[蔣汾功]曰[沔-丏+丐]"),
    ],
)
def test_parentheses_hold_the_half_rows_of_a_note(source: str, expected: str) -> None:
    parsed = parse_column(source)
    assert shape(parsed) == expected
    assert not parsed.problems


@pytest.mark.parametrize("token", COMPOSED.split())
def test_a_character_without_a_code_point_of_its_own_is_one_cell(token: str) -> None:
    for around in ("{}", "爲{}後", "(疏/{})"):
        parsed = parse_column(around.format(token))
        assert not parsed.problems
        (cell,) = [cell for cell in cells(parsed) if cell.length > 1]
        assert (cell.text, cell.offset, cell.length) == (token, around.index("{"), len(token))
        assert cell.glyph


@pytest.mark.parametrize(
    ("source", "read", "problem"),
    [
        ("為&KR0058後", "為 & K R 0 0 5 8 後", Problem(RemarkCode.ENTITY_OPEN, "&KR0058")),
        ("為&foo;後", "為 & f o o ; 後", Problem(RemarkCode.ENTITY_UNKNOWN, "&foo;")),
        ("為&;後", "為 & ; 後", Problem(RemarkCode.ENTITY_UNKNOWN, "&;")),
        ("為&後", "為 & 後", Problem(RemarkCode.ENTITY_OPEN, "&")),
        ("為&ZZZZ0058;後", "為 &ZZZZ0058; 後", Problem(RemarkCode.ENTITY_FAMILY, "&ZZZZ0058;")),
        ("為⿰金", "為 ⿰ 金", Problem(RemarkCode.DESCRIPTION_INCOMPLETE, "⿰金")),
    ],
)
def test_a_malformed_entity_or_description_is_read_by_character_and_told(
    source: str, read: str, problem: Problem
) -> None:
    parsed = parse_column(source)
    assert texts(parsed) == read.split()
    assert parsed.problems[0] == problem


def test_tags_and_invisible_characters_have_no_cell() -> None:
    parsed = parse_column("<md:KR1_OTHER_001-1a>為\x00\u200b後\ufeff")
    assert [(cell.text, cell.offset) for cell in cells(parsed)] == [("為", 21), ("後", 24)]
    assert [problem.what for problem in parsed.problems] == ["U+0000", "U+200B", "U+FEFF"]


@pytest.mark.parametrize(
    ("source", "expected", "code"),
    [
        ("公(甲乙/丙丁", "公{甲乙|丙丁}", RemarkCode.NOTE_OPEN),
        ("公(甲乙/丙丁戊己庚", "公{甲乙|丙丁}戊己庚", RemarkCode.NOTE_OPEN),
        ("公(甲乙", "公{甲乙|}", RemarkCode.NOTE_OPEN),
        ("公(甲/乙入(丙/丁)", "公{甲|乙入}{丙|丁}", RemarkCode.NOTE_BEFORE_NEXT),
        ("公(甲乙(丙丁)戊/己)入", "公{甲乙丙丁戊|己}入", RemarkCode.NOTE_NESTED),
        ("公(甲(丙/丁)戊/己)入", "公{甲丙丁戊|己}入", RemarkCode.NOTE_NESTED),
        ("　甲乙/丙丁)公", "　{甲乙|丙丁}公", RemarkCode.NOTE_NOT_OPENED),
        ("司射東面甲乙/丙丁)公", "司射東面{甲乙|丙丁}公", RemarkCode.NOTE_NOT_OPENED),
        ("甲乙)公", "甲乙公", RemarkCode.NOTE_NOT_OPENED),
        ("甲乙/丙丁", "甲乙丙丁", RemarkCode.SLASH_OUTSIDE),
        ("(甲/乙/丙)", "{甲|乙丙}", RemarkCode.SLASH_AGAIN),
        ("甲¶乙", "甲乙", RemarkCode.PILCROW_WITHIN),
        ("玄黃[疏宇宙", "玄黃[疏宇宙", RemarkCode.COMPOSITION_OPEN),
        ("甲[沔-丏乙", "甲[沔-丏乙", RemarkCode.COMPOSITION_OPEN),
        ("[", "[", RemarkCode.COMPOSITION_OPEN),
    ],
)
def test_what_is_unbalanced_is_read_in_the_likeliest_way_and_told(source: str, expected: str, code: RemarkCode) -> None:
    parsed = parse_column(source)
    assert shape(parsed) == expected
    assert code in [problem.code for problem in parsed.problems]


def test_a_note_left_open_goes_on_in_the_next_column_until_that_opens_one() -> None:
    first = parse_column("公(甲乙丙丁")
    assert first.left_open
    for source, expected in (("　戊己庚)入", "　{戊己庚|}入"), ("戊己(庚/辛)入", "戊己{庚|辛}入")):
        second = parse_column(source, first.left_open)
        assert shape(second) == expected
        assert not second.left_open


@given(st.lists(st.tuples(st.lists(CELLS, max_size=8), st.one_of(st.none(), NOTES)), max_size=5))
def test_a_well_formed_column_is_read_as_it_was_written(
    parts: list[tuple[list[str], tuple[list[str], list[str] | None] | None]],
) -> None:
    written = ""
    expected: list[tuple[bool, list[str], list[str]]] = []
    main: list[str] = []
    for text, note in parts:
        main += text
        written += "".join(text)
        if note is not None:
            right, left = note
            written += f"({''.join(right)}" + ("" if left is None else f"/{''.join(left)}") + ")"
            expected += ([(False, main, [])] if main else []) + [(True, right, left or [])]
            main = []
    expected += [(False, main, [])] if main else []
    parsed = parse_column(written)
    runs = [(run.is_note, [c.text for c in run.right], [c.text for c in run.left]) for run in parsed.runs]
    assert runs == expected
    assert not parsed.problems


@given(st.one_of(WILD, st.text(max_size=60)), st.booleans())
def test_any_column_is_read_and_its_cells_rebuild_what_is_no_markup(source: str, continues: bool) -> None:
    parsed = parse_column(source, continues)
    reached, between = 0, ""
    for cell in cells(parsed):
        assert cell.text == source[cell.offset : cell.offset + cell.length]
        assert cell.length == len(cell.text) > 0
        assert cell.offset >= reached, "reading order is the order of the source"
        between += source[reached : cell.offset]
        reached = cell.offset + cell.length
    between += source[reached:]
    without_tags = re.sub(r"<[a-z]+:[^<>]*>", "", between)
    assert all(SPECIAL.match(char) and char not in "&[<⿰⿲" for char in without_tags)
    for run in parsed.runs:
        assert run.cells, "no run is empty"
        assert {cell.row for cell in run.right} <= {Row.RIGHT if run.is_note else Row.MAIN}
        assert {cell.row for cell in run.left} <= {Row.LEFT}
