"""Boxes on an image, in pixels of the image file: x to the right, y down."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from math import ceil


@dataclass(frozen=True, slots=True)
class Box:
    """An upright rectangle in pixels of the image file: left, top, width, height."""

    x: float
    y: float
    w: float
    h: float

    @property
    def right(self) -> float:
        return self.x + self.w

    @property
    def bottom(self) -> float:
        return self.y + self.h

    @property
    def centre(self) -> tuple[float, float]:
        return self.x + self.w / 2, self.y + self.h / 2

    def contains(self, x: float, y: float) -> bool:
        return self.x <= x <= self.right and self.y <= y <= self.bottom

    def union(self, other: Box) -> Box:
        x, y = min(self.x, other.x), min(self.y, other.y)
        return Box(x, y, max(self.right, other.right) - x, max(self.bottom, other.bottom) - y)

    @staticmethod
    def around(boxes: Iterable[Box]) -> Box:
        """The smallest box around one or more boxes."""
        return reduce(Box.union, boxes)

    def to_tenths(self) -> Box:
        """The box rounded to tenths of a pixel, which halves its size in the store."""
        return Box(round(self.x, 1), round(self.y, 1), round(self.w, 1), round(self.h, 1))

    def in_whole_pixels(self, size: tuple[int, int]) -> Box:
        """The box extended to whole pixels within an image of that `size` (width, height); at least one pixel."""
        left, top = max(int(self.x), 0), max(int(self.y), 0)
        right, bottom = min(ceil(self.right), size[0]), min(ceil(self.bottom), size[1])
        return Box(left, top, max(right - left, 1), max(bottom - top, 1))

    def rounded(self) -> list[int]:
        """`[x, y, w, h]` in whole pixels, as flags carry it."""
        x, y = round(self.x), round(self.y)
        return [x, y, round(self.right) - x, round(self.bottom) - y]
