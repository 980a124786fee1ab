"""The Flask application of a project, with its store, its images and its blueprints."""

from __future__ import annotations

import getpass
import hashlib
import os
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from flask import Flask, Response, current_app, request
from flask.json.provider import DefaultJSONProvider
from flask.sessions import SecureCookieSessionInterface
from flask_openapi3.models.info import Info
from flask_openapi3.openapi import OpenAPI
from flask_wtf.csrf import CSRFError, CSRFProtect
from itsdangerous import Signer
from jinja2 import StrictUndefined

import proof
from proof.checking.library import LibraryRechecker
from proof.checking.recheck import Rechecker
from proof.paths import templates_dir
from proof.report.write import thousands
from proof.settings.config import Settings
from proof.store import Store
from proof.web import description, health, language, people, problems, statics
from proof.web.accounts import accounts
from proof.web.answers import InvalidRequestOut
from proof.web.api import api
from proof.web.assignments import assignments, assignments_api
from proof.web.attempts import Attempts
from proof.web.blind_proofreading import install_reader_restrictions, readings, readings_api
from proof.web.certificates import certificates, certificates_api
from proof.web.column_edits import column_edits
from proof.web.comments import comments
from proof.web.download_jobs import DownloadJobs
from proof.web.downloads import downloads, downloads_api
from proof.web.export_preview import export_preview, export_preview_api
from proof.web.glyph_orders import GlyphOrders
from proof.web.glyph_tiles import glyph_tiles
from proof.web.glyphs import glyphs
from proof.web.hosts import refuse_other_hosts
from proof.web.iiif import iiif
from proof.web.images import Images
from proof.web.layout_overrides import layouts
from proof.web.pages import pages
from proof.web.people_api import people_api
from proof.web.project import Project, secret_of
from proof.web.rate_limit import RateLimiter
from proof.web.replacing import replacing
from proof.web.reports import reports, reports_api
from proof.web.rereading import Rereading

MAX_BODY_BYTES = 1 << 20
"""Maximum size of the body of a request, in bytes."""
ANY = ["*"]
LOOPBACK = ["localhost", "127.0.0.1", "[::1]"]
VIEWER_STYLE = "'sha256-9xTiqzfwFaL2SGb1rmr8gysEwVVjIvqWAgmZgqFqpEE='"
"""Hash of the only style that OpenSeadragon 6.1.1 writes into a page. A test fails if another version writes
another."""
POLICY = (
    "default-src 'none'",
    "script-src 'self'",
    f"style-src 'self' {VIEWER_STYLE}",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
)
"""Content security policy: nothing from other hosts; scripts and styles only from static files."""
HEADERS = {
    "Content-Security-Policy": "; ".join(POLICY),
    "Permissions-Policy": "browsing-topics=()",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Headers of every answer."""
HSTS_SECONDS = 365 * 24 * 3600
"""Time for which browsers that used https refuse http. It applies to this host only, not to others of its domain."""
API_DESCRIPTION = (
    "The API of `proof serve`, for proofreading digital Chinese classics. Errors are problem details (RFC 9457). "
    "Requests that change something need either the cookie of the session and its token in `X-CSRFToken`, or a token "
    "in `Authorization: Bearer`."
)
API_BLUEPRINTS = (
    api,
    people_api,
    comments,
    glyphs,
    layouts,
    column_edits,
    certificates_api,
    downloads_api,
    export_preview_api,
    readings_api,
    reports_api,
    assignments_api,
)
"""The parts of the API, in the order of its description."""
PAGE_BLUEPRINTS = (
    iiif,
    glyph_tiles,
    pages,
    accounts,
    downloads,
    export_preview,
    replacing,
    readings,
    reports,
    assignments,
    certificates,
)


class Json(DefaultJSONProvider):
    """JSON that keeps the order of keys. Input that is nested too deeply for Python counts as malformed."""

    sort_keys = False

    def loads(self, s: str | bytes, **kwargs: Any) -> Any:
        """The parsed value of `s`. Raises ValueError."""
        try:
            return super().loads(s, **kwargs)
        except RecursionError:
            raise ValueError("it is nested too deeply") from None


Signer.default_digest_method = staticmethod(hashlib.sha256)
"""Flask-WTF signs its CSRF tokens with the default method of itsdangerous, which would be SHA-1."""


class Sessions(SecureCookieSessionInterface):
    """Sessions in cookies that are signed with HMAC-SHA-256; Flask's default is SHA-1."""

    digest_method = staticmethod(hashlib.sha256)


def create_app(settings: Settings, *, store: Store, hosts: list[str] | None = None) -> Flask:
    """The application that serves the project of `settings`.

    `hosts` are the host names that it answers to (`ANY`: all), by default those of loopback: so pages of other hosts
    cannot reach it by DNS rebinding. Raises OutputError if the key of the sessions cannot be kept.
    """
    app = _bare_app(secret_of(settings), settings.serve.https)
    app.extensions["proof"] = _project(settings, store)
    if hosts != ANY:
        refuse_other_hosts(app, hosts or LOOPBACK)
    _guard(app, settings.serve.https)
    language.install_translations(app)
    statics.serve(app, settings.serve.font)
    problems.answer_errors(app)
    for part in API_BLUEPRINTS:
        app.register_api(part)
    for blueprint in PAGE_BLUEPRINTS:
        app.register_blueprint(blueprint)
    description.serve(app, accounts=settings.serve.auth)
    health.serve(app, store)
    return app


def _project(settings: Settings, store: Store) -> Project:
    """The served project of `settings`."""
    reader = (LibraryRechecker if store.library.folders() else Rechecker)(settings, store)
    return Project(
        settings=settings,
        store=store,
        images=Images(store.queue.image, settings.project.images),
        person=_user_name(),
        reader=reader,
        rereading=Rereading(reader),
        glyphs=GlyphOrders(store),
        downloads=DownloadJobs(),
        attempts=Attempts(secret_of(settings), settings.serve.attempts),
        reports=RateLimiter(3600),
    )


def _bare_app(secret: str, https: bool) -> OpenAPI:
    """An application with sessions, limits and templates, but without blueprints."""
    app = OpenAPI(
        "proof.web",
        info=Info(title="proof", version=proof.__version__, description=API_DESCRIPTION),
        template_folder=str(templates_dir()),
        static_folder=None,
        security_schemes={
            "session": {"type": "apiKey", "in": "cookie", "name": _cookie_name(secret, https)},
            "csrf": {"type": "apiKey", "in": "header", "name": "X-CSRFToken"},
            "token": {"type": "http", "scheme": "bearer"},
        },
        doc_ui=False,
        validation_error_status=422,
        validation_error_model=InvalidRequestOut,
        validation_error_callback=problems.invalid,
    )
    app.config.update(
        SECRET_KEY=secret,
        MAX_CONTENT_LENGTH=MAX_BODY_BYTES,
        MAX_FORM_MEMORY_SIZE=MAX_BODY_BYTES,
        SESSION_COOKIE_NAME=_cookie_name(secret, https),
        SESSION_COOKIE_SECURE=https,
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        PERMANENT_SESSION_LIFETIME=timedelta(days=30),
        WTF_CSRF_TIME_LIMIT=None,
        WTF_CSRF_CHECK_DEFAULT=False,  # `_guard` checks, except requests with a token of the API
        WTF_CSRF_SSL_STRICT=False,  # `_check_referrer` checks the same, but not the port
    )
    app.json = Json(app)
    app.session_interface = Sessions()
    app.jinja_env.undefined = StrictUndefined
    app.jinja_env.filters["thousands"] = thousands
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    return app


def _guard(app: OpenAPI, https: bool) -> None:
    """Install the checks of every request (accounts, forged requests) and the headers of every answer."""
    people.install_account_checks(app)
    install_reader_restrictions(app)
    csrf = CSRFProtect(app)

    @app.before_request
    def refuse_forged_requests() -> None:
        if not people.by_token():
            csrf.protect(apply_exemptions=True)
            _check_referrer()

    @app.after_request
    def add_headers(response: Response) -> Response:
        response.headers.update(HEADERS)
        if https and (request.is_secure or request.headers.get("X-Forwarded-Proto") == "https"):
            response.headers["Strict-Transport-Security"] = f"max-age={HSTS_SECONDS}"
        return response


def _check_referrer() -> None:
    """Raise CSRFError if a request over https comes from a page of another host. The port is not compared, since a
    proxy may not pass it on."""
    if not request.is_secure or request.method not in current_app.config["WTF_CSRF_METHODS"]:
        return
    own_host = urlsplit(f"//{request.host}").hostname
    try:
        referrer = urlsplit(request.referrer or "")
    except ValueError:  # not an address
        referrer = urlsplit("")
    if referrer.scheme != "https" or referrer.hostname != own_host:
        raise CSRFError(
            f"it was sent by a page of {referrer.hostname or 'nowhere'}, and this is {own_host}; a proxy in front has "
            "to pass on the name that browsers use (X-Forwarded-Host)"
        )


def _user_name() -> str:
    """The name of the user who runs the server, the author of all decisions if there are no accounts; without a name,
    the user's number."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"user {os.getuid()}"


def _cookie_name(secret: str, https: bool) -> str:
    """The name of the session cookie. It differs by project, since all ports of a host share their cookies. A `__Host-`
    cookie cannot be set by other hosts of the domain."""
    suffix = hashlib.blake2b(secret.encode(), digest_size=4, person=b"cookie name").hexdigest()
    return f"{'__Host-' if https else ''}proof-{suffix}"
