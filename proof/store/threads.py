"""Threads: what is kept of a place of the text, whichever flag stands there now.

A flag's id counts lines, so that a line put in above makes another flag of every place below it. The later flag names
the first one (`FlagRow.thread`): comments are kept under that, and who still decides the earlier flag decides the
place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from sqlalchemy import ColumnElement, exists, func, select
from sqlalchemy.orm import Session, aliased

from proof.store import rows
from proof.store.models import CommentRow, FlagRow, PageRow
from proof.store.quality import seeded_among

AT_ONCE = 200


def thread_of(flag: FlagRow) -> str:
    """The id under which is kept what is said of the place of a flag."""
    return flag.thread or flag.uid


def is_of_thread(flag: type[FlagRow] = FlagRow) -> ColumnElement[str]:
    """The same, of the flags of a query."""
    return func.coalesce(func.nullif(flag.thread, ""), flag.uid)


def is_decided_where_it_is() -> ColumnElement[bool]:
    """Whether the flag of a query is gone, and another one that stands at its place is decided."""
    other = aliased(FlagRow)
    same = (other.page_id == FlagRow.page_id, is_of_thread(other) == is_of_thread(), other.id != FlagRow.id)
    return FlagRow.stale & exists(select(other.id).where(*same, other.stale.is_(False), other.version > 0))


def spoken_of(session: Session, page: int) -> frozenset[str]:
    """The threads of a page in which something was said."""
    return frozenset(session.scalars(select(CommentRow.uid).where(CommentRow.page_id == page, CommentRow.uid != "")))


def go_on(session: Session, was: FlagRow, now: FlagRow, spoken: Collection[str] | None = None) -> None:
    """Have the thread of a place go on at the flag that stands there now, unless something was said of that one by
    itself; `spoken` are the threads of the page in which something was, where they are known."""
    thread, own = thread_of(was), thread_of(now)
    if thread != own and own not in (spoken_of(session, now.page_id) if spoken is None else spoken):
        now.thread = "" if thread == now.uid else thread


def successor(session: Session, flag: FlagRow) -> FlagRow | None:
    """The flag that stands at the place of one that is gone, where the text was changed since; None for any other."""
    if not flag.stale:
        return None
    here = select(FlagRow).where(FlagRow.page_id == flag.page_id, is_of_thread() == thread_of(flag))
    sort = FlagRow.ordinal == rows.BY_HAND if rows.is_by_hand(flag.uid) else FlagRow.ordinal >= rows.CURRENT
    here = here.where(FlagRow.stale.is_(False), sort, FlagRow.kind == flag.kind)
    found = session.scalars(here.with_for_update()).all()
    return found[0] if len(found) == 1 else None


def gone_beside(session: Session, flag: FlagRow) -> Sequence[FlagRow]:
    """The others that stood at the place of a flag that is gone, and are gone as well; none of any other flag."""
    if not flag.stale:
        return []
    same = (FlagRow.page_id == flag.page_id, is_of_thread() == thread_of(flag), FlagRow.id != flag.id)
    return session.scalars(select(FlagRow).where(*same, FlagRow.stale.is_(True), FlagRow.version > 0)).all()


def take_up_lost(session: Session, work_id: int, page: int | None = None) -> None:
    """Have threads whose flag is gone go on where the same stands in the same surroundings: at the one place that is
    so or, where as many are gone, in their order. A flag that was there beside the other is another place."""
    query = select(CommentRow).join(PageRow, PageRow.id == CommentRow.page_id)
    query = query.where(PageRow.work_id == work_id, CommentRow.uid != "").order_by(CommentRow.at, CommentRow.id)
    said = session.scalars(query if page is None else query.where(PageRow.id == page)).all()
    last = {(one.page_id, one.uid): one for one in said}
    lost: defaultdict[int, list[CommentRow]] = defaultdict(list)
    for one in _without_flag(session, last.values()):
        lost[one.page_id].append(one)
    for number, gone in lost.items():
        _take_up(session, number, gone, {uid for at, uid in last if at == number})


def _without_flag(session: Session, last: Collection[CommentRow]) -> list[CommentRow]:
    """Those comments whose thread has no flag in the text as it is now."""
    there: set[tuple[int, str]] = set()
    pages = sorted({one.page_id for one in last})
    for start in range(0, len(pages), AT_ONCE):
        some = (FlagRow.page_id.in_(pages[start : start + AT_ONCE]), FlagRow.stale.is_(False))
        found = session.execute(select(FlagRow.page_id, is_of_thread()).where(*some))
        there.update((page, thread) for page, thread in found)
    return [one for one in last if (one.page_id, one.uid) not in there]


def _take_up(session: Session, page: int, gone: Iterable[CommentRow], spoken: Collection[str]) -> None:
    alike: defaultdict[tuple[str, str], list[CommentRow]] = defaultdict(list)
    for one in gone:
        alike[one.transcribed, one.context].append(one)
    for (transcribed, context), lost in alike.items():
        here = select(FlagRow).where(FlagRow.page_id == page, FlagRow.stale.is_(False))
        here = here.where(FlagRow.transcribed == transcribed, FlagRow.context == context)
        there = [one for one in session.scalars(here.order_by(FlagRow.line, FlagRow.offset)) if one.context]
        before = {one.uid: _flag_of(session, one) for one in lost}
        new = [one for one in there if thread_of(one) not in spoken and _is_new(session, one, before.values())]
        if len(new) == len(lost):
            for one, now in zip(sorted(lost, key=lambda row: (row.line, row.offset)), new, strict=True):
                now.thread = "" if one.uid == now.uid else one.uid


def _flag_of(session: Session, comment: CommentRow) -> FlagRow | None:
    return session.scalar(select(FlagRow).where(FlagRow.page_id == comment.page_id, FlagRow.uid == comment.uid))


def _is_new(session: Session, flag: FlagRow, before: Iterable[FlagRow | None]) -> bool:
    """Whether a flag was not there yet beside any of those that are gone, and is of the sort that these are."""
    known = [one for one in before if one is not None]
    seeded = seeded_among(session, [flag.id, *(one.id for one in known)])
    return all(
        flag.first_run_id > one.last_run_id and flag.kind == one.kind and (flag.id in seeded) == (one.id in seeded)
        for one in known
    )
