"""Errors as problem details (RFC 9457) where data was asked for, and as a page where a person asked."""

from __future__ import annotations

import logging
from typing import Any

from flask import Flask, Response, jsonify, render_template, request
from flask_wtf.csrf import CSRFError
from pydantic import ValidationError
from werkzeug.exceptions import HTTPException, SecurityError
from werkzeug.http import HTTP_STATUS_CODES

from proof.errors import ProofError
from proof.store.decisions import ConflictError
from proof.web.attempts import TooManyAttemptsError
from proof.web.schemas import decision_of

LOG = logging.getLogger(__name__)


def problem(status: int, detail: str, **more: Any) -> Response:
    """A problem document."""
    said = {"type": "about:blank", "title": HTTP_STATUS_CODES.get(status, "Error"), "status": status, "detail": detail}
    response = jsonify(said | {"instance": request.path} | more)
    response.status_code = status
    response.mimetype = "application/problem+json"
    response.headers["Cache-Control"] = "no-store"
    return response


def invalid(error: ValidationError) -> Response:
    """What the schema says against a request, field by field; what was sent is not sent back."""
    fields = [
        {"field": ".".join(map(str, one["loc"])), "message": one["msg"]}
        for one in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    return problem(422, "; ".join(f"{one['field']}: {one['message']}" for one in fields), errors=fields)


def answer_errors(app: Flask) -> None:
    """Every error of the application ends here."""

    @app.errorhandler(ConflictError)
    def conflict(error: ConflictError) -> Response:
        since = [decision_of(decision).model_dump(mode="json") for decision in error.decisions]
        return problem(409, str(error), version=error.version, decisions=since)

    @app.errorhandler(ProofError)
    def ours(error: ProofError) -> Response:
        response = _answer(error.http_status, str(error))
        if error.http_status == 401:
            response.headers["WWW-Authenticate"] = 'Cookie realm="proof"'
        if isinstance(error, TooManyAttemptsError):
            response.headers["Retry-After"] = str(error.wait)
        return response

    @app.errorhandler(CSRFError)
    def forged(error: CSRFError) -> Response:
        said = f"the request does not come from a page of this server: {error.description}"
        return _answer(403, said, code="token")

    @app.errorhandler(HTTPException)
    def http(error: HTTPException) -> Response:
        nowhere = isinstance(error, SecurityError)  # asked for under another name: no address, so no page, can be made
        answer = problem if nowhere else _answer
        response = answer(error.code or 500, error.description or "")
        for name, value in error.get_headers():
            if name in ("Allow", "Retry-After", "WWW-Authenticate"):
                response.headers[name] = value
        return response

    @app.errorhandler(Exception)
    def unforeseen(error: Exception) -> Response:
        LOG.exception("%s %s failed", request.method, request.path, exc_info=error)
        return _answer(500, "the server made a mistake; its log says which")


def _answer(status: int, detail: str, **more: Any) -> Response:
    machine = request.path.startswith(("/api/", "/iiif/")) or not request.accept_mimetypes.accept_html
    if machine:
        return problem(status, detail, **more)
    page = render_template("web/error.html", status=status, detail=detail)
    return Response(page, status=status, headers={"Cache-Control": "no-store"})
