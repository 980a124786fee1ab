"""How much detail an image shows: enlarging a coarse one adds none."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from proof.images.detail import detail_of

CELL = 60.0


@pytest.fixture
def page() -> np.ndarray:
    """Black strokes of several widths on white, in cells of 60 pixels."""
    rng = np.random.default_rng(1)
    pixels = np.full((1300, 900), 255, np.uint8)
    for x, y in np.ndindex(12, 18):
        for _ in range(6):
            a, b = rng.integers(0, 50, (2, 2)).tolist()
            ends = [(int(60 * x + 30 + p), int(60 * y + 60 + q)) for p, q in (a, b)]
            cv2.line(pixels, ends[0], ends[1], (0,), int(rng.integers(3, 7)))
    return pixels


def test_a_sharp_page_shows_all_that_its_pixels_hold(page: np.ndarray) -> None:
    assert detail_of(page, CELL) > 18


@pytest.mark.parametrize("pixels", [6, 9, 13])
def test_a_coarse_scan_shows_no_more_when_it_is_enlarged(page: np.ndarray, pixels: int) -> None:
    small = cv2.resize(page, None, fx=pixels / CELL, fy=pixels / CELL, interpolation=cv2.INTER_AREA)
    large = cv2.resize(small, page.shape[::-1], interpolation=cv2.INTER_LINEAR)
    assert detail_of(np.asarray(small, np.uint8), pixels) == pytest.approx(pixels, rel=0.35)
    assert detail_of(np.asarray(large, np.uint8), CELL) == pytest.approx(pixels, rel=0.35)


def test_an_empty_page_has_no_edges_to_judge_by() -> None:
    assert detail_of(np.full((500, 400), 240, np.uint8), CELL) > 18
