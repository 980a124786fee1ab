"""The ink of a glyph whose character is known: the ink that follows that character's form, without its neighbours'."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.glyph_form import FormFit
from proof.layout.rules import connected

AT_FORM_CELLS = 0.12
"""Distance from a stroke of its form within which ink is the glyph's, in cells."""

MIN_AT_FORM_SHARE = 0.4
"""Minimum share of a piece of ink at the form for the whole piece to be the glyph's."""

OVER_CELLS = 0.06
"""Distance above or below the glyph's form from which a piece of ink may continue into a neighbour, in cells."""

DistanceMap = NDArray[np.float32]
"""The distance of each pixel of a window from the nearest stroke of a form, in pixels."""


@dataclass(frozen=True, slots=True)
class KnownGlyph:
    """A glyph, or consecutive ones of a row, with the `fits` of their forms to the ink; `distance` is that from the
    nearest form. `size` is the side of the square that a glyph fills."""

    fits: Sequence[FormFit]
    distance: DistanceMap
    size: float

    @classmethod
    def of(cls, fits: Sequence[FormFit], size: float) -> KnownGlyph:
        return cls(fits, np.asarray(np.minimum.reduce([fit.distance for fit in fits]), dtype=np.float32), size)

    @property
    def top(self) -> float:
        return self.fits[0].top

    @property
    def bottom(self) -> float:
        return self.fits[-1].bottom

    def own_ink(self, text: NDArray[np.bool_], cut_off: Callable[[KnownGlyph], NDArray[np.bool_]]) -> NDArray[np.bool_]:
        """The glyph's ink in the `text` around it. `cut_off` gives the pixels that belong to no neighbour; it divides
        pieces of ink that continue beyond the forms."""
        at_form = self.distance < AT_FORM_CELLS * self.size
        labels, stats, _ = connected(text.astype(np.uint8))
        top, bottom = stats[:, cv2.CC_STAT_TOP], stats[:, cv2.CC_STAT_TOP] + stats[:, cv2.CC_STAT_HEIGHT]
        over = OVER_CELLS * self.size
        is_shared = (top < self.top - over) | (bottom > self.bottom + over)
        is_shared &= np.bincount(labels[text & at_form], minlength=len(stats)) > 0
        is_shared[0] = False
        if is_shared.any():
            text = text & (~is_shared[labels] | cut_off(self))
            labels, stats, _ = connected(text.astype(np.uint8))
        area = stats[:, cv2.CC_STAT_AREA]
        is_own = np.bincount(labels[text & at_form], minlength=len(stats)) >= MIN_AT_FORM_SHARE * area
        is_own[0] = False
        return np.asarray(is_own[labels])
