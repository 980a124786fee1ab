"""The decisions of each person in a work: their numbers, and whether people who judged the same place agree.

A person judges a place by deciding its flag, or by validating its page, which confirms every decision on it that is not
their own. Skipped, unsure and taken back decisions are no judgements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations, groupby
from operator import attrgetter
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Row, func, select
from sqlalchemy.orm import Session

from proof.store.decision_records import SETTLED, STATE_OF, TAKING_BACK, State, Verdict, judgement_category
from proof.store.events import standing_events
from proof.store.lookup import StorePart, work_id_subquery
from proof.store.models import DecisionRow, FlagRow
from proof.store.page_states import PageState, standings_in
from proof.store.seeded_errors import IS_SEEDED

PAUSE_S = 300.0
"""Seconds between two decisions from which on the person is taken to have paused."""

PACE_SAMPLE = 20_000
"""Number of decisions, the newest of a work, from which the pace of deciding is measured."""


class JudgementPair(NamedTuple):
    """The judgements of two people on the same place; `validated`: one of them only validated its page."""

    first: str
    second: str
    validated: bool = False


JudgementPairs = dict[tuple[str, str], list[JudgementPair]]
"""For two people, in the order of their names, their judgements on every place that both judged."""


_EventRow = Row[*tuple[Any, ...]]
"""A decision: the columns of `DecisionRow` that its judgement depends on, and the `page_id` of its flag."""


def _decisions_by_flag(session: Session, work: str, *which: ColumnElement[bool]) -> Iterator[list[_EventRow]]:
    """The decisions of a work that `which` selects, as one list for each flag, oldest first; without those on seeded
    errors."""
    said = (DecisionRow.verdict, DecisionRow.state, DecisionRow.reading, DecisionRow.suggested, DecisionRow.person)
    query = select(DecisionRow.id, DecisionRow.flag_id, DecisionRow.about, *said, FlagRow.page_id)
    query = query.join(FlagRow, FlagRow.id == DecisionRow.flag_id)
    query = query.where(DecisionRow.work_id == work_id_subquery(work), ~IS_SEEDED, *which)
    rows = session.execute(query.order_by(DecisionRow.flag_id, DecisionRow.version))
    for _, events in groupby(rows, attrgetter("flag_id")):
        yield list(events)


class Differing(NamedTuple):
    """A flag on which two people judged differently, with the state and reading that each decided."""

    flag: int
    own: tuple[str, str]
    person: str
    other: tuple[str, str]


@dataclass(frozen=True, slots=True)
class WitnessRecord:
    """The record of a witness, or of another reader of the images, in a work: the number of decided `places` where it
    has a reading, and of those where the decision agrees with it (`agreeing`)."""

    siglum: str
    places: int
    agreeing: int


class Judgements(StorePart):
    """Counts and comparisons of the decisions in a work, as `Store.judgements`."""

    def judged_twice(self, work: str) -> JudgementPairs:
        """The judgements of two people on the same places of a work."""
        pairs: JudgementPairs = {}
        with self._reading() as session:
            standing_of = standings_in(session, work)
            validator_of = {
                page: at.person for page, at in standing_of.items() if at.given_state is PageState.VALIDATED
            }
            for events in _decisions_by_flag(session, work):
                validator = validator_of.get(events[0].page_id)
                if not validator and len({event.person for event in events}) < 2:
                    continue
                judgement_of = {person: _judgement(event) for person, event in _last_events(events).items()}
                confirms = validator and validator not in judgement_of and events[-1].state in SETTLED
                if validator and confirms:
                    judgement_of[validator] = _judgement(events[-1])
                for person, other in combinations(sorted(judgement_of), 2):
                    is_validated = bool(confirms) and validator in (person, other)
                    pair = JudgementPair(judgement_of[person], judgement_of[other], is_validated)
                    pairs.setdefault((person, other), []).append(pair)
        return pairs

    def differing(self, work: str, page: int, person: str) -> list[Differing]:
        """The flags of a page on which another person decided differently from `person`."""
        differing_flags = []
        with self._reading() as session:
            for events in _decisions_by_flag(session, work, FlagRow.page_id == page):
                last_of = _last_events(events)
                own = last_of.pop(person, None)
                if own is None:
                    continue
                differing_flags += [
                    _difference(own, other) for other in last_of.values() if _judgement(other) != _judgement(own)
                ]
        return differing_flags

    def changed_of(self, work: str, person: str) -> list[Differing]:
        """Decisions of `person` in a work that another person changed since or took back, the latest changes first."""
        decided_by_person = select(DecisionRow.flag_id).where(DecisionRow.person == person)
        changes = []
        with self._reading() as session:
            for events in _decisions_by_flag(session, work, DecisionRow.flag_id.in_(decided_by_person)):
                last = events[-1]
                own = next(event for event in reversed(events) if event.person == person)
                is_changed = (own.state, own.reading) != (last.state, last.reading)
                if own.state in SETTLED and last.person != person and is_changed:
                    changes.append((last.id, _difference(own, last)))
        return [difference for _, difference in sorted(changes, reverse=True)]

    def witness_records(self, work: str) -> list[WitnessRecord]:
        """The record of each witness at the kept and corrected flags of a work, those with most places first."""
        witnesses = FlagRow.evidence["witnesses"]
        query = select(FlagRow.state, FlagRow.reading, FlagRow.suggested, witnesses)
        query = query.where(FlagRow.work_id == work_id_subquery(work), FlagRow.stale.is_(False), ~IS_SEEDED)
        query = query.where(FlagRow.state.in_([State.KEPT.value, State.COPY.value, State.CORRECTED.value]))
        places: Counter[str] = Counter()
        agreeing: Counter[str] = Counter()
        with self._reading() as session:
            for state, reading, suggested, testimonies in session.execute(query):
                for testimony in testimonies or ():
                    places[testimony["siglum"]] += 1
                    if state == State.CORRECTED.value:
                        reads_as_image = testimony["side"] == "image" and reading == suggested
                        agrees = reads_as_image or testimony["reading"] == reading
                    else:
                        agrees = testimony["side"] == "text"
                    agreeing[testimony["siglum"]] += agrees
        return [WitnessRecord(siglum, count, agreeing[siglum]) for siglum, count in places.most_common()]

    def paces(self, work: str) -> list[float]:
        """Seconds from each decision of a person to their next, without pauses and batches; of the newest
        `PACE_SAMPLE` decisions of a work."""
        query = select(DecisionRow.person, DecisionRow.at, DecisionRow.batch).order_by(DecisionRow.id.desc())
        query = query.where(DecisionRow.work_id == work_id_subquery(work)).limit(PACE_SAMPLE)
        last_at: dict[str, datetime] = {}
        intervals = []
        with self._reading() as session:
            rows = session.execute(query.where(DecisionRow.verdict.in_([verdict.value for verdict in STATE_OF]))).all()
        for person, at, batch in reversed(rows):
            interval = (at - last_at[person]).total_seconds() if person in last_at else PAUSE_S
            if 0 < interval < PAUSE_S and not batch:
                intervals.append(interval)
            last_at[person] = at
        return intervals

    def by_person(self, work: str, *, seeded: bool = False) -> dict[str, dict[Verdict, int]]:
        """The number of decisions of a work by person and verdict; with `seeded` also those on seeded errors."""
        which = () if seeded else (_not_on_seeded(),)
        counts: dict[str, dict[Verdict, int]] = {}
        with self._reading() as session:
            columns = (DecisionRow.person, DecisionRow.verdict)
            for (person, verdict), count in _counted(session, work, columns, *which):
                counts.setdefault(person, {})[Verdict(verdict)] = count
        return counts

    def by_day(self, work: str) -> dict[str, int]:
        """The number of decisions in a work on each day (UTC, as `2026-01-31`), in the order of the days; without those
        on seeded errors."""
        with self._reading() as session:
            counted = _counted(session, work, (func.date(DecisionRow.at),), _not_on_seeded())
            return {str(day): count for (day,), count in sorted(counted)}


def _not_on_seeded() -> ColumnElement[bool]:
    return DecisionRow.flag_id.not_in(select(FlagRow.id).where(IS_SEEDED))


def _last_events(events: Iterable[_EventRow]) -> dict[str, _EventRow]:
    """The last event of each person that settled a flag and was not undone."""
    return {event.person: event for event in standing_events(events) if event.state in SETTLED}


def _judgement(event: _EventRow) -> str:
    """The category of the judgement of a decision."""
    return judgement_category(event.state, event.reading, event.suggested)


def _difference(own: _EventRow, other: _EventRow) -> Differing:
    return Differing(own.flag_id, (own.state, own.reading), other.person, (other.state, other.reading))


def _counted(
    session: Session, work: str, columns: tuple[Any, ...], *which: ColumnElement[bool]
) -> Iterator[tuple[tuple[Any, ...], int]]:
    """The values in `columns` of the decisions that `which` selects, with the number of decisions that have them, and
    without undone decisions. The database counts all decisions; the undone ones, which are few, are subtracted."""
    query = select(*columns, func.count()).where(DecisionRow.work_id == work_id_subquery(work), *which)
    query = query.where(DecisionRow.verdict.not_in(TAKING_BACK)).group_by(*columns)
    counts = Counter({tuple(row[:-1]): row[-1] for row in session.execute(query)})
    counts.subtract(Counter(_undone(session, work, columns, *which)))
    yield from ((values, count) for values, count in counts.items() if count > 0)


def _undone(
    session: Session, work: str, columns: tuple[Any, ...], *which: ColumnElement[bool]
) -> Iterator[tuple[Any, ...]]:
    """The values in `columns` of each decision that was undone and not redone."""
    flags_with_undo = select(DecisionRow.flag_id).where(DecisionRow.work_id == work_id_subquery(work), *which)
    flags_with_undo = flags_with_undo.where(DecisionRow.about.is_not(None))
    query = select(DecisionRow.id, DecisionRow.about, DecisionRow.verdict, *columns)
    events = session.execute(query.where(DecisionRow.flag_id.in_(flags_with_undo)).order_by(DecisionRow.id)).all()
    standing_ids = {event.id for event in standing_events(events)}
    for event in events:
        if event.verdict not in TAKING_BACK and event.id not in standing_ids:
            yield tuple(event[3:])
