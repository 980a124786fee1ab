"""Pages drawn with labels, which the network that sees columns learns from."""

from __future__ import annotations

import numpy as np
import pytest

from proof.facsimile.glyph_pool import GlyphPool
from proof.facsimile.labelled_page import labelled_page
from proof.facsimile.photographed import photographed
from proof.layout.labels import LONG_SIDE_PX, Label


@pytest.fixture(scope="module")
def pool() -> GlyphPool:
    return GlyphPool.drawn(np.random.default_rng(1), 60)


def test_the_same_seed_draws_the_same_page(pool: GlyphPool) -> None:
    first, second = (photographed(labelled_page(pool, np.random.default_rng(7))) for _ in range(2))
    assert np.array_equal(first[0], second[0])
    assert np.array_equal(first[1], second[1])


def test_the_core_of_a_column_lies_within_its_text_and_there_is_ink_about_it(pool: GlyphPool) -> None:
    rng = np.random.default_rng(2)
    for _ in range(30):
        page = labelled_page(pool, rng)
        assert max(page.ink.shape) == LONG_SIDE_PX
        core, text = page.labels & Label.CORE > 0, page.labels & Label.TEXT > 0
        assert (core & ~text).sum() <= 0.01 * core.sum()
        if core.any():
            assert page.ink[text].mean() > 2 * page.ink[page.labels == 0].mean()
