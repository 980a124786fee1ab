"""Running text is told from columns by the length of its lines, and a line that has two columns from running text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proof.verify.running import is_running, lay_out, undivided
from tests.verify.columns import AREA, exact, shown_as
from tests.verify.pages import line

ROWS = 21


@pytest.mark.parametrize(
    ("source", "running"),
    [("經" * 30, True), (f"經({'注' * 60})", True), ("經" * 21, False), (f"({'注' * 38}/{'疏' * 38})", False)],
    ids=["main text", "a note without half-rows", "a column", "a column of notes in low rows"],
)
def test_a_line_that_no_column_holds_is_running_text(source: str, running: bool) -> None:
    assert is_running([line(source)] * 8, ROWS, 9) is running
    assert not is_running([line(source)] * 8, ROWS, 8)


@pytest.mark.parametrize(
    ("lines", "columns", "divided"),
    [
        (["司射", "北面夫之", "西耦"], ["司射", "北面", "夫之", "西耦"], [(2, 2)]),
        (
            ["司射北面夫之東也", "西耦", "大也", "比上", "者當"],
            ["司射", "北面", "夫之", "東也", "西耦", "大也", "比上", "者當"],
            [],
        ),
        (["司射", "北(面)夫之", "西耦"], ["司射", "北(面)", "夫之", "西耦"], [(2, 4)]),
        (["司射", "北(面夫之)", "西耦"], ["司射", "北(面夫)", "(之)", "西耦"], []),
        (["司射北面", "夫之西耦"], ["司射", "北面", "夫之", "西耦"], []),
    ],
    ids=["two columns", "a paragraph", "behind a note", "within a note", "no line is a column"],
)
def test_a_line_is_to_be_divided_where_it_goes_on_in_the_next_column(
    lines: list[str], columns: list[str], divided: list[tuple[int, int]]
) -> None:
    text = [line(source, number) for number, source in enumerate(lines, 1)]
    areas = [replace(AREA, number=number) for number in range(1, len(columns) + 1)]
    spread = lay_out(text, areas, [shown_as(source) for source in columns], exact)
    assert [(trouble.line, trouble.offset) for trouble in undivided(spread)] == divided
