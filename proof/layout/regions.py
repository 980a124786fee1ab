"""The places of registers on a page, and the ink that may be text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from proof.images.opencv import cv2
from proof.layout.rules import Mask
from proof.layout.sheet import Sheet

MIN_SOLID_PX = 17
"""Breadth in both directions from which ink is no stroke of text, in pixels at the working size."""


@dataclass(frozen=True, slots=True)
class Region:
    """A register of a leaf in pixels of the sheet."""

    leaf: int
    left: int
    top: int
    right: int
    bottom: int


def text_ink(sheet: Sheet) -> Mask:
    """The ink of a sheet without everything that may be rules, frames or edges of the book; some strokes of text are
    lost."""
    # broader than any stroke: edges of the book, fish tails
    solid = cv2.morphologyEx(sheet.ink, cv2.MORPH_OPEN, np.ones((MIN_SOLID_PX, MIN_SOLID_PX), np.uint8))
    drop = cv2.dilate(solid, np.ones((7, 7), np.uint8))
    drop = cv2.bitwise_or(drop, cv2.dilate(sheet.upright, np.ones((1, 3), np.uint8)))
    drop = cv2.bitwise_or(drop, cv2.dilate(sheet.level, np.ones((3, 1), np.uint8)))
    return np.asarray(np.where(drop > 0, 0, sheet.ink), dtype=np.uint8)
