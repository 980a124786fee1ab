"""`proof user`: the accounts of the people who proofread with `proof serve --auth`."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from proof.commands.options import config_option, setting_options, settings_of
from proof.errors import UsageError
from proof.settings.config import FILE_NAME
from proof.store import Store
from proof.store.accounts import AccountChannel, Accounts, By, Role

PLACE = ("project.out", "store.url")
ROLE = click.Choice([role.value for role in Role])


@click.group("user")
def command() -> None:
    """Accounts of the people who proofread with `proof serve --auth`.

    A reader sees; a proofreader decides and takes back their own; an administrator takes back anything, sets rules
    and manages people. Nobody is deleted, since decisions bear their names: an account is disabled.
    """


@command.command("add")
@click.argument("name")
@click.option("--role", type=ROLE, help="What they may do. [default: proofreader; the first: administrator]")
@config_option
@setting_options(PLACE)
def add(config: Path | None, given: dict[str, Any], name: str, role: str | None) -> int:
    """Make an account. The password is asked for, or read as a line of standard input."""
    with _accounts(config, given) as accounts:
        first = not accounts.everybody()
        meant = Role(role) if role else Role.ADMINISTRATOR if first else Role.PROOFREADER
        made = accounts.add(name, meant, _password(), by=_by())
        click.echo(f"{made.name}: {made.role}")
    return 0


@command.command("list")
@config_option
@setting_options(PLACE)
def everybody(config: Path | None, given: dict[str, Any]) -> int:
    """Print every account: name, role, whether it is disabled, the last log-in; with tabs between."""
    with _accounts(config, given) as accounts:
        for one in accounts.everybody():
            seen = one.seen.isoformat(timespec="seconds") if one.seen else "never"
            click.echo("\t".join((one.name, one.role, "disabled" if one.disabled else "", seen)))
    return 0


@command.command("password")
@click.argument("name")
@config_option
@setting_options(PLACE)
def password(config: Path | None, given: dict[str, Any], name: str) -> int:
    """Give an account another password, asked for or read from standard input; its sessions end."""
    with _accounts(config, given) as accounts:
        accounts.set_password(accounts.named(name).number, _password(), by=_by())
    return 0


@command.command("role")
@click.argument("name")
@click.argument("role", type=ROLE)
@config_option
@setting_options(PLACE)
def change_role(config: Path | None, given: dict[str, Any], name: str, role: str) -> int:
    """Give an account another role."""
    with _accounts(config, given) as accounts:
        accounts.set_role(accounts.named(name).number, Role(role), by=_by())
    return 0


@command.command("disable")
@click.argument("name")
@config_option
@setting_options(PLACE)
def disable(config: Path | None, given: dict[str, Any], name: str) -> int:
    """Shut an account: nobody logs in with it, and its sessions end."""
    with _accounts(config, given) as accounts:
        accounts.set_disabled(accounts.named(name).number, True, by=_by())
    return 0


@command.command("enable")
@click.argument("name")
@config_option
@setting_options(PLACE)
def enable(config: Path | None, given: dict[str, Any], name: str) -> int:
    """Open an account that was shut."""
    with _accounts(config, given) as accounts:
        accounts.set_disabled(accounts.named(name).number, False, by=_by())
    return 0


@command.command("log")
@click.option("-n", "--last", type=click.IntRange(1), default=50, show_default=True, help="How many to print.")
@config_option
@setting_options(PLACE)
def log(config: Path | None, given: dict[str, Any], last: int) -> int:
    """Print what was done to accounts, newest first: when, whose, what, from what to what, by whom, and whether in the
    browser or at the command line; with tabs between."""
    with _accounts(config, given) as accounts:
        for one in accounts.events(limit=last):
            when = one.at.isoformat(timespec="seconds")
            change = f"{one.was} → {one.now}" if one.was else one.now
            click.echo("\t".join((when, one.name, one.deed, change, one.person, one.way)))
    return 0


def _by() -> By:
    """The user of this machine, as it knows them."""
    try:
        return By(getpass.getuser(), AccountChannel.COMMAND)
    except (KeyError, OSError):  # a machine without a list of its users
        return By("", AccountChannel.COMMAND)


@contextmanager
def _accounts(config: Path | None, given: dict[str, Any]) -> Iterator[Accounts]:
    """The accounts of a project; outside of one only of a store that is there."""
    settings = settings_of(config, given=given)
    address = settings.store_address
    if settings.folder is None and isinstance(address, Path) and not address.is_file():
        where = f"run in a folder with {FILE_NAME}, or name one with --config or the output folder with --out"
        raise UsageError(f"{address}: there is no store that could keep accounts; {where}")
    with Store.open(address) as store:
        yield store.accounts


def _password() -> str:
    if sys.stdin.isatty():
        said: str = click.prompt("Password", hide_input=True, confirmation_prompt=True)
        return said
    line = sys.stdin.readline()
    if not line.strip():
        raise UsageError("give the password as a line of standard input, or run it in a terminal to be asked")
    return line.rstrip("\r\n")
