"""What the network sees on drawn pages."""

from __future__ import annotations

import numpy as np

from proof.layout.labels import Label
from proof.layout.segmenter import label_map
from tests.layout.drawn import Layout, draw


def test_every_label_is_a_probability_at_half_the_working_size() -> None:
    page = draw(Layout(columns=9, cells=14)).pixels
    seen = label_map(page)
    assert seen.values.shape[0] == len(Label)
    assert abs(seen.values.shape[1] - seen.scale * page.shape[0]) < 2
    assert abs(seen.values.shape[2] - seen.scale * page.shape[1]) < 2
    assert float(seen.values.min()) >= 0.0
    assert float(seen.values.max()) <= 1.0


def test_the_core_of_a_column_is_where_its_characters_are() -> None:
    page = draw(Layout(columns=9, cells=14))
    seen = label_map(page.pixels)
    core = seen.of(Label.CORE)
    for column in page.columns:
        x, y = column.centre
        assert core[round(y * seen.scale), round(x * seen.scale) - 1 : round(x * seen.scale) + 2].max() > 0.5
        beyond = round(column.x * seen.scale)
        assert core[round(y * seen.scale), beyond] < 0.5


def test_white_paper_has_no_labels() -> None:
    seen = label_map(np.full((900, 700), 250, np.uint8))
    assert float(seen.of(Label.CORE | Label.TEXT).max()) < 0.5


def test_of_several_labels_the_most_probable_counts() -> None:
    seen = label_map(draw(Layout(notes=0.5, pitch=72, glyph=50)).pixels)
    both = seen.of(Label.RIGHT | Label.LEFT)
    assert np.array_equal(both, np.maximum(seen.of(Label.RIGHT), seen.of(Label.LEFT)))
    assert float(both.max()) > 0.5
