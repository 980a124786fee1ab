"""Wear: each kind does what it is named for, by seed, and stays within its bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof.errors import UsageError
from proof.facsimile.leaf import Style
from proof.facsimile.render import render_page
from proof.facsimile.wear import LEVELS, MAX_SKEW, Wear, age, moved, named_wear, seal_shape, skewing
from proof.ocr.engine import Pixels
from proof.text.model import Page

pytestmark = pytest.mark.slow

MakePage = Callable[..., Page]

SIZE = (400, 300)
BARE = np.zeros(SIZE, np.uint8)
INKED = BARE.copy()
INKED[100:200, 100:200] = 255


def aged(ink: Pixels, wear: Wear, *, behind: Pixels | None = None, seal: Pixels | None = None, seed: int = 1) -> Pixels:
    return age(ink, behind, seal, wear, 1.0, [seed])


def black(image: Pixels) -> float:
    return float((image < 128).mean())


def test_without_wear_ink_is_black_and_paper_white_and_after_jpeg_there_are_tones() -> None:
    image = aged(INKED, Wear())
    assert (image[105:195, 105:195] == 0).all()
    assert (image[:95] == 255).all()
    assert np.unique(aged(INKED, Wear(jpeg=30))).size > 2


@pytest.mark.parametrize("grey", [False, True])
def test_specks_are_as_many_as_asked_for_on_paper_and_in_ink(grey: bool) -> None:
    few, many = (aged(BARE, Wear(specks=count, grey=grey)) for count in (100, 5000))
    assert black(few) < black(many) < 0.1
    solid = aged(np.full(SIZE, 255, np.uint8), Wear(specks=5000, grey=grey))
    assert 0.001 < (solid > 200).mean() < 0.1


def test_broken_rules_have_less_ink(make_page: MakePage) -> None:
    whole, broken = (render_page(make_page("之"), wear=Wear(broken=share), seed=1).image for share in (0.0, 0.5))
    assert black(broken) < 0.9 * black(whole)


@pytest.mark.parametrize("grey", [False, True])
def test_what_bleeds_through_shows_where_the_other_side_has_ink_and_nowhere_else(grey: bool) -> None:
    wear = Wear(bleed=0.5, grey=grey)
    image, plain = aged(BARE, wear, behind=INKED), aged(BARE, wear)
    assert image[110:190, 110:190].mean() < plain[110:190, 110:190].mean() - 10
    assert image[:80].mean() == pytest.approx(plain[:80].mean(), abs=1)


def test_the_page_behind_is_seen_turned_over(make_page: MakePage) -> None:
    blank, line = make_page(name="blank"), "國" * 20
    more_ink_left = []
    for behind in (make_page(line, line, line), make_page("", "", "", "", "", line, line, line)):
        drawn = render_page(blank, Style(strip_seen=0.0), Wear(bleed=0.9), seed=1, behind=behind)
        (left, top), (right, _), (_, bottom), _ = drawn.halves[0].frame
        ruled = drawn.image[int(top) + 60 : int(bottom) - 60, int(left) + 30 : int(right) - 30] < 128
        middle = ruled.shape[1] // 2
        more_ink_left.append(int(ruled[:, :middle].sum()) - int(ruled[:, middle:].sum()))
    assert more_ink_left[0] > 3000, "what stands right on the other side shows left"
    assert more_ink_left[1] < -3000, "and the other way round"


@pytest.mark.parametrize("grey", [False, True])
def test_a_seal_darkens_the_paper_and_leaves_the_text_to_be_read(grey: bool) -> None:
    stamp = np.zeros(SIZE, np.uint8)
    stamp[50:350, 50:250] = 255
    image = aged(INKED, Wear(seal=0.5, grey=grey), seal=stamp)
    assert image[105:195, 105:195].mean() < 70
    on_paper, bare = image[250:340, 60:240], image[360:]
    assert on_paper.mean() < bare.mean() - 15
    assert (on_paper > 90).mean() > 0.6


def test_a_seal_is_relief_characters_in_a_frame() -> None:
    shape = seal_shape(330, np.random.default_rng(1))
    assert (shape[:28] == 255).all()
    assert (shape[:, -28:] == 255).all()
    assert 0.25 < (shape[40:-40, 40:-40] == 255).mean() < 0.75


def test_pages_differ_in_stains_which_cover_the_share_asked_for() -> None:
    shares = [black(aged(BARE, Wear(stains=0.1), seed=seed)) for seed in range(40)]
    assert min(shares) == 0
    assert 0.002 < np.mean(shares) < 0.1


def test_the_skew_turns_the_page_by_its_angle_about_the_middle() -> None:
    homography = skewing((300, 400), Wear(skew=3), 2.0, np.random.default_rng(1))
    top, middle, bottom = moved(np.array([(150.0, 0.0), (150.0, 200.0), (150.0, 400.0)]), homography)
    assert middle == pytest.approx((150, 200), abs=0.01)
    assert np.degrees(np.arctan2(top[0] - bottom[0], bottom[1] - top[1])) == pytest.approx(2.0, abs=0.01)


def test_the_skew_of_pages_fills_its_bounds_and_keeps_the_frame_on_the_image(make_page: MakePage) -> None:
    angles = []
    for seed in range(12):
        drawn = render_page(make_page("之"), Style(scale=0.5), Wear(skew=MAX_SKEW), seed)
        height, width = drawn.image.shape
        assert all(0 <= x <= width and 0 <= y <= height for x, y in drawn.halves[0].frame)
        angles.append(drawn.skew)
        (left, top), (right, top_right), _, (bottom_left, bottom) = drawn.halves[0].frame
        assert np.degrees(np.arctan2(left - bottom_left, bottom - top)) == pytest.approx(drawn.skew, abs=0.05)
        assert np.degrees(np.arctan2(top_right - top, right - left)) == pytest.approx(drawn.skew, abs=0.05)
    assert -MAX_SKEW <= min(angles) < -1
    assert 1 < max(angles) <= MAX_SKEW


def test_wear_is_known_by_name_and_refused_out_of_bounds() -> None:
    assert named_wear("heavy") is LEVELS["heavy"]
    with pytest.raises(UsageError, match="choose one of none, light, moderate, heavy"):
        named_wear("dreadful")
    beyond: dict[str, Any] = {"skew": 4.0, "bleed": 1.5, "seal": -0.1, "broken": 1.0, "jpeg": 0, "blur": 50.0}
    for name, value in beyond.items():
        with pytest.raises(UsageError, match=f"{name} is"):
            replace(Wear(), **{name: value})


shares = st.floats(0, 1)


@settings(max_examples=25)
@given(
    wear=st.builds(
        Wear,
        specks=st.floats(0, 20000),
        bleed=shares,
        seal=shares,
        stains=shares,
        fade=shares,
        grain=shares,
        blur=st.floats(0, 5),
        grey=st.booleans(),
        jpeg=st.none() | st.integers(1, 100),
    ),
    seed=st.integers(0, 2**32),
    scale=st.sampled_from([0.5, 1.0, 2.0]),
)
def test_any_wear_gives_an_image_of_the_same_size_and_the_same_one_again(wear: Wear, seed: int, scale: float) -> None:
    image = age(INKED, INKED[:, ::-1].copy(), INKED, wear, scale, [seed])
    assert image.shape == SIZE
    assert image.dtype == np.uint8
    assert np.array_equal(image, age(INKED, INKED[:, ::-1].copy(), INKED, wear, scale, [seed]))
