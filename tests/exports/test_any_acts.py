"""Two people decide, correct by hand, take back and do again while lines are put in, taken out, brought back, moved,
joined and parted between checks, and earlier texts are put back: every character has what was decided of it last, on
the desk and in the text."""

from __future__ import annotations

import tempfile
from itertools import count
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from sqlalchemy import select

from proof.exports.decided import decided_in
from proof.exports.source import correct
from proof.model.flags import Evidence, Flag, Kind, context_of, numbered
from proof.model.geometry import Box
from proof.model.result import CheckedColumn, PageResult, Status
from proof.store import Store
from proof.store.acts import ChangedError, NothingLeftError
from proof.store.decision_records import ConflictError, Verdict
from proof.store.events import Event, standing
from proof.store.models import FlagRow
from proof.text.read import read_transcription
from tests.standing import by_hand, check_files, say
from tests.wide import examples

PAGE = "KR1_WYG_010-1a"
LENGTH = 9
PEOPLE = st.sampled_from("甲乙")
ANY = st.integers(0, 59)
Decided = tuple[str, str]
OPEN: Decided = ("open", "")


class Said(NamedTuple):
    """What somebody did of a character; `stands` is what it left."""

    event: Event
    character: str
    stands: Decided


class Acts(RuleBasedStateMachine):
    """A text in which no two characters are the same. `said` is all that was done, oldest first; `shown` are the flags
    of the desk, and what was corrected by hand, by character."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "KR1_010.txt"
        self.store = Store.open(self.path.with_name("proof.sqlite"))
        self.characters = map(chr, count(0x20000))
        self.said: dict[int, Said] = {}
        self.lines = [self.line() for _ in range(4)]
        self.gone: list[str] = []
        self.shown: dict[str, FlagRow] = {}
        self.check()

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()

    def line(self) -> str:
        return "".join(next(self.characters) for _ in range(LENGTH))

    def check(self) -> None:
        """What stands third or last in a line as it was written is flagged; `seen` are the flags till then."""
        self.seen, self.said_then = dict(self.shown), len(self.said)
        self.path.write_text(f"<pb:{PAGE}>¶\n" + "".join(f"{line}¶\n" for line in self.lines), encoding="utf-8")
        columns = tuple(CheckedColumn(n, Box(0, 0, 9, 99), line) for n, line in enumerate(self.lines, 1))
        flags = [
            self.flag(column, offset)
            for column in columns
            for offset, one in enumerate(column.source)
            if (ord(one) - 0x20000) % LENGTH in (2, LENGTH - 1)
        ]
        result = PageResult(PAGE, "ref", Status.CHECKED, columns=columns, flags=numbered(flags))
        check_files(self.store, [(self.path, result)], key=lambda _: repr(self.lines)[:128])
        self.look()

    def flag(self, column: CheckedColumn, offset: int) -> Flag:
        why, context = Evidence("posterior"), context_of(column.source, offset, 1)
        said = column.source[offset], "比"
        return Flag(PAGE, "ref", column.number, offset, 1, Kind.SUBSTITUTION, *said, 5.0, True, None, why, context)

    def look(self) -> None:
        with self.store._reading() as session:
            there = session.scalars(select(FlagRow).where(FlagRow.stale.is_(False))).all()
        placed = [row for row in there if row.line <= len(self.lines)]
        self.shown = {
            row.transcribed: row for row in placed if self.lines[row.line - 1][row.offset :][:1] == row.transcribed
        }

    def stands(self, character: str) -> Decided:
        chain = [one for one in self.said.values() if one.character == character]
        number = standing([one.event for one in chain])
        return chain[number - 1].stands if number else OPEN

    def note(self, person: str, character: str, stands: Decided, about: int | None = None) -> None:
        number = len(self.said) + 1
        self.said[number] = Said(Event(number, about, person), character, stands)

    @rule(person=PEOPLE, n=ANY, verdict=st.sampled_from([Verdict.TAKE, Verdict.KEEP, Verdict.COPY]))
    def decide(self, person: str, n: int, verdict: Verdict) -> None:
        row = list(self.shown.values())[n % len(self.shown)]
        made = say(self.store, row.id, verdict, person=person, version=row.version)
        self.note(person, row.transcribed, (made.state.value, made.reading))
        self.look()

    @rule(person=PEOPLE, n=ANY, verdict=st.sampled_from([Verdict.TAKE, Verdict.KEEP]))
    def decide_late(self, person: str, n: int, verdict: Verdict) -> None:
        """In a browser that shows the flags of before the last check."""
        there = [row for row in self.seen.values() if row.transcribed in "".join(self.lines)]
        if not there:
            return
        row = there[n % len(there)]
        since = [one.character for number, one in self.said.items() if number > self.said_then]
        try:
            made = say(self.store, row.id, verdict, person=person, version=row.version)
        except ConflictError:  # also where a check has carried over what was seen
            return
        assert row.transcribed not in since
        self.note(person, row.transcribed, (made.state.value, made.reading))
        self.look()

    @rule(person=PEOPLE, n=ANY, offset=st.sampled_from([0, 1, 4]))
    def correct(self, person: str, n: int, offset: int) -> None:
        line = n % len(self.lines)
        character = self.lines[line][offset : offset + 1]
        if not character or character in self.shown:
            return
        made = by_hand(self.store, line + 1, offset, "此", person=person)
        self.note(person, character, (made.state.value, made.reading))
        self.look()

    @rule(person=PEOPLE, again=st.booleans())
    def take_back(self, person: str, again: bool) -> None:
        number = self.last(person, again)
        chain = [] if number is None else [one for one in self.said.values() if one.character == self.of(number)]
        events = [one.event for one in chain]
        at = [event.id for event in events].index(number) + 1 if number else 0
        changed = standing(events) != standing(events, at)
        try:
            (self.store.acts.redo if again else self.store.acts.undo)("KR1", person, uuid4().hex)
        except NothingLeftError:
            assert number is None
        except ChangedError:
            assert changed
        else:
            assert number is not None
            assert not changed
            self.note(person, self.of(number), OPEN, number)
        self.look()

    def of(self, number: int) -> str:
        return self.said[number].character

    def last(self, person: str, again: bool) -> int | None:
        """What of theirs somebody takes back next, or does again."""
        done, undone = list[int](), list[int]()
        for number, one in self.said.items():
            if one.event.person != person:
                continue
            if one.event.about is None:
                done, undone = [*done, number], []
            elif one.event.about in done:
                done, undone = done[:-1], [*undone, number]
            else:
                done, undone = [*done, number], undone[:-1]
        return (undone if again else done)[-1] if (undone if again else done) else None

    @rule(n=ANY, at=ANY, what=st.sampled_from(["in", "out", "back", "moved", "joined", "parted", "longer"]))
    def edit(self, n: int, at: int, what: str) -> None:
        lines, number, to = self.lines, n % len(self.lines), at % (len(self.lines) + 1)
        match what:
            case "in":
                lines.insert(to, self.line())
            case "out" if len(lines) > 2:
                self.gone.append(lines.pop(number))
            case "back" if self.gone:
                lines.insert(to, self.gone.pop())
            case "moved":
                lines.insert(at % len(lines), lines.pop(number))
            case "joined" if len(lines) > 2:
                first = number % (len(lines) - 1)
                lines[first : first + 2] = ["".join(lines[first : first + 2])]
            case "parted" if len(lines[number]) >= LENGTH:
                middle = len(lines[number]) // 2
                lines[number : number + 1] = [lines[number][:middle], lines[number][middle:]]
            case "longer":
                middle = at % (len(lines[number]) + 1)
                lines[number] = lines[number][:middle] + "庚" + lines[number][middle:]
        self.check()

    @rule(away=st.booleans())
    def check_another_text(self, away: bool) -> None:
        """What was decided is written into the text, or another text stands there, for the time of a check."""
        was = self.lines
        readings = {char: self.stands(char) for char in {one.character for one in self.said.values()}}
        other = {char: "丙" if away else reading for char, (state, reading) in readings.items() if state == "corrected"}
        self.lines = ["".join(other.get(char, char) for char in line) for line in was]
        self.check()
        self.lines = was
        self.check()

    @invariant()
    def all_is_as_it_was_decided(self) -> None:
        there = set("".join(self.lines))
        for character in {one.character for one in self.said.values()} & there:
            row = self.shown.get(character)
            assert (OPEN if row is None or row.state == "open" else (row.state, row.reading)) == self.stands(character)
        decided = decided_in(self.store, read_transcription(self.path))
        written = correct(decided.edition, decided.corrections).text.split("\n", 1)[1]
        readings = {character: self.stands(character) for character in there}
        wanted = {char: reading for char, (state, reading) in readings.items() if state == "corrected"}
        lines = ("".join(wanted.get(char, char) for char in line) for line in self.lines)
        assert written == "".join(f"{line}¶\n" for line in lines)


@pytest.mark.slow
def test_every_character_has_what_was_decided_of_it_last() -> None:
    few = settings(
        max_examples=examples(4), stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
    )
    run_state_machine_as_test(Acts, settings=few)
