"""Strokes on rules: they stay, with the column of their glyph, and rules go all the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof.layout.crossings import Strokes, columns_of, restore
from proof.layout.line_removal import without_lines
from proof.layout.lines import Line
from proof.layout.rules import Frame, Mask, PageInk, long_strokes
from tests.layout.test_lines import HEIGHT, WIDTH, cleaned, ruled


def paper() -> Mask:
    return np.zeros((HEIGHT, WIDTH), np.uint8)


def glyph(left: int, top: int) -> Mask:
    """A square of four strokes five pixels thick, 36 to a side, with a cross in it: 田."""
    ink = paper()
    for off in (0, 15, 31):
        ink[top + off : top + off + 5, left : left + 36] = 255
        ink[top : top + 36, left + off : left + off + 5] = 255
    return ink


@pytest.mark.parametrize("off", [-2, 0, 2])
@pytest.mark.parametrize("side", [-1, 1])
def test_an_upright_stroke_that_lies_on_a_rule_stays_with_its_glyph(off: int, side: int) -> None:
    """The right of 日 against the rule at its right, the left of 田 against that at its left."""
    left = 215 + off - 33 if side < 0 else 215 + off - 2
    own = glyph(left, 400)
    clean, owners = cleaned(ruled() | own)
    assert np.count_nonzero(own & clean) > 0.97 * np.count_nonzero(own)
    assert np.count_nonzero(clean & ~own) < 80
    assert np.count_nonzero(owners[own > 0] == (2 if side > 0 else 3)) > 0.97 * np.count_nonzero(own)


@settings(max_examples=30, deadline=None)
@given(
    size=st.tuples(st.integers(1, 90), st.integers(1, 90)),
    rules=st.lists(st.floats(-200, 300), min_size=2, max_size=7, unique=True).map(sorted),
    frame=st.tuples(st.floats(-200, 300), st.floats(-200, 300)).map(sorted),
    row=st.floats(2, 90),
    dark=st.floats(0, 1),
    seed=st.integers(0, 99),
)
def test_wherever_rules_and_frame_are_said_to_run_what_goes_was_ink(
    size: tuple[int, int], rules: list[float], frame: list[float], row: float, dark: float, seed: int
) -> None:
    """Beyond the edge of the image, too, which a comb of equal columns may reach over; on an image of any size."""
    rng = np.random.default_rng(seed)
    ink = np.where(rng.random(size) < dark, 255, 0).astype(np.uint8)
    for x in rules[::2]:
        ink[:, max(0, round(x)) : max(0, round(x) + 3)] = 255
    page = PageInk(ink, long_strokes(ink, 12, vertical=True), long_strokes(ink, 12, vertical=False))
    clean, owners = without_lines(page, Frame(rules, frame[0], frame[1]), row)
    assert clean.shape == owners.shape == ink.shape
    assert not (clean & ~ink).any()
    assert owners.min() >= 0
    assert owners.max() < len(rules)
    assert not clean[owners == 0].any()


@given(
    size=st.tuples(st.integers(1, 60), st.integers(1, 60)),
    ends=st.tuples(st.floats(-200, 200), st.floats(-200, 200)),
    sides=st.tuples(st.floats(0.5, 9), st.floats(0.5, 9)),
)
def test_the_pixels_of_a_line_lie_on_the_page(
    size: tuple[int, int], ends: tuple[float, float], sides: tuple[float, float]
) -> None:
    line = Line(np.linspace(*ends, size[0]), np.ones(size[0], np.bool_), *sides)
    low, high = line.band(size[1], 1.0)
    assert 0 <= low <= high <= size[1]
    ink = np.full(size, 255, np.uint8)
    strokes = Strokes.of(ink, 20.0)
    restore(ink, ink.copy(), strokes, line, 0, 20.0)
    numbers = columns_of(ink, [line, line], strokes.dotted, 30.0)
    assert set(np.unique(numbers).tolist()) <= {0, 1}
