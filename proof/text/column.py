"""Parsing one line of a transcription into runs and cells.

`(right half-row/left half-row)` is a note; everything else is main text. Every space is a cell; an entity, a
composition (`[金*本]`), an ideographic description (`⿰金本`) and a character with a variation selector are one cell of
several code points. Markup has no cell: parentheses and slashes, tags (`<md:...>`), pilcrows, control and other
invisible characters.

Parsing never fails. Malformed markup is read in the most likely way, within its column, and reported as a problem.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from struct import Struct
from typing import NamedTuple

from proof.text.model import Cell, Column, Row, Run, is_han
from proof.text.remarks import Problem, RemarkCode

_INVISIBLE = "\x00-\x08\x0a-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_DESCRIPTION_CHARACTERS = "⿰-⿿㇯"
_MARKUP = rf"()（）/／&<\[¶{_INVISIBLE}{_SELECTORS}{_DESCRIPTION_CHARACTERS}"
SPECIAL = re.compile(rf"[{_MARKUP}]")
"""Every character that may be markup or begin a cell of several code points."""

_WELL_FORMED = re.compile(rf"(?:[^{_MARKUP}]++|[(（][^{_MARKUP}]*+(?:[/／][^{_MARKUP}]*+)?[)）])*+")
"""Most columns: main text and closed notes of at most two half-rows, without other markup."""

_WELL_FORMED_RUN = re.compile(r"(?P<main>[^()（）]++)|[(（](?P<right>[^/／)）]*+)[/／]?(?P<left>[^)）]*+)[)）]")
"""A run of such a column."""

_ENTITY_PATTERN = r"&(?:#x[0-9A-Fa-f]+|#[0-9]+|(?=[^;]{0,20}[0-9])[A-Z][A-Z0-9]*(?:[-+][A-Z0-9]+)*);"
ENTITY = re.compile(_ENTITY_PATTERN)
"""A character by its name (a family in capitals and a number: `&KR0058;`, `&CDP-8B7C;`) or by its code point."""

_FAMILIES = re.compile(r"&(?:KR|CB|CDP|GT|I-|MJ?|J|C|U\+|JX|HZK|DKW|#)[-0-9A-FxK]")
"""Prefixes of the entities of the Kanseki Repository, of CBETA and of CHISE."""

_LOOSE_ENTITY = re.compile(r"&[A-Za-z0-9#+_-]{0,20};?")
"""Anything that looks like an entity, for the remark on a malformed one."""

_PART = rf"(?:{_ENTITY_PATTERN}|[^\s\x21-\x7e（）／¶])"
"""A component of a composition."""

MAX_COMPOSITION_DEPTH = 3
"""Maximum depth of the parentheses in a composition; `[((木-(企-止)+皕)/大)*毛]` has depth two."""


def _composition() -> str:
    group = rf"(?:{_PART}|\?)"
    for _ in range(MAX_COMPOSITION_DEPTH):
        group = rf"(?:{_PART}|\?|\({group}(?:[*/@+-]{group})+\))"
    return rf"\[{group}(?:[*/@+-]{group})+\]"


COMPOSITION = re.compile(_composition())
"""A character by its components, joined by `*` (beside), `/` (above), `@` (around), `+` (with) and `-` (without); `?`
is an unknown component."""

MAX_CACHED_COLUMNS = 2048
"""Maximum number of columns whose runs are cached: those of the pages being processed and their neighbours."""

TAG = re.compile(r"<([a-z]+):[^<>]*>")

MAX_DESCRIPTION_CODE_POINTS = 32
"""Maximum number of code points of an ideographic description."""

_COMPONENT_COUNTS = {"⿲": 3, "⿳": 3, "⿾": 1, "⿿": 1}
"""The number of components that a description character takes, if it is not two."""

_MAX_QUOTED_CODE_POINTS = 8
"""Maximum number of code points of malformed markup that a problem quotes."""


@dataclass(frozen=True, slots=True)
class ParsedColumn:
    """The runs of one column, its problems (each kind once), and whether a note is left open at its end."""

    runs: tuple[Run, ...]
    problems: tuple[Problem, ...] = ()
    left_open: bool = False

    @property
    def cells(self) -> Iterator[Cell]:
        """The cells of all runs in reading order."""
        return (cell for run in self.runs for cell in run.cells)


def parse_column(source: str, continues: bool = False) -> ParsedColumn:
    """Parse a column's source text. `continues`: the column before left a note open. The offsets of cells are code
    points in `source`, in ascending order."""
    if SPECIAL.search(source) is None:
        runs = (Run(False, tuple(_cells(source, 0, Row.MAIN))),) if source else ()
        return ParsedColumn(runs, (), continues)
    return _Reader(source, continues).read()


def faults_of(source: str, continues: bool = False) -> tuple[tuple[Problem, ...], bool]:
    """The problems of a column, and whether a note is left open at its end. Columns without markup other than closed
    notes are not parsed."""
    if SPECIAL.search(source) is None:
        return (), continues
    if not continues and _WELL_FORMED.fullmatch(source) is not None:
        return (), False
    parsed = parse_column(source, continues)
    return parsed.problems, parsed.left_open


def is_character(reading: str) -> bool:
    """Whether a reading is one character of text, in any notation, and neither markup nor punctuation."""
    parsed = parse_column(reading)
    return [cell.text for cell in parsed.cells if cell.glyph] == [reading] and not parsed.problems


@lru_cache(MAX_CACHED_COLUMNS)
def runs_of(source: str) -> tuple[Run, ...]:
    """The runs of a column's source text."""
    return parse_column(source).runs


@lru_cache(MAX_CACHED_COLUMNS)
def continued_runs_of(source: str) -> tuple[Run, ...]:
    """The runs of a column's source text if the column before left a note open."""
    return parse_column(source, continues=True).runs


Bounds = tuple[int, int]
"""First code point and end (exclusive) in a column's source."""


class RunSpans(NamedTuple):
    """Whether a run is a note, and the spans of its text in the column's source, in reading order. A span has no
    markup, or is one cell of several code points."""

    is_note: bool
    spans: list[Bounds]


def run_spans(column: Column) -> list[RunSpans]:
    """The runs of a column. For speed, no cells are made of most columns."""
    source = column.source
    if column.parsed is runs_of and _WELL_FORMED.fullmatch(source) is not None:
        runs = [
            RunSpans(run["main"] is None, [run.span(part) for part in ("main", "right", "left") if run[part]])
            for run in _WELL_FORMED_RUN.finditer(source)
        ]
        return [run for run in runs if run.spans]
    return [
        RunSpans(run.is_note, [(cell.offset, cell.offset + cell.length) for cell in run.cells]) for run in column.runs
    ]


SPAN = Struct("<III?")
"""A column in the text of its file: its first code point, its length in code points, its line in the file, and whether
the column before left a note open."""


@dataclass(frozen=True, slots=True)
class ColumnSpans:
    """The columns of a page, parsed on demand from the `text` of their file; `spans` has a `SPAN` for each."""

    text: str = field(repr=False)
    spans: bytes

    def __call__(self) -> tuple[Column, ...]:
        """The columns."""
        return tuple(
            Column(number, self.text[start : start + length], start, line, continued_runs_of if continues else runs_of)
            for number, (start, length, line, continues) in enumerate(SPAN.iter_unpack(self.spans), 1)
        )


def _cells(text: str, offset: int, row: Row) -> list[Cell]:
    """The cells of `text`, which has no markup and begins at `offset` in its column."""
    return [Cell(char, at, 1, row) for at, char in enumerate(text, offset)]


def _moved(cells: Iterable[Cell], row: Row) -> list[Cell]:
    return [replace(cell, row=row) for cell in cells]


def _describes(char: str) -> bool:
    """Whether a character is an ideographic description character."""
    return "⿰" <= char <= "⿿" or char == "㇯"


def _is_component(char: str) -> bool:
    """Whether a character can be a component of a description: an ideograph, a radical, a stroke, a private one."""
    return is_han(char) or "⺀" <= char <= "⿟" or "㇀" <= char <= "㇣" or "\ue000" <= char <= "\uf8ff"


class _Reader:
    """Parses one column. `row` is the current row, `depth` the number of open parentheses, `opens` and `closes` the
    numbers of parentheses after the current place. `slash` is the number of cells of the main run before the last slash
    outside parentheses, None without such a slash."""

    def __init__(self, source: str, continues: bool) -> None:
        self.source = source
        self.runs: list[Run] = []
        self.problems: list[Problem] = []
        self.cells: dict[Row, list[Cell]] = {Row.MAIN: [], Row.RIGHT: [], Row.LEFT: []}
        self.row = Row.MAIN
        self.depth = 0
        self.slash: int | None = None
        self.continues = continues
        self.opens = source.count("(") + source.count("（")
        self.closes = source.count(")") + source.count("）")

    def read(self) -> ParsedColumn:
        position = 0
        while (special := SPECIAL.search(self.source, position)) is not None:
            if special.start() > position:
                self.cells[self.row] += _cells(self.source[position : special.start()], position, self.row)
            position = self.special(special.start())
        if position < len(self.source):
            self.cells[self.row] += _cells(self.source[position:], position, self.row)
        left_open = self.end()
        return ParsedColumn(tuple(self.runs), tuple(dict.fromkeys(self.problems)), left_open)

    def report(self, code: RemarkCode, what: str = "") -> None:
        self.problems.append(Problem(code, what))

    def special(self, at: int) -> int:
        """Handle the special character at `at`; return the index after it."""
        char = self.source[at]
        match char:
            case "(" | "（":
                self.open_note()
            case ")" | "）":
                self.close_note()
            case "/" | "／":
                self.divide()
            case "¶":
                self.report(RemarkCode.PILCROW_WITHIN)
            case "&" | "[" | "<":
                return self.named(at, char)
            case _ if _describes(char):
                return self.described(at)
            case _ if "\ufe00" <= char <= "\ufe0f" or char >= "\U000e0100":
                self.select_variant(at)
            case _:
                self.report(RemarkCode.INVISIBLE, f"U+{ord(char):04X}")
        return at + 1

    def open_note(self) -> None:
        self.opens -= 1
        self.continues, self.slash = False, None
        # The note is nested if the rest of the column closes all open parentheses; else the open note lacks its end.
        if self.depth and self.closes - self.opens >= self.depth + 1:
            self.depth += 1
            self.report(RemarkCode.NOTE_NESTED)
            return
        if self.depth:
            self.report(RemarkCode.NOTE_BEFORE_NEXT)
            self.end_unclosed_note()
        self.flush_main()
        self.depth, self.row = 1, Row.RIGHT

    def close_note(self) -> None:
        self.closes -= 1
        if self.depth > 1:
            self.depth -= 1
        elif self.depth == 1:
            self.flush_note()
        else:
            self.report(RemarkCode.NOTE_NOT_OPENED)
            self.recover_opening()
            self.continues = False

    def divide(self) -> None:
        if self.depth == 1 and self.row is Row.RIGHT:
            self.row = Row.LEFT
        elif self.depth:
            self.report(RemarkCode.SLASH_AGAIN)
        else:
            self.report(RemarkCode.SLASH_OUTSIDE)
            self.slash = len(self.cells[Row.MAIN])

    def named(self, at: int, char: str) -> int:
        """Handle an entity, a composition or a tag. A character that begins none of these is an ordinary one."""
        pattern = {"&": ENTITY, "[": COMPOSITION, "<": TAG}[char]
        match = pattern.match(self.source, at)
        if match is None:
            if char == "&":
                loose = _LOOSE_ENTITY.match(self.source, at)
                name = loose[0] if loose else char
                self.report(RemarkCode.ENTITY_UNKNOWN if name.endswith(";") else RemarkCode.ENTITY_OPEN, name)
            elif char == "[" and "]" not in self.source[at:]:
                self.report(RemarkCode.COMPOSITION_OPEN, self.source[at : at + _MAX_QUOTED_CODE_POINTS])
            return self.add(at, at + 1)
        if char == "<":
            return match.end()
        if char == "&" and _FAMILIES.match(match[0]) is None:
            self.report(RemarkCode.ENTITY_FAMILY, match[0])
        return self.add(at, match.end())

    def described(self, at: int) -> int:
        """Handle an ideographic description, which is one cell. An incomplete one is read character by character."""
        missing, position, limit = 1, at, min(len(self.source), at + MAX_DESCRIPTION_CODE_POINTS)
        while missing and position < limit:
            char = self.source[position]
            if _describes(char):
                missing += _COMPONENT_COUNTS.get(char, 2) - 1
            elif _is_component(char):
                missing -= 1
            elif char == "&" and (entity := ENTITY.match(self.source, position)):
                missing, position = missing - 1, entity.end() - 1
            else:
                break
            position += 1
        if missing:
            self.report(RemarkCode.DESCRIPTION_INCOMPLETE, self.source[at : at + _MAX_QUOTED_CODE_POINTS])
            return self.add(at, at + 1)
        return self.add(at, position)

    def select_variant(self, at: int) -> None:
        """Add a variation selector to the cell before it."""
        cells = self.cells[self.row]
        if cells and cells[-1].offset + cells[-1].length == at and not cells[-1].blank:
            start = cells.pop().offset
            self.add(start, at + 1)
        else:
            self.report(RemarkCode.SELECTOR_ALONE, f"U+{ord(self.source[at]):04X}")

    def add(self, start: int, end: int) -> int:
        self.cells[self.row].append(Cell(self.source[start:end], start, end - start, self.row))
        return end

    def flush_main(self) -> None:
        if self.cells[Row.MAIN]:
            self.runs.append(Run(False, tuple(self.cells[Row.MAIN])))
        self.cells[Row.MAIN] = []
        self.slash = None

    def flush_note(self) -> None:
        if self.cells[Row.RIGHT] or self.cells[Row.LEFT]:
            self.runs.append(Run(True, tuple(self.cells[Row.RIGHT]), tuple(self.cells[Row.LEFT])))
        self.cells[Row.RIGHT], self.cells[Row.LEFT] = [], []
        self.depth, self.row = 0, Row.MAIN

    def end_unclosed_note(self) -> bool:
        """End a note that is not closed. If the left half-row is more than one cell longer than the right one, its
        cells beyond the length of the right one are main text. Return whether the note reaches to the end of the
        column."""
        right, left = self.cells[Row.RIGHT], self.cells[Row.LEFT]
        rest = left[len(right) :] if self.row is Row.LEFT and len(left) > len(right) + 1 else []
        if rest:
            self.cells[Row.LEFT] = left[: len(right)]
        self.flush_note()
        self.cells[Row.MAIN] = _moved(rest, Row.MAIN)
        return not rest

    def recover_opening(self) -> None:
        """Determine where a note began that has only a closing parenthesis.

        If the column before left a note open, the note began with the first character of the column. Else, with a slash
        before the parenthesis, it also began there if the right half-row is then at most one cell longer than the left
        one; otherwise the right half-row is as long as the left one. Without a slash the parenthesis is ignored."""
        main, slash = self.cells[Row.MAIN], self.slash
        indent = next((index for index, cell in enumerate(main) if not cell.blank), len(main))
        if slash is not None:
            left_length = len(main) - slash
            fills_column = self.continues or slash - indent <= left_length + 1
            start = min(indent if fills_column else slash - left_length, slash)
        elif self.continues:
            start, slash = indent, len(main)
        else:
            return
        right, left = _moved(main[start:slash], Row.RIGHT), _moved(main[slash:], Row.LEFT)
        self.cells[Row.MAIN] = main[:start]
        self.flush_main()
        self.cells[Row.RIGHT], self.cells[Row.LEFT] = right, left
        self.flush_note()

    def end(self) -> bool:
        """Finish the column; return whether a note continues in the next one."""
        left_open = self.continues
        if self.depth:
            self.report(RemarkCode.NOTE_OPEN)
            left_open = self.end_unclosed_note()
        self.flush_main()
        return left_open
