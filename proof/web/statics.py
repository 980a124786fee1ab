"""Static files at addresses that hold their hash: a browser keeps them for good, a new version has a new address."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from flask import Flask, Response, abort, send_from_directory, url_for

FOLDER = Path(__file__).parent / "static"


@cache
def _version() -> str:
    """One for all files: scripts load each other by relative addresses."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(FOLDER.rglob("*")):
        if path.is_file():
            digest.update(path.relative_to(FOLDER).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def serve(app: Flask) -> None:
    """Serve the static files, and let templates name them by `static(name)`."""

    def static_file(version: str, name: str) -> Response:
        if version != _version():
            abort(404)
        response = send_from_directory(FOLDER, name)
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response

    app.add_url_rule("/static/<version>/<path:name>", "static_file", static_file)
    app.jinja_env.globals["static"] = lambda name: url_for("static_file", version=_version(), name=name)
