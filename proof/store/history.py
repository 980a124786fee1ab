"""Everything that people did in a work, newest first: decisions, page states, rules and comments, as one filtered list.

Rows of one table are in the order of their ids; between the tables the clock decides. A list goes on where the last
part of it ended, which is said by the ids that were reached in each table.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import merge
from itertools import islice
from typing import Any

from sqlalchemy import false, func, select
from sqlalchemy.orm import Session

from proof.locale.marking import _
from proof.store.acts import RuleChange, What
from proof.store.comments import Comment, comments_of
from proof.store.decision_records import Decision, Verdict
from proof.store.decision_rows import shown_decisions
from proof.store.judgements import Pairs, judged_twice, last_said, paces
from proof.store.models import CommentRow, DecisionRow, FlagRow, PageEventRow, PageRow, RuleRow, WorkRow
from proof.store.page_states import PageEvent, PageState, page_event
from proof.store.queue_records import CursorError
from proof.store.sessions import StorePart

_Table = type[DecisionRow] | type[PageEventRow] | type[RuleRow] | type[CommentRow]
TABLES: dict[What, _Table] = {
    What.DECISIONS: DecisionRow,
    What.PAGE: PageEventRow,
    What.RULE: RuleRow,
    What.COMMENT: CommentRow,
}
OF_PAGES: dict[What, type[PageEventRow] | type[CommentRow]] = {What.PAGE: PageEventRow, What.COMMENT: CommentRow}
_CURSOR = re.compile("-".join([r"(\d{1,15})"] * len(TABLES)))
END = 10**15 - 1


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """Which acts are wanted; empty means all. Of a `juan` are all but rules, of a `verdict` decisions alone."""

    person: str = ""
    juan: str | None = None
    verdict: Verdict | None = None
    what: What | None = None


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """Something that was done: one of `decision`, `rule`, `page` and `comment` says what. `name` is the page's, `was`
    its state before; `back`: by taking something back, or doing it again; `last`: nothing was decided of that flag
    since."""

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
    """What was done in a store; `Store.history` is one."""

    def log(
        self, work: str, wanted: HistoryFilter, *, cursor: str | None = None, limit: int = 50
    ) -> tuple[list[HistoryEntry], str | None]:
        """What was done in a work, newest first, from where `cursor` says on; and where it goes on, None at its end.
        Raises CursorError."""
        reached = _reached(cursor)
        with self._reading() as session:
            number = session.scalar(select(WorkRow.id).where(WorkRow.name == work)) or 0
            streams = [_stream(session, number, what, wanted, reached[what], limit + 1) for what in TABLES]
            found = list(islice(merge(*streams, key=lambda one: one.at, reverse=True), limit + 1))
            for one in found[:limit]:
                reached[one.what] = one.id
            entries = _entries(session, found[:limit])
        return entries, "-".join(str(reached[what]) for what in TABLES) if len(found) > limit else None

    def people(self, work: str) -> list[str]:
        """Everybody who did something in a work."""
        with self._reading() as session:
            number = session.scalar(select(WorkRow.id).where(WorkRow.name == work)) or 0
            found = {
                name
                for what in TABLES
                for name in session.scalars(_of_work(select(TABLES[what].person), what, number).distinct())
            }
        return sorted(found)

    def judged_twice(self, work: str) -> Pairs:
        """What two people said of the same places of a work."""
        with self._reading() as session:
            return judged_twice(session, work)

    def paces(self, work: str) -> list[float]:
        """Seconds from each decision of a person to their next, but for pauses and strokes of many."""
        with self._reading() as session:
            return paces(session, work)

    def awaiting(self, work: str, limit: int | None = None) -> tuple[list[HistoryEntry], int]:
        """By whom and when the pages of a work were proofread that await a second person, those that wait longest
        first, at most `limit` of them; and how many there are."""
        with self._reading() as session:
            said = last_said(session, work).values()
            waiting = [one for one in said if one.state is PageState.PROOFREAD and not one.changed]
            waiting.sort(key=lambda one: one.at)
            found = [_of_page(session, session.get_one(PageEventRow, one.id)) for one in waiting[:limit]]
        return found, len(waiting)

    def juans(self, work: str) -> list[str]:
        """The juan of a work in the order of their pages."""
        query = select(PageRow.juan, func.min(PageRow.id)).join(WorkRow, WorkRow.id == PageRow.work_id)
        with self._reading() as session:
            found = session.execute(
                query.where(WorkRow.name == work).group_by(PageRow.juan).order_by(func.min(PageRow.id))
            )
            return [juan for juan, _first in found if juan]


def _reached(cursor: str | None) -> dict[What, int]:
    if cursor is None:
        return dict.fromkeys(TABLES, END)
    found = _CURSOR.fullmatch(cursor)
    if found is None or not cursor.isascii():
        raise CursorError(_("this cursor was not given by this list: begin at its start"))
    return dict(zip(TABLES, map(int, found.groups()), strict=True))


@dataclass(frozen=True, slots=True)
class _Row:
    what: What
    id: int
    at: datetime


def _stream(session: Session, work: int, what: What, wanted: HistoryFilter, before: int, limit: int) -> list[_Row]:
    """The rows of a table that are wanted, newest first."""
    table = TABLES[what]
    query = _of_work(select(table.id, table.at), what, work).where(table.id < before)
    if wanted.what not in (None, what):
        return []
    if wanted.person:
        query = query.where(table.person == wanted.person)
    if wanted.verdict is not None:
        query = query.where(DecisionRow.verdict == wanted.verdict.value if what is What.DECISIONS else false())
    if wanted.juan is not None and what is What.RULE:
        return []
    if wanted.juan is not None and what in OF_PAGES:
        query = query.where(PageRow.juan == wanted.juan)
    if wanted.juan is not None and what is What.DECISIONS:
        query = query.join(FlagRow, FlagRow.id == DecisionRow.flag_id).join(PageRow, PageRow.id == FlagRow.page_id)
        query = query.where(PageRow.juan == wanted.juan)
    found = session.execute(query.order_by(table.id.desc()).limit(limit))
    return [_Row(what, number, at) for number, at in found]


def _of_work(query: Any, what: What, work: int) -> Any:
    if what in OF_PAGES:
        return query.join(PageRow, PageRow.id == OF_PAGES[what].page_id).where(PageRow.work_id == work)
    return query.where((DecisionRow if what is What.DECISIONS else RuleRow).work_id == work)


def _entries(session: Session, found: Sequence[_Row]) -> list[HistoryEntry]:
    rows = [session.get_one(DecisionRow, one.id) for one in found if one.what is What.DECISIONS]
    decided = {one.id: one for one in shown_decisions(session, rows)}
    entries = []
    for one in found:
        if one.what is What.DECISIONS:
            made = decided[one.id]
            last = session.get_one(FlagRow, made.flag).version == made.version
            entries.append(HistoryEntry(one.what, one.id, made.person, one.at, decision=made, last=last))
        elif one.what is What.RULE:
            rule = session.get_one(RuleRow, one.id)
            change = RuleChange(rule.transcribed, rule.suggested, rule.holds)
            back = rule.about is not None
            entries.append(HistoryEntry(one.what, one.id, rule.person, one.at, rule=change, back=back))
        elif one.what is What.COMMENT:
            [said] = comments_of(session, [session.get_one(CommentRow, one.id)])
            entries.append(HistoryEntry(one.what, one.id, said.person, one.at, comment=said, name=said.name))
        else:
            entries.append(_of_page(session, session.get_one(PageEventRow, one.id)))
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
