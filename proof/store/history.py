"""The log of a work, newest first: decisions, page states, rules and comments, as one filtered list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, func, or_, select
from sqlalchemy.orm import Session

from proof.store.acts import ActKind, RuleChange
from proof.store.comments import Comment, comments
from proof.store.decision_chains import shown_decisions
from proof.store.decision_records import Decision, Verdict
from proof.store.lookup import StorePart, work_id_subquery
from proof.store.models import ActRow, CommentRow, DecisionRow, FlagRow, PageEventRow, PageRow, RuleRow
from proof.store.page_states import PageEvent, PageState, page_event, standings_in

ROW_OF: dict[ActKind, type[ActRow]] = {
    ActKind.DECISIONS: DecisionRow,
    ActKind.PAGE: PageEventRow,
    ActKind.RULE: RuleRow,
    ActKind.COMMENT: CommentRow,
}
ACT_OF: dict[ActKind, str] = {what: row.__mapper_args__["polymorphic_identity"] for what, row in ROW_OF.items()}
"""The value of the column `act` for each kind of act."""


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """Selects acts; an empty field selects all. Rules belong to no `juan`, and only decisions have a `verdict`."""

    person: str = ""
    juan: str | None = None
    verdict: Verdict | None = None
    what: ActKind | None = None


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """An act, with its `decision`, `rule`, `page` or `comment`. `name` is the id of the page, `was` its state before.
    `back`: the act is an undo or a redo; `last`: the flag has no later decision."""

    what: ActKind
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
    """The log of a store, as `Store.history`."""

    def log(
        self, work: str, selected: HistoryFilter, *, before: int | None = None, limit: int = 50
    ) -> tuple[list[HistoryEntry], int | None]:
        """The acts of a work, newest first, at most `limit`; with `before`, only those older than the act of that id.
        The second value is the `before` of the next call, None if no acts are left."""
        query = _selected(work_id_subquery(work), selected)
        if before is not None:
            query = query.where(ActRow.id < before)
        with self._reading() as session:
            acts = session.scalars(query.order_by(ActRow.id.desc()).limit(limit + 1)).all()
            entries = _entries(session, acts[:limit])
        return entries, acts[limit - 1].id if len(acts) > limit else None

    def people(self, work: str) -> list[str]:
        """All people who acted in a work."""
        query = _selected(work_id_subquery(work), HistoryFilter()).with_only_columns(ActRow.person).distinct()
        with self._reading() as session:
            return sorted(session.scalars(query))

    def awaiting(self, work: str, limit: int | None = None) -> tuple[list[HistoryEntry], int]:
        """The acts that marked pages of a work as proofread which await a second person, the oldest first, at most
        `limit`; and the number of such pages."""
        with self._reading() as session:
            waiting = [page for page in standings_in(session, work).values() if page.state is PageState.PROOFREAD]
            events = sorted(page.event for page in waiting if page.person)
            entries = [_page_entry(session, session.get_one(PageEventRow, event)) for event in events[:limit]]
        return entries, len(events)

    def to_validate(self, work: str, person: str) -> set[int]:
        """The pages of a work that somebody other than `person` proofread and nobody validated yet."""
        with self._reading() as session:
            standing_of = standings_in(session, work)
        proofread_by = {page: at.person for page, at in standing_of.items() if at.state is PageState.PROOFREAD}
        return {page for page, proofreader in proofread_by.items() if proofreader not in ("", person)}

    def juans(self, work: str) -> list[str]:
        """The juan of a work in the order of their pages."""
        first = func.min(PageRow.id)
        query = select(PageRow.juan).where(PageRow.work_id == work_id_subquery(work), PageRow.juan != "")
        with self._reading() as session:
            return list(session.scalars(query.group_by(PageRow.juan).order_by(first)))


def _selected(work_id: ColumnElement[int], selected: HistoryFilter) -> Select[ActRow]:
    """The query for the acts of a work that the filter selects, without layout overrides."""
    acts = [act for what, act in ACT_OF.items() if selected.what in (None, what)]
    query = select(ActRow).where(ActRow.work_id == work_id, ActRow.act.in_(acts))
    if selected.person:
        query = query.where(ActRow.person == selected.person)
    if selected.verdict is not None:
        query = query.where(_column("verdict") == selected.verdict.value)
    if selected.juan is not None:
        flag, page = _column("flag_id"), _column("page_id")
        pages = select(PageRow.id).where(PageRow.work_id == work_id, PageRow.juan == selected.juan)
        flags = select(FlagRow.id).where(FlagRow.page_id.in_(pages))
        query = query.where(or_(page.in_(pages), and_(page.is_(None), flag.in_(flags))))
    return query


def _column(name: str) -> ColumnElement[Any]:
    """A column of the table of acts, which only some kinds of acts use."""
    return ActRow.__table__.c[name]


def _entries(session: Session, acts: Sequence[ActRow]) -> list[HistoryEntry]:
    """The acts as entries, in their order."""
    rows = [act for act in acts if isinstance(act, DecisionRow)]
    decision_of = {decision.id: decision for decision in shown_decisions(session, rows)}
    entries = []
    for act in acts:
        match act:
            case DecisionRow():
                decision = decision_of[act.id]
                last = session.get_one(FlagRow, decision.flag).version == decision.version
                entry = HistoryEntry(ActKind.DECISIONS, act.id, act.person, act.at, decision=decision, last=last)
            case RuleRow():
                rule = RuleChange(act.transcribed, act.suggested, act.holds)
                back = act.about is not None
                entry = HistoryEntry(ActKind.RULE, act.id, act.person, act.at, rule=rule, back=back)
            case CommentRow():
                [comment] = comments(session, CommentRow.id == act.id)
                name = comment.name
                entry = HistoryEntry(ActKind.COMMENT, act.id, act.person, act.at, comment=comment, name=name)
            case PageEventRow():
                entry = _page_entry(session, act)
        entries.append(entry)
    return entries


def _page_entry(session: Session, row: PageEventRow) -> HistoryEntry:
    earlier = select(PageEventRow.state).where(PageEventRow.page_id == row.page_id)
    was = session.scalar(earlier.where(PageEventRow.version == row.version - 1))
    return HistoryEntry(
        ActKind.PAGE,
        row.id,
        row.person,
        row.at,
        page=page_event(row),
        name=session.get_one(PageRow, row.page_id).page,
        was=PageState(was) if was else PageState.NOT_PROOFREAD,
        back=row.about is not None,
    )
