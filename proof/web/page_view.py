"""Rendering a page with the template variables that all pages have: the person, their rights, the scripts' messages."""

from __future__ import annotations

from typing import Any

from flask import Response, make_response, render_template, request
from pydantic_core import to_jsonable_python

from proof.store.queue_records import WorkSummary
from proof.web.language import say
from proof.web.messages import script_messages
from proof.web.people import current_account, person, rights
from proof.web.project import project


def render_page(template: str, work: WorkSummary | None, status: int = 200, /, **context: Any) -> Response:
    """The page of a template, about `work` or about no single work; browsers do not cache it. Its scripts get `data`,
    of which models of the API and records of the store may be parts."""
    theme = request.cookies.get("theme", "")
    html = render_template(
        f"web/{template}",
        work=work,
        person=person(),
        account=current_account(),
        rights=sorted(rights()),
        for_me=project().store.comments.count(person()) + project().store.assignments.count(person()),
        theme=theme if theme in ("light", "dark") else "",
        words=script_messages(say),
        **{**context, "data": to_jsonable_python(context.get("data"))},
    )
    response = make_response(html, status)
    response.headers["Cache-Control"] = "no-store"
    return response
