"""Measuring the detail of an image independently of its number of pixels: enlarging a coarse scan adds no detail."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.images.size import shrunk

CELL_PX = 32.0
"""Height of a cell, in pixels, to which larger images are scaled before measuring."""

MIN_EDGE_CONTRAST = 0.05
"""Least change from one pixel to the next at an edge, as a share of the contrast between ink and paper."""

MIN_CONTRAST_TONES = 20.0
"""Contrast between ink and paper below which the page is measured as if it had this one."""

EDGE_PERCENTILE = 90.0
"""Percentile of the edges that is measured; sharper ones may be noise."""


def detail_of(page: NDArray[np.uint8], cell: float) -> float:
    """The detail of an image (grey, height x width) with cells `cell` pixels high: how high a cell of a sharp image
    with the same detail would be. It is the height of a cell divided by the width of an edge between paper and ink."""
    height, width = page.shape
    middle = page[height // 5 : height - height // 5, width // 5 : width - width // 5]
    small, scale = shrunk(middle, middle.shape[0] * CELL_PX / max(cell, 1.0))
    ink, paper = (float(value) for value in np.percentile(small, (2, 75)))
    contrast = max(paper - ink, MIN_CONTRAST_TONES)
    aside, below = cv2.absdiff(small[:, 1:], small[:, :-1]), cv2.absdiff(small[1:], small[:-1])
    steps = np.maximum(aside[:-1], below[:, :-1])
    edges = steps[steps > MIN_EDGE_CONTRAST * contrast]
    if not edges.size:
        return cell * scale
    return cell * scale * min(1.0, float(np.percentile(edges, EDGE_PERCENTILE)) / contrast)
