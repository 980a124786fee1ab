"""Seeded errors in the store: what people are shown of them, and how many each caught.

They are flags among the others, since they are put to people and decided as these are; their origin alone tells them.
The text of a page is kept as it is. Where an error is seeded, whoever proofreads is shown the false character wherever
the place is seen, decided or not: in the flag, in the text of the page, around other places. Who asks the store for
findings, results and standing decisions sees the text alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import select
from sqlalchemy.orm import Session

from proof.model.flags import MAX_CONTEXT_CHARACTERS, Origin
from proof.model.result import PageResult
from proof.store.decision_records import State
from proof.store.events import standing_events
from proof.store.lookup import work_id_subquery
from proof.store.models import DecisionRow, FlagRow

SeededPlaces = Mapping[tuple[int, int], "FalseCharacter"]
"""Seeded errors of a page by column and offset."""


@dataclass(frozen=True, slots=True)
class FalseCharacter:
    """A false character, and what the recogniser is said to give it."""

    text: str
    p_text: float | None


@dataclass(frozen=True, slots=True)
class SeededAnswer:
    """The last thing that a person said of a seeded error, undone things aside: whether it put the text right."""

    person: str
    caught: bool


BY_HAND = FlagRow.origin == Origin.PERSON.value
IS_SEEDED = FlagRow.origin == Origin.SEEDED.value
IS_FINDING = FlagRow.origin.not_in([Origin.SAMPLE.value, Origin.SEEDED.value])


def seeded_places(session: Session, pages: Sequence[int]) -> dict[int, SeededPlaces]:
    """The seeded errors that stand on these pages, by page."""
    query = select(FlagRow.page_id, FlagRow.line, FlagRow.offset, FlagRow.transcribed, FlagRow.evidence)
    query = query.where(FlagRow.page_id.in_(pages), IS_SEEDED, FlagRow.stale.is_(False))
    shown_at: defaultdict[int, dict[tuple[int, int], FalseCharacter]] = defaultdict(dict)
    for page, line, offset, text, evidence in session.execute(query):
        shown_at[page][line, offset] = FalseCharacter(text, evidence.get("p_text"))
    return dict(shown_at)


def with_seeded_errors(result: PageResult, places: SeededPlaces | None) -> PageResult:
    """The page as people are shown it: with the false characters in its text."""
    if not places:
        return result
    return replace(
        result,
        columns=tuple(
            replace(column, source=shown_text(column.source, column.number, places)) for column in result.columns
        ),
        characters=tuple(
            replace(character, text=shown.text, p_text=shown.p_text)
            if (shown := places.get((character.line, character.offset))) is not None
            else character
            for character in result.characters
        ),
    )


def shown_text(source: str, line: int, places: SeededPlaces, start: int = 0) -> str:
    """Part of a column, from `start` on, with the false characters in it."""
    return "".join(
        places[line, at].text if (line, at) in places else character for at, character in enumerate(source, start)
    )


def shown_context(context: str, line: int, offset: int, length: int, places: SeededPlaces) -> str:
    """The characters around a place, as a flag carries them, with the false ones among them."""
    head = min(offset, MAX_CONTEXT_CHARACTERS)
    if context[head : head + 1] != "[":  # a finding about a column or a page has none
        return context
    before, inside, after = context[:head], context[head + 1 : head + 1 + length], context[head + 2 + length :]
    return (
        f"{shown_text(before, line, places, offset - head)}[{shown_text(inside, line, places, offset)}]"
        f"{shown_text(after, line, places, offset + length)}"
    )


def answers(session: Session, work: str) -> dict[tuple[int, int, int], list[SeededAnswer]]:
    """What was said of each seeded error (by page, column and offset): of each person the last thing that they did
    not take back, in the order in which they said it. Errors that are no longer seeded stay counted."""
    query = select(DecisionRow, FlagRow.page_id).join(FlagRow, FlagRow.id == DecisionRow.flag_id)
    query = query.where(DecisionRow.work_id == work_id_subquery(work), IS_SEEDED)
    page_of = dict(session.execute(query.order_by(DecisionRow.id)).all())
    last: defaultdict[tuple[int, int, int], dict[str, SeededAnswer]] = defaultdict(dict)
    for row in standing_events(page_of):
        if row.state in (State.OPEN.value, State.SKIPPED.value):
            continue
        place = page_of[row], row.line, row.offset
        last[place].pop(row.person, None)
        caught = row.state == State.CORRECTED.value and row.reading == row.suggested
        last[place][row.person] = SeededAnswer(row.person, caught)
    return {place: list(people.values()) for place, people in last.items()}
