"""Pages in uneven light: the paper is made even, the ink stays, and what lies in good light is not touched."""

from __future__ import annotations

import numpy as np
import pytest

from proof.images.light import evened, evenly_lit, strengthened


@pytest.fixture
def page() -> np.ndarray:
    """Paper with a grid of strokes."""
    pixels = np.full((1400, 1000), 235, np.uint8)
    pixels[100:1300:40, 100:900] = 20
    pixels[100:1300, 100:900:50] = 20
    return pixels


def test_a_page_in_even_light_is_handed_back_itself(page: np.ndarray) -> None:
    even = evenly_lit(page)
    assert even.pixels is page
    assert not even.shaded


def test_the_shadow_of_a_hand_goes_and_the_ink_stays(page: np.ndarray) -> None:
    light = 1 - 0.6 / (1 + np.exp(-(np.arange(1000) - 500) / 40))
    even = evenly_lit((page * light[None, :]).astype(np.uint8))
    assert even.shaded
    ink = page < 100
    assert even.pixels[~ink].min() > 200
    assert even.pixels[ink].max() < 100


def test_the_table_beside_a_shaded_page_becomes_paper(page: np.ndarray) -> None:
    light = np.linspace(1.0, 0.6, 1000)[None, :]
    pixels = np.full((1600, 1200), 30, np.uint8)
    pixels[100:1500, 100:1100] = page * light
    even = evenly_lit(pixels)
    assert even.shaded
    assert np.percentile(even.pixels[:80], 5) > 200
    assert even.pixels[220:1400, 1060:1090].min() > 200


def test_the_dark_that_a_page_lies_on_has_no_grain_left() -> None:
    rng = np.random.default_rng(1)
    table = rng.normal(45, 6, (1400, 1000)).clip(0, 255).astype(np.uint8)
    table[200:-60, 60:-60] = 220
    even = evened(table)
    assert float((even[:150] > 200).mean()) > 0.95
    assert float((even[300:600, 200:800] > 200).mean()) == 1.0


def test_pale_ink_is_strengthened_and_ink_as_it_should_be_stays(page: np.ndarray) -> None:
    assert strengthened(page, page) is page
    rng = np.random.default_rng(1)
    pale = (235 - (235.0 - page) / 7 + rng.normal(0, 1.5, page.shape)).astype(np.uint8)
    strong = strengthened(pale, pale)
    ink = page < 100
    assert strong[ink].max() < 120
    assert np.percentile(strong[~ink], 1) > 180


def test_a_leaf_on_which_nothing_stands_out_from_its_grain_is_white() -> None:
    grain = np.random.default_rng(2).normal(200, 4, (1400, 1000)).astype(np.uint8)
    assert (strengthened(grain, grain) == 255).all()
