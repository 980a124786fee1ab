"""The person who makes a request, and their rights: the account that has logged in, or the user of this machine.

A session is a signed cookie with the account, its stamp, and the times of the session's start and last use. It ends
when it has been idle or has lasted too long. Logging out, a new password, or disabling the account changes the stamp,
so that all copies of the cookie become invalid. Programs send a token instead (`proof.web.tokens`).
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
from proof.store.accounts import (
    Account,
    AccountActor,
    AccountChannel,
    ExpiredPasswordError,
    NoAccountError,
    Role,
    new_password,
)
from proof.store.decision_records import RefusedDecisionError
from proof.web.messages import LOGIN_MESSAGES, REFUSALS
from proof.web.project import Project, project
from proof.web.rights import ACCOUNT_ENDPOINTS, RIGHTS, SOLE_USER_RIGHTS, Right, needed_right
from proof.web.tokens import Tokens

TOUCH_SECONDS = 60
"""Minimum age of the time of last use in the cookie before it is written again."""

DATA_PATHS = ("/api/", "/iiif/")
"""Prefixes of paths whose answers are data, also for errors; all other paths are pages."""


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
    """The account of a request, for Flask-Login."""

    account: Account

    def get_id(self) -> str:
        return f"{self.account.number}:{self.account.stamp}"


def current_account() -> Account | None:
    """The account that has logged in; None if nobody has, or if the project has no accounts."""
    if not project().settings.serve.auth:
        return None
    return current_user.account if current_user.is_authenticated else None


def require_account() -> Account:
    """The account that has logged in. Raises LogInFirstError, NoPeopleError."""
    require_accounts()
    account = current_account()
    if account is None:
        raise LogInFirstError(REFUSALS["log in"])
    return account


def person() -> str:
    """The name of the person who makes the request; '' if nobody has logged in."""
    if not project().settings.serve.auth:
        return project().person
    account = current_account()
    return account.name if account else ""


def assignees() -> list[str]:
    """The people to whom a problem can be assigned: those who may decide."""
    if not project().settings.serve.auth:
        return [project().person]
    return [
        account.name
        for account in project().store.accounts.everybody()
        if Right.DECIDE in RIGHTS[account.role] and not account.disabled
    ]


def must_be_assignee(name: str) -> None:
    """Raise RefusedDecisionError unless problems can be assigned to the person `name`."""
    if name not in assignees():
        raise RefusedDecisionError(REFUSALS["assignee"], name=name)


def actor() -> AccountActor:
    """The person who makes the request, for the history of accounts."""
    return AccountActor(person(), AccountChannel.BROWSER)


def rights() -> frozenset[Right]:
    """The rights of the person who makes the request."""
    if not project().settings.serve.auth:
        return SOLE_USER_RIGHTS
    account = current_account()
    return RIGHTS[account.role] if account else frozenset()


def may(right: Right) -> bool:
    """Whether the person who makes the request has that right."""
    return right in rights()


def require_accounts() -> None:
    """Raise NoPeopleError if the project has no accounts."""
    if not project().settings.serve.auth:
        raise NoPeopleError(REFUSALS["no people"])


def log_in(name: str, password: str) -> None:
    """Start a session. Raises WrongPasswordError, ExpiredPasswordError, TooManyAttemptsError."""
    require_accounts()
    attempts = project().attempts
    attempt = attempts.begin(name)
    try:
        account = project().store.accounts.log_in(name, password)
    except ExpiredPasswordError:  # the password was right
        attempts.succeeded(attempt)
        raise
    if account is None:
        current_app.logger.warning("a wrong name or password from %s", request.remote_addr)
        raise WrongPasswordError(LOGIN_MESSAGES["wrong"])
    attempts.succeeded(attempt)
    _begin_session(account)


def add_account(name: str, role: Role) -> tuple[Account, str]:
    """Create an account. Gives it with its password, which its owner must change. Raises AccountError."""
    password = new_password()
    return project().store.accounts.add(name, role, password, provisional=True, by=actor()), password


def reset_password(number: int) -> tuple[Account, str]:
    """Give an account another password, which its owner must change; its sessions end. Raises NoAccountError."""
    password = new_password()
    return project().store.accounts.set_password(number, password, provisional=True, by=actor()), password


def log_out() -> None:
    """End the sessions of the person, in every browser."""
    project().store.accounts.end_sessions(require_account().number)
    logout_user()
    session.clear()
    g.pop("csrf_token", None)


def change_password(current: str, new: str) -> None:
    """Change the person's password; their sessions in other browsers end. Raises WrongPasswordError,
    TooManyAttemptsError, AccountError."""
    account, accounts, attempts = require_account(), project().store.accounts, project().attempts
    attempt = attempts.begin(account.name)
    if not accounts.is_password(account.number, current):
        raise WrongPasswordError(LOGIN_MESSAGES["not yours"])
    attempts.succeeded(attempt)
    _begin_session(accounts.set_password(account.number, new, by=actor()))


def install_account_checks(app: Flask) -> None:
    """If the project has accounts, check the session and the rights before every request."""
    serve = cast(Project, app.extensions["proof"]).settings.serve
    if not serve.auth:
        return
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
    if request.endpoint is None:  # no such address: will be answered with 404
        return None
    right = needed_right(request.endpoint, request.method)
    if right is None:
        return None
    account = current_account()
    wants_data = request.path.startswith(DATA_PATHS)
    if account is None:
        if wants_data:
            raise LogInFirstError(REFUSALS["log in"])
        target = request.full_path.removesuffix("?") if request.method == "GET" else None
        return redirect(url_for("accounts.log_in", next=target))
    if account.provisional and request.endpoint not in ACCOUNT_ENDPOINTS:
        if wants_data:
            raise NotAllowedError(REFUSALS["own password"])
        return redirect(url_for("accounts.account"))
    if right not in RIGHTS[account.role]:
        raise NotAllowedError(REFUSALS["not allowed"], name=account.name, role=account.role, right=right)
    if not by_token():
        _note_last_use()
    return None


def _visitor(identity: str) -> Visitor | None:
    """The owner of a session; None if it has ended. `identity` is that of `Visitor.get_id`."""
    serve, now = project().settings.serve, time.time()
    number, _, stamp = identity.partition(":")
    was_idle = now - session.get("seen", 0) > serve.idle_minutes * 60
    has_expired = now - session.get("since", 0) > serve.session_hours * 3600
    if was_idle or has_expired or not number.isdigit():
        return None
    try:
        account = project().store.accounts.get(int(number))
    except NoAccountError:
        return None
    return None if account.disabled or account.stamp != stamp else Visitor(account)


def _bearer(request: Request) -> Visitor | None:
    """The account of the token in the request; None without a valid token."""
    authorization = request.authorization
    if authorization is None or authorization.type != "bearer" or not authorization.token:
        return None
    account = Tokens(project().store.accounts, current_app.config["SECRET_KEY"]).account_of(authorization.token)
    g.by_token = account is not None
    return Visitor(account) if account else None


def by_token() -> bool:
    """Whether the request is authorised by a token instead of a cookie. Pages of other hosts cannot send a token."""
    return bool(g.get("by_token"))


def _begin_session(account: Account) -> None:
    """Start a new session. Nothing of an earlier session in this browser is kept, not even its CSRF token."""
    session.clear()
    g.pop("csrf_token", None)
    session["since"] = session["seen"] = int(time.time())
    login_user(Visitor(account))


def _note_last_use() -> None:
    """Write the time of last use into the cookie, if the one there is too old. The maximum age is a quarter of the time
    after which idle sessions end."""
    now = int(time.time())
    if now - session.get("seen", 0) > min(TOUCH_SECONDS, project().settings.serve.idle_minutes * 15):
        session["seen"] = now
