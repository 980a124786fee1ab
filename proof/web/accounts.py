"""Pages about accounts: log-in and log-out, one's own account, and the administrator's page of all accounts."""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlsplit

from flask import Blueprint, redirect, request, url_for
from pydantic import BaseModel, Field
from werkzeug.wrappers import Response

from proof.store.accounts import (
    LONGEST_PASSWORD,
    SHORTEST_PASSWORD,
    Account,
    AccountError,
    ExpiredPasswordError,
    Role,
)
from proof.web import people as sessions
from proof.web import schemas
from proof.web.attempts import TooManyAttemptsError
from proof.web.language import say, translated_message
from proof.web.messages import ACCOUNT_CHANNELS, ACCOUNT_EVENTS, LOGIN_MESSAGES, REFUSALS, ROLES
from proof.web.page_view import render_page
from proof.web.people import WrongPasswordError
from proof.web.problems import form_of
from proof.web.project import project

MAX_EVENTS = 50
"""Maximum number of changes of accounts that the page lists at once."""

accounts = Blueprint("accounts", __name__)


class PasswordForm(BaseModel):
    current: str = Field(max_length=LONGEST_PASSWORD)
    new: str
    again: str


class ChangeForm(schemas.PersonPath):
    act: Literal["role", "disable", "enable", "password"]
    role: Role | None = None


@accounts.route("/login", methods=["GET", "POST"])
def log_in() -> Response:
    """Ask for name and password, then redirect to the requested page."""
    sessions.require_accounts()
    target = _local_address(request.args.get("next", ""))
    problem, status = "", 200
    if request.method == "GET" and sessions.current_account():
        return redirect(target)
    if request.method == "POST":
        try:
            form = form_of(schemas.LogInBody, request.form, WrongPasswordError(LOGIN_MESSAGES["wrong"]))
            sessions.log_in(form.name, form.password)
            return redirect(target)
        except (WrongPasswordError, ExpiredPasswordError, TooManyAttemptsError) as error:
            problem, status = translated_message(error), error.http_status
    return render_page("login.html", None, status, name=request.form.get("name", ""), problem=problem)


@accounts.post("/logout")
def log_out() -> Response:
    """End one's sessions, in every browser."""
    sessions.log_out()
    response = redirect(url_for("accounts.log_in"))
    # not "storage", which would lose decisions that were not sent yet
    response.headers["Clear-Site-Data"] = '"cache"'
    return response


@accounts.route("/account", methods=["GET", "POST"])
def account() -> Response:
    """One's own account: change the password, log out."""
    sessions.require_account()
    problem, status, done = "", 200, False
    if request.method == "POST":
        try:
            form = form_of(PasswordForm, request.form, AccountError(REFUSALS["form"]))
            if form.new != form.again:
                raise AccountError(LOGIN_MESSAGES["differ"])
            sessions.change_password(form.current, form.new)
            done = True
        except WrongPasswordError as error:
            problem, status = translated_message(error), 422
        except (AccountError, TooManyAttemptsError) as error:
            problem, status = translated_message(error), error.http_status
    return render_page(
        "account.html", None, status, problem=problem, done=done, shortest=SHORTEST_PASSWORD, roles=_roles()
    )


@accounts.route("/people", methods=["GET", "POST"])
def people() -> Response:
    """All accounts: add one, change a role, disable and enable, set a provisional password."""
    sessions.require_accounts()
    problem, credentials, status = "", None, 200
    if request.method == "POST":
        try:
            credentials = _apply_form()
            if credentials is None:
                return redirect(url_for("accounts.people"))
        except AccountError as error:
            problem, status = translated_message(error), error.http_status
    store, before = project().store.accounts, request.args.get("before", type=int)
    events = store.events(before=before, limit=MAX_EVENTS + 1)
    return render_page(
        "people.html",
        None,
        status,
        people=store.everybody(),
        problem=problem,
        handed=credentials,
        roles=_roles(),
        events=events[:MAX_EVENTS],
        earlier=events[MAX_EVENTS - 1].id if len(events) > MAX_EVENTS else None,
        changes={change: say(message) for change, message in ACCOUNT_EVENTS.items()},
        channels={channel: say(message) for channel, message in ACCOUNT_CHANNELS.items()},
    )


def _apply_form() -> tuple[Account, str] | None:
    """Add or change an account according to the form. Returns it with its password if that was set. Raises
    AccountError, NoAccountError."""
    if request.form.get("act"):
        return _change_account()
    form = form_of(schemas.PersonBody, request.form, AccountError(REFUSALS["new account"]))
    return sessions.add_account(form.name, form.role)


def _change_account() -> tuple[Account, str] | None:
    store, incomplete = project().store.accounts, AccountError(REFUSALS["form"])
    form = form_of(ChangeForm, request.form, incomplete)
    if form.act == "role":
        if form.role is None:
            raise incomplete
        store.set_role(form.number, form.role, by=sessions.actor())
    elif form.act == "password":
        return sessions.reset_password(form.number)
    else:
        store.set_disabled(form.number, form.act == "disable", by=sessions.actor())
    return None


def _roles() -> dict[str, str]:
    return {role: say(message) for role, message in ROLES.items()}


def _local_address(target: str) -> str:
    """The address `target` if it is on this server, else that of the list of works: a redirect after logging in must
    not lead to another server."""
    home = url_for("pages.home")
    is_path = target.startswith("/") and not target.startswith("//")
    if not is_path or any(char <= " " or char == "\\" for char in target):
        return home
    try:
        parts = urlsplit(target)
    except ValueError:
        return home
    return home if parts.scheme or parts.netloc else target
