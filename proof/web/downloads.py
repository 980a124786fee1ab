"""What a browser takes home: the corrected text of a work with its diff and its collation notes, and its report."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from flask import Blueprint, Response, send_file

from proof.export.decided import decided_in
from proof.export.files import Form, Material, write_export
from proof.export.source import correct
from proof.text.edition import in_script, read_edition
from proof.web.messages import REFUSALS
from proof.web.project import project
from proof.web.report_jobs import NoReportError, pack

downloads = Blueprint("downloads", __name__)

FORMS = (Form.TEXT, Form.DIFF, Form.NOTES)


@downloads.get("/works/<work>/export.zip")
def export(work: str) -> Response:
    """All texts of a work as corrected until now, one folder each, as `proof export` writes them."""
    return _exported(work, FORMS, f"{work}.zip")


@downloads.get("/works/<work>/notes.zip")
def notes(work: str) -> Response:
    """The collation notes of all texts of a work, one folder each."""
    return _exported(work, [Form.NOTES], f"{work}-notes.zip")


@downloads.get("/works/<work>/reports/<number>.zip")
def report(work: str, number: str) -> Response:
    """A report that was made (`proof.web.reports`), with the tables beside it, as `proof report` writes them."""
    file = project().reports.job(work, number).file
    if file is None:
        raise NoReportError(REFUSALS["no report"])
    return send_file(file, "application/zip", as_attachment=True, download_name=f"{work}-report.zip")


def _exported(work: str, forms: Sequence[Form], name: str) -> Response:
    store, settings = project().store, project().settings
    with TemporaryDirectory() as folder, store.at_one_moment() as now:
        for path in dict.fromkeys(page.text for page in store.queue.places(work)):
            edition = in_script(read_edition(Path(path)), settings.page.script)
            decided = decided_in(now, edition)
            corrected = correct(decided.edition, decided.corrections, pairs=settings.variants.file)
            material = Material(corrected, datetime.now(UTC), title=settings.project.title)
            write_export(material, list(forms), Path(folder) / Path(path).stem)
        packed = BytesIO()
        pack(Path(folder), packed)
    packed.seek(0)
    return send_file(packed, "application/zip", as_attachment=True, download_name=name)
