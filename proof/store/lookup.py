"""Database sessions, lookup of works and pages by name, and the revisions of works."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import fields
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import ColumnElement, ScalarSelect, func, select, update
from sqlalchemy.orm import Session

from proof.errors import PublicError
from proof.locale.marking import _
from proof.store.models import ActRow, PageRow, WorkRow

Key = TypeVar("Key")
Record = TypeVar("Record")

NO_PAGE = _("%(work)s: there is no page %(page)s")
NO_WORK = _("there is no work %(work)s in the store")

KEYS_PER_STATEMENT = 500
"""Maximum number of keys in one statement, below the limit of parameters of every database."""

Sessions = Callable[[], AbstractContextManager[Session]]
"""Each call returns a session for a `with` block, at the end of which its changes are committed as one transaction."""


class StorePart:
    """A part of a store, with sessions for reading and for writing."""

    def __init__(self, reading: Sessions, writing: Sessions) -> None:
        self._reading = reading
        self._writing = writing


class NoPlaceError(PublicError):
    """The work, page, column or place in a column does not exist."""

    http_status = 404


class PageConflictError(PublicError):
    """A page was changed after it was seen."""

    http_status = 409


def work_id_subquery(work: str | None) -> ScalarSelect[int]:
    """The number of the work with this name as a subquery; null for an unknown work."""
    return select(WorkRow.id).where(WorkRow.name == work).scalar_subquery()


def find_work_id(session: Session, work: str) -> int:
    """The number of the work with this name. Raises NoPlaceError."""
    return find_work(session, work).id


def find_page(session: Session, work: str, page: int, *, locked: bool = False) -> PageRow:
    """The page of a work with this number, `locked` until the end of the transaction. Raises NoPlaceError."""
    row = session.get(PageRow, page, with_for_update=locked or None)
    if row is None or row.absent or session.get_one(WorkRow, row.work_id).name != work:
        raise NoPlaceError(NO_PAGE, work=work, page=page)
    return row


class StoredWork(NamedTuple):
    """A work as it is now. Every check and export raises its `revision`; for acts of people see `newest_act_id`. Values
    cached in memory are valid as long as neither changes."""

    id: int
    name: str
    title: str
    revision: int


def find_works(session: Session, *which: ColumnElement[bool]) -> list[StoredWork]:
    """The works that meet the conditions `which`, by name."""
    query = select(WorkRow.id, WorkRow.name, WorkRow.title, WorkRow.revision).where(*which)
    return [StoredWork(*row) for row in session.execute(query.order_by(WorkRow.name))]


def find_work(session: Session, name: str) -> StoredWork:
    """The work with this name. Raises NoPlaceError."""
    for work in find_works(session, WorkRow.name == name):
        return work
    raise NoPlaceError(NO_WORK, work=name)


def newest_act_id(session: Session) -> int:
    """The number of the last act of all works; 0 if there is none."""
    return session.scalar(select(func.max(ActRow.id))) or 0


def batches(keys: Sequence[Key]) -> Iterator[Sequence[Key]]:
    """The keys in groups of `KEYS_PER_STATEMENT`."""
    return (keys[start : start + KEYS_PER_STATEMENT] for start in range(0, len(keys), KEYS_PER_STATEMENT))


def filled(record: type[Record], row: object, **given: Any) -> Record:
    """A record, which is a dataclass, with the `given` fields; the others are copied from the attributes of `row` that
    have their names."""
    names = {field.name for field in fields(record)} - given.keys()  # type: ignore[arg-type]
    return record(**given, **{name: getattr(row, name) for name in names if hasattr(row, name)})


def raise_revision(session: Session, work_id: int) -> None:
    """Raise the revision of a work by one."""
    session.execute(update(WorkRow).where(WorkRow.id == work_id).values(revision=WorkRow.revision + 1))
