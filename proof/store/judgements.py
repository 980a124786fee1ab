"""The decisions of each person in a work: their numbers, and whether people who judged the same place agree.

A person judges a place by deciding its flag, or by validating its page, which confirms every decision on it that is not
their own. Skipped, unsure and taken back decisions are no judgements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import combinations, groupby
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from proof.store.decision_records import SETTLED, STATE_OF, TAKING_BACK, State, Verdict
from proof.store.events import standing_events
from proof.store.lookup import StorePart, work_id_subquery
from proof.store.models import DecisionRow, FlagRow, PageRow
from proof.store.page_states import PageStanding, PageState, standings
from proof.store.seeded import IS_SEEDED

PAUSE = 300.0
"""Seconds after which somebody did something else in between."""

PACED = 20_000
"""Decisions, the newest, that tell how quickly people decide."""


class Judged(NamedTuple):
    """The judgements of two people on a place; `validated`: one of them validated its page only."""

    one: str
    other: str
    validated: bool = False


Pairs = dict[tuple[str, str], list[Judged]]
"""By two people, in the order of their names, what each said of every place that both judged."""


class _Event(NamedTuple):
    """The columns of a decision that make it a judgement."""

    id: int
    flag: int
    page: int
    about: int | None
    verdict: str
    state: str
    reading: str
    suggested: str
    person: str


def _decided(session: Session, work: str, *wanted: ColumnElement[bool]) -> Iterator[list[_Event]]:
    """The decisions of each matching flag, oldest first; not those on seeded errors."""
    columns = (DecisionRow.id, DecisionRow.flag_id, FlagRow.page_id, DecisionRow.about, DecisionRow.verdict)
    more = (DecisionRow.state, DecisionRow.reading, DecisionRow.suggested, DecisionRow.person)
    query = select(*columns, *more).join(FlagRow, FlagRow.id == DecisionRow.flag_id)
    query = query.where(DecisionRow.work_id == work_id_subquery(work), ~IS_SEEDED, *wanted)
    rows = session.execute(query.order_by(DecisionRow.flag_id, DecisionRow.version))
    for _, events in groupby((_Event(*row) for row in rows), lambda event: event.flag):
        yield list(events)


class Differing(NamedTuple):
    """A flag with different judgements of two people: state and reading of each."""

    flag: int
    own: tuple[str, str]
    person: str
    other: tuple[str, str]


class WitnessRecord(NamedTuple):
    """A witness, or another reader of the images, beside what people decided: at how many decided `places` of a work it
    reads something, and at how many of these what was decided is what it reads (`upheld`)."""

    siglum: str
    places: int
    upheld: int


class Judgements(StorePart):
    """What people decided in a work, counted and compared; `Store.judgements` is one."""

    def judged_twice(self, work: str) -> Pairs:
        """The judgements of two people on the same places of a work."""
        with self._reading() as session:
            stand = standings_in(session, work).items()
            by_validator = ((page, there.person) for page, there in stand if there.given_state is PageState.VALIDATED)
            validated = {page: person for page, person in by_validator if person}
            pairs: Pairs = {}
            for events in _decided(session, work):
                validator = validated.get(events[0].page)
                if validator is None and len({event.person for event in events}) < 2:
                    continue
                judged_by = _of_flag(events)
                silent = validator if validator not in judged_by and events[-1].state in SETTLED else None
                if silent is not None:
                    judged_by[silent] = _what(events[-1])
                for person, other in combinations(sorted(judged_by), 2):
                    pairs.setdefault((person, other), []).append(
                        Judged(judged_by[person], judged_by[other], silent in (person, other))
                    )
        return pairs

    def differing(self, work: str, page: int, person: str) -> list[Differing]:
        """The flags of a page on which another person decided differently from `person`."""
        differing_flags = []
        with self._reading() as session:
            for events in _decided(session, work, FlagRow.page_id == page):
                last_of = _last_events(events)
                own = last_of.pop(person, None)
                if own is None:
                    continue
                others = (event for event in last_of.values() if _what(event) != _what(own))
                differing_flags += [
                    Differing(own.flag, (own.state, own.reading), event.person, (event.state, event.reading))
                    for event in others
                ]
        return differing_flags

    def changed_of(self, work: str, person: str) -> list[Differing]:
        """Decisions of `person` in a work that another person changed since or took back, the latest changes first."""
        mine = select(DecisionRow.flag_id).where(DecisionRow.person == person)
        changes = []
        with self._reading() as session:
            for events in _decided(session, work, DecisionRow.flag_id.in_(mine)):
                own, now = next(event for event in reversed(events) if event.person == person), events[-1]
                same = (own.state, own.reading) == (now.state, now.reading)
                if own.state in SETTLED and now.person != person and not same:
                    differs = Differing(own.flag, (own.state, own.reading), now.person, (now.state, now.reading))
                    changes.append((now.id, differs))
        return [differs for _, differs in sorted(changes, reverse=True)]

    def witness_records(self, work: str) -> list[WitnessRecord]:
        """The record of each witness at the kept and corrected flags of a work, those with most places first."""
        witnesses = FlagRow.evidence["witnesses"]
        query = select(FlagRow.state, FlagRow.reading, FlagRow.suggested, witnesses)
        query = query.where(FlagRow.work_id == work_id_subquery(work), FlagRow.stale.is_(False), ~IS_SEEDED)
        query = query.where(FlagRow.state.in_([State.KEPT.value, State.COPY.value, State.CORRECTED.value]))
        places: Counter[str] = Counter()
        upheld: Counter[str] = Counter()
        with self._reading() as session:
            for state, decided, suggested, testimonies in session.execute(query):
                for testimony in testimonies or ():
                    places[testimony["siglum"]] += 1
                    as_image = testimony["side"] == "image" and decided == suggested
                    corrected_so = as_image or testimony["reading"] == decided
                    kept_so = testimony["side"] == "text"
                    upheld[testimony["siglum"]] += corrected_so if state == State.CORRECTED.value else kept_so
        return [WitnessRecord(siglum, count, upheld[siglum]) for siglum, count in places.most_common()]

    def paces(self, work: str) -> list[float]:
        """Seconds from each decision of a person to their next, but for pauses and strokes of many; of the newest."""
        query = select(DecisionRow.person, DecisionRow.at, DecisionRow.batch).order_by(DecisionRow.id.desc())
        query = query.where(DecisionRow.work_id == work_id_subquery(work)).limit(PACED)
        last: dict[str, datetime] = {}
        intervals = []
        with self._reading() as session:
            rows = session.execute(query.where(DecisionRow.verdict.in_([verdict.value for verdict in STATE_OF]))).all()
        for person, at, batch in reversed(rows):
            since = (at - last[person]).total_seconds() if person in last else PAUSE
            if 0 < since < PAUSE and not batch:
                intervals.append(since)
            last[person] = at
        return intervals

    def by_person(self, work: str, *, seeded: bool = False) -> dict[str, dict[Verdict, int]]:
        """The number of decisions of a work by person and verdict; with `seeded` also those on seeded errors."""
        of_text = () if seeded else (DecisionRow.flag_id.not_in(select(FlagRow.id).where(IS_SEEDED)),)
        counts: dict[str, dict[Verdict, int]] = {}
        with self._reading() as session:
            columns = (DecisionRow.person, DecisionRow.verdict)
            for (person, verdict), count in _counted(session, work, columns, *of_text):
                counts.setdefault(person, {})[Verdict(verdict)] = count
        return counts

    def by_day(self, work: str) -> dict[str, int]:
        """How much was decided in a work on each day (UTC, as `2026-01-31`), in their order."""
        with self._reading() as session:
            return {str(day): count for (day,), count in sorted(_counted(session, work, (func.date(DecisionRow.at),)))}


def _of_flag(events: Iterable[_Event]) -> dict[str, str]:
    """The last judgement of each person on a flag that was not taken back."""
    return {person: _what(event) for person, event in _last_events(events).items()}


def _last_events(events: Iterable[_Event]) -> dict[str, _Event]:
    """The last event of each person that settled a flag and was not taken back."""
    return {event.person: event for event in standing_events(events) if event.state in SETTLED}


def _what(row: _Event) -> str:
    """The judgement of a decision: the text stands, the copy reads so, or another reading."""
    if row.state != State.CORRECTED.value:
        return row.state
    return "as the image" if row.reading == row.suggested else f"= {row.reading}"


def standings_in(session: Session, work: str) -> dict[int, PageStanding]:
    """Where the pages of a work stand of which anything was said."""
    return standings(session, PageRow.work_id == work_id_subquery(work), PageRow.absent.is_(False))


def _counted(
    session: Session, work: str, columns: tuple[Any, ...], *wanted: ColumnElement[bool]
) -> Iterator[tuple[tuple[Any, ...], int]]:
    """How many decisions that stand have the same values in these columns. All are counted by the database, and those
    that were taken back, which are few, are taken off."""
    query = select(*columns, func.count()).where(DecisionRow.work_id == work_id_subquery(work), *wanted)
    query = query.where(DecisionRow.verdict.not_in(TAKING_BACK)).group_by(*columns)
    counts = Counter({tuple(row[:-1]): row[-1] for row in session.execute(query)})
    counts.subtract(Counter(_taken_back(session, work, columns, *wanted)))
    yield from ((values, count) for values, count in counts.items() if count > 0)


def _taken_back(
    session: Session, work: str, columns: tuple[Any, ...], *wanted: ColumnElement[bool]
) -> Iterator[tuple[Any, ...]]:
    """The values in these columns of each decision that was taken back, and not done again since."""
    undone = select(DecisionRow.flag_id).where(DecisionRow.work_id == work_id_subquery(work), *wanted)
    undone = undone.where(DecisionRow.about.is_not(None))
    query = select(DecisionRow.id, DecisionRow.about, DecisionRow.verdict, *columns)
    events = session.execute(query.where(DecisionRow.flag_id.in_(undone)).order_by(DecisionRow.id)).all()
    stand = {event.id for event in standing_events(events)}
    yield from (tuple(row[3:]) for row in events if row.verdict not in TAKING_BACK and row.id not in stand)
