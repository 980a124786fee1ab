"""Wear: each kind does what it is named for, by seed, and stays within its bounds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof.errors import UsageError
from proof.facsimile.wear import LEVELS, Wear, age, moved, named_wear, skewing
from proof.ocr.engine import Pixels

pytestmark = pytest.mark.slow


SIZE = (400, 300)
BARE = np.zeros(SIZE, np.uint8)
INKED = BARE.copy()
INKED[100:200, 100:200] = 255


def aged(ink: Pixels, wear: Wear, *, behind: Pixels | None = None, seal: Pixels | None = None, seed: int = 1) -> Pixels:
    return age(ink, behind, seal, wear, 1.0, [seed])


def test_without_wear_ink_is_black_and_paper_white_and_after_jpeg_there_are_tones() -> None:
    image = aged(INKED, Wear())
    assert (image[105:195, 105:195] == 0).all()
    assert (image[:95] == 255).all()
    assert np.unique(aged(INKED, Wear(jpeg=30))).size > 2


def test_the_skew_turns_the_page_by_its_angle_about_the_middle() -> None:
    homography = skewing((300, 400), Wear(skew=3), 2.0, np.random.default_rng(1))
    top, middle, bottom = moved(np.array([(150.0, 0.0), (150.0, 200.0), (150.0, 400.0)]), homography)
    assert middle == pytest.approx((150, 200), abs=0.01)
    assert np.degrees(np.arctan2(top[0] - bottom[0], bottom[1] - top[1])) == pytest.approx(2.0, abs=0.01)


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
