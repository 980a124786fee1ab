"""Rules and frames: told from glyphs by their length, and the angle of the page read off them."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from proof.layout.rules import Rectification, connected, ink_mask, long_strokes, slope

HEIGHT, WIDTH = 900, 700


def ruled(degrees: float, share: float = 1.0) -> NDArray[np.uint8]:
    """Nine upright rules that lean to the left going down by `degrees`; `share` of each is printed."""
    paper = np.zeros((HEIGHT, WIDTH), np.uint8)
    lean = np.tan(np.radians(degrees))
    rng = np.random.default_rng(5)
    for x in range(90, 620, 65):
        for top in range(60, 840, 60):
            if rng.random() < share:
                ends = [(round(x + lean * (y - HEIGHT / 2)), y) for y in (top, top + 60)]
                cv2.line(paper, ends[0], ends[1], (255,), 2)
    return paper


@pytest.mark.parametrize("tone", [255, 240, 215])
def test_a_blank_sheet_has_no_ink_however_dark_the_paper(tone: int) -> None:
    noise = np.random.default_rng(0).normal(0, 1.5, (300, 200))
    assert not ink_mask(np.clip(tone + noise, 0, 255).astype(np.uint8)).any()


@pytest.mark.parametrize(("paper", "ink"), [(255, 0), (205, 45), (235, 120)])
def test_ink_is_found_on_dark_paper_and_on_white(paper: int, ink: int) -> None:
    sheet = np.full((300, 200), paper, np.uint8)
    sheet[100:140, 50:150] = ink
    assert np.array_equal(ink_mask(sheet), np.where(sheet == ink, 255, 0))


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


@st.composite
def masks(draw: st.DrawFn) -> NDArray[np.uint8]:
    """Ink in lumps of any size, on sheets down to a single pixel."""
    height, width = draw(st.integers(1, 70)), draw(st.integers(1, 70))
    noise = np.random.default_rng(draw(st.integers(0, 1000))).random((height, width)).astype(np.float32)
    lumps = cv2.blur(noise, (draw(st.integers(1, 9)), draw(st.integers(1, 9))))
    return np.where(lumps > draw(st.floats(0.2, 0.8)), 255, 0).astype(np.uint8)


@given(masks(), st.integers(1, 90), st.booleans())
def test_long_strokes_are_what_opening_along_a_line_leaves(ink: NDArray[np.uint8], length: int, vertical: bool) -> None:
    bridge, line = (np.ones((n, 1) if vertical else (1, n), np.uint8) for n in (3, length))
    closed = cv2.morphologyEx(ink, cv2.MORPH_CLOSE, bridge)
    assert np.array_equal(long_strokes(ink, length, vertical), cv2.morphologyEx(closed, cv2.MORPH_OPEN, line))


@given(masks())
def test_pieces_that_hang_together_are_numbered_as_by_default(ink: NDArray[np.uint8]) -> None:
    _, labels, boxes, middles = cv2.connectedComponentsWithStats(ink, connectivity=8)
    found = connected(ink)
    assert np.array_equal(found[0], labels)
    assert np.array_equal(found[1], boxes)
    assert np.array_equal(found[2], middles, equal_nan=True)  # of paper where there is none


@settings(max_examples=15, deadline=None)
@given(st.floats(-3.5, 3.5), st.sampled_from([1.0, 0.6]))
def test_the_slope_of_rules_is_that_at_which_they_were_drawn(degrees: float, share: float) -> None:
    rules = ruled(degrees, share)
    upright = np.degrees(np.arctan(slope(rules, vertical=True)))
    level = np.degrees(np.arctan(slope(np.ascontiguousarray(rules.T), vertical=False)))
    assert (upright, level) == pytest.approx((degrees, degrees), abs=0.2)


def test_a_page_without_lines_does_not_lean() -> None:
    assert slope(np.zeros((500, 300), np.uint8), vertical=True) == 0.0


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


def test_a_leaning_rule_is_upright_on_the_rectified_page() -> None:
    lean = float(np.tan(np.radians(2.5)))
    turn = Rectification.of(0.5, lean, 0.0, 700, 500, (40, 60))
    rule = np.array([[500.0 + lean * y, y] for y in (100.0, 700.0, 1300.0)])
    moved = rule @ turn.matrix[:, :2].T + turn.matrix[:, 2]
    assert np.ptp(moved[:, 0]) < 1e-6
    assert np.diff(moved[:, 1]) == pytest.approx([300.0, 300.0])
    middle = Rectification.of(1.0, 0.04, -0.03, 800, 600, (0, 0)).to_file(np.array([[300.0, 400.0]]))
    assert middle[0] == pytest.approx([300.0, 400.0]), "the middle of the page stays where it is"
