"""Rules and frames: told from glyphs by their length, and the angle of the page read off them."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof.layout.rules import Rectification, ink_mask, long_strokes


@pytest.mark.parametrize("tone", [255, 240, 215])
def test_a_blank_sheet_has_no_ink_however_dark_the_paper(tone: int) -> None:
    noise = np.random.default_rng(0).normal(0, 1.5, (300, 200))
    assert not ink_mask(np.clip(tone + noise, 0, 255).astype(np.uint8)).any()


def test_long_strokes_are_rules_though_a_pinprick_breaks_them_and_not_the_strokes_of_a_glyph() -> None:
    paper = np.zeros((400, 300), np.uint8)
    cv2.line(paper, (50, 20), (50, 380), (255,), 1)
    paper[200] = 0
    cv2.line(paper, (150, 100), (150, 140), (255,), 3)
    cv2.line(paper, (100, 260), (290, 260), (255,), 2)
    upright = long_strokes(paper, 250, vertical=True)
    level = long_strokes(paper, 60, vertical=False)
    assert np.count_nonzero(upright[:, 50]) > 340
    assert not upright[:, 60:].any()
    assert np.count_nonzero(level[255:266, 100:]) > 300
    assert not level[:250].any()


@settings(max_examples=50, deadline=None)
@given(
    st.floats(0.2, 1.0),
    st.floats(-0.06, 0.06),
    st.floats(-0.06, 0.06),
    st.tuples(st.integers(0, 4000), st.integers(0, 4000)),
    st.lists(st.tuples(st.floats(0, 1400), st.floats(0, 1400)), min_size=1, max_size=5),
)
def test_every_place_on_the_rectified_page_has_its_pixel_in_the_file(
    scale: float, lean: float, tilt: float, origin: tuple[int, int], places: list[tuple[float, float]]
) -> None:
    turn = Rectification.of(scale, lean, tilt, 1400, 1000, origin)
    points = np.array(places, np.float64)
    in_file = turn.to_file(points)
    again = in_file @ turn.matrix[:, :2].T + turn.matrix[:, 2]
    assert np.allclose(again, points, atol=1e-6)
