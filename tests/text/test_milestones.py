"""Columns of a TEI file are added, deleted, split and joined, and the file then reads as the text was edited."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.model.flags import LINE_BREAK
from proof.text.edit import Edit
from proof.text.extraction import Extraction
from proof.text.formats import decoded
from proof.text.lines import line_edit
from tests.text.column_edits import check_edits_of_columns

HEADER = '<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader/><text><body>'


def read(body: str) -> Extraction:
    extraction = decoded(Path("t.xml"), f"{HEADER}{body}</body></text></TEI>".encode()).extraction
    assert extraction is not None
    return extraction


def written(source: Extraction, *edits: Edit) -> str:
    """The body of the file after edits that it holds."""
    assert all(map(source.holds, edits))
    return source.edited(edits).decode().removeprefix(HEADER).removesuffix("</body></text></TEI>")


PAGE = '<pb n="1"/>\n<lb/>甲乙\n<lb/>丙<note place="inline">丁戊</note>\n<lb/>己庚\n<pb n="2"/>\n<lb/>辛\n'


def change(source: Extraction, at: str, old: str, new: str, offset: int = 0) -> Edit:
    """A column that is added (`new`), deleted (`old`), split or joined where the text reads `at`."""
    return line_edit(source.text, source.text.index(at) + offset, old, new, offset)


@pytest.mark.parametrize(
    ("at", "old", "new", "offset", "was", "becomes"),
    [
        ("甲", "", "天", 0, "<lb/>甲乙\n", "<lb/>天\n<lb/>甲乙\n"),
        ("己庚", "", "天", 2, "<lb/>己庚\n", "<lb/>己庚\n<lb/>天\n"),
        ("辛", "", "天", 1, "<lb/>辛\n", "<lb/>辛\n<lb/>天\n"),
        ("甲乙", "甲乙", "", 0, "<lb/>甲乙\n", ""),
        ("丙", "丙(丁戊)", "", 0, '<lb/>丙<note place="inline">丁戊</note>\n', ""),
        ("己庚", "", LINE_BREAK, 1, "己庚", "己\n<lb/>庚"),
        ("甲乙", LINE_BREAK, "", 2, "乙\n<lb/>丙", "乙丙"),
    ],
)
def test_a_column_is_changed_with_its_line_break(
    at: str, old: str, new: str, offset: int, was: str, becomes: str
) -> None:
    source = read(PAGE)
    assert written(source, change(source, at, old, new, offset)) == PAGE.replace(was, becomes)


def test_the_notes_of_an_added_column_are_elements_with_half_rows() -> None:
    body = '<pb n="1"/>\n<cb/>甲\n<cb/>丙\n'
    source = read(body)
    note = '<note place="inline">乙<lb/>丁&amp;</note>'
    assert written(source, change(source, "丙", "", "天(乙/丁&)地")) == body.replace(
        "<cb/>丙", f"<cb/>天{note}地\n<cb/>丙"
    )


@pytest.mark.parametrize(
    ("body", "column"),
    [
        ('<pb n="1"/><lb/>甲<note place="inline">乙<lb/>丙</note>丁<lb/>戊', "丙)丁"),
        ('<pb n="1"/><lb/>甲<lb/>乙<anchor xml:id="a"/>丙<lb/>戊', "乙丙"),
        ('<pb n="1" ed="A"/><lb ed="A"/>甲<lb ed="A"/>乙<lb ed="B"/>丙<lb ed="A"/>戊', "乙丙"),
        ('<pb n="1"/>甲乙<lb/>戊', "甲乙"),
        ('<pb n="1"/><lb xml:id="b"/>甲乙<lb/>戊', "甲乙"),
    ],
    ids=[
        "a note is torn",
        "a place that others name",
        "a line of another edition",
        "no line break of its own",
        "a line break that others name",
    ],
)
def test_a_column_that_is_not_alone_in_its_file_is_not_deleted(body: str, column: str) -> None:
    source = read(body)
    assert not source.holds(change(source, column, column, ""))


SEGMENTS = st.sampled_from(
    [
        "甲",
        "乙丙",
        "&amp;",
        "<hi>丁</hi>",
        '<note place="inline">戊<hi>己</hi></note>',
        "<!-- <lb/> -->庚",
        "<g ref='#A1'/>",
    ]
)
COLUMNS = st.lists(SEGMENTS, min_size=1, max_size=3).map("".join)


@st.composite
def bodies(draw: st.DrawFn) -> str:
    """Pages with columns, in paragraphs and notes that begin and end anywhere."""
    mark, newline = draw(st.sampled_from(["lb", "cb"])), draw(st.sampled_from(["", "\n", "\n  "]))
    body = ""
    open_elements: list[str] = []
    for number in range(draw(st.integers(1, 3))):
        body += f'<pb n="{number + 1}"/>{newline}'
        for _ in range(draw(st.integers(1, 4))):
            match draw(st.integers(0, 5)):
                case 0 if not open_elements:
                    body, open_elements = f"{body}<p>", ["p"]
                case 1 if open_elements == ["p"]:
                    body, open_elements = f"{body}</p>", []
            body += f"<{mark}/>{draw(COLUMNS)}"
            match draw(st.integers(0, 5)):
                case 0 if "note" not in open_elements:
                    body += '<note place="inline">辛'
                    open_elements = [*open_elements, "note"]
                case 1 if open_elements[-1:] == ["note"]:
                    body += "壬</note>"
                    open_elements = open_elements[:-1]
            body += newline
    return body + "".join(f"</{name}>" for name in reversed(open_elements))


@given(bodies(), st.data())
def test_the_file_reads_as_its_text_was_edited(body: str, data: st.DataObject) -> None:
    check_edits_of_columns(read(body), Path("t.xml"), data)
