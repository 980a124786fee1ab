"""How much detail an image shows, whatever its number of pixels: a coarse scan that was enlarged has no more."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2

CELL = 32.0
"""Pixels: detail is measured where a character's cell is no higher than this."""

EDGE = 0.05
"""Of the contrast between ink and paper, from one pixel to the next: where there is less there is no edge."""

SHARP = 90.0
"""Percent of the edges: sharper ones may be noise."""


def detail_of(page: NDArray[np.uint8], cell: float) -> float:
    """How many pixels high a cell would have to be, in a sharp image, to show as much as this one (grey, height x
    width) does, in which it is `cell` pixels high: its height against how far an edge takes from paper to ink."""
    scale = min(1.0, CELL / max(cell, 1.0))
    small = cv2.resize(page, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA) if scale < 1 else page
    grey = np.asarray(small, dtype=np.float32)
    ink, paper = (float(value) for value in np.percentile(grey, (2, 75)))
    contrast = max(paper - ink, 20.0)
    steps = np.maximum(np.abs(np.diff(grey, axis=1))[:-1], np.abs(np.diff(grey, axis=0))[:, :-1])
    edges = steps[steps > EDGE * contrast]
    if not edges.size:
        return cell * scale
    return cell * scale * min(1.0, float(np.percentile(edges, SHARP)) / contrast)
