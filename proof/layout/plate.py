"""A whole plate: two leaves, one above the other, four half-folios on one sheet.

Quadrant a is upper right, b upper left, c lower right, d lower left. The cuts are found from the frames:
between the two leaves runs a band without ink, and each leaf's fold is the middle of its own frame.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proof.images.size import shrunk
from proof.layout.rules import ink_mask, long_strokes, true_ranges
from proof.model.geometry import Box

WORKING_HEIGHT = 1600
"""The height of the plate, in pixels, at which the cuts are found."""

FOLD_OVERLAP_WIDTHS = 0.03
"""Reach of a half-folio past the middle of its leaf, in widths of the leaf, to include the rule by the fold."""

MARGIN_ABOVE_HEIGHTS = 0.12
"""Margin of a half-folio above its frame, in heights of the frame, for raised columns."""

MARGIN_BELOW_HEIGHTS = 0.05
"""Margin below its frame, in heights of the frame."""

MARGIN_BESIDE_WIDTHS = 0.04
"""Margin beside its frame, in widths of the leaf, for ragged edges."""

MIN_FRAME_SHARE = 0.25
"""Share of the width of a row of pixels that long level strokes cover from which it is part of a frame."""

MAX_EMPTY_SHARE = 0.004
"""Share of ink in a row of pixels below which the row is empty."""

MIN_BAND_HEIGHTS = 0.004
"""Minimum height of the band between the leaves, in heights of the sheet."""

FRAME_ZONE_HEIGHTS = 0.02
"""Distance from that band within which the frames lie, in heights of the sheet."""

MIN_LEAF_SHARE = 0.4
"""Minimum height of a leaf's frame, as a share of its part of the sheet."""


def quadrant_boxes(page: NDArray[np.uint8]) -> dict[str, Box] | None:
    """The four half-folios of a plate (grey, height x width) as boxes in its pixels.

    None if the sheet does not show two framed leaves one above the other.
    """
    small, scale = shrunk(page, WORKING_HEIGHT)
    ink = ink_mask(small)
    height, width = ink.shape
    level = long_strokes(ink, width // 12, vertical=False)
    gap = _between_leaves(ink, level)
    if gap is None:
        return None
    boxes: dict[str, Box] = {}
    for (low, high), (right_name, left_name) in (((0, gap), ("a", "b")), ((gap, height), ("c", "d"))):
        leaf = _leaf_extent(level[low:high])
        if leaf is None:
            return None
        x0, y0, x1, y1 = leaf
        across, down = x1 - x0, y1 - y0
        middle, fold = (x0 + x1) / 2, FOLD_OVERLAP_WIDTHS * across
        top = max(float(low), low + y0 - MARGIN_ABOVE_HEIGHTS * down)
        bottom = min(float(high), low + y1 + MARGIN_BELOW_HEIGHTS * down)
        left = max(0.0, x0 - MARGIN_BESIDE_WIDTHS * across)
        right = min(float(width), x1 + MARGIN_BESIDE_WIDTHS * across)
        boxes[right_name] = _scaled(middle - fold, top, right, bottom, scale)
        boxes[left_name] = _scaled(left, top, middle + fold, bottom, scale)
    return boxes


def _scaled(left: float, top: float, right: float, bottom: float, scale: float) -> Box:
    x0, y0, x1, y1 = (round(value / scale) for value in (left, top, right, bottom))
    return Box(x0, y0, x1 - x0, y1 - y0)


def _between_leaves(ink: NDArray[np.uint8], level: NDArray[np.uint8]) -> int | None:
    """The y of the middle of the band between the leaves, which is free of ink with a frame above and below."""
    height = ink.shape[0]
    share = (level > 0).mean(axis=1)
    empty = (ink > 0).mean(axis=1) < MAX_EMPTY_SHARE
    first, last = round(0.3 * height), round(0.7 * height) + 1
    bands = [(first + start, first + end) for start, end in true_ranges(empty[first:last]) if first + end < last]
    best = max(bands, key=lambda band: band[1] - band[0], default=(0, 0))
    if best[1] - best[0] < MIN_BAND_HEIGHTS * height:
        return None
    near = round(FRAME_ZONE_HEIGHTS * height)
    above, below = share[max(0, best[0] - near) : best[0]], share[best[1] : best[1] + near]
    if above.size == 0 or below.size == 0 or min(above.max(), below.max()) < MIN_FRAME_SHARE:
        return None
    return (best[0] + best[1]) // 2


def _leaf_extent(level: NDArray[np.uint8]) -> tuple[int, int, int, int] | None:
    """Left, top, right and bottom of a leaf's frame, from its long level strokes."""
    rows = np.nonzero((level > 0).mean(axis=1) > MIN_FRAME_SHARE)[0]
    if rows.size < 2 or rows[-1] - rows[0] < MIN_LEAF_SHARE * level.shape[0]:
        return None
    columns = np.nonzero((level[rows[0] : rows[-1] + 1] > 0).any(axis=0))[0]
    return int(columns[0]), int(rows[0]), int(columns[-1]), int(rows[-1])
