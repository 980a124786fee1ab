"""A whole plate: two leaves, one above the other, four half-folios on one sheet.

Quadrant a is upper right, b upper left, c lower right, d lower left. A band without ink separates the two leaves; the
fold of each leaf is the middle of its frame.
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
"""Minimum share of the width of a row of pixels that long level strokes cover if it is part of a frame."""

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
    cut = _cut_between_leaves(ink, level)
    if cut is None:
        return None
    boxes: dict[str, Box] = {}
    for first, end, right_name, left_name in ((0, cut, "a", "b"), (cut, height, "c", "d")):
        frame = _frame_of_leaf(level[first:end])
        if frame is None:
            return None
        x0, y0, x1, y1 = frame
        leaf_width, leaf_height = x1 - x0, y1 - y0
        fold, overlap = (x0 + x1) / 2, FOLD_OVERLAP_WIDTHS * leaf_width
        top = max(float(first), first + y0 - MARGIN_ABOVE_HEIGHTS * leaf_height)
        bottom = min(float(end), first + y1 + MARGIN_BELOW_HEIGHTS * leaf_height)
        left = max(0.0, x0 - MARGIN_BESIDE_WIDTHS * leaf_width)
        right = min(float(width), x1 + MARGIN_BESIDE_WIDTHS * leaf_width)
        boxes[right_name] = _box_on_page(fold - overlap, top, right, bottom, scale)
        boxes[left_name] = _box_on_page(left, top, fold + overlap, bottom, scale)
    return boxes


def _box_on_page(left: float, top: float, right: float, bottom: float, scale: float) -> Box:
    x0, y0, x1, y1 = (round(edge / scale) for edge in (left, top, right, bottom))
    return Box(x0, y0, x1 - x0, y1 - y0)


def _cut_between_leaves(ink: NDArray[np.uint8], level: NDArray[np.uint8]) -> int | None:
    """The y of the middle of the band between the leaves, which is free of ink with a frame above and below."""
    height = ink.shape[0]
    is_empty = (ink > 0).mean(axis=1) < MAX_EMPTY_SHARE
    first, last = round(0.3 * height), round(0.7 * height) + 1
    bands = [(first + start, first + end) for start, end in true_ranges(is_empty[first:last]) if first + end < last]
    start, end = max(bands, key=lambda band: band[1] - band[0], default=(0, 0))
    if end - start < MIN_BAND_HEIGHTS * height:
        return None
    zone, share = round(FRAME_ZONE_HEIGHTS * height), (level > 0).mean(axis=1)
    above, below = share[max(0, start - zone) : start], share[end : end + zone]
    if min(above.max(initial=0.0), below.max(initial=0.0)) < MIN_FRAME_SHARE:
        return None
    return (start + end) // 2


def _frame_of_leaf(level: NDArray[np.uint8]) -> tuple[int, int, int, int] | None:
    """Left, top, right and bottom of a leaf's frame, from its long level strokes."""
    rows = np.nonzero((level > 0).mean(axis=1) > MIN_FRAME_SHARE)[0]
    if rows.size < 2 or rows[-1] - rows[0] < MIN_LEAF_SHARE * level.shape[0]:
        return None
    columns = np.nonzero((level[rows[0] : rows[-1] + 1] > 0).any(axis=0))[0]
    return int(columns[0]), int(rows[0]), int(columns[-1]), int(rows[-1])
