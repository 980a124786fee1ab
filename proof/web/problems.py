"""Answers to errors: problem details (RFC 9457) for requests of data, an HTML page for requests of pages."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, TypeVar

from flask import Flask, Response, abort, jsonify, render_template, request
from flask_wtf.csrf import CSRFError
from pydantic import BaseModel, ValidationError
from pydantic_core import to_jsonable_python
from werkzeug.exceptions import HTTPException, MethodNotAllowed, SecurityError
from werkzeug.http import HTTP_STATUS_CODES

from proof.checking.recheck import RecheckFault
from proof.errors import ProofError, PublicError
from proof.store.acts import ChangedError
from proof.store.decision_records import ConflictError, UnconfirmedReadingError
from proof.web.attempts import TooManyAttemptsError
from proof.web.language import english_message, say, translated_message
from proof.web.messages import RECHECK_FAULTS, REFUSALS, STATUSES
from proof.web.people import DATA_PATHS, LogInFirstError

LOG = logging.getLogger(__name__)

Model = TypeVar("Model", bound=BaseModel)

_NO_OBJECT = frozenset({"json_invalid", "model_type", "model_attributes_type"})
"""Types of errors of pydantic about a body that is no JSON object."""
_HOW_TO_AUTHORISE = (
    "send `Authorization: Bearer TOKEN` (`proof user token NAME` prints a token), or the cookie of GET /api/v1/session "
    "and in `X-CSRFToken` the `token` that it answers"
)


def problem(status: int, detail: str, **more: Any) -> Response:
    """A problem document with the additional members `more`."""
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
    """The answer to a request that does not match its schema, with the errors of each field but without the sent
    values."""
    fields = [
        {
            "field": ".".join(map(str, detail["loc"])),
            "message": "send a JSON object, as application/json" if detail["type"] in _NO_OBJECT else detail["msg"],
        }
        for detail in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    detail = "; ".join(": ".join(filter(None, field.values())) for field in fields)
    return problem(422, detail, errors=fields)


def form_of(model: type[Model], sent: Mapping[str, object], refusal: PublicError | None = None) -> Model:
    """The fields of a form or an address, of which empty ones are left out. Aborts if they do not match the schema of
    `model`, or raises `refusal`."""
    try:
        return model.model_validate({name: value for name in model.model_fields if (value := sent.get(name))})
    except ValidationError as error:
        if refusal:
            raise refusal from error
        abort(invalid(error))


def answer_errors(app: Flask) -> None:
    """Install the handlers of all errors."""

    @app.errorhandler(ConflictError)
    def conflict(error: ConflictError) -> Response:
        decisions = to_jsonable_python(error.decisions)
        return problem(409, str(error), version=error.version, decisions=decisions, message=translated_message(error))

    @app.errorhandler(UnconfirmedReadingError)
    def unconfirmed(error: UnconfirmedReadingError) -> Response:
        detail = f"{error}: if it is meant, send it again with `confirmed`"
        return problem(428, detail, reason=error.reason, message=translated_message(error))

    @app.errorhandler(ChangedError)
    def changed(error: ChangedError) -> Response:
        return problem(409, str(error), people=error.people, message=translated_message(error))

    @app.errorhandler(ProofError)
    def expected(error: ProofError) -> Response:
        message, detail = public_message(error), english_message(error)
        if isinstance(error, LogInFirstError):
            detail = f"{detail}, or {_HOW_TO_AUTHORISE}"
        response = _answer(error.http_status, detail, message, message=message)
        if error.http_status == 401:
            response.headers["WWW-Authenticate"] = 'Cookie realm="proof"'
        if isinstance(error, TooManyAttemptsError):
            response.headers["Retry-After"] = str(error.wait)
        return response

    @app.errorhandler(CSRFError)
    def forged(error: CSRFError) -> Response:
        detail = f"the request does not come from a page of this server ({error.description}): {_HOW_TO_AUTHORISE}"
        LOG.warning("%s %s refused: %s", request.method, request.path, detail)
        message = say(REFUSALS["forged"])
        return _answer(403, detail, message, message=message, code="token")

    @app.errorhandler(HTTPException)
    def http(error: HTTPException) -> Response:
        status, detail, message = error.code or 500, _detail(error), _status_message(error.code or 500)
        if isinstance(error, SecurityError):  # an unknown host name: no page, since that would contain addresses
            response = problem(status, detail)
        else:
            response = _answer(status, detail, message, message=message)
        for name, value in error.get_headers():
            if name in ("Allow", "Retry-After", "WWW-Authenticate"):
                response.headers[name] = value
        return response

    @app.errorhandler(Exception)
    def unexpected(error: Exception) -> Response:
        LOG.exception("%s %s failed", request.method, request.path, exc_info=error)
        return _answer(500, english_message(error), say(REFUSALS["mistake"]))


def public_message(error: ProofError) -> str:
    """The message of an error for people, in the language of the request. Errors that are not public, such as those
    that name files of the server, get a general message and are logged."""
    if isinstance(error, PublicError):
        return translated_message(error)
    fault = RecheckFault.of(error)
    if fault is RecheckFault.MISTAKE and error.http_status < 500:
        return _status_message(error.http_status)
    LOG.error("%s %s: %s", request.method, request.path, error)
    return say(RECHECK_FAULTS[fault])


def _detail(error: HTTPException) -> str:
    """What is wrong with a request, for programs."""
    if request.routing_exception is None:
        return error.description or ""
    if isinstance(error, MethodNotAllowed) and error.valid_methods:
        methods = sorted({*error.valid_methods} - {"HEAD", "OPTIONS"})
        return f"{request.method} is not possible at this address: send {' or '.join(methods)}"
    return (
        "there is no such address: /api/v1/openapi.json lists them all; in them a work stands by its `name`, pages and "
        "flags by their `number`"
    )


def _status_message(status: int) -> str:
    """The general message for an HTTP status."""
    if status in STATUSES:
        return say(STATUSES[status])
    return say(REFUSALS["mistake"] if status >= 500 else STATUSES[400])


def _answer(status: int, detail: str, message: str, /, **more: Any) -> Response:
    """A problem document with `detail` for programs, or an HTML page with `message` for people."""
    if request.path.startswith(DATA_PATHS) or not request.accept_mimetypes.accept_html:
        return problem(status, detail, **more)
    page = render_template("web/error.html", status=status, detail=message)
    return Response(page, status=status, headers={"Cache-Control": "no-store"})
