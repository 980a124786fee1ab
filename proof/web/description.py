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
        described: dict[str, Any] = without_docstring_marks(document)
        return described

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


def without_docstring_marks(part: Any, name: str = "") -> Any:
    """A part of the description, called `name` in the whole, without the marks of docstrings: the full stop of a
    summary, and line breaks within paragraphs, which flask-openapi3 gives as `<br/>`."""
    match part:
        case dict():
            return {key: without_docstring_marks(value, key) for key, value in part.items()}
        case list():
            return [without_docstring_marks(item) for item in part]
        case str() if name == "summary":
            return part.removesuffix(".")
        case str() if name == "description":
            return re.sub(r"(?<!\n)\n(?!\n)", " ", part.replace("<br/>", "\n").strip())
    return part
