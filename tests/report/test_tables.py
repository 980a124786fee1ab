"""flags.jsonl and flags.csv."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from proof.model.flags import Evidence, Flag, Kind
from proof.model.geometry import Box
from proof.report.tables import COLUMNS, FORMULA, json_line, row, spreadsheet

FLAG = Flag(
    page="KR1d0030_WYG_010-1a",
    ref="WYG0103-0192c",
    line=5,
    offset=3,
    length=1,
    kind=Kind.SUBSTITUTION,
    transcribed="北",
    suggested="比",
    score=-1.23456,
    raised=True,
    bbox=Box(10.4, 20.6, 30.0, 40.0),
    evidence=Evidence("posterior", rule="", p_text=0.001, p_best=0.98),
    context="大夫之【北】耦",
    id="0123",
)


def written(*flags: Flag) -> str:
    file = io.StringIO(newline="")
    spreadsheet(file).writerows(map(row, flags))
    return file.getvalue()


def rows(*flags: Flag) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(written(*flags), newline="")))


def lines(*flags: Flag) -> str:
    return "".join(map(json_line, flags))


def test_a_row_says_where_and_what() -> None:
    (cells,) = rows(FLAG)
    assert tuple(cells) == COLUMNS
    assert cells["page"] == "KR1d0030_WYG_010-1a"
    assert (cells["line"], cells["offset"], cells["length"]) == ("5", "3", "1")
    assert (cells["transcribed"], cells["suggested"], cells["raised"]) == ("北", "比", "yes")
    assert (cells["x"], cells["y"], cells["w"], cells["h"]) == ("10", "21", "30", "40")
    assert cells["context"] == "大夫之【北】耦"


def test_a_number_below_zero_stays_a_number() -> None:
    assert rows(FLAG)[0]["score"] == "-1.2346"


def test_a_flag_without_a_place_leaves_the_box_empty() -> None:
    (cells,) = rows(replace(FLAG, bbox=None, raised=False))
    assert (cells["x"], cells["y"], cells["w"], cells["h"], cells["raised"]) == ("", "", "", "", "no")


def test_every_line_ends_as_spreadsheets_want_it() -> None:
    assert written(FLAG).count("\r\n") == 2
    assert "\n" not in written(FLAG).replace("\r\n", "")


@given(st.text(max_size=8), st.text(max_size=8))
def test_no_cell_of_text_begins_as_a_formula_and_none_is_lost(text: str, note: str) -> None:
    flag = replace(FLAG, transcribed=text, context=note, evidence=Evidence(note, rule=text))
    (cells,) = rows(flag)
    for name, value in (("transcribed", text), ("context", note), ("reason", note), ("rule", text)):
        assert cells[name][:1] not in FORMULA or cells[name] == ""
        assert cells[name] == (f"'{value}" if value[:1] in FORMULA and value else value)


def test_a_formula_is_shown_and_not_run() -> None:
    (cells,) = rows(replace(FLAG, transcribed='=HYPERLINK("http://x";"y")', suggested="@SUM(1)"))
    assert cells["transcribed"] == '\'=HYPERLINK("http://x";"y")'
    assert cells["suggested"] == "'@SUM(1)"


@given(st.lists(st.text(max_size=6), max_size=4))
def test_a_flag_is_one_line_of_json_whatever_its_text(texts: list[str]) -> None:
    flags = [replace(FLAG, transcribed=text) for text in texts]
    written = lines(*flags).splitlines()
    assert [json.loads(line) for line in written] == [json.loads(json.dumps(flag.as_dict())) for flag in flags]


def test_characters_beyond_the_first_plane_are_written_as_themselves() -> None:
    assert "𫝊" in lines(replace(FLAG, transcribed="𫝊"))
