"""The list of flagged places on a terminal."""

from __future__ import annotations

from dataclasses import replace

import click
from hypothesis import given
from hypothesis import strategies as st

from proof.commands.cells import cell_len
from proof.commands.flagged import lines
from proof.model.flags import Evidence, Flag, Kind
from proof.report.places import SuspiciousPlace

COLUMN = "司射东面于大夫之西北耦大夫与大夫(案比今注疏/本讹作北据)"


def place(
    transcribed: str = "北", suggested: str = "比", kind: Kind = Kind.SUBSTITUTION, page: str = "1b"
) -> SuspiciousPlace:
    offset = COLUMN.index("北")
    flag = Flag(
        page, "", 5, offset, len(transcribed), kind, transcribed, suggested, 11.4, True, None, Evidence("posterior")
    )
    return SuspiciousPlace(flag, kind.value, "The image reads 比.", COLUMN[:offset], COLUMN[offset + 1 :])


def shown(flagged: list[SuspiciousPlace], width: int = 80) -> list[str]:
    return [click.unstyle(line) for line in lines(flagged, width)]


def test_text_and_image_stand_side_by_side_with_the_place_in_brackets() -> None:
    _, line, why = shown([place()])
    assert "大夫之西[北]耦大夫与" in line
    assert "大夫之西[比]耦大夫与" in line
    assert line.split()[:2] == ["1b", "5"]
    assert line.split()[-2:] == ["substitution", "11.4"]
    assert why.strip() == "The image reads 比."


def test_the_head_names_no_image_where_none_was_read() -> None:
    seen = place()
    unseen = replace(seen, flag=replace(seen.flag, evidence=Evidence("language")))
    assert [shown(flagged)[0].split()[3] for flagged in ([unseen], [unseen, seen])] == ["instead", "image"]


@given(
    st.integers(76, 200),
    st.lists(st.sampled_from(["1b", "WYG0103-0192d", "KR1d0087_WYG_223-17b"]), min_size=1, max_size=3),
)
def test_lines_fit_the_terminal_and_columns_stand_under_each_other(width: int, pages: list[str]) -> None:
    rows = shown([place(page=page) for page in pages], width)
    assert all(cell_len(row) <= width for row in rows)
    ends = {cell_len(row.rstrip()) for row in rows[1::2]}
    assert len(ends) == 1


def test_what_would_move_the_cursor_is_not_printed() -> None:
    rows = shown([place("\x1b[2J", "\n")])
    assert "\x1b" not in "".join(rows)
    assert "\n" not in "".join(rows)


def test_a_finding_about_a_column_shows_it_cut_to_fit() -> None:
    column = place(COLUMN * 3, "", Kind.LAYOUT)
    _, line, _ = shown([column])
    assert "…" in line
    assert cell_len(line) <= 80


def test_a_long_run_leaves_room_for_what_stands_around_it() -> None:
    run = place("", "惠王齊宣王同時其學無所不闚然其要本歸于老", Kind.OMISSION, page="KR2a0002_WYG_061-2b")
    _, line, _ = shown([run])
    assert cell_len(line) <= 80
    text, image = (part for part in line.split("  ") if "[" in part)
    assert (text.strip()[:2], image.strip()[:4]) == ("西[", "西[惠王")
    assert (text.strip()[-2:], image.strip()[-3:]) == ("]耦", "…]耦")
