"""How often each person decided what, and how much was decided on each day: what was taken back is not counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from operator import attrgetter
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, func, select
from sqlalchemy.orm import Session

from proof.store.decision_records import TAKING_BACK, Verdict
from proof.store.models import DecisionRow, WorkRow
from proof.store.quality import is_of_text
from proof.store.standing import Event, changes_since


def by_person(session: Session, work: str, *, seeded: bool) -> dict[str, dict[Verdict, int]]:
    """How often each person said what of a work; of `seeded` errors too, if these are counted as people see them."""
    of_text = () if seeded else (is_of_text(),)
    counts: dict[str, dict[Verdict, int]] = {}
    for (person, verdict), count in _counted(session, work, (DecisionRow.person, DecisionRow.verdict), *of_text):
        counts.setdefault(person, {})[Verdict(verdict)] = count
    return counts


def by_day(session: Session, work: str) -> dict[str, int]:
    """How much was decided in a work on each day (UTC, as `2026-01-31`), in their order."""
    return {str(day): count for (day,), count in sorted(_counted(session, work, (func.date(DecisionRow.at),)))}


def _counted(
    session: Session, work: str, columns: tuple[Any, ...], *wanted: ColumnElement[bool]
) -> Iterator[tuple[tuple[Any, ...], int]]:
    """How many decisions that stand have the same values in these columns. All are counted by the database, and those
    that were taken back, which are few, are taken off."""
    query = _of_work(select(*columns, func.count()), work, *wanted)
    query = query.where(DecisionRow.verdict.not_in(TAKING_BACK)).group_by(*columns)
    counts = Counter({tuple(row[:-1]): row[-1] for row in session.execute(query)})
    counts.subtract(Counter(_taken_back(session, work, columns, *wanted)))
    yield from ((values, count) for values, count in counts.items() if count > 0)


def _taken_back(
    session: Session, work: str, columns: tuple[Any, ...], *wanted: ColumnElement[bool]
) -> Iterator[tuple[Any, ...]]:
    """The values in these columns of each decision that was taken back, and not done again since."""
    undone = _of_work(select(DecisionRow.flag_id), work, *wanted).where(DecisionRow.about.is_not(None))
    about = (DecisionRow.id, DecisionRow.flag_id, DecisionRow.about, DecisionRow.person, DecisionRow.verdict)
    query = select(*about, *columns).where(DecisionRow.flag_id.in_(undone))
    found = session.execute(query.order_by(DecisionRow.flag_id, DecisionRow.version))
    for _, events in groupby(found, attrgetter("flag_id")):
        rows = list(events)
        stand = _standing(rows)
        yield from (tuple(row[len(about) :]) for row in rows if row.verdict not in TAKING_BACK and row.id not in stand)


def _standing(rows: list[Row[Any]]) -> set[int]:
    """The ids of the decisions on one flag that stand; of one that was done again, that of the first."""
    about = {row.id: row.about for row in rows}
    found = set()
    for event in changes_since([Event(row.id, row.about, row.person) for row in rows], 0):
        number: int | None = event.id
        while number is not None and about.get(number) in about:
            number = about[number]  # what it does again, by way of what took that back
        found.add(number)
    return {number for number in found if number is not None}


def _of_work(query: Select[Any], work: str, *wanted: ColumnElement[bool]) -> Select[Any]:
    return query.join(WorkRow, DecisionRow.work_id == WorkRow.id).where(WorkRow.name == work, *wanted)
