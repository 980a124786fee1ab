"""Preview of an export, as a page and in the API: the corrections that would be written, and those that would not, with
the reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flask import Blueprint, Response, request
from pydantic import BaseModel, Field

from proof.errors import ProofError
from proof.exports.preview import PlannedCorrection, Preview, preview_now
from proof.store.chains import REQUESTER
from proof.web import schemas
from proof.web.api import answer, api_blueprint, parse_cursor
from proof.web.language import say
from proof.web.page_view import render_page
from proof.web.project import project

DECISIONS_PER_PAGE = 100
"""Decisions on a page of the preview."""

export_preview_api = api_blueprint("export_preview_api", "exports")
export_preview = Blueprint("export_preview", __name__)


class PlannedOut(BaseModel):
    """A decision: `old`, between `before` and `after` in the text, becomes `new`, or does not for the `reason`, in the
    language of the request. `flag` is 0 if it has none in this work."""

    text: str = Field(description="Name of the file")
    page: str
    line: int
    offset: int
    before: str
    old: str
    new: str
    after: str
    written: bool
    reason: str
    person: str
    authority: str
    note: str
    flag: int


class PreviewOut(BaseModel):
    """How many corrections an export of the work would write, how many decisions it would not write, how many the texts
    have already. `items` are first those that would not be written, then the others, each in the order of the texts;
    `unread` are texts that cannot be exported, with the reason."""

    written: int
    not_written: int
    in_text: int
    unread: list[str]
    items: list[PlannedOut]
    next: str | None


@export_preview_api.get(
    "/works/<string:work>/export-preview",
    responses={200: PreviewOut},
    summary="What an export would write as things stand, and what not, with the reason; as `proof export --dry-run`",
)
def planned(path: schemas.WorkPath, query: schemas.Cursor) -> Response:
    project().store.queue.work(path.work)
    return answer(_preview_out(path.work, parse_cursor(query.cursor) or 0, query.limit))


@export_preview.get("/works/<work>/export")
def view(work: str) -> Response:
    summary = project().store.queue.work(work)
    start = max(request.args.get("from", 0, type=int), 0)
    reads = project().store.double_readings.waiting(work) if REQUESTER.get().arbitrates else []
    preview = _preview_out(work, start, DECISIONS_PER_PAGE)
    return render_page(
        "export_preview.html", summary, preview=preview, start=start, shown=DECISIONS_PER_PAGE, reads=reads
    )


def _preview_out(work: str, start: int, limit: int) -> PreviewOut:
    """The preview of all texts of a work, with the decisions from index `start` on."""
    store, settings = project().store, project().settings
    previews: list[tuple[str, Preview]] = []
    unread: list[str] = []
    paths = dict.fromkeys(page.text for page in store.queue.uncounted_pages(work))
    with store.at_one_moment() as snapshot:
        for path in paths:
            try:
                preview = preview_now(snapshot, Path(path), settings.page.script, settings.variants.file)
                previews.append((Path(path).name, preview))
            except ProofError as error:  # the other texts are still previewed
                unread.append(str(error))
    not_written = [(text, planned) for text, preview in previews for planned in preview.not_written]
    written = [(text, planned) for text, preview in previews for planned in preview.written]
    items = not_written + written
    return PreviewOut(
        written=len(written),
        not_written=len(not_written),
        in_text=sum(preview.in_text for _, preview in previews),
        unread=unread,
        items=[_planned_out(work, text, planned) for text, planned in items[start : start + limit]],
        next=str(start + limit) if start + limit < len(items) else None,
    )


def _planned_out(work: str, text: str, planned: PlannedCorrection) -> PlannedOut:
    """A decision for the API; `text` is the name of the previewed text."""
    values: dict[str, Any] = {name: getattr(planned, name) for name in PlannedOut.model_fields}
    values["text"] = Path(planned.text).name or text
    values["reason"] = planned.reason(say)
    if not project().store.queue.has(work, planned.flag):
        values["flag"] = 0
    return PlannedOut(**values)
