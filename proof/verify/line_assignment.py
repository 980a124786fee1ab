"""Which line of the transcription stands in which column of the image.

Nearly always the first line is in the first column and so on, and the readings confirm it. If they do not, the columns
are read without the text and compared with every line (rapidfuzz). A column that is missing, doubled, in another place
or in one line with the next is one finding, not a flag for every character.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import accumulate, pairwise
from typing import NamedTuple

from rapidfuzz import fuzz, process
from rapidfuzz.distance import Indel

from proof.model.flags import LINE_BREAK
from proof.text.model import Cell, Column, Row, Run

SAME_PERCENT = 45.0
"""Similarity, in percent (Indel), from which on a column and a line can be the same text."""

SURELY_SAME_PERCENT = 70.0
"""Similarity, in percent, from which on a line without a column repeats the line of another column, and several columns
stand in one line."""

MAX_JOINED_COLUMNS = 3
"""Maximum number of columns in one line that is to be divided; a line of more is a paragraph."""

MAX_JOINED_SHARE = 1 / 3
"""Maximum share of the lines of a page that are to be divided; with more, the lines of the text are not columns."""


class LineFault(StrEnum):
    """The faults of a whole line."""

    MISSING = "column missing"
    DOUBLED = "column doubled"
    MOVED = "column moved"
    NOT_ON_PAGE = "column not on the page"
    UNDIVIDED = "columns in one line"


@dataclass(frozen=True, slots=True)
class LineTrouble:
    """A finding about a line. `line` is its number (of a missing line, the number it would have), `column` the index of
    its column on the image, None if it has none; `read` is the text of that column. `before` is the number of the line
    before which a moved line belongs, `offset` the place where a line with several columns is to be divided."""

    fault: LineFault
    line: int
    column: int | None
    read: str
    before: int = 0
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Assignment:
    """The line of every column of the image (None: no line), and the troubles of whole lines. `parts`: the lines are
    parts of the lines of the text, or cross their ends."""

    lines: tuple[Column | None, ...]
    troubles: tuple[LineTrouble, ...]
    parts: bool = False


def line_key(line: Column, fold: Callable[[str], str]) -> str:
    """The characters of a line in reading order, folded. `fold` maps forms of one word and both scripts to one key."""
    return "".join(fold(cell.text) for cell in line.cells if cell.glyph)


def in_order(lines: Sequence[Column], columns: int) -> Assignment:
    """Assign the first line to the first column and so on; lines beyond the last column are not on the page."""
    assigned = tuple(lines[i] if i < len(lines) else None for i in range(columns))
    beyond = tuple(LineTrouble(LineFault.NOT_ON_PAGE, line.number, None, "") for line in lines[columns:] if line.cells)
    return Assignment(assigned, beyond)


@dataclass(frozen=True, slots=True)
class _Comparison:
    """The lines of a page compared with its columns. `texts` are the lines and `shown` the readings of the columns,
    both folded; `likeness[column][line]` is the similarity of two of them, in percent. `joined[count][column][line]` is
    that of so many columns together, from `column` on; 0 if one of them shows nothing."""

    texts: Sequence[str]
    shown: Sequence[str]
    likeness: Sequence[Sequence[float]]
    joined: Mapping[int, Sequence[Sequence[float]]]

    @classmethod
    def of(cls, lines: Sequence[Column], reads: Sequence[str], fold: Callable[[str], str]) -> _Comparison:
        texts = [line_key(line, fold) for line in lines]
        shown = ["".join(fold(character) for character in read) for read in reads]
        joined = {}
        for count in range(2, MAX_JOINED_COLUMNS + 2):  # one more, to know paragraphs
            together = [shown[first : first + count] for first in range(len(shown) - count + 1)]
            joined[count] = _likeness(["".join(several) if all(several) else "" for several in together], texts)
        return cls(texts, shown, _likeness(shown, texts), joined)

    def worth_joined(self, column: int, count: int, line: int) -> float:
        """The worth, in characters, of assigning a line to `count` columns from `column` on: what they have in common,
        less one for each line ending that it lacks."""
        likeness = self.joined[count][column][line]
        if likeness < SURELY_SAME_PERCENT or not self.texts[line]:
            return 0.0
        length = len(self.texts[line]) + sum(map(len, self.shown[column : column + count]))
        return likeness / 100 * length / 2 - (count - 1)

    def likest_line(self, column: int, lines: Iterable[int]) -> int | None:
        """The line that is most similar to a column; None if there are no lines."""
        return max(lines, key=lambda line: self.likeness[column][line], default=None)

    def likest_column(self, line: int) -> int | None:
        """The column that is most similar to a line; None if there are no columns."""
        return max(range(len(self.shown)), key=lambda column: self.likeness[column][line], default=None)

    def is_repeated(self, line: int) -> bool:
        """Whether a line without a column repeats the line of a column."""
        return any(likeness[line] >= SURELY_SAME_PERCENT for likeness in self.likeness)


def _likeness(shown: Sequence[str], texts: Sequence[str]) -> list[list[float]]:
    """The similarity of each reading with each text, in percent."""
    if not shown or not texts:
        return [[] for _ in shown]
    return [[float(value) for value in row] for row in process.cdist(shown, texts, scorer=fuzz.ratio)]


class _Assigned(NamedTuple):
    """The index of the line of each column, None for none, and the columns whose lines are not in their order."""

    lines: list[int | None]
    moved: list[int]

    @property
    def used(self) -> set[int]:
        """The lines that have a column."""
        return {line for line in self.lines if line is not None}

    @property
    def joined(self) -> dict[int, list[int]]:
        """The lines that have several columns, with these columns."""
        columns = {line: [c for c, own in enumerate(self.lines) if own == line] for line in self.used}
        return {line: own for line, own in columns.items() if len(own) > 1}


def assign(
    lines: Sequence[Column], reads: Sequence[str], fold: Callable[[str], str], without_text: Set[int] = frozenset()
) -> Assignment:
    """Assign lines to columns by the readings of the columns.

    `reads` are the columns' readings, empty where a column has no ink; `fold` is that of `line_key`. The order is kept
    where no other fits better. None of the columns `without_text` is missing in the text. A few lines with several
    columns each are divided among them, but not within a note, which would be divided in both of its halves.
    """
    comparison = _Comparison.of(lines, reads, fold)
    assigned = _assigned(comparison)
    divisions = {
        line: _divisions(lines[line], [comparison.shown[column] for column in columns], fold)
        for line, columns in assigned.joined.items()
    }
    if not all(divisions.values()) or len(divisions) > MAX_JOINED_SHARE * sum(map(bool, comparison.texts)):
        comparison, divisions = replace(comparison, joined={}), {}
        assigned = _assigned(comparison)
    troubles = _troubles(comparison, assigned, lines, reads, without_text)
    own_lines = [None if line is None else lines[line] for line in assigned.lines]
    for line, offsets in divisions.items():
        source, columns = lines[line].source, assigned.joined[line]
        for column, (begin, end) in zip(columns, pairwise([0, *offsets, len(source)]), strict=True):
            own_lines[column] = _part(lines[line], begin, end)
        for column, offset in zip(columns[1:], offsets, strict=True):
            divided = source[:offset] + LINE_BREAK + source[offset:]
            troubles.append(LineTrouble(LineFault.UNDIVIDED, lines[line].number, column, divided, offset=offset))
    return Assignment(tuple(own_lines), tuple(troubles), parts=bool(divisions))


def _divisions(line: Column, shown: Sequence[str], fold: Callable[[str], str]) -> list[int]:
    """The places in a line at which it goes on in the next of several columns, which show this; none where one of them
    is within a note, or in a paragraph."""
    if len(shown) > MAX_JOINED_COLUMNS:
        return []
    cells = [cell for cell in line.cells if cell.glyph]
    blocks = Indel.opcodes("".join(shown), [fold(cell.text) for cell in cells]).as_matching_blocks()
    offsets = []
    for end in list(accumulate(map(len, shown)))[:-1]:
        # characters that neither column shows may stand in either
        first = max((block.b + min(block.size, end - block.a) for block in blocks if block.a < end), default=0)
        last = min(block.b + max(0, end - block.a) for block in blocks if block.a + block.size >= end)
        places = [_end_of_part(line, cells, number) for number in range(max(first, 1), min(last, len(cells) - 1) + 1)]
        possible = [place for place in places if place is not None]
        if not possible:
            return []
        starts = {cell.offset for cell in cells}
        offsets.append(next((place for place in possible if place not in starts), possible[-1]))
    return offsets


def _end_of_part(line: Column, cells: Sequence[Cell], count: int) -> int | None:
    """The place in a line behind so many of its characters and the note that ends with them; None within a note."""
    last, following = cells[count - 1], cells[count]
    end = last.offset + last.length
    end += line.source[end : following.offset].find(")") + 1
    is_within = Row.MAIN not in (last.row, following.row) and line.source[end - 1] != ")"
    return None if is_within else end


def _part(line: Column, begin: int, end: int) -> Column:
    """The part of a line between two places as the line of a column; its source reaches to its end."""

    def within(cells: Sequence[Cell]) -> tuple[Cell, ...]:
        return tuple(cell for cell in cells if begin <= cell.offset < end)

    runs = [Run(run.is_note, within(run.right), within(run.left)) for run in line.runs]
    return replace(line, source=line.source[:end], parsed=tuple(run for run in runs if run.cells), begin=begin)


def _assigned(comparison: _Comparison) -> _Assigned:
    """The lines of the columns: those that keep the order, then moved ones, then those that have only their place."""
    texts, shown, likeness = comparison.texts, comparison.shown, comparison.likeness
    line_in_order = _monotone(comparison)
    joined = _Assigned([line_in_order.get(c) for c in range(len(shown))], []).joined
    by_place_only = {
        c: line for c, line in line_in_order.items() if line not in joined and likeness[c][line] < SAME_PERCENT
    }
    line_of = [None if c in by_place_only else line_in_order.get(c) for c in range(len(shown))]
    assigned = _Assigned(line_of, [])
    # lines left over in this order may stand elsewhere: moved or swapped columns
    for column, read in enumerate(shown):
        if line_of[column] is None and read:
            used = assigned.used
            best = comparison.likest_line(column, (n for n, text in enumerate(texts) if text and n not in used))
            if best is not None and likeness[column][best] >= SAME_PERCENT:
                line_of[column] = best
                assigned.moved.append(column)
    used = assigned.used
    for column, line in by_place_only.items():
        if line_of[column] is None and line not in used and not comparison.is_repeated(line):
            line_of[column] = line
    used = assigned.used
    for column, line in _left_between(line_of, [bool(text) and n not in used for n, text in enumerate(texts)]):
        line_of[column] = line
    return assigned


def _troubles(
    comparison: _Comparison,
    assigned: _Assigned,
    lines: Sequence[Column],
    reads: Sequence[str],
    without_text: Set[int],
) -> list[LineTrouble]:
    """The troubles of an assignment: moved lines, then lines without a column, then columns without a line."""
    in_order = [None if column in assigned.moved else line for column, line in enumerate(assigned.lines)]

    def number_after(column: int) -> int:
        """The number of the first line in order behind a column; one more than the last if there is none."""
        return next((lines[line].number for line in in_order[column + 1 :] if line is not None), len(lines) + 1)

    troubles = []
    for column in assigned.moved:
        number = lines[assigned.lines[column] or 0].number
        troubles.append(LineTrouble(LineFault.MOVED, number, column, reads[column], number_after(column)))
    used = assigned.used
    for line, text in enumerate(comparison.texts):
        if line in used or not text:
            continue
        if comparison.is_repeated(line):
            twin = comparison.likest_column(line)
            troubles.append(LineTrouble(LineFault.DOUBLED, lines[line].number, twin, ""))
        else:
            troubles.append(LineTrouble(LineFault.NOT_ON_PAGE, lines[line].number, None, ""))
    for column, read in enumerate(comparison.shown):
        if assigned.lines[column] is None and read and column not in without_text:
            troubles.append(LineTrouble(LineFault.MISSING, number_after(column), column, reads[column]))
    return troubles


def _left_between(assigned: Sequence[int | None], free: Sequence[bool]) -> list[tuple[int, int]]:
    """Pairs of a column without a line and the only unused line (`free`) between the lines of the columns beside it:
    notes read as main text show little of their line."""
    pairs = []
    for column, line in enumerate(assigned):
        before = assigned[column - 1] if column else -1
        after = assigned[column + 1] if column + 1 < len(assigned) else len(free)
        if line is None and before is not None and after is not None:
            unused = [other for other in range(before + 1, after) if free[other]]
            if len(unused) == 1:
                pairs.append((column, unused[0]))
    return pairs


def _monotone(comparison: _Comparison) -> dict[int, int]:
    """The assignment of lines to columns that keeps both orders and has the greatest sum of worths, by column."""
    likeness, shown, texts = comparison.likeness, comparison.shown, comparison.texts
    total = [[0.0] * (len(texts) + 1) for _ in range(len(shown) + 1)]

    def worths(c: int, n: int) -> list[tuple[int, float]]:
        """The worth of assigning the line that ends at `n` to one or more columns that end at `c`, by their number."""
        alone = _worth(likeness[c - 1][n - 1], shown[c - 1], texts[n - 1], c == n)
        counts = (count for count in comparison.joined if count <= c)
        return [(1, alone), *((count, comparison.worth_joined(c - count, count, n - 1)) for count in counts)]

    for c in range(1, len(shown) + 1):
        for n in range(1, len(texts) + 1):
            best = max(total[c - count][n - 1] + worth for count, worth in worths(c, n))
            total[c][n] = max(best, total[c][n - 1], total[c - 1][n])
    line_of: dict[int, int] = {}
    c, n = len(shown), len(texts)
    while c and n:
        steps = [count for count, worth in worths(c, n) if worth > 0 and total[c][n] == total[c - count][n - 1] + worth]
        if steps:
            line_of |= dict.fromkeys(range(c - steps[0], c), n - 1)
            c, n = c - steps[0], n - 1
        elif total[c][n] == total[c - 1][n]:
            c -= 1
        else:
            n -= 1
    return line_of


def _worth(likeness: float, shown: str, text: str, same_place: bool) -> float:
    """The worth, in characters, of assigning a line to a column; the same place is worth a little by itself."""
    if not shown or not text or likeness < SAME_PERCENT:
        return 0.2 if same_place else 0.0
    return likeness / 100 * max(len(shown), len(text))
