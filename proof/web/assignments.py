"""Assigning pages to people: by a form in the list of pages, and in the API."""

from __future__ import annotations

from flask import Blueprint, Response, redirect, request, url_for
from pydantic import BaseModel, Field, ValidationError
from werkzeug.wrappers import Response as AnyResponse

from proof.store.accounts import LONGEST_NAME
from proof.web import problems, schemas
from proof.web.api import answer, api_blueprint
from proof.web.people import may, must_be_assignee, person
from proof.web.project import project
from proof.web.rights import Right

assignments = Blueprint("assignments", __name__)
assignments_api = api_blueprint("assignments api", "pages")


class AssignmentsOut(BaseModel):
    """The people to whom pages are assigned, by number of page."""

    pages: dict[int, str]


class GiveBody(schemas.Closed):
    """Which pages to assign: a juan, or the pages from `first_page` to `last_page`, counted from 1; and to whom."""

    juan: str | None = Field(None, max_length=255)
    first_page: schemas.Number | None = None
    last_page: schemas.Number | None = None
    to: str = Field("", max_length=LONGEST_NAME, description="Empty: they are given back")
    key: str = Field(pattern=schemas.KEY)


@assignments_api.get("/works/<string:work>/assignments", responses={200: AssignmentsOut}, summary="Who has which pages")
def of_work(path: schemas.WorkPath) -> Response:
    return answer(AssignmentsOut(pages=project().store.assignments.of_work(path.work)))


@assignments_api.post(
    "/works/<string:work>/assignments",
    responses={200: AssignmentsOut},
    summary="Take pages, give them to somebody, or back; 403 where another has one of them",
)
def give(path: schemas.WorkPath, body: GiveBody) -> Response:
    _give(path.work, body)
    return answer(AssignmentsOut(pages=project().store.assignments.of_work(path.work)))


@assignments.post("/works/<work>/assignments")
def give_by_form(work: str) -> AnyResponse:
    """Assign the pages of the form, and redirect to the page with the form."""
    values = {name: request.form[name] for name in GiveBody.model_fields if request.form.get(name)}
    try:
        body = GiveBody.model_validate(values)
    except ValidationError as error:
        return problems.invalid(error)
    from_my_pages = request.form.get("back") == "mine"
    _give(work, body, only_mine=from_my_pages)
    return redirect(url_for("pages.for_me") if from_my_pages else url_for("pages.page_list", work=work))


def _give(work: str, body: GiveBody, *, only_mine: bool = False) -> None:
    """Assign pages to a person, or take them back. People who may not overrule others take back only their own pages,
    as does everybody with `only_mine`."""
    if body.to:
        must_be_assignee(body.to)
    first, last = body.first_page or 1, body.last_page or 2**31
    places = project().store.queue.uncounted_pages(work)
    numbers = [
        place.number for place in places if body.juan in (None, place.juan_name) and first <= place.position <= last
    ]
    overrules = may(Right.OVERRULE)
    if not body.to and (only_mine or not overrules):
        holders = project().store.assignments.of_work(work)
        numbers = [number for number in numbers if holders.get(number) == person()]
    project().store.assignments.give(work, numbers, body.to, person(), body.key, overrules=overrules)
