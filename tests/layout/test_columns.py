"""Columns found on a page become a layout from which strips are cut."""

from __future__ import annotations

import numpy as np
import pytest

from proof.layout.columns import as_layout, cell_height
from proof.layout.page import FoundColumn, PageLayout
from proof.layout.rules import Rectification
from proof.layout.sheet import Region, Sheet


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


def test_a_register_whose_ink_has_no_period_has_cells_as_high_as_the_others_of_its_page() -> None:
    """Two characters tell no period; and where ink has faded, glyphs seem half as wide as they are."""
    ink = np.zeros((900, 120), np.uint8)
    for top in (*range(20, 600, 36), 700, 736):
        ink[top : top + 24, 40:80] = 255
    columns = tuple(
        FoundColumn(n, 30.0, top, 90.0, bottom, 15.0 * n) for n, top, bottom in ((2, 15, 620), (1, 695, 765))
    )
    blank = np.zeros_like(ink)
    sheet = Sheet(255 - ink, ink, blank, blank, Rectification.of(1.0, 0.0, 0.0, *ink.shape, (0, 0)), 0.0)
    regions = [Region(0, 0, top, 120, bottom) for top, bottom in ((0, 650), (650, 900))]
    layout = as_layout(PageLayout(sheet, ink, tuple(regions), columns, ((), ())))
    assert [area.measured_pitch for area in layout.columns] == pytest.approx([36, 36], rel=0.02)


def test_the_only_stroke_of_a_note_beside_a_column_belongs_to_the_column() -> None:
    ink = np.zeros((420, 200), np.uint8)
    for top in (20, 100, 300):
        ink[top : top + 60, 60:120] = 255
    ink[200:212, 131:143] = 255  # where no main text stands, beside the body of the column
    blank = np.zeros_like(ink)
    sheet = Sheet(255 - ink, ink, blank, blank, Rectification.of(1.0, 0.0, 0.0, *ink.shape, (0, 0)), 0.0)
    column = FoundColumn(1, 40.0, 20.0, 160.0, 360.0, 60.0)
    region = Region(0, 0, 0, 200, 420)
    layout = as_layout(PageLayout(sheet, ink, (region,), (column,), ((),)))
    assert layout.owners[206, 137] == 1
