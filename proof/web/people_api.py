"""The JSON API for sessions, and for accounts, which an administrator manages."""

from __future__ import annotations

from flask import Response
from flask_openapi3.models.tag import Tag
from flask_wtf.csrf import generate_csrf

from proof.store.accounts import Account, AccountEvent
from proof.web import answers, people, schemas
from proof.web.answers import ListOf, PartOf
from proof.web.api import answer, api_blueprint
from proof.web.people import require_accounts
from proof.web.project import project

PEOPLE = Tag(name="people", description="Sessions and accounts")
people_api = api_blueprint("people", PEOPLE)


@people_api.get("/session", responses={200: answers.SessionOut})
def session() -> Response:
    """Get the session: the person, their rights, and the token for requests that change something."""
    return answer(_session())


@people_api.post("/session", responses={200: answers.SessionOut, 429: answers.ProblemOut})
def begin_session(body: schemas.LogInBody) -> Response:
    """Log in."""
    people.log_in(body.name, body.password)
    return answer(_session())


@people_api.delete("/session", responses={200: answers.SessionOut})
def end_session() -> Response:
    """Log out in all browsers."""
    people.log_out()
    return answer(_session())


@people_api.put("/session/password", responses={200: answers.SessionOut, 429: answers.ProblemOut})
def change_password(body: schemas.PasswordBody) -> Response:
    """Change your password.

    Sessions in other browsers end, and tokens of the API become invalid."""
    people.change_password(body.current, body.new)
    return answer(_session())


@people_api.get("/people", responses={200: ListOf[answers.PersonOut]})
def list_people() -> Response:
    """List all accounts."""
    require_accounts()
    return answer(
        ListOf[answers.PersonOut](items=[_person(account) for account in project().store.accounts.everybody()])
    )


@people_api.get("/people/events", responses={200: PartOf[AccountEvent]})
def people_events(query: schemas.Cursor) -> Response:
    """List the changes of accounts, newest first."""
    require_accounts()
    events = project().store.accounts.events(before=query.cursor, limit=query.limit + 1)
    shown = events[: query.limit]
    return answer(PartOf[AccountEvent](items=shown, next=str(shown[-1].id) if len(events) > len(shown) else None))


@people_api.post("/people", responses={201: answers.NewPersonOut})
def add_person(body: schemas.PersonBody) -> Response:
    """Create an account.

    The answer contains the password, which the person must change when they first log in."""
    require_accounts()
    account, password = people.add_account(body.name, body.role)
    return answer(answers.NewPersonOut(person=_person(account), password=password), 201)


@people_api.patch("/people/<int:number>", responses={200: answers.PersonOut})
def change_person(path: schemas.PersonPath, body: schemas.PersonChangeBody) -> Response:
    """Change the role of an account, disable it or enable it."""
    require_accounts()
    accounts = project().store.accounts
    account = accounts.get(path.number)
    if body.role is not None:
        account = accounts.set_role(path.number, body.role, by=people.actor())
    if body.disabled is not None and body.disabled != account.disabled:
        account = accounts.set_disabled(path.number, body.disabled, by=people.actor())
    return answer(_person(account))


@people_api.post("/people/<int:number>/password", responses={200: answers.NewPersonOut})
def reset_password(path: schemas.PersonPath) -> Response:
    """Reset the password of an account.

    The answer contains the new password. All sessions of the account end."""
    require_accounts()
    account, password = people.reset_password(path.number)
    return answer(answers.NewPersonOut(person=_person(account), password=password))


def _session() -> answers.SessionOut:
    account = people.current_account()
    return answers.SessionOut(
        person=people.person(),
        role=account.role if account else None,
        rights=sorted(people.rights()),
        token=generate_csrf(),
    )


def _person(account: Account) -> answers.PersonOut:
    return answers.PersonOut(**{name: getattr(account, name) for name in answers.PersonOut.model_fields})
