"""Public pages of the text, on which readers can report errors, and the list of their reports for proofreaders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from uuid import uuid4

from flask import Blueprint, Response, abort, redirect, request, url_for
from pydantic import Field
from werkzeug.wrappers import Response as AnyResponse

from proof.errors import PublicError
from proof.report.crops import data_uri
from proof.store.error_reports import Report, ReportState
from proof.store.typed_text import LONGEST_NOTE
from proof.text.column import parse_column
from proof.text.model import Run
from proof.web import problems, schemas
from proof.web.answers import ColumnOut, ListOf
from proof.web.api import PAGES, answer, api_blueprint
from proof.web.attempts import network_of
from proof.web.images import name_of
from proof.web.messages import REFUSALS
from proof.web.page_view import render_page
from proof.web.people import person
from proof.web.project import project
from proof.web.serializers import columns_of

IMAGE_PX = 1000
"""Width of the page image on public pages."""

ALL_ADDRESSES_FACTOR = 50
"""Limit of reports per hour from all addresses together, as a multiple of the limit for one address."""

reports = Blueprint("reports", __name__)
reports_api = api_blueprint("reports api", PAGES)


class TooManyReportsError(PublicError):
    """An address, or all addresses together, sent too many reports."""

    http_status = 429


class ReportBody(schemas.StrictModel):
    """A report about the column with the number `line`, or about the page if `line` is 0: the characters there
    (`text`), what they should be (`reading`), and a `note`. `key` is that of the request."""

    line: schemas.Count = 0
    text: schemas.Text = ""
    reading: schemas.Text = ""
    note: str = Field("", max_length=LONGEST_NOTE)
    key: str = Field(pattern=schemas.KEY)


class ReportStateBody(schemas.StrictModel):
    state: ReportState


class ReportPath(schemas.WorkPath):
    report: schemas.Number = Field(description="The `id` of the report")


@reports.get("/read/<work>/<int:number>")
def read(work: str, number: int) -> AnyResponse:
    """The public view of a page with its present text."""
    return _page(work, number)


@reports.post("/read/<work>/<int:number>")
def report(work: str, number: int) -> AnyResponse:
    """Save a reader's report and show the page again."""
    _require_reports()
    body = problems.form_of(ReportBody, request.form)
    _count_report()
    project().store.reports.report(work, number, **body.model_dump())
    return _page(work, number, done=True)


@reports.get("/works/<work>/reports")
def view(work: str) -> AnyResponse:
    """The reports that are still open."""
    store = project().store
    unsettled = store.reports.open(work)
    return render_page(
        "reports.html", store.queue.work(work), reports=unsettled, public=project().settings.serve.reports
    )


@reports.post("/works/<work>/reports/<int:number>")
def settle(work: str, number: int) -> AnyResponse:
    """Settle or dismiss a report."""
    state = request.form.get("state", "")
    if state not in set(ReportState) - {ReportState.OPEN}:
        abort(422)
    project().store.reports.settle(work, number, ReportState(state), person())
    return redirect(url_for("reports.view", work=work))


@reports_api.get("/works/<string:work>/reports", responses={200: ListOf[Report]})
def open_reports(path: schemas.WorkPath) -> Response:
    """List the open reports of readers."""
    return answer(ListOf[Report](items=project().store.reports.open(path.work)))


@reports_api.post("/works/<string:work>/reports/<int:report>", responses={200: ListOf[Report]})
def settle_report(path: ReportPath, body: ReportStateBody) -> Response:
    """Settle or dismiss a reader's report."""
    project().store.reports.settle(path.work, path.report, body.state, person())
    return answer(ListOf[Report](items=project().store.reports.open(path.work)))


def _require_reports() -> None:
    """Abort with 404 unless the settings allow reports."""
    if not project().settings.serve.reports:
        abort(404)


def _count_report() -> None:
    """Count a report from the address of the request. Raises TooManyReportsError above the limit."""
    limiter, limit = project().reports, project().settings.serve.reports
    network = network_of(request.remote_addr or "")
    if not (limiter.hit(network, limit) and limiter.hit("all", limit * ALL_ADDRESSES_FACTOR)):
        raise TooManyReportsError(REFUSALS["reports"])


def _runs_of(columns: Iterable[ColumnOut]) -> Iterator[tuple[int, Sequence[Run]]]:
    """The number of each column, and the runs of its present text. A line of a text without page marks is one column
    of the text, and several of the image."""
    in_note = False  # whether a note continues from the column before
    for column in {column.number: column for column in columns}.values():
        parsed = parse_column(column.now, in_note)
        in_note = parsed.left_open
        yield column.number, parsed.runs


def _page(work: str, number: int, *, done: bool = False) -> AnyResponse:
    """The public view of a page; `done`: with a message that a report was accepted."""
    _require_reports()
    store = project().store
    place, result = store.queue.page(work, number)
    numbers = {listed.position: listed.number for listed in store.queue.pages(work, max(place.position - 1, 1), 3)}
    image = ""
    if place.image_sha:
        piece = project().images.piece(name_of(place.image_sha, result.skew), "full", f"{IMAGE_PX},")
        image = data_uri(piece.data)
    return render_page(
        "read.html",
        None,
        summary=store.queue.work(work),
        place=place,
        image=image,
        columns=list(_runs_of(columns_of(store, work, number, result))),
        before=numbers.get(place.position - 1),
        after=numbers.get(place.position + 1),
        done=done,
        key=uuid4().hex,
    )
