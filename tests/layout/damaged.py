"""Drawn half-folios as a bad photograph shows them, with where every place of the sound page has gone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from proof.ocr.engine import Pixels

Floats = NDArray[np.float64]
PAPER = 255


@dataclass(frozen=True)
class Photograph:
    """A page as it was photographed; `gone` leads places (n x 2) of the sound page to the photograph."""

    image: Pixels
    gone: Callable[[Floats], Floats]


def seen(page: Pixels, matrix: Floats, size: tuple[int, int]) -> Photograph:
    """A page through a homography, on paper of `size` (width, height)."""
    image = cv2.warpPerspective(page, matrix, size, borderValue=(PAPER,))

    def gone(points: Floats) -> Floats:
        moved = np.c_[points, np.ones(len(points))] @ matrix.T
        return np.asarray(moved[:, :2] / moved[:, 2:], dtype=np.float64)

    return Photograph(np.asarray(image, dtype=np.uint8), gone)


def turned(page: Pixels, degrees: float) -> Photograph:
    """Turned about its middle, on a sheet that holds all of it."""
    height, width = page.shape
    turn = np.radians(abs(degrees))
    size = (
        round(width * np.cos(turn) + height * np.sin(turn)),
        round(height * np.cos(turn) + width * np.sin(turn)),
    )
    matrix = np.vstack([cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 1.0), [0, 0, 1]])
    matrix[:2, 2] += np.array([size[0] - width, size[1] - height]) / 2
    return seen(page, matrix, size)


def at_an_angle(page: Pixels, share: float = 0.06) -> Photograph:
    """Seen from the right and from below: its sides converge."""
    height, width = page.shape
    corners = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float32)
    x, y = share * width, share * height
    off = np.array([(x, y), (-x / 2, 0), (0, -y / 2), (x / 3, -y)], np.float32)
    matrix = np.asarray(cv2.getPerspectiveTransform(corners, corners + off), dtype=np.float64)
    return seen(page, matrix, (width, height))


def bent(page: Pixels, across: float = 0.02, down: float = 0.03) -> Photograph:
    """On paper that is arched: lines of both directions are bent by these shares of the page."""
    page = np.asarray(cv2.copyMakeBorder(page, 60, 60, 60, 60, cv2.BORDER_CONSTANT, value=(PAPER,)), dtype=np.uint8)
    height, width = page.shape

    def came(places: Floats) -> Floats:
        s, t = places[..., 0] / width - 0.5, places[..., 1] / height - 0.5
        off = np.stack([width * across * (4 * t * t - 1), height * down * (4 * s * s - 1)], axis=-1)
        return np.asarray(places - off, dtype=np.float64)

    def gone(points: Floats) -> Floats:
        target = points + 60
        found = target
        for _ in range(20):
            found = found + target - came(found)
        return np.asarray(found, dtype=np.float64)

    ys, xs = np.mgrid[0:height, 0:width].astype(np.float64)
    maps = came(np.stack([xs, ys], axis=-1)).astype(np.float32)
    x, y = cv2.split(maps)
    image = cv2.remap(page, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=(PAPER,))
    return Photograph(np.asarray(image, dtype=np.uint8), gone)
