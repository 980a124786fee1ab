"""Assigning pages to people: by a form in the list of pages, and in the API."""

from __future__ import annotations

from flask import Blueprint, Response, redirect, request, url_for
from pydantic import BaseModel, Field
from werkzeug.wrappers import Response as AnyResponse

from proof.locale.marking import _
from proof.store.accounts import LONGEST_NAME
from proof.store.lookup import NoPlaceError
from proof.web import problems, schemas
from proof.web.api import PAGES, answer, api_blueprint, positions_of
from proof.web.people import may, must_be_assignee, person
from proof.web.project import project
from proof.web.rights import Right

assignments = Blueprint("assignments", __name__)
assignments_api = api_blueprint("assignments api", PAGES)


class AssignmentsOut(BaseModel):
    """The people to whom pages are assigned, by number of page."""

    pages: dict[int, str]


class AssignmentBody(schemas.PageRange):
    """The pages to assign, and the person to whom they are assigned. Each end of the pages is a name or a position."""

    to: str = Field("", max_length=LONGEST_NAME, description="The name of the person; empty to give the pages back")
    key: schemas.Key


@assignments_api.get("/works/<string:work>/assignments", responses={200: AssignmentsOut})
def list_assignments(path: schemas.WorkPath) -> Response:
    """List to whom the pages of a work are assigned."""
    return answer(AssignmentsOut(pages=project().store.assignments.of_work(path.work)))


@assignments_api.post("/works/<string:work>/assignments", responses={200: AssignmentsOut})
def assign_pages(path: schemas.WorkPath, body: AssignmentBody) -> Response:
    """Assign pages to a person, or give them back.

    The answer is 403 if one of the pages is assigned to somebody else and you may not overrule them."""
    _give(path.work, body)
    return answer(AssignmentsOut(pages=project().store.assignments.of_work(path.work)))


@assignments.post("/works/<work>/assignments")
def give_by_form(work: str) -> AnyResponse:
    """Assign the pages of the form, and redirect to the page with the form."""
    body = problems.form_of(AssignmentBody, request.form)
    from_my_pages = request.form.get("back") == "mine"
    _give(work, body, only_mine=from_my_pages)
    return redirect(url_for("pages.for_me") if from_my_pages else url_for("pages.page_list", work=work))


def _give(work: str, body: AssignmentBody, *, only_mine: bool = False) -> None:
    """Assign pages to a person, or take them back. People who may not overrule others take back only their own pages,
    as does everybody with `only_mine`."""
    if body.to:
        must_be_assignee(body.to)
    first, last = positions_of(work, body)
    numbers = [
        page.number
        for page in project().store.queue.uncounted_pages(work)
        if body.juan in (None, page.juan_name) and (first or 1) <= page.position <= (last or page.position)
    ]
    if not numbers:
        raise NoPlaceError(_("no page of this work is in that juan and between these pages"))
    overrules = may(Right.OVERRULE)
    if not body.to and (only_mine or not overrules):
        holders = project().store.assignments.of_work(work)
        numbers = [number for number in numbers if holders.get(number) == person()]
    project().store.assignments.give(work, numbers, body.to, person(), body.key, overrules=overrules)
