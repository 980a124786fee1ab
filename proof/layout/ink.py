"""Whether there is ink at a place."""

from __future__ import annotations

import numpy as np

from proof.layout.rules import Mask

MIN_INK_SHARE = 0.012
"""Share of a cell's area that ink must cover for a glyph to stand there; 一 covers some 0.03."""


def has_ink(ink: Mask, left: float, top: float, right: float, bottom: float, min_share: float = MIN_INK_SHARE) -> bool:
    """Whether ink covers more than `min_share` of a rectangle of the rectified page; by default enough for a glyph."""
    part = ink[max(0, round(top)) : max(0, round(bottom)), max(0, round(left)) : max(0, round(right))]
    return bool(part.size and np.count_nonzero(part) > min_share * part.size)
