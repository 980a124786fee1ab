"""Comments on flags and pages: answered, marked as a problem, assigned, resolved.

The comments on one flag or page are a thread. After each comment the state of the thread is a note, an open problem,
which may be assigned to a person, or a resolved problem. A flag has an open problem if its last comment says so; a
page, if its page state is `PageState.PROBLEM`, which comments set and clear. Comments are never changed or deleted.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, and_, exists, func, or_, select
from sqlalchemy.orm import Session, aliased

from proof.errors import PublicError
from proof.locale.marking import _
from proof.store.decision_records import MissingFlagError, RefusedDecisionError
from proof.store.events import answered, check_key
from proof.store.lookup import StorePart, batches, filled, find_page, find_work_id, work_id_subquery
from proof.store.models import CommentRow, FlagRow, PageEventRow, PageRow, WorkRow
from proof.store.page_states import PageState, page_states
from proof.store.seeded_errors import IS_SEEDED
from proof.store.typed_text import check_note


class CommentState(StrEnum):
    """The state of a thread after a comment."""

    NOTE = "note"
    PROBLEM = "problem"
    RESOLVED = "resolved"


class CommentConflictError(PublicError):
    """The thread of a problem to be resolved or assigned has a newer comment than the person saw."""

    http_status = 409


@dataclass(frozen=True, slots=True)
class CommentRequest:
    """A request for a comment on the flag of number `flag` or, if None, on the page of number `page`.

    `state` marks a problem or resolves it; `assigned` assigns it to a person ('': to nobody); None leaves them
    unchanged. `seen` is the id of the last comment that the person saw, 0 for none; `key` identifies the request.
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
    """A comment.

    `page` is the number of its page, `name` the id of the page; `flag` is the number of the flag that it is on, `uid`
    the id of that flag; both are empty for a comment on the page. `line`, `transcribed`, `suggested` and `context` are
    those of the flag when the comment was made.
    """

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


def as_line(comment: Comment) -> dict[str, Any]:
    """A comment as a line of `comments.jsonl`, without row numbers. `flag` is the id of the flag, empty for a comment
    on the page."""
    place = {"work": comment.work, "page": comment.name, "flag": comment.uid}
    copied = ("line", "transcribed", "suggested", "context", "text", "state", "assigned", "person")
    return place | {name: getattr(comment, name) for name in copied} | {"at": comment.at.isoformat()}


@dataclass(frozen=True, slots=True)
class Problem:
    """An open problem of a flag or a page, with its comments, oldest first.

    A page marked as a problem without a comment has no comments, but perhaps a `note`. `person` made the last comment
    or the mark, at the time `since`; `assigned` is the person who is to solve the problem.
    """

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
    """The comments of a store, as `Store.comments`."""

    def add(self, request: CommentRequest) -> Comment:
        """Add a comment; a request sent again returns its first comment. Raises NoPlaceError, MissingFlagError,
        RefusedDecisionError for an impossible request, and CommentConflictError if a problem is to be resolved or
        assigned and its thread has a newer comment than was seen."""
        check_note(request.text)
        with self._writing() as session:
            page = find_page(session, request.work, request.page, locked=True)
            flag = _flag(session, request) if request.flag is not None else None
            row = _earlier_row(session, request, page, flag)
            if row is None:
                row = _new_row(session, request, page, flag)
                session.add(row)
                if flag is None:
                    _mark_page(session, page, row)
                session.flush()
            return comments(session, CommentRow.id == row.id)[0]

    def of_page(self, work: str, page: int) -> list[Comment]:
        """The comments on a page and on its flags, oldest first. Raises NoPlaceError."""
        with self._reading() as session:
            find_page(session, work, page)
            of_flags = CommentRow.flag_id.in_(select(FlagRow.id).where(FlagRow.page_id == page))
            # two queries, since each then uses an index
            on_page_and_flags = [*comments(session, _in_thread(page, None)), *comments(session, of_flags)]
            return sorted(on_page_and_flags, key=lambda comment: (comment.at, comment.id))

    def of_flags(self, flags: Iterable[int]) -> dict[int, list[Comment]]:
        """The comments on the flags with these numbers, by number, oldest first."""
        of_flag: defaultdict[int, list[Comment]] = defaultdict(list)
        with self._reading() as session:
            for numbers in batches(sorted(set(flags))):
                for comment in comments(session, CommentRow.flag_id.in_(numbers)):
                    of_flag[comment.flag or 0].append(comment)
        return of_flag

    def of_work(self, work: str) -> list[Comment]:
        """The comments of a work in the order of its pages, those of a thread together; without those on seeded
        errors."""
        not_seeded = or_(FlagRow.id.is_(None), ~IS_SEEDED)
        thread_order = (PageRow.text, PageRow.position, PageRow.id, CommentRow.line, CommentRow.offset, CommentRow.uid)
        with self._reading() as session:
            return comments(session, WorkRow.name == work, not_seeded, order=thread_order)

    def problems(self, *, work: str | None = None, assigned: str | None = None) -> list[Problem]:
        """The open problems of a work, or of all works, those with the newest comment or mark first; with `assigned`,
        only those that this person is to solve. Raises NoPlaceError."""
        with self._reading() as session:
            if work is not None:
                find_work_id(session, work)
            problems = [_problem(session, last) for last in _open_problems(session, work, assigned)]
        return sorted(problems, key=lambda problem: problem.since, reverse=True)

    def count(self, person: str) -> int:
        """The number of open problems that a person is to solve, in all works."""
        if not person:
            return 0
        with self._reading() as session:
            return len(_open_problems(session, None, person))


def count_problems(session: Session, work: str) -> int:
    """The number of open problems of a work, of its flags and of its pages."""
    return len(_open_problems(session, work, None))


def _flag(session: Session, request: CommentRequest) -> FlagRow:
    flag = session.get(FlagRow, request.flag)
    if flag is None or flag.page_id != request.page:
        raise MissingFlagError(_("%(work)s: there is no flag %(flag)s"), work=request.work, flag=request.flag)
    return flag


def _in_thread(page: int, flag: int | None) -> ColumnElement[bool]:
    """Selects the comments of a thread: those on a flag or, if None, on the page itself."""
    on_page = (CommentRow.page_id == page) & CommentRow.flag_id.is_(None)
    return on_page if flag is None else CommentRow.flag_id == flag


def _earlier_row(session: Session, request: CommentRequest, page: PageRow, flag: FlagRow | None) -> CommentRow | None:
    """The comment that an earlier request with the same key added, if any. Raises RefusedDecisionError if that was
    another request."""
    flag_id = flag.id if flag else None
    columns = {"page_id": page.id, "flag_id": flag_id, "text": request.text, "person": request.person}
    if request.state:
        columns["state"] = request.state.value
    if request.assigned is not None:
        columns["assigned"] = request.assigned
    return answered(session, CommentRow, request.key, **columns)


def _new_row(session: Session, request: CommentRequest, page: PageRow, flag: FlagRow | None) -> CommentRow:
    """The row of a requested comment. Raises as `Comments.add`."""
    thread = select(CommentRow).where(_in_thread(page.id, flag.id if flag else None))
    last = session.scalars(thread.order_by(CommentRow.at.desc(), CommentRow.id.desc())).first()
    state_before = CommentState(last.state) if last else CommentState.NOTE
    if flag is None:
        state_before = _page_thread_state(session, page.id, state_before)
    state = request.state or state_before
    assigned_before = last.assigned if last else ""
    assigned = assigned_before if request.assigned is None else request.assigned
    if state is not CommentState.PROBLEM:
        assigned = ""
    _check_request(request, state_before, state)
    is_change = (state, assigned) != (state_before, assigned_before)
    is_unseen = last is not None and last.id != request.seen
    if is_change and last is not None and is_unseen and state_before is CommentState.PROBLEM:
        raise CommentConflictError(
            _("%(person)s wrote something in the meantime; read it first, then say it again"), person=last.person
        )
    if not request.text.strip() and not is_change:
        raise RefusedDecisionError(_("write something, or say what is to become of it"))
    now = datetime.now(UTC)
    return CommentRow(
        work_id=page.work_id,
        page_id=page.id,
        flag_id=flag.id if flag else None,
        uid=flag.uid if flag else "",
        key=request.key,
        text=request.text,
        state=state.value,
        assigned=assigned,
        person=request.person,
        at=max(now, last.at) if last else now,  # no earlier than the comment before, even if the clock was set back
        line=flag.line if flag else 0,
        offset=flag.offset if flag else 0,
        transcribed=flag.transcribed if flag else "",
        suggested=flag.suggested if flag else "",
        context=flag.context if flag else "",
    )


def _check_request(request: CommentRequest, state_before: CommentState, state: CommentState) -> None:
    """Raise RefusedDecisionError for a request that cannot take a thread from `state_before` to `state`."""
    check_key(request.key)
    if request.state is CommentState.NOTE:
        raise RefusedDecisionError(_("a problem is resolved, and does not become a note"))
    if request.state is CommentState.RESOLVED and state_before is not CommentState.PROBLEM:
        raise RefusedDecisionError(_("nothing is marked as a problem there that could be resolved"))
    if request.assigned and state is not CommentState.PROBLEM:
        raise RefusedDecisionError(_("only what is marked as a problem is assigned to somebody"))


def _page_thread_state(session: Session, page: int, after_last: CommentState) -> CommentState:
    """The state of the thread of a page. The page state, not the last comment, decides whether the problem is open;
    `after_last` is the state after that comment."""
    if page_states(session, [page])[page].state is PageState.PROBLEM:
        return CommentState.PROBLEM
    return CommentState.RESOLVED if after_last is CommentState.PROBLEM else after_last


def _mark_page(session: Session, page: PageRow, comment: CommentRow) -> None:
    """Set the state of a page if a comment on it marks a problem or resolves it."""
    current = page_states(session, [page.id])[page.id]
    is_problem = comment.state == CommentState.PROBLEM.value
    if is_problem is (current.state is PageState.PROBLEM):
        return
    event = PageEventRow(
        work_id=page.work_id,
        page_id=page.id,
        version=current.version + 1,
        key="comment-" + hashlib.blake2b(comment.key.encode(), digest_size=20).hexdigest(),
        state=(PageState.PROBLEM if is_problem else PageState.NOT_PROOFREAD).value,
        person=comment.person,
        note="",
    )
    session.add(event)


def comments(session: Session, *which: ColumnElement[bool], order: Sequence[Any] = ()) -> list[Comment]:
    """The comments that `which` selects, ordered by `order`, then oldest first. A comment on a flag has the page that
    the flag is on now."""
    query = select(CommentRow, FlagRow.uid, PageRow.id, PageRow.page, WorkRow.name)
    query = query.outerjoin(FlagRow, FlagRow.id == CommentRow.flag_id)
    query = query.join(PageRow, PageRow.id == func.coalesce(FlagRow.page_id, CommentRow.page_id))
    query = query.join(WorkRow, WorkRow.id == PageRow.work_id).where(*which)
    return [
        filled(
            Comment,
            row,
            work=work,
            page=page,
            name=name,
            flag=row.flag_id,
            uid=uid or "",
            state=CommentState(row.state),
        )
        for row, uid, page, name, work in session.execute(query.order_by(*order, CommentRow.at, CommentRow.id))
    ]


def _open_problems(session: Session, work: str | None, assigned: str | None) -> list[CommentRow | PageEventRow]:
    """The open problems of a work, or of all works: of each the last comment on it or, for a page that was marked
    without a comment, the event that marked it. With `assigned`, only those assigned to this person."""
    later, later_event = aliased(CommentRow), aliased(PageEventRow)
    is_later = or_(later.at > CommentRow.at, and_(later.at == CommentRow.at, later.id > CommentRow.id))
    is_on_page = and_(later.flag_id.is_(None), CommentRow.flag_id.is_(None), later.page_id == CommentRow.page_id)
    is_same_thread = or_(later.flag_id == CommentRow.flag_id, is_on_page)
    is_problem = CommentRow.state == CommentState.PROBLEM.value
    # of a page the last event says whether it has a problem
    which = is_problem | CommentRow.flag_id.is_(None)
    if assigned is not None:
        which = is_problem & (CommentRow.assigned == assigned)
    last = select(CommentRow).where(which, ~exists(select(later.id).where(is_same_thread, is_later)))
    is_later_event = (later_event.page_id == PageEventRow.page_id) & (later_event.version > PageEventRow.version)
    marks = select(PageEventRow).where(PageEventRow.state == PageState.PROBLEM.value)
    marks = marks.where(~exists(select(later_event.id).where(is_later_event)))
    of_work: list[ColumnElement[bool]] = [PageRow.absent.is_(False)]
    if work is not None:
        of_work.append(PageRow.work_id == work_id_subquery(work))
    last_comments = session.scalars(last.join(PageRow, PageRow.id == CommentRow.page_id).where(*of_work)).all()
    marks = marks.join(PageRow, PageRow.id == PageEventRow.page_id).where(*of_work)
    if assigned is not None:  # a page without a comment is assigned to nobody
        on_pages = [comment.page_id for comment in last_comments if comment.flag_id is None]
        marks = marks.where(PageEventRow.page_id.in_(on_pages))
    mark_of = {mark.page_id: mark for mark in session.scalars(marks)}
    problems: list[CommentRow | PageEventRow] = []
    for comment in last_comments:
        if comment.flag_id is not None or mark_of.pop(comment.page_id, None) is not None:
            problems.append(comment)
    return [*problems, *mark_of.values()]


def _problem(session: Session, last: CommentRow | PageEventRow) -> Problem:
    """An open problem; `last` is the last comment on it, or the event that marked its page."""
    flag, thread = None, list[Comment]()
    if isinstance(last, CommentRow):
        flag, thread = last.flag_id, comments(session, _in_thread(last.page_id, last.flag_id))
    page = session.get_one(PageRow, thread[-1].page if thread else last.page_id)
    of_work = session.get_one(WorkRow, page.work_id)
    return filled(
        Problem,
        last,
        work=of_work.name,
        title=of_work.title or of_work.name,
        page=page.id,
        name=page.page,
        since=last.at,
        flag=flag,
        comments=tuple(thread),
    )
