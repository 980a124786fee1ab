"""One column of text on one column of the image: read, aligned, looked at again where they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from proof.align import Likeness, Pairing, Step, align
from proof.glyphs import Glyph, Window, column_glyphs, merged
from proof.images.layout import ColumnArea, Layout
from proof.images.strips import Strip, Way, cut_strips, window
from proof.ocr.engine import Engine
from proof.text.model import Cell, Column, Row

SUSPECT = 1.0
"""Nats by which a glyph must speak for another reading to be looked at again."""

TROUBLED = 12.0
"""Nats: an alignment that costs more may be due to where the runs of the column were cut."""

AROUND = 3.2
"""Cells on either side of a suspect that a second look takes in."""

SECOND_ZOOM = 1.45
"""How much longer the strips of a second look are: at another pitch the recogniser errs elsewhere."""

BETTER = 2.0
"""Nats by which another way of cutting must be better to be believed."""


@dataclass(frozen=True, slots=True)
class ReadColumn:
    """A column of the image with the line of the transcription that was laid on it.

    `line` is None where the transcription has nothing for this column. `cells` are the line's glyph cells
    (blank ones left out); `pairings` number them and `glyphs`. `cost` is the alignment's, in nats. `strips`
    are what was read.
    `swapped`: the halves of a note stand the other way round on the image.
    """

    area: ColumnArea
    line: Column | None
    cells: tuple[Cell, ...]
    glyphs: tuple[Glyph, ...]
    pairings: tuple[Pairing, ...]
    cost: float
    way: Way
    strips: tuple[Strip, ...] = ()
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
        best = self._again(best)
        if best.cost > TROUBLED:
            best = self._other_way_round(best)
        return best

    def _attempt(self, area: ColumnArea, line: Column | None, way: Way) -> ReadColumn:
        strips = cut_strips(self._layout, area, line, self._rows, way)
        glyphs = self._glyphs(area, strips, range(len(strips)))
        return self._aligned(ReadColumn(area, line, (), glyphs, (), 0.0, way, strips))

    def _glyphs(self, area: ColumnArea, strips: Sequence[Strip], numbers: Sequence[int]) -> tuple[Glyph, ...]:
        readings = self._engine.read([strip.pixels for strip in strips])
        pitch = (area.bottom - area.top) / self._rows
        return column_glyphs(self._layout, strips, readings, pitch, self._engine.character_of, numbers)

    def _aligned(self, column: ReadColumn) -> ReadColumn:
        cells = tuple(cell for cell in column.line.cells if cell.glyph) if column.line else ()
        pairings, cost = align(cells, column.glyphs, self._likeness)
        return replace(column, cells=cells, pairings=tuple(pairings), cost=cost)

    def _again(self, first: ReadColumn) -> ReadColumn:
        """A second look, at another pitch, around what does not agree; what is believed is the mean of both."""
        windows = self._windows(first)
        if not windows:
            return first
        pitch = (first.area.bottom - first.area.top) / self._rows
        strips = [window(first.strips[w.strip], w.top, w.bottom, pitch, SECOND_ZOOM) for w in windows]
        second = self._glyphs(first.area, strips, [w.strip for w in windows])
        return self._aligned(replace(first, glyphs=merged(first.glyphs, second, windows)))

    def _windows(self, column: ReadColumn) -> list[Window]:
        """Where a column should be looked at again: around its suspects, overlapping windows joined."""
        windows: list[Window] = []
        for glyph in sorted(self._suspects(column), key=lambda g: (g.strip, g.y)):
            reach = AROUND * glyph.pitch
            top, bottom = glyph.y - reach, glyph.y + reach
            if windows and windows[-1].strip == glyph.strip and top < windows[-1].bottom:
                windows[-1] = replace(windows[-1], bottom=bottom)
            else:
                windows.append(Window(glyph.strip, top, bottom))
        return windows

    def _suspects(self, column: ReadColumn) -> list[Glyph]:
        """Glyphs that do not agree with the line; for a cell without a glyph, the one beside it."""
        found: list[Glyph] = []
        glyphs = column.glyphs
        for number, pairing in enumerate(column.pairings):
            if pairing.step is Step.EXTRA_CELL:
                beside = [
                    p.glyphs[0]
                    for p in (*column.pairings[:number][-1:], *column.pairings[number + 1 :][:1])
                    if p.glyphs
                ]
                found += [glyphs[j] for j in beside[:1]]
            elif pairing.step is Step.MATCH:
                glyph = glyphs[pairing.glyphs[0]]
                if not glyph.silent and self._disagrees(column.cells[pairing.cells[0]], glyph):
                    found.append(glyph)
            else:
                found += [glyphs[j] for j in pairing.glyphs if glyphs[j].presence > 0.5]
        return found

    def _disagrees(self, cell: Cell, glyph: Glyph) -> bool:
        own = self._likeness(cell.text, glyph)
        return own is not None and glyph.log_prob(glyph.best) - own > SUSPECT

    def _other_way_round(self, column: ReadColumn) -> ReadColumn:
        """The column with the halves of its notes exchanged, if the transcription fits that far better."""
        order = _halves_exchanged(column.glyphs)
        if order is None:
            return column
        other = self._aligned(replace(column, glyphs=order, swapped=True))
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
