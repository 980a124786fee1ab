"""Scales pages to the size at which they are measured."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2


def shrunk(page: NDArray[np.uint8], height: float) -> tuple[NDArray[np.uint8], float]:
    """A page (grey, height x width) scaled down to a height of at most `height` pixels, and the factor, at most 1."""
    scale = min(1.0, height / page.shape[0])
    if scale == 1.0:
        return page, 1.0
    small = cv2.resize(page, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    return np.asarray(small, dtype=np.uint8), scale
