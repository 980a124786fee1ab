"""Leaves and registers: the parts of a page that hold columns of one height, from right to left and top to bottom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from proof.images.opencv import cv2
from proof.layout.rules import Mask
from proof.layout.sheet import Sheet

SOLID = 17
"""Pixels at the working size: ink as broad as this in both directions is no stroke of text."""


@dataclass(frozen=True, slots=True)
class Region:
    """A register of a leaf in pixels of the sheet. `lined`: whether a level line bounds it above and below."""

    leaf: int
    left: int
    top: int
    right: int
    bottom: int
    lined: tuple[bool, bool]


def solid_ink(ink: Mask) -> Mask:
    """The ink that is broader than any stroke: edges of the book, fish tails."""
    return np.asarray(cv2.morphologyEx(ink, cv2.MORPH_OPEN, np.ones((SOLID, SOLID), np.uint8)), dtype=np.uint8)


def text_ink(sheet: Sheet) -> Mask:
    """The ink of a sheet without what may be rules, frames, edges of the book: text, and not all of it."""
    drop = cv2.dilate(solid_ink(sheet.ink), np.ones((7, 7), np.uint8))
    drop = cv2.bitwise_or(drop, cv2.dilate(sheet.upright, np.ones((1, 3), np.uint8)))
    drop = cv2.bitwise_or(drop, cv2.dilate(sheet.level, np.ones((3, 1), np.uint8)))
    return np.asarray(np.where(drop > 0, 0, sheet.ink), dtype=np.uint8)
