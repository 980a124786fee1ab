"""Decisions as rows of the table of events, and back, with the names that the place goes by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from proof.model.flags import Origin
from proof.store.authorities import CARRIED, authority_of
from proof.store.decision_records import (
    Decision,
    DecisionRequest,
    State,
    Verdict,
)
from proof.store.events import Event
from proof.store.models import DecisionRow, FlagRow, PageRow, ReadingRow
from proof.store.seeded import seeded_places, shown_context


def last_event(session: Session, flag: FlagRow) -> DecisionRow | None:
    """What was said of a flag last."""
    here = (DecisionRow.flag_id == flag.id, DecisionRow.version == flag.version)
    return session.scalar(select(DecisionRow).where(*here))


def events_of_flag(session: Session, flag: int) -> list[Event]:
    """All that was said of a flag, oldest first."""
    rows = session.scalars(select(DecisionRow).where(DecisionRow.flag_id == flag).order_by(DecisionRow.version))
    return [Event(row.id, row.about, row.person) for row in rows]


def restored(session: Session, decision: DecisionRow) -> DecisionRow | None:
    """What stands again by a decision that takes another back: what stood before that. None where nothing did."""
    taken = session.get_one(DecisionRow, decision.about)
    before = (DecisionRow.flag_id == taken.flag_id, DecisionRow.version == taken.version - 1)
    return session.scalar(select(DecisionRow).where(*before))


def maker_of(session: Session, decision: DecisionRow) -> str:
    """Who decided what stands by a decision, whoever took others back since."""
    while decision.about is not None:
        before = restored(session, decision)
        if before is None:
            break
        decision = before
    return decision.person


_AS_IN_FLAG = ("uid", "ref", "line", "offset", "length", "kind", "transcribed", "suggested", "context")
"""What a decision keeps of its flag as that then was."""


def values_of(session: Session, demand: DecisionRequest, flag: FlagRow, state: State, reading: str) -> dict[str, Any]:
    """The columns of a decision or a reading, but for its number."""
    page = session.get_one(PageRow, flag.page_id)
    return {
        "work_id": flag.work_id,
        "flag_id": flag.id,
        "key": demand.key,
        "batch": demand.batch,
        "verdict": demand.verdict.value,
        "was_state": flag.state,
        "state": state.value,
        "was": flag.reading if flag.version else flag.transcribed,
        "reading": reading,
        "person": demand.person,
        "at": datetime.now(UTC),
        "note": demand.note,
        "authority": authority_of(demand, flag, page),
        "copy_reads": demand.reading if demand.verdict is Verdict.RETAIN else "",
        "page": page.page,
        **{name: getattr(flag, name) for name in _AS_IN_FLAG},
        "evidence": {"reason": flag.reason, "rule": flag.rule, "score": flag.score, "run": flag.last_run_id}
        | dict(flag.evidence)
        | ({CARRIED: dict(demand.origin)} if demand.origin else {}),
    }


def shown_decisions(session: Session, rows: Sequence[DecisionRow | ReadingRow]) -> list[Decision]:
    """The decisions as people are shown them: around what was corrected by hand, the text as the page shows it."""
    if not rows:
        return []
    by_hand = select(FlagRow.id, FlagRow.page_id).where(FlagRow.origin == Origin.PERSON.value)
    by_hand = by_hand.where(FlagRow.id.in_({row.flag_id for row in rows}))
    pages = {row.id: row.page_id for row in session.execute(by_hand)}
    places = seeded_places(session, sorted(set(pages.values())))
    decisions = []
    for row in rows:
        made, there = decision_of(row), places.get(pages.get(row.flag_id, 0))
        if there:
            context = shown_context(made.context, made.line, made.offset, made.length, there)
            made = replace(made, context=context)
        decisions.append(made)
    return decisions


def decision_of(row: DecisionRow | ReadingRow) -> Decision:
    same: dict[str, Any] = {name: getattr(row, name) for name in _AS_IN_ROW}
    was, now = State(row.was_state), State(row.state)
    return Decision(flag=row.flag_id, verdict=Verdict(row.verdict), was_state=was, state=now, **same)


_AS_IN_ROW = {one.name for one in fields(Decision)} - {"flag", "verdict", "was_state", "state", "repeated"}
"""What a decision has as its row has it."""
