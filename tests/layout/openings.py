"""Openings put together for tests: two half-folios on one image, as a library photographs an opened book."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from proof.model.geometry import Box
from proof.ocr.engine import Pixels

PAPER = 246


@dataclass(frozen=True)
class Photograph:
    """How the two are put side by side: lengths as shares of a half-folio's height, `skew` in degrees, `shadow` from 0
    (none) to 1 (black at the gutter), `surround` the dark ground that the book lies on."""

    gutter: float = 0.08
    margin: float = 0.05
    skew: float = 0.0
    shadow: float = 0.0
    surround: float = 0.0
    lower: float = 0.0


@dataclass(frozen=True)
class Opening:
    """The image, and where the two stand on it: maps (2 x 3) from their own pixels."""

    image: Pixels
    right: NDArray[np.float64]
    left: NDArray[np.float64]

    def box(self, part: str, box: Box) -> Box:
        """The upright box on the opening of a box on one of the half-folios: a is the right one, b the left."""
        turn = self.right if part == "a" else self.left
        corners = np.array([[box.x, box.y], [box.right, box.y], [box.right, box.bottom], [box.x, box.bottom]])
        xy = corners @ turn[:, :2].T + turn[:, 2]
        (x0, y0), (x1, y1) = xy.min(axis=0), xy.max(axis=0)
        return Box(float(x0), float(y0), float(x1 - x0), float(y1 - y0))


def side_by_side(right: Pixels, left: Pixels, how: Photograph | None = None) -> Opening:
    """Two half-folios on one image."""
    how = how or Photograph()
    tall = right.shape[0]
    gutter, margin, edge, lower = (round(share * tall) for share in (how.gutter, how.margin, how.surround, how.lower))
    width, height = left.shape[1] + gutter + right.shape[1] + 2 * margin, max(tall + lower, left.shape[0]) + 2 * margin
    sheet = np.full((height, width), PAPER, np.float32)
    at_left, at_right = (margin, margin), (margin + left.shape[1] + gutter, margin + lower)
    for half, (x, y) in ((left, at_left), (right, at_right)):
        place = sheet[y : y + half.shape[0], x : x + half.shape[1]]
        place[:] = np.minimum(place, half)
    if how.shadow:
        far = np.abs(np.arange(width) - (at_left[0] + left.shape[1] + gutter / 2))
        sheet *= 1 - how.shadow * np.exp(-((far / (0.03 * tall)) ** 2))
    sheet = np.pad(sheet, edge, constant_values=25)
    turn = cv2.getRotationMatrix2D((sheet.shape[1] / 2, sheet.shape[0] / 2), how.skew, 1)
    ground = 25 if edge else PAPER
    image = cv2.warpAffine(sheet, turn, (sheet.shape[1], sheet.shape[0]), flags=cv2.INTER_AREA, borderValue=(ground,))

    def of(place: tuple[int, int]) -> NDArray[np.float64]:
        shift = np.array([place[0] + edge, place[1] + edge], dtype=np.float64)
        return np.hstack([turn[:, :2], (turn[:, :2] @ shift + turn[:, 2])[:, None]])

    return Opening(np.asarray(image, dtype=np.uint8), of(at_right), of(at_left))
