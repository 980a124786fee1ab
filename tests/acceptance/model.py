"""The naive model: a text as rows of cells, each with what was decided of it.

A cell is a character or, where something was decided of several or of a gap, those. It reads something now, and once
read what was transcribed. What nobody changed at the very place of a decision is to be written as it was decided; what
somebody changed there may be written or not, but not without a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations


@dataclass(eq=False)
class Cell:
    """What is transcribed, what the file has there now, and what is decided: `reads`, None where the text stands.
    `flag` is the question that was decided last, `flags` those before it. `settled`: somebody decided it; `touched`:
    the text was changed there, or beside it, since then; `unseen`: somebody wrote into the file what was decided, and
    no command has read the file since; `unread` is what was transcribed, where they took that back meanwhile; `by`: who
    decided last. `others` are readings of questions before, which may
    come back with the text that they were asked of; `before` is what was wanted before the last question, and is again
    where its answer is taken back (`open`), if that question still has its place, else what stood when it was asked;
    `displaced`: that answer was in the file when it was taken back, in the place of what the question before was of;
    `copy_of` is the cell of which somebody made this one."""

    was: str
    now: str
    reads: str | None = None
    flag: int = 0
    settled: bool = False
    touched: bool = False
    unseen: bool = False
    unread: str | None = None
    by: str = ""
    flags: list[int] = field(default_factory=list)
    others: set[str] = field(default_factory=set)
    before: str | None = None
    open: bool = False
    displaced: bool = False
    copy_of: Cell | None = None

    def ask(self, flag: int) -> None:
        """Somebody answers this question: where it is another than the last one, it is asked of what stands now."""
        if self.flag not in (0, flag):
            self.flags.append(self.flag)
            self.others.add(self.wanted)
            self.before, self.was, self.reads, self.displaced = self.wanted, self.now, None, False
        self.flag = flag

    def decide(self, reads: str | None, *, settled: bool) -> None:
        """Somebody decided that something is to be read here, or that the text stands; or took that back. What was
        taken back after somebody wrote it into the file, and before any command read that, is their text; done again
        before that, it is what was decided."""
        if self.unseen and reads != self.reads:
            self.unread, self.was, self.unseen, self.touched = self.was, self.now, False, True
        elif self.unread is not None and reads == self.now:
            self.was, self.unread, self.unseen = self.unread, None, True
        self.reads, self.open = reads, not settled
        self.displaced = self.displaced or (self.open and self.now != self.was)
        self.settled = settled or self.now != self.wanted

    @property
    def wanted(self) -> str:
        if self.open and self.before is not None:
            return self.before
        return self.was if self.reads is None else self.reads

    @property
    def put_back(self) -> bool:
        """Whether what was decided is taken back, and the text as it was."""
        return self.open and self.now == self.was == self.wanted

    @property
    def possible(self) -> set[str]:
        """What may stand here after an export."""
        if not self.touched:
            return {self.wanted, self.was} if self.open and self.displaced else {self.wanted}
        also = self.copy_of.possible if self.copy_of is not None else set[str]()
        return {self.wanted, self.now} | self.others | also | ({self.was} if self.open else set())


@dataclass(eq=False)
class Person:
    """What somebody did, the last act at the end, each with the cells of which something was decided; and what they
    took back since. `whole`: nothing that they did is missing here."""

    done: list[list[Cell]] = field(default_factory=list)
    undone: list[list[Cell]] = field(default_factory=list)
    whole: bool = True

    def does(self, *cells: Cell | None) -> None:
        self.done.append([cell for cell in cells if cell is not None])
        self.undone.clear()

    def forget(self) -> None:
        self.done, self.undone, self.whole = [], [], False


Row = list[Cell]


def row_of(text: str) -> Row:
    return [Cell(character, character) for character in text]


class Text:
    """A text of rows of cells; `gone` are decided cells that somebody took out of it."""

    def __init__(self, content: str) -> None:
        self.rows: list[Row] = [row_of(line) for line in content.split("\n")]
        self.gone: list[Cell] = []

    @property
    def content(self) -> str:
        return "\n".join("".join(cell.now for cell in row) for row in self.rows)

    def cells(self) -> Iterator[Cell]:
        yield from (cell for row in self.rows for cell in row)

    def seen(self) -> None:
        """A command has read the file as it is."""
        for cell in self.cells():
            cell.unseen, cell.unread = False, None

    def of_flag(self, flag: int) -> Cell | None:
        return next((cell for cell in self.known() if flag in (cell.flag, *cell.flags)), None)

    def ask(self, cell: Cell, flag: int) -> Cell:
        """Somebody answers a question that is asked of a cell, or of the one that this is a copy of; gives that one."""
        known = self.of_flag(flag)
        asked = known if known is not None and cell.copy_of is known else cell
        asked.ask(flag)
        return asked

    def known(self) -> list[Cell]:
        return [*self.cells(), *self.gone]

    def within(self, row: int, offset: int, length: int) -> list[Cell]:
        """The cells that a stretch of a row goes over, in whole or in part."""
        at, chosen = 0, []
        for cell in self.rows[row]:
            if at < offset + length and at + len(cell.now) > offset:
                chosen.append(cell)
            at += len(cell.now)
        return chosen

    def cut(self, row: int, offset: int, length: int) -> Cell | None:
        """The cell of that place of the file, made of as many as it takes; None where it begins or ends within one."""
        chosen = self.within(row, offset, length)
        if not length:
            return self._gap(row, offset)
        if len(chosen) == 1 and len(chosen[0].now) == length:
            return chosen[0]
        if any(cell.settled and not cell.put_back for cell in chosen) or "".join(cell.now for cell in chosen) == "":
            return None
        if sum(len(cell.now) for cell in chosen) != length:
            return None
        first = self.rows[row].index(chosen[0])
        text = "".join(cell.now for cell in chosen)
        merged = Cell(text, text, flags=[flag for cell in chosen for flag in (*cell.flags, cell.flag) if flag])
        self.rows[row][first : first + len(chosen)] = [merged]
        return merged

    def _gap(self, row: int, offset: int) -> Cell | None:
        at = 0
        for index, cell in enumerate(self.rows[row]):
            if at == offset:
                if not cell.now and (not cell.was or cell.settled):
                    return cell
                made = Cell("", "")
                self.rows[row].insert(index, made)
                return made
            at += len(cell.now)
        if at != offset:
            return None
        made = Cell("", "")
        self.rows[row].append(made)
        return made

    def touch(self, row: int, start: int, end: int) -> None:
        """Somebody changed the cells from `start` to before `end` of a row: what is decided of them, and beside them,
        may not be found any more."""
        self.touch_alike(range(row, row + 1))
        cells = self.rows[row]
        near = [cell for cell in cells[:start] if cell.now or cell.flag][-2:]
        near += [cell for cell in cells[end:] if cell.now or cell.flag][:2]
        for cell in (*near, *cells[start:end]):
            cell.touched = cell.touched or bool(cell.flag)

    def insert(self, row: int, at: int, text: str) -> None:
        """Somebody inserts a character. Where that one was deleted as it was decided, it is put back."""
        self.touch(row, at, at)
        beside = [cell for cell in self.rows[row][at - 1 : at + 1] if cell.settled and cell.was == text != cell.now]
        if beside and not beside[0].now:
            beside[0].now = text
        else:
            self.rows[row].insert(at, Cell(text, text))

    def take_out(self, row: int, start: int, end: int) -> None:
        """Somebody deletes cells. Where nothing was transcribed, or nothing is to stand, that is put back, or done."""
        self.touch(row, start, end)
        row_cells = self.rows[row]
        for at in (start - 1, end):  # of two equal characters nobody can tell which was deleted: the one that is to go
            if 0 <= at < len(row_cells) and end - start == 1 and not row_cells[start].settled:
                beside = row_cells[at]
                if beside.settled and beside.reads == "" and beside.now == row_cells[start].now:
                    row_cells[start], row_cells[at] = beside, row_cells[start]
        cells = row_cells[start:end]
        emptied = [cell for cell in cells if cell.settled and "" in (cell.was, cell.reads)]
        for cell in emptied:
            cell.now, cell.unseen = "", cell.reads == ""
        self.gone += [cell for cell in cells if cell.settled and cell not in emptied]
        self.rows[row][start:end] = emptied

    def replace(self, row: int, at: int, text: str) -> None:
        """Somebody replaces a cell. Where that is what was transcribed, what was decided of it is to be done again."""
        cell = self.rows[row][at]
        if cell.settled and cell.was == text:
            self.touch(row, at, at + 1)
            cell.now = text
        else:
            self.take_out(row, at, at + 1)
            self.rows[row].insert(at, Cell(text, text))

    def touch_alike(self, rows: range) -> None:
        """Rows are added, changed, moved or taken out: of those that read the same nobody can tell which they are."""
        texts = ["".join(cell.now for cell in row) for row in self.rows]
        alike = [n for n, text in enumerate(texts) if text in texts[rows.start : rows.stop] and texts.count(text) > 1]
        for cell in (cell for number in alike for cell in self.rows[number]):
            cell.touched = cell.touched or bool(cell.flag)

    def move(self, rows: range, to: int) -> None:
        """Somebody moves rows, the first of them to be the row `to` of the text then; as well may those that they pass
        over have been moved the other way."""
        passed_over = range(to, rows.start) if to < rows.start else range(rows.stop, to + len(rows))
        self.touch_alike(rows)
        self.touch_alike(passed_over)
        moved = self.rows[rows.start : rows.stop]
        del self.rows[rows.start : rows.stop]
        self.rows[to:to] = moved

    def take_out_rows(self, rows: range) -> None:
        self.touch_alike(rows)
        self.gone += [cell for row in self.rows[rows.start : rows.stop] for cell in row if cell.settled]
        del self.rows[rows.start : rows.stop]

    def double(self, rows: range) -> None:
        """The rows once more behind themselves: what is decided of them may be of either from now on."""
        copies = [
            [Cell(cell.now, cell.now, touched=True, copy_of=cell) for cell in self.rows[number]] for number in rows
        ]
        self.rows[rows.stop : rows.stop] = copies
        self.touch_alike(rows)

    def expected(self) -> re.Pattern[str]:
        """What an export may make of the text."""
        return re.compile("\n".join("".join(map(self._part, row)) for row in self.rows))

    def _part(self, cell: Cell) -> str:
        return f"({'|'.join(map(re.escape, sorted(cell.possible, key=cell.wanted.__ne__)))})"

    def take_over(self, exported: str) -> list[Cell]:
        """Take over what an export wrote; gives the decided cells that it did not write, neither there nor in a
        copy. Raises AssertionError where it wrote anything else."""
        match = self.expected().fullmatch(exported) or self._exchanged(exported)
        assert match is not None, self.difference(exported)
        left = [cell for cell in self.gone if cell.reads is not None]
        for cell, now in zip(self.cells(), match.groups(), strict=True):
            cell.now = now
            left += [cell] if now != cell.wanted and cell.flag else []
        copies = {(cell.copy_of, cell.now) for cell in self.cells() if cell.copy_of is not None}
        return [cell for cell in left if (cell, cell.wanted) not in copies]

    def _exchanged(self, exported: str) -> re.Match[str] | None:
        """The match of an export where two rows that read the same are taken for each other, of which one was moved or
        changed: nobody can tell which of them is which."""
        texts = ["".join(cell.now for cell in row) for row in self.rows]
        for first, second in combinations(range(len(texts)), 2):
            touched = any(cell.touched for number in (first, second) for cell in self.rows[number])
            if texts[first] != texts[second] or not touched:
                continue
            self.rows[first], self.rows[second] = self.rows[second], self.rows[first]
            match = self.expected().fullmatch(exported)
            if match is not None:
                return match
            self.rows[first], self.rows[second] = self.rows[second], self.rows[first]
        return None

    def difference(self, exported: str) -> str:
        """The first line that is not as it should be."""
        lines = exported.split("\n")
        if len(lines) != len(self.rows):
            return f"{len(lines)} lines for {len(self.rows)}"
        for row, line in zip(self.rows, lines, strict=True):
            pattern = "".join(map(self._part, row))
            if re.fullmatch(pattern, line) is None:
                wanted, was = ("".join(part) for part in zip(*((cell.wanted, cell.now) for cell in row), strict=True))
                return f"{line!r} where {wanted!r} was expected, after {was!r}"
        return "no difference"
