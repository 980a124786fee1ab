"""Error answers: problem details (RFC 9457) for requests of data, a page for requests of pages."""

from __future__ import annotations

import logging
from typing import Any

from flask import Flask, Response, jsonify, render_template, request
from flask_wtf.csrf import CSRFError
from pydantic import ValidationError
from werkzeug.exceptions import HTTPException, SecurityError
from werkzeug.http import HTTP_STATUS_CODES

from proof.checking.recheck import RecheckFault
from proof.errors import ProofError, PublicError
from proof.store.acts import ChangedError
from proof.store.decision_records import ConflictError, UnconfirmedReadingError
from proof.web.answers import DecisionOut
from proof.web.attempts import TooManyAttemptsError
from proof.web.error_messages import english_message, translated_message
from proof.web.language import say
from proof.web.messages import REFUSALS, STATUSES, TROUBLES
from proof.web.people import DATA_PATHS

LOG = logging.getLogger(__name__)


def problem(status: int, detail: str, **more: Any) -> Response:
    """A problem document; `more` are additional members."""
    document = {
        "type": "about:blank",
        "title": HTTP_STATUS_CODES.get(status, "Error"),
        "status": status,
        "detail": detail,
    }
    response = jsonify(document | {"instance": request.path} | more)
    response.status_code = status
    response.mimetype = "application/problem+json"
    response.headers["Cache-Control"] = "no-store"
    return response


def invalid(error: ValidationError) -> Response:
    """The answer to a request that does not match its schema, field by field, without the sent values."""
    fields = [
        {"field": ".".join(map(str, detail["loc"])), "message": detail["msg"]}
        for detail in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    return problem(422, "; ".join(f"{field['field']}: {field['message']}" for field in fields), errors=fields)


def answer_errors(app: Flask) -> None:
    """Install the handlers of all errors."""

    @app.errorhandler(ConflictError)
    def conflict(error: ConflictError) -> Response:
        since = [DecisionOut(decision).model_dump(mode="json") for decision in error.decisions]
        return problem(409, str(error), version=error.version, decisions=since, told=translated_message(error))

    @app.errorhandler(UnconfirmedReadingError)
    def unconfirmed(error: UnconfirmedReadingError) -> Response:
        return problem(428, str(error), reason=error.reason, told=translated_message(error))

    @app.errorhandler(ChangedError)
    def changed(error: ChangedError) -> Response:
        return problem(409, str(error), people=error.people, told=translated_message(error))

    @app.errorhandler(ProofError)
    def ours(error: ProofError) -> Response:
        message = in_language(error)
        response = _answer(error.http_status, str(error), message, told=message)
        if error.http_status == 401:
            response.headers["WWW-Authenticate"] = 'Cookie realm="proof"'
        if isinstance(error, TooManyAttemptsError):
            response.headers["Retry-After"] = str(error.wait)
        return response

    @app.errorhandler(CSRFError)
    def forged(error: CSRFError) -> Response:
        message = f"the request does not come from a page of this server: {error.description}"
        LOG.warning("%s %s refused: %s", request.method, request.path, message)
        return _answer(403, message, say(REFUSALS["forged"]), code="token")

    @app.errorhandler(HTTPException)
    def http(error: HTTPException) -> Response:
        status, detail = error.code or 500, error.description or ""
        if isinstance(error, SecurityError):  # for an unknown host name no page can be made, since it has addresses
            response = problem(status, detail)
        else:
            response = _answer(status, detail, _of_status(status))
        for name, value in error.get_headers():
            if name in ("Allow", "Retry-After", "WWW-Authenticate"):
                response.headers[name] = value
        return response

    @app.errorhandler(Exception)
    def unforeseen(error: Exception) -> Response:
        LOG.exception("%s %s failed", request.method, request.path, exc_info=error)
        return _answer(500, english_message(error), say(REFUSALS["mistake"]))


def in_language(error: ProofError) -> str:
    """The message of an error in the language of the request. An error that names files of the server is replaced by a
    general message; its own text is for the log and for programs."""
    if isinstance(error, PublicError):
        return translated_message(error)
    fault = RecheckFault.of(error)
    if fault is RecheckFault.MISTAKE and error.http_status < 500:
        return _of_status(error.http_status)
    LOG.error("%s %s: %s", request.method, request.path, error)
    return say(TROUBLES[fault])


def _of_status(status: int) -> str:
    """The general message for an HTTP status."""
    return say(STATUSES.get(status, REFUSALS["mistake"] if status >= 500 else STATUSES[400]))


def _answer(status: int, detail: str, message: str, **more: Any) -> Response:
    """A problem document with `detail` for programs, or a page that shows `message` to people."""
    if request.path.startswith(DATA_PATHS) or not request.accept_mimetypes.accept_html:
        return problem(status, detail, **more)
    page = render_template("web/error.html", status=status, detail=message)
    return Response(page, status=status, headers={"Cache-Control": "no-store"})
