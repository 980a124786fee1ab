"""The rights of each role, and the right that each address of the pages and the API needs.

A reader only sees. A proofreader decides, corrects, sets the state of pages (validates those that others proofread),
and undoes their own acts. An administrator undoes acts of anyone, sets and lifts the rules of a project, and manages
people. Without accounts the one person at the machine may do all but manage people."""

from __future__ import annotations

from enum import StrEnum

from proof.store.accounts import Role


class Right(StrEnum):
    """The rights that addresses need."""

    SEE = "see"
    DECIDE = "decide"
    RULE = "rule"
    OVERRULE = "overrule"
    MANAGE = "manage"


RIGHTS = {
    Role.READER: frozenset({Right.SEE}),
    Role.PROOFREADER: frozenset({Right.SEE, Right.DECIDE}),
    Role.ADMINISTRATOR: frozenset(Right),
}
ALONE = frozenset(Right) - {Right.MANAGE}
"""The rights of the one person if there are no accounts."""

OPEN = frozenset(
    {"static_file", "font_file", "health", "accounts.log_in", "people.session", "people.begin_session"}
    | {"reports.read", "reports.report"}
)
"""Endpoints that need no log-in."""
OWN = frozenset({"accounts.account", "accounts.log_out", "people.end_session", "people.change_password"})
"""Endpoints about one's own account, for everybody who has logged in, also with a provisional password."""
UNCHANGING_POSTS = frozenset({"downloads_api.begin"})
"""Endpoints that accept POST but change no data, so that the right to see is enough."""
ARBITRATION = ("readings.view", "readings.view_taking_over", "readings api.compare", "readings api.take_over")
"""Endpoints for those who decide between two readers."""
_NEEDS = {
    "api.set_rule": Right.RULE,
    **dict.fromkeys(UNCHANGING_POSTS, Right.SEE),
    **dict.fromkeys(ARBITRATION, Right.OVERRULE),
    "accounts.people": Right.MANAGE,
    "people.list_people": Right.MANAGE,
    "people.people_events": Right.MANAGE,
    "people.add_person": Right.MANAGE,
    "people.change_person": Right.MANAGE,
    "people.reset_password": Right.MANAGE,
}
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def needed(endpoint: str, method: str) -> Right | None:
    """The right that a request needs; None if none. Endpoints that are not listed need the right to see, or, if they
    write, the right to decide."""
    if endpoint in OPEN:
        return None
    if endpoint in OWN:
        return Right.SEE
    return _NEEDS.get(endpoint, Right.SEE if method in _SAFE_METHODS else Right.DECIDE)
