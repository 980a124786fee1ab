"""Rules as lines: what is theirs goes, and what stands beside them, meets them or crosses them stays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from proof.layout.line_removal import without_lines
from proof.layout.rules import Frame, Mask, PageInk, long_strokes

HEIGHT, WIDTH, ROW = 1000, 430, 45.0
RULES = [15.0, 115.0, 215.0, 315.0, 415.0]
FRAME = (20.0, 980.0)


def ruled(bow: float = 0.0, gaps: float = 0.0, seed: int = 0) -> Mask:
    """A page of four columns: rules three pixels thick that bow by so many pixels and lack so much of their length."""
    rng = np.random.default_rng(seed)
    ink = np.zeros((HEIGHT, WIDTH), np.uint8)
    for x in RULES:
        for y in range(20, 980):
            along = (y - 20) / 960
            middle = round(x + 4 * bow * along * (1 - along))
            ink[y, middle - 1 : middle + 2] = 255
        for start in range(20, 980, 120):
            ink[start : start + round(120 * gaps * rng.random()), round(x) - 12 : round(x) + 13] = 0
    for y in (20, 980):
        ink[y - 1 : y + 2, 15:416] = 255
    return ink


def cleaned(ink: Mask, frame: tuple[float, float] = FRAME) -> tuple[Mask, NDArray[np.int16]]:
    page = PageInk(ink, long_strokes(ink, 40, vertical=True), long_strokes(ink, 66, vertical=False))
    return without_lines(page, Frame(RULES, *frame), ROW)


@settings(max_examples=15, deadline=None)
@given(bow=st.floats(-5, 5), gaps=st.floats(0, 0.6), seed=st.integers(0, 99))
def test_rules_that_bow_and_are_broken_go_whole(bow: float, gaps: float, seed: int) -> None:
    clean, _ = cleaned(ruled(bow, gaps, seed))
    assert not clean.any()


@pytest.mark.parametrize("off", [6, 11])
@pytest.mark.parametrize("side", [-1, 1])
def test_an_upright_stroke_beside_a_rule_stays_whole(off: int, side: int) -> None:
    """The left of 同, in a half-row."""
    ink = ruled()
    stroke = np.zeros_like(ink)
    x = 215 + side * off
    stroke[400:432, x - 1 : x + 2] = 255
    clean, owners = cleaned(ink | stroke)
    assert np.array_equal(clean, stroke)
    assert set(owners[stroke > 0].tolist()) == {2 if side > 0 else 3}


def test_a_stroke_that_meets_a_rule_or_crosses_it_stays_whole_and_keeps_its_column() -> None:
    ink = ruled()
    stroke = np.zeros_like(ink)
    stroke[300:306, 150:216] = 255  # up to the middle of the rule
    stroke[500:506, 140:222] = 255  # over it
    clean, owners = cleaned(ink | stroke)
    assert not (stroke & ~clean).any()
    assert np.count_nonzero(clean & ~stroke) < 60
    assert set(owners[clean > 0].tolist()) == {3}
