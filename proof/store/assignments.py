"""Assignments of pages to people."""

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
"""States of an assignment: the page was given to a person, or given back."""


class GivenPages(NamedTuple):
    """The numbers of the pages of a juan that a person has."""

    work: str
    title: str
    juan: str
    pages: tuple[int, ...]


class Assignments(StorePart):
    """The assignments in a store, as `Store.assignments`."""

    def give(self, work: str, pages: Sequence[int], to: str, person: str, key: str, *, overrules: bool = True) -> None:
        """Give pages to the person `to`, or back if `to` is ''; `person` makes the request. A request sent again with
        the same `key` changes nothing.

        Raises NoPlaceError. Without `overrules`, raises NotYoursError if another person has one of the pages or is to
        get them."""
        with self._writing() as session:
            if answered(session, AssignmentRow, key, person=person, assigned=to) is not None:
                return
            rows = [find_page(session, work, page) for page in pages]
            holder_of = holders(session, AssignmentRow.page_id.in_(pages))
            for row in rows:
                holder = holder_of.get(row.id, "")
                concerns_others = holder not in ("", person) or to not in ("", person)
                if concerns_others and not overrules:
                    reason = _("%(page)s: %(person)s has it; they or an administrator give it back")
                    raise NotYoursError(reason, page=row.page, person=holder or to)
            columns = {"batch": key, "person": person, "assigned": to, "state": GIVEN if to else BACK}
            given = [row for row in rows if holder_of.get(row.id, "") != to]
            acts = [AssignmentRow(work_id=row.work_id, page_id=row.id, **columns) for row in given]
            for act in acts[:1]:  # the first act bears the key of the request, the others a default
                act.key = key
            session.add_all(acts)

    def of_work(self, work: str) -> dict[int, str]:
        """The person who has each page of a work, by the page's number; without those that nobody has. Raises
        NoPlaceError."""
        with self._reading() as session:
            return holders(session, AssignmentRow.work_id == find_work_id(session, work))

    def count(self, person: str) -> int:
        """The number of pages that a person has, in all works."""
        with self._reading() as session:
            return len(_pages_of(session, person))

    def of_person(self, person: str) -> list[GivenPages]:
        """The pages that a person has, juan by juan."""
        pages_of: dict[tuple[str, str, str], list[int]] = {}
        with self._reading() as session:
            query = select(WorkRow.name, WorkRow.title, PageRow.juan, PageRow.id)
            query = query.join(WorkRow, WorkRow.id == PageRow.work_id).where(PageRow.id.in_(_pages_of(session, person)))
            query = query.where(PageRow.absent.is_(False)).order_by(WorkRow.name, PageRow.text, PageRow.position)
            for work, title, juan, page in session.execute(query):
                pages_of.setdefault((work, title, juan), []).append(page)
        return [GivenPages(*juan, tuple(pages)) for juan, pages in pages_of.items()]


def holders(session: Session, which: ColumnElement[bool]) -> dict[int, str]:
    """The person who has each page, by the page's number, of the pages whose assignments `which` selects; pages that
    nobody has are left out."""
    last = select(func.max(AssignmentRow.id)).where(which).group_by(AssignmentRow.page_id)
    query = select(AssignmentRow.page_id, AssignmentRow.assigned).where(AssignmentRow.id.in_(last))
    return {page: person for page, person in session.execute(query) if person}


def _pages_of(session: Session, person: str) -> list[int]:
    """The numbers of the pages that a person has."""
    ever_given = select(AssignmentRow.page_id).where(AssignmentRow.state == GIVEN, AssignmentRow.assigned == person)
    holder_of = holders(session, AssignmentRow.page_id.in_(ever_given))
    return [page for page, holder in holder_of.items() if holder == person]
