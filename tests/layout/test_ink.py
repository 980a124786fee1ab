"""Ink of a character and of dirt."""

from __future__ import annotations

import numpy as np

from proof.layout.ink import has_ink


def test_a_speck_is_not_a_character_and_the_thinnest_one_is() -> None:
    ink = np.zeros((60, 60), np.uint8)
    ink[20:24, 20:24] = 255
    assert not has_ink(ink, 0, 0, 60, 60)
    ink[30:33, 10:50] = 255
    assert has_ink(ink, 0, 0, 60, 60)
    assert not has_ink(ink, 0, 40, 60, 60)
    assert not has_ink(ink, 60, 60, 60, 60)
