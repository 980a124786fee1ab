"""Assigning pages to people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from proof.locale.marking import _
from proof.store.decision_records import NotYoursError
from proof.store.events import answered
from proof.store.lookup import StorePart, find_page, find_work_id
from proof.store.models import AssignmentRow, PageRow, WorkRow

GIVEN = "given"
BACK = "back"
"""States of an assignment: pages were given to a person, or given back."""


class GivenPages(NamedTuple):
    """The pages of a juan that a person has, by their numbers."""

    work: str
    title: str
    juan: str
    pages: tuple[int, ...]


class Assignments(StorePart):
    """Who has which pages; `Store.assignments` is one."""

    def give(self, work: str, pages: Sequence[int], to: str, person: str, key: str, *, overrules: bool = True) -> None:
        """Give pages to the person `to`, or back if `to` is empty; `person` is who does it. A request sent again under
        the same `key` changes nothing.

        Raises NoPlaceError; NotYoursError, unless `person` overrules others, where another person has one of the pages
        or is to have them."""
        with self._writing() as session:
            if answered(session, AssignmentRow, key, person=person, assigned=to) is not None:
                return
            rows = [find_page(session, work, page) for page in pages]
            holder_of = holders(session, AssignmentRow.page_id.in_(pages))
            for row in rows:
                holder = holder_of.get(row.id, "")
                if not overrules and (holder not in ("", person) or to not in ("", person)):
                    reason = _("%(page)s: %(person)s has it; they or an administrator give it back")
                    raise NotYoursError(reason, page=row.page, person=holder or to)
            others = [row for row in rows if holder_of.get(row.id, "") != to]
            for n, row in enumerate(others):
                made = {"batch": key, "person": person, "assigned": to, "state": GIVEN if to else BACK}
                made |= {"key": key} if n == 0 else {}
                session.add(AssignmentRow(work_id=row.work_id, page_id=row.id, **made))

    def of_work(self, work: str) -> dict[int, str]:
        """The person who has each page of a work, by the page's number; without those that nobody has. Raises
        NoPlaceError."""
        with self._reading() as session:
            return holders(session, AssignmentRow.work_id == find_work_id(session, work))

    def count(self, person: str) -> int:
        """How many pages a person has, in all works."""
        with self._reading() as session:
            return sum(holder == person for holder in holders(session, _ever_given(person)).values())

    def of_person(self, person: str) -> list[GivenPages]:
        """The pages that a person has, juan by juan."""
        pages_of: dict[tuple[str, str, str], list[int]] = {}
        with self._reading() as session:
            mine = [page for page, holder in holders(session, _ever_given(person)).items() if holder == person]
            query = select(WorkRow.name, WorkRow.title, PageRow.juan, PageRow.id)
            query = query.join(WorkRow, WorkRow.id == PageRow.work_id).where(PageRow.id.in_(mine))
            query = query.where(PageRow.absent.is_(False)).order_by(WorkRow.name, PageRow.text, PageRow.position)
            for name, title, juan, page in session.execute(query):
                pages_of.setdefault((name, title, juan), []).append(page)
        return [GivenPages(*where, tuple(pages)) for where, pages in pages_of.items()]


def holders(session: Session, which: ColumnElement[bool]) -> dict[int, str]:
    """The person who has each of the pages whose assignments `which` selects; those that nobody has are left out."""
    last = select(func.max(AssignmentRow.id)).where(which).group_by(AssignmentRow.page_id)
    query = select(AssignmentRow.page_id, AssignmentRow.assigned).where(AssignmentRow.id.in_(last))
    return {page: person for page, person in session.execute(query) if person}


def _ever_given(person: str) -> ColumnElement[bool]:
    """Selects the assignments of all pages that were ever given to a person."""
    given = select(AssignmentRow.page_id).where(AssignmentRow.state == GIVEN, AssignmentRow.assigned == person)
    return AssignmentRow.page_id.in_(given)
