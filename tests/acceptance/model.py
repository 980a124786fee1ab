"""The naive model of a text with decisions: rows of cells, each with its decision.

A cell is one character, or several characters or a gap with one decision. Unless an editor changed the file at its
place, an export must write a decision. If an editor did, the export may write it or not, but must list it if not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations


@dataclass(eq=False)
class Cell:
    """A place of the text.

    - `was`: the transcribed text; `now`: that in the file; `reads`: the decided text, None to keep the transcribed one
    - `flag`: the number of the flag decided last, `flags` those of the flags before it; `by`: the person of the last
      decision
    - `settled`: there is a decision; `open`: the last one was taken back
    - `touched`: an editor changed the file here, or beside it, since the decision
    - `unseen`: an editor wrote the decided text into the file, which no command has read since; `unread`: the
      transcribed text, if the decision was taken back in this state
    - `others`: decided texts of earlier flags, which may return if the text for which they were decided returns
    - `before`: the decided text of the flag before, which holds again once the last decision is taken back
    - `displaced`: the last decision was in the file when it was taken back
    - `copy_of`: the cell of which an editor made a copy, this cell
    """

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
        """Note that a flag is being decided; if it is another one than the last, it is about the present text."""
        if self.flag not in (0, flag):
            self.flags.append(self.flag)
            self.others.add(self.wanted)
            self.before, self.was, self.reads, self.displaced = self.wanted, self.now, None, False
        self.flag = flag

    def decide(self, reads: str | None, *, settled: bool) -> None:
        """Note a decision for `reads`, or to keep the text (None), or that it was taken back (not `settled`). If an
        editor had written the decided text into the file and no command has read it, it becomes the transcribed text;
        deciding so again makes it the decided text again."""
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
    def possible(self) -> set[str]:
        """The texts that an export may write here."""
        if not self.touched:
            return {self.wanted, self.was} if self.open and self.displaced else {self.wanted}
        also = self.copy_of.possible if self.copy_of is not None else set[str]()
        return {self.wanted, self.now} | self.others | also | ({self.was} if self.open else set())


@dataclass(eq=False)
class Person:
    """The acts of a person in their order, each as the cells that it decided, and the acts that were taken back since.
    `whole`: all acts of the person are here."""

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
    """A text as rows of cells; `gone` are the decided cells that an editor deleted."""

    def __init__(self, content: str) -> None:
        self.rows: list[Row] = [row_of(line) for line in content.split("\n")]
        self.gone: list[Cell] = []

    @property
    def content(self) -> str:
        return "\n".join("".join(cell.now for cell in row) for row in self.rows)

    def cells(self) -> Iterator[Cell]:
        yield from (cell for row in self.rows for cell in row)

    def seen(self) -> None:
        """Note that a command has read the file."""
        for cell in self.cells():
            cell.unseen, cell.unread = False, None

    def of_flag(self, flag: int) -> Cell | None:
        return next((cell for cell in self.known() if flag in (cell.flag, *cell.flags)), None)

    def ask(self, cell: Cell, flag: int) -> Cell:
        """Note that a flag of a cell is being decided, or of the cell of which it is a copy; returns that cell."""
        known = self.of_flag(flag)
        asked = known if known is not None and cell.copy_of is known else cell
        asked.ask(flag)
        return asked

    def known(self) -> list[Cell]:
        return [*self.cells(), *self.gone]

    def around(self, row: int, offset: int, length: int) -> Iterator[tuple[Cell, str]]:
        """The cells of a row that overlap a stretch of the file, each with its characters outside the stretch."""
        at = 0
        for cell in self.rows[row]:
            first, last = max(offset - at, 0), offset + length - at
            if at < offset + length and at + len(cell.now) > offset:
                yield cell, cell.now[:first] + cell.now[last:]
            at += len(cell.now)

    def within(self, row: int, offset: int, length: int) -> list[Cell]:
        """The cells of a row that overlap a stretch of the file."""
        return [cell for cell, _ in self.around(row, offset, length)]

    def cut(self, row: int, offset: int, length: int) -> Cell | None:
        """The cell for a stretch of the file, merged of several if necessary; None if the stretch cuts a cell, or if a
        decision on one of several may be taken back or made again."""
        chosen = self.within(row, offset, length)
        if not length:
            return self._gap(row, offset)
        if len(chosen) == 1 and len(chosen[0].now) == length:
            return chosen[0]
        if any(cell.settled or cell.open for cell in chosen) or "".join(cell.now for cell in chosen) == "":
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
        """Note that an editor changed cells `start:end` of a row: the places of their decisions, and of those beside
        them, may be lost."""
        self.touch_alike(range(row, row + 1))
        cells = self.rows[row]
        near = [cell for cell in cells[:start] if cell.now or cell.flag][-2:]
        near += [cell for cell in cells[end:] if cell.now or cell.flag][:2]
        for cell in (*near, *cells[start:end]):
            cell.touched = cell.touched or bool(cell.flag)

    def insert(self, row: int, at: int, text: str) -> None:
        """An editor inserts a character. If a decision had deleted the same one beside it, that one is back."""
        self.touch(row, at, at)
        beside = [cell for cell in self.rows[row][at - 1 : at + 1] if cell.settled and cell.was == text != cell.now]
        if beside and not beside[0].now:
            beside[0].now = text
        else:
            self.rows[row].insert(at, Cell(text, text))

    def take_out(self, row: int, start: int, end: int) -> None:
        """An editor deletes cells. This undoes a decided insertion and carries out a decided deletion."""
        self.touch(row, start, end)
        row_cells = self.rows[row]
        for at in (start - 1, end):  # of two equal characters, the one with a decided deletion counts as deleted
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
        """An editor replaces a cell. If the new text is the transcribed one, the decision must be written again."""
        cell = self.rows[row][at]
        if cell.settled and cell.was == text:
            self.touch(row, at, at + 1)
            cell.now = text
        else:
            self.take_out(row, at, at + 1)
            self.rows[row].insert(at, Cell(text, text))

    def touch_alike(self, rows: range) -> None:
        """Note a change of rows: equal rows can no longer be told apart, so the places in them may be lost."""
        texts = ["".join(cell.now for cell in row) for row in self.rows]
        alike = [n for n, text in enumerate(texts) if text in texts[rows.start : rows.stop] and texts.count(text) > 1]
        for cell in (cell for number in alike for cell in self.rows[number]):
            cell.touched = cell.touched or bool(cell.flag)

    def move(self, rows: range, to: int) -> None:
        """An editor moves rows so that the first becomes row `to`. This cannot be told from a move of the rows between
        in the other direction."""
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
        """An editor copies rows and inserts the copies after them: decisions may be about either from now on."""
        copies = [
            [Cell(cell.now, cell.now, touched=True, copy_of=cell) for cell in self.rows[number]] for number in rows
        ]
        self.rows[rows.stop : rows.stop] = copies
        self.touch_alike(rows)

    def expected(self) -> re.Pattern[str]:
        """A pattern of the texts that an export may write."""
        return re.compile("\n".join("".join(map(self._part, row)) for row in self.rows))

    def _part(self, cell: Cell) -> str:
        return f"({'|'.join(map(re.escape, sorted(cell.possible, key=cell.wanted.__ne__)))})"

    def take_over(self, exported: str) -> list[Cell]:
        """Update the cells by the text that an export wrote; returns the decided cells that it did not write, neither
        there nor in a copy. Raises AssertionError if the text is not a possible one."""
        match = self.expected().fullmatch(exported) or self._exchanged(exported)
        assert match is not None, self.difference(exported)
        left = [cell for cell in self.gone if cell.reads is not None]
        for cell, now in zip(self.cells(), match.groups(), strict=True):
            cell.now = now
            left += [cell] if now != cell.wanted and cell.flag else []
        copies = {(cell.copy_of, cell.now) for cell in self.cells() if cell.copy_of is not None}
        return [cell for cell in left if (cell, cell.wanted) not in copies]

    def _exchanged(self, exported: str) -> re.Match[str] | None:
        """The match of an exported text after exchanging two equal rows, if one of them was moved or changed."""
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
        """The first line that is not possible, for an error message."""
        lines = exported.split("\n")
        if len(lines) != len(self.rows):
            return f"{len(lines)} lines for {len(self.rows)}"
        for row, line in zip(self.rows, lines, strict=True):
            pattern = "".join(map(self._part, row))
            if re.fullmatch(pattern, line) is None:
                wanted, was = ("".join(part) for part in zip(*((cell.wanted, cell.now) for cell in row), strict=True))
                return f"{line!r} where {wanted!r} was expected, after {was!r}"
        return "no difference"
