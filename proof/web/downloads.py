"""What a browser takes home: the corrected text of a work with its diff and its collation notes."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from flask import Blueprint, Response, send_file

from proof.export.decided import decided_in
from proof.export.files import Form, Material, write_export
from proof.export.source import correct
from proof.text.edition import read_edition
from proof.text.model import Script
from proof.web.project import project

downloads = Blueprint("downloads", __name__)

FORMS = (Form.TEXT, Form.DIFF, Form.NOTES)


@downloads.get("/works/<work>/export.zip")
def export(work: str) -> Response:
    """All texts of a work as corrected until now, one folder each, as `proof export` writes them."""
    store, settings = project().store, project().settings
    named = settings.page.script
    packed = BytesIO()
    with TemporaryDirectory() as folder:
        for path in dict.fromkeys(page.text for page in store.queue.places(work)):
            edition = read_edition(Path(path))
            edition = edition if named == "auto" else replace(edition, script=Script(named))
            decided = decided_in(store, edition)
            corrected = correct(decided.edition, decided.corrections, pairs=settings.variants.file)
            material = Material(corrected, datetime.now(UTC), title=settings.project.title)
            write_export(material, list(FORMS), Path(folder) / Path(path).stem)
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(Path(folder).rglob("*")):
                if file.is_file():
                    archive.write(file, file.relative_to(folder))
    packed.seek(0)
    return send_file(packed, "application/zip", as_attachment=True, download_name=f"{work}.zip")
