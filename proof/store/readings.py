"""Blind double proofreading: what each proofreader decides without seeing the decisions of others.

In a project that is read blind (`serve.blind`) a decision of a proofreader is a `ReadingRow`: an act like a decision,
about a flag, of that person alone. Nothing but this module reads these rows, so that nothing else shows them. Who looks
(`LOOKER`) sees their own readings in place of the open state of a flag. Whoever arbitrates sees the flags on which two
readers differ; readings that agree become ordinary decisions, all in one act.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from itertools import combinations, groupby
from typing import NamedTuple

from sqlalchemy import ColumnElement, inspect, select
from sqlalchemy.orm import Session

from proof.model.flags import Origin
from proof.store.decision_records import Decision, State, Verdict
from proof.store.decision_rows import shown_decisions
from proof.store.events import Event
from proof.store.models import FlagRow, ReadingRow
from proof.store.seeded import IS_SEEDED


@dataclass(frozen=True, slots=True)
class Looker:
    """Who asks: `blind`, sees no decisions of others; `arbitrates`, decides where two readers differ."""

    person: str = ""
    blind: bool = False
    arbitrates: bool = False


LOOKER: ContextVar[Looker] = ContextVar("looker", default=Looker())  # noqa: B039 - it is frozen
"""Who the present request is made by."""

AGREEING = {State.KEPT: Verdict.KEEP, State.COPY: Verdict.COPY, State.RETAINED: Verdict.RETAIN}
"""The verdicts that take over a reading which does not correct the text."""


class OwnState(NamedTuple):
    """The state of a flag for one reader, after `version` readings."""

    state: State
    reading: str
    version: int


@dataclass(frozen=True, slots=True)
class BlindReading:
    """What a person last decided about a flag."""

    person: str
    state: State
    reading: str
    copy_reads: str
    suggested: str
    authority: str
    note: str

    @property
    def judgement(self) -> tuple[State, str]:
        """What must be equal for two readings to agree."""
        return self.state, self.reading if self.state is State.CORRECTED else self.copy_reads

    @property
    def category(self) -> str:
        """Its category in a measure of agreement: a state, the suggestion, or another reading."""
        if self.state is not State.CORRECTED:
            return self.state.value
        return "as suggested" if self.reading == self.suggested else f"= {self.reading}"

    @property
    def verdict(self) -> Verdict:
        """The verdict that takes it over."""
        taken = Verdict.TAKE if self.reading == self.suggested else Verdict.TYPED if self.reading else Verdict.DELETE
        return AGREEING.get(self.state, taken)


@dataclass(frozen=True, slots=True)
class Compared:
    """The readings of a flag by two people or more, or of a correction by hand, by one: that counts as a difference."""

    flag: int
    kind: str
    readings: tuple[BlindReading, ...]

    @property
    def same(self) -> bool:
        """Whether all read alike."""
        return len(self.readings) > 1 and len({reading.judgement for reading in self.readings}) == 1

    @property
    def agreed(self) -> bool:
        """Whether it can be taken over: all read alike, and are not all unsure."""
        return self.same and self.readings[0].state is not State.UNSURE

    def pairs(self) -> Iterable[tuple[BlindReading, BlindReading]]:
        """All pairs of readings, in the order of the names."""
        return combinations(sorted(self.readings, key=lambda reading: reading.person), 2)


def readings_of(session: Session, flag: int, person: str) -> list[ReadingRow]:
    """The readings of a flag by a person, oldest first."""
    query = select(ReadingRow).where(ReadingRow.flag_id == flag, ReadingRow.person == person)
    return list(session.scalars(query.order_by(ReadingRow.id)))


def events_of_readings(own: Sequence[ReadingRow]) -> list[Event]:
    """Readings of a flag as events, which may take each other back."""
    return [Event(row.id, row.about, row.person) for row in own]


def shown_readings(session: Session, own: Sequence[ReadingRow]) -> list[Decision]:
    """All readings of a flag by a person as they are shown, numbered from 1."""
    return [replace(made, version=number) for number, made in enumerate(shown_decisions(session, own), 1)]


def own_readings(session: Session, flag: int) -> list[Decision]:
    """The readings of a flag by who looks; none where they do not look blind."""
    looker = LOOKER.get()
    return shown_readings(session, readings_of(session, flag, looker.person)) if looker.blind else []


def as_read(flag: FlagRow, own: Sequence[ReadingRow]) -> FlagRow:
    """A copy of a flag, outside the session, in the state in which its reader left it."""
    values = {column.key: getattr(flag, column.key) for column in inspect(FlagRow).column_attrs}
    last = {"state": own[-1].state, "reading": own[-1].reading} if own else {}
    return FlagRow(**values | last | {"version": len(own)})


def version_seen(session: Session, flag: FlagRow) -> int:
    """The version of a flag for who looks."""
    looker = LOOKER.get()
    return len(readings_of(session, flag.id, looker.person)) if looker.blind else flag.version


def own_states(session: Session, *which: ColumnElement[bool]) -> dict[int, OwnState]:
    """The states of the undecided flags that who looks has read blind, by their numbers."""
    looker = LOOKER.get()
    if not looker.blind:
        return {}
    query = select(ReadingRow.flag_id, ReadingRow.state, ReadingRow.reading).where(ReadingRow.person == looker.person)
    query = query.join(FlagRow, FlagRow.id == ReadingRow.flag_id).where(FlagRow.state == State.OPEN.value, *which)
    own: dict[int, OwnState] = {}
    for flag, state, reading in session.execute(query.order_by(ReadingRow.id)):
        own[flag] = OwnState(State(state), reading, own[flag].version + 1 if flag in own else 1)
    return own


def compared(session: Session, *which: ColumnElement[bool]) -> list[Compared]:
    """The flags that two people or more read, and corrections by hand, by number; without seeded errors."""
    names = ("person", "state", "reading", "copy_reads", "suggested", "authority", "note")
    query = select(ReadingRow.flag_id, ReadingRow.kind, FlagRow.origin, *(getattr(ReadingRow, name) for name in names))
    query = query.join(FlagRow, FlagRow.id == ReadingRow.flag_id).where(FlagRow.stale.is_(False), ~IS_SEEDED, *which)
    flags = []
    for flag, of_flag in groupby(
        session.execute(query.order_by(ReadingRow.flag_id, ReadingRow.id)), lambda row: row[0]
    ):
        events = list(of_flag)
        last = {row.person: BlindReading(row.person, State(row.state), *row[5:]) for row in events}
        readings = tuple(reading for reading in last.values() if reading.state not in (State.OPEN, State.SKIPPED))
        if len(readings) > 1 or (readings and events[0].origin == Origin.PERSON.value):
            flags.append(Compared(flag, events[0].kind, readings))
    return flags


def differing(session: Session, *which: ColumnElement[bool]) -> frozenset[int]:
    """The flags on which readers differ."""
    return frozenset(comparison.flag for comparison in compared(session, *which) if not comparison.agreed)
