"""What each person says of the places of a work: of those that several looked at, whether they say the same.

Somebody judges a place who decides its flag, and who validates its page: that says that every decision on it stands,
but for those that they decided otherwise themselves. What was taken back, skipped or left unsure is no judgement.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import combinations, groupby
from typing import NamedTuple

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from proof.store.decision_records import SETTLED, STATE_OF, TAKING_BACK, State
from proof.store.lookup import number_of
from proof.store.models import DecisionRow, FlagRow, PageRow, WorkRow
from proof.store.page_states import PageStanding, PageState, standings
from proof.store.quality import is_of_text

PAUSE = 300.0
"""Seconds after which somebody did something else in between."""

PACED = 20_000
"""Decisions, the newest, that tell how quickly people decide."""

_SETTLED = frozenset(one.value for one in SETTLED)
"""As rows have them: a work has a hundred thousand decisions."""


class Judged(NamedTuple):
    """What two people said of a place; `validated`: one of them by validating its page alone."""

    one: str
    other: str
    validated: bool = False


Pairs = dict[tuple[str, str], list[Judged]]
"""By two people, in the order of their names, what each said of every place that both judged."""


class _Event(NamedTuple):
    """What of a decision tells what somebody said."""

    id: int
    flag: int
    page: int
    about: int | None
    verdict: str
    state: str
    reading: str
    suggested: str
    person: str


def judged_twice(session: Session, work: str) -> Pairs:
    """What two people said of the same places of a work."""
    stand = standings_in(session, work).items()
    validated = {page: there.person for page, there in stand if there.person and there.said is PageState.VALIDATED}
    found: Pairs = {}
    for events in _decided(session, work):
        validator = validated.get(events[0].page)
        if validator is None and len({one.person for one in events}) < 2:
            continue
        said = _of_flag(events)
        silent = validator if validator not in said and events[-1].state in _SETTLED else None
        if silent is not None:
            said[silent] = _what(events[-1])
        for one, other in combinations(sorted(said), 2):
            found.setdefault((one, other), []).append(Judged(said[one], said[other], silent in (one, other)))
    return found


def _decided(session: Session, work: str, *wanted: ColumnElement[bool]) -> Iterator[list[_Event]]:
    """The decisions of each flag of a text that is wanted, oldest first."""
    columns = (DecisionRow.id, DecisionRow.flag_id, FlagRow.page_id, DecisionRow.about, DecisionRow.verdict)
    more = (DecisionRow.state, DecisionRow.reading, DecisionRow.suggested, DecisionRow.person)
    query = select(*columns, *more).join(FlagRow, FlagRow.id == DecisionRow.flag_id)
    query = query.join(WorkRow, WorkRow.id == DecisionRow.work_id).where(WorkRow.name == work, is_of_text())
    rows = session.execute(query.where(*wanted).order_by(DecisionRow.flag_id, DecisionRow.version))
    for _, events in groupby((_Event(*row) for row in rows), lambda one: one.flag):
        yield list(events)


class Differing(NamedTuple):
    """A flag of which two people said different things: each the state and the reading that they left."""

    flag: int
    own: tuple[str, str]
    person: str
    other: tuple[str, str]


def differing(session: Session, work: str, page: int, person: str) -> list[Differing]:
    """Where `person` decided otherwise on a page than somebody else did."""
    found = []
    for events in _decided(session, work, FlagRow.page_id == page):
        said = _last_events(events)
        own = said.pop(person, None)
        if own is None:
            continue
        others = (one for one in said.values() if _what(one) != _what(own))
        found += [Differing(own.flag, (own.state, own.reading), one.person, (one.state, one.reading)) for one in others]
    return found


def _of_flag(events: Iterable[_Event]) -> dict[str, str]:
    """The last thing that each person said of a flag and did not take back."""
    return {person: _what(one) for person, one in _last_events(events).items()}


def _last_events(events: Iterable[_Event]) -> dict[str, _Event]:
    """The last event of each person that settled a flag and was not taken back."""
    standing_of: dict[int, _Event] = {}
    for one in events:
        if one.verdict in TAKING_BACK and one.about is not None:
            taken = standing_of.pop(one.about, None)
            if taken is None and one.state in _SETTLED:  # it does again what was taken back
                standing_of[one.id] = one
        else:
            standing_of[one.id] = one
    return {one.person: one for one in standing_of.values() if one.state in _SETTLED}


def _what(row: _Event) -> str:
    """What a decision says of its place: that the text stands, that the copy reads so, or what is to stand there."""
    if row.state != State.CORRECTED.value:
        return row.state
    return "as the image" if row.reading == row.suggested else f"= {row.reading}"


def paces(session: Session, work: str) -> list[float]:
    """Seconds from each decision of a person to their next, but for pauses and strokes of many; of the newest."""
    query = select(DecisionRow.person, DecisionRow.at, DecisionRow.batch).order_by(DecisionRow.id.desc()).limit(PACED)
    query = query.join(WorkRow, WorkRow.id == DecisionRow.work_id).where(WorkRow.name == work)
    last: dict[str, datetime] = {}
    found = []
    rows = session.execute(query.where(DecisionRow.verdict.in_([one.value for one in STATE_OF]))).all()
    for person, at, batch in reversed(rows):
        since = (at - last[person]).total_seconds() if person in last else PAUSE
        if 0 < since < PAUSE and not batch:
            found.append(since)
        last[person] = at
    return found


def standings_in(session: Session, work: str) -> dict[int, PageStanding]:
    """Where the pages of a work stand of which anything was said."""
    return standings(session, PageRow.work_id == number_of(work), PageRow.absent.is_(False))
