"""Columns found on a page become a layout from which strips are cut."""

from __future__ import annotations

import numpy as np
import pytest

from proof.layout.columns import cell_height
from proof.layout.page import FoundColumn


@pytest.mark.parametrize("off", [0.93, 0.97, 1.05, 1.09])
def test_the_height_of_a_cell_is_measured_over_several(off: float) -> None:
    """Gaps that are wide only between some of the glyphs hide by how much the first period is wrong."""
    rng, pitch = np.random.default_rng(7), 34.6
    text = np.zeros((900, 120), np.uint8)
    for number in range(25):
        drift = (off - 1) * pitch * (number % 2)
        top = round(10 + number * pitch + drift + rng.normal(0, 1.5))
        text[top : top + 26, 20:100] = 255
    column = FoundColumn(1, 10.0, 5.0, 110.0, 880.0, 31.0)
    assert cell_height(text, [column]) == pytest.approx(pitch, rel=0.012)
