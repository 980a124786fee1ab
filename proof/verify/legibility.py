"""How much of a glyph an image shows, and what evidence weighs where that is little.

By 55,000 characters with their right text on 250 drawn pages without rules, scaled to cells of 16 to 32 pixels and
packed as JPEG, main text and notes apart: of what the recogniser surely reads where it is drawn, 16 in 1,000 are read
in shares where a glyph shows what 12 to 14 pixels of height hold, 5 from 14 to 16, 2 from 16 to 18, and less than 1
from 20 on. Taken for others are then, all flags together, 40 in 1,000 from 8 to 10, 10 from 10 to 14, 4 from 14 to 16,
2 from 16 to 18, and 1 from 24 on: per pixel some 0.25 nats more.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from proof.model.flags import Flag
from proof.text.model import Column, Row
from proof.verify.scores import between

COARSEST = 10
"""Pixels: the least detail that a cell must show to be read, as one 13 pixels high does (`scripts/bench/coarse.py`)."""

SHARES = (16.0, 20.0)
"""Pixels of detail up to which what is read in shares tells nothing, and from which on it tells all that it can."""

CLEAR, LOST = 20.0, 0.25
"""Pixels of detail from which on a glyph shows what it is, and nats that every pixel less takes off what it says."""


@dataclass(frozen=True, slots=True)
class Legibility:
    """How much the glyphs of a page show (`proof.images.detail`), in pixels: those of its `main` text, and those of its
    notes, which are half as wide."""

    main: float = inf
    note: float = inf

    def reads(self, row: Row) -> bool:
        """Whether the characters of a row are large enough to be read at all."""
        return self._detail(row) >= COARSEST

    def _detail(self, row: Row) -> float:
        return self.main if row is Row.MAIN else self.note

    def shares(self, row: Row) -> float:
        """How far what is read in shares in a row tells anything, 0 to 1."""
        return between(self._detail(row), *SHARES)

    def lost(self, row: Row) -> float:
        """What is taken off, in nats, of what a glyph of a row says against the text."""
        return LOST * max(CLEAR - self._detail(row), 0.0)


def in_notes(flag: Flag, line: Column) -> bool:
    """Whether a flag is about a character of a note, or about one that is missing in a note."""
    notes = [[cell.offset for cell in run.cells] for run in line.runs if run.note and run.cells]
    return any(min(places) <= flag.offset <= max(places) + 1 for places in notes)


CLEARLY = Legibility()
"""Of a page on which every glyph shows what it is."""
