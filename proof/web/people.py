"""Who asks: on one's own machine its user, with accounts who has logged in; and whether they may.

A session lives in a signed cookie: the account with its stamp, when it was begun and when it was last used. It is
over when it was idle or lasted too long, when its owner logs out or gets another password, or when the account is
disabled: the account then has another stamp, and no copy of the cookie, wherever it is, is good for anything. A program
sends a token instead (`proof.web.tokens`).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import timedelta
from typing import cast

from flask import Flask, Request, current_app, g, redirect, request, session, url_for
from flask_login import LoginManager, current_user, login_user, logout_user
from werkzeug.wrappers import Response

from proof.errors import ToldError
from proof.store.accounts import Account, AccountChannel, By, ExpiredPasswordError, NoAccountError
from proof.store.decision_records import RefusedDecisionError
from proof.web.attempts import Attempts
from proof.web.messages import PEOPLE, REFUSALS
from proof.web.project import Project, project
from proof.web.rights import ALONE, OWN, RIGHTS, Right, needed
from proof.web.tokens import Tokens

TOUCHED = 60
"""Seconds after which a session that is used is noted to be in use."""


class LogInFirstError(ToldError):
    """Nobody has logged in, or the session is over."""

    http_status = 401


class WrongPasswordError(ToldError):
    """The name, the password or both are wrong: which, nobody is told."""

    http_status = 401


class NotAllowedError(ToldError):
    """Who asks has not the right."""

    http_status = 403


class NoPeopleError(ToldError):
    """There are no accounts to speak of."""

    http_status = 404


@dataclass(frozen=True, slots=True)
class Visitor:
    """An account as Flask-Login takes it."""

    account: Account
    is_authenticated = True
    is_active = True
    is_anonymous = False

    def get_id(self) -> str:
        return f"{self.account.number}:{self.account.stamp}"


def account() -> Account | None:
    """Who has logged in; None where nobody has, or where there are no accounts."""
    if not project().settings.serve.auth:
        return None
    return current_user.account if current_user.is_authenticated else None


def myself() -> Account:
    """Who has logged in. Raises LogInFirstError, NoPeopleError."""
    must_have_people()
    who = account()
    if who is None:
        raise LogInFirstError(REFUSALS["log in"])
    return who


def person() -> str:
    """The name under which the request decides; '' for somebody who has not logged in."""
    if not project().settings.serve.auth:
        return project().person
    who = account()
    return who.name if who else ""


def assignees() -> list[str]:
    """Who can be given a problem: who may decide here."""
    if not project().settings.serve.auth:
        return [project().person]
    everybody = project().store.accounts.everybody()
    return [account.name for account in everybody if Right.DECIDE in RIGHTS[account.role] and not account.disabled]


def must_be_assignee(name: str) -> None:
    """Raises RefusedDecisionError where nobody of that name can be given a problem."""
    if name not in assignees():
        raise RefusedDecisionError(REFUSALS["assignee"], name=name)


def by() -> By:
    """Who asks, as what is done to accounts remembers them."""
    return By(person(), AccountChannel.BROWSER)


def rights() -> frozenset[Right]:
    """What who asks may do."""
    if not project().settings.serve.auth:
        return ALONE
    who = account()
    return RIGHTS[who.role] if who else frozenset()


def may(right: Right) -> bool:
    """Whether who asks may do that."""
    return right in rights()


def must_have_people() -> None:
    """Raises NoPeopleError where people work without accounts."""
    if not project().settings.serve.auth:
        raise NoPeopleError(REFUSALS["no people"])


def log_in(name: str, password: str) -> Account:
    """Begin a session. Raises WrongPasswordError, ExpiredPasswordError, TooManyAttemptsError."""
    must_have_people()
    attempt = _attempts().begin(name)
    try:
        who = project().store.accounts.log_in(name, password)
    except ExpiredPasswordError:  # it was no guess
        _attempts().succeeded(attempt)
        raise
    if who is None:
        current_app.logger.warning("a wrong name or password from %s", request.remote_addr)
        raise WrongPasswordError(PEOPLE["wrong"])
    _attempts().succeeded(attempt)
    _begin(who)
    return who


def log_out() -> None:
    """End the sessions of who asks, in every browser."""
    project().store.accounts.end_sessions(myself().number)
    logout_user()
    session.clear()
    g.pop("csrf_token", None)


def change_password(current: str, new: str) -> None:
    """Give who asks another password; their sessions in other browsers end. Raises WrongPasswordError,
    TooManyAttemptsError, AccountError."""
    who, accounts = myself(), project().store.accounts
    attempt = _attempts().begin(who.name)
    if not accounts.holds(who.number, current):
        raise WrongPasswordError(PEOPLE["not yours"])
    _attempts().succeeded(attempt)
    _begin(accounts.set_password(who.number, new, by=by()))


def guard(app: Flask) -> None:
    """With accounts, nothing is answered before it is clear who asks and that they may."""
    serve = cast(Project, app.extensions["proof"]).settings.serve
    if not serve.auth:
        return
    app.extensions["proof-attempts"] = Attempts(app, serve.attempts)
    app.config.update(
        PERMANENT_SESSION_LIFETIME=timedelta(hours=serve.session_hours), SESSION_REFRESH_EACH_REQUEST=False
    )
    manager = LoginManager(app)
    manager.session_protection = None  # a tablet changes its address; a session hangs on the account's stamp
    manager.user_loader(_visitor)
    manager.request_loader(_bearer)
    app.before_request(_check)


def _check() -> Response | None:
    if request.endpoint is None:  # there is no such address, and the application says so
        return None
    right = needed(request.endpoint, request.method)
    if right is None:
        return None
    who = account()
    machine = request.path.startswith(("/api/", "/iiif/"))
    if who is None:
        if machine:
            raise LogInFirstError(REFUSALS["log in"])
        target = request.full_path.removesuffix("?") if request.method == "GET" else None
        return redirect(url_for("accounts.log_in", next=target))
    if who.provisional and request.endpoint not in OWN:
        if machine:
            raise NotAllowedError(REFUSALS["own password"])
        return redirect(url_for("accounts.account"))
    if right not in RIGHTS[who.role]:
        raise NotAllowedError(REFUSALS["not allowed"], name=who.name, role=who.role, right=right)
    if not by_token():
        _touch()
    return None


def _visitor(identity: str) -> Visitor | None:
    """Who a session belongs to, if it is not over."""
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
    """The account whose token a request carries, if it carries a good one."""
    sent = request.authorization
    if sent is None or sent.type != "bearer" or not sent.token:
        return None
    who = Tokens(project().store.accounts, current_app.config["SECRET_KEY"]).account_of(sent.token)
    g.by_token = who is not None
    return Visitor(who) if who else None


def by_token() -> bool:
    """Whether the request is let in by a token, which no page of another host can send, and not by a cookie."""
    return bool(g.get("by_token"))


def _begin(who: Account) -> None:
    """A session anew: nothing of an earlier one in this browser goes on, its token against forgery least of all."""
    session.clear()
    g.pop("csrf_token", None)
    session["since"] = session["seen"] = int(time.time())
    login_user(Visitor(who))


def _touch() -> None:
    now = int(time.time())
    if now - session.get("seen", 0) > min(TOUCHED, project().settings.serve.idle_minutes * 15):
        session["seen"] = now


def _attempts() -> Attempts:
    return cast(Attempts, current_app.extensions["proof-attempts"])
