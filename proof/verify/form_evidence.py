"""Evidence from the ink of a glyph for characters that the recogniser does not know, compared with what it reads."""

from __future__ import annotations

from typing import Protocol

from proof.layout.glyph_shapes import Shapes
from proof.layout.half_folio import ColumnArea
from proof.ocr.drawn_shapes import DrawnShapes
from proof.text.model import Row
from proof.verify.columns import ReadColumn
from proof.verify.glyphs import Glyph


class GlyphShapes(Protocol):
    """The shapes of the glyphs of a half-folio (`proof.ocr.readings.HalfFolioReadings`)."""

    def shape(self, area: ColumnArea, row: Row, places: tuple[float, ...], number: int) -> Shapes: ...


class FormEvidence:
    """Compares the shapes of glyphs of a half-folio with those of characters in fonts."""

    def __init__(self, glyphs: GlyphShapes, drawn: DrawnShapes) -> None:
        self._glyphs = glyphs
        self._drawn = drawn

    def __call__(self, column: ReadColumn, glyph: Glyph, other: str, transcribed: str) -> float | None:
        """How much more a glyph resembles `other` than `transcribed` (`DrawnShapes.form_preference`)."""

        def shape() -> Shapes:
            beside = (a for a in column.glyphs if a.row is glyph.row and (a is glyph or a.probable))
            places = sorted((a.top + a.bottom) / 2 for a in beside)
            own = (glyph.top + glyph.bottom) / 2
            return self._glyphs.shape(column.area, glyph.row, tuple(places), places.index(own))

        return self._drawn.form_preference(other, transcribed, shape)
