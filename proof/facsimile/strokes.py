"""Separates an upright stroke from the rest of its glyph, as a brush often does at the left of 同, 月, 門."""

from __future__ import annotations

import numpy as np

from proof.facsimile.fonts import EM_PX, LEVELS_PER_PIXEL, OUTLINE_LEVEL, Field
from proof.images.opencv import cv2

MIN_STROKE_LENGTH_EMS = 0.34
"""Minimum length of an upright stroke that can stand by itself, in em squares."""

MAX_STROKE_WIDTH_EMS = 0.2
"""Maximum width of such a stroke with the strokes that join it, in em squares."""

MAX_GAP_EMS = 0.07
"""Maximum width of the gap around such a stroke, in em squares."""

MAX_EDGE_DISTANCE_EMS = 0.32
"""Maximum distance of the middle of such a stroke from the glyph's edge, in em squares."""


def ink_width(field: Field) -> float:
    """The width of a glyph's ink, in em squares; 1 for a glyph without ink."""
    inked = np.flatnonzero((field > OUTLINE_LEVEL).any(axis=0))
    return float(inked[-1] + 1 - inked[0]) / EM_PX if inked.size else 1.0


def stroke_apart(field: Field, rng: np.random.Generator) -> Field:
    """The glyph with a gap around a long upright stroke near its left or right edge; of several such strokes `rng`
    chooses one. The glyph is unchanged if it has none."""
    ink = (field > OUTLINE_LEVEL).astype(np.uint8)
    upright = cv2.morphologyEx(ink, cv2.MORPH_OPEN, np.ones((round(MIN_STROKE_LENGTH_EMS * EM_PX), 3), np.uint8))
    count, labels, stats, centres = cv2.connectedComponentsWithStats(upright, connectivity=8)
    columns = np.flatnonzero(ink.any(axis=0))
    if count < 2 or not columns.size:
        return field
    edge_distances = np.minimum(centres[1:, 0] - columns[0], columns[-1] - centres[1:, 0])
    is_narrow = stats[1:, cv2.CC_STAT_WIDTH] < MAX_STROKE_WIDTH_EMS * EM_PX
    candidates = np.flatnonzero((edge_distances < MAX_EDGE_DISTANCE_EMS * EM_PX) & is_narrow)
    if not candidates.size:
        return field
    stroke = (labels == 1 + int(rng.choice(candidates))).astype(np.uint8)
    gap = 2 * max(1, round(float(rng.uniform(0.5, 1.0)) * MAX_GAP_EMS * EM_PX / 2)) + 1
    # a stroke is a little wider than its straight core
    stroke = np.asarray(cv2.dilate(stroke, np.ones((3, 5), np.uint8)), dtype=np.uint8)
    in_gap = (np.asarray(cv2.dilate(stroke, np.ones((gap, gap), np.uint8))) > 0) & (stroke == 0)
    distance_to_gap = cv2.distanceTransform((~in_gap).astype(np.uint8), cv2.DIST_L2, 3)
    # the level is lowest in the middle of the gap and rises to the outline on either side
    limit = np.clip(OUTLINE_LEVEL + (distance_to_gap - gap / 4) * LEVELS_PER_PIXEL, 0, 255)
    return np.where(in_gap, np.minimum(field, limit), field).astype(np.uint8)
