"""Blind double proofreading: the readings of a flag by several people, compared.

Who looks (`LOOKER`) sees their own readings in place of the open state of a flag. Whoever arbitrates sees the flags on
which two readers differ; readings that agree become ordinary decisions, all in one act.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import NamedTuple

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from proof.model.flags import Origin
from proof.store.chains import LOOKER
from proof.store.decision_records import Decision, DecisionRequest, State, Verdict
from proof.store.decisions import decide_in
from proof.store.lookup import StorePart, find_work_id
from proof.store.models import FlagRow, ReadingRow
from proof.store.seeded import IS_SEEDED

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
class ComparedReadings:
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


class DoubleReadings(StorePart):
    """The compared readings of a store; `Store.double_readings` is one."""

    def of_work(self, work: str) -> list[ComparedReadings]:
        """The compared readings of a work, in the order of the flags' numbers: of flags that several people read, and
        of corrections by hand, which one reader alone may have made. Raises NoPlaceError."""
        with self._reading() as session:
            return compare_readings(session, FlagRow.work_id == find_work_id(session, work))

    def of_flags(self, flags: Sequence[int]) -> dict[int, ComparedReadings]:
        """The compared readings of these flags by flag number; flags without any are left out."""
        with self._reading() as session:
            return {comparison.flag: comparison for comparison in compare_readings(session, FlagRow.id.in_(flags))}

    def readers(self, work: str) -> dict[str, int]:
        """How many flags of a work each person read, by name. Raises NoPlaceError."""
        read = select(ReadingRow.person, func.count(ReadingRow.flag_id.distinct())).group_by(ReadingRow.person)
        with self._reading() as session:
            rows = session.execute(
                read.where(ReadingRow.work_id == find_work_id(session, work)).order_by(ReadingRow.person)
            )
            return dict(rows.all())

    def waiting(self, work: str) -> list[ComparedReadings]:
        """The compared readings of flags that no decision has settled yet. Raises NoPlaceError."""
        with self._reading() as session:
            return compare_readings(
                session, FlagRow.work_id == find_work_id(session, work), FlagRow.state == State.OPEN.value
            )

    def take_over(self, work: str, person: str, key: str) -> list[Decision]:
        """Decide each open flag whose readers agree as they did; the decisions are one act of `person`, taken back as
        one. Decided flags are left alone, so that a request may be sent again. Raises NoPlaceError."""
        decisions: list[Decision] = []
        with self._writing() as session:
            open_flags = (FlagRow.work_id == find_work_id(session, work), FlagRow.state == State.OPEN.value)
            for comparison in compare_readings(session, *open_flags):
                if not comparison.agreed or session.get_one(FlagRow, comparison.flag).state != State.OPEN.value:
                    continue  # readers differ; or the flag was decided along with the other half of a moved character
                last = comparison.readings[-1]
                note = next((reading.note for reading in comparison.readings if reading.note), "")
                request = DecisionRequest(
                    *(work, comparison.flag, last.verdict, session.get_one(FlagRow, comparison.flag).version, person),
                    uuid.uuid4().hex if decisions else key,
                    last.copy_reads if last.state is State.RETAINED else last.reading,
                    note,
                    batch=key,
                    authority=last.authority,
                    confirmed=True,
                )
                decisions.append(decide_in(session, request))
        return decisions


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


def compare_readings(session: Session, *which: ColumnElement[bool]) -> list[ComparedReadings]:
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
            flags.append(ComparedReadings(flag, events[0].kind, readings))
    return flags


def differing(session: Session, *which: ColumnElement[bool]) -> frozenset[int]:
    """The flags on which readers differ."""
    return frozenset(comparison.flag for comparison in compare_readings(session, *which) if not comparison.agreed)
