"""Wear: each kind does what it is named for, by seed, and stays within its bounds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof.facsimile.leaf import Style
from proof.facsimile.render import render_page
from proof.facsimile.wear import Wear, age
from proof.text.model import Page

pytestmark = pytest.mark.slow


MakePage = Callable[..., Page]


SIZE = (400, 300)
BARE = np.zeros(SIZE, np.uint8)
INKED = BARE.copy()
INKED[100:200, 100:200] = 255


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
