"""Light characters on dark blocks are turned over; whatever else is dark on a page stays as it is."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from proof.images.negative import blocks_inverted, is_negative
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


def assert_reads_as(image: Grey, page: Grey) -> None:
    """Whether a page shows the characters of another, but for the edges of strokes and of blocks."""
    ink, own = image < 128, page < 128
    assert np.count_nonzero(own & ~ink) < 0.05 * np.count_nonzero(own)
    assert np.count_nonzero(ink & ~own) < 0.05 * np.count_nonzero(own)


def blocks(page: Drawn) -> dict[str, Grey]:
    """The page with one block of it white on black."""
    height, width = page.pixels.shape
    column, other, cell = page.columns[2], page.columns[4], 44 * 1.12
    whole = inverted(page.pixels, column.x + 2, column.y - 4, column.right - 2, column.bottom + 4)
    return {
        "a column": whole,
        "a column of dark grey ink": np.maximum(whole, 60).astype(np.uint8),
        "a character": inverted(page.pixels, other.x + 2, other.y + 5 * cell, other.right - 2, other.y + 6 * cell),
        "half a page with its frame": inverted(page.pixels, page.columns[3].x, 30, width - 30, height - 30),
    }


def test_a_block_in_white_on_black_is_turned_over(page: Drawn) -> None:
    for name, block in blocks(page).items():
        assert not is_negative(block), name
        assert_reads_as(blocks_inverted(block), page.pixels)


def test_what_is_dark_and_nothing_is_written_on_stays_as_it_is(page: Drawn) -> None:
    """A fish tail, a square for a character that is lost; the dark around a page, with a bright speck on it."""
    assert blocks_inverted(page.pixels) is page.pixels
    box, marked = page.columns[4], page.pixels.copy()
    marked[400:450, round(box.x) + 2 : round(box.right) - 2] = 0
    assert blocks_inverted(marked) is marked
    dark = np.asarray(cv2.copyMakeBorder(page.pixels, 80, 80, 80, 80, cv2.BORDER_CONSTANT, value=(20,)), np.uint8)
    dark[30:40, 300:310] = 240
    assert blocks_inverted(dark).tobytes() == dark.tobytes()
