"""`proof serve`: serves the proofreader's desk for the browser."""

from __future__ import annotations

import ipaddress
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click

from proof.commands.options import config_option, existing_store, library_option, setting_options, settings_of
from proof.errors import UsageError
from proof.locale.marking import _
from proof.locale.terminal import say
from proof.settings.config import Settings

EVERYWHERE = ("", "0.0.0.0", "::")  # noqa: S104 - without accounts, only with a confirmation
"""Values of --host that mean every address of this machine."""


@click.command("serve")
@config_option
@setting_options(("store.url", "serve.auth", "serve.names", "serve.https", "serve.proxy"))
@library_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@click.option("--port", default=8642, show_default=True, type=click.IntRange(0, 65535), help="Port; 0: any free one.")
@click.option(
    "--log",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Access log, one line for each answer; -: standard output.",
)
def command(
    config: Path | None, given: dict[str, Any], library: Path | None, host: str, port: int, log: Path | None
) -> int:
    """Proofread in the browser what `proof check` flagged.

    Runs until it is interrupted. Its pages load nothing from other hosts. With --auth everybody logs in with an
    account; with --no-auth anybody who reaches --host may make and undo any decision.
    """
    from proof.checking.library import library_settings  # noqa: PLC0415 - other commands do not need it
    from proof.store import Store  # noqa: PLC0415
    from proof.web.access_log import write_access_log  # noqa: PLC0415
    from proof.web.app import create_app  # noqa: PLC0415
    from proof.web.serve import serve  # noqa: PLC0415

    settings = library_settings(library).replace(given) if library else settings_of(config, given=given)
    address = existing_store(settings)
    is_local = is_loopback(host)
    if not is_local and not settings.serve.auth and given.get("serve.auth") is not False:
        raise UsageError(
            _(
                "--host %(host)s: whoever reaches it could decide; give people accounts (--auth), or "
                "say that this is meant (--no-auth)"
            ),
            host=host,
        )
    hosts = names(settings, host)
    store = Store.open(address, folder=settings.base)
    if settings.serve.auth and not store.accounts.everybody():
        raise UsageError(
            _("there are no accounts yet: make the first one, an administrator's, with `proof user add NAME`")
        )
    if not is_local and settings.serve.auth and not settings.serve.https:
        warning = say(_("passwords go over the network unencrypted; put https in front (serve.https)"))
        click.echo(f"proof: {warning}", err=True)
    app = create_app(settings, store=store, hosts=hosts)
    if log is not None:
        write_access_log(app, log)
    message = _("proofread at %(url)s\nproject: %(project)s")

    def print_address(url: str) -> None:
        click.echo(say(message, url=url, project=_title_and_folder(settings)))

    with suppress(KeyboardInterrupt), _interrupted_by(signal.SIGTERM):
        serve(app, host, port, print_address, proxy=settings.serve.proxy, https=settings.serve.https)
    return 0


@contextmanager
def _interrupted_by(number: signal.Signals) -> Iterator[None]:
    """Within the block the signal, which service managers send, has the effect of Ctrl-C, so that everything is
    closed."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    previous_handler = signal.signal(number, interrupt)
    try:
        yield
    finally:
        signal.signal(number, previous_handler)


def _title_and_folder(settings: Settings) -> str:
    """The title of the project, if it has one, and its folder."""
    title = settings.project.title
    return f"{title} ({settings.base})" if title else str(settings.base)


def is_loopback(host: str) -> bool:
    """Whether `host`, a name or an address, is reachable only from this machine."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def names(settings: Settings, host: str) -> list[str]:
    """The host names that a server at `host` answers to. Raises UsageError if it would answer to every name without
    accounts: a page of another site could then make decisions through a browser inside the network."""
    from proof.web.app import ANY, LOOPBACK  # noqa: PLC0415

    given = settings.serve.names.split()
    if host not in EVERYWHERE:
        name = f"[{host}]" if ":" in host else host  # in URLs an IPv6 address is in brackets
        return list(dict.fromkeys([*LOOPBACK, name, *given]))
    if given:
        return [*LOOPBACK, *given]
    if not settings.serve.auth:
        raise UsageError(
            _("--host %(host)s: give the host names that browsers will use, such as --names proof.example.org"),
            host=host,
        )
    return ANY
