"""Who may do what, in one place for the pages and the API: what each role may, and what each address needs.

A reader sees. A proofreader decides, corrects, says where a page stands (and validates what another person
proofread), and takes back their own. An administrator takes back anything by anyone, sets and lifts the rules of
a project, and manages people. Without accounts the one person at the machine may do all but manage people.
"""

from __future__ import annotations

from enum import StrEnum

from proof.store.accounts import Role


class Right(StrEnum):
    """What an address can need."""

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
"""The rights of the one person where there are no accounts."""

OPEN = frozenset({"static_file", "font_file", "health", "accounts.log_in", "people.session", "people.begin_session"})
"""Endpoints for who has not logged in."""
OWN = frozenset({"accounts.account", "accounts.log_out", "people.end_session", "people.change_password"})
"""Endpoints about oneself: for everybody who has logged in, even with a password that is still to be changed."""
MADE_TO_SEE = frozenset({"downloads_api.begin"})
"""Endpoints that have something made of what is there, and change nothing of it."""
READ_TWICE = ("readings.view", "readings.view_taking_over", "readings api.compare", "readings api.take_over")
"""Endpoints for who decides between two readers."""
_NEEDS = {
    "api.set_rule": Right.RULE,
    **dict.fromkeys(MADE_TO_SEE, Right.SEE),
    **dict.fromkeys(READ_TWICE, Right.OVERRULE),
    "accounts.people": Right.MANAGE,
    "people.list_people": Right.MANAGE,
    "people.people_events": Right.MANAGE,
    "people.add_person": Right.MANAGE,
    "people.change_person": Right.MANAGE,
    "people.reset_password": Right.MANAGE,
}
_LOOKING = frozenset({"GET", "HEAD", "OPTIONS"})


def needed(endpoint: str, method: str) -> Right | None:
    """What a request needs; None: nothing. What is not named here needs to see, and to decide where it writes."""
    if endpoint in OPEN:
        return None
    if endpoint in OWN:
        return Right.SEE
    return _NEEDS.get(endpoint, Right.SEE if method in _LOOKING else Right.DECIDE)
