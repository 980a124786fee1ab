"""Pages about accounts: log-in and log-out, one's own account, and the administrator's page of all accounts."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlsplit

from flask import Blueprint, redirect, request, url_for
from flask_wtf import FlaskForm
from werkzeug.wrappers import Response
from wtforms import HiddenField, IntegerField, PasswordField, SelectField, StringField
from wtforms.validators import AnyOf, InputRequired, Length, NumberRange, Optional

from proof.store.accounts import (
    LONGEST_NAME,
    LONGEST_PASSWORD,
    SHORTEST_PASSWORD,
    AccountError,
    ExpiredPasswordError,
    Role,
    new_password,
)
from proof.web import people as sessions
from proof.web.attempts import TooManyAttemptsError
from proof.web.error_messages import translated_message
from proof.web.language import say
from proof.web.messages import ACCOUNT_CHANNELS, ACCOUNT_EVENTS, LOGIN_MESSAGES, REFUSALS, ROLES
from proof.web.page_view import render_page
from proof.web.people import WrongPasswordError
from proof.web.project import project

MAX_EVENTS = 50
"""Maximum number of changes of accounts that the page lists at once."""

accounts = Blueprint("accounts", __name__)


class LogInForm(FlaskForm):  # type: ignore[misc]
    name = StringField(validators=[InputRequired(), Length(max=4 * LONGEST_NAME)])
    password = PasswordField(validators=[InputRequired(), Length(max=LONGEST_PASSWORD)])


class PasswordForm(FlaskForm):  # type: ignore[misc]
    current = PasswordField(validators=[InputRequired(), Length(max=LONGEST_PASSWORD)])
    new = PasswordField(validators=[InputRequired()])
    again = PasswordField(validators=[InputRequired()])


class AddForm(FlaskForm):  # type: ignore[misc]
    name = StringField(validators=[InputRequired()])
    role = SelectField(choices=list(Role))


class ChangeForm(FlaskForm):  # type: ignore[misc]
    number = IntegerField(validators=[InputRequired(), NumberRange(1, 2**31 - 1)])
    role = SelectField(choices=list(Role), validators=[Optional()], validate_choice=True)
    act = HiddenField(validators=[AnyOf(["role", "disable", "enable", "password"])])


@accounts.route("/login", methods=["GET", "POST"])
def log_in() -> Response:
    """Ask for name and password, then redirect to the requested page."""
    sessions.require_accounts()
    target = _local_address(request.args.get("next", ""))
    form, problem, status = LogInForm(), "", 200
    if request.method == "GET" and sessions.current_account():
        return redirect(target)
    if form.validate_on_submit():
        try:
            sessions.log_in(form.name.data, form.password.data)
            return redirect(target)
        except (WrongPasswordError, ExpiredPasswordError, TooManyAttemptsError) as error:
            problem, status = translated_message(error), error.http_status
    elif request.method == "POST":
        problem, status = say(LOGIN_MESSAGES["wrong"]), WrongPasswordError.http_status
    return render_page("login.html", None, status, form=form, problem=problem)


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
    form, problem, status, done = PasswordForm(), "", 200, False
    if form.validate_on_submit():
        try:
            if form.new.data != form.again.data:
                raise AccountError(LOGIN_MESSAGES["differ"])
            sessions.change_password(form.current.data, form.new.data)
            done = True
        except WrongPasswordError as error:
            problem, status = translated_message(error), 422
        except (AccountError, TooManyAttemptsError) as error:
            problem, status = translated_message(error), error.http_status
    elif request.method == "POST":
        problem, status = say(REFUSALS["form"]), AccountError.http_status
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


class _Credentials(NamedTuple):
    """The name of an account and its provisional password."""

    name: str
    password: str


def _apply_form() -> _Credentials | None:
    """Add or change an account according to the form. Returns its credentials if a password was set. Raises
    AccountError, NoAccountError."""
    store, add, change = project().store.accounts, AddForm(), ChangeForm()
    if change.act.data:
        return _change_account(change)
    if not add.validate():
        raise AccountError(REFUSALS["new account"])
    password = new_password()
    account = store.add(add.name.data, Role(add.role.data), password, provisional=True, by=sessions.actor())
    return _Credentials(account.name, password)


def _change_account(form: ChangeForm) -> _Credentials | None:
    store, act = project().store.accounts, form.act.data
    if not form.validate() or (act == "role" and not form.role.data):
        raise AccountError(REFUSALS["form"])
    number = form.number.data
    if act == "role":
        store.set_role(number, Role(form.role.data), by=sessions.actor())
    elif act == "password":
        password = new_password()
        account = store.set_password(number, password, provisional=True, by=sessions.actor())
        return _Credentials(account.name, password)
    else:
        store.set_disabled(number, act == "disable", by=sessions.actor())
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
