"""Layout overrides: how a page is to be read (its layout or its image), as set by a person, recorded and reversible."""

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
    """How a page is to be read. Without a `layout` or an `image`, a check finds them. `image` is a path inside the
    image folders, `quadrant` the quarter of a plate; `version` counts the overrides of the page from 1."""

    version: int
    layout: LayoutOverrideShape | None
    image: str
    quadrant: str
    person: str
    at: datetime


@dataclass(frozen=True, slots=True)
class PageStamp:
    """The identity of a page's result: its key, the run that read it, and the override of the page."""

    key: str
    run: int
    override: LayoutOverride | None


class OverrideChangedError(PublicError):
    """The override of a page changed while the page was read; `override` is the new one, None if it was removed."""

    http_status = 409

    def __init__(self, override: LayoutOverride | None) -> None:
        super().__init__(_("how this page is read was set otherwise meanwhile; have it read again"))
        self.override = override


class LayoutOverrides(StorePart):
    """Layout overrides; `Store.layout_overrides` is one."""

    def of_work(self, work: str) -> dict[tuple[str, int], LayoutOverride]:
        """The overrides of a work, by page id and repeat."""
        last = select(func.max(LayoutOverrideRow.id)).group_by(LayoutOverrideRow.page_id)
        query = select(LayoutOverrideRow, PageRow.page, PageRow.repeat)
        query = query.join(PageRow, PageRow.id == LayoutOverrideRow.page_id)
        query = query.where(PageRow.work_id == work_id_subquery(work), LayoutOverrideRow.id.in_(last))
        with self._reading() as session:
            rows = session.execute(query)
            return {(page, repeat): _override(row) for row, page, repeat in rows if _overrides(row)}

    def history(self, work: str, page: int) -> list[LayoutOverride]:
        """All overrides of a page, oldest first, including removals. Raises NoPlaceError."""
        with self._reading() as session:
            find_page(session, work, page)
            of_page = select(LayoutOverrideRow).where(LayoutOverrideRow.page_id == page)
            return [_override(row) for row in session.scalars(of_page.order_by(LayoutOverrideRow.version))]

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
        """Set or remove the override of a page, seen at `version`. `key` is that of the request.

        Raises NoPlaceError; PageConflictError if the page has a later version; RefusedDecisionError if the key was used
        for another request.
        """
        with self._writing() as session:
            row = find_page(session, work, page)
            layout_json = layout.as_json() if layout else None
            values = {"page_id": page, "layout": layout_json, "image": image, "quadrant": quadrant, "person": person}
            repeated = answered(session, LayoutOverrideRow, key, **values, about=None)
            if repeated is not None:
                return _override(repeated)
            newest = select(func.max(LayoutOverrideRow.version)).where(LayoutOverrideRow.page_id == page)
            if (session.scalar(newest) or 0) != version:
                raise PageConflictError(
                    _("%(page)s: somebody set it otherwise in the meantime; look at the page again"), page=row.page
                )
            added = LayoutOverrideRow(work_id=row.work_id, version=version + 1, key=key, **values)
            session.add(added)
            session.flush()
            return _override(added)


def overrides_of(session: Session, pages: Sequence[int]) -> dict[int, LayoutOverride]:
    """The overrides of these pages, by page number; pages without one are left out."""
    last = select(func.max(LayoutOverrideRow.id)).where(LayoutOverrideRow.page_id.in_(pages))
    query = select(LayoutOverrideRow).where(LayoutOverrideRow.id.in_(last.group_by(LayoutOverrideRow.page_id)))
    return {row.page_id: _override(row) for row in session.scalars(query) if _overrides(row)}


def _overrides(row: LayoutOverrideRow) -> bool:
    """Whether a row sets an override; else it removes the previous one."""
    return row.layout is not None or bool(row.image)


def _override(row: LayoutOverrideRow) -> LayoutOverride:
    layout = None if row.layout is None else LayoutOverrideShape.from_json(row.layout)
    return LayoutOverride(row.version, layout, row.image, row.quadrant, row.person, row.at)
