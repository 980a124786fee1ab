"""Who decides: on one's own machine the user of the machine."""

from __future__ import annotations

from proof.web.project import project


def person() -> str:
    """The name under which the request decides."""
    return project().person
