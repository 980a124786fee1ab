"""Sets leaning registers upright, each by its own slopes: the leaves of a book rarely lean alike, and if the camera was
not parallel to the page, the columns at its left and right edges lean in opposite directions (a fan)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.rules import MAX_POINTS, Mask, Rectification
from proof.layout.sheet import Region, Sheet

MAX_LEAN = float(np.tan(np.radians(1.8)))
"""Maximum slope of columns relative to the page's own slope (dx per dy)."""

MAX_FAN = float(np.tan(np.radians(1.5)))
"""Maximum difference of slope between the right edge and the middle of a register (dx per dy)."""

LEAN_COST = 15.0
"""Relative gain of sharpness that a lean must bring to be accepted, per square of the slope."""

FAN_COST = 65.0
"""The same for a fan: 2 % at one degree."""

MIN_INK_PX = 200
"""Number of inked pixels that a register must exceed for its slope to be measured."""

COARSE_SLOPES = 11
"""The number of slopes tried first, over the whole range."""

FINE_SLOPES = 7
"""The number of slopes tried around the best one, in each of two passes."""


@dataclass(frozen=True, slots=True)
class Shear:
    """The slope of the columns of a block of a page: `lean + fan * (x - middle) / half_width` (dx per dy) at `x`. Ink
    at the y `level` stays where it is. The block extends from `left`, `top` to `right`, `bottom` (exclusive)."""

    left: float
    top: float
    right: float
    bottom: float
    level: float
    middle: float
    half_width: float
    lean: float
    fan: float

    def shift(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        """The distance by which the ink at (`x`, `y`) of the straightened page lies further right on the sheet."""
        return (y - self.level) * (self.lean + self.fan * (x - self.middle) / self.half_width)


@dataclass(frozen=True, slots=True)
class Straightening(Rectification):
    """A rectification that shears blocks of the page as well."""

    blocks: tuple[Shear, ...] = ()

    def to_file(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        on_sheet = np.array(points, dtype=np.float64)
        on_sheet[:, 0] += self.shifts(on_sheet)
        return on_sheet @ self.inverse[:, :2].T + self.inverse[:, 2]

    def to_page(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        on_sheet = points @ self.matrix[:, :2].T + self.matrix[:, 2]
        straight = on_sheet.copy()
        for _ in range(3):  # the shift depends on the straightened x, but changes little with it
            straight[:, 0] = on_sheet[:, 0] - self.shifts(straight)
        return straight

    def shifts(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """For each of the points (n x 2) of the straightened page the distance by which its ink lies further right on
        the sheet."""
        x, y = points[:, 0], points[:, 1]
        shift = np.zeros(len(points))
        for block in self.blocks:
            inside = (x >= block.left) & (x < block.right) & (y >= block.top) & (y < block.bottom)
            shift[inside] = block.shift(x[inside], y[inside])
        return shift


def straightened(sheet: Sheet, text: Mask, regions: Sequence[Region]) -> tuple[Sheet, Mask]:
    """The sheet and its text with every register upright."""
    blocks = tuple(_shear(text, region, _bounds(sheet, region, regions)) for region in regions)
    if not any(block.lean or block.fan for block in blocks):
        return sheet, text
    ys, xs = np.indices(sheet.ink.shape, dtype=np.float32)
    for block in blocks:
        rows, across = slice(int(block.top), int(block.bottom)), slice(int(block.left), int(block.right))
        x, y = (places[rows, across].astype(np.float64) for places in (xs, ys))
        xs[rows, across] += block.shift(x, y).astype(np.float32)
    stacked = cv2.merge([sheet.grey, sheet.ink, sheet.upright, sheet.level, text])
    planes = cv2.remap(stacked, xs, ys, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=(255, 0, 0, 0))
    grey, *masks = (np.asarray(planes[:, :, i], dtype=np.uint8) for i in range(5))
    ink, upright, level, straight_text = (np.where(mask > 127, 255, 0).astype(np.uint8) for mask in masks)
    rectification = Straightening(sheet.rectification.matrix, sheet.rectification.inverse, blocks)
    return Sheet(grey, ink, upright, level, rectification, sheet.skew), straight_text


def _bounds(sheet: Sheet, region: Region, regions: Sequence[Region]) -> tuple[float, float, float, float]:
    """The block around one of the registers: left, top, right, bottom. All blocks together cover the page."""
    on_same_leaf = [other for other in regions if other.leaf == region.leaf]
    above = [other.bottom for other in on_same_leaf if other.bottom <= region.top]
    below = [other.top for other in on_same_leaf if other.top >= region.bottom]
    top = (max(above) + region.top) // 2 if above else 0
    bottom = (region.bottom + min(below)) // 2 if below else sheet.height
    left, right = 0, sheet.width
    right_edges_on_left_leaf = [other.right for other in regions if other.leaf == 1]
    if right_edges_on_left_leaf:
        between_leaves = max(right_edges_on_left_leaf[-1], 0)
        left, right = (between_leaves, sheet.width) if region.leaf == 0 else (0, between_leaves)
    return float(left), float(top), float(right), float(bottom)


def _shear(text: Mask, region: Region, bounds: tuple[float, float, float, float]) -> Shear:
    """The slope of a register's columns, within the bounds of its block."""
    ys, xs = np.nonzero(text[region.top : region.bottom, region.left : region.right])
    level, middle = (region.top + region.bottom) / 2, (region.left + region.right) / 2
    half_width = max((region.right - region.left) / 2, 1.0)
    lean = fan = 0.0
    if xs.size > MIN_INK_PX:
        chosen = np.linspace(0, xs.size - 1, min(MAX_POINTS, xs.size)).astype(np.intp)
        across = xs[chosen].astype(np.float64) + region.left - middle
        down = ys[chosen].astype(np.float64) + region.top - level
        lean, fan = _sharpest(across, down, half_width)
    return Shear(*bounds, level, middle, half_width, lean, fan)


def _sharpest(across: NDArray[np.float64], down: NDArray[np.float64], half_width: float) -> tuple[float, float]:
    """The lean and the fan with which the profile of ink across the columns is sharpest. `across` and `down` are the
    distances of inked pixels from the middle of the register."""
    relative_x = across / half_width

    def sharpness(lean: float, fan: float) -> float:
        straight_x = (across - down * (lean + fan * relative_x) + 1.5 * half_width) / 2
        bins = np.bincount(straight_x.clip(0, 1.5 * half_width).astype(np.intp))
        return float(bins @ bins) * (1.0 - LEAN_COST * lean * lean - FAN_COST * fan * fan)

    best, lean, fan = sharpness(0.0, 0.0), 0.0, 0.0
    for reach, count in ((1.0, COARSE_SLOPES), (2.0 / COARSE_SLOPES, FINE_SLOPES), (0.6 / COARSE_SLOPES, FINE_SLOPES)):
        steps = np.linspace(-reach, reach, count)
        tried = [(lean + MAX_LEAN * lean_step, fan + MAX_FAN * fan_step) for lean_step in steps for fan_step in steps]
        for tried_lean, tried_fan in tried:
            tried_sharpness = sharpness(tried_lean, tried_fan)
            if tried_sharpness > best:
                best, lean, fan = tried_sharpness, tried_lean, tried_fan
    return lean, fan
