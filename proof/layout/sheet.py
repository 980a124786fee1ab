"""A page made ready for being laid out: of moderate size, in even light, with its rules told from its text."""

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

HEIGHT = 1400
"""Pixels: a page is laid out at this height at most."""

PIECE = 1 / 25
"""Of the page's height: the shortest upright stroke taken for a piece of rule."""

LEVEL_PIECE = 1 / 15
"""Of the page's width, at most of its height: the shortest level stroke taken for a piece of frame."""

MIN_RULE_GLYPHS = 1.25
"""Widths of a glyph: no stroke of text is as long as this, whatever the size of the page."""

MAX_STROKE_HEIGHTS = 1 / 6
"""Of the page's height: a line as long as this is a piece of a rule, whatever the glyphs seem to be."""

SPECK = 5
"""Pixels: a smaller piece of ink is dirt."""

PLENTY = 0.35
"""Of the page's height: upright strokes that long together, in all, tell the slope of the rules."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A page at working size, rectified: `grey` (0 black), all its `ink` (255 on 0), and the long strokes of it that
    may be rules: `upright` and `level`. All are height x width. `rectification` leads to pixels of the file."""

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
    """`page` (grey, height x width, 0 black) at working size and upright; `origin` is where it lies in its file."""
    scale = min(1.0, HEIGHT / page.shape[0])
    small = page
    if scale < 1:
        small = np.asarray(cv2.resize(page, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    small = evened(small)
    height, width = small.shape
    raw = without_border(ink_mask(small))
    stroke = min(MIN_RULE_GLYPHS * glyph_width(raw), MAX_STROKE_HEIGHTS * height)
    upright = long_strokes(raw, round(max(height * PIECE, stroke)), vertical=True)
    level = long_strokes(raw, round(max(min(height, width) * LEVEL_PIECE, stroke)), vertical=False)
    lean = slope(upright if _plenty(upright, height) else raw, vertical=True)
    tilt = slope(level, vertical=False) if _plenty(level, width) else -lean
    turn = Rectification.of(1.0, lean, tilt, height, width, (0, 0))
    stacked = cv2.merge([small, raw, upright, level])
    turned = cv2.warpAffine(stacked, turn.matrix, (width, height), borderValue=(255, 0, 0, 0))
    grey, ink, upright, level = (np.asarray(plane, dtype=np.uint8) for plane in cv2.split(turned))
    whole = Rectification.of(scale, lean, tilt, height, width, origin)
    return Sheet(grey, without_specks(ink), upright, level, whole, float(np.degrees(np.arctan(lean))))


def without_specks(ink: Mask) -> Mask:
    """Ink without pieces too small for a stroke."""
    labels, stats, _ = connected((ink > 127).astype(np.uint8))
    keep = stats[:, cv2.CC_STAT_AREA] >= SPECK
    keep[0] = False
    return np.where(keep[labels], 255, 0).astype(np.uint8)


def _plenty(strokes: Mask, length: int) -> bool:
    return int(inked_along(strokes, 0).sum()) > PLENTY * length * 3
