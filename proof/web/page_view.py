"""Rendering a page with the variables of all pages: the person, their rights, the messages of the scripts."""

from __future__ import annotations

from typing import Any

from flask import Response, make_response, render_template, request

from proof.store.queue_records import WorkSummary
from proof.web.language import say
from proof.web.messages import words
from proof.web.people import account, person, rights
from proof.web.project import project


def sheet(template: str, work: WorkSummary | None, status: int = 200, /, **context: Any) -> Response:
    """A page of `work`, or of none, which browsers do not cache."""
    theme = request.cookies.get("theme", "")
    page = render_template(
        f"web/{template}",
        work=work,
        person=person(),
        account=account(),
        rights=sorted(rights()),
        for_me=project().store.comments.count(person()) + project().store.assignments.count(person()),
        theme=theme if theme in ("light", "dark") else "",
        words=words(say),
        **{"data": None, **context},
    )
    response = make_response(page, status)
    response.headers["Cache-Control"] = "no-store"
    return response
