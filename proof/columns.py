"""One column of text on one column of the image: read, aligned, looked at again where they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from proof.align import Likeness, Pairing, align
from proof.glyphs import Glyph, column_glyphs, merged
from proof.images.layout import ColumnArea, Layout
from proof.images.strips import Strip, Way, cut_strips
from proof.ocr.engine import Engine, Reading
from proof.text.model import Cell, Column, Row

SETTLED = 4.0
"""Nats: an alignment that costs less needs no second look."""

TROUBLED = 12.0
"""Nats: an alignment that costs more may be due to where the runs of the column were cut."""

SECOND_ZOOM = 1.6
"""How much longer the strips of a second look are: at another pitch the recogniser errs elsewhere."""

BETTER = 2.0
"""Nats by which another way of cutting must be better to be believed."""


@dataclass(frozen=True, slots=True)
class ReadColumn:
    """A column of the image with the line of the transcription that was laid on it.

    `line` is None where the transcription has nothing for this column. `cells` are the line's glyph cells
    (blank ones left out); `pairings` number them and `glyphs`. `cost` is the alignment's, in nats.
    `swapped`: the halves of a note stand the other way round on the image.
    """

    area: ColumnArea
    line: Column | None
    cells: tuple[Cell, ...]
    glyphs: tuple[Glyph, ...]
    pairings: tuple[Pairing, ...]
    cost: float
    way: Way
    swapped: bool = False

    @property
    def read(self) -> str:
        """What the engine read, without the faint glyphs."""
        return "".join(g.best for g in self.glyphs if g.presence > 0.5)

    @property
    def agreement(self) -> float:
        """1 where the line is what the column shows, towards 0 where it is another text."""
        size = max(len(self.cells), sum(g.presence > 0.5 for g in self.glyphs))
        return 1.0 if size == 0 else max(0.0, 1.0 - self.cost / (8.0 * size))


class ColumnReader:
    """Reads columns of one page with one engine. `rows` is the number of cells a full column holds."""

    def __init__(self, layout: Layout, engine: Engine, likeness: Likeness, rows: int) -> None:
        self._layout = layout
        self._engine = engine
        self._likeness = likeness
        self._rows = rows

    def read(self, area: ColumnArea, line: Column | None) -> ReadColumn:
        """Read `area` as `line`; cut otherwise and look again where that does not go well."""
        best = self._attempt(area, line, Way.BEST)
        if line is None:
            return best
        if best.cost > TROUBLED and len(line.runs) > 1:
            for way in (Way.COUNTED, Way.SEEN):
                other = self._attempt(area, line, way)
                if other.cost < best.cost - BETTER:
                    best = other
        if best.cost > SETTLED:
            best = self._again(best)
        if best.cost > TROUBLED:
            best = self._other_way_round(best)
        return best

    def _attempt(self, area: ColumnArea, line: Column | None, way: Way) -> ReadColumn:
        glyphs = self._glyphs(area, line, way, 1.0)
        return self._aligned(area, line, glyphs, way)

    def _glyphs(self, area: ColumnArea, line: Column | None, way: Way, zoom: float) -> tuple[Glyph, ...]:
        strips = cut_strips(self._layout, area, line, self._rows, way, zoom)
        readings = self._engine.read([strip.pixels for strip in strips])
        return self._believed(area, strips, readings)

    def _believed(self, area: ColumnArea, strips: Sequence[Strip], readings: Sequence[Reading]) -> tuple[Glyph, ...]:
        pitch = (area.bottom - area.top) / self._rows
        return column_glyphs(self._layout, strips, readings, pitch, self._engine.character_of)

    def _aligned(
        self, area: ColumnArea, line: Column | None, glyphs: tuple[Glyph, ...], way: Way, swapped: bool = False
    ) -> ReadColumn:
        cells = tuple(cell for cell in line.cells if cell.glyph) if line else ()
        pairings, cost = align(cells, glyphs, self._likeness)
        return ReadColumn(area, line, cells, glyphs, tuple(pairings), cost, way, swapped)

    def _again(self, first: ReadColumn) -> ReadColumn:
        """A second look at the same strips, at another pitch; what is believed is the mean of both."""
        second = self._glyphs(first.area, first.line, first.way, SECOND_ZOOM)
        return self._aligned(first.area, first.line, merged(first.glyphs, second), first.way)

    def _other_way_round(self, column: ReadColumn) -> ReadColumn:
        """The column with the halves of its notes exchanged, if the transcription fits that far better."""
        order = _halves_exchanged(column.glyphs)
        if order is None:
            return column
        other = self._aligned(column.area, column.line, order, column.way, swapped=True)
        return other if other.cost < 0.4 * column.cost else column


def _halves_exchanged(glyphs: Sequence[Glyph]) -> tuple[Glyph, ...] | None:
    """The glyphs with every left half-row before its right one; None where there is no pair of half-rows."""
    strips: list[list[Glyph]] = []
    for glyph in glyphs:
        if strips and strips[-1][0].strip == glyph.strip:
            strips[-1].append(glyph)
        else:
            strips.append([glyph])
    order: list[list[Glyph]] = []
    exchanged = False
    for strip in strips:
        if order and strip[0].row is Row.LEFT and order[-1][0].row is Row.RIGHT:
            order.insert(len(order) - 1, strip)
            exchanged = True
        else:
            order.append(strip)
    return tuple(g for strip in order for g in strip) if exchanged else None
