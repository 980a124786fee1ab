"""Running editions: which characters of a page's slice of the text stand in which column of the image.

The slice is aligned with all glyphs of the page at once. Each column then gets its own line, with notes in half-rows
and blanks, and is read like any column of a transcription. Results are mapped back to the lines of the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from proof.layout.half_folio import ColumnArea
from proof.model.flags import Flag, Kind, context_of
from proof.model.geometry import Box
from proof.model.result import CheckedCharacter, CheckedColumn
from proof.text.model import Cell, Column, Row, Run
from proof.verify.align import Likeness, Step, align
from proof.verify.columns import BAD_CUT_NATS, BETTER_NATS, ColumnReader, ReadColumn
from proof.verify.glyphs import Glyph
from proof.verify.line_assignment import Assignment, LineFault, LineTrouble
from proof.verify.running import in_one_row

MAX_SHORT_NOTE_CHARACTERS = 5
"""Characters, at most, of a note that may be main text cut wrongly."""

NEIGHBOUR_CHARACTERS = 40
"""Characters on either side of one without a glyph among which the nearest one with a glyph is sought."""


@dataclass(frozen=True, slots=True)
class _PlacedCharacter:
    """A character of the slice with its line, and its glyph if it has one."""

    line: Column
    cell: Cell
    glyph: Glyph | None


def read_slice(
    slice_: Sequence[Column], areas: Sequence[ColumnArea], reader: ColumnReader, rows: int, likeness: Likeness
) -> tuple[list[ReadColumn], Assignment]:
    """The columns of a page, each read as the part of the slice that stands in it, and the assignment."""
    alone = [reader.read(area, None) for area in areas]
    assignment = lines_of_columns(slice_, areas, alone, rows, likeness)
    columns = list(alone)
    for number, (area, line) in enumerate(zip(areas, assignment.lines, strict=True)):
        if line is None:
            continue
        column = reader.read(area, line)
        other = without_short_notes(line) if column.cost > BAD_CUT_NATS else None
        again = reader.read(area, other) if other is not None else column
        columns[number] = again if again.cost < column.cost - BETTER_NATS else column
    return columns, assignment


def lines_of_columns(
    slice_: Sequence[Column], areas: Sequence[ColumnArea], alone: Sequence[ReadColumn], rows: int, likeness: Likeness
) -> Assignment:
    """For every column of the page the characters of the slice that stand in it, as its line.

    `slice_` are lines of the file with the characters on this page, `alone` the columns as read without a text. A line
    gets the number of the line of the file in which it begins; its source reaches to its last character, across line
    ends if need be. A column between others without any characters is reported as missing from the text.
    """
    flat, column_of = in_one_row([column.glyphs for column in alone])
    cells = [(line, cell) for line in slice_ for cell in line.cells if cell.glyph]
    # a running edition does not say in which half-row a character stands: align without rows
    pairings, _ = align([cell for _, cell in cells], [replace(glyph, row=Row.MAIN) for glyph in flat], likeness)
    glyph_of: dict[int, int] = {}
    for pairing in pairings:
        if pairing.step in (Step.MATCH, Step.SWAP):
            glyph_of |= dict(zip(pairing.cells, pairing.glyphs, strict=True))
    in_column: list[list[_PlacedCharacter]] = [[] for _ in areas]
    for number, (line, cell) in enumerate(cells):
        glyph = glyph_of.get(number)
        column = column_of[glyph] if glyph is not None else _beside(number, glyph_of, flat, column_of, areas)
        in_column[column].append(_PlacedCharacter(line, cell, None if glyph is None else flat[glyph]))
    lines = tuple(_line(placed, area, rows) if placed else None for placed, area in zip(in_column, areas, strict=True))
    return Assignment(lines, tuple(_missing(lines, alone)))


def _beside(
    number: int, glyph_of: dict[int, int], flat: Sequence[Glyph], column_of: Sequence[int], areas: Sequence[ColumnArea]
) -> int:
    """The column of the character of that number, which has no glyph: that of the character before it, if there is room
    below that. `glyph_of` gives the numbers of the glyphs of other characters."""
    before = next((glyph_of[at] for at in range(number - 1, number - NEIGHBOUR_CHARACTERS, -1) if at in glyph_of), None)
    after = next((glyph_of[at] for at in range(number + 1, number + NEIGHBOUR_CHARACTERS) if at in glyph_of), None)
    if before is None:
        return 0 if after is None else column_of[after]
    if after is None or column_of[after] == column_of[before]:
        return column_of[before]
    last = flat[before]
    return column_of[before] if last.y + last.pitch < areas[column_of[before]].bottom else column_of[after]


def _line(characters: Sequence[_PlacedCharacter], area: ColumnArea, rows: int) -> Column:
    """The line of a column, from its characters: runs of main text and notes by the rows of the glyphs."""
    first, last = characters[0], characters[-1]
    end = last.line.start + last.cell.offset + last.cell.length
    source = _source([character.line for character in characters], first.line, end)
    pitch = area.cell(rows)
    runs: list[Run] = []
    down = 0  # cells from the top of the column that are taken
    for note, group in groupby(_with_rows(characters), key=lambda placed: placed[1] is not Row.MAIN):
        placed = list(group)
        if not note:
            main_cells: list[Cell] = []
            for character, _ in placed:
                cell = _moved(character, first.line, Row.MAIN)
                if character.glyph is not None:
                    blanks = round((character.glyph.y - area.top) / pitch - 0.5) - down
                    main_cells += [Cell("\u3000", cell.offset, 0, Row.MAIN)] * max(blanks, 0)
                    down += max(blanks, 0)
                main_cells.append(cell)
                down += 1
            runs.append(Run(False, tuple(main_cells)))
            continue
        for right, left in _notes(placed):
            begun = [character.glyph.y for character in (*right, *left) if character.glyph is not None]
            blanks = round((min(begun) - area.top) / pitch - 0.5) - down if begun else 0
            if blanks > 0:
                offset = right[0].cell.offset if right else left[0].cell.offset
                runs.append(Run(False, (Cell("\u3000", offset, 0, Row.MAIN),) * blanks))
                down += blanks
            right_cells = tuple(_moved(character, first.line, Row.RIGHT) for character in right)
            left_cells = tuple(_moved(character, first.line, Row.LEFT) for character in left)
            runs.append(Run(True, right_cells, left_cells))
            down += max(len(right), len(left))
    return Column(first.line.number, source, first.line.start, first.line.file_line, tuple(runs))


def without_short_notes(line: Column) -> Column | None:
    """The line with its short notes as main text, since a broad character is easily taken for two half-rows; None if it
    has no short notes."""
    runs: list[Run] = []
    short_notes = 0
    for run in line.runs:
        short = run.note and len(run.cells) <= MAX_SHORT_NOTE_CHARACTERS
        short_notes += short
        cells = tuple(replace(cell, row=Row.MAIN) for cell in run.cells) if short else run.cells
        if runs and not runs[-1].note and (short or not run.note):
            runs[-1] = Run(False, runs[-1].right + cells)
        else:
            runs.append(Run(False, cells) if short else run)
    return replace(line, parsed=tuple(runs)) if short_notes else None


def _source(lines: Iterable[Column], first: Column, end: int) -> str:
    """The text of the file from the start of the first line to code point `end`; text of other pages is left blank."""
    source = ""
    for line in dict.fromkeys(lines):
        source = source.ljust(line.start - first.start, "\n") + line.source
    return source[: end - first.start]


def _moved(character: _PlacedCharacter, first: Column, row: Row) -> Cell:
    return replace(character.cell, offset=character.cell.offset + character.line.start - first.start, row=row)


def _with_rows(characters: Sequence[_PlacedCharacter]) -> list[tuple[_PlacedCharacter, Row]]:
    """Every character with its row; one without a glyph gets the row of its neighbour."""
    known = [character.glyph.row if character.glyph is not None else None for character in characters]
    placed: list[tuple[_PlacedCharacter, Row]] = []
    for number, character in enumerate(characters):
        row = known[number]
        if row is None and placed:
            row = placed[-1][1]
        if row is None:
            row = next((later for later in known[number:] if later is not None), Row.MAIN)
        placed.append((character, row))
    return placed


def _notes(
    placed: Sequence[tuple[_PlacedCharacter, Row]],
) -> Iterable[tuple[list[_PlacedCharacter], list[_PlacedCharacter]]]:
    """The right and left halves of each note: a new note begins where a right half follows a left one."""
    right: list[_PlacedCharacter] = []
    left: list[_PlacedCharacter] = []
    for character, row in placed:
        if row is Row.RIGHT and left:
            yield right, left
            right, left = [], []
        (right if row is Row.RIGHT else left).append(character)
    yield right, left


def _missing(lines: Sequence[Column | None], alone: Sequence[ReadColumn]) -> Iterable[LineTrouble]:
    """A trouble for each column that shows text between others, but has no characters of the slice."""
    with_text = [number for number, line in enumerate(lines) if line is not None]
    for number in range(with_text[0], with_text[-1]) if with_text else ():
        if lines[number] is None and len(alone[number].read) > 1:
            following = next(line for line in lines[number:] if line is not None)
            yield LineTrouble(LineFault.MISSING, following.number, number, alone[number].read)


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
    """The columns of a page by lines of the file, one entry for every line that has characters in a column."""
    checked = []
    for column, box in columns:
        numbers = dict.fromkeys(_at(slice_, column.number, cell.offset)[0] for cell in column.cells if cell.length)
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
