"""The pages of a work as lists show them, each with its place."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from proof.store.models import PageRow
from proof.store.queue_records import (
    ListedPage,
)

PLACE = (
    PageRow.id,
    PageRow.page,
    PageRow.repeat,
    PageRow.ref,
    PageRow.text,
    PageRow.juan,
    PageRow.folio,
    PageRow.status,
    PageRow.characters_checked,
    PageRow.width,
    PageRow.height,
    PageRow.image_sha,
    PageRow.image,
)
"""What a place is made of: rows of these alone are read in a fifth of the time of whole ones."""


def listed_pages(session: Session, work_id: int) -> list[ListedPage]:
    query = select(*PLACE).where(PageRow.work_id == work_id, PageRow.absent.is_(False))
    query = query.order_by(PageRow.text, PageRow.position, PageRow.id)
    return [listed_page(row, position) for position, row in enumerate(session.execute(query), 1)]


def listed_page(row: Any, position: int) -> ListedPage:
    """A page as a place, from its row or from the `PLACE` of it."""
    return ListedPage(
        number=row.id,
        position=position,
        page=row.page,
        repeat=row.repeat,
        ref=row.ref,
        text=row.text,
        juan=row.juan,
        folio=row.folio,
        status=row.status,
        characters=row.characters_checked,
        width=row.width,
        height=row.height,
        image_sha=row.image_sha if row.image else "",
    )
