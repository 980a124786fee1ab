"""Decisions as rows of the table of events, and back, with the names that the place goes by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from proof.store import rows
from proof.store.authorities import authority_of
from proof.store.decision_records import (
    Decision,
    DecisionRequest,
    State,
    Verdict,
)
from proof.store.models import DecisionRow, FlagRow, PageRow, ReadingRow
from proof.store.quality import seeded_among, seeded_places, shown_context
from proof.store.standing import Event

CARRIED = "carried"
"""Where the evidence of a decision has the decision about another text that it was carried from."""


def last_event(session: Session, flag: FlagRow) -> DecisionRow | None:
    """What was said of a flag last."""
    here = (DecisionRow.flag_id == flag.id, DecisionRow.version == flag.version)
    return session.scalar(select(DecisionRow).where(*here))


def events_of_flag(session: Session, flag: int) -> list[Event]:
    """All that was said of a flag, oldest first."""
    found = session.scalars(select(DecisionRow).where(DecisionRow.flag_id == flag).order_by(DecisionRow.version))
    return [Event(row.id, row.about, row.person) for row in found]


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
        "uid": flag.uid,
        "page": page.page,
        "ref": flag.ref,
        "line": flag.line,
        "offset": flag.offset,
        "length": flag.length,
        "kind": flag.kind,
        "transcribed": flag.transcribed,
        "suggested": flag.suggested,
        "context": flag.context,
        "evidence": {"reason": flag.reason, "rule": flag.rule, "score": flag.score, "run": flag.last_run_id}
        | dict(flag.evidence)
        | ({CARRIED: dict(demand.origin)} if demand.origin else {}),
    }


def shown_decisions(session: Session, found: Sequence[DecisionRow | ReadingRow]) -> list[Decision]:
    """The decisions as people are shown them: around what was corrected by hand, the text as the page shows it."""
    by_hand = {row.flag_id for row in found if rows.is_by_hand(row.uid)}
    by_hand -= seeded_among(session, sorted(by_hand)) if by_hand else set()
    if not by_hand:
        return [decision_of(row) for row in found]
    owners = select(FlagRow.id, FlagRow.page_id).where(FlagRow.id.in_(by_hand))
    pages = {row.id: row.page_id for row in session.execute(owners)}
    places = seeded_places(session, sorted(set(pages.values())))
    decisions = []
    for row in found:
        made, there = decision_of(row), places.get(pages.get(row.flag_id, 0))
        if there:
            context = shown_context(made.context, made.line, made.offset, made.length, there)
            made = replace(made, context=context)
        decisions.append(made)
    return decisions


def decision_of(row: DecisionRow | ReadingRow) -> Decision:
    return Decision(
        id=row.id,
        flag=row.flag_id,
        uid=row.uid,
        version=row.version,
        verdict=Verdict(row.verdict),
        was_state=State(row.was_state),
        state=State(row.state),
        was=row.was,
        reading=row.reading,
        person=row.person,
        at=row.at,
        page=row.page,
        ref=row.ref,
        line=row.line,
        offset=row.offset,
        length=row.length,
        kind=rows.kind_of(row.kind, row.suggested).value,
        transcribed=row.transcribed,
        suggested=row.suggested,
        context=row.context,
        evidence=row.evidence,
        note=row.note,
        authority=row.authority,
        copy_reads=row.copy_reads,
        about=row.about,
        batch=row.batch,
    )
