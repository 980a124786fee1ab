"""The glyphs that are least like the others of their character stand first."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from proof.quality.unlikeness import likeness_to, mean_shape, unlikeness

LENGTH = 200


def glyphs(kind: int, count: int, noise: float = 12.0) -> NDArray[np.int8]:
    """Shapes of one character, each a little different."""
    rng = np.random.default_rng(kind)
    shape = rng.uniform(0, 60, LENGTH) * (rng.random(LENGTH) < 0.4)
    return np.clip(shape + rng.normal(0, noise, (count, LENGTH)), 0, 127).astype(np.int8)


def test_a_wrong_glyph_stands_first_even_where_the_recogniser_took_it_for_right() -> None:
    shapes = np.vstack([glyphs(1, 40), glyphs(2, 1)])
    assert unlikeness(shapes, np.full(41, 0.9)).argmax() == 40


def test_the_same_error_in_half_of_all_occurrences_does_not_speak_for_itself() -> None:
    """The image confirms the sound ones alone: the mean is theirs."""
    shapes = np.vstack([glyphs(1, 20), glyphs(2, 20)])
    p = np.array([0.95] * 20 + [0.001] * 20)
    assert set(np.argsort(-unlikeness(shapes, p))[:20]) == set(range(20, 40))


def test_beside_another_character_the_glyphs_like_that_one_come_first() -> None:
    shapes = np.vstack([glyphs(1, 30), glyphs(2, 1), glyphs(3, 1)])
    other = mean_shape(glyphs(2, 10), np.full(10, 0.9))
    assert likeness_to(other, shapes, np.full(32, 0.9)).argmax() == 30


@pytest.mark.parametrize("count", [0, 1])
def test_a_character_that_hardly_occurs_is_ordered_too(count: int) -> None:
    assert len(unlikeness(glyphs(1, count), np.zeros(count))) == count
