"""The rights of each role, and the right that each address of the pages and the API needs.

Readers can only look. Proofreaders decide, correct, set the state of pages (they validate those that others proofread),
and undo their own acts. Administrators can also undo acts of others, set and lift the rules of a project, and manage
people. Without accounts, the one user may do everything except manage people."""

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
SOLE_USER_RIGHTS = frozenset(Right) - {Right.MANAGE}
"""The rights of the only user if there are no accounts."""

OPEN_ENDPOINTS = frozenset(
    {
        "static_file",
        "font_file",
        "health",
        "accounts.log_in",
        "people.session",
        "people.begin_session",
        "reports.read",
        "reports.report",
    }
)
"""Endpoints that need no log-in."""
ACCOUNT_ENDPOINTS = frozenset({"accounts.account", "accounts.log_out", "people.end_session", "people.change_password"})
"""Endpoints about one's own account, which need only a log-in, even with a provisional password."""
UNCHANGING_POSTS = frozenset({"downloads_api.start_download"})
"""Endpoints that accept POST but change no data, and so need only the right to see."""
ARBITRATION = (
    "readings.view",
    "readings.view_adoption",
    "readings api.compare_readings",
    "readings api.adopt_readings",
)
"""Endpoints for people who decide between two blind readers."""
_NEEDS = {
    "api.set_rule": Right.RULE,
    "api.withdraw": Right.OVERRULE,
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


def needed_right(endpoint: str, method: str) -> Right | None:
    """The right that a request needs; None if it needs no log-in. Endpoints that are not listed need the right to see
    or, for methods that write, the right to decide."""
    if endpoint in OPEN_ENDPOINTS:
        return None
    if endpoint in ACCOUNT_ENDPOINTS:
        return Right.SEE
    return _NEEDS.get(endpoint, Right.SEE if method in _SAFE_METHODS else Right.DECIDE)
