"""Rules as lines: what is theirs goes, and what stands beside them, meets them or crosses them stays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from proof.layout.line_removal import without_lines
from proof.layout.lines import erase, follow, splinters
from proof.layout.rules import Mask, long_strokes

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
    upright, level = long_strokes(ink, 40, vertical=True), long_strokes(ink, 66, vertical=False)
    return without_lines(ink, upright, level, RULES, frame, ROW)


@settings(max_examples=15, deadline=None)
@given(bow=st.floats(-5, 5), gaps=st.floats(0, 0.6), seed=st.integers(0, 99))
def test_rules_that_bow_and_are_broken_go_whole(bow: float, gaps: float, seed: int) -> None:
    clean, _ = cleaned(ruled(bow, gaps, seed))
    assert not clean.any()


@pytest.mark.parametrize("off", [6, 8, 11])
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


def test_two_glyphs_that_meet_on_a_rule_are_parted_by_it() -> None:
    ink = ruled()
    ink[500:506, 150:280] = 255
    clean, owners = cleaned(ink)
    assert set(owners[clean > 0].tolist()) == {2, 3}
    assert set(owners[503, 150:210].tolist()) == {3}
    assert set(owners[503, 220:280].tolist()) == {2}


def test_where_no_rule_is_printed_no_stroke_is_taken_for_one() -> None:
    ink = np.zeros((HEIGHT, WIDTH), np.uint8)
    ink[400:440, 214:217] = 255
    (line,) = follow(ink, [215.0], 6, 14)
    erase(ink, line)
    assert ink[400:440, 214:217].all()


def test_splinters_are_what_lies_on_a_line_and_nothing_that_reaches_beyond() -> None:
    ink = ruled()
    (line,) = follow(ink, [215.0], 6, 14)
    labels = np.zeros(ink.shape, np.int32)
    labels[100:103, 214:217] = 1
    labels[200:203, 214:240] = 2
    labels[300:330, 222:225] = 3
    assert splinters(labels, np.bincount(labels.ravel()), [], [line]).tolist() == [False, True, False, False]


def test_a_level_stroke_is_no_dirt_however_little_ink_it_has() -> None:
    """The upper stroke of 二 in a half-row, with more white below it than dirt has beside a glyph."""
    stroke, dirt = np.zeros((2, HEIGHT, WIDTH), np.uint8)
    stroke[400:403, 140:153] = 255
    dirt[500:506, 140:146] = 255
    clean, _ = cleaned(ruled() | stroke | dirt)
    assert np.array_equal(clean, stroke)


def with_raised_column() -> tuple[Mask, Mask]:
    """A ruled page with room above its frame, which is open over the third column, and a page of that size."""
    ink = np.pad(ruled(), ((ABOVE, 0), (0, 0)))
    ink[round(RAISED_TOP) - 3 : round(RAISED_TOP) + 4, 118:212] = 0
    return ink, np.zeros_like(ink)


ABOVE = 90
RAISED_TOP = FRAME[0] + ABOVE


def test_flat_strokes_of_a_raised_glyph_are_no_pieces_of_the_frame() -> None:
    """The lower strokes of 詩, the 口 of 髙: the frame runs around a raised column, and none of it stands within."""
    ink, glyph = with_raised_column()
    pieces = np.zeros_like(glyph)
    glyph[50:87, 145:185] = 255
    for y in (92, 99):
        glyph[y : y + 4, 150:180] = 255
        pieces[y : y + 4, 250:280] = 255
    clean, _ = cleaned(ink | glyph | pieces, (RAISED_TOP, FRAME[1] + ABOVE))
    assert not (glyph & ~clean).any()
    assert not (pieces & clean).any(), "no glyph is above them, and the frame is"


def test_a_level_stroke_of_a_raised_glyph_is_no_second_line_of_the_frame() -> None:
    """The long stroke of 平, near where the frame runs beside it."""
    ink, glyph = with_raised_column()
    glyph[60:118, 163:168] = 255
    for y in (64, 103):
        glyph[y : y + 3, 140:192] = 255
    clean, _ = cleaned(ink | glyph, (RAISED_TOP, FRAME[1] + ABOVE))
    assert not (glyph & ~clean).any()
