"""Texts without page breaks, and pages without line breaks: which characters stand in which column of the image.

The slice is aligned with all glyphs of the page at once. Each column then gets its own line, with notes in half-rows
and blanks, and is read like any column of a transcription. Results are mapped back to the lines of the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from proof.layout.half_folio import ColumnArea
from proof.model.flags import Flag, Kind
from proof.model.geometry import Box
from proof.model.result import CheckedCharacter, CheckedColumn
from proof.text.contexts import context_of
from proof.text.model import Cell, Column, Row, Run, is_han
from proof.verify.align import PAGE_BAND_CELLS, Likeness, Step, align
from proof.verify.columns import ColumnReader, ReadColumn, runs_by_row
from proof.verify.glyphs import Glyph
from proof.verify.line_assignment import Assignment, LineFault, LineTrouble
from proof.verify.places import PLACEHOLDERS
from proof.verify.running_text import in_one_row

NEIGHBOUR_CHARACTERS = 40
"""Characters on either side of one without a glyph among which the nearest one with a glyph is sought."""


@dataclass(frozen=True, slots=True)
class _PlacedCharacter:
    """A character of the slice with its line, and its glyph if it has one."""

    line: Column
    cell: Cell
    glyph: Glyph | None

    @property
    def end(self) -> int:
        """The code point of the file behind it."""
        return self.line.start + self.cell.offset + self.cell.length


def read_slice(
    slice_: Sequence[Column],
    areas: Sequence[ColumnArea],
    reader: ColumnReader,
    rows: int,
    likeness: Likeness,
    *,
    bounded: bool = False,
    joined: tuple[bool, bool] = (False, False),
) -> tuple[list[ReadColumn], Assignment]:
    """The columns of a page, each read as the part of the slice that stands in it, and the assignment. `bounded`: the
    text has marks where the page begins and ends, so that the first and last columns belong to it, too. So they do if
    the slice is `joined` to the text of the neighbouring images, before it and behind it (`Page.joined`)."""
    alone = [reader.read(area, None) for area in areas]
    assignment = lines_of_columns(slice_, areas, alone, rows, likeness, bounded=bounded, joined=joined)
    columns = [
        column if line is None else reader.read(area, line)
        for column, area, line in zip(alone, areas, assignment.lines, strict=True)
    ]
    return columns, assignment


def lines_of_columns(
    slice_: Sequence[Column],
    areas: Sequence[ColumnArea],
    alone: Sequence[ReadColumn],
    rows: int,
    likeness: Likeness,
    *,
    bounded: bool = False,
    joined: tuple[bool, bool] = (False, False),
) -> Assignment:
    """For every column of the page the characters of the slice that stand in it, as its line.

    `slice_` are lines of the file with the characters on this page, `alone` the columns as read without a text. A line
    gets the number of the line of the file in which it begins; its source reaches to its last character, across line
    ends if need be. A column without any characters gets an empty line within a line of the file, or at an end of the
    slice where this is `joined` to the next; between two lines, or where the slice is `bounded` at its ends, it is
    reported as missing from the text.
    """
    flat, column_of = in_one_row([column.glyphs for column in alone])
    cells = [(line, cell) for line in slice_ for cell in line.cells if cell.glyph]
    # a running edition does not say in which half-row a character stands: align without rows
    in_main_row = [replace(glyph, row=Row.MAIN) for glyph in flat]
    pairings, _ = align([cell for _, cell in cells], in_main_row, likeness, band=PAGE_BAND_CELLS)
    glyph_of: dict[int, int] = {}
    for pairing in pairings:
        if pairing.step in (Step.MATCH, Step.SWAP):
            glyph_of |= dict(zip(pairing.cells, pairing.glyphs, strict=True))
    in_column: list[list[_PlacedCharacter]] = [[] for _ in areas]
    for number, (line, cell) in enumerate(cells):
        glyph = glyph_of.get(number)
        column = column_of[glyph] if glyph is not None else _beside(number, cells, glyph_of, flat, column_of, areas)
        in_column[column].append(_PlacedCharacter(line, cell, None if glyph is None else flat[glyph]))
    noted = any(run.is_note for line in slice_ for run in line.runs) or all(glyph.row is Row.MAIN for glyph in flat)
    lines = tuple(
        _line(placed, area, rows, _end_of(in_column[:number]), has_runs=bounded and noted)
        if placed
        else _empty_line(in_column[:number], in_column[number + 1 :], joined)
        for number, (placed, area) in enumerate(zip(in_column, areas, strict=True))
    )
    missing = _missing(lines, alone, len(slice_) + 1, bounded=bounded)
    return Assignment(lines, tuple(missing), parts=True)


def _empty_line(
    before: Sequence[Sequence[_PlacedCharacter]],
    after: Sequence[Sequence[_PlacedCharacter]],
    joined: tuple[bool, bool],
) -> Column | None:
    """The line of a column without characters, between the characters of the columns before and after it: empty, at its
    place in their line of the file; None where these are two lines. At the ends of a slice it is None, too, unless
    these are `joined`."""
    last = next((placed[-1] for placed in reversed(before) if placed), None)
    first = next((placed[0] for placed in after if placed), None)
    if last is None and first is not None and joined[0]:
        return _empty_part(first.line, first.cell.offset)
    if last is None or (first is None and not joined[1]):
        return None
    if first is not None and last.line.number != first.line.number:
        return None
    return _empty_part(last.line, last.cell.offset + last.cell.length)


def _empty_part(line: Column, offset: int) -> Column:
    """The line of a column that has nothing of a line of the file, at an offset in this."""
    return replace(line, source=line.source[:offset], parsed=(), begin=offset)


def _beside(
    number: int,
    cells: Sequence[tuple[Column, Cell]],
    glyph_of: dict[int, int],
    flat: Sequence[Glyph],
    column_of: Sequence[int],
    areas: Sequence[ColumnArea],
) -> int:
    """The column of the character of that number, which has no glyph: that of the neighbour from which no blank and no
    end of a note parts it in the text; else that of the character before it, if there is room below that. `glyph_of`
    gives the numbers of the glyphs of other characters."""
    near = range(number - 1, max(number - NEIGHBOUR_CHARACTERS, -1), -1)
    before = next((at for at in near if at in glyph_of), None)
    after = next((at for at in range(number + 1, number + NEIGHBOUR_CHARACTERS) if at in glyph_of), None)
    if before is None:
        return 0 if after is None else column_of[glyph_of[after]]
    above = column_of[glyph_of[before]]
    if after is None or column_of[glyph_of[after]] == above:
        return above
    below = column_of[glyph_of[after]]
    parted = [
        any(map(_is_parted, cells[first:end], cells[first + 1 : end + 1]))
        for first, end in ((before, number), (number, after))
    ]
    if parted[0] != parted[1]:
        return below if parted[0] else above
    last = flat[glyph_of[before]]
    return above if last.y + last.pitch < areas[above].bottom else below


def _is_parted(before: tuple[Column, Cell], after: tuple[Column, Cell]) -> bool:
    """Whether blanks, the mark of a note or the end of a line stand between two characters that follow each other."""
    (line, first), (other, second) = before, after
    between = line.source[first.offset + first.length : second.offset]
    return line.number != other.number or bool(between.strip("/／"))


def _line(
    characters: Sequence[_PlacedCharacter], area: ColumnArea, rows: int, reached: int, *, has_runs: bool
) -> Column:
    """The line of a column, from its characters: with the runs of the text where this has the notes and blanks of the
    page (`has_runs`) and the column has all of each note. Any other has runs of main text and notes by the rows of the
    glyphs. `reached` is the code point of the file behind the columns before it."""
    first, last = characters[0], characters[-1]
    behind = last.line.source[last.end - last.line.start :]
    signs = len(behind) - len(behind.lstrip(PLACEHOLDERS))  # of characters that may be in this column or in the next
    source = _source([character.line for character in characters], first.line, last.end + signs)
    runs = _runs_of_text(characters, reached) if has_runs else []
    runs = runs or _runs_of_glyphs(characters, area.cell(rows), area.top)
    begin = max(reached - first.line.start, 0)
    if not reached and any(map(is_han, source[: first.cell.offset])):  # the text of the image before
        begin = first.cell.offset
    return Column(first.line.number, source, first.line.start, first.line.file_line, tuple(runs), begin)


def _end_of(columns: Sequence[Sequence[_PlacedCharacter]]) -> int:
    """The code point of the file behind the last character of some columns; 0 where they have none."""
    return next((placed[-1].end for placed in reversed(columns) if placed), 0)


def _runs_of_text(characters: Sequence[_PlacedCharacter], reached: int) -> list[Run]:
    """The runs of a column as the text has them, with the blanks since the code point `reached`; none where a note goes
    over an end of the column."""
    here = {(character.line.number, character.cell) for character in characters}
    runs = []
    for line in dict.fromkeys(character.line for character in characters):
        moved = line.start - characters[0].line.start

        def of_column(cells: Sequence[Cell], line: Column = line, moved: int = moved) -> tuple[Cell, ...]:
            kept = [
                cell
                for cell in cells
                if (line.number, cell) in here
                or (not cell.glyph and reached <= line.start + cell.offset < characters[-1].end)
            ]
            return tuple(_moved(cell, moved) for cell in kept)

        for run in line.runs:
            own = Run(run.is_note, of_column(run.right), of_column(run.left))
            glyphs = sum(cell.glyph for cell in own.cells)
            if run.is_note and 0 < glyphs < sum(cell.glyph for cell in run.cells):
                return []
            runs += [own] if glyphs or (own.cells and not run.is_note) else []
    return runs


def _runs_of_glyphs(characters: Sequence[_PlacedCharacter], pitch: float, top: float) -> list[Run]:
    """The runs of a column by the rows of its glyphs, with blanks where these stand lower; `pitch` is the height of a
    cell, `top` that of the column, in pixels."""
    first = characters[0]
    cells = [_moved(character.cell, character.line.start - first.line.start) for character in characters]
    glyph_of = {
        cell.offset: character.glyph for cell, character in zip(cells, characters, strict=True) if character.glyph
    }
    row_of_cell = {offset: glyph.row for offset, glyph in glyph_of.items()}
    # the first characters have the row of the first glyph
    row_of_cell.setdefault(cells[0].offset, next(iter(row_of_cell.values()), Row.MAIN))
    runs: list[Run] = []
    down = 0  # cells from the top of the column that are taken

    def blanks_before(*cells: Cell) -> tuple[Cell, ...]:
        """The blanks above the highest glyph of some cells."""
        ys = [glyph_of[cell.offset].y for cell in cells if cell.offset in glyph_of]
        number = round((min(ys) - top) / pitch - 0.5) - down if ys else 0
        return (Cell("\u3000", cells[0].offset, 0, Row.MAIN),) * number

    for run in runs_by_row(cells, row_of_cell):
        if run.is_note:
            blanks = blanks_before(*run.cells)
            runs += [Run(False, blanks), run] if blanks else [run]
            down += len(blanks) + run.height
            continue
        main: list[Cell] = []
        for cell in run.cells:
            placed = (*blanks_before(cell), cell)
            main += placed
            down += len(placed)
        runs.append(Run(False, tuple(main)))
    return runs


def _source(lines: Iterable[Column], first: Column, end: int) -> str:
    """The text of the file from the start of the first line to code point `end`; text of other pages is left blank."""
    source = ""
    for line in dict.fromkeys(lines):
        source = source.ljust(line.start - first.start, "\n") + line.source
    return source[: end - first.start]


def _moved(cell: Cell, distance: int) -> Cell:
    return replace(cell, offset=cell.offset + distance)


def _missing(
    lines: Sequence[Column | None], alone: Sequence[ReadColumn], end: int, *, bounded: bool
) -> Iterable[LineTrouble]:
    """A trouble for each column that shows text but has no characters of the slice; where this is not `bounded`, only
    between others. `end` is the number of a line behind the last one."""
    with_text = [number for number, line in enumerate(lines) if line is not None]
    between = range(with_text[0], with_text[-1]) if with_text else range(0)
    for number in range(len(lines)) if bounded else between:
        if lines[number] is None and alone[number].shows_text:
            following = next((line.number for line in lines[number:] if line is not None), end)
            yield LineTrouble(LineFault.MISSING, following, number, alone[number].read)


def in_file(flags: Iterable[Flag], slice_: Sequence[Column]) -> list[Flag]:
    """The flags of a page with line and offset in the file: an offset beyond the end of its line is in a later line."""
    renumbered = []
    for flag in flags:
        line, offset = _at(slice_, flag.line, flag.offset)
        if flag.kind is Kind.LAYOUT or line is None:
            renumbered.append(flag)
            continue
        context = context_of(line.source, offset, flag.length)
        renumbered.append(replace(flag, line=line.number, offset=offset, context=context))
    return sorted(renumbered, key=lambda flag: (flag.line, flag.offset))


def characters_in_file(characters: Iterable[CheckedCharacter], slice_: Sequence[Column]) -> list[CheckedCharacter]:
    """The characters of a page with line and offset in the file."""
    renumbered = []
    for character in characters:
        line, offset = _at(slice_, character.line, character.offset)
        renumbered.append(character if line is None else replace(character, line=line.number, offset=offset))
    return sorted(renumbered, key=lambda character: (character.line, character.offset))


def columns_in_file(columns: Iterable[tuple[Column, Box]], slice_: Sequence[Column]) -> list[CheckedColumn]:
    """The columns of a page by lines of the file, one entry for every line that has characters in a column, or lacks
    all of it."""
    checked = []
    for column, box in columns:
        offsets = [cell.offset for cell in column.cells if cell.length] or [len(column.source)]
        numbers = dict.fromkeys(_at(slice_, column.number, offset)[0] for offset in offsets)
        checked += [CheckedColumn(line.number, box, line.source) for line in numbers if line is not None]
    return checked


def _at(slice_: Sequence[Column], number: int, offset: int) -> tuple[Column | None, int]:
    """The line and the offset in it of a place that is `offset` code points after the start of line `number`."""
    first = next((line for line in slice_ if line.number == number), None)
    if first is None or offset <= len(first.source):
        return first, offset
    place = first.start + offset
    line = max((line for line in slice_ if line.start <= place), key=lambda line: line.start)
    return line, min(place - line.start, len(line.source))
