"""A slice of a running edition on the columns of its page: which characters stand in which column.

The slice is laid on all glyphs of the page at once; then every column has its own line, with notes in their
half-rows and blanks where the column has none, and can be read like any column of a transcription. What is found
is told by the lines of the file again.
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
from proof.verify.columns import BETTER, TROUBLED, ColumnReader, ReadColumn
from proof.verify.glyphs import Glyph
from proof.verify.lines import Assignment, LineFault, LineTrouble

SLIP = 5
"""Characters of a note so short that it may be main text, cut wrongly."""


@dataclass(frozen=True, slots=True)
class _Standing:
    """A character of the slice: its line, itself, and its glyph, if it has one."""

    line: Column
    cell: Cell
    glyph: Glyph | None


def read_slice(
    slice_: Sequence[Column], areas: Sequence[ColumnArea], reader: ColumnReader, rows: int, likeness: Likeness
) -> tuple[list[ReadColumn], Assignment]:
    """The columns of a page, each read as what the slice has for it."""
    alone = [reader.read(area, None) for area in areas]
    laid = lines_of_columns(slice_, areas, alone, rows, likeness)
    columns = list(alone)
    for number, (area, line) in enumerate(zip(areas, laid.lines, strict=True)):
        if line is None:
            continue
        column = reader.read(area, line)
        other = without_slips(line) if column.cost > TROUBLED else None
        again = reader.read(area, other) if other is not None else column
        columns[number] = again if again.cost < column.cost - BETTER else column
    return columns, laid


def lines_of_columns(
    slice_: Sequence[Column], areas: Sequence[ColumnArea], alone: Sequence[ReadColumn], rows: int, likeness: Likeness
) -> Assignment:
    """For every column of the page the characters of the slice that stand in it, as its line.

    `slice_` are lines of the file with the characters on this page, `alone` the columns as read without help. A line
    is named by the line of the file in which it begins; its source reaches from there to its last character, over
    line ends where it must. A column between others for which the slice has nothing is missing from the text.
    """
    flat: list[Glyph] = []
    owner: list[int] = []
    for number, column in enumerate(alone):
        flat += [replace(glyph, strip=glyph.strip + 1000 * number) for glyph in column.glyphs]
        owner += [number] * len(column.glyphs)
    cells = [(line, cell) for line in slice_ for cell in line.cells if cell.glyph]
    # a running edition does not say which half-row a character stands in: there all are alike
    pairings, _ = align([cell for _, cell in cells], [replace(glyph, row=Row.MAIN) for glyph in flat], likeness)
    standing: dict[int, int] = {}
    for pairing in pairings:
        if pairing.step in (Step.MATCH, Step.SWAP):
            standing |= dict(zip(pairing.cells, pairing.glyphs, strict=True))
    held: list[list[_Standing]] = [[] for _ in areas]
    for number, (line, cell) in enumerate(cells):
        glyph = standing.get(number)
        at = owner[glyph] if glyph is not None else _beside(number, standing, flat, owner, areas)
        held[at].append(_Standing(line, cell, None if glyph is None else flat[glyph]))
    laid = tuple(_line(own, area, rows) if own else None for own, area in zip(held, areas, strict=True))
    return Assignment(laid, tuple(_missing(laid, alone)))


def _beside(
    number: int, standing: dict[int, int], flat: Sequence[Glyph], owner: Sequence[int], areas: Sequence[ColumnArea]
) -> int:
    """The column of a character without a glyph: where the one before it stands, if there is room below."""
    before = next((standing[at] for at in range(number - 1, max(number - 40, -1), -1) if at in standing), None)
    after = next((standing[at] for at in range(number + 1, number + 40) if at in standing), None)
    if before is None:
        return 0 if after is None else owner[after]
    if after is None or owner[after] == owner[before]:
        return owner[before]
    last = flat[before]
    return owner[before] if last.y + last.pitch < areas[owner[before]].bottom else owner[after]


def _line(own: Sequence[_Standing], area: ColumnArea, rows: int) -> Column:
    """A column's characters as its line: runs of main text and notes, by the rows in which the glyphs stand."""
    first, last = own[0], own[-1]
    end = last.line.start + last.cell.offset + last.cell.length
    source = _source([character.line for character in own], first.line, end)
    pitch = area.cell(rows)
    runs: list[Run] = []
    down = 0  # cells from the top of the column that are taken
    for note, group in groupby(_with_rows(own), key=lambda placed: placed[1] is not Row.MAIN):
        placed = list(group)
        if not note:
            here: list[Cell] = []
            for character, _ in placed:
                cell = _moved(character, first.line, Row.MAIN)
                if character.glyph is not None:
                    blanks = round((character.glyph.y - area.top) / pitch - 0.5) - down
                    here += [Cell("\u3000", cell.offset, 0, Row.MAIN)] * max(blanks, 0)
                    down += max(blanks, 0)
                here.append(cell)
                down += 1
            runs.append(Run(False, tuple(here)))
            continue
        for right, left in _notes(placed):
            begun = [character.glyph.y for character in (*right, *left) if character.glyph is not None]
            blanks = round((min(begun) - area.top) / pitch - 0.5) - down if begun else 0
            if blanks > 0:
                offset = right[0].cell.offset if right else left[0].cell.offset
                runs.append(Run(False, (Cell("\u3000", offset, 0, Row.MAIN),) * blanks))
                down += blanks
            run = Run(
                True,
                tuple(_moved(character, first.line, Row.RIGHT) for character in right),
                tuple(_moved(character, first.line, Row.LEFT) for character in left),
            )
            runs.append(run)
            down += max(len(right), len(left))
    return Column(first.line.number, source, first.line.start, first.line.file_line, tuple(runs))


def without_slips(line: Column) -> Column | None:
    """The line with its shortest notes in full width: a broad character is easily seen as two half-rows. None where
    it has none so short."""
    runs: list[Run] = []
    slips = 0
    for run in line.runs:
        slip = run.note and len(run.cells) <= SLIP
        slips += slip
        cells = tuple(replace(cell, row=Row.MAIN) for cell in run.cells) if slip else run.cells
        if runs and not runs[-1].note and (slip or not run.note):
            runs[-1] = Run(False, runs[-1].right + cells)
        else:
            runs.append(Run(False, cells) if slip else run)
    return replace(line, parsed=tuple(runs)) if slips else None


def _source(lines: Iterable[Column], first: Column, end: int) -> str:
    """The file from where the first line begins to code point `end`; what is no line of the page is blank."""
    source = ""
    for line in dict.fromkeys(lines):
        source = source.ljust(line.start - first.start, "\n") + line.source
    return source[: end - first.start]


def _moved(character: _Standing, first: Column, row: Row) -> Cell:
    return replace(character.cell, offset=character.cell.offset + character.line.start - first.start, row=row)


def _with_rows(own: Sequence[_Standing]) -> list[tuple[_Standing, Row]]:
    """Every character with its row; one without a glyph stands in the row of its neighbour."""
    known = [character.glyph.row if character.glyph is not None else None for character in own]
    placed: list[tuple[_Standing, Row]] = []
    for number, character in enumerate(own):
        row = known[number]
        if row is None and placed:
            row = placed[-1][1]
        if row is None:
            row = next((later for later in known[number:] if later is not None), Row.MAIN)
        placed.append((character, row))
    return placed


def _notes(placed: Sequence[tuple[_Standing, Row]]) -> Iterable[tuple[list[_Standing], list[_Standing]]]:
    """The notes of a stretch, each with its right and its left half: a new one begins where a right half follows
    a left one."""
    right: list[_Standing] = []
    left: list[_Standing] = []
    for character, row in placed:
        if row is Row.RIGHT and left:
            yield right, left
            right, left = [], []
        (right if row is Row.RIGHT else left).append(character)
    yield right, left


def _missing(laid: Sequence[Column | None], alone: Sequence[ReadColumn]) -> Iterable[LineTrouble]:
    """Columns with text between others, for which the slice has nothing."""
    with_text = [number for number, line in enumerate(laid) if line is not None]
    for number in range(with_text[0], with_text[-1]) if with_text else ():
        if laid[number] is None and len(alone[number].read) > 1:
            following = next(line for line in laid[number:] if line is not None)
            yield LineTrouble(LineFault.MISSING, following.number, number, alone[number].read)


def in_file(flags: Iterable[Flag], slice_: Sequence[Column]) -> list[Flag]:
    """The flags of a page by the lines of the file: a place behind the end of its line is one in a later line."""
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
    """Likewise the characters of a page."""
    renumbered = []
    for character in characters:
        line, offset = _at(slice_, character.line, character.offset)
        renumbered.append(character if line is None else replace(character, line=line.number, offset=offset))
    return sorted(renumbered, key=lambda character: (character.line, character.offset))


def columns_in_file(columns: Iterable[tuple[Column, Box]], slice_: Sequence[Column]) -> list[CheckedColumn]:
    """The boxes of a page's columns, each under every line of the file that stands in it."""
    checked = []
    for column, box in columns:
        numbers = dict.fromkeys(_at(slice_, column.number, cell.offset)[0] for cell in column.cells if cell.length)
        checked += [CheckedColumn(line.number, box, line.source) for line in numbers if line is not None]
    return checked


def _at(slice_: Sequence[Column], number: int, offset: int) -> tuple[Column | None, int]:
    """The line in which a place stands that is counted from the beginning of line `number`, and its offset there."""
    first = next((line for line in slice_ if line.number == number), None)
    if first is None or offset <= len(first.source):
        return first, offset
    place = first.start + offset
    line = max((line for line in slice_ if line.start <= place), key=lambda line: line.start)
    return line, min(place - line.start, len(line.source))
