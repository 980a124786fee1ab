"""The overlay of samples and seeded errors in the store: what of it people are shown, and how many errors each caught.

Its flags are rows among the others, since they are put to people and decided as these are; which they are, and which
decisions answered them, is known by tables of its own alone. The text of a page is kept as it is. Where an error is
seeded, whoever proofreads is shown the false character wherever the place is seen, decided or not: in the flag, in the
text of the page, around other places. Who asks the store for findings, results and standing decisions sees the text
alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import ColumnElement, delete, insert, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from proof.model.flags import REACH
from proof.model.quality import QualitySort
from proof.model.result import PageResult
from proof.store import rows
from proof.store.models import DecisionRow, FlagRow, QualityRow, WorkRow

Places = Mapping[tuple[int, int], "Shown"]
"""Seeded errors of a page by column and offset."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A false character, and what the recogniser is said to give it."""

    text: str
    p_text: float | None


@dataclass(frozen=True, slots=True)
class SeededAnswer:
    """The last thing that a person said of a seeded error, undone things aside: whether it put the text right."""

    person: str
    caught: bool


def is_finding(flag: InstrumentedAttribute[int] = FlagRow.id) -> ColumnElement[bool]:
    """Whether a flag, by its row's number, is neither a sample nor a seeded error."""
    return flag.not_in(select(QualityRow.flag_id))


def is_seeded(flag: InstrumentedAttribute[int] = FlagRow.id) -> ColumnElement[bool]:
    """Whether a flag is a seeded error."""
    return flag.in_(select(QualityRow.flag_id).where(QualityRow.sort == QualitySort.SEEDED.value))


def is_of_text() -> ColumnElement[bool]:
    """Whether a decision is one about the text, and answers no seeded error."""
    return DecisionRow.seeded.is_(False)


def seeded_among(session: Session, flags: Sequence[int]) -> frozenset[int]:
    """Which of these flags are seeded errors."""
    return frozenset(session.scalars(select(FlagRow.id).where(FlagRow.id.in_(flags), is_seeded())))


def note_sorts(session: Session, pages: Mapping[int, Mapping[str, QualitySort]]) -> None:
    """Note which flags of pages are of the overlay now; one that a check finds now is of it no more."""
    here = select(FlagRow.id).where(FlagRow.page_id.in_(pages), FlagRow.ordinal >= rows.CURRENT)
    there = delete(QualityRow).where(QualityRow.flag_id.in_(here))
    session.execute(there, execution_options={"synchronize_session": False})
    sorts = {(page, uid): sort.value for page, of_page in pages.items() for uid, sort in of_page.items()}
    if sorts:
        found = session.execute(here.add_columns(FlagRow.page_id, FlagRow.uid))
        noted = [{"flag_id": flag, "sort": sorts[page, uid]} for flag, page, uid in found if (page, uid) in sorts]
        if noted:
            session.execute(insert(QualityRow), noted)


def note_seeded(session: Session, flag: FlagRow) -> None:
    """Note that a flag is a seeded error."""
    if session.get(QualityRow, flag.id) is None:
        session.add(QualityRow(flag_id=flag.id, sort=QualitySort.SEEDED.value))


def add_decision(session: Session, row: DecisionRow, *, seeded: bool | None = None) -> None:
    """Add a decision, and note where it answers a seeded error; whether it does is asked of its flag where it is not
    said."""
    row.seeded = seeded if seeded is not None else bool(seeded_among(session, [row.flag_id]))
    session.add(row)
    session.flush()


def seeded_places(session: Session, pages: Sequence[int]) -> dict[int, Places]:
    """The seeded errors that stand on these pages, by page."""
    query = select(FlagRow.page_id, FlagRow.line, FlagRow.offset, FlagRow.transcribed, FlagRow.evidence)
    query = query.where(FlagRow.page_id.in_(pages), is_seeded())
    query = query.where(FlagRow.stale.is_(False), FlagRow.ordinal >= rows.CURRENT)
    found: defaultdict[int, dict[tuple[int, int], Shown]] = defaultdict(dict)
    for page, line, offset, text, evidence in session.execute(query):
        found[page][line, offset] = Shown(text, evidence.get("p_text"))
    return dict(found)


def as_shown(result: PageResult, places: Places | None) -> PageResult:
    """The page as people are shown it: with the false characters in its text."""
    if not places:
        return result
    return replace(
        result,
        columns=tuple(replace(one, source=shown_text(one.source, one.number, places)) for one in result.columns),
        characters=tuple(
            replace(one, text=shown.text, p_text=shown.p_text)
            if (shown := places.get((one.line, one.offset))) is not None
            else one
            for one in result.characters
        ),
    )


def shown_text(source: str, line: int, places: Places, start: int = 0) -> str:
    """Part of a column, from `start` on, with the false characters in it."""
    return "".join(
        places[line, at].text if (line, at) in places else character for at, character in enumerate(source, start)
    )


def shown_context(context: str, line: int, offset: int, length: int, places: Places) -> str:
    """The characters around a place, as a flag carries them, with the false ones among them."""
    head = min(offset, REACH)
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
    query = select(DecisionRow, FlagRow.page_id, FlagRow.ordinal).join(FlagRow, FlagRow.id == DecisionRow.flag_id)
    query = query.join(WorkRow, DecisionRow.work_id == WorkRow.id)
    query = query.where(WorkRow.name == work, ~is_of_text()).order_by(DecisionRow.id)
    right: dict[tuple[int, int, int], str] = {}
    said: dict[int, tuple[tuple[int, int, int], DecisionRow]] = {}
    for row, page, ordinal in session.execute(query):
        place = (page, row.line, row.offset)
        if ordinal != rows.BY_HAND:
            right[place] = row.suggested
        if row.verdict == "undo":
            said.pop(row.about or 0, None)
        elif row.verdict != "skip" and row.state not in ("open", "skipped"):
            said[row.id] = (place, row)
    return _answers(session, said, right)


def _answers(
    session: Session,
    said: Mapping[int, tuple[tuple[int, int, int], DecisionRow]],
    right: dict[tuple[int, int, int], str],
) -> dict[tuple[int, int, int], list[SeededAnswer]]:
    unknown = {place for place, _ in said.values()} - right.keys()  # corrected by hand, the flag itself undecided
    for page, line, offset in unknown:
        query = select(FlagRow.suggested).where(FlagRow.page_id == page, is_seeded())
        query = query.where(FlagRow.line == line, FlagRow.offset == offset, FlagRow.ordinal != rows.BY_HAND)
        right[page, line, offset] = session.scalar(query.order_by(FlagRow.id.desc()).limit(1)) or ""
    last: dict[tuple[int, int, int], dict[str, SeededAnswer]] = defaultdict(dict)
    for place, row in said.values():
        last[place].pop(row.person, None)
        last[place][row.person] = SeededAnswer(row.person, row.state == "corrected" and row.reading == right[place])
    return {place: list(people.values()) for place, people in last.items()}
