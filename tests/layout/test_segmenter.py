"""What the network sees on drawn pages."""

from __future__ import annotations

import numpy as np

from proof.layout.labels import Label
from proof.layout.segmenter import label_map
from tests.layout.drawn import Layout, draw


def test_labels_are_probabilities_at_half_the_working_size_and_cores_are_where_characters_are() -> None:
    page = draw(Layout(columns=9, cells=14))
    seen = label_map(page.pixels)
    height, width = page.pixels.shape
    assert seen.probabilities.shape[0] == len(Label)
    assert abs(seen.probabilities.shape[1] - seen.scale * height) < 2
    assert abs(seen.probabilities.shape[2] - seen.scale * width) < 2
    assert 0.0 <= float(seen.probabilities.min()) <= float(seen.probabilities.max()) <= 1.0
    core = seen.of(Label.CORE)
    for column in page.columns:
        x, y = (round(place * seen.scale) for place in column.centre)
        assert core[y, x - 1 : x + 2].max() > 0.5
        assert core[y, round(column.x * seen.scale)] < 0.5


def test_white_paper_has_no_labels() -> None:
    seen = label_map(np.full((900, 700), 250, np.uint8))
    assert float(seen.of(Label.CORE | Label.TEXT).max()) < 0.5
