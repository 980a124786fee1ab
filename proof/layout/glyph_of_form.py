"""The ink of a glyph whose character is known: the ink that follows that character's form, without its neighbours'."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.glyph_extent import MAX_CLEAN_DIRT, STRAIGHT_CELLS, Cells, straight_strokes
from proof.layout.glyph_form import FormFit
from proof.layout.rules import connected

AT_FORM_CELLS = 0.12
"""Distance from a stroke of its form within which ink is the glyph's, in cells."""

MIN_AT_FORM_SHARE = 0.4
"""Minimum share of a piece of ink at the form for the whole piece to be the glyph's."""

SURE_CORRELATION = 0.85
"""Minimum correlation of form and ink for the form alone to decide which ink is the glyph's."""

MAX_OUTSIDE_SHARE = 0.15
"""Maximum share of the ink in the glyph's cell that lies outside the form at a lower correlation; it is exceeded if the
hand writes the character in another form."""

MIN_PIECE_AREA = 0.003
"""Area below which a piece of ink outside the form is not the glyph's, as a share of a cell's area."""

LINE_AT_FORM_CELLS = 0.06
"""Distance from a stroke of the form within which ink that was removed as a line is the glyph's, in cells."""

MIN_LINE_AT_FORM_SHARE = 0.7
"""Minimum share of a piece of such ink at the form for the whole piece to be the glyph's."""

MIN_IN_ROW_SHARE = 0.7
"""Minimum share of a piece of ink in the glyph's row for the whole piece to belong to the row."""

OVER_CELLS = 0.06
"""Distance above or below the glyph's cells from which a piece of ink may continue into a neighbour, in cells."""

EXTENT_CELLS = (0.3, 0.1)
"""Distance from a stroke of its form up to which ink counts for the glyph's extent, on clean paper and with much dirt,
in cells."""

DistanceMap = NDArray[np.float32]
"""The distance of each pixel of a window from the nearest stroke of a form, in pixels."""


@dataclass(frozen=True, slots=True)
class KnownGlyph:
    """A glyph, or consecutive ones of a row, with the `fits` of their forms to the ink; `distance` is that from the
    nearest form."""

    fits: Sequence[FormFit]
    distance: DistanceMap

    @classmethod
    def of(cls, fits: Sequence[FormFit]) -> KnownGlyph:
        return cls(fits, np.asarray(np.minimum.reduce([fit.distance for fit in fits]), dtype=np.float32))

    @property
    def spans(self) -> list[tuple[float, float]]:
        """The top and bottom of each form, from top to bottom."""
        return [(fit.top, fit.bottom) for fit in self.fits]

    @property
    def is_sure(self) -> bool:
        """Whether every form correlates so well that the forms alone decide which ink is the glyphs'."""
        return min(fit.correlation for fit in self.fits) >= SURE_CORRELATION

    def _encloses(self, x: NDArray[Any], y: NDArray[Any]) -> NDArray[np.bool_]:
        """Which of the places are within the edges of a form."""
        enclosed = np.zeros(len(x), bool)
        for fit in self.fits:
            enclosed |= (x > fit.left) & (x < fit.right) & (y > fit.top) & (y < fit.bottom)
        return enclosed

    def leaves_out(self, ink: NDArray[np.bool_], size: float) -> bool:
        """Whether much of the `ink` in the glyph's cell lies outside its form; `size` is the cell's side."""
        y, x = np.nonzero(ink & (self.distance > AT_FORM_CELLS * size))
        outside = ~self._encloses(x, y)
        return bool(np.count_nonzero(outside) > MAX_OUTSIDE_SHARE * np.count_nonzero(ink))

    def own_ink(
        self,
        text: NDArray[np.bool_],
        lines: NDArray[np.bool_],
        row: NDArray[np.bool_],
        cells: Cells,
        cut_off: Callable[[DistanceMap], NDArray[np.bool_]],
    ) -> NDArray[np.bool_]:
        """The glyph's ink, from the `text` around it and from ink that was removed as `lines`; `row` marks the pixels
        of its row. `cut_off` takes the distance from the glyph's form and gives the pixels that belong to no neighbour;
        it divides pieces of ink that continue beyond the cells."""
        size = cells.size
        at_form = self.distance < AT_FORM_CELLS * size
        text = text | self._strokes(lines & row, size)
        labels, stats, centres = connected(text.astype(np.uint8))
        area, top, height = (stats[:, i] for i in (cv2.CC_STAT_AREA, cv2.CC_STAT_TOP, cv2.CC_STAT_HEIGHT))
        is_outside = np.bincount(labels[text & ~row], minlength=len(stats)) > (1 - MIN_IN_ROW_SHARE) * area
        touches_form = np.bincount(labels[text & at_form], minlength=len(stats)) > 0
        is_over = (top < cells.top - OVER_CELLS * size) | (top + height > cells.bottom + OVER_CELLS * size)
        is_shared = touches_form & is_over
        is_outside[0] = is_shared[0] = False
        if is_outside.any() or is_shared.any():
            text = text & (~is_outside[labels] | row)
            if is_shared.any():
                text &= ~is_shared[labels] | cut_off(self.distance)
            labels, stats, centres = connected(text.astype(np.uint8))
            area = stats[:, cv2.CC_STAT_AREA]
        is_own = np.bincount(labels[text & at_form], minlength=len(stats)) >= MIN_AT_FORM_SHARE * area
        is_own &= area >= MIN_PIECE_AREA * size * size
        is_own |= self._encloses(centres[:, 0], centres[:, 1])
        is_own[0] = False
        return np.asarray(text & is_own[labels])

    def _strokes(self, lines: NDArray[np.bool_], size: float) -> NDArray[np.bool_]:
        """The pieces of lines that are strokes of the glyph."""
        labels, stats, _ = connected(lines.astype(np.uint8))
        at_form = np.bincount(labels[self.distance < LINE_AT_FORM_CELLS * size], minlength=len(stats))
        is_stroke = at_form >= MIN_LINE_AT_FORM_SHARE * stats[:, cv2.CC_STAT_AREA]
        is_stroke &= stats[:, cv2.CC_STAT_WIDTH : cv2.CC_STAT_HEIGHT + 1].max(axis=1) < size
        is_stroke[0] = False
        return np.asarray(is_stroke[labels])

    def extent(self, own: NDArray[np.bool_], dirt: float, cells: Cells) -> tuple[float, float, float, float]:
        """The left, top, right and bottom edge of the glyph's ink `own`, as far as it follows the form; ink a little
        farther away counts on clean paper. `dirt` is 0 to 1."""
        clean_reach, dirty_reach = EXTENT_CELLS
        reach = dirty_reach + (clean_reach - dirty_reach) * max(0.0, 1 - 2 * dirt)
        follows_form = own & (self.distance < reach * cells.size)
        if dirt > MAX_CLEAN_DIRT:
            straight = straight_strokes(own.astype(np.uint8), max(round(STRAIGHT_CELLS * cells.size), 3)) > 0
            follows_form |= straight & (self.distance < clean_reach * cells.size)
        ys, xs = np.nonzero(follows_form if follows_form.any() else own)
        return float(xs.min()), float(ys.min()), float(xs.max() + 1), float(ys.max() + 1)
