"""Downloads of a work: starting them and following their progress in the API, and sending the archive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from flask import Blueprint, Response, send_file, url_for
from flask_openapi3.models.tag import Tag
from pydantic import BaseModel, Field

from proof.exports.files import folders_of, write_export
from proof.exports.preview import preview_now
from proof.exports.text_export import DEFAULT_FORMS, material_of
from proof.locale.languages import translations
from proof.model.result import PageResult
from proof.report import StoredRun, write_reports
from proof.settings.config import Settings
from proof.store import Store
from proof.store.lookup import NO_WORK, NoPlaceError
from proof.web import schemas
from proof.web.api import answer, api_blueprint
from proof.web.download_jobs import DownloadJob, DownloadKind, Make, StepCount
from proof.web.jobs import JobState, NoJobError
from proof.web.language import language
from proof.web.messages import REFUSALS
from proof.web.project import project

DOWNLOADS = Tag(name="downloads", description="Reports, corrected texts and collation notes as archives")
downloads_api = api_blueprint("downloads_api", DOWNLOADS)
downloads = Blueprint("downloads", __name__)

FORMS = {DownloadKind.TEXT: DEFAULT_FORMS, DownloadKind.NOTES: ("notes",)}
"""The export formats in a download."""
NOT_WRITTEN = "not-written.txt"
"""File beside a text that lists the decisions which could not be written into it."""
SUFFIXES = {DownloadKind.REPORT: "-report", DownloadKind.TEXT: "", DownloadKind.NOTES: "-notes"}
"""Suffixes of the archive's name, after the name of the work."""


class DownloadBody(schemas.StrictModel):
    kind: DownloadKind


class DownloadPath(schemas.WorkPath):
    download: str = Field(max_length=64, description="The `id` of the download, from the answer that started it")


class DownloadOut(BaseModel):
    """A download and its progress."""

    id: str = Field(description="By which the progress of the download is requested")
    state: JobState
    done: int = Field(description="The number of finished steps")
    total: int = Field(description="The number of all steps")
    file: str | None = Field(description="The address of the ZIP archive when it is complete")
    reason: str = Field(description="Why the download failed; empty if it did not")


@downloads_api.post("/works/<string:work>/downloads", responses={202: DownloadOut})
def start_download(path: schemas.WorkPath, body: DownloadBody) -> Response:
    """Start a download: the report, the corrected text or the collation notes of a work.

    The archive is made in the background. If an equal download is still waiting, the answer describes that one."""
    store, settings = project().store, project().settings
    work = store.queue.work(path.work).name
    if body.kind is DownloadKind.REPORT:
        total, make = _report(store, work, language())
    else:
        total, make = _export(store, settings, work, FORMS[body.kind], language())
    return answer(_download_out(path.work, project().downloads.begin(work, body.kind, language(), total, make)), 202)


@downloads_api.get("/works/<string:work>/downloads/<string:download>", responses={200: DownloadOut})
def download_state(path: DownloadPath) -> Response:
    """Get the progress of a download."""
    return answer(_download_out(path.work, project().downloads.job(path.download, path.work)))


@downloads.get("/works/<work>/downloads/<download>.zip")
def file(work: str, download: str) -> Response:
    job = project().downloads.job(download, work)
    if job.outcome is None:
        raise NoJobError(REFUSALS["no download"])
    _work, kind, _language = job.subject
    return send_file(job.outcome, "application/zip", as_attachment=True, download_name=f"{work}{SUFFIXES[kind]}.zip")


def _download_out(work: str, job: DownloadJob) -> DownloadOut:
    state, count = job.state, job.count
    address = url_for("downloads.file", work=work, download=job.number)
    return DownloadOut(
        id=job.number,
        state=state,
        done=min(count.done, count.total),
        total=count.total,
        file=address if state is JobState.DONE else None,
        reason=job.reason,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedRun(StoredRun):
    """A stored run that counts pages when the report has read them."""

    count: StepCount

    def results(self, *, outline: bool = False, raised: bool = False) -> Iterator[PageResult]:
        return self.count.through(StoredRun.results(self, outline=outline, raised=raised))


def _report(store: Store, work: str, language: str) -> tuple[int, Make]:
    """The number of steps, and the function that writes the report of a work's last run as `proof report` does. The
    steps are pages; pages with flags are read twice. Raises NoPlaceError for a work without a run."""
    _latest_run(store, work)
    pages = store.queue.pages(work)

    def make(folder: Path, count: StepCount) -> None:
        with store.at_one_moment() as snapshot:
            run = StoredRun(snapshot, _latest_run(snapshot, work)).of_work()
            write_reports(CountedRun(snapshot, run.run_id, run.whole, count=count), folder, language=language)

    return len(pages) + sum(page.flags > 0 for page in pages), make


def _latest_run(store: Store, work: str) -> int:
    """The number of the last run of a work. Raises NoPlaceError."""
    run = store.latest_run(work)
    if run is None:
        raise NoPlaceError(NO_WORK, work=work)
    return run.id


def _export(store: Store, settings: Settings, work: str, forms: Sequence[str], language: str) -> tuple[int, Make]:
    """The number of steps, and the function that writes the corrected texts of a work, one folder each, as
    `proof export` does. The steps are texts."""
    say = translations(language).gettext
    paths = list(dict.fromkeys(page.text for page in store.queue.uncounted_pages(work)))
    folders = folders_of([Path(path) for path in paths])

    def make(folder: Path, count: StepCount) -> None:
        with store.at_one_moment() as snapshot:
            for path in count.through(paths):
                preview = preview_now(snapshot, Path(path), settings)
                write_export(material_of(preview, settings), list(forms), folder / folders[Path(path)])
                left_out = "".join(f"{line}\n" for line in preview.reasons(say))
                if left_out:
                    (folder / folders[Path(path)] / NOT_WRITTEN).write_text(left_out, encoding="utf-8")

    return len(paths), make
