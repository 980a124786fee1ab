"""Which of a row of events stands, where an event can take another back.

What was said of one thing (a flag, a page, a pair) is a list of events, oldest first. An event that names another as
`about` takes that one back: all is as it was before it. To take such an event back is to do again what it took back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


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
