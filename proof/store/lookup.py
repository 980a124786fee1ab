"""Sessions of the store, lookup of works and pages, and the revision of a work."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple

from sqlalchemy import ColumnElement, ScalarSelect, func, select, update
from sqlalchemy.orm import Session

from proof.errors import PublicError
from proof.locale.marking import _
from proof.store.models import ActRow, PageRow, WorkRow

NO_PAGE = _("%(work)s: there is no page %(page)s")
NO_WORK = _("there is no work %(work)s in the store")

Sessions = Callable[[], AbstractContextManager[Session]]
"""Each call gives a session for a `with` block, at whose end its changes are committed as one transaction."""


class StorePart:
    """A part of a store, with sessions for reading and for writing."""

    def __init__(self, reading: Sessions, writing: Sessions) -> None:
        self._reading = reading
        self._writing = writing


class NoPlaceError(PublicError):
    """No such page, column or place in a column."""

    http_status = 404


class PageConflictError(PublicError):
    """A page was changed since it was seen."""

    http_status = 409


def work_id_subquery(work: str | None) -> ScalarSelect[int]:
    """The number of the work of that name, within a query; null where there is none."""
    return select(WorkRow.id).where(WorkRow.name == work).scalar_subquery()


def find_work_id(session: Session, work: str) -> int:
    """The number of the work of that name. Raises NoPlaceError."""
    number = session.scalar(select(WorkRow.id).where(WorkRow.name == work))
    if number is None:
        raise NoPlaceError(NO_WORK, work=work)
    return number


def find_page(session: Session, work: str, page: int, *, locked: bool = False) -> PageRow:
    """The page of that number of a work, `locked` until the end of the transaction. Raises NoPlaceError."""
    row = session.get(PageRow, page, with_for_update=locked or None)
    if row is None or row.absent or session.get_one(WorkRow, row.work_id).name != work:
        raise NoPlaceError(NO_PAGE, work=work, page=page)
    return row


class StoredWork(NamedTuple):
    """A work as it is now. Every check and export raises its `revision`; acts of people are counted by `newest_act`.
    Values kept in memory are compared with these two."""

    id: int
    name: str
    title: str
    revision: int


def find_works(session: Session, *which: ColumnElement[bool]) -> list[StoredWork]:
    """The works of the store, by name."""
    query = select(WorkRow.id, WorkRow.name, WorkRow.title, WorkRow.revision).where(*which)
    return [StoredWork(*row) for row in session.execute(query.order_by(WorkRow.name))]


def find_work(session: Session, name: str) -> StoredWork:
    """The work of that name. Raises NoPlaceError."""
    for work in find_works(session, WorkRow.name == name):
        return work
    raise NoPlaceError(NO_WORK, work=name)


def newest_act_id(session: Session) -> int:
    """The number of the last act of all works; 0 where there is none."""
    return session.scalar(select(func.max(ActRow.id))) or 0


def raise_revision(session: Session, work: int) -> None:
    """Raise the revision of a work."""
    session.execute(update(WorkRow).where(WorkRow.id == work).values(revision=WorkRow.revision + 1))
