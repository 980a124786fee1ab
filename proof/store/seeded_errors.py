"""Seeded errors: how they are shown to proofreaders, and which of them each proofreader caught.

Seeded errors are stored as flags and decided like all others; only their origin differs. The stored text does not
contain the false characters. Proofreaders are shown them wherever the place is shown, decided or not: in the flag, in
the text of the page, and in the contexts of other flags. Findings, results and valid decisions that the store returns
to other code have the true text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import select
from sqlalchemy.orm import Session

from proof.model.flags import Origin
from proof.model.result import PageResult
from proof.store.decision_records import State
from proof.store.events import standing_events
from proof.store.lookup import work_id_subquery
from proof.store.models import DecisionRow, FlagRow
from proof.text.contexts import context_of

SeededPlaces = Mapping[tuple[int, int], "FalseCharacter"]
"""The seeded errors of a page, by column and offset."""


@dataclass(frozen=True, slots=True)
class FalseCharacter:
    """The false character of a seeded error, and the probability shown as that of the recogniser."""

    text: str
    p_text: float | None


@dataclass(frozen=True, slots=True)
class SeededAnswer:
    """The last valid decision of a person on a seeded error; `caught`: it corrects the text."""

    person: str
    caught: bool


BY_HAND = FlagRow.origin == Origin.PERSON.value
IS_SEEDED = FlagRow.origin == Origin.SEEDED.value
IS_FINDING = FlagRow.origin.not_in([Origin.SAMPLE.value, Origin.SEEDED.value])


def seeded_places(session: Session, pages: Sequence[int]) -> dict[int, SeededPlaces]:
    """The present seeded errors of these pages, by page number; pages without any are left out."""
    query = select(FlagRow.page_id, FlagRow.line, FlagRow.offset, FlagRow.transcribed, FlagRow.evidence)
    query = query.where(FlagRow.page_id.in_(pages), IS_SEEDED, FlagRow.stale.is_(False))
    shown_at: defaultdict[int, dict[tuple[int, int], FalseCharacter]] = defaultdict(dict)
    for page, line, offset, text, evidence in session.execute(query):
        shown_at[page][line, offset] = FalseCharacter(text, evidence.get("p_text"))
    return dict(shown_at)


def with_seeded_errors(result: PageResult, places: SeededPlaces | None) -> PageResult:
    """The result as proofreaders are shown it, with the false characters in its text."""
    if not places:
        return result
    columns = tuple(
        replace(column, source=shown_text(column.source, column.number, places)) for column in result.columns
    )
    characters = list(result.characters)
    for index, character in enumerate(characters):
        false = places.get((character.line, character.offset))
        if false is not None:
            characters[index] = replace(character, text=false.text, p_text=false.p_text)
    return replace(result, columns=columns, characters=tuple(characters))


def shown_text(source: str, line: int, places: SeededPlaces) -> str:
    """`source`, the text of column `line`, with the false characters in it."""
    return "".join(places[line, at].text if (line, at) in places else character for at, character in enumerate(source))


def shown_context(context: str, source: str, line: int, offset: int, length: int, places: SeededPlaces) -> str:
    """The context of a flag, with the false characters in it, if it is that of its place in the `source` of its column:
    a flag about a column or a page has none."""
    if context != context_of(source, offset, length):
        return context
    return context_of(shown_text(source, line, places), offset, length)


def answers(session: Session, work: str) -> list[list[SeededAnswer]]:
    """The answers to each answered seeded error of a work: of each person the last decision that was not undone, in the
    order of these decisions. Errors that are no longer seeded are included."""
    query = select(DecisionRow, FlagRow.page_id).join(FlagRow, FlagRow.id == DecisionRow.flag_id)
    query = query.where(DecisionRow.work_id == work_id_subquery(work), IS_SEEDED)
    page_of = dict(session.execute(query.order_by(DecisionRow.id)).all())
    answer_of: defaultdict[tuple[int, int, int], dict[str, SeededAnswer]] = defaultdict(dict)
    for decision in standing_events(page_of):
        if decision.state in (State.OPEN.value, State.SKIPPED.value):
            continue
        place = page_of[decision], decision.line, decision.offset
        caught = decision.state == State.CORRECTED.value and decision.reading == decision.suggested
        answer_of[place].pop(decision.person, None)  # moves the person to the end
        answer_of[place][decision.person] = SeededAnswer(decision.person, caught)
    return [list(of_people.values()) for of_people in answer_of.values()]
