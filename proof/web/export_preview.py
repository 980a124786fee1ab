"""Preview of an export, as a page and in the API: the corrections that would be written, and the others with
reasons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from flask import Blueprint, Response, request
from pydantic import BaseModel, Field

from proof.errors import ProofError
from proof.exports.preview import PlannedCorrection, Preview, preview_now
from proof.store.readings import LOOKER
from proof.web import schemas
from proof.web.api import answer, api_blueprint, number_of
from proof.web.language import say
from proof.web.page_view import sheet
from proof.web.project import Project, project

SHOWN = 100
"""Corrections on a page of the preview."""

export_preview_api = api_blueprint("export_preview_api", "exports")
export_preview = Blueprint("export_preview", __name__)


class PreviewQuery(schemas.Cursor):
    """The range of corrections."""


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


@dataclass(frozen=True, slots=True)
class WorkPreview:
    """The corrections of all texts of a work; `unread` says which texts cannot be read, and why."""

    texts: tuple[tuple[str, Preview], ...]
    unread: tuple[str, ...]

    @property
    def written(self) -> int:
        return sum(len(plan.written) for _, plan in self.texts)

    @property
    def not_written(self) -> int:
        return sum(len(plan.not_written) for _, plan in self.texts)

    @property
    def in_text(self) -> int:
        return sum(plan.in_text for _, plan in self.texts)

    def items(self) -> Iterator[tuple[str, PlannedCorrection]]:
        """Each decision with the name of its text: first those that are not written, then the others."""
        for name, plan in self.texts:
            yield from ((name, correction) for correction in plan.not_written)
        for name, plan in self.texts:
            yield from ((name, correction) for correction in plan.written)


def work_preview(here: Project, work: str) -> WorkPreview:
    """The preview for a work, from one consistent state of the store."""
    settings = here.settings
    texts, unread = [], []
    paths = dict.fromkeys(page.text for page in here.store.queue.places(work))
    with here.store.at_one_moment() as now:
        for path in paths:
            try:
                preview = preview_now(now, Path(path), settings.page.script, settings.variants.file)
            except ProofError as error:  # the other texts are still previewed
                unread.append(str(error))
            else:
                texts.append((Path(path).name, preview))
    return WorkPreview(tuple(texts), tuple(unread))


@export_preview_api.get(
    "/works/<string:work>/export-preview",
    responses={200: PreviewOut},
    summary="What an export would write as things stand, and what not, with the reason; as `proof export --dry-run`",
)
def planned(path: schemas.WorkPath, query: PreviewQuery) -> Response:
    project().store.queue.work(path.work)
    return answer(_preview_out(path.work, number_of(query.cursor) or 0, query.limit))


@export_preview.get("/works/<work>/export")
def view(work: str) -> Response:
    """The preview as a page."""
    summary = project().store.queue.work(work)
    start = max(request.args.get("from", 0, type=int), 0)
    reads = project().store.double_readings.waiting(work) if LOOKER.get().arbitrates else []
    preview = _preview_out(work, start, SHOWN)
    return sheet("export_preview.html", summary, preview=preview, start=start, shown=SHOWN, reads=reads)


def _preview_out(work: str, start: int, limit: int) -> PreviewOut:
    preview = work_preview(project(), work)
    items = list(preview.items())
    shown = items[start : start + limit]
    has = project().store.queue.has
    return PreviewOut(
        written=preview.written,
        not_written=preview.not_written,
        in_text=preview.in_text,
        unread=list(preview.unread),
        items=[
            _out(name, correction, bool(correction.flag) and has(work, correction.flag)) for name, correction in shown
        ],
        next=str(start + limit) if start + limit < len(items) else None,
    )


def _out(text: str, correction: PlannedCorrection, has_flag: bool) -> PlannedOut:
    reason = say(correction.why.value) if correction.why is not None else ""
    return PlannedOut(
        text=Path(correction.text).name or text,
        page=correction.page,
        line=correction.line,
        offset=correction.offset,
        before=correction.before,
        old=correction.old,
        new=correction.new,
        after=correction.after,
        written=correction.written,
        reason=reason % correction.values if correction.values else reason,
        person=correction.person,
        authority=correction.authority,
        note=correction.note,
        flag=correction.flag if has_flag else 0,
    )
