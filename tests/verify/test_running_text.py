"""Running text is told from columns by the length of its lines."""

from __future__ import annotations

import pytest

from proof.verify.running_text import is_running
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
