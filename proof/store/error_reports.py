"""Errors reported by readers without an account, until a person who may decide settles them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import ColumnElement, func, select

from proof.locale.marking import _
from proof.store.decision_records import RefusedDecisionError
from proof.store.events import answered
from proof.store.lookup import NoPlaceError, StorePart, filled, find_page, find_work_id
from proof.store.models import PageRow, ReportRow
from proof.store.typed_text import check_note, check_reading


class ReportState(StrEnum):
    """The state of a report."""

    OPEN = "open"
    SETTLED = "settled"
    DISMISSED = "dismissed"


@dataclass(frozen=True, slots=True)
class Report:
    """A report of a reader: column `line` of a page (0: the page) has `text` where it should have `reading`. `name` is
    the id of the page."""

    id: int
    page: int
    name: str
    line: int
    text: str
    reading: str
    note: str
    at: datetime


class Reports(StorePart):
    """The reports of readers; `Store.reports` is one."""

    def report(self, work: str, page: int, *, line: int, text: str, reading: str, note: str, key: str) -> None:
        """Save a report, once for each request `key`. Raises NoPlaceError, RefusedDecisionError."""
        check_reading(text)
        check_reading(reading)
        check_note(note)
        if not (reading or note.strip()):
            raise RefusedDecisionError(_("say what is wrong, or what should stand there"))
        with self._writing() as session:
            row = find_page(session, work, page)
            values = {"page_id": page, "line": line, "transcribed": text, "reading": reading, "note": note}
            if answered(session, ReportRow, key, **values) is None:
                session.add(ReportRow(work_id=row.work_id, key=key, person="", state=ReportState.OPEN.value, **values))

    def open(self, work: str) -> list[Report]:
        """The open reports of a work, oldest first. Raises NoPlaceError."""
        with self._reading() as session:
            query = select(ReportRow, PageRow.page).join(PageRow, PageRow.id == ReportRow.page_id)
            rows = session.execute(query.where(*_open(find_work_id(session, work))).order_by(ReportRow.id))
            return [filled(Report, row, page=row.page_id, name=name, text=row.transcribed) for row, name in rows]

    def count(self, work: str) -> int:
        """The number of open reports of a work. Raises NoPlaceError."""
        with self._reading() as session:
            return session.scalar(select(func.count()).where(*_open(find_work_id(session, work)))) or 0

    def settle(self, work: str, report: int, state: ReportState, person: str) -> None:
        """Settle or dismiss a report. Raises NoPlaceError."""
        with self._writing() as session:
            row = session.get(ReportRow, report)
            if row is None or row.about is not None or row.work_id != find_work_id(session, work):
                raise NoPlaceError(_("%(work)s: there is no report %(report)s"), work=work, report=report)
            repeated = ("work_id", "page_id", "line", "transcribed", "reading", "note")
            values = {name: getattr(row, name) for name in repeated}
            session.add(ReportRow(about=row.id, person=person, state=state.value, **values))


def _open(work_id: int) -> tuple[ColumnElement[bool], ...]:
    """The conditions that select the open reports of a work."""
    settled = select(ReportRow.about).where(ReportRow.about.is_not(None))
    return ReportRow.work_id == work_id, ReportRow.about.is_(None), ReportRow.id.not_in(settled)
