"""flags.jsonl and flags.csv."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from proof.model.flags import Evidence, Flag, Kind
from proof.model.geometry import Box
from proof.report.tables import COLUMNS, row, spreadsheet

PLACE = ("KR1d0030_WYG_010-1a", "WYG0103-0192c", 5, 3, 1, Kind.SUBSTITUTION)
EVIDENCE = Evidence("posterior", rule="", p_text=0.001, p_best=0.98)
FLAG = Flag(
    *PLACE, "北", "比", -1.23456, True, Box(10.4, 20.6, 30.0, 40.0), EVIDENCE, context="大夫之【北】耦", id="0123"
)


def written(*flags: Flag) -> str:
    file = io.StringIO(newline="")
    spreadsheet(file).writerows(map(row, flags))
    return file.getvalue()


def rows(*flags: Flag) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(written(*flags), newline="")))


def test_a_row_says_where_and_what() -> None:
    """A flag without a place leaves the box empty; a number below zero stays a number."""
    cells, placeless = rows(FLAG, replace(FLAG, bbox=None, raised=False))
    assert tuple(cells) == COLUMNS
    assert cells == {
        **{"page": "KR1d0030_WYG_010-1a", "ref": "WYG0103-0192c", "line": "5", "offset": "3", "length": "1"},
        **{"kind": "substitution", "transcribed": "北", "suggested": "比", "score": "-1.2346", "raised": "yes"},
        **{"reason": "posterior", "rule": "", "context": "大夫之【北】耦", "x": "10", "y": "21", "w": "30", "h": "40"},
        **{"id": "0123", "moved": ""},
    }
    assert placeless == cells | dict.fromkeys("xywh", "") | {"raised": "no"}


FORMULA = "=+-@\t\r\n＝＋－＠"
CELL = st.text(max_size=8) | st.text(f"{FORMULA}甲", min_size=1, max_size=4)


@given(CELL, CELL)
def test_no_cell_of_text_begins_as_a_formula_and_none_is_lost(text: str, note: str) -> None:
    flag = replace(FLAG, transcribed=text, suggested=note, context=note, evidence=Evidence(note, rule=text))
    (cells,) = rows(flag)
    for name, value in (
        ("transcribed", text),
        ("suggested", note),
        ("context", note),
        ("reason", note),
        ("rule", text),
    ):
        assert cells[name] == (f"'{value}" if value[:1] in tuple(FORMULA) else value)
