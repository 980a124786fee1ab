"""Running text: the whole text of a page is aligned with all its glyphs, whatever its line breaks.

This serves pages of which no columns are known, only the lines that a page pipeline read. The alignment is then divided
by the lines of the transcription, since offsets in the source count within a line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from proof.layout.half_folio import ColumnArea
from proof.layout.runs import CutBy, height_with_low_notes
from proof.text.model import Column
from proof.verify.align import Likeness, Pairing, align
from proof.verify.columns import ReadColumn
from proof.verify.glyphs import Glyph

STRIP_NUMBERS_PER_COLUMN = 1000
"""Numbers of strips that are kept for each column, where all are numbered through; no column has as many."""

MAX_LINE_COLUMNS = 1.35
"""Height of a line, in full columns, above which it cannot be one column of the page."""


def is_running(lines: Sequence[Column], rows: int, inked: int) -> bool:
    """Whether the lines cannot be the columns of the page, since one is too long, however low the rows of its notes.
    `rows` is the number of cells of a column, `inked` the number of columns with ink."""
    written = [line for line in lines if line.cells]
    longest = max(map(height_with_low_notes, written), default=0.0)
    return longest > MAX_LINE_COLUMNS * rows and len(written) < inked


def lay_out(
    lines: Sequence[Column], areas: Sequence[ColumnArea], glyphs: Sequence[Sequence[Glyph]], likeness: Likeness
) -> list[ReadColumn]:
    """Align the whole text of a page with the glyphs of all its columns; one ReadColumn for every line.

    `glyphs` are those of each column in reading order, `areas` the columns. The area of a line is the column of its
    first glyph.
    """
    flat, column_of = in_one_row(glyphs)
    cells = [cell for line in lines for cell in line.cells if cell.glyph]
    pairings, cost = align(cells, flat, likeness)
    columns: list[ReadColumn] = []
    first_cell = first_glyph = next_pairing = 0
    for number, line in enumerate(lines):
        of_line = tuple(cell for cell in line.cells if cell.glyph)
        last = number == len(lines) - 1
        line_pairings: list[Pairing] = []
        end_cell = first_cell + len(of_line)
        while next_pairing < len(pairings) and (last or _belongs(pairings[next_pairing], end_cell)):
            line_pairings.append(pairings[next_pairing])
            next_pairing += 1
        glyphs_end = first_glyph + sum(len(pairing.glyphs) for pairing in line_pairings)
        moved = tuple(_shifted(pairing, first_cell, first_glyph) for pairing in line_pairings)
        area = areas[column_of[first_glyph] if first_glyph < len(flat) else -1]
        share = cost * (len(of_line) / len(cells)) if cells else cost
        columns.append(ReadColumn(area, line, of_line, tuple(flat[first_glyph:glyphs_end]), moved, share, CutBy.SEEN))
        first_cell, first_glyph = end_cell, glyphs_end
    return columns


def in_one_row(columns: Sequence[Sequence[Glyph]]) -> tuple[list[Glyph], list[int]]:
    """The glyphs of all columns, their strips numbered through, and for each glyph the index of its column."""
    glyphs = [
        replace(glyph, strip=glyph.strip + STRIP_NUMBERS_PER_COLUMN * number)
        for number, column in enumerate(columns)
        for glyph in column
    ]
    return glyphs, [number for number, column in enumerate(columns) for _ in column]


def _belongs(pairing: Pairing, end: int) -> bool:
    """Whether a pairing belongs to the line whose cells end before `end`; a swap across lines stays whole."""
    return (pairing.cells[0] if pairing.cells else pairing.before) < end


def _shifted(pairing: Pairing, cells: int, glyphs: int) -> Pairing:
    return replace(
        pairing,
        cells=tuple(i - cells for i in pairing.cells),
        glyphs=tuple(j - glyphs for j in pairing.glyphs),
        before=pairing.before - cells,
    )
