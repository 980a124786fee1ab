"""`proof user`: manages the accounts of the people who proofread with `proof serve --auth`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import click

from proof.commands.options import config_option, existing_store, setting_options, settings_of
from proof.errors import UsageError
from proof.locale.marking import _
from proof.paths import user_name
from proof.store import Store
from proof.store.accounts import AccountActor, AccountChannel, Accounts, Role

ROLE = click.Choice([role.value for role in Role])


@contextmanager
def _accounts(config: Path | None, given: dict[str, Any]) -> Iterator[Accounts]:
    """The accounts of a project, whose store is created if it is missing; outside of a project the store must exist."""
    settings = settings_of(config, given=given)
    is_project = settings.file is not None and settings.file.exists() and not given
    with Store.open(settings.store_address if is_project else existing_store(settings)) as store:
        yield store.accounts


def of_accounts(command: Callable[..., None]) -> Callable[..., int]:
    """Decorates a command: it gets the accounts of the project that its options name."""

    @config_option
    @setting_options(("store.url",))
    @wraps(command)
    def with_accounts(config: Path | None, given: dict[str, Any], **params: Any) -> int:
        with _accounts(config, given) as accounts:
            command(accounts, **params)
        return 0

    decorated: Callable[..., int] = with_accounts
    return decorated


@click.group("user")
def command() -> None:
    """Accounts of the people who proofread with `proof serve --auth`.

    A reader sees the project. A proofreader decides, and undoes their own decisions. An administrator also undoes those
    of others, makes rules and manages accounts. Accounts are never deleted, since decisions bear their names; they are
    disabled.
    """


@command.command("add")
@click.argument("name")
@click.option("--role", type=ROLE, help="Role of the account. [default: proofreader; the first: administrator]")
@of_accounts
def add(accounts: Accounts, name: str, role: str | None) -> None:
    """Create an account. The password is asked for, or read from standard input."""
    default = Role.PROOFREADER if accounts.everybody() else Role.ADMINISTRATOR
    account = accounts.add(name, Role(role) if role else default, _password(), by=_actor())
    click.echo(f"{account.name}: {account.role}")


@command.command("list")
@of_accounts
def everybody(accounts: Accounts) -> None:
    """List the accounts: name, role, whether it is disabled, and the last log-in, separated by tabs."""
    for account in accounts.everybody():
        seen = account.seen.isoformat(timespec="seconds") if account.seen else "never"
        click.echo("\t".join((account.name, account.role, "disabled" if account.disabled else "", seen)))


@command.command("password")
@click.argument("name")
@of_accounts
def password(accounts: Accounts, name: str) -> None:
    """Change the password of an account. It is asked for, or read from standard input; all its sessions end."""
    accounts.set_password(accounts.named(name).number, _password(), by=_actor())


@command.command("role")
@click.argument("name")
@click.argument("role", type=ROLE)
@of_accounts
def change_role(accounts: Accounts, name: str, role: str) -> None:
    """Change the role of an account."""
    accounts.set_role(accounts.named(name).number, Role(role), by=_actor())


@command.command("disable")
@click.argument("name")
@of_accounts
def disable(accounts: Accounts, name: str) -> None:
    """Disable an account: nobody can log in with it, and its sessions end."""
    accounts.set_disabled(accounts.named(name).number, True, by=_actor())


@command.command("enable")
@click.argument("name")
@of_accounts
def enable(accounts: Accounts, name: str) -> None:
    """Enable a disabled account."""
    accounts.set_disabled(accounts.named(name).number, False, by=_actor())


@command.command("token")
@click.argument("name")
@click.option(
    "--days", type=click.IntRange(1, 3650), default=365, show_default=True, help="Days for which the token is valid."
)
@click.option("--revoke", is_flag=True, help="Make all tokens of the account invalid instead.")
@config_option
@setting_options(("store.url",))
def token(name: str, days: int, revoke: bool, config: Path | None, given: dict[str, Any]) -> int:
    """Print a token with which a program uses the API as this account: `Authorization: Bearer TOKEN`.

    The token becomes invalid after --days, when the account gets another password or is disabled, or with --revoke.
    """
    from proof.web.project import secret_of  # noqa: PLC0415 - other commands do not need the web
    from proof.web.tokens import Tokens  # noqa: PLC0415

    with _accounts(config, given) as accounts:
        number = accounts.named(name).number
        if revoke:
            accounts.revoke_tokens(number, by=_actor())
        else:
            secret = secret_of(settings_of(config, given=given))
            click.echo(Tokens(accounts, secret).make(accounts.allow_token(number, by=_actor()), days))
    return 0


@command.command("log")
@click.option("-n", "--last", type=click.IntRange(1), default=50, show_default=True, help="Number of changes to list.")
@of_accounts
def log(accounts: Accounts, last: int) -> None:
    """List the changes of accounts, newest first: time, account, kind of change, old and new value, person, and whether
    it was made in the browser or on the command line; separated by tabs."""
    for event in accounts.events(limit=last):
        when = event.at.isoformat(timespec="seconds")
        values = f"{event.was} → {event.now}" if event.was else event.now
        click.echo("\t".join((when, event.name, event.change, values, event.person, event.channel)))


def _actor() -> AccountActor:
    """The person who runs the command."""
    return AccountActor(user_name(), AccountChannel.COMMAND)


def _password() -> str:
    """The password, asked for on a terminal, else read from standard input. Raises UsageError if it is empty."""
    if sys.stdin.isatty():
        password: str = click.prompt("Password", hide_input=True, confirmation_prompt=True)
        return password
    line = sys.stdin.readline()
    if not line.strip():
        raise UsageError(_("give the password as a line of standard input, or run it in a terminal to be asked"))
    return line.rstrip("\r\n")
