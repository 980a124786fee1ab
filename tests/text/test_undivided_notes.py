"""Notes that run their two half-rows together."""

from __future__ import annotations

import pytest

from proof.text.model import Row
from tests.build import transcription
from tests.remarks import remark_codes

LONG = "侯王謂天子盖雖以諸侯為主而雜以天子言之故又稱王及兆民也"


@pytest.mark.parametrize(
    ("columns", "halves", "remarks"),
    [
        (
            [f"公({LONG})入", "疏(甲乙丙)", "疏(甲)"],
            [(LONG[:14], LONG[14:]), ("甲乙", "丙"), ("甲", "")],
            [(1, "notes-undivided")],
        ),
        ([f"公({LONG})入", "疏(甲/)"], [(LONG, ""), ("甲", "")], []),
        (["疏(甲乙丙)"], [("甲乙丙", "")], []),
    ],
    ids=["none is divided", "one is divided", "short ones alone"],
)
def test_where_no_note_is_divided_each_is_cut_in_the_middle(
    columns: list[str], halves: list[tuple[str, str]], remarks: list[tuple[int, str]]
) -> None:
    text = transcription("<pb:K_WYG_001-1a>¶\n" + "".join(f"{column}¶\n" for column in columns))
    notes = [run for column in text.pages[0].columns for run in column.runs if run.is_note]
    assert [("".join(c.text for c in run.right), "".join(c.text for c in run.left)) for run in notes] == halves
    assert {cell.row for run in notes for cell in run.left} <= {Row.LEFT}
    assert remark_codes(text) == remarks
