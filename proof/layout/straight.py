"""Setting leaning registers upright, each by its own slope: the leaves of a book rarely lean alike, and a camera that
is not parallel to the page makes the columns of the two sides lean against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.regions import Region
from proof.layout.rules import MAX_POINTS, Mask, Rectification
from proof.layout.sheet import Sheet

MAX_LEAN = float(np.tan(np.radians(1.8)))
"""Maximum slope of columns beside the page's own slope (dx per dy)."""

MAX_FAN = float(np.tan(np.radians(1.5)))
"""Maximum difference of slope between the right edge and the middle of a register (dx per dy)."""

SHARPNESS_COST = (15.0, 65.0)
"""Sharpness that a lean and a fan must gain to be accepted, per square of the angle: 2 % for a fan of one degree."""

COARSE_SLOPES = 11
"""The number of slopes tried first, over the whole range."""

FINE_SLOPES = 7
"""The number of slopes tried around the best one, in each of two passes."""


@dataclass(frozen=True, slots=True)
class Shear:
    """The slope of the columns of a block of a page: `lean + fan * (x - middle) / half` (dx per dy) at `x`, about the y
    `level`. The block extends from `left`, `top` to `right`, `bottom` (exclusive)."""

    left: float
    top: float
    right: float
    bottom: float
    level: float
    middle: float
    half: float
    lean: float
    fan: float

    def shift(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        """The distance by which the ink at `x` of the straightened page lies further right on the sheet."""
        return (y - self.level) * (self.lean + self.fan * (x - self.middle) / self.half)


@dataclass(frozen=True, slots=True)
class Straightening(Rectification):
    """A rectification that shears blocks of the page as well."""

    blocks: tuple[Shear, ...] = ()

    def to_file(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        moved = np.array(points, dtype=np.float64)
        moved[:, 0] += self.shifts(moved)
        return moved @ self.inverse[:, :2].T + self.inverse[:, 2]

    def to_page(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        flat = points @ self.matrix[:, :2].T + self.matrix[:, 2]
        straight = flat.copy()
        for _ in range(3):  # the shift hardly changes from one x to the next
            straight[:, 0] = flat[:, 0] - self.shifts(straight)
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
    blocks = tuple(
        _shear(text, region, bounds) for region, bounds in zip(regions, _bounds(sheet, regions), strict=True)
    )
    if not any(block.lean or block.fan for block in blocks):
        return sheet, text
    ys, xs = np.indices(sheet.ink.shape, dtype=np.float32)
    for block in blocks:
        rows, across = slice(int(block.top), int(block.bottom)), slice(int(block.left), int(block.right))
        at = xs[rows, across].astype(np.float64)
        xs[rows, across] += block.shift(at, ys[rows, across].astype(np.float64)).astype(np.float32)
    stacked = cv2.merge([sheet.grey, sheet.ink, sheet.upright, sheet.level, text])
    planes = cv2.remap(stacked, xs, ys, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=(255, 0, 0, 0))
    grey, *masks = (np.asarray(planes[:, :, i], dtype=np.uint8) for i in range(5))
    ink, upright, level, straight = (np.where(mask > 127, 255, 0).astype(np.uint8) for mask in masks)
    matrix, inverse = sheet.rectification.matrix, sheet.rectification.inverse
    return Sheet(grey, ink, upright, level, Straightening(matrix, inverse, blocks), sheet.skew), straight


def _bounds(sheet: Sheet, regions: Sequence[Region]) -> list[tuple[float, float, float, float]]:
    """Blocks around the registers that leave nothing of the page out: left, top, right, bottom."""
    bounds = []
    leaves = {region.leaf: region for region in regions}
    cut = max(leaves[1].right, 0) if 1 in leaves else 0
    for region in regions:
        same = [other for other in regions if other.leaf == region.leaf]
        above = [other.bottom for other in same if other.bottom <= region.top]
        below = [other.top for other in same if other.top >= region.bottom]
        left, right = (0, sheet.width) if 1 not in leaves else (cut, sheet.width) if region.leaf == 0 else (0, cut)
        top = (max(above) + region.top) // 2 if above else 0
        bottom = (region.bottom + min(below)) // 2 if below else sheet.height
        bounds.append((float(left), float(top), float(right), float(bottom)))
    return bounds


def _shear(text: Mask, region: Region, bounds: tuple[float, float, float, float]) -> Shear:
    part = text[region.top : region.bottom, region.left : region.right]
    ys, xs = np.nonzero(part)
    level, middle = (region.top + region.bottom) / 2, (region.left + region.right) / 2
    half = max((region.right - region.left) / 2, 1.0)
    lean = fan = 0.0
    if xs.size > 200:
        pick = np.linspace(0, xs.size - 1, min(MAX_POINTS, xs.size)).astype(np.intp)
        across = xs[pick].astype(np.float64) + region.left - middle
        down = ys[pick].astype(np.float64) + region.top - level
        lean, fan = _sharpest(across, down, half)
    return Shear(*bounds, level, middle, half, lean, fan)


def _sharpest(across: NDArray[np.float64], down: NDArray[np.float64], half: float) -> tuple[float, float]:
    """Lean and fan under which the profile across the columns is sharpest."""
    weight = across / half

    def sharpness(lean: float, fan: float) -> float:
        places = (across - down * (lean + fan * weight) + 1.5 * half) / 2
        bins = np.bincount(places.clip(0, 1.5 * half).astype(np.intp))
        return float(bins @ bins) * (1.0 - SHARPNESS_COST[0] * lean * lean - SHARPNESS_COST[1] * fan * fan)

    best, lean, fan = sharpness(0.0, 0.0), 0.0, 0.0
    for reach, count in ((1.0, COARSE_SLOPES), (2.0 / COARSE_SLOPES, FINE_SLOPES), (0.6 / COARSE_SLOPES, FINE_SLOPES)):
        steps = np.linspace(-reach, reach, count)
        around = [(lean + MAX_LEAN * a, fan + MAX_FAN * b) for a in steps for b in steps]
        for a, b in around:
            if (value := sharpness(a, b)) > best:
                best, lean, fan = value, a, b
    return lean, fan
