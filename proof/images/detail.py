"""Measures the detail of an image independently of its number of pixels: enlarging a coarse scan adds no detail."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.images.size import shrunk

CELL_PX = 32.0
"""Height of a cell, in pixels, to which larger images are scaled before measuring."""

MIN_EDGE_CONTRAST = 0.05
"""Minimum difference of neighbouring pixels at an edge, as a share of the contrast between ink and paper."""

MIN_CONTRAST_TONES = 20.0
"""Minimum contrast between ink and paper: a page with less is measured as if it had this contrast."""

EDGE_PERCENTILE = 90.0
"""Percentile of the steps at edges that is measured; greater ones may be noise."""


def detail_of(page: NDArray[np.uint8], pitch: float) -> float:
    """The detail of an image (grey, height x width) with cells `pitch` pixels high: the height of a cell divided by the
    width of an edge between paper and ink. A cell of a sharp image with the same detail would be as high."""
    height, width = page.shape
    middle = page[height // 5 : height - height // 5, width // 5 : width - width // 5]
    small, scale = shrunk(middle, middle.shape[0] * CELL_PX / max(pitch, 1.0))
    ink, paper = (float(tone) for tone in np.percentile(small, (2, 75)))
    contrast = max(paper - ink, MIN_CONTRAST_TONES)
    across, down = cv2.absdiff(small[:, 1:], small[:, :-1]), cv2.absdiff(small[1:], small[:-1])
    steps = np.maximum(across[:-1], down[:, :-1])
    edges = steps[steps > MIN_EDGE_CONTRAST * contrast]
    if not edges.size:
        return pitch * scale
    return pitch * scale * min(1.0, float(np.percentile(edges, EDGE_PERCENTILE)) / contrast)
