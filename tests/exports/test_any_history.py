"""However a text is edited while people decide, late and otherwise, and take it back, is checked and corrected again:
each character gets what was decided of it and of no other, and what does not reach the text is told."""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from itertools import count
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from proof.exports.decided import decided_in, note_written
from proof.exports.source import correct, write_corrected
from proof.model.flags import Evidence, Flag, Kind, context_of, numbered
from proof.model.geometry import Box
from proof.model.result import CheckedColumn, PageResult, Status
from proof.store import Store
from proof.store.acts import NothingLeftError
from proof.store.decision_records import ConflictError, Decision, State, Verdict
from proof.store.models import FlagRow, PageRow
from proof.store.rows import FOUND
from proof.text.read import read_transcription
from tests.standing import by_hand, check_files, say
from tests.wide import examples

PAGES = ("KR1_WYG_010-1a", "KR1_WYG_010-1b")
FORMULAS = ("甲甲乙乙甲甲甲甲甲", "甲乙乙乙乙甲乙甲甲", "升自西階西面升自西階")
"""What the lines of a page repeat: places that are alike all over."""
VERDICTS = (Verdict.TAKE, Verdict.TAKE, Verdict.KEEP, Verdict.TYPED, Verdict.COPY)


class History:
    """A text whose characters are told apart by numbers, and what was decided of each: where the flag of it stands, and
    what is to be read; `said` is what it was then. `shown` is what an image of the text reads."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.chance, self.path = chance, folder / "KR1_010.txt"
        self.store = Store.open(folder / "proof.sqlite")
        self.numbers, self.heads = count(), count(0x4E00)
        self.char: dict[int, str] = {}
        self.shown: dict[int, str] = {}
        self.decided: dict[int, tuple[str, str]] = {}
        self.before: dict[int, str] = {}
        self.unnoted: dict[int, str] = {}
        """What was transcribed where something was written, and the store may know of it or not."""
        self.said: dict[int, str] = {}
        self.flags: dict[int, int] = {}
        self.seen: dict[int, int] = {}
        self.pages = {page: [self.line(chance.choice(FORMULAS)) for _ in range(3)] for page in PAGES}
        self.check()

    def line(self, text: str, *, wrong: float = 0.25) -> list[int]:
        """A new line; its first character stands nowhere else."""
        return [self.new(chr(next(self.heads)), 0), *(self.new(char, wrong) for char in text)]

    def new(self, char: str, wrong: float) -> int:
        number = next(self.numbers)
        self.char[number] = char
        self.shown[number] = "北" if self.chance.random() < wrong else char
        return number

    def source(self, line: list[int]) -> str:
        return "".join(self.char[one] for one in line)

    def write(self) -> None:
        parts = (
            f"<pb:{page}>¶\n{''.join(f'{self.source(line)}¶{chr(10)}' for line in self.pages[page])}" for page in PAGES
        )
        self.path.write_text("".join(parts), encoding="utf-8", newline="")

    def check(self) -> None:
        """What the image shows otherwise is flagged; what stands decided of a flag was decided of that character."""
        self.write()
        results = []
        at: dict[tuple[str, int, int], int] = {}
        for page in PAGES:
            columns = [
                CheckedColumn(n, Box(0, 0, 9, 99), self.source(one)) for n, one in enumerate(self.pages[page], 1)
            ]
            flags = []
            for column, line in zip(columns, self.pages[page], strict=True):
                at |= {(page, column.number, offset): number for offset, number in enumerate(line)}
                flags += [self.flag(page, column, offset, one) for offset, one in enumerate(line) if self.is_wrong(one)]
            results.append(PageResult(page, "ref", Status.CHECKED, columns=tuple(columns), flags=numbered(flags)))
        check_files(self.store, ((self.path, result) for result in results), key=self.page_key)
        self.checked = {page: [list(line) for line in self.pages[page]] for page in PAGES}
        self.flags = {}
        with self.store._reading() as session:
            query = select(FlagRow, PageRow.page).join(PageRow, PageRow.id == FlagRow.page_id)
            for flag, page in session.execute(query.where(*FOUND)):
                number = self.flags[flag.id] = at[page, flag.line, flag.offset]
                assert flag.state == "open" or (flag.state, flag.reading) == self.decided.get(number)
        self.seen |= self.flags

    def page_key(self, result: PageResult) -> str:
        key = f"{self.chance.random()}" if self.chance.random() < 0.3 else ""  # with other settings
        key += repr([result.page, *(one.source for one in result.columns), *(one.offset for one in result.flags)])
        return key[:128]

    def is_wrong(self, number: int) -> bool:
        return self.char[number] != self.shown[number]

    def flag(self, page: str, column: CheckedColumn, offset: int, number: int) -> Flag:
        said = self.char[number], self.shown[number]
        context = context_of(column.source, offset, 1)
        kind, why = Kind.SUBSTITUTION, Evidence("posterior")
        return Flag(page, "ref", column.number, offset, 1, kind, *said, 5.0, True, None, why, context)

    def decide(self) -> None:
        self.decide_one(self.flags)

    def decide_late(self) -> None:
        """Somebody who has had the desk open since an earlier check decides."""
        self.decide_one(self.seen)

    def decide_one(self, among: dict[int, int]) -> None:
        if not among:
            return
        flag, verdict = self.chance.choice(sorted(among)), self.chance.choice(VERDICTS)
        reading = "比" if verdict is Verdict.TYPED else ""
        try:
            made = say(self.store, flag, verdict, reading, self.chance.choice("甲乙"))
        except ConflictError:  # its place was corrected by hand, or by way of another flag
            return
        self.hear(self.seen[flag], made)

    def take_back(self) -> None:
        """Somebody takes the last thing back that they did, or does it again."""
        acts = self.store.acts
        way, person = self.chance.choice([acts.undo, acts.undo, acts.redo]), self.chance.choice("甲乙")
        try:
            undone = way("KR1", person, uuid4().hex, leave=True)
        except NothingLeftError:
            return
        for made in undone.decisions:
            number = self.seen.get(made.flag)
            if number is not None and made.state is State.OPEN:
                self.decided.pop(number, None)
            elif number is not None:
                self.hear(number, made)

    def correct_by_hand(self) -> None:
        page = self.chance.choice(PAGES)
        line = self.chance.randrange(len(self.checked[page]))
        offset = self.chance.randrange(len(self.checked[page][line]))
        number = self.checked[page][line][offset]
        if number in self.decided or number in self.flags.values():
            return
        try:
            made = by_hand(self.store, line + 1, offset, "此", person="丙", page=page)
        except ConflictError:  # as of a line that was there before
            return
        self.hear(number, made)

    def hear(self, number: int, made: Decision) -> None:
        self.decided[number], self.said[number] = (made.state.value, made.reading), made.transcribed

    def edit(self) -> None:
        """Somebody edits the file: lines put in, taken out, moved and written again, characters too."""
        lines = self.pages[self.chance.choice(PAGES)]
        at, line = self.chance.randrange(len(lines) + 1), self.chance.choice(lines)
        match self.chance.choice(["in", "out", "moved", "again", "character in", "character out", "another"]):
            case "in":
                lines.insert(at, self.line("上下中", wrong=0))
            case "out" if len(lines) > 1:
                lines.remove(line)
            case "moved" if len(lines) > 1:
                lines.remove(line)
                lines.insert(min(at, len(lines)), line)
            case "again":
                lines.insert(at, self.line(self.source(line)[1:]))
                self.check()  # a line beside one that is like it, and that one taken out, are one line edited
            case "character in":
                line.insert(self.chance.randrange(1, len(line) + 1), self.new("庚", 0))
            case "character out" if len(line) > 2:
                line.pop(self.chance.randrange(1, len(line)))
            case "another":
                line[-1] = self.new("丁", 0)
        self.write()

    def export(self) -> None:
        """Correct the text in place, or be refused; nobody's word is lost without a word."""
        edition = read_transcription(self.path)
        decided = decided_in(self.store, edition)
        corrected = correct(edition, decided.corrections)
        assert corrected.refused == ()
        told = Counter((one.decision.transcribed, one.decision.reading) for one in decided.left_out)
        readings = {one.edit.start: one.edit.replacement for one in corrected.placed if one.correction.changes}
        for page in PAGES:
            start = edition.text.index(f"<pb:{page}>") + len(f"<pb:{page}>¶\n")
            for line in self.pages[page]:
                for at, number in enumerate(line, start):
                    self.hold(number, readings.pop(at, ""), told)
                start += len(line) + 2
        assert not readings
        write_corrected(corrected, self.path)
        if self.chance.random() < 0.8:
            note_written(self.store, corrected, lambda: self.path.read_bytes() == corrected.data)
        else:  # somebody takes the text from elsewhere: what is taken back before the next check was never written
            self.unnoted, self.before = self.unnoted | self.before, {}
        self.write()
        assert self.path.read_bytes() == corrected.data

    def hold(self, number: int, written: str, told: Counter[tuple[str, str]]) -> None:
        state, reading = self.decided.get(number, ("open", ""))
        wanted = reading if state == "corrected" else self.before.get(number, self.char[number])
        if written:
            assert written in (wanted, self.unnoted.get(number, wanted)), f"{self.char[number]} was made {written}"
            if state == "corrected":
                self.before.setdefault(number, self.char[number])
            self.char[number] = written
        elif self.char[number] != wanted:
            assert told[self.said[number], reading], f"{self.char[number]} was not made {wanted}, and nobody is told"
            told[self.said[number], reading] -= 1


@pytest.mark.slow
@settings(max_examples=examples(12), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.randoms(use_true_random=True))
def test_each_character_gets_what_was_decided_of_it_and_of_no_other(chance: random.Random) -> None:
    with tempfile.TemporaryDirectory() as named:
        history = History(Path(named), chance)
        acts = [history.decide] * 4 + [history.check] * 3 + [history.export, history.take_back, history.edit] * 2
        acts += [history.correct_by_hand, history.decide_late]
        try:
            for _ in range(16):
                chance.choice(acts)()
            history.export()
        finally:
            history.store.close()
