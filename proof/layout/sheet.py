"""Prepares a page for its layout: scales it to working size, evens its light, sets it upright and finds its long
strokes and the ink that may be text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proof.images.light import evened
from proof.images.opencv import cv2
from proof.images.size import shrunk
from proof.layout.rules import (
    MIN_RULE_HEIGHTS,
    PAGE_HEIGHT,
    Mask,
    PageInk,
    Rectification,
    connected,
    glyph_width,
    ink_mask,
    long_strokes,
    rectified,
    slope,
    without_border,
)

MIN_FRAME_WIDTHS = 1 / 15
"""Minimum length of a level piece of frame, as a share of the page's width or height, whichever is shorter."""

MIN_RULE_GLYPHS = 1.25
"""Minimum length of a piece of rule or frame, in widths of a glyph; strokes of text are shorter."""

MAX_STROKE_HEIGHTS = 1 / 6
"""Upper bound of that minimum, in heights of the page."""

MIN_STROKE_AREA = 5
"""Minimum area of a stroke, in pixels; smaller pieces of ink are dirt."""

RULE_PX = 3
"""Usual thickness of a rule, in pixels."""

MIN_STROKES_LENGTHS = 0.35
"""Minimum total length of long strokes that show how far a page is turned: upright ones in heights of the page, level
ones in widths."""

MIN_SOLID_PX = 17
"""Breadth in both directions from which ink is no stroke of text, in pixels at the working size."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A rectified page at working size: `grey` (0 black), its `ink` (255 on 0), and the long strokes that may be rules,
    `upright` and `level`; all height x width. `rectification` maps its places to pixels of the file; `skew` is the lean
    of the rules in the photograph, in degrees."""

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


@dataclass(frozen=True, slots=True)
class Region:
    """A register of a leaf in pixels of the sheet."""

    leaf: int
    left: int
    top: int
    right: int
    bottom: int


def prepare(page: NDArray[np.uint8], origin: tuple[float, float] = (0, 0)) -> Sheet:
    """`page` (grey, height x width, 0 black) at working size and upright; `origin` is its place in the file."""
    small, scale = shrunk(page, PAGE_HEIGHT)
    small = evened(small)
    height, width = small.shape
    all_ink = without_border(ink_mask(small))
    min_length = min(MIN_RULE_GLYPHS * glyph_width(all_ink), MAX_STROKE_HEIGHTS * height)
    upright = long_strokes(all_ink, round(max(height * MIN_RULE_HEIGHTS, min_length)), vertical=True)
    level = long_strokes(all_ink, round(max(min(height, width) * MIN_FRAME_WIDTHS, min_length)), vertical=False)
    lean = slope(upright if _show_slope(upright, height) else all_ink, vertical=True)
    tilt = slope(level, vertical=False) if _show_slope(level, width) else -lean
    grey, (ink, upright, level) = rectified(small, PageInk(all_ink, upright, level), lean, tilt)
    rectification = Rectification.of(scale, lean, tilt, height, width, origin)
    return Sheet(grey, _without_specks(ink), upright, level, rectification, float(np.degrees(np.arctan(lean))))


def text_ink(sheet: Sheet) -> Mask:
    """The ink of a sheet without everything that may be rules, frames or edges of the book; some strokes of text are
    lost."""
    # broader than any stroke: edges of the book, fish tails
    solid = cv2.morphologyEx(sheet.ink, cv2.MORPH_OPEN, np.ones((MIN_SOLID_PX, MIN_SOLID_PX), np.uint8))
    drop = cv2.dilate(solid, np.ones((7, 7), np.uint8))
    drop = cv2.bitwise_or(drop, cv2.dilate(sheet.upright, np.ones((1, 3), np.uint8)))
    drop = cv2.bitwise_or(drop, cv2.dilate(sheet.level, np.ones((3, 1), np.uint8)))
    return np.asarray(np.where(drop > 0, 0, sheet.ink), dtype=np.uint8)


def _without_specks(ink: Mask) -> Mask:
    """The ink without pieces that are too small for a stroke."""
    labels, stats, _ = connected((ink > 127).astype(np.uint8))
    keep = stats[:, cv2.CC_STAT_AREA] >= MIN_STROKE_AREA
    keep[0] = False
    return np.where(keep[labels], 255, 0).astype(np.uint8)


def _show_slope(strokes: Mask, length: int) -> bool:
    """Whether there are enough strokes to show how far a page is turned; `length` is its height or width."""
    return int(np.count_nonzero(strokes > 127)) > MIN_STROKES_LENGTHS * length * RULE_PX
