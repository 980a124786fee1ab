"""How much detail an image shows, whatever its number of pixels: a coarse scan that was enlarged has no more."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.images.size import shrunk

CELL = 32.0
"""Pixels: detail is measured where a character's cell is no higher than this."""

EDGE = 0.05
"""Of the contrast between ink and paper, from one pixel to the next: where there is less there is no edge."""

SHARP = 90.0
"""Percent of the edges: sharper ones may be noise."""


def detail_of(page: NDArray[np.uint8], cell: float) -> float:
    """How many pixels high a cell would have to be, in a sharp image, to show as much as this one (grey, height x
    width) does, in which it is `cell` pixels high: its height against how far an edge takes from paper to ink."""
    height, width = page.shape
    middle = page[height // 5 : height - height // 5, width // 5 : width - width // 5]
    small, scale = shrunk(middle, middle.shape[0] * CELL / max(cell, 1.0))
    ink, paper = (float(value) for value in np.percentile(small, (2, 75)))
    contrast = max(paper - ink, 20.0)
    aside, below = cv2.absdiff(small[:, 1:], small[:, :-1]), cv2.absdiff(small[1:], small[:-1])
    steps = np.maximum(aside[:-1], below[:, :-1])
    edges = steps[steps > EDGE * contrast]
    if not edges.size:
        return cell * scale
    return cell * scale * min(1.0, float(np.percentile(edges, SHARP)) / contrast)
