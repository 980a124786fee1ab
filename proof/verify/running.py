"""Running text: the whole text of a page is aligned with all its glyphs, whatever its line breaks.

This serves transcriptions without the line breaks of the page, and pages that are not ruled columns. The alignment is
then divided by the lines of the transcription, since offsets in the source count within a line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from proof.layout.half_folio import ColumnArea
from proof.layout.runs import CutBy
from proof.text.model import Column
from proof.verify.align import Likeness, Pairing, align
from proof.verify.columns import ReadColumn
from proof.verify.glyphs import Glyph

MAX_LINE_COLUMNS = 1.35
"""Length of a line, in full columns (half-rows counted), above which it cannot be one column of the page."""


def is_running(lines: Sequence[Column], rows: int, inked: int) -> bool:
    """Whether the lines cannot be the columns of the page, since one is too long. `rows` is the number of cells of a
    column, `inked` the number of columns with ink."""
    written = [line for line in lines if line.cells]
    longest = max((line.height for line in written), default=0)
    return longest > MAX_LINE_COLUMNS * rows and len(written) < inked


def lay_out(
    lines: Sequence[Column], areas: Sequence[ColumnArea], glyphs: Sequence[Sequence[Glyph]], likeness: Likeness
) -> list[ReadColumn]:
    """Align the whole text of a page with the glyphs of all its columns; one ReadColumn for every line.

    `glyphs` are those of each column in reading order, `areas` the columns. The area of a line is the column of its
    first glyph.
    """
    owner: list[int] = []
    flat: list[Glyph] = []
    for number, column in enumerate(glyphs):
        flat += [replace(glyph, strip=glyph.strip + 1000 * number) for glyph in column]
        owner += [number] * len(column)
    cells = [cell for line in lines for cell in line.cells if cell.glyph]
    pairings, cost = align(cells, flat, likeness)
    columns: list[ReadColumn] = []
    first_cell = first_glyph = done = 0
    for number, line in enumerate(lines):
        own = tuple(cell for cell in line.cells if cell.glyph)
        last = number == len(lines) - 1
        here: list[Pairing] = []
        while done < len(pairings) and (last or _belongs(pairings[done], first_cell + len(own))):
            here.append(pairings[done])
            done += 1
        used = [j for pairing in here for j in pairing.glyphs]
        count = len(used)
        moved = tuple(_shifted(pairing, first_cell, first_glyph) for pairing in here)
        area = areas[owner[first_glyph] if first_glyph < len(owner) else -1]
        share = cost * (len(own) / len(cells)) if cells else cost
        columns.append(
            ReadColumn(area, line, own, tuple(flat[first_glyph : first_glyph + count]), moved, share, CutBy.SEEN)
        )
        first_cell += len(own)
        first_glyph += count
    return columns


def _belongs(pairing: Pairing, end: int) -> bool:
    """Whether a pairing belongs to the line whose cells end before `end`; a swap across lines stays whole."""
    if pairing.cells:
        return pairing.cells[0] < end
    return pairing.before < end


def _shifted(pairing: Pairing, cells: int, glyphs: int) -> Pairing:
    return replace(
        pairing,
        cells=tuple(i - cells for i in pairing.cells),
        glyphs=tuple(j - glyphs for j in pairing.glyphs),
        before=pairing.before - cells,
    )
