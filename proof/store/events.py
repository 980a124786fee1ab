"""Events about one subject, a flag, a page or a pair: which of them stands; the keys of the requests that made them.

What was said of a subject is a list of events, oldest first. One that names another as `about` takes that back: all is
as it was before it. To take such an event back is to do again what it took back. A request that is sent again is known
by its key, whatever it asked for; where another kind of act has its key, it is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from proof.locale.marking import _
from proof.store.decision_records import RefusedDecisionError
from proof.store.models import ActRow

AT_ONCE = 200
Act = TypeVar("Act", bound=ActRow)


class Event(NamedTuple):
    """An event; `about` is the id of an earlier one of the same list that it takes back, or None."""

    id: int
    about: int | None
    person: str


def standing(events: Sequence[Event], last: int | None = None) -> int:
    """The number, from 1, of the event that stands after the first `last` of them (all, where it is not given): 0
    where none does."""
    number = len(events) if last is None else last
    numbers = {event.id: n for n, event in enumerate(events, 1)}
    while number:
        about = events[number - 1].about
        if about is None or about not in numbers:
            return number
        number = numbers[about] - 1
    return 0


def changes_since(events: Sequence[Event], number: int) -> list[Event]:
    """The events after the first `number` of them, oldest first, without those that were taken back since and those
    that did so."""
    numbers = {event.id: n for n, event in enumerate(events, 1)}
    found: list[Event] = []
    last = len(events)
    while last > number:
        event = events[last - 1]
        taken = numbers.get(event.about, 0) if event.about is not None else 0
        found += [event] if taken <= number else []
        last = last - 1 if taken <= number else taken - 1
    return found[::-1]


def key_of_another() -> RefusedDecisionError:
    """What is raised where a key was used for something else."""
    return RefusedDecisionError(_("this key was used for something else; give every request its own"))


def must_be_own(session: Session, keys: Iterable[str], kind: type) -> None:
    """Raises RefusedDecisionError where an act of another kind, a class of rows, has one of these keys."""
    asked = list(keys)
    for start in range(0, len(asked), AT_ONCE):
        same = select(ActRow).where(ActRow.key.in_(asked[start : start + AT_ONCE]))
        if any(not isinstance(act, kind) for act in session.scalars(same)):
            raise key_of_another()


def answered(session: Session, kind: type[Act], key: str, **asked: object) -> Act | None:
    """The act that a request with this key made before. Raises RefusedDecisionError where that is not what is `asked`
    for now, by column."""
    act = session.scalar(select(ActRow).where(ActRow.key == key))
    if act is None:
        return None
    if not isinstance(act, kind) or any(getattr(act, name) != value for name, value in asked.items()):
        raise key_of_another()
    return act
