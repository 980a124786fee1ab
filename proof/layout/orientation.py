"""Images that are turned by a quarter or a half, or mirrored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from proof.layout.half_folio import Layout


class Lie(StrEnum):
    """How an image lies that is not upright."""

    HALF = "upside down"
    RIGHT = "on its right side"
    LEFT = "on its left side"
    MIRRORED = "mirrored"


DEGREES_CLOCKWISE = {Lie.HALF: 180.0, Lie.RIGHT: -90.0, Lie.LEFT: 90.0, Lie.MIRRORED: 0.0}
"""The clockwise rotation, in degrees, that sets such an image upright."""


@dataclass(frozen=True, slots=True)
class Reoriented:
    """An image set upright: its pixels, and the affine map (2 x 3) from them to pixels of the image as it lies."""

    lie: Lie
    pixels: NDArray[np.uint8]
    to_image: NDArray[np.float64]


def reoriented(page: NDArray[np.uint8], lie: Lie) -> Reoriented:
    """A page (height x width) that lies so, set upright."""
    height, width = page.shape
    match lie:
        case Lie.HALF:
            pixels, to_image = np.rot90(page, 2), [(-1, 0, width), (0, -1, height)]
        case Lie.RIGHT:  # its top is at the right: turned counter-clockwise
            pixels, to_image = np.rot90(page, 1), [(0, -1, width), (1, 0, 0)]
        case Lie.LEFT:
            pixels, to_image = np.rot90(page, -1), [(0, 1, 0), (-1, 0, height)]
        case Lie.MIRRORED:
            pixels, to_image = page[:, ::-1], [(-1, 0, width), (0, 1, 0)]
    return Reoriented(lie, np.ascontiguousarray(pixels), np.array(to_image, dtype=np.float64))


def in_image(layout: Layout, turned: Reoriented, origin: tuple[float, float]) -> Layout:
    """The layout of a page that was set upright, mapped back to the image as it lies; `origin` is the place of the
    image in its file."""
    to_file = np.vstack([turned.to_image, [0.0, 0.0, 1.0]])
    to_file[:2, 2] += origin
    inverse = to_file @ np.vstack([layout.rectification.inverse, [0.0, 0.0, 1.0]])
    rectification = replace(layout.rectification, inverse=inverse[:2], matrix=np.linalg.inv(inverse)[:2])
    skew = layout.outline.skew + DEGREES_CLOCKWISE[turned.lie]
    return replace(layout, outline=replace(layout.outline, rectification=rectification, skew=skew))
