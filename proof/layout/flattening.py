"""The map from a page laid flat back to the image that shows it askew, at an angle or curved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.rules import Rectification
from proof.layout.straight import Shear, Straightening

Floats = NDArray[np.float64]

MESH_PX = 16
"""Distance of the places at which a map is computed, in pixels; it is interpolated between them."""

TERMS = 7
"""Number of functions that `terms` gives."""

INVERSION_STEPS = 12
"""Steps of the fixed-point iteration that inverts a map; each one leaves a tenth of the error at most."""


def terms(along: Floats, across: Floats) -> Floats:
    """The functions of a place by which the lines of one direction depart from straight and parallel ones (... x 7).

    `along` runs from -1 to 1 down a line, `across` from line to line. The first two are a lean and a fan, the rest
    bends; all are zero in the middle of a line.
    """
    t, s = along, across
    return np.stack([t, s * t, t * t, s * t * t, t**3, s * t**3, s * s * t], axis=-1)


@dataclass(frozen=True, slots=True)
class Bend:
    """How a curved sheet departs from a flat one, in shares of half the page: upright lines by `upright`, level ones by
    `level` (weights of `terms`). `stretch` are the weights of a square and a cube term that make columns that look
    narrow at one side as broad as the others."""

    upright: tuple[float, ...]
    level: tuple[float, ...]
    stretch: tuple[float, float] = (0.0, 0.0)

    def to_curved(self, places: Floats) -> Floats:
        """Places (n x 2, from -1 to 1) of the flat sheet, on the curved one."""
        s, t = places[:, 0], places[:, 1]
        square, cube = self.stretch
        s = s + square * (s * s - 1.0) + cube * (s**3 - s)
        x = s + terms(t, s) @ np.array(self.upright)
        y = t + terms(s, t) @ np.array(self.level)
        return np.stack([x, y], axis=1)


@dataclass(frozen=True, slots=True)
class Flattening:
    """The map between a page laid flat, of `size` (width, height) in pixels, and its image.

    `corner` is the place of the page on the whole sheet, whose half width and half height are `half`. Places of the
    sheet are mapped to pixels of the image by the `bends`, from the last to the first, and the `homography` (3 x 3)."""

    size: tuple[int, int]
    corner: tuple[float, float]
    half: tuple[float, float]
    homography: tuple[float, ...]
    bends: tuple[Bend, ...] = ()

    def to_image(self, points: Floats) -> Floats:
        """Points (n x 2) of the flat page, in pixels of the image."""
        half = np.array(self.half)
        places = (points + np.array(self.corner)) / half - 1.0
        for bend in reversed(self.bends):
            places = bend.to_curved(places)
        return _through(np.reshape(self.homography, (3, 3)), (places + 1.0) * half)

    def to_flat(self, points: Floats) -> Floats:
        """Points (n x 2) of the image, in pixels of the flat page."""
        half, corner = np.array(self.half), np.array(self.corner)
        places = _through(np.linalg.inv(np.reshape(self.homography, (3, 3))), points) / half - 1.0
        for bend in self.bends:
            flat_places = places
            for _ in range(INVERSION_STEPS):
                flat_places = np.clip(flat_places + places - bend.to_curved(flat_places), -2.0, 2.0)
            places = flat_places
        return np.asarray((places + 1.0) * half - corner, dtype=np.float64)

    def flat(self, page: NDArray[np.uint8], paper: float) -> NDArray[np.uint8]:
        """The image (height x width) laid flat; `paper` is the tone beyond its edges."""
        width, height = self.size
        shape = height // MESH_PX + 2, width // MESH_PX + 2
        ys, xs = np.indices(shape).astype(np.float64) * MESH_PX
        mesh = self.to_image(np.stack([xs.ravel(), ys.ravel()], axis=1)).reshape(*shape, 2).astype(np.float32)
        scale = np.array([[1 / MESH_PX, 0, 0], [0, 1 / MESH_PX, 0]])
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        maps = cv2.warpAffine(mesh, scale, (width, height), flags=flags, borderMode=cv2.BORDER_REPLICATE)
        x, y = cv2.split(maps)
        flat = cv2.remap(page, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=(paper,))
        return np.asarray(flat, dtype=np.uint8)

    def with_bend(self, bend: Bend) -> Flattening:
        """The flattening with one bend more."""
        return replace(self, bends=(*self.bends, bend))

    def enlarged(self, factor: float) -> Flattening:
        """The flattening of the image enlarged by a factor."""
        scale = np.diag([factor, factor, 1.0])
        homography = scale @ np.reshape(self.homography, (3, 3)) @ np.linalg.inv(scale)
        (width, height), (left, top), (x, y) = self.size, self.corner, self.half
        size = round(width * factor), round(height * factor)
        corner, half = (left * factor, top * factor), (x * factor, y * factor)
        return Flattening(size, corner, half, tuple(homography.ravel().tolist()), self.bends)

    def as_list(self) -> list[Any]:
        """As numbers and lists, from which `of_list` restores it bit by bit."""
        bends = [[bend.upright, bend.level, bend.stretch] for bend in self.bends]
        return [self.size, self.corner, self.half, self.homography, bends]

    @classmethod
    def of_list(cls, parts: Sequence[Any]) -> Flattening:
        """The inverse of `as_list`."""
        size, corner, half, homography, bend_lists = parts
        bends = tuple(Bend(tuple(upright), tuple(level), tuple(stretch)) for upright, level, stretch in bend_lists)
        return cls(tuple(size), tuple(corner), tuple(half), tuple(homography), bends)


def _through(homography: Floats, points: Floats) -> Floats:
    """Points (n x 2) mapped by a homography (3 x 3)."""
    mapped = np.c_[points, np.ones(len(points))] @ homography.T
    return np.asarray(mapped[:, :2] / mapped[:, 2:], dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Flattened(Rectification):
    """The rectification of a page that was laid flat first: `of_flat_page` maps from the rectified page to the flat
    page, `flattening` from there to the image, and the affine map of this rectification from the image to its file."""

    of_flat_page: Rectification
    flattening: Flattening

    def to_file(self, points: Floats) -> Floats:
        in_image = self.flattening.to_image(self.of_flat_page.to_file(points))
        return in_image @ self.inverse[:, :2].T + self.inverse[:, 2]

    def to_page(self, points: Floats) -> Floats:
        in_image = points @ self.matrix[:, :2].T + self.matrix[:, 2]
        return self.of_flat_page.to_page(self.flattening.to_flat(in_image))

    @classmethod
    def of_flat(cls, of_flat_page: Rectification, flattening: Flattening, origin: tuple[float, float]) -> Flattened:
        """`origin` is the place of the image in its file."""
        x, y = origin
        return cls(np.array([[1.0, 0, -x], [0, 1, -y]]), np.array([[1.0, 0, x], [0, 1, y]]), of_flat_page, flattening)


def rectification_as_list(rectification: Rectification) -> list[Any]:
    """A rectification of any kind as numbers and lists, from which `rectification_of` restores it."""
    maps = [part.ravel().tolist() for part in (rectification.matrix, rectification.inverse)]
    if isinstance(rectification, Straightening):
        return [*maps, [list(astuple(block)) for block in rectification.blocks]]
    if isinstance(rectification, Flattened):
        return [*maps, rectification_as_list(rectification.of_flat_page), rectification.flattening.as_list()]
    return maps


def rectification_of(parts: Sequence[Any]) -> Rectification:
    """The inverse of `rectification_as_list`."""
    matrix, inverse = (np.array(part, np.float64).reshape(2, 3) for part in parts[:2])
    match parts[2:]:
        case [blocks]:
            return Straightening(matrix, inverse, tuple(Shear(*block) for block in blocks))
        case [of_flat_page, flattening]:
            return Flattened(matrix, inverse, rectification_of(of_flat_page), Flattening.of_list(flattening))
    return Rectification(matrix, inverse)
