"""The part of the JSON API about reports: having one made, and how far it has come."""

from __future__ import annotations

from flask import Response, url_for
from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag
from pydantic import BaseModel, Field

from proof.store.lookup import NO_WORK
from proof.store.queue_records import MissingError
from proof.web import schemas
from proof.web.api import ERRORS, answer
from proof.web.language import language
from proof.web.project import project
from proof.web.report_jobs import ReportJob, ReportState

REPORTS = Tag(name="reports")

reports = APIBlueprint("reports", __name__, url_prefix="/api/v1", abp_responses=ERRORS)


class ReportPath(schemas.WorkPath):
    report: str = Field(max_length=64, description="As having it made answered")


class ReportOut(BaseModel):
    """A report that is being made: `done` of `total` pages were gone through; `file` is where it is taken home, once it
    is there."""

    report: str
    state: ReportState
    done: int
    total: int
    file: str | None
    reason: str = Field(description="Why it could not be made")


@reports.post(
    "/works/<string:work>/reports",
    tags=[REPORTS],
    responses={202: ReportOut},
    summary="Have the report of a work's last run made, as things stand now; one that is being made is waited for",
)
def begin(path: schemas.WorkPath) -> Response:
    store = project().store
    run = store.latest_run(store.queue.work(path.work).name)
    if run is None:
        raise MissingError(NO_WORK, work=path.work)
    return answer(report_of(project().reports.begin(path.work, run.id, language())), 202)


@reports.get(
    "/works/<string:work>/reports/<string:report>",
    tags=[REPORTS],
    responses={200: ReportOut},
    summary="How far a report has come",
)
def state(path: ReportPath) -> Response:
    return answer(report_of(project().reports.job(path.work, path.report)))


def report_of(job: ReportJob) -> ReportOut:
    """A report as the API shows it."""
    state = job.state
    file = url_for("downloads.report", work=job.work, number=job.number) if state is ReportState.DONE else None
    return ReportOut(
        report=job.number,
        state=state,
        done=min(job.count.done, job.count.total),
        total=job.count.total,
        file=file,
        reason=job.reason,
    )
