"""What stands in one span of a register, which may be a column: its larger pieces of ink."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from proof.layout.gaps import Span

ONE = 1.5
"""Pieces of ink that are together no higher than so many times as wide may be one glyph."""

SMALL = 0.72
"""Of the glyphs of the other columns: what is so small at the edge of a leaf is a title or a page number."""

FILLED = 0.5
"""The same of a column that is plainly text."""


@dataclass(frozen=True, slots=True)
class MeasuredSpan:
    """A span with its larger pieces of ink (n x 5: x, y, w, h, area) and whether there is ink in it that is broader
    than any stroke."""

    span: Span
    pieces: NDArray[np.intp]
    solid: bool

    @property
    def size(self) -> float:
        """How wide its glyphs are."""
        return size_of(self.pieces)

    @property
    def lone_size(self) -> float:
        """How wide its pieces are together where they may be one glyph; 0 where they are more."""
        x, y, width, height = self.pieces[:, :4].T
        across, down = int((x + width).max() - x.min()), int((y + height).max() - y.min())
        return float(across) if down < ONE * across else 0.0

    @property
    def broad(self) -> float:
        """How far its pieces reach across together with those beside them, as the halves of a note's rows stand; the
        median of all."""
        x, y, width, height = self.pieces[:, :4].T
        beside = (y[:, None] < (y + height)[None, :]) & (y[None, :] < (y + height)[:, None])
        right, left = (
            np.where(beside, x + width, -1).max(axis=1),
            np.where(beside, x, np.iinfo(x.dtype).max).min(axis=1),
        )
        return float(np.median(right - left))

    @property
    def extent(self) -> tuple[int, int]:
        """From which x to which its pieces reach."""
        return int(self.pieces[:, 0].min()), int((self.pieces[:, 0] + self.pieces[:, 2]).max())

    def covered(self, height: int) -> float:
        """Which share of the height of its register its pieces reach over."""
        rows = np.zeros(height, np.bool_)
        for y, h in self.pieces[:, [1, 3]].tolist():
            rows[y : y + h] = True
        return float(rows.mean()) if height else 0.0

    def between(self, left: float, right: float) -> MeasuredSpan:
        """The same without the pieces that reach out of two x."""
        x, width = self.pieces[:, 0], self.pieces[:, 2]
        return replace(self, pieces=self.pieces[(x > left) & (x + width < right)])

    def filled(self, height: int) -> float:
        """Which share of the height of its register has glyphs."""
        return float(self.pieces[:, 3].sum()) / max(height, 1)

    def is_text(self, usual: float, height: int) -> bool:
        """Whether it is plainly a column of text: full of glyphs as wide as those of the others (`usual`)."""
        return self.filled(height) > FILLED and self.size > SMALL * usual


def size_of(pieces: NDArray[np.intp]) -> float:
    """How wide the glyphs of a span are: of its pieces, weighed by their ink."""
    if not pieces.size:
        return 0.0
    order = np.argsort(pieces[:, 2])
    total = np.cumsum(pieces[order, 4])
    return float(pieces[order, 2][np.searchsorted(total, 0.6 * total[-1])])
