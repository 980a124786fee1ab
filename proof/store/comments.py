"""Comments on flags and pages: answered, marked as a problem, assigned, resolved.

The comments of one place are a thread. Each leaves the thread as a note, as an open problem, which may be assigned to a
person, or as a resolved one. For a flag the last comment tells whether there is an open problem; for a page its state
does (`PageState.PROBLEM`), which a comment sets and clears. Comments are never changed or deleted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, and_, case, exists, func, or_, select, tuple_
from sqlalchemy.orm import Session, aliased

from proof.errors import PublicError
from proof.locale.marking import _
from proof.store.decision_records import MissingFlagError, RefusedDecisionError
from proof.store.events import answered, check_key
from proof.store.lookup import NO_PAGE, NoPlaceError, StorePart, find_page, find_work_id
from proof.store.models import CommentRow, FlagRow, PageEventRow, PageRow, WorkRow
from proof.store.page_states import PageState, page_states
from proof.store.seeded import IS_SEEDED
from proof.store.typed_text import check_note

AT_ONCE = 200
"""Flags in one query."""


class CommentState(StrEnum):
    """Where a thread stands after a comment."""

    NOTE = "note"
    PROBLEM = "problem"
    RESOLVED = "resolved"


class CommentConflictError(PublicError):
    """A thread to be resolved or assigned has a comment that was not seen."""

    http_status = 409


@dataclass(frozen=True, slots=True)
class CommentRequest:
    """A request for a comment: on the flag of that number or, without one, on the page.

    `state` marks a problem or resolves it, `assigned` gives it to a person ('': to nobody); None leaves them as they
    are. `seen` is the last comment of the thread that was seen, 0 where there was none; `key` that of the request.
    """

    work: str
    page: int
    flag: int | None
    text: str
    person: str
    key: str
    state: CommentState | None = None
    assigned: str | None = None
    seen: int = 0


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment: `page` is the number of its page, `name` the page's id; `flag` is the number of the flag it is about,
    None where it is about the page or the flag is no longer there, `uid` the flag's id. `line`, `transcribed`,
    `suggested` and `context` are the flag's as they were when the comment was made."""

    id: int
    work: str
    page: int
    name: str
    flag: int | None
    uid: str
    text: str
    state: CommentState
    assigned: str
    person: str
    at: datetime
    line: int
    transcribed: str
    suggested: str
    context: str


_AS_IN_ROW = ("id", "text", "assigned", "person", "at", "line", "transcribed", "suggested", "context")
"""Fields of a comment that are those of its row."""


def as_line(comment: Comment) -> dict[str, Any]:
    """A comment as a line of `comments.jsonl`: without the numbers of a store; `flag` is the id of the flag, empty
    where the comment is about the page."""
    named = {"work": comment.work, "page": comment.name, "flag": comment.uid}
    same = ("line", "transcribed", "suggested", "context", "text", "state", "assigned", "person")
    return named | {name: getattr(comment, name) for name in same} | {"at": comment.at.isoformat()}


@dataclass(frozen=True, slots=True)
class Problem:
    """An open problem of a flag or a page, with its comments, oldest first (none where a page was marked without a
    comment, but perhaps with a `note`). `since` is the time of the last comment or of the mark, `person` who made it,
    `assigned` who is to solve the problem."""

    work: str
    title: str
    page: int
    name: str
    person: str
    since: datetime
    note: str = ""
    flag: int | None = None
    line: int = 0
    transcribed: str = ""
    suggested: str = ""
    assigned: str = ""
    comments: tuple[Comment, ...] = ()


class Comments(StorePart):
    """The comments of a store; `Store.comments` is one."""

    def say(self, asked: CommentRequest) -> Comment:
        """Add a comment. Raises NoPlaceError, MissingFlagError, RefusedDecisionError for an impossible request,
        CommentConflictError where a problem to be resolved or assigned has a newer comment."""
        check_note(asked.text)
        with self._writing() as session:
            page = find_page(session, asked.work, asked.page, locked=True)
            flag = _flag(session, asked) if asked.flag is not None else None
            number = flag.id if flag else None
            same = {"page_id": page.id, "flag_id": number, "text": asked.text, "person": asked.person}
            same |= {"state": asked.state.value} if asked.state else {}
            same |= {"assigned": asked.assigned} if asked.assigned is not None else {}
            row = answered(session, CommentRow, asked.key, **same)
            if row is None:
                row = _row(session, asked, page, flag)
                session.add(row)
                if flag is None:
                    _mark_page(session, page, asked)
                session.flush()
            return comments(session, CommentRow.id == row.id)[0]

    def of_page(self, work: str, page: int) -> list[Comment]:
        """The comments on a page and on its flags, oldest first. Raises NoPlaceError."""
        with self._reading() as session:
            row = session.get(PageRow, page)
            if row is None or session.get_one(WorkRow, row.work_id).name != work:
                raise NoPlaceError(NO_PAGE, work=work, page=page)
            of_flags = CommentRow.flag_id.in_(select(FlagRow.id).where(FlagRow.page_id == page))
            both = (*comments(session, _of_place(page, None)), *comments(session, of_flags))  # each by its own index
            return sorted(both, key=lambda comment: (comment.at, comment.id))

    def of_flags(self, flags: Iterable[tuple[int, str]]) -> dict[tuple[int, str], list[Comment]]:
        """The comments on flags, given by page and id, oldest first."""
        wanted = list(dict.fromkeys(flags))
        of_flag: dict[tuple[int, str], list[Comment]] = {}
        with self._reading() as session:
            for start in range(0, len(wanted), AT_ONCE):
                batch = tuple_(FlagRow.page_id, FlagRow.uid).in_(wanted[start : start + AT_ONCE])
                for comment in comments(session, CommentRow.flag_id.in_(select(FlagRow.id).where(batch))):
                    of_flag.setdefault((comment.page, comment.uid), []).append(comment)
        return of_flag

    def of_work(self, work: str) -> list[Comment]:
        """The comments of a work in the order of its pages, those of a place together; without those on seeded
        errors."""
        of_text = or_(FlagRow.id.is_(None), ~IS_SEEDED)
        place = (PageRow.text, PageRow.position, PageRow.id, CommentRow.line, CommentRow.offset, CommentRow.uid)
        with self._reading() as session:
            return comments(session, WorkRow.name == work, of_text, order=place)

    def problems(self, *, work: str | None = None, assigned: str | None = None) -> list[Problem]:
        """The open problems of a work, or of all, the newest comment or mark first; with `assigned` those that this
        person is to solve. Raises NoPlaceError."""
        with self._reading() as session:
            if work is not None:
                find_work_id(session, work)
            spoken, marked = _open(session, work, assigned)
            problems = [_problem(session, row) for row in spoken]
            problems += [Problem(**page._mapping) for page in marked]
        return sorted(problems, key=lambda problem: problem.since, reverse=True)

    def count(self, person: str) -> int:
        """How many open problems that person is to solve, in all works."""
        if not person:
            return 0
        with self._reading() as session:
            return sum(map(len, _open(session, None, person)))


def count_problems(session: Session, work: str) -> int:
    """How many problems of a work are open, of its flags and of its pages."""
    return sum(map(len, _open(session, work, None)))


def _open(session: Session, work: str | None, assigned: str | None) -> tuple[Sequence[CommentRow], Sequence[Any]]:
    """The last comments of open problems, a page may have been marked otherwise since; and the pages that are marked
    as a problem without comments, which are assigned to nobody."""
    last = _last_comments(session, work, assigned)
    of_pages = [row.page_id for row in last if row.flag_id is None]
    states = page_states(session, of_pages)
    still = [row for row in last if row.flag_id is not None or states[row.page_id].state is PageState.PROBLEM]
    return still, _only_marked(session, work, set(of_pages)) if assigned is None else ()


def _flag(session: Session, asked: CommentRequest) -> FlagRow:
    flag = session.get(FlagRow, asked.flag)
    if flag is None or flag.page_id != asked.page:
        raise MissingFlagError(_("%(work)s: there is no flag %(flag)s"), work=asked.work, flag=asked.flag)
    return flag


def _of_place(page: int, flag: int | None) -> ColumnElement[bool]:
    """Selects the comments of a thread: those on a flag or, without one, on the page itself."""
    of_page = (CommentRow.page_id == page) & CommentRow.flag_id.is_(None)
    return of_page if flag is None else CommentRow.flag_id == flag


def _row(session: Session, asked: CommentRequest, page: PageRow, flag: FlagRow | None) -> CommentRow:
    """The row of the comment that is asked for. Raises as `Comments.say`."""
    thread = select(CommentRow).where(_of_place(page.id, flag.id if flag else None))
    last = session.scalars(thread.order_by(CommentRow.at.desc(), CommentRow.id.desc())).first()
    stood = CommentState(last.state) if last else CommentState.NOTE
    if flag is None:
        stood = _state_of_page(session, page.id, stood)
    state = asked.state or stood
    was_assigned = last.assigned if last else ""
    assigned = was_assigned if asked.assigned is None else asked.assigned
    if state is not CommentState.PROBLEM:
        assigned = ""
    _refuse_impossible(asked, stood, state)
    changes = (state, assigned) != (stood, was_assigned)
    if changes and last is not None and last.id != asked.seen and stood is CommentState.PROBLEM:
        raise CommentConflictError(
            _("%(person)s wrote something in the meantime; read it first, then say it again"), person=last.person
        )
    if not asked.text.strip() and not changes:
        raise RefusedDecisionError(_("write something, or say what is to become of it"))
    return CommentRow(
        work_id=page.work_id,
        page_id=page.id,
        flag_id=flag.id if flag else None,
        uid=flag.uid if flag else "",
        key=asked.key,
        text=asked.text,
        state=state.value,
        assigned=assigned,
        person=asked.person,
        at=max([datetime.now(UTC), *([last.at] if last else [])]),  # an answer is no older, though the clock went back
        line=flag.line if flag else 0,
        offset=flag.offset if flag else 0,
        transcribed=flag.transcribed if flag else "",
        suggested=flag.suggested if flag else "",
        context=flag.context if flag else "",
    )


def _refuse_impossible(asked: CommentRequest, stood: CommentState, state: CommentState) -> None:
    """Raises RefusedDecisionError for a request that a thread which stood at `stood` cannot take to `state`."""
    check_key(asked.key)
    if asked.state is CommentState.NOTE:
        raise RefusedDecisionError(_("a problem is resolved, and does not become a note"))
    if asked.state is CommentState.RESOLVED and stood is not CommentState.PROBLEM:
        raise RefusedDecisionError(_("nothing is marked as a problem there that could be resolved"))
    if asked.assigned and state is not CommentState.PROBLEM:
        raise RefusedDecisionError(_("only what is marked as a problem is assigned to somebody"))


def _state_of_page(session: Session, page: int, stood: CommentState) -> CommentState:
    """Where the thread of a page stands, which `stood` after its last comment: whether there is an open problem, the
    state of the page says."""
    if page_states(session, [page])[page].state is PageState.PROBLEM:
        return CommentState.PROBLEM
    return CommentState.RESOLVED if stood is CommentState.PROBLEM else stood


def _mark_page(session: Session, page: PageRow, asked: CommentRequest) -> None:
    """Set the state of a page that a comment marks as a problem, or whose problem it resolves."""
    current = page_states(session, [page.id])[page.id]
    problem = current.state is PageState.PROBLEM
    if asked.state is CommentState.PROBLEM and not problem:
        state = PageState.PROBLEM
    elif asked.state is CommentState.RESOLVED and problem:
        state = PageState.NOT_PROOFREAD
    else:
        return
    values = {"key": _key_of_page(asked.key), "state": state.value, "person": asked.person, "note": ""}
    subject = {"work_id": page.work_id, "page_id": page.id, "version": current.version + 1}
    session.add(PageEventRow(**subject, **values))


def _key_of_page(key: str) -> str:
    return "comment-" + hashlib.blake2b(key.encode(), digest_size=20).hexdigest()


def comments(session: Session, *which: ColumnElement[bool], order: Sequence[Any] = ()) -> list[Comment]:
    """The comments that `which` selects, in the order of `order` and then the oldest first. A comment on a flag has the
    page on which the flag stands now."""
    query = select(CommentRow, FlagRow.uid, PageRow.id, PageRow.page, WorkRow.name)
    query = query.outerjoin(FlagRow, FlagRow.id == CommentRow.flag_id)
    query = query.join(PageRow, PageRow.id == func.coalesce(FlagRow.page_id, CommentRow.page_id))
    query = query.join(WorkRow, WorkRow.id == PageRow.work_id).where(*which)
    return [
        Comment(
            work=work,
            page=page,
            name=name,
            flag=row.flag_id,
            uid=uid or "",
            state=CommentState(row.state),
            **{name: getattr(row, name) for name in _AS_IN_ROW},
        )
        for row, uid, page, name, work in session.execute(query.order_by(*order, CommentRow.at, CommentRow.id))
    ]


def _last_comments(session: Session, work: str | None, assigned: str | None) -> list[CommentRow]:
    """The last comment of each thread, if it leaves a problem, and in any case that of a thread on a page, whose state
    says whether there is a problem; with `assigned`, only problems that are that person's."""
    later = aliased(CommentRow)
    after = or_(later.at > CommentRow.at, and_(later.at == CommentRow.at, later.id > CommentRow.id))
    same = or_(
        later.flag_id == CommentRow.flag_id,
        and_(later.flag_id.is_(None), CommentRow.flag_id.is_(None), later.page_id == CommentRow.page_id),
    )
    query = select(CommentRow).where(~exists(select(later.id).where(same, after)))
    if assigned is not None:
        query = query.where(CommentRow.state == CommentState.PROBLEM.value, CommentRow.assigned == assigned)
    else:
        query = query.where(or_(CommentRow.state == CommentState.PROBLEM.value, CommentRow.flag_id.is_(None)))
    query = query.join(PageRow, PageRow.id == CommentRow.page_id).where(PageRow.absent.is_(False))
    if work is not None:
        query = query.join(WorkRow, WorkRow.id == PageRow.work_id).where(WorkRow.name == work)
    return list(session.scalars(query))


def _problem(session: Session, last: CommentRow) -> Problem:
    """A problem with its thread, of which `last` is the last comment."""
    thread = comments(session, _of_place(last.page_id, last.flag_id))
    newest = thread[-1]
    title = session.scalar(select(WorkRow.title).where(WorkRow.name == newest.work))
    return Problem(
        work=newest.work,
        title=title or newest.work,
        page=newest.page,
        name=newest.name,
        person=last.person,
        since=last.at,
        flag=newest.flag,
        line=last.line,
        transcribed=last.transcribed,
        suggested=last.suggested,
        assigned=last.assigned if last.state == CommentState.PROBLEM.value else "",
        comments=tuple(thread),
    )


def _only_marked(session: Session, work: str | None, spoken: set[int]) -> Sequence[Any]:
    """Pages that are marked as a problem and not in `spoken`, the pages with comments: rows with fields of `Problem`
    by name."""
    newest = select(func.max(PageEventRow.id)).group_by(PageEventRow.page_id)
    title = case((WorkRow.title == "", WorkRow.name), else_=WorkRow.title)
    of_page = (WorkRow.name.label("work"), title.label("title"), PageRow.id.label("page"), PageRow.page.label("name"))
    query = select(*of_page, PageEventRow.person, PageEventRow.at.label("since"), PageEventRow.note)
    query = query.join(PageRow, PageRow.id == PageEventRow.page_id).join(WorkRow, WorkRow.id == PageRow.work_id)
    query = query.where(PageEventRow.id.in_(newest), PageEventRow.state == PageState.PROBLEM.value)
    query = query.where(PageRow.absent.is_(False), PageRow.id.not_in(spoken))
    return session.execute(query if work is None else query.where(WorkRow.name == work)).all()
