"""What people say to each other: comments on a flag or on a page, answered, marked as a problem, assigned, resolved.

The comments of one place are a thread. A comment says where the thread stands after it: a note, a problem that is open
and may be assigned to somebody, or a problem that was resolved. Of a flag the last comment says whether there is an
open problem; of a page its state does (`PageState.PROBLEM`), which a comment sets and takes away. Comments are only
ever added: who errs answers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Select, and_, exists, func, or_, select, tuple_
from sqlalchemy.orm import Session, aliased

from proof.errors import ToldError
from proof.locale.marking import _
from proof.store.decision_records import MissingFlagError, RefusedDecisionError
from proof.store.lookup import NO_PAGE, NoPlaceError, StorePart, work_of
from proof.store.models import CommentRow, FlagRow, PageEventRow, PageRow, WorkRow
from proof.store.page_states import PageState, page_states
from proof.store.quality import is_seeded
from proof.store.request_keys import key_of_another, must_be_own
from proof.store.typed_text import check_note

AT_ONCE = 200


class CommentState(StrEnum):
    """Where a thread stands after a comment."""

    NOTE = "note"
    PROBLEM = "problem"
    RESOLVED = "resolved"


class CommentConflictError(ToldError):
    """Somebody wrote to the thread that was to be resolved or assigned, and that was not seen."""

    http_status = 409


@dataclass(frozen=True, slots=True)
class CommentRequest:
    """A comment as it is asked for: on the flag of that number or, where there is none, on the page.

    `state` marks a problem or resolves it, `assigned` gives it to somebody ('': to nobody); None leaves them as they
    are. `seen` is the thread's last comment that was seen, 0 where there was none; `key` the request's own.
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
    """A comment: `name` is the page's, `flag` the number of the flag it is about, None where it is about the page, and
    where the flag is no longer there; `line`, `transcribed`, `suggested` and `context` are the place as it was."""

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
    """A comment as `comments.jsonl` has it, its place in words: without the numbers of a store; `flag` is the id of the
    flag, empty where it is about the page."""
    named = {"work": comment.work, "page": comment.name, "flag": comment.uid}
    same = ("line", "transcribed", "suggested", "context", "text", "state", "assigned", "person")
    return named | {name: getattr(comment, name) for name in same} | {"at": comment.at.isoformat()}


@dataclass(frozen=True, slots=True)
class Problem:
    """An open problem: of a flag or a page, with the comments on it, oldest first (none where a page was only marked).
    `since` is when it was last spoken of, `assigned` who is to see to it."""

    work: str
    title: str
    page: int
    name: str
    flag: int | None
    line: int
    transcribed: str
    suggested: str
    assigned: str
    person: str
    since: datetime
    note: str
    comments: tuple[Comment, ...]


class Comments(StorePart):
    """What people say to each other in a store; `Store.comments` is one."""

    def say(self, asked: CommentRequest) -> Comment:
        """Write a comment down. Raises NoPlaceError, MissingFlagError, RefusedDecisionError for what cannot be said,
        CommentConflictError where somebody wrote meanwhile to what is to be resolved or assigned."""
        check_note(asked.text)
        with self._writing() as session:
            page = _page(session, asked)
            flag = _flag(session, asked) if asked.flag is not None else None
            must_be_own(session, [asked.key, _key_of_page(asked.key)], CommentRow)
            number = flag.id if flag else None
            again = session.scalar(select(CommentRow).where(CommentRow.key == asked.key))
            if again is not None:
                state = asked.state or CommentState(again.state)
                assigned = again.assigned if asked.assigned is None else asked.assigned
                said = (again.page_id, again.flag_id, again.text, again.state, again.assigned, again.person)
                if said != (page.id, number, asked.text, state.value, assigned, asked.person):
                    raise key_of_another()
                return comments_of(session, [again])[0]
            thread = list(session.scalars(_of_place(page.id, number)))
            row = _row(session, asked, page, flag, thread)
            session.add(row)
            if flag is None:
                _mark_page(session, page, asked)
            session.flush()
            return comments_of(session, [row])[0]

    def of_page(self, work: str, page: int) -> list[Comment]:
        """All that was said of a page and of its flags, oldest first. Raises NoPlaceError."""
        with self._reading() as session:
            row = session.get(PageRow, page)
            if row is None or session.get_one(WorkRow, row.work_id).name != work:
                raise NoPlaceError(NO_PAGE, work=work, page=page)
            of_flags = select(FlagRow.id).where(FlagRow.page_id == page)
            of_page = (CommentRow.page_id == page) & CommentRow.flag_id.is_(None)
            query = select(CommentRow).where(of_page | CommentRow.flag_id.in_(of_flags))
            return comments_of(session, session.scalars(query.order_by(CommentRow.at, CommentRow.id)).all())

    def of_flags(self, flags: Iterable[tuple[int, str]]) -> dict[tuple[int, str], list[Comment]]:
        """What was said of flags, given by page and id, oldest first."""
        wanted = list(dict.fromkeys(flags))
        found: dict[tuple[int, str], list[Comment]] = {}
        with self._reading() as session:
            for start in range(0, len(wanted), AT_ONCE):
                part = wanted[start : start + AT_ONCE]
                here = select(FlagRow.id).where(tuple_(FlagRow.page_id, FlagRow.uid).in_(part))
                query = select(CommentRow).where(CommentRow.flag_id.in_(here))
                for one in comments_of(session, session.scalars(query.order_by(CommentRow.at, CommentRow.id)).all()):
                    found.setdefault((one.page, one.uid), []).append(one)
        return found

    def of_work(self, work: str) -> list[Comment]:
        """All that was said in a work in the order of its pages, the comments of a place together, but for what was
        said of seeded errors."""
        query = select(CommentRow).join(PageRow, PageRow.id == CommentRow.page_id)
        query = query.join(WorkRow, WorkRow.id == PageRow.work_id).where(WorkRow.name == work)
        query = query.where(~exists(select(FlagRow.id).where(FlagRow.id == CommentRow.flag_id, is_seeded())))
        place = (PageRow.text, PageRow.position, PageRow.id, CommentRow.line, CommentRow.offset, CommentRow.uid)
        with self._reading() as session:
            return comments_of(session, session.scalars(query.order_by(*place, CommentRow.at, CommentRow.id)).all())

    def problems(self, *, work: str | None = None, assigned: str | None = None) -> list[Problem]:
        """The open problems of a work, or of all, those that were spoken of last first; with `assigned` those that
        this person is to see to. Raises NoPlaceError."""
        with self._reading() as session:
            if work is not None:
                work_of(session, work)
            last = _last_comments(session, work, assigned)
            found = [_of_thread(session, row) for row in _still_open(session, last)]
            if assigned is None:
                found += _only_marked(session, work, {row.page_id for row in last if row.flag_id is None})
        return sorted(found, key=lambda one: one.since, reverse=True)

    def count(self, person: str) -> int:
        """How many open problems that person is to see to, in all works."""
        if not person:
            return 0
        with self._reading() as session:
            return len(_still_open(session, _last_comments(session, None, person)))


def count_problems(session: Session, work: str) -> int:
    """How many problems of a work are open, of its flags and of its pages."""
    last = _last_comments(session, work, None)
    spoken = {row.page_id for row in last if row.flag_id is None}
    return len(_still_open(session, last)) + len(_only_marked(session, work, spoken))


def _page(session: Session, asked: CommentRequest) -> PageRow:
    page = session.scalar(select(PageRow).where(PageRow.id == asked.page).with_for_update())
    if page is None or page.absent or session.get_one(WorkRow, page.work_id).name != asked.work:
        raise NoPlaceError(NO_PAGE, work=asked.work, page=asked.page)
    return page


def _flag(session: Session, asked: CommentRequest) -> FlagRow:
    flag = session.get(FlagRow, asked.flag)
    if flag is None or flag.page_id != asked.page:
        raise MissingFlagError(_("%(work)s: there is no flag %(flag)s"), work=asked.work, flag=asked.flag)
    return flag


def _of_place(page: int, flag: int | None) -> Select[CommentRow]:
    """The comments of a thread: those on a flag or, where there is none, on the page."""
    of_page = (CommentRow.page_id == page) & CommentRow.flag_id.is_(None)
    place = select(CommentRow).where(of_page if flag is None else CommentRow.flag_id == flag)
    return place.order_by(CommentRow.at, CommentRow.id)


def _row(
    session: Session, asked: CommentRequest, page: PageRow, flag: FlagRow | None, thread: Sequence[CommentRow]
) -> CommentRow:
    """The comment as it is written down; raises as `Comments.say`."""
    last = thread[-1] if thread else None
    stood = CommentState(last.state) if last else CommentState.NOTE
    if flag is None:
        stood = _state_of_page(session, page.id, stood)
    state = asked.state or stood
    held = last.assigned if last else ""
    assigned = "" if state is not CommentState.PROBLEM else held if asked.assigned is None else asked.assigned
    _must_make_sense(asked, stood, state)
    changes = (state, assigned) != (stood, held)
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


def _must_make_sense(asked: CommentRequest, stood: CommentState, state: CommentState) -> None:
    if not 8 <= len(asked.key) <= 64:
        raise RefusedDecisionError(_("the key of a request has 8 to 64 letters"))
    if asked.state is CommentState.NOTE:
        raise RefusedDecisionError(_("a problem is resolved, and does not become a note"))
    if asked.state is CommentState.RESOLVED and stood is not CommentState.PROBLEM:
        raise RefusedDecisionError(_("nothing is marked as a problem there that could be resolved"))
    if asked.assigned and state is not CommentState.PROBLEM:
        raise RefusedDecisionError(_("only what is marked as a problem is assigned to somebody"))


def _state_of_page(session: Session, page: int, stood: CommentState) -> CommentState:
    """Of a page its state says whether there is an open problem."""
    if page_states(session, [page])[page].state is PageState.PROBLEM:
        return CommentState.PROBLEM
    return CommentState.RESOLVED if stood is CommentState.PROBLEM else stood


def _mark_page(session: Session, page: PageRow, asked: CommentRequest) -> None:
    """What a comment says of its page as a whole, in words that all lists of pages know."""
    stands = page_states(session, [page.id])[page.id]
    problem = stands.state is PageState.PROBLEM
    if asked.state is CommentState.PROBLEM and not problem:
        said = PageState.PROBLEM
    elif asked.state is CommentState.RESOLVED and problem:
        said = PageState.NOT_PROOFREAD
    else:
        return
    values = {"key": _key_of_page(asked.key), "state": said.value, "person": asked.person, "note": ""}
    subject = {"work_id": page.work_id, "page_id": page.id, "version": stands.version + 1}
    session.add(PageEventRow(**subject, **values, at=datetime.now(UTC)))


def _key_of_page(key: str) -> str:
    return "comment-" + hashlib.blake2b(key.encode(), digest_size=20).hexdigest()


def comments_of(session: Session, found: Sequence[CommentRow]) -> list[Comment]:
    """Comments from their rows, those on flags on the pages on which these stand now."""
    flags: dict[int, FlagRow] = {}
    numbers = sorted({row.flag_id for row in found if row.flag_id is not None})
    for start in range(0, len(numbers), AT_ONCE):
        some = select(FlagRow).where(FlagRow.id.in_(numbers[start : start + AT_ONCE]))
        flags |= {flag.id: flag for flag in session.scalars(some)}
    page_of = {row.id: flags[row.flag_id].page_id if row.flag_id in flags else row.page_id for row in found}
    names: dict[int, tuple[str, str]] = {}
    known = sorted(set(page_of.values()))
    for start in range(0, len(known), AT_ONCE):
        named = select(PageRow.id, PageRow.page, WorkRow.name).join(WorkRow, WorkRow.id == PageRow.work_id)
        pages = named.where(PageRow.id.in_(known[start : start + AT_ONCE]))
        names |= {row[0]: (row[1], row[2]) for row in session.execute(pages)}
    return [
        Comment(
            id=row.id,
            work=names[page_of[row.id]][1],
            page=page_of[row.id],
            name=names[page_of[row.id]][0],
            flag=row.flag_id,
            uid=flags[row.flag_id].uid if row.flag_id in flags else "",
            text=row.text,
            state=CommentState(row.state),
            assigned=row.assigned,
            person=row.person,
            at=row.at,
            line=row.line,
            transcribed=row.transcribed,
            suggested=row.suggested,
            context=row.context,
        )
        for row in found
    ]


def _last_comments(session: Session, work: str | None, assigned: str | None) -> list[CommentRow]:
    """The last comment of each thread that it leaves as a problem; with `assigned`, as that person's."""
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


def _still_open(session: Session, last: Sequence[CommentRow]) -> list[CommentRow]:
    """Those that are of an open problem: a page may have been marked otherwise since."""
    states = page_states(session, [row.page_id for row in last if row.flag_id is None])
    return [row for row in last if row.flag_id is not None or states[row.page_id].state is PageState.PROBLEM]


def _of_thread(session: Session, last: CommentRow) -> Problem:
    """A problem with all that was said of it."""
    comments = comments_of(session, session.scalars(_of_place(last.page_id, last.flag_id)).all())
    page = session.get_one(PageRow, comments[-1].page)
    work = session.get_one(WorkRow, page.work_id)
    return Problem(
        work=work.name,
        title=work.title or work.name,
        page=page.id,
        name=page.page,
        flag=comments[-1].flag,
        line=last.line,
        transcribed=last.transcribed,
        suggested=last.suggested,
        assigned=last.assigned if last.state == CommentState.PROBLEM.value else "",
        person=last.person,
        since=last.at,
        note="",
        comments=tuple(comments),
    )


def _only_marked(session: Session, work: str | None, spoken: set[int]) -> list[Problem]:
    """Pages that were marked as a problem, with nothing said of it but perhaps a note."""
    newest = select(func.max(PageEventRow.id)).group_by(PageEventRow.page_id)
    query = select(PageEventRow, PageRow, WorkRow).join(PageRow, PageRow.id == PageEventRow.page_id)
    query = query.join(WorkRow, WorkRow.id == PageRow.work_id).where(PageEventRow.id.in_(newest))
    query = query.where(PageEventRow.state == PageState.PROBLEM.value, PageRow.absent.is_(False))
    if work is not None:
        query = query.where(WorkRow.name == work)
    return [
        Problem(
            work=of.name,
            title=of.title or of.name,
            page=page.id,
            name=page.page,
            flag=None,
            line=0,
            transcribed="",
            suggested="",
            assigned="",
            person=event.person,
            since=event.at,
            note=event.note,
            comments=(),
        )
        for event, page, of in session.execute(query)
        if page.id not in spoken
    ]
