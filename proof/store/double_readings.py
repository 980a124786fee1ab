"""Blind double proofreading: compares the decisions that several people made on a flag without seeing each other's.

Such a blind decision is called a reading. On open flags, the person who makes a request (`REQUESTER`) sees the state of
their own readings. An arbiter sees the flags on which two readers differ; readings that agree become decisions, in one
batch.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from operator import attrgetter
from typing import NamedTuple

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from proof.model.flags import Origin
from proof.store.decision_chains import REQUESTER
from proof.store.decision_records import Decision, DecisionRequest, State, Verdict, judgement_category
from proof.store.decisions import decide_in
from proof.store.lookup import StorePart, filled, find_work_id
from proof.store.models import FlagRow, ReadingRow
from proof.store.seeded_errors import IS_SEEDED

UNCHANGING_VERDICTS = {State.KEPT: Verdict.KEEP, State.COPY: Verdict.COPY, State.RETAINED: Verdict.RETAIN}
"""The verdict that makes a reading a decision, for the states that leave the text as it is."""


class OwnState(NamedTuple):
    """The state of a flag for one reader, after `version` readings."""

    state: State
    reading: str
    version: int


@dataclass(frozen=True, slots=True)
class BlindReading:
    """The last blind reading of a flag by a person."""

    person: str
    state: State
    reading: str
    copy_reads: str
    suggested: str
    authority: str
    note: str

    @property
    def judgement(self) -> tuple[State, str]:
        """Two readings with the same judgement agree."""
        return self.state, self.reading if self.state is State.CORRECTED else self.copy_reads

    @property
    def category(self) -> str:
        """The category in measures of agreement."""
        return judgement_category(self.state, self.reading, self.suggested)

    @property
    def verdict(self) -> Verdict:
        """The verdict that makes the reading a decision."""
        if self.state in UNCHANGING_VERDICTS:
            return UNCHANGING_VERDICTS[self.state]
        if self.reading == self.suggested:
            return Verdict.TAKE
        return Verdict.TYPED if self.reading else Verdict.DELETE


@dataclass(frozen=True, slots=True)
class ComparedReadings:
    """The readings of a flag by two people or more. A correction by hand may have one reading, which counts as a
    difference: the other reader left the place unchanged."""

    flag: int
    kind: str
    readings: tuple[BlindReading, ...]

    @property
    def same(self) -> bool:
        """Whether all judgements are the same."""
        return len(self.readings) > 1 and len({reading.judgement for reading in self.readings}) == 1

    @property
    def agreed(self) -> bool:
        """Whether a decision can be made of the readings: they are the same, and not unsure."""
        return self.same and self.readings[0].state is not State.UNSURE

    def pairs(self) -> Iterable[tuple[BlindReading, BlindReading]]:
        """All pairs of readings, in the order of the persons' names."""
        return combinations(sorted(self.readings, key=lambda reading: reading.person), 2)


class DoubleReadings(StorePart):
    """The compared readings of a store; `Store.double_readings` is one."""

    def of_work(self, work: str) -> list[ComparedReadings]:
        """The compared readings of a work, in the order of flag numbers. Raises NoPlaceError."""
        with self._reading() as session:
            return compare_readings(session, FlagRow.work_id == find_work_id(session, work))

    def of_flags(self, flags: Sequence[int]) -> dict[int, ComparedReadings]:
        """The compared readings of these flags by flag number; flags without any are left out."""
        with self._reading() as session:
            return {comparison.flag: comparison for comparison in compare_readings(session, FlagRow.id.in_(flags))}

    def readers(self, work: str) -> dict[str, int]:
        """The number of flags of a work that each person read, by name. Raises NoPlaceError."""
        query = select(ReadingRow.person, func.count(ReadingRow.flag_id.distinct())).group_by(ReadingRow.person)
        with self._reading() as session:
            query = query.where(ReadingRow.work_id == find_work_id(session, work)).order_by(ReadingRow.person)
            return dict(session.execute(query).all())

    def waiting(self, work: str) -> list[ComparedReadings]:
        """The compared readings of the open flags of a work. Raises NoPlaceError."""
        with self._reading() as session:
            return compare_readings(
                session, FlagRow.work_id == find_work_id(session, work), FlagRow.state == State.OPEN.value
            )

    def adopt(self, work: str, person: str, key: str) -> list[Decision]:
        """Decide each open flag on which readers agree. The decisions of `person` form one batch, which is undone as
        one. Decided flags are skipped, so that the request can be repeated. Raises NoPlaceError."""
        decisions: list[Decision] = []
        with self._writing() as session:
            open_flags = (FlagRow.work_id == find_work_id(session, work), FlagRow.state == State.OPEN.value)
            for comparison in compare_readings(session, *open_flags):
                flag = session.get_one(FlagRow, comparison.flag)
                # a flag may have been decided in this loop, with the other half of a moved character
                if not comparison.agreed or flag.state != State.OPEN.value:
                    continue
                last = comparison.readings[-1]
                request = DecisionRequest(
                    work=work,
                    flag=flag.id,
                    verdict=last.verdict,
                    version=flag.version,
                    person=person,
                    key=uuid.uuid4().hex if decisions else key,
                    reading=last.copy_reads if last.state is State.RETAINED else last.reading,
                    note=next((reading.note for reading in comparison.readings if reading.note), ""),
                    batch=key,
                    authority=last.authority,
                    confirmed=True,
                )
                decisions.append(decide_in(session, request))
        return decisions


def own_states(session: Session, *which: ColumnElement[bool]) -> dict[int, OwnState]:
    """The states of the open flags that the person who makes the request has read blind, by flag number."""
    requester = REQUESTER.get()
    if not requester.blind:
        return {}
    query = select(ReadingRow.flag_id, ReadingRow.state, ReadingRow.reading).where(
        ReadingRow.person == requester.person
    )
    query = query.join(FlagRow, FlagRow.id == ReadingRow.flag_id).where(FlagRow.state == State.OPEN.value, *which)
    own: dict[int, OwnState] = {}
    for flag, state, reading in session.execute(query.order_by(ReadingRow.id)):
        own[flag] = OwnState(State(state), reading, own[flag].version + 1 if flag in own else 1)
    return own


def compare_readings(session: Session, *which: ColumnElement[bool]) -> list[ComparedReadings]:
    """The readings of the flags that meet the conditions `which`, in the order of flag numbers: flags that several
    people read, and corrections by hand. Seeded errors are left out."""
    texts = (ReadingRow.reading, ReadingRow.copy_reads, ReadingRow.suggested, ReadingRow.authority, ReadingRow.note)
    columns = (ReadingRow.flag_id, ReadingRow.kind, ReadingRow.person, ReadingRow.state, *texts, FlagRow.origin)
    query = select(*columns).join(FlagRow, FlagRow.id == ReadingRow.flag_id)
    query = query.where(FlagRow.stale.is_(False), ~IS_SEEDED, *which)
    comparisons = []
    rows = session.execute(query.order_by(ReadingRow.flag_id, ReadingRow.id))
    for flag, group in groupby(rows, attrgetter("flag_id")):
        rows_of_flag = list(group)
        last: dict[str, BlindReading] = {}
        for row in rows_of_flag:
            last[row.person] = filled(BlindReading, row, state=State(row.state))
        readings = tuple(reading for reading in last.values() if reading.state not in (State.OPEN, State.SKIPPED))
        by_hand = rows_of_flag[0].origin == Origin.PERSON.value
        if len(readings) > 1 or (readings and by_hand):
            comparisons.append(ComparedReadings(flag, rows_of_flag[0].kind, readings))
    return comparisons


def differing(session: Session, *which: ColumnElement[bool]) -> frozenset[int]:
    """The numbers of the flags that meet the conditions `which` and on which readers differ."""
    return frozenset(comparison.flag for comparison in compare_readings(session, *which) if not comparison.agreed)
