"""The places in a line of the text for missing and surplus characters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from proof.model.flags import Kind
from proof.text.model import Cell, Row
from proof.verify.columns import ReadColumn
from proof.verify.glyphs import Glyph, room_between

MAX_SPARE_CELLS = 0.6
"""Cells by which the room between two glyphs may exceed that of the missing characters, if these are to fill a blank
that the text has there."""

PLACEHOLDERS = "□■○◯〓"
"""Signs that a transcriber writes for a character that could not be read or typed."""

QUESTION_MARKS = "？?"
"""Signs that are placeholders only in lines without other punctuation."""

PUNCTUATION = frozenset("，。、；：！,.;:!「」『』“”《》")

PRINTED = {"○": "○〇◯", "◯": "○〇◯", "□": "□口囗", "■": "■"}
"""For each sign the readings of a glyph that show that the page itself has the sign."""

_ROW_AFTER = {
    **dict.fromkeys(("(", "（", "【", "<small>"), Row.RIGHT),
    **dict.fromkeys(("/", "／"), Row.LEFT),
    **dict.fromkeys((")", "）", "】", "</small>"), Row.MAIN),
}
"""The row in which a column continues after a mark."""

_MARK_OR_CHARACTER = re.compile(r"<[^<>]*>|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a line's source text, in code points, and the suggested change."""

    offset: int
    length: int
    kind: Kind
    transcribed: str
    suggested: str


def with_row_marks(readings: Iterable[str], rows: Iterable[Row]) -> str:
    """The readings of consecutive glyphs in these rows, with the markup of notes around their half-rows."""
    text, before = "", Row.MAIN
    for reading, row in zip(readings, rows, strict=True):
        text += _markup_between(before, row) + reading
        before = row
    return text + _markup_between(before, Row.MAIN)


def _markup_between(row: Row, following: Row) -> str:
    """The markup between two characters in these rows."""
    if row is following:
        return ""
    if row is Row.RIGHT and following is Row.LEFT:
        return "/"
    return (")" if row is not Row.MAIN else "") + ("(" if following is not Row.MAIN else "")


def glyph_of(column: ReadColumn, cell: int) -> Glyph | None:
    """The glyph that a cell is paired with."""
    for pairing in column.pairings:
        if cell in pairing.cells and pairing.glyphs:
            return column.glyphs[pairing.glyphs[pairing.cells.index(cell)]]
    return None


def source_of(column: ReadColumn) -> str:
    """The source text of a column's line."""
    assert column.line is not None, "only columns with a line have flags"
    return column.line.source


def source_before(column: ReadColumn, cell: int) -> tuple[int, int]:
    """Start and end of the part of the source between the cell of that number and the cell before it."""
    assert column.line is not None, "only columns with a line have flags"
    start = column.cells[cell - 1].offset + column.cells[cell - 1].length if cell else column.line.begin
    return start, column.cells[cell].offset if cell < len(column.cells) else len(source_of(column))


def omission_place(column: ReadColumn, before: int, missing: Sequence[Glyph], suggested: str) -> Place:
    """The place of missing characters in the line: beside the neighbour in their own row. `missing` are their glyphs,
    of one row, `suggested` is their reading, `before` the number of the cell that follows them. Blanks that a
    transcriber left for them inside the line are replaced; between two lines of a column they are an indentation."""
    first, last = missing[0], missing[-1]
    source, (start, end) = source_of(column), source_before(column, before)
    above, below = glyph_of(column, before - 1), glyph_of(column, before)
    preceding = column.cells[before - 1] if before else None
    following = column.cells[before] if before < len(column.cells) else None
    if preceding is not None and following is not None and preceding.row == following.row:
        blank = source[start:end]
        distance = len(missing) + 1  # in cells, from the glyph above to that below
        is_blank = blank.isspace() and "\n" not in blank
        if is_blank and len(blank) <= distance and _is_filled(above, below, distance):
            return Place(start, len(blank), Kind.OMISSION, blank, suggested)
    is_after_preceding = above is not None and above.strip == first.strip
    if above is not None and is_after_preceding and below is not None and below.strip == last.strip:
        # blanks between the neighbours stay on the side where the paper is blank
        is_after_preceding = first.y - above.y <= below.y - last.y
    if preceding is not None and is_after_preceding:
        offset = start
    elif following is not None and following.row is last.row:
        offset = end
    else:
        row = preceding.row if preceding is not None else _row_at(source, start)
        offset = _last_in_row(source, start, end, row, first.row)
    return Place(offset, 0, Kind.OMISSION, "", suggested)


def _is_filled(above: Glyph | None, below: Glyph | None, distance: int) -> bool:
    """Whether `distance` cells fill the room between two glyphs, without a blank on the paper."""
    return above is not None and below is not None and room_between(above, below) < distance + MAX_SPARE_CELLS


def placeholders(column: ReadColumn, before: int, row: Row) -> list[Cell]:
    """The placeholders of the source in that row, between the cell of number `before` and the one before it. Where no
    mark of a note stands between the two, each placeholder may be in the row of either."""
    source, (start, end) = source_of(column), source_before(column, before)
    signs = PLACEHOLDERS if PUNCTUATION & set(source) else PLACEHOLDERS + QUESTION_MARKS
    marks = [*_MARK_OR_CHARACTER.finditer(source, start, end)]
    rows = {column.cells[before - 1].row if before else _row_at(source, start)}
    if not any(mark[0] in _ROW_AFTER for mark in marks):
        rows.update(cell.row for cell in column.cells[before : before + 1])
    found = []
    for mark in marks:
        rows = {_ROW_AFTER[mark[0]]} if mark[0] in _ROW_AFTER else rows
        if mark[0] in signs and row in rows:
            found.append(Cell(mark[0], mark.start(), 1, row))
    return found


def are_printed(signs: Sequence[Cell], readings: Sequence[str]) -> bool:
    """Whether the signs themselves are read on the image. They are then no placeholders."""
    return len(signs) == len(readings) and all(
        reading in PRINTED.get(sign.text, "") for sign, reading in zip(signs, readings, strict=True)
    )


def placeholder_place(column: ReadColumn, signs: Sequence[Cell], readings: Sequence[str]) -> Place:
    """The place of placeholders for which characters were read. If there are as many signs as characters, they are
    replaced one by one, and the source between them is kept."""
    first, last = signs[0].offset, signs[-1].offset + 1
    source = source_of(column)[first:last]
    suggested = "".join(readings)
    if len(signs) == len(readings):
        written = list(source)
        for sign, reading in zip(signs, readings, strict=True):
            written[sign.offset - first] = reading
        suggested = "".join(written)
    return Place(first, last - first, Kind.SUBSTITUTION, source, suggested)


def place_of_equal_neighbour(column: ReadColumn, before: int, glyph: Glyph) -> Place | None:
    """The place for a missing character (`glyph`) beside an equal one: the place of the equal one, to be replaced by
    both, since nobody can know which of the two is missing. None if there is no equal character beside it; `before` is
    the number of the cell that follows it."""
    for number in (before - 1, before):
        neighbour = glyph_of(column, number)
        if neighbour is None or neighbour.strip != glyph.strip:
            continue
        cell = column.cells[number]
        if cell.text == neighbour.best == glyph.best:
            written = source_of(column)[cell.offset : cell.offset + cell.length]
            return Place(cell.offset, cell.length, Kind.OMISSION, written, 2 * written)
    return None


def _row_at(source: str, end: int) -> Row:
    """The row in which the text continues at an offset."""
    marks = (_ROW_AFTER.get(mark[0]) for mark in _MARK_OR_CHARACTER.finditer(source, 0, end))
    return next((row for row in reversed([*marks]) if row is not None), Row.MAIN)


def _last_in_row(source: str, start: int, end: int, start_row: Row, sought: Row) -> int:
    """The last offset from `start` (which is in `start_row`) to `end` that is in the row `sought`; if there is none,
    the last one in the other half-row of a note, else `end`. It is in no mark."""
    in_row = in_other_half = None
    row, offset = start_row, start
    for mark in (*_MARK_OR_CHARACTER.findall(source, start, end), ""):
        if row is sought:
            in_row = offset
        elif row is not Row.MAIN and sought is not Row.MAIN:
            in_other_half = offset
        row, offset = _ROW_AFTER.get(mark, row), offset + len(mark)
    return next((offset for offset in (in_row, in_other_half) if offset is not None), end)
