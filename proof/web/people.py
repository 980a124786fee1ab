"""The person who makes a request, and their rights: the account that has logged in, or the user of this machine.

A session is a signed cookie with the account, its stamp, and the times of the session's start and last use. It ends
when it was idle or lasted too long. Logging out, a new password, or disabling the account change the stamp, so that all
copies of the cookie become invalid. Programs send a token instead (`proof.web.tokens`).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import timedelta
from typing import cast

from flask import Flask, Request, current_app, g, redirect, request, session, url_for
from flask_login import LoginManager, UserMixin, current_user, login_user, logout_user
from werkzeug.wrappers import Response

from proof.errors import PublicError
from proof.store.accounts import Account, AccountChannel, By, ExpiredPasswordError, NoAccountError
from proof.store.decision_records import RefusedDecisionError
from proof.web.attempts import Attempts
from proof.web.messages import PEOPLE, REFUSALS
from proof.web.project import Project, project
from proof.web.rights import ALONE, OWN, RIGHTS, Right, needed
from proof.web.tokens import Tokens

TOUCH_SECONDS = 60
"""Time after which the time of last use is written into the cookie again."""

DATA_PATHS = ("/api/", "/iiif/")
"""Paths whose requests are answered with data, also on errors; the others show pages."""


class LogInFirstError(PublicError):
    """Nobody has logged in, or the session is over."""

    http_status = 401


class WrongPasswordError(PublicError):
    """The name or the password is wrong; the message does not say which."""

    http_status = 401


class NotAllowedError(PublicError):
    """The person does not have the right."""

    http_status = 403


class NoPeopleError(PublicError):
    """The project has no accounts."""

    http_status = 404


@dataclass(frozen=True, slots=True)
class Visitor(UserMixin):  # type: ignore[misc]
    """An account as Flask-Login needs it."""

    account: Account

    def get_id(self) -> str:
        return f"{self.account.number}:{self.account.stamp}"


def account() -> Account | None:
    """The account that has logged in; None if nobody has, or there are no accounts."""
    if not project().settings.serve.auth:
        return None
    return current_user.account if current_user.is_authenticated else None


def myself() -> Account:
    """The account that has logged in. Raises LogInFirstError, NoPeopleError."""
    must_have_people()
    who = account()
    if who is None:
        raise LogInFirstError(REFUSALS["log in"])
    return who


def person() -> str:
    """The name of the person who makes the request; '' if nobody has logged in."""
    if not project().settings.serve.auth:
        return project().person
    who = account()
    return who.name if who else ""


def assignees() -> list[str]:
    """The people to whom a problem can be assigned: those who may decide."""
    if not project().settings.serve.auth:
        return [project().person]
    everybody = project().store.accounts.everybody()
    return [account.name for account in everybody if Right.DECIDE in RIGHTS[account.role] and not account.disabled]


def must_be_assignee(name: str) -> None:
    """Raise RefusedDecisionError unless something can be assigned to a person of that name."""
    if name not in assignees():
        raise RefusedDecisionError(REFUSALS["assignee"], name=name)


def by() -> By:
    """The person who makes the request, for the history of accounts."""
    return By(person(), AccountChannel.BROWSER)


def rights() -> frozenset[Right]:
    """The rights of the person who makes the request."""
    if not project().settings.serve.auth:
        return ALONE
    who = account()
    return RIGHTS[who.role] if who else frozenset()


def may(right: Right) -> bool:
    """Whether the person who makes the request has that right."""
    return right in rights()


def must_have_people() -> None:
    """Raise NoPeopleError if the project has no accounts."""
    if not project().settings.serve.auth:
        raise NoPeopleError(REFUSALS["no people"])


def log_in(name: str, password: str) -> None:
    """Start a session. Raises WrongPasswordError, ExpiredPasswordError, TooManyAttemptsError."""
    must_have_people()
    attempt = _attempts().begin(name)
    try:
        who = project().store.accounts.log_in(name, password)
    except ExpiredPasswordError:  # the password was right
        _attempts().succeeded(attempt)
        raise
    if who is None:
        current_app.logger.warning("a wrong name or password from %s", request.remote_addr)
        raise WrongPasswordError(PEOPLE["wrong"])
    _attempts().succeeded(attempt)
    _begin(who)


def log_out() -> None:
    """End the sessions of the person, in every browser."""
    project().store.accounts.end_sessions(myself().number)
    logout_user()
    session.clear()
    g.pop("csrf_token", None)


def change_password(current: str, new: str) -> None:
    """Change the person's password; their sessions in other browsers end. Raises WrongPasswordError,
    TooManyAttemptsError, AccountError."""
    who, accounts = myself(), project().store.accounts
    attempt = _attempts().begin(who.name)
    if not accounts.is_password(who.number, current):
        raise WrongPasswordError(PEOPLE["not yours"])
    _attempts().succeeded(attempt)
    _begin(accounts.set_password(who.number, new, by=by()))


def guard(app: Flask) -> None:
    """If the project has accounts, check the session and the rights before every request."""
    serve = cast(Project, app.extensions["proof"]).settings.serve
    if not serve.auth:
        return
    app.extensions["proof-attempts"] = Attempts(app, serve.attempts)
    app.config.update(
        PERMANENT_SESSION_LIFETIME=timedelta(hours=serve.session_hours), SESSION_REFRESH_EACH_REQUEST=False
    )
    manager = LoginManager(app)
    manager.session_protection = None  # a tablet changes its address; the account's stamp protects the session
    manager.user_loader(_visitor)
    manager.request_loader(_bearer)
    app.before_request(_check)


def _check() -> Response | None:
    """Let a request pass, redirect it to the log-in or the account, or raise LogInFirstError, NotAllowedError."""
    if request.endpoint is None:  # no such address: leads to 404
        return None
    right = needed(request.endpoint, request.method)
    if right is None:
        return None
    who = account()
    wants_data = request.path.startswith(DATA_PATHS)
    if who is None:
        if wants_data:
            raise LogInFirstError(REFUSALS["log in"])
        target = request.full_path.removesuffix("?") if request.method == "GET" else None
        return redirect(url_for("accounts.log_in", next=target))
    if who.provisional and request.endpoint not in OWN:
        if wants_data:
            raise NotAllowedError(REFUSALS["own password"])
        return redirect(url_for("accounts.account"))
    if right not in RIGHTS[who.role]:
        raise NotAllowedError(REFUSALS["not allowed"], name=who.name, role=who.role, right=right)
    if not by_token():
        _touch()
    return None


def _visitor(identity: str) -> Visitor | None:
    """The owner of a session, if that has not ended."""
    serve, now = project().settings.serve, time.time()
    number, _, stamp = identity.partition(":")
    idle, lasted = now - session.get("seen", 0), now - session.get("since", 0)
    if idle > serve.idle_minutes * 60 or lasted > serve.session_hours * 3600 or not number.isdigit():
        return None
    try:
        who = project().store.accounts.get(int(number))
    except NoAccountError:
        return None
    return None if who.disabled or who.stamp != stamp else Visitor(who)


def _bearer(request: Request) -> Visitor | None:
    """The account of the request's token, if it has a valid one."""
    sent = request.authorization
    if sent is None or sent.type != "bearer" or not sent.token:
        return None
    who = Tokens(project().store.accounts, current_app.config["SECRET_KEY"]).account_of(sent.token)
    g.by_token = who is not None
    return Visitor(who) if who else None


def by_token() -> bool:
    """Whether the request is authorised by a token, which pages of other hosts cannot send, instead of a cookie."""
    return bool(g.get("by_token"))


def _begin(who: Account) -> None:
    """Start a new session. Nothing of an earlier session in this browser is kept, not even its CSRF token."""
    session.clear()
    g.pop("csrf_token", None)
    session["since"] = session["seen"] = int(time.time())
    login_user(Visitor(who))


def _touch() -> None:
    """Write the time of last use into the cookie, at least four times before an idle session ends."""
    now = int(time.time())
    if now - session.get("seen", 0) > min(TOUCH_SECONDS, project().settings.serve.idle_minutes * 15):
        session["seen"] = now


def _attempts() -> Attempts:
    return cast(Attempts, current_app.extensions["proof-attempts"])
