"""Events about one subject (a flag, a page or a pair): which of them is valid; and the keys of the requests.

The events of a subject form a list, oldest first. An event whose `about` is another event undoes that, and undoing such
an event redoes it. A repeated request is recognised by its key; a key that another kind of act has is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from proof.locale.marking import _
from proof.store.decision_records import RefusedDecisionError
from proof.store.models import ActRow

Act = TypeVar("Act", bound=ActRow)


class Event(Protocol):
    """An event; `about` is the id of an earlier event of the list that it undoes, or None."""

    @property
    def id(self) -> int: ...

    @property
    def about(self) -> int | None: ...

    @property
    def person(self) -> str: ...


E = TypeVar("E", bound=Event)


def standing(events: Sequence[Event], last: int | None = None) -> int:
    """The number, from 1, of the valid event after the first `last` events (by default all); 0 if there is none."""
    number = len(events) if last is None else last
    numbers = {event.id: n for n, event in enumerate(events, 1)}
    while number:
        about = events[number - 1].about
        if about is None or about not in numbers:
            return number
        number = numbers[about] - 1
    return 0


def changes_since(events: Sequence[E], number: int) -> list[E]:
    """The events after the first `number` of them, oldest first, without undone events and those that undid them."""
    numbers = {event.id: n for n, event in enumerate(events, 1)}
    changes: list[E] = []
    last = len(events)
    while last > number:
        event = events[last - 1]
        taken = numbers.get(event.about, 0) if event.about is not None else 0
        changes += [event] if taken <= number else []
        last = last - 1 if taken <= number else taken - 1
    return changes[::-1]


def standing_events(events: Iterable[E]) -> list[E]:
    """Those of the events of any subjects that are not undone, without those that undid others. A redone event stands
    where it was redone."""
    first: dict[int, E] = {}
    stand: dict[int, E] = {}
    for event in events:
        begun = first[event.id] = first.get(event.about or 0, event)
        if stand.pop(begun.id, None) is None:
            stand[begun.id] = begun
    return list(stand.values())


def check_key(key: str) -> None:
    """Raise RefusedDecisionError for a key that no request can have."""
    if not 8 <= len(key) <= 64:
        raise RefusedDecisionError(_("the key of a request has 8 to 64 letters"))


def key_of_another() -> RefusedDecisionError:
    """The error for a key that was used for something else."""
    return RefusedDecisionError(_("this key was used for something else; give every request its own"))


def answered(session: Session, kind: type[Act], key: str, **asked: object) -> Act | None:
    """The act that an earlier request with this key made, if any. Raises RefusedDecisionError if its columns differ
    from those `asked` for now."""
    act = session.scalar(select(ActRow).where(ActRow.key == key))
    if act is None:
        return None
    if not isinstance(act, kind) or any(getattr(act, name) != value for name, value in asked.items()):
        raise key_of_another()
    return act
