"""Pages about accounts: logging in and out, one's own account, and the administrator's page of all accounts."""

from __future__ import annotations

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
from proof.web import people as who
from proof.web.attempts import TooManyAttemptsError
from proof.web.error_messages import translated_message
from proof.web.language import say
from proof.web.messages import DEEDS, PEOPLE, REFUSALS, ROLES, WAYS
from proof.web.page_view import sheet
from proof.web.people import WrongPasswordError
from proof.web.project import project

MAX_EVENTS = 50
"""Changes of accounts that the page lists at once."""

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
    who.must_have_people()
    target = _local(request.args.get("next", ""))
    form, problem, status = LogInForm(), "", 200
    if request.method == "GET" and who.account():
        return redirect(target)
    if form.validate_on_submit():
        try:
            who.log_in(form.name.data, form.password.data)
            return redirect(target)
        except (WrongPasswordError, ExpiredPasswordError, TooManyAttemptsError) as error:
            problem, status = translated_message(error), error.http_status
    elif request.method == "POST":
        problem, status = say(PEOPLE["wrong"]), WrongPasswordError.http_status
    return sheet("login.html", None, status, form=form, problem=problem)


@accounts.post("/logout")
def log_out() -> Response:
    """End one's sessions, in every browser."""
    who.log_out()
    response = redirect(url_for("accounts.log_in"))
    # not "storage": decisions that wait in the browser to be sent belong to their author and would be lost
    response.headers["Clear-Site-Data"] = '"cache"'
    return response


@accounts.route("/account", methods=["GET", "POST"])
def account() -> Response:
    """One's own account: change the password, log out."""
    who.myself()
    form, problem, status, done = PasswordForm(), "", 200, False
    if form.validate_on_submit():
        try:
            if form.new.data != form.again.data:
                raise AccountError(PEOPLE["differ"])
            who.change_password(form.current.data, form.new.data)
            done = True
        except WrongPasswordError as error:
            problem, status = translated_message(error), 422
        except (AccountError, TooManyAttemptsError) as error:
            problem, status = translated_message(error), error.http_status
    elif request.method == "POST":
        problem, status = say(REFUSALS["form"]), AccountError.http_status
    return sheet("account.html", None, status, problem=problem, done=done, shortest=SHORTEST_PASSWORD, roles=_roles())


@accounts.route("/people", methods=["GET", "POST"])
def people() -> Response:
    """All accounts: add one, change a role, disable and enable, set a provisional password."""
    who.must_have_people()
    problem, handed, status = "", None, 200
    if request.method == "POST":
        try:
            handed = _apply_form()
            if handed is None:
                return redirect(url_for("accounts.people"))
        except AccountError as error:
            problem, status = translated_message(error), error.http_status
    store, before = project().store.accounts, request.args.get("before", type=int)
    events = store.events(before=before, limit=MAX_EVENTS + 1)
    return sheet(
        "people.html",
        None,
        status,
        people=store.everybody(),
        problem=problem,
        handed=handed,
        roles=_roles(),
        events=events[:MAX_EVENTS],
        earlier=events[MAX_EVENTS - 1].id if len(events) > MAX_EVENTS else None,
        deeds={deed: say(message) for deed, message in DEEDS.items()},
        ways={way: say(message) for way, message in WAYS.items()},
    )


def _apply_form() -> tuple[str, str] | None:
    """Add or change an account as the sent form says. Gives the name of the account and its provisional password if one
    was made. Raises AccountError, NoAccountError."""
    store, add, change = project().store.accounts, AddForm(), ChangeForm()
    if change.act.data:
        if not change.validate() or (change.act.data == "role" and not change.role.data):
            raise AccountError(REFUSALS["form"])
        number = change.number.data
        match change.act.data:
            case "role":
                store.set_role(number, Role(change.role.data), by=who.by())
            case "password":
                password = new_password()
                return store.set_password(number, password, provisional=True, by=who.by()).name, password
            case act:
                store.set_disabled(number, act == "disable", by=who.by())
        return None
    if not add.validate():
        raise AccountError(REFUSALS["new account"])
    password = new_password()
    new = store.add(add.name.data, Role(add.role.data), password, provisional=True, by=who.by())
    return new.name, password


def _roles() -> dict[str, str]:
    return {role: say(message) for role, message in ROLES.items()}


def _local(target: str) -> str:
    """The address `target` to go to after logging in; the list of works if it is not one of this server."""
    home = url_for("pages.home")
    if any(char <= " " or char == "\\" for char in target) or not target.startswith("/") or target.startswith("//"):
        return home
    try:
        parts = urlsplit(target)
    except ValueError:
        return home
    return home if parts.scheme or parts.netloc else target
