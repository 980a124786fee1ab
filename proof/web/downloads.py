"""What a browser takes home: the corrected text of a work with its diff and its collation notes, and its report."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from flask import Blueprint, Response, send_file

from proof.export.decided import decided_in
from proof.export.files import Form, Material, write_export
from proof.export.source import correct
from proof.report import StoredRun, write_reports
from proof.store.lookup import NO_WORK
from proof.store.queue_records import MissingError
from proof.text.edition import in_script, read_edition
from proof.web.language import language
from proof.web.project import project

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


@downloads.get("/works/<work>/report.zip")
def report(work: str) -> Response:
    """The report of a work's last run as things stand now, with the tables beside it, as `proof report` writes them."""
    store = project().store
    run = store.latest_run(store.queue.work(work).name)
    if run is None:
        raise MissingError(NO_WORK, work=work)
    with TemporaryDirectory() as folder:
        write_reports(StoredRun(store, run.id), Path(folder), language=language())
        return _packed(Path(folder), f"{work}-report.zip")


def _exported(work: str, forms: Sequence[Form], name: str) -> Response:
    store, settings = project().store, project().settings
    with TemporaryDirectory() as folder, store.at_one_moment() as now:
        for path in dict.fromkeys(page.text for page in store.queue.places(work)):
            edition = in_script(read_edition(Path(path)), settings.page.script)
            decided = decided_in(now, edition)
            corrected = correct(decided.edition, decided.corrections, pairs=settings.variants.file)
            material = Material(corrected, datetime.now(UTC), title=settings.project.title)
            write_export(material, list(forms), Path(folder) / Path(path).stem)
        return _packed(Path(folder), name)


def _packed(folder: Path, name: str) -> Response:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(folder))
    packed.seek(0)
    return send_file(packed, "application/zip", as_attachment=True, download_name=name)
