"""The running text of a transcription in its layers: the classic (經), its commentary (注), the subcommentary (疏),
glosses on sounds (釋文) and remarks of editors (案).

A *stretch* is a slice of the file without markup: the character at `source[i]` is at `start + i` in the file. Markup
is between the stretches. Nothing is normalised.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from proof.text.column import parse_column
from proof.text.model import HAN, is_han

COMPONENTS = frozenset("扌氵亻犭忄纟钅饣礻衤艹讠")
"""Components that are no words. Before another character they are half of a character that an old encoding lacked
(扌奎)."""

LACUNAE = frozenset("□■〓")
"""Signs for a character that could not be read or typed."""

_HAN_ALONE = re.compile(f"{HAN}*")


class Layer(StrEnum):
    """The layer of a stretch of text, in the terms of the field."""

    CANON = "經"
    COMMENTARY = "注"
    SUBCOMMENTARY = "疏"
    GLOSS = "釋文"
    EDITOR = "案"
    UNDIVIDED = "經注"
    """Classic and commentary together, without a mark between them."""
    LEMMA = "起止"
    """The first and last words of the passage that a subcommentary explains."""
    HEADING = "題"
    APPARATUS = "校"
    """The footnotes of a critical edition."""


NOTES = frozenset({Layer.COMMENTARY, Layer.SUBCOMMENTARY, Layer.GLOSS, Layer.EDITOR, Layer.LEMMA})
"""The layers of commentary."""

SET_SMALL = NOTES - {Layer.LEMMA}
"""Layers that are set as notes, in smaller characters than the text."""


class BlockKind(StrEnum):
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    COLUMN = "column"


@dataclass(frozen=True, slots=True)
class WitnessCell:
    """A character, entity or composition of a stretch: its text and its place in the file, in code points."""

    text: str
    start: int
    length: int

    @property
    def end(self) -> int:
        return self.start + self.length

    @property
    def han(self) -> bool:
        return is_han(self.text)


@dataclass(frozen=True, slots=True)
class LayerStretch:
    """A slice of the file in one layer; `start` is the code point in the file where it begins."""

    layer: Layer
    start: int
    source: str

    @property
    def end(self) -> int:
        return self.start + len(self.source)

    @property
    def plain(self) -> bool:
        """Whether each of its code points is a Han character."""
        return _HAN_ALONE.fullmatch(self.source) is not None and COMPONENTS.isdisjoint(self.source)

    def cells(self, *, lacunae: bool = False) -> Iterator[WitnessCell]:
        """Its glyphs in reading order, without spaces and punctuation, with the signs of `LACUNAE` if asked for. A
        component (`COMPONENTS`) and the Han character after it are one cell."""
        if self.plain:
            yield from (WitnessCell(char, start, 1) for start, char in enumerate(self.source, self.start))
            return
        component: WitnessCell | None = None
        for column_cell in parse_column(self.source).cells:
            if not column_cell.glyph and not (lacunae and column_cell.text in LACUNAE):
                continue
            cell = WitnessCell(column_cell.text, self.start + column_cell.offset, column_cell.length)
            if component is not None and component.end == cell.start and cell.han:
                cell = WitnessCell(component.text + cell.text, component.start, component.length + cell.length)
            elif component is not None:
                yield component
            component = cell if cell.text in COMPONENTS else None
            if component is None:
                yield cell
        if component is not None:
            yield component


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A heading, a paragraph or a column. `start` and `end` are code points in the file: those of a line without its
    ending and pilcrow. `level` is the level of a heading, from 1, and 0 for other blocks; `anchor` is its id, if it has
    one. `page` and `number` are set only for columns.
    """

    kind: BlockKind
    start: int
    end: int
    file_line: int
    stretches: tuple[LayerStretch, ...]
    level: int = 0
    anchor: str = ""
    page: str = ""
    number: int = 0

    def moved(self, by: int) -> TextBlock:
        """The block moved by `by` code points."""
        stretches = tuple(LayerStretch(stretch.layer, stretch.start + by, stretch.source) for stretch in self.stretches)
        return replace(self, start=self.start + by, end=self.end + by, stretches=stretches)


def numbered_lines(text: str, begin: int = 0) -> Iterator[tuple[int, int, str]]:
    """The lines of a file from code point `begin`, the start of a line: the number of each, counted from 1, its first
    code point, and its text without its ending."""
    number, start = line_number(text, begin), begin
    for raw in text[begin:].split("\n"):
        yield number, start, raw.rstrip("\r")
        number, start = number + 1, start + len(raw) + 1


def line_number(text: str, at: int) -> int:
    """The number of the line of a code point, counted from 1."""
    return text.count("\n", 0, at) + 1
