"""The log of a work, newest first: decisions, page states, rules and comments, as one filtered list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, func, or_, select
from sqlalchemy.orm import Session

from proof.store.acts import RuleChange, What
from proof.store.chains import shown_decisions
from proof.store.comments import Comment, comments
from proof.store.decision_records import Decision, Verdict
from proof.store.judgements import standings_in
from proof.store.lookup import StorePart, work_id_subquery
from proof.store.models import ActRow, CommentRow, DecisionRow, FlagRow, PageEventRow, PageRow, RuleRow
from proof.store.page_states import PageEvent, PageState, page_event

KINDS: dict[What, type[ActRow]] = {
    What.DECISIONS: DecisionRow,
    What.PAGE: PageEventRow,
    What.RULE: RuleRow,
    What.COMMENT: CommentRow,
}
ACT_OF: dict[What, str] = {what: kind.__mapper_args__["polymorphic_identity"] for what, kind in KINDS.items()}


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """Which acts are wanted; an empty field means all. Rules are in no `juan`, and only decisions have a `verdict`."""

    person: str = ""
    juan: str | None = None
    verdict: Verdict | None = None
    what: What | None = None


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """An act: its `decision`, `rule`, `page` or `comment`. `name` is the id of the page, `was` its state before;
    `back`: by undo or redo; `last`: the flag has no later decision."""

    what: What
    id: int
    person: str
    at: datetime
    decision: Decision | None = None
    rule: RuleChange | None = None
    page: PageEvent | None = None
    comment: Comment | None = None
    name: str = ""
    was: PageState = PageState.NOT_PROOFREAD
    back: bool = False
    last: bool = False


class History(StorePart):
    """The log of a store; `Store.history` is one."""

    def log(
        self, work: str, wanted: HistoryFilter, *, before: int | None = None, limit: int = 50
    ) -> tuple[list[HistoryEntry], int | None]:
        """The acts of a work, newest first, with `before` only those older than that act; and the last of them if there
        are more, else None."""
        query = _wanted(work_id_subquery(work), wanted)
        if before is not None:
            query = query.where(ActRow.id < before)
        with self._reading() as session:
            acts = session.scalars(query.order_by(ActRow.id.desc()).limit(limit + 1)).all()
            entries = _entries(session, acts[:limit])
        return entries, acts[limit - 1].id if len(acts) > limit else None

    def people(self, work: str) -> list[str]:
        """All people who acted in a work."""
        query = _wanted(work_id_subquery(work), HistoryFilter()).with_only_columns(ActRow.person).distinct()
        with self._reading() as session:
            return sorted(session.scalars(query))

    def awaiting(self, work: str, limit: int | None = None) -> tuple[list[HistoryEntry], int]:
        """The acts that marked pages of a work as proofread which await a second person, the oldest first, at most
        `limit`; and the number of such pages."""
        with self._reading() as session:
            stand = standings_in(session, work).values()
            waiting = sorted(there.event for there in stand if there.person and there.state is PageState.PROOFREAD)
            entries = [_of_page(session, session.get_one(PageEventRow, event)) for event in waiting[:limit]]
        return entries, len(waiting)

    def to_validate(self, work: str, person: str) -> set[int]:
        """The pages of a work that somebody other than `person` proofread and nobody validated yet."""
        with self._reading() as session:
            stand = standings_in(session, work).items()
        proofread = {page: there.person for page, there in stand if there.state is PageState.PROOFREAD}
        return {page for page, other in proofread.items() if other not in ("", person)}

    def juans(self, work: str) -> list[str]:
        """The juan of a work in the order of their pages."""
        first = func.min(PageRow.id)
        query = select(PageRow.juan).where(PageRow.work_id == work_id_subquery(work), PageRow.juan != "")
        with self._reading() as session:
            return list(session.scalars(query.group_by(PageRow.juan).order_by(first)))


def _wanted(work: ColumnElement[int], wanted: HistoryFilter) -> Select[ActRow]:
    """The acts of a work that match, without layout overrides."""
    kinds = [act for what, act in ACT_OF.items() if wanted.what in (None, what)]
    query = select(ActRow).where(ActRow.work_id == work, ActRow.act.in_(kinds))
    if wanted.person:
        query = query.where(ActRow.person == wanted.person)
    if wanted.verdict is not None:
        query = query.where(_column("verdict") == wanted.verdict.value)
    if wanted.juan is not None:
        flag, page = _column("flag_id"), _column("page_id")
        pages = select(PageRow.id).where(PageRow.work_id == work, PageRow.juan == wanted.juan)
        flags = select(FlagRow.id).where(FlagRow.page_id.in_(pages))
        query = query.where(or_(page.in_(pages), and_(page.is_(None), flag.in_(flags))))
    return query


def _column(name: str) -> ColumnElement[Any]:
    """A column that acts of some kinds have."""
    return ActRow.__table__.c[name]


def _entries(session: Session, acts: Sequence[ActRow]) -> list[HistoryEntry]:
    decisions = [act for act in acts if isinstance(act, DecisionRow)]
    decided = {decision.id: decision for decision in shown_decisions(session, decisions)}
    entries = []
    for act in acts:
        match act:
            case DecisionRow():
                made = decided[act.id]
                last = session.get_one(FlagRow, made.flag).version == made.version
                entry = HistoryEntry(What.DECISIONS, act.id, made.person, act.at, decision=made, last=last)
            case RuleRow():
                change = RuleChange(act.transcribed, act.suggested, act.holds)
                back = act.about is not None
                entry = HistoryEntry(What.RULE, act.id, act.person, act.at, rule=change, back=back)
            case CommentRow():
                [comment] = comments(session, CommentRow.id == act.id)
                entry = HistoryEntry(What.COMMENT, act.id, comment.person, act.at, comment=comment, name=comment.name)
            case PageEventRow():
                entry = _of_page(session, act)
            case _:
                continue
        entries.append(entry)
    return entries


def _of_page(session: Session, row: PageEventRow) -> HistoryEntry:
    earlier = select(PageEventRow.state).where(PageEventRow.page_id == row.page_id)
    was = session.scalar(earlier.where(PageEventRow.version == row.version - 1))
    return HistoryEntry(
        What.PAGE,
        row.id,
        row.person,
        row.at,
        page=page_event(row),
        name=session.get_one(PageRow, row.page_id).page,
        was=PageState(was) if was else PageState.NOT_PROOFREAD,
        back=row.about is not None,
    )
