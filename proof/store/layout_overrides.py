"""What people set right about how pages are read: layout and image, kept with who and when, and reversible."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from proof.errors import ToldError
from proof.layout.overrides import LayoutOverrideShape
from proof.store.decision_records import _
from proof.store.marks import NO_PAGE, NoPlaceError, PageConflictError
from proof.store.models import MendRow, PageRow, WorkRow
from proof.store.request_keys import key_of_another, must_be_own

Sessions = Callable[[], AbstractContextManager[Session]]


@dataclass(frozen=True, slots=True)
class LayoutOverride:
    """What was set right about a page: `layout` None and `image` "" are what is found. `image` is a path inside the
    image folders, `quadrant` the quarter of a plate; `version` counts what was set for the page, from 1."""

    version: int
    layout: LayoutOverrideShape | None
    image: str
    quadrant: str
    person: str
    at: datetime


@dataclass(frozen=True, slots=True)
class PageStamp:
    """What a page's result can be told by: its key, the run that gave it, and how a person set that it is read."""

    key: str
    run: int
    mend: LayoutOverride | None


class ReadOtherwiseError(ToldError):
    """A person set, while a page was read, that it is read as `mend` says; None: as found."""

    http_status = 409

    def __init__(self, mend: LayoutOverride | None) -> None:
        super().__init__(_("how this page is read was set otherwise meanwhile; have it read again"))
        self.mend = mend


class LayoutOverrides:
    """What people set right; `Store.mends` is one."""

    def __init__(self, reading: Sessions, writing: Sessions) -> None:
        self._reading = reading
        self._writing = writing

    def of_work(self, work: str) -> dict[tuple[str, int], LayoutOverride]:
        """What holds in a work, by a page's id and which of the pages of that id it is; pages that are read as
        found are left out."""
        last = select(func.max(MendRow.id)).group_by(MendRow.page_id)
        query = select(MendRow, PageRow.page, PageRow.repeat).join(PageRow, PageRow.id == MendRow.page_id)
        query = query.join(WorkRow, WorkRow.id == PageRow.work_id).where(WorkRow.name == work, MendRow.id.in_(last))
        with self._reading() as session:
            found = {(page, repeat): _mend(row) for row, page, repeat in session.execute(query)}
        return {place: mend for place, mend in found.items() if mend.layout or mend.image}

    def history(self, work: str, page: int) -> list[LayoutOverride]:
        """All that was set for a page, oldest first. Raises NoPlaceError."""
        with self._reading() as session:
            _page(session, work, page)
            query = select(MendRow).where(MendRow.page_id == page).order_by(MendRow.version)
            return [_mend(row) for row in session.scalars(query)]

    def set(
        self,
        work: str,
        page: int,
        layout: LayoutOverrideShape | None,
        image: str,
        quadrant: str,
        *,
        version: int,
        person: str,
        key: str,
    ) -> LayoutOverride:
        """Set how a page is read from now on; `version` is the one that was seen, `key` the request's own.

        Raises NoPlaceError, PageConflictError where somebody was quicker, RefusedDecisionError where the key was used
        for something else.
        """
        with self._writing() as session:
            row = _page(session, work, page)
            kept = layout.as_json() if layout else None
            must_be_own(session, [key], MendRow)
            again = session.scalar(select(MendRow).where(MendRow.key == key))
            if again is not None:
                said = (again.page_id, again.layout, again.image, again.quadrant, again.person, again.about)
                if said != (page, kept, image, quadrant, person, None):
                    raise key_of_another()
                return _mend(again)
            last = session.scalar(select(func.max(MendRow.version)).where(MendRow.page_id == page)) or 0
            if last != version:
                raise PageConflictError(
                    _("%(page)s: somebody was quicker to mend it; look at the page again"), page=row.page
                )
            made = MendRow(
                page_id=page,
                version=version + 1,
                key=key,
                layout=kept,
                image=image,
                quadrant=quadrant,
                person=person,
                at=datetime.now(UTC),
            )
            session.add(made)
            session.flush()
            return _mend(made)


def held_in(session: Session, page: int) -> LayoutOverride | None:
    """What holds for a page; None where it is read as found."""
    query = select(MendRow).where(MendRow.page_id == page).order_by(MendRow.version.desc()).limit(1)
    row = session.scalar(query)
    return _mend(row) if row is not None and (row.layout is not None or row.image) else None


def _page(session: Session, work: str, page: int) -> PageRow:
    row = session.get(PageRow, page)
    if row is None or row.absent or session.get_one(WorkRow, row.work_id).name != work:
        raise NoPlaceError(NO_PAGE, work=work, page=page)
    return row


def _mend(row: MendRow) -> LayoutOverride:
    layout = None if row.layout is None else LayoutOverrideShape.from_json(row.layout)
    return LayoutOverride(row.version, layout, row.image, row.quadrant, row.person, row.at)
