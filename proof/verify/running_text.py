"""Running text: the whole text of a page is aligned with all of its glyphs, regardless of line breaks.

This is for pages without known columns, of which a page pipeline read the lines. The alignment is then divided by the
lines of the transcription, since offsets in the source count within a line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from proof.layout.half_folio import ColumnArea
from proof.layout.runs import CutBy, height_with_low_notes
from proof.text.model import Column
from proof.verify.align import PAGE_BAND_CELLS, Likeness, Pairing, align
from proof.verify.columns import ReadColumn
from proof.verify.glyphs import Glyph
from proof.verify.line_assignment import MAX_JOINED_SHARE

STRIP_NUMBERS_PER_COLUMN = 1000
"""Range of strip numbers reserved for each column, when those of a page are numbered through. No column has as many
strips."""

MAX_LINE_COLUMNS = 1.35
"""Maximum height of a line that is one column of the page, in full columns."""


def is_running(lines: Sequence[Column], rows: int, inked: int) -> bool:
    """Whether the lines cannot be the columns of the page: a line is too long, even if the rows of its notes are low,
    and there are fewer lines than columns with ink (`inked`). `rows` is the number of cells of a column."""
    with_cells = [line for line in lines if line.cells]
    return bool(_long_lines(with_cells, rows)) and len(with_cells) < inked


def are_mostly_columns(lines: Sequence[Column], rows: int) -> bool:
    """Whether most lines can each be a column of the page, though some are too long."""
    with_cells = [line for line in lines if line.cells]
    return len(_long_lines(with_cells, rows)) <= MAX_JOINED_SHARE * len(with_cells)


def _long_lines(lines: Sequence[Column], rows: int) -> list[Column]:
    """The lines that are too long for a column."""
    return [line for line in lines if height_with_low_notes(line) > MAX_LINE_COLUMNS * rows]


def lay_out(
    lines: Sequence[Column], areas: Sequence[ColumnArea], glyphs: Sequence[Sequence[Glyph]], likeness: Likeness
) -> list[ReadColumn]:
    """Align the whole text of a page with the glyphs of all its columns. Gives one ReadColumn for every line.

    `glyphs` are those of each column in reading order, `areas` the columns. The area of a line is the column of its
    first glyph.
    """
    flat, column_of = in_one_row(glyphs)
    cells = [cell for line in lines for cell in line.cells if cell.glyph]
    pairings, _ = align(cells, flat, likeness, band=PAGE_BAND_CELLS)
    columns: list[ReadColumn] = []
    first_cell = first_glyph = next_pairing = 0
    for number, line in enumerate(lines):
        of_line = tuple(cell for cell in line.cells if cell.glyph)
        is_last = number == len(lines) - 1
        line_pairings: list[Pairing] = []
        end_cell = first_cell + len(of_line)
        while next_pairing < len(pairings) and (is_last or _is_in_line(pairings[next_pairing], end_cell)):
            line_pairings.append(pairings[next_pairing])
            next_pairing += 1
        end_glyph = first_glyph + sum(len(pairing.glyphs) for pairing in line_pairings)
        renumbered = tuple(_renumbered(pairing, first_cell, first_glyph) for pairing in line_pairings)
        area = areas[column_of[first_glyph] if first_glyph < len(flat) else -1]
        line_glyphs = tuple(flat[first_glyph:end_glyph])
        columns.append(ReadColumn(area, line, of_line, line_glyphs, renumbered, 0.0, CutBy.SEEN))
        first_cell, first_glyph = end_cell, end_glyph
    return columns


def in_one_row(columns: Sequence[Sequence[Glyph]]) -> tuple[list[Glyph], list[int]]:
    """The glyphs of all columns one after the other, their strips numbered through, and the index of each glyph's
    column."""
    glyphs = [
        replace(glyph, strip=glyph.strip + STRIP_NUMBERS_PER_COLUMN * number)
        for number, column in enumerate(columns)
        for glyph in column
    ]
    return glyphs, [number for number, column in enumerate(columns) for _ in column]


def _is_in_line(pairing: Pairing, end_cell: int) -> bool:
    """Whether a pairing belongs to the line whose cells end before `end_cell`. A swap across two lines belongs to the
    first."""
    return (pairing.cells[0] if pairing.cells else pairing.before) < end_cell


def _renumbered(pairing: Pairing, first_cell: int, first_glyph: int) -> Pairing:
    """A pairing with its cells and glyphs numbered from those of its line."""
    return replace(
        pairing,
        cells=tuple(cell - first_cell for cell in pairing.cells),
        glyphs=tuple(glyph - first_glyph for glyph in pairing.glyphs),
        before=pairing.before - first_cell,
    )
