"""Light characters on dark blocks are turned over; whatever else is dark on a page stays as it is."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from proof.images.negative import is_negative, turned_over
from tests.layout.drawn import Drawn, Layout, draw

Grey = NDArray[np.uint8]


@pytest.fixture(scope="module")
def page() -> Drawn:
    """Nine columns of seventeen characters in a frame, without rules."""
    return draw(Layout())


def inverted(page: Grey, left: float, top: float, right: float, bottom: float) -> Grey:
    """The page with a rectangle of it white on black."""
    block = np.s_[round(top) : round(bottom), round(left) : round(right)]
    turned = page.copy()
    turned[block] = 255 - turned[block]
    return turned


def assert_reads_as(found: Grey, page: Grey) -> None:
    """Whether a page shows the characters of another, but for the edges of strokes and of blocks."""
    ink, own = found < 128, page < 128
    assert np.count_nonzero(own & ~ink) < 0.05 * np.count_nonzero(own)
    assert np.count_nonzero(ink & ~own) < 0.05 * np.count_nonzero(own)


def test_a_page_without_such_blocks_is_handed_back_itself(page: Drawn) -> None:
    assert turned_over(page.pixels) is page.pixels


@pytest.mark.parametrize("tone", [0, 60])
def test_a_column_in_white_on_black_is_turned_over(page: Drawn, tone: int) -> None:
    """Black or dark grey, as ink is that did not take everywhere."""
    box = page.columns[2]
    block = inverted(page.pixels, box.x + 2, box.y - 4, box.right - 2, box.bottom + 4)
    assert_reads_as(turned_over(np.maximum(block, tone).astype(np.uint8)), page.pixels)


def test_a_single_character_in_white_on_black_is_turned_over(page: Drawn) -> None:
    box, cell = page.columns[4], 44 * 1.12
    block = inverted(page.pixels, box.x + 2, box.y + 5 * cell, box.right - 2, box.y + 6 * cell)
    assert_reads_as(turned_over(block), page.pixels)


def test_half_a_page_in_white_on_black_is_turned_over(page: Drawn) -> None:
    """A rubbing that fills one half, its frame with it."""
    height, width = page.pixels.shape
    edge = page.columns[3].x
    block = inverted(page.pixels, edge, 30, width - 30, height - 30)
    assert not is_negative(block)
    assert_reads_as(turned_over(block), page.pixels)


def test_a_block_that_a_rule_touches_is_turned_over(page: Drawn) -> None:
    box = page.columns[2]
    block = inverted(page.pixels, box.x + 2, box.y - 4, box.right - 2, box.bottom + 4)
    x = round(box.x) + 1
    cv2.line(block, (x, 90), (x, block.shape[0] - 90), (0,), 3)
    found = turned_over(block)
    column = np.s_[:, round(box.x) + 8 : round(box.right) - 8]
    assert_reads_as(found[column], page.pixels[column])


def test_solid_ink_stays_as_it_is(page: Drawn) -> None:
    """A fish tail, a square for a character that is lost: nothing is written on it."""
    box = page.columns[4]
    marked = page.pixels.copy()
    marked[400:450, round(box.x) + 2 : round(box.right) - 2] = 0
    assert turned_over(marked) is marked


def test_what_a_page_lies_on_stays_as_it_is(page: Drawn) -> None:
    """The dark around a page, with a bright speck on it."""
    dark = cv2.copyMakeBorder(page.pixels, 80, 80, 80, 80, cv2.BORDER_CONSTANT, value=(20,))
    dark[30:40, 300:310] = 240
    assert turned_over(np.asarray(dark, dtype=np.uint8)).tobytes() == dark.tobytes()
