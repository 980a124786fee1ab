"""Images that are turned by a quarter or a half, or mirrored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from proof.layout.half_folio import Layout


class Lie(StrEnum):
    """The orientation of an image that is not upright."""

    HALF = "upside down"
    RIGHT = "on its right side"
    LEFT = "on its left side"
    MIRRORED = "mirrored"


DEGREES_CLOCKWISE = {Lie.HALF: 180.0, Lie.RIGHT: -90.0, Lie.LEFT: 90.0, Lie.MIRRORED: 0.0}
"""The clockwise rotation, in degrees, that sets an image of each orientation upright."""


@dataclass(frozen=True, slots=True)
class Reoriented:
    """An image set upright: its pixels, and the affine map (2 x 3) from them back to pixels of the image."""

    lie: Lie
    pixels: NDArray[np.uint8]
    back: NDArray[np.float64]


def reoriented(page: NDArray[np.uint8], lie: Lie) -> Reoriented:
    """A page (height x width) of this orientation, set upright."""
    height, width = page.shape
    if lie is Lie.HALF:
        return Reoriented(lie, np.ascontiguousarray(np.rot90(page, 2)), _map((-1, 0, width), (0, -1, height)))
    if lie is Lie.RIGHT:  # its top to the right: turned back counter-clockwise
        return Reoriented(lie, np.ascontiguousarray(np.rot90(page, 1)), _map((0, -1, width), (1, 0, 0)))
    if lie is Lie.LEFT:
        return Reoriented(lie, np.ascontiguousarray(np.rot90(page, -1)), _map((0, 1, 0), (-1, 0, height)))
    return Reoriented(lie, np.ascontiguousarray(page[:, ::-1]), _map((-1, 0, width), (0, 1, 0)))


def _map(x: tuple[float, float, float], y: tuple[float, float, float]) -> NDArray[np.float64]:
    return np.array([x, y], dtype=np.float64)


def in_image(layout: Layout, turned: Reoriented, origin: tuple[float, float]) -> Layout:
    """The layout of a page that was set upright, mapped back to the image as it lies; `origin` is the place of the
    image in its file."""
    back = np.vstack([turned.back, [0.0, 0.0, 1.0]])
    back[:2, 2] += origin
    upright = layout.rectification
    inverse = back @ np.vstack([upright.inverse, [0.0, 0.0, 1.0]])
    rectification = replace(upright, inverse=inverse[:2], matrix=np.linalg.inv(inverse)[:2])
    skew = layout.outline.skew + DEGREES_CLOCKWISE[turned.lie]
    return replace(layout, outline=replace(layout.outline, rectification=rectification, skew=skew))
