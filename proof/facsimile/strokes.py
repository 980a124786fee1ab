"""Upright strokes parted from the rest of their glyph, as a brush leaves the left of 同, 月, 門."""

from __future__ import annotations

import numpy as np

from proof.facsimile.fonts import EM_PX, LEVELS_PER_PIXEL, OUTLINE_LEVEL, Field
from proof.images.opencv import cv2

MIN_STROKE_LENGTH_EMS = 0.34
"""Of the em square: an upright stroke as long as this can stand by itself."""

MAX_STROKE_WIDTH_EMS = 0.2
"""Of the em square: such a stroke, with what joins it, is narrower."""

MAX_GAP_EMS = 0.07
"""Of the em square: the white about such a stroke, at most."""

MAX_EDGE_DISTANCE_EMS = 0.32
"""Of the em square: how far from the glyph's edge the middle of such a stroke may lie."""


def ink_width(field: Field) -> float:
    """How wide a glyph's ink is, in em squares."""
    inked = np.flatnonzero((field > OUTLINE_LEVEL).any(axis=0))
    return float(inked[-1] + 1 - inked[0]) / EM_PX if inked.size else 1.0


def stroke_apart(field: Field, rng: np.random.Generator) -> Field:
    """The glyph with a long upright stroke near its left or right edge, chosen by `rng`, parted from the rest by a
    little white; the glyph itself where it has none."""
    ink = (field > OUTLINE_LEVEL).astype(np.uint8)
    upright = cv2.morphologyEx(ink, cv2.MORPH_OPEN, np.ones((round(MIN_STROKE_LENGTH_EMS * EM_PX), 3), np.uint8))
    count, labels, stats, centres = cv2.connectedComponentsWithStats(upright, connectivity=8)
    columns = np.flatnonzero(ink.any(axis=0))
    if count < 2 or not columns.size:
        return field
    edges = np.minimum(centres[1:, 0] - columns[0], columns[-1] - centres[1:, 0])
    narrow = stats[1:, cv2.CC_STAT_WIDTH] < MAX_STROKE_WIDTH_EMS * EM_PX
    near = np.flatnonzero((edges < MAX_EDGE_DISTANCE_EMS * EM_PX) & narrow)
    if not near.size:
        return field
    stroke = (labels == 1 + int(rng.choice(near))).astype(np.uint8)
    gap = 2 * max(1, round(float(rng.uniform(0.5, 1.0)) * MAX_GAP_EMS * EM_PX / 2)) + 1
    # a stroke is a little wider than its straight core
    stroke = np.asarray(cv2.dilate(stroke, np.ones((3, 5), np.uint8)), dtype=np.uint8)
    around = (np.asarray(cv2.dilate(stroke, np.ones((gap, gap), np.uint8))) > 0) & (stroke == 0)
    away = cv2.distanceTransform((~around).astype(np.uint8), cv2.DIST_L2, 3)
    # as far from the outline as the white is wide, and rising to it on either side
    limit = np.clip(OUTLINE_LEVEL + (away - gap / 4) * LEVELS_PER_PIXEL, 0, 255)
    return np.where(around, np.minimum(field, limit), field).astype(np.uint8)
