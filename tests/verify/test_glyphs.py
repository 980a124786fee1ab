"""What stands in a column: what is a glyph, and what only a piece of the frame."""

from __future__ import annotations

import pytest

from proof.ocr.belief import Belief
from proof.text.model import Row
from proof.verify.glyphs import Glyph, without_splinters

PITCH = 58.0
TOP, BOTTOM = 158.0, 158.0 + 21 * PITCH


def glyph(text: str, y: float, presence: float = 0.95) -> Glyph:
    believed = Belief({text: -0.01} if text else {})
    return Glyph(believed, presence, 0, Row.MAIN, 0, y - PITCH / 2, 90, y + PITCH / 2, y, PITCH)


@pytest.mark.parametrize(
    ("before", "y", "is_one"),
    [
        (0.95, 0.40, True),  # 一 in the last cell, a cell below another
        (0.80, 0.22, True),  # squeezed, but with room
        (0.60, 0.22, False),  # between the last character and the frame
        (0.90, 0.05, False),  # on the frame
    ],
)
@pytest.mark.parametrize("above", [False, True])
def test_beyond_the_last_cell_a_splinter_is_hardly_there(before: float, y: float, is_one: bool, above: bool) -> None:
    """`before` and `y`: cells from the frame to the last character and to what is read as 一."""
    last = before + (1.0 if is_one else 0.0)
    column = [(TOP + last * PITCH, "于"), (TOP + y * PITCH, "一")]
    column = sorted(column if above else [(TOP + BOTTOM - place, text) for place, text in column])
    found = without_splinters([glyph(text, place) for place, text in column], TOP, BOTTOM)
    assert {glyph.best: glyph.presence > 0.5 for glyph in found} == {"于": True, "一": is_one}
