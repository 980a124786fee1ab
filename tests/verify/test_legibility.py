"""What a coarse glyph does not show is not held against the text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from proof.text.model import Row
from proof.verify.legibility import FULLY_LEGIBLE, Legibility

details = st.floats(4.0, 40.0)


@given(details, details)
def test_the_less_an_image_shows_the_less_it_says(first_px: float, second_px: float) -> None:
    coarse, clear = Legibility(min(first_px, second_px)), Legibility(max(first_px, second_px))
    assert coarse.deduction(Row.MAIN) >= clear.deduction(Row.MAIN) >= 0
    assert 0 <= coarse.shared_weight(Row.MAIN) <= clear.shared_weight(Row.MAIN) <= 1


def test_of_a_page_of_which_nothing_is_known_everything_counts() -> None:
    assert (FULLY_LEGIBLE.deduction(Row.LEFT), FULLY_LEGIBLE.shared_weight(Row.LEFT)) == (0, 1)
