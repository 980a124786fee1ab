"""The ink of a glyph whose character is known: what follows that character's form, without ink of its neighbours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.glyph_extent import MAX_CLEAN_DIRT, STRAIGHT_CELLS, Cells, straight_strokes
from proof.layout.glyph_form import FormFit
from proof.layout.rules import connected

AT_FORM_CELLS = 0.12
"""Distance from a stroke of its form within which ink is the glyph's, in cells."""

MIN_AT_FORM_SHARE = 0.4
"""Share of a piece of ink at the form from which all of it is the glyph's."""

SURE_CORRELATION = 0.85
"""Correlation of form and ink from which the form alone decides which ink is the glyph's."""

MAX_OUTSIDE_SHARE = 0.15
"""Maximum share of the ink in the glyph's cell that lies outside the form at a lower correlation; if the hand writes
the character otherwise it is more."""

MIN_PIECE_AREA = 0.003
"""Area below which a piece of ink outside the form is not the glyph's, as a share of a cell's area."""

LINE_AT_FORM_CELLS = 0.06
"""Distance from a stroke of the form within which ink that was removed as a line is the glyph's, in cells."""

MIN_LINE_AT_FORM_SHARE = 0.7
"""Share of a piece of such ink at the form from which all of it is the glyph's."""

MIN_IN_ROW_SHARE = 0.7
"""Share of a piece of ink in the glyph's row from which all of it belongs to the row."""

OVER_CELLS = 0.06
"""Distance above or below the glyph's cells from which a piece of ink may continue into a neighbour, in cells."""

EXTENT_CELLS = (0.3, 0.1)
"""Distance from a stroke of its form up to which ink counts for the glyph's extent, on clean paper and with much dirt,
in cells."""

Parting = Callable[[NDArray[np.float32]], NDArray[np.bool_]]
"""Takes the distance of each pixel from a glyph's form, and gives the pixels that belong to no neighbour."""


@dataclass(frozen=True, slots=True)
class KnownGlyph:
    """A glyph, or consecutive ones of a row, with the `fits` of their forms to the ink; `away` is the distance of each
    pixel from the nearest form, in pixels."""

    fits: Sequence[FormFit]
    away: NDArray[np.float32]

    @classmethod
    def of(cls, fits: Sequence[FormFit]) -> KnownGlyph:
        return cls(fits, np.asarray(np.minimum.reduce([fit.away for fit in fits]), dtype=np.float32))

    @property
    def spans(self) -> list[tuple[float, float]]:
        """The top and bottom of each form, from top to bottom."""
        return [(fit.top, fit.bottom) for fit in self.fits]

    @property
    def sure(self) -> bool:
        """Whether every form correlates so well that the forms alone decide which ink is the glyphs'."""
        return min(fit.correlation for fit in self.fits) >= SURE_CORRELATION

    def leaves_out(self, ink: NDArray[np.bool_], size: float) -> bool:
        """Whether much of the `ink` in the glyph's cell lies outside its form; `size` is the cell's side."""
        ys, xs = np.nonzero(ink & (self.away > AT_FORM_CELLS * size))
        within = np.zeros(len(ys), bool)
        for fit in self.fits:
            within |= (xs > fit.left) & (xs < fit.right) & (ys > fit.top) & (ys < fit.bottom)
        return bool(np.count_nonzero(~within) > MAX_OUTSIDE_SHARE * np.count_nonzero(ink))

    def own(
        self,
        text: NDArray[np.bool_],
        lines: NDArray[np.bool_],
        row: NDArray[np.bool_],
        cells: Cells,
        parting: Parting,
    ) -> NDArray[np.bool_]:
        """The glyph's ink, from the `text` around it and from ink that was removed as `lines`; `row` marks the pixels
        of its row. `parting` divides a piece of ink that continues beyond the cells."""
        size = cells.size
        near = self.away < AT_FORM_CELLS * size
        text = text | self._strokes(lines & row, size)
        labels, stats, centres = connected(text.astype(np.uint8))
        mass = stats[:, cv2.CC_STAT_AREA]
        outside = np.bincount(labels[text & ~row], minlength=len(stats)) > (1 - MIN_IN_ROW_SHARE) * mass
        touching = np.bincount(labels[text & near], minlength=len(stats)) > 0
        top, high = stats[:, cv2.CC_STAT_TOP], stats[:, cv2.CC_STAT_HEIGHT]
        shared = touching & ((top < cells.top - OVER_CELLS * size) | (top + high > cells.bottom + OVER_CELLS * size))
        outside[0] = shared[0] = False
        if outside.any() or shared.any():
            text = text & (~outside[labels] | row)
            if shared.any():
                text &= ~shared[labels] | parting(self.away)
            labels, stats, centres = connected(text.astype(np.uint8))
        kept = np.bincount(labels[text & near], minlength=len(stats)) >= MIN_AT_FORM_SHARE * stats[:, cv2.CC_STAT_AREA]
        kept &= stats[:, cv2.CC_STAT_AREA] >= MIN_PIECE_AREA * size * size
        x, y = centres[:, 0], centres[:, 1]
        for fit in self.fits:
            kept |= (x > fit.left) & (x < fit.right) & (y > fit.top) & (y < fit.bottom)
        kept[0] = False
        return np.asarray(text & kept[labels])

    def _strokes(self, lines: NDArray[np.bool_], size: float) -> NDArray[np.bool_]:
        """The pieces of lines that are strokes of the glyph."""
        labels, stats, _ = connected(lines.astype(np.uint8))
        on_form = np.bincount(labels[self.away < LINE_AT_FORM_CELLS * size], minlength=len(stats))
        strokes = on_form >= MIN_LINE_AT_FORM_SHARE * stats[:, cv2.CC_STAT_AREA]
        strokes &= stats[:, cv2.CC_STAT_WIDTH : cv2.CC_STAT_HEIGHT + 1].max(axis=1) < size
        strokes[0] = False
        return np.asarray(strokes[labels])

    def extent(self, own: NDArray[np.bool_], dirt: float, cells: Cells) -> tuple[float, float, float, float]:
        """The left, top, right and bottom edge of the glyph's ink `own`, as far as it follows the form; ink a little
        farther away counts on clean paper. `dirt` is 0 to 1."""
        reach = EXTENT_CELLS[1] + (EXTENT_CELLS[0] - EXTENT_CELLS[1]) * max(0.0, 1 - 2 * dirt)
        near = own & (self.away < reach * cells.size)
        if dirt > MAX_CLEAN_DIRT:
            straight = straight_strokes(own.astype(np.uint8), max(round(STRAIGHT_CELLS * cells.size), 3)) > 0
            near |= straight & (self.away < EXTENT_CELLS[0] * cells.size)
        ys, xs = np.nonzero(near if near.any() else own)
        return float(xs.min()), float(ys.min()), float(xs.max() + 1), float(ys.max() + 1)
