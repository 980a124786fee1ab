"""Events on one subject (a flag, a page or a pair): which of them is valid; and the keys of requests.

The events of a subject form a list, oldest first. An event with an `about` undoes the event of that id; undoing an undo
is a redo. A request sent again is recognised by its key. A key that another act has is refused.
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
    number_of = {event.id: number for number, event in enumerate(events, 1)}
    while number:
        about = events[number - 1].about
        if about is None or about not in number_of:
            return number
        number = number_of[about] - 1
    return 0


def changes_since(events: Sequence[E], number: int) -> list[E]:
    """The events after the first `number` of them, oldest first, without undone events and those that undid them."""
    number_of = {event.id: number for number, event in enumerate(events, 1)}
    changes: list[E] = []
    last = len(events)
    while last > number:
        event = events[last - 1]
        undone = number_of.get(event.about, 0) if event.about is not None else 0
        if undone > number:
            last = undone - 1
        else:
            changes.append(event)
            last -= 1
    return changes[::-1]


def standing_events(events: Iterable[E]) -> list[E]:
    """The events, of any subjects, that are not undone, without the undos and redos themselves. A redone event is in
    the place of its redo."""
    original_of: dict[int, E] = {}
    valid: dict[int, E] = {}
    for event in events:
        original = original_of[event.id] = original_of.get(event.about or 0, event)
        if valid.pop(original.id, None) is None:
            valid[original.id] = original
    return list(valid.values())


def check_key(key: str) -> None:
    """Raise RefusedDecisionError for a key that is too short or too long."""
    if not 8 <= len(key) <= 64:
        raise RefusedDecisionError(_("the key of a request has 8 to 64 letters"))


def key_of_another() -> RefusedDecisionError:
    """The error for a key that another act has."""
    return RefusedDecisionError(_("this key was used for something else; give every request its own"))


def answered(session: Session, kind: type[Act], key: str, **columns: object) -> Act | None:
    """The act that an earlier request with this key made, if any. Raises RefusedDecisionError if that is of another
    kind, or its columns differ from the requested `columns`."""
    act = session.scalar(select(ActRow).where(ActRow.key == key))
    if act is None:
        return None
    if not isinstance(act, kind) or any(getattr(act, name) != value for name, value in columns.items()):
        raise key_of_another()
    return act
