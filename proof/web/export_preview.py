"""Preview of an export, as a page and in the API: the corrections that would be written, and those that would not, with
the reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flask import Blueprint, Response, request
from flask_openapi3.models.tag import Tag
from pydantic import BaseModel, Field

from proof.errors import ProofError
from proof.exports.preview import PlannedCorrection, Preview, preview_now
from proof.store.decision_chains import REQUESTER
from proof.web import answers, schemas
from proof.web.api import answer, api_blueprint, part_of
from proof.web.language import say
from proof.web.page_view import render_page
from proof.web.project import project

DECISIONS_PER_PAGE = 100
"""Decisions on a page of the preview."""

EXPORTS = Tag(name="exports", description="What an export would write")
export_preview_api = api_blueprint("export_preview_api", EXPORTS)
export_preview = Blueprint("export_preview", __name__)


class PlannedCorrectionOut(BaseModel):
    """A correction that an export would write, or a decision that it would not write."""

    text: str = Field(description="The name of the text file")
    page: str = Field(description="The id of the page")
    line: int = Field(description="The number of the column, from 1")
    offset: int = Field(description="The first code point of the place in the source of the column")
    before: str = Field(description="The text before the place")
    old: str = Field(description="What the text has")
    new: str = Field(description="What was decided; if nothing was, what was suggested")
    after: str = Field(description="The text after the place")
    written: bool = Field(description="Whether the export would write `new`")
    reason: str = Field(description="Why it would not, in the language of the request")
    person: str = Field(description="Who decided")
    authority: str = Field(description="What the decision rests on")
    note: str
    flag: int = Field(description="The number of the flag; 0 if the work has no flag there")


class ExportPreviewOut(BaseModel):
    """What an export of the work would write now."""

    written: int = Field(description="The number of corrections that it would write")
    not_written: int = Field(description="The number of decisions that it would not write")
    in_text: int = Field(description="The number of corrections that the texts already have")
    unread: list[str] = Field(description="Texts that cannot be exported, with the reason")
    items: list[PlannedCorrectionOut] = Field(
        description="First the decisions that would not be written, then the others, both in the order of the texts"
    )
    next: answers.Next


@export_preview_api.get("/works/<string:work>/export-preview", responses={200: ExportPreviewOut})
def planned_corrections(path: schemas.WorkPath, query: schemas.Cursor) -> Response:
    """Preview an export: what it would write and what not, as `proof export --dry-run`."""
    project().store.queue.work(path.work)
    return answer(_preview_out(path.work, query.cursor, query.limit))


@export_preview.get("/works/<work>/export")
def view(work: str) -> Response:
    summary = project().store.queue.work(work)
    start = max(request.args.get("from", 0, type=int), 0)
    reads = project().store.double_readings.waiting(work) if REQUESTER.get().arbitrates else []
    preview = _preview_out(work, start, DECISIONS_PER_PAGE)
    return render_page(
        "export_preview.html", summary, preview=preview, start=start, shown=DECISIONS_PER_PAGE, reads=reads
    )


def _preview_out(work: str, start: int | None, limit: int) -> ExportPreviewOut:
    """The preview of all texts of a work, with the decisions from index `start` on."""
    store, settings = project().store, project().settings
    previews: list[tuple[str, Preview]] = []
    unread: list[str] = []
    paths = dict.fromkeys(page.text for page in store.queue.uncounted_pages(work))
    with store.at_one_moment() as snapshot:
        for path in paths:
            try:
                preview = preview_now(snapshot, Path(path), settings)
                previews.append((Path(path).name, preview))
            except ProofError as error:  # the other texts are still previewed
                unread.append(str(error))
    not_written = [(text, planned) for text, preview in previews for planned in preview.not_written]
    written = [(text, planned) for text, preview in previews for planned in preview.written]
    items, following = part_of(not_written + written, start, limit)
    return ExportPreviewOut(
        written=len(written),
        not_written=len(not_written),
        in_text=sum(preview.in_text for _, preview in previews),
        unread=unread,
        items=[_planned_out(work, text, planned) for text, planned in items],
        next=following,
    )


def _planned_out(work: str, text: str, planned: PlannedCorrection) -> PlannedCorrectionOut:
    """A decision for the API; `text` is the name of the previewed text."""
    values: dict[str, Any] = {name: getattr(planned, name) for name in PlannedCorrectionOut.model_fields}
    values["text"] = Path(planned.text).name or text
    values["reason"] = planned.reason(say)
    if not project().store.queue.has(work, planned.flag):
        values["flag"] = 0
    return PlannedCorrectionOut(**values)
