"""Cells counted from the ink alone, whatever a recogniser makes of it."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from proof.layout.ink import has_ink, ink_cells

PITCH = 50


def strip_of(filled: list[bool], share: float = 0.3) -> NDArray[np.uint8]:
    """A strip of cells, some of them with a square of ink that covers so much of the cell."""
    ink = np.zeros((PITCH * len(filled), 60), np.uint8)
    side = round((share * PITCH * 60) ** 0.5)
    for number, full in enumerate(filled):
        if full:
            top = number * PITCH + (PITCH - side) // 2
            ink[top : top + side, 30 - side // 2 : 30 - side // 2 + side] = 255
    return ink


@settings(max_examples=40, deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=21))
def test_every_cell_with_ink_is_counted_and_no_empty_one(filled: list[bool]) -> None:
    ink = strip_of(filled)
    cells = ink_cells(ink, PITCH)
    assert len(cells) == sum(filled)
    places = [n * PITCH + PITCH / 2 for n, full in enumerate(filled) if full]
    assert all(top < place < bottom for (top, bottom), place in zip(cells, places, strict=True))


def test_a_speck_is_not_a_character_and_the_thinnest_one_is() -> None:
    ink = np.zeros((60, 60), np.uint8)
    ink[20:24, 20:24] = 255
    assert not has_ink(ink, 0, 0, 60, 60)
    ink[30:33, 10:50] = 255
    assert has_ink(ink, 0, 0, 60, 60)
    assert not has_ink(ink, 0, 40, 60, 60)
    assert not has_ink(ink, 60, 60, 60, 60)
