"""Columns of a text with page lines are added, deleted, split and joined as lines of the file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.model.flags import LINE_BREAK
from proof.text.extraction import Extraction
from proof.text.formats import decoded
from proof.text.lines import line_edit
from tests.text.column_edits import check_edits_of_columns

PATH = Path("x.txt")


def read(text: str) -> Extraction:
    extraction = decoded(PATH, text.encode()).extraction
    assert extraction is not None
    return extraction


PAGES = "[1a]\n甲乙\n丙(丁/戊)\n\n己\n[1b]\n庚\n"


@pytest.mark.parametrize(
    ("at", "old", "new", "offset", "was", "becomes"),
    [
        ("甲", "", "天", 0, "甲乙\n", "天\n甲乙\n"),
        ("己", "", "天", 1, "己\n", "己\n天\n"),
        ("庚", "", "天", 1, "庚\n", "庚\n天\n"),
        ("丙", "丙(丁/戊)", "", 0, "丙(丁/戊)\n\n", ""),
        ("甲", "", LINE_BREAK, 1, "甲乙", "甲\n乙"),
        ("丙", LINE_BREAK, "", 6, "戊)\n\n己", "戊)己"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_column_is_a_line_of_the_file(
    at: str, old: str, new: str, offset: int, was: str, becomes: str, newline: str
) -> None:
    source = read(PAGES.replace("\n", newline))
    edit = line_edit(source.text, source.text.index(at) + offset, old, new, offset)
    assert source.holds(edit)
    assert source.edited([edit]).decode() == PAGES.replace(was, becomes).replace("\n", newline)


@given(
    st.lists(
        st.lists(st.sampled_from(["甲", "乙丙 ", "(丁/戊)", "　己"]), min_size=1, max_size=3), min_size=2, max_size=3
    ),
    st.sampled_from(["[{}]", "第{}頁", "\f"]),
    st.sampled_from(["\n", "\r\n", "\n \n"]),
    st.booleans(),
    st.data(),
)
def test_the_file_reads_as_its_text_was_edited(
    pages: list[list[str]], mark: str, newline: str, has_final_newline: bool, data: st.DataObject
) -> None:
    text = ""
    for number, columns in enumerate(pages):
        text += mark if mark == "\f" and number else "" if mark == "\f" else mark.format(number + 1) + newline
        text += newline.join(columns) + ("" if mark == "\f" else newline)
    check_edits_of_columns(read(text if has_final_newline else text.rstrip()), PATH, data)


def test_headings_of_numbers_are_page_lines() -> None:
    text = "".join(f"== {number} ==\n大射\n" for number in range(1, 5))
    assert decoded(PATH, text.encode()).container == "page-lines"
