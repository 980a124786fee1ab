"""Assigning pages to people: by a form in the list of pages, and in the API."""

from __future__ import annotations

from flask import Blueprint, Response, redirect, request, url_for
from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag
from pydantic import BaseModel, Field, ValidationError
from werkzeug.wrappers import Response as AnyResponse

from proof.store.accounts import LONGEST_NAME
from proof.web import problems, schemas
from proof.web.api import ERRORS, answer
from proof.web.people import may, must_be_assignee, person
from proof.web.project import project
from proof.web.rights import Right

assignments = Blueprint("assignments", __name__)
assignments_api = APIBlueprint(
    "assignments api", __name__, url_prefix="/api/v1", abp_tags=[Tag(name="pages")], abp_responses=ERRORS
)


class AssignmentsOut(BaseModel):
    """The people to whom pages are assigned, by number of page."""

    pages: dict[int, str]


class GiveBody(schemas.Closed):
    """A juan, or a range of pages counted from 1, both ends included."""

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
    """Assign the pages of the form, and redirect to the list of pages."""
    names = ("juan", "first_page", "last_page", "to", "key")
    try:
        body = GiveBody.model_validate({name: request.form[name] for name in names if request.form.get(name)})
    except ValidationError as error:
        return problems.invalid(error)
    back = request.form.get("back") == "mine"
    _give(work, body, only_own=back)
    return redirect(url_for("pages.for_me") if back else url_for("pages.page_list", work=work))


def _give(work: str, body: GiveBody, *, only_own: bool = False) -> None:
    if body.to:
        must_be_assignee(body.to)
    first, last = body.first_page or 1, body.last_page or 2**31
    places = project().store.queue.places(work)
    wanted = [
        place.number for place in places if body.juan in (None, place.juan_name) and first <= place.position <= last
    ]
    overrules = may(Right.OVERRULE)
    if not body.to and (only_own or not overrules):
        holders = project().store.assignments.of_work(work)
        wanted = [number for number in wanted if holders.get(number) == person()]
    project().store.assignments.give(work, wanted, body.to, person(), body.key, overrules=overrules)
