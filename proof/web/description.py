"""The OpenAPI description of the API, at `/api/v1/openapi.json`."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from flask_openapi3.openapi import OpenAPI

from proof.web.rights import OPEN_ENDPOINTS

PROBLEM = "application/problem+json"
MIN_ERROR_STATUS = 400


def serve(app: OpenAPI, *, accounts: bool) -> None:
    """Serve the description, which is generated once. `accounts`: people log in."""

    @cache
    def description() -> dict[str, Any]:
        document = with_security(with_problem_types(app.api_doc), accounts=accounts)
        unwrapped: dict[str, Any] = with_unwrapped_lines(document)
        return unwrapped

    app.add_url_rule("/api/v1/openapi.json", "description", description)


def with_problem_types(document: dict[str, Any]) -> dict[str, Any]:
    """The description with `application/problem+json` (RFC 9457) as the media type of all errors, which flask-openapi3
    describes as `application/json`."""
    for operations in document["paths"].values():
        for operation in operations.values():
            for status, response in operation.get("responses", {}).items():
                content = response.get("content", {})
                if int(status) >= MIN_ERROR_STATUS and "application/json" in content:
                    response["content"] = {PROBLEM: content["application/json"]}
    return document


def with_security(document: dict[str, Any], *, accounts: bool) -> dict[str, Any]:
    """The description in which each operation names what authorises it, so that clients made of it send that."""
    token: list[dict[str, list[str]]] = [{"token": []}] if accounts else []
    open_operations = {endpoint.rpartition(".")[2] for endpoint in OPEN_ENDPOINTS}
    for operations in document["paths"].values():
        for method, operation in operations.items():
            if method != "get":
                operation["security"] = [*token, {"session": [], "csrf": []}]
            elif accounts and operation["operationId"] not in open_operations:
                operation["security"] = [*token, {"session": []}]
    return document


def with_unwrapped_lines(part: Any) -> Any:
    """A part of the description whose texts do not have the line breaks of docstrings. Paragraphs stay."""
    if isinstance(part, dict):
        return {
            name: _unwrapped(value) if name == "description" and isinstance(value, str) else with_unwrapped_lines(value)
            for name, value in part.items()
        }
    return [with_unwrapped_lines(item) for item in part] if isinstance(part, list) else part


def _unwrapped(text: str) -> str:
    """Docstring text with single line breaks, or `<br/>` of flask-openapi3, replaced by spaces."""
    return re.sub(r"(?<!\n)\n(?!\n)", " ", text.replace("<br/>", "\n"))
