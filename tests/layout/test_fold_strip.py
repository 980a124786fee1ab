"""A strip in the middle of a leaf that is as wide as a column is none: by its script, its fish tails, or its frames."""

from __future__ import annotations

import numpy as np
import pytest

from proof.layout.fold_strip import without_fold_strip
from proof.layout.half_folio import ColumnArea, Layout, Outline
from proof.layout.rules import Rectification

WIDE, HIGH, GLYPH = 40, 600, 24


def leaf(count: int, strip: int, script: int = GLYPH, *, tail: bool = False, frames: bool = False) -> Layout:
    """Columns of main text from right to left, numbered from 1; the ink of the one numbered `strip` is `script` wide,
    with a fish tail, or only that of frames at its sides."""
    ink = np.zeros((HIGH, count * WIDE), np.uint8)
    owners = np.zeros(ink.shape, np.int16)
    areas = []
    for number in range(1, count + 1):
        left = (count - number) * WIDE
        areas.append(ColumnArea(number, left, left + WIDE, 0.0, float(HIGH), 0.0))
        owners[:, left : left + WIDE] = number
        size = script if number == strip else GLYPH
        if number == strip and frames:
            ink[:, left + 4 : left + 8] = ink[:, left + WIDE - 8 : left + WIDE - 4] = 255
            continue
        for top in range(10, HIGH - 30, 30):
            ink[top : top + 24 : 4, left + (WIDE - size) // 2 : left + (WIDE + size) // 2] = 255
        if number == strip and tail:
            ink[100:130, left : left + WIDE] = 255
    outline = Outline(Rectification(np.eye(3)[:2], np.eye(3)[:2]), tuple(areas), True, None, 0.0)
    return Layout(outline, 255 - ink, ink, 1.0, owners)


@pytest.mark.parametrize(
    ("page", "strip"),
    [
        (leaf(15, 8, 12), 8),
        (leaf(15, 8, tail=True), 8),
        (leaf(14, 6, tail=True), 6),
        (leaf(15, 8, frames=True), 8),
    ],
    ids=["small script", "fish tail", "fish tail of a leaf cut off", "frames of two leaves"],
)
def test_the_columns_after_it_are_counted_on_with_their_ink(page: Layout, strip: int) -> None:
    found = without_fold_strip(page)
    assert [area.number for area in found.columns] == list(range(1, len(page.columns)))
    for area in found.columns:
        before = area.number + (area.number >= strip)
        assert (area.left, area.right) == (page.columns[before - 1].left, page.columns[before - 1].right)
        assert (found.ink_of(area.number) == page.ink_of(before)).all()


@pytest.mark.parametrize(
    "page",
    [leaf(15, 8), leaf(15, 7, 12), leaf(9, 5, 12), leaf(14, 7, 12)],
    ids=["text", "small script elsewhere", "few columns", "an even number"],
)
def test_other_columns_stay(page: Layout) -> None:
    assert without_fold_strip(page) is page
