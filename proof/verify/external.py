"""Readings of other software, assigned to the columns of a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log

import numpy as np

from proof.layout.half_folio import ColumnArea, Outline
from proof.layout.runs import CutBy
from proof.model.geometry import Box
from proof.ocr.belief import FLOOR, MIN_PROBABILITY, Belief
from proof.ocr.engine import EngineIdentity, Pixels, ReadCharacter
from proof.ocr.external.folder import ExternalEngine
from proof.ocr.external.model import ExternalLine, ExternalPage
from proof.ocr.page import PageLine, PageReading, reading_order
from proof.ocr.readings import HalfFolioReadings
from proof.text.model import Column, Row
from proof.text.variants import VariantPolicy
from proof.verify.align import align
from proof.verify.columns import ColumnReader, ReadColumn
from proof.verify.glyphs import Glyph
from proof.verify.likeness import WordLikeness, text_likeness

# A line is a half-row of a note if its middle is far enough from that of the column, and if it does not reach far over
# the middle of the column.
MIN_OFF_MIDDLE = 0.1
"""Minimum distance of the two middles, as a share of the column's width."""

MAX_OVER_MIDDLE = 0.2
"""Maximum reach of the line over the middle of the column, as a share of the column's width."""

MIN_BESIDE_SHARE = 0.3
"""Overlap, as a share of the height of the shorter one, above which two half-rows are side by side."""

UNNAMED_SHARE = 0.1
"""Probability of a character that the file does not name, as a share of the probability that its readings leave open.
"""


class ExternalLikeness(WordLikeness):
    """The likeness for a file with probabilities: a form of the character read fits; a character that the file does not
    name gets a share of the probability that its readings leave open."""

    def __init__(self, policy: VariantPolicy, engine: ExternalEngine) -> None:
        super().__init__(policy, engine)
        self._text = text_likeness(policy)

    def __call__(self, character: str, glyph: Glyph) -> float | None:
        log_prob = self._text(character, glyph)
        if log_prob is None or log_prob > FLOOR:
            return log_prob
        unnamed = 1.0 - sum(float(np.exp(belief)) for belief in glyph.believed.values())
        return max(FLOOR, log(max(unnamed * UNNAMED_SHARE, 1e-9)))


@dataclass(frozen=True, slots=True)
class _Segment:
    """The characters of one line that stand in one column, on the rectified page."""

    row: Row
    box: Box
    characters: tuple[tuple[dict[str, float], Box], ...]


class ExternalColumns(ColumnReader):
    """Columns from a file: the image is not read, so there are no other cuts and no further readings."""

    def __init__(self, readings: HalfFolioReadings, likeness: WordLikeness, page: ExternalPage):
        super().__init__(readings, likeness)
        outline = readings.outline
        self._segments: dict[int, list[_Segment]] = {area.number: [] for area in outline.columns}
        for line in page.lines:
            for number, segment in _in_columns(outline, line):
                self._segments[number].append(segment)

    def read(self, area: ColumnArea, line: Column | None) -> ReadColumn:
        pitch = area.cell(self._rows)
        glyphs = tuple(
            Glyph(Belief(believed), 1.0, number, segment.row, box.x, box.y, box.right, box.bottom, box.centre[1], pitch)
            for number, segment in enumerate(_ordered(self._segments[area.number]))
            for believed, box in segment.characters
        )
        column = self._aligned(ReadColumn(area, line, (), glyphs, (), 0.0, CutBy.SEEN))
        if line is None or len({glyph.row for glyph in glyphs}) > 1:
            return self._with_exchanged_halves(column)
        return self._rows_unknown(column)

    def _rows_unknown(self, column: ReadColumn) -> ReadColumn:
        """Align a column that is given as one line: its glyphs get the rows of their cells in the transcription."""
        flat = [replace(cell, row=Row.MAIN) for cell in column.cells]
        pairings, cost = align(flat, [replace(glyph, row=Row.MAIN) for glyph in column.glyphs], self._likeness)
        glyphs = list(column.glyphs)
        for pairing in pairings:
            for i, j in zip(pairing.cells, pairing.glyphs, strict=False):
                glyphs[j] = replace(glyphs[j], row=column.cells[i].row)
        return replace(column, glyphs=tuple(glyphs), pairings=tuple(pairings), cost=cost)


class ExternalPages:
    """Gives the reading of a file in place of a page pipeline, for a page that is not ruled columns. `origin` is the
    place of the page in its image."""

    def __init__(self, page: ExternalPage, identity: EngineIdentity, origin: tuple[float, float]) -> None:
        self._page, self.identity, self._origin = page, identity, origin

    def read_page(self, page: Pixels) -> PageReading:
        height, width = page.shape
        x, y = self._origin
        whole = Box(x, y, width, height)
        lines = [line for line in self._page.lines if whole.contains(*line.box.centre)]
        outlines = []
        for line in lines:
            box = line.box
            left, top, right, bottom = box.x - x, box.y - y, box.right - x, box.bottom - y
            outlines.append(((left, top), (right, top), (right, bottom), (left, bottom)))
        read_lines = []
        for place in reading_order(page, outlines):
            line = lines[place.index]
            characters = tuple(_with_extents(line))
            sure = min((character.probability for character in characters), default=0.0)
            outline = outlines[place.index]
            read_lines.append(PageLine(characters, sure, outline, line.vertical, place.register, place.column))
        return PageReading(tuple(read_lines))


def _with_extents(line: ExternalLine) -> Sequence[ReadCharacter]:
    """The characters of a line, each with its start and end as shares of the line's length."""
    start, length = (line.box.y, line.box.h) if line.vertical else (line.box.x, line.box.w)
    characters = []
    for character in line.characters:
        box = character.box
        low, high = (box.y, box.bottom) if line.vertical else (box.x, box.right)
        characters.append(
            ReadCharacter(
                character.text,
                (low - start) / max(length, 1e-9),
                (high - start) / max(length, 1e-9),
                character.probability,
                ((character.text, character.probability), *character.alternatives),
            )
        )
    return characters


def _in_columns(outline: Outline, line: ExternalLine) -> list[tuple[int, _Segment]]:
    """The parts of a line, each with the number of its column. Characters that stand in no column are left out."""
    by_column: dict[int, list[tuple[dict[str, float], Box]]] = {}
    for character in line.characters:
        box = _on_page(outline, character.box)
        area = next((a for a in outline.columns if a.left <= box.centre[0] < a.right), None)
        pitch = area.cell(20) if area else 0.0
        if area is None or not area.top - area.raised - pitch <= box.centre[1] <= area.bottom + pitch:
            continue
        readings = {text: p for text, p in ((character.text, character.probability), *character.alternatives) if text}
        readings[character.text] = character.probability
        believed = {text: log(max(p, MIN_PROBABILITY)) for text, p in readings.items()}
        by_column.setdefault(area.number, []).append((believed, box))
    areas = {area.number: area for area in outline.columns}
    segments = []
    for number, characters in by_column.items():
        extent = Box.around(box for _, box in characters)
        segments.append((number, _Segment(_row(areas[number], extent), extent, tuple(characters))))
    return segments


def _row(area: ColumnArea, box: Box) -> Row:
    """The row of a column in which a line with this box stands."""
    off = box.centre[0] - (area.left + area.right) / 2
    over = box.w / 2 - abs(off)
    if abs(off) < MIN_OFF_MIDDLE * area.width or over > MAX_OVER_MIDDLE * area.width:
        return Row.MAIN
    return Row.RIGHT if off > 0 else Row.LEFT


def _ordered(segments: Sequence[_Segment]) -> list[_Segment]:
    """Segments in reading order: from top to bottom, and of two half-rows side by side the right one first."""
    groups: list[list[_Segment]] = []
    for segment in sorted(segments, key=lambda segment: segment.box.y):
        if groups and segment.row is not Row.MAIN and groups[-1][0].row is not Row.MAIN:
            overlap = max(other.box.bottom for other in groups[-1]) - segment.box.y
            if overlap > MIN_BESIDE_SHARE * min(segment.box.h, max(other.box.h for other in groups[-1])):
                groups[-1].append(segment)
                continue
        groups.append([segment])
    order = {Row.RIGHT: 0, Row.MAIN: 1, Row.LEFT: 2}
    return [segment for group in groups for segment in sorted(group, key=lambda s: (order[s.row], s.box.y))]


def _on_page(outline: Outline, box: Box) -> Box:
    """A box of the image on the rectified page."""
    corners = np.array([[box.x, box.y], [box.right, box.y], [box.right, box.bottom], [box.x, box.bottom]])
    places = outline.rectification.to_page(corners)
    (x0, y0), (x1, y1) = places.min(axis=0), places.max(axis=0)
    return Box(float(x0), float(y0), float(x1 - x0), float(y1 - y0))
