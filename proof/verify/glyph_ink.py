"""Evidence from the ink of a glyph, beside its reading: which of two characters it resembles, and how large it is."""

from __future__ import annotations

from typing import Protocol

from proof.layout.glyph_shapes import Shapes
from proof.layout.half_folio import ColumnArea
from proof.ocr.drawn_shapes import DrawnShapes
from proof.text.model import Row
from proof.verify.columns import ReadColumn
from proof.verify.glyphs import Glyph


class RowInk(Protocol):
    """The ink of the glyphs in the rows of a half-folio (`proof.ocr.readings.HalfFolioReadings`)."""

    def shape(self, area: ColumnArea, row: Row, places: tuple[float, ...], number: int) -> Shapes: ...

    def ink_size(self, area: ColumnArea, row: Row, places: tuple[float, ...], number: int) -> tuple[int, int]: ...


class GlyphInk:
    """The ink of the glyphs of a half-folio; `drawn` are the shapes of characters in fonts."""

    def __init__(self, rows: RowInk, drawn: DrawnShapes) -> None:
        self._rows = rows
        self._drawn = drawn

    def form_preference(self, column: ReadColumn, glyph: Glyph, other: str, transcribed: str) -> float | None:
        """How much more a glyph resembles `other` than `transcribed` (`DrawnShapes.form_preference`)."""
        return self._drawn.form_preference(
            other, transcribed, lambda: self._rows.shape(column.area, glyph.row, *_place(column, glyph))
        )

    def size(self, column: ReadColumn, glyph: Glyph) -> tuple[float, float]:
        """The width and height of a glyph's ink without specks, in cells."""
        width, height = self._rows.ink_size(column.area, glyph.row, *_place(column, glyph))
        return width / glyph.pitch, height / glyph.pitch


def _place(column: ReadColumn, glyph: Glyph) -> tuple[tuple[float, ...], int]:
    """The middles of the glyphs in the row of a glyph, from top to bottom, and the number of the glyph among them.
    Other glyphs that are not probable are left out."""
    in_row = (other for other in column.glyphs if other.row is glyph.row and (other is glyph or other.probable))
    middles = sorted((other.top + other.bottom) / 2 for other in in_row)
    return tuple(middles), middles.index((glyph.top + glyph.bottom) / 2)
