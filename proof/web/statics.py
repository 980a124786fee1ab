"""Static files at addresses with a hash of their content, so that browsers can cache them indefinitely."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from urllib.parse import quote

from flask import Flask, Response, abort, send_file, send_from_directory, url_for

FOLDER = Path(__file__).parent / "static"
CACHE_CONTROL = "public, max-age=31536000, immutable"
FONT_TYPES = {".woff2": "font/woff2", ".woff": "font/woff", ".ttf": "font/ttf", ".otf": "font/otf"}
FONT_FACE = '@font-face{{font-family:"Proof Han";src:url("{url}");font-display:swap}}\n'


@cache
def _version() -> str:
    """The hash of all files together: scripts load each other by relative addresses, so they need the same version."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(FOLDER.rglob("*")):
        if path.is_file():
            digest.update(path.relative_to(FOLDER).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


@cache
def _version_of(font: Path) -> str:
    return hashlib.blake2b(font.read_bytes(), digest_size=8).hexdigest()


def serve(app: Flask, font: Path | None = None) -> None:
    """Serve the static files, and a project's `font` with a style sheet. Templates get the addresses from
    `static(name)` and `font_sheet()`."""

    def static_file(version: str, name: str) -> Response:
        if version != _version():
            abort(404)
        response = send_from_directory(FOLDER, name)
        response.headers["Cache-Control"] = CACHE_CONTROL
        return response

    app.add_url_rule("/static/<version>/<path:name>", "static_file", static_file)

    def font_file(version: str, name: str) -> Response:
        if font is None or version != _version_of(font) or name not in ("font.css", font.name):
            abort(404)
        if name == font.name:
            response = send_file(font, mimetype=FONT_TYPES.get(font.suffix.lower(), "application/octet-stream"))
        else:
            response = Response(FONT_FACE.format(url=quote(font.name)), mimetype="text/css")
        response.headers["Cache-Control"] = CACHE_CONTROL
        return response

    def font_sheet() -> str | None:
        return url_for("font_file", version=_version_of(font), name="font.css") if font else None

    app.add_url_rule("/font/<version>/<name>", "font_file", font_file)
    app.jinja_env.globals["font_sheet"] = font_sheet
    app.jinja_env.globals["static"] = lambda name: url_for("static_file", version=_version(), name=name)
