"""A page prepared for its layout: scaled to moderate size, in even light, upright, with its long strokes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proof.images.light import evened
from proof.images.opencv import cv2
from proof.layout.rules import (
    Mask,
    Rectification,
    connected,
    glyph_width,
    ink_mask,
    inked_along,
    long_strokes,
    slope,
    without_border,
)

WORKING_HEIGHT = 1400
"""Maximum height of a page for its layout, in pixels."""

MIN_RULE_HEIGHTS = 1 / 25
"""Minimum length of an upright piece of rule, in heights of the page."""

MIN_FRAME_WIDTHS = 1 / 15
"""Minimum length of a level piece of frame, in widths or heights of the page, whichever is shorter."""

MIN_RULE_GLYPHS = 1.25
"""Minimum length of a piece of rule, in widths of a glyph; strokes of text are shorter."""

MAX_STROKE_HEIGHTS = 1 / 6
"""Maximum of this minimum length, in heights of the page."""

MIN_STROKE_AREA = 5
"""Minimum area of a stroke, in pixels; smaller pieces of ink are dirt."""

MIN_STROKES_HEIGHTS = 0.35
"""Minimum total length of upright strokes for them to show the slope of the rules, in thirds of the page's height."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A rectified page at working size: `grey` (0 black), its `ink` (255 on 0), and the long strokes that may be rules,
    `upright` and `level`; all height x width. `rectification` maps it to pixels of the file; `skew` is in degrees."""

    grey: NDArray[np.uint8]
    ink: Mask
    upright: Mask
    level: Mask
    rectification: Rectification
    skew: float

    @property
    def height(self) -> int:
        return int(self.ink.shape[0])

    @property
    def width(self) -> int:
        return int(self.ink.shape[1])


def prepare(page: NDArray[np.uint8], origin: tuple[float, float] = (0, 0)) -> Sheet:
    """`page` (grey, height x width, 0 black) at working size and upright; `origin` is its place in the file."""
    scale = min(1.0, WORKING_HEIGHT / page.shape[0])
    small = page
    if scale < 1:
        small = np.asarray(cv2.resize(page, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    small = evened(small)
    height, width = small.shape
    raw = without_border(ink_mask(small))
    stroke = min(MIN_RULE_GLYPHS * glyph_width(raw), MAX_STROKE_HEIGHTS * height)
    upright = long_strokes(raw, round(max(height * MIN_RULE_HEIGHTS, stroke)), vertical=True)
    level = long_strokes(raw, round(max(min(height, width) * MIN_FRAME_WIDTHS, stroke)), vertical=False)
    lean = slope(upright if _plenty(upright, height) else raw, vertical=True)
    tilt = slope(level, vertical=False) if _plenty(level, width) else -lean
    turn = Rectification.of(1.0, lean, tilt, height, width, (0, 0))
    stacked = cv2.merge([small, raw, upright, level])
    turned = cv2.warpAffine(stacked, turn.matrix, (width, height), borderValue=(255, 0, 0, 0))
    grey, ink, upright, level = (np.asarray(plane, dtype=np.uint8) for plane in cv2.split(turned))
    whole = Rectification.of(scale, lean, tilt, height, width, origin)
    return Sheet(grey, without_specks(ink), upright, level, whole, float(np.degrees(np.arctan(lean))))


def without_specks(ink: Mask) -> Mask:
    """The ink without pieces that are too small for a stroke."""
    labels, stats, _ = connected((ink > 127).astype(np.uint8))
    keep = stats[:, cv2.CC_STAT_AREA] >= MIN_STROKE_AREA
    keep[0] = False
    return np.where(keep[labels], 255, 0).astype(np.uint8)


def _plenty(strokes: Mask, length: int) -> bool:
    return int(inked_along(strokes, 0).sum()) > MIN_STROKES_HEIGHTS * length * 3
