"""What a request names, found in the store, and how it is refused where that is not there."""

from __future__ import annotations

from sqlalchemy import ScalarSelect, select
from sqlalchemy.orm import Session

from proof.errors import ToldError
from proof.locale.marking import _
from proof.store.models import PageRow, WorkRow

NO_PAGE = _("%(work)s: there is no page %(page)s")
NO_WORK = _("there is no work %(work)s in the store")


class NoPlaceError(ToldError):
    """No such page, column or place in a column."""

    http_status = 404


class PageConflictError(ToldError):
    """Somebody was quicker to say something of the page."""

    http_status = 409


def number_of(work: str | None) -> ScalarSelect[int]:
    """The number of the work of that name, within a query; null where there is none."""
    return select(WorkRow.id).where(WorkRow.name == work).scalar_subquery()


def work_of(session: Session, work: str) -> int:
    """The number of the work of that name. Raises NoPlaceError."""
    number = session.scalar(select(WorkRow.id).where(WorkRow.name == work))
    if number is None:
        raise NoPlaceError(NO_WORK, work=work)
    return number


def page_of(session: Session, work: str, page: int, *, held: bool = False) -> PageRow:
    """The page of that number of a work, `held` until the end of the transaction. Raises NoPlaceError."""
    row = session.get(PageRow, page, with_for_update=held or None)
    if row is None or row.absent or session.get_one(WorkRow, row.work_id).name != work:
        raise NoPlaceError(NO_PAGE, work=work, page=page)
    return row
