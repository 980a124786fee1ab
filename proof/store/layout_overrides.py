"""Corrections of the layout and image of pages: recorded with author and time, and reversible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from proof.errors import PublicError
from proof.layout.overrides import LayoutOverrideShape
from proof.locale.marking import _
from proof.store.events import answered
from proof.store.lookup import PageConflictError, StorePart, find_page, work_id_subquery
from proof.store.models import LayoutOverrideRow, PageRow


@dataclass(frozen=True, slots=True)
class LayoutOverride:
    """A correction of how a page is read: `layout` None and `image` "" stand for what is found. `image` is a path
    inside the image folders, `quadrant` the quarter of a plate; `version` counts the corrections of the page, from
    1."""

    version: int
    layout: LayoutOverrideShape | None
    image: str
    quadrant: str
    person: str
    at: datetime


@dataclass(frozen=True, slots=True)
class PageStamp:
    """The identity of a page's result: its key, its run, and the override that holds."""

    key: str
    run: int
    override: LayoutOverride | None


class ReadOtherwiseError(PublicError):
    """A person set, while a page was read, that it is read as `override` says; None: as found."""

    http_status = 409

    def __init__(self, override: LayoutOverride | None) -> None:
        super().__init__(_("how this page is read was set otherwise meanwhile; have it read again"))
        self.override = override


class LayoutOverrides(StorePart):
    """Layout overrides; `Store.layout_overrides` is one."""

    def of_work(self, work: str) -> dict[tuple[str, int], LayoutOverride]:
        """The overrides of a work, by page id and repeat."""
        last = select(func.max(LayoutOverrideRow.id)).group_by(LayoutOverrideRow.page_id)
        query = select(LayoutOverrideRow, PageRow.page, PageRow.repeat).join(
            PageRow, PageRow.id == LayoutOverrideRow.page_id
        )
        query = query.where(PageRow.work_id == work_id_subquery(work), LayoutOverrideRow.id.in_(last))
        with self._reading() as session:
            override_of = {(page, repeat): _override(row) for row, page, repeat in session.execute(query)}
        return {place: override for place, override in override_of.items() if override.layout or override.image}

    def history(self, work: str, page: int) -> list[LayoutOverride]:
        """All that was set for a page, oldest first. Raises NoPlaceError."""
        with self._reading() as session:
            find_page(session, work, page)
            query = (
                select(LayoutOverrideRow).where(LayoutOverrideRow.page_id == page).order_by(LayoutOverrideRow.version)
            )
            return [_override(row) for row in session.scalars(query)]

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
        """Set how a page is read from now on; `version` is the one that was seen, `key` that of the request.

        Raises NoPlaceError, PageConflictError where it was set meanwhile, RefusedDecisionError where the key was used
        for something else.
        """
        with self._writing() as session:
            row = find_page(session, work, page)
            kept = layout.as_json() if layout else None
            asked = {"page_id": page, "layout": kept, "image": image, "quadrant": quadrant, "person": person}
            again = answered(session, LayoutOverrideRow, key, **asked, about=None)
            if again is not None:
                return _override(again)
            last = (
                session.scalar(select(func.max(LayoutOverrideRow.version)).where(LayoutOverrideRow.page_id == page))
                or 0
            )
            if last != version:
                raise PageConflictError(
                    _("%(page)s: somebody set it otherwise in the meantime; look at the page again"), page=row.page
                )
            made = LayoutOverrideRow(work_id=row.work_id, version=version + 1, key=key, **asked)
            session.add(made)
            session.flush()
            return _override(made)


def overrides_of(session: Session, pages: Sequence[int]) -> dict[int, LayoutOverride]:
    """The override of each of these pages that has one."""
    last = select(func.max(LayoutOverrideRow.id)).where(LayoutOverrideRow.page_id.in_(pages))
    query = select(LayoutOverrideRow).where(LayoutOverrideRow.id.in_(last.group_by(LayoutOverrideRow.page_id)))
    return {row.page_id: _override(row) for row in session.scalars(query) if row.layout is not None or row.image}


def _override(row: LayoutOverrideRow) -> LayoutOverride:
    layout = None if row.layout is None else LayoutOverrideShape.from_json(row.layout)
    return LayoutOverride(row.version, layout, row.image, row.quadrant, row.person, row.at)
