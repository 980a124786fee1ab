"""Errors that readers without an account report from a page, until somebody who may decide settles them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import ColumnElement, func, select

from proof.locale.marking import _
from proof.store.decision_records import RefusedDecisionError
from proof.store.events import answered
from proof.store.lookup import NoPlaceError, StorePart, find_page, find_work_id
from proof.store.models import PageRow, ReportRow
from proof.store.typed_text import check_note, check_reading


class ReportState(StrEnum):
    """What became of a report."""

    OPEN = "open"
    SETTLED = "settled"
    DISMISSED = "dismissed"


@dataclass(frozen=True, slots=True)
class Report:
    """A report of a reader: in column `line` of a page, 0 for the page, `text` stands and `reading` should."""

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
        """Keep a report; sent again under its key it is kept once. Raises NoPlaceError, RefusedDecisionError."""
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
        """The reports of a work that nobody settled, oldest first. Raises NoPlaceError."""
        with self._reading() as session:
            query = select(ReportRow, PageRow.page).join(PageRow, PageRow.id == ReportRow.page_id)
            rows = session.execute(query.where(*_open(find_work_id(session, work))).order_by(ReportRow.id))
            return [
                Report(row.id, row.page_id, name, row.line, row.transcribed, row.reading, row.note, row.at)
                for row, name in rows
            ]

    def count(self, work: str) -> int:
        """How many reports of a work nobody settled. Raises NoPlaceError."""
        with self._reading() as session:
            return session.scalar(select(func.count()).where(*_open(find_work_id(session, work)))) or 0

    def settle(self, work: str, report: int, state: ReportState, person: str) -> None:
        """Note what became of a report. Raises NoPlaceError."""
        with self._writing() as session:
            row = session.get(ReportRow, report)
            if row is None or row.about is not None or row.work_id != find_work_id(session, work):
                raise NoPlaceError(_("%(work)s: there is no report %(report)s"), work=work, report=report)
            same = {
                name: getattr(row, name) for name in ("work_id", "page_id", "line", "transcribed", "reading", "note")
            }
            session.add(ReportRow(about=row.id, person=person, state=state.value, **same))


def _open(work_id: int) -> tuple[ColumnElement[bool], ...]:
    """What tells the reports of a work that nobody settled."""
    settled = select(ReportRow.about).where(ReportRow.about.is_not(None))
    return ReportRow.work_id == work_id, ReportRow.about.is_(None), ReportRow.id.not_in(settled)
