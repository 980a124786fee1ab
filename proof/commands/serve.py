"""`proof serve`: the proofreader's desk in the browser."""

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

EVERYWHERE = ("", "0.0.0.0", "::")  # noqa: S104 - what is asked about when it is given


@click.command("serve")
@config_option
@setting_options(("store.url", "serve.auth", "serve.names", "serve.https", "serve.proxy"))
@library_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@click.option("--port", default=8642, show_default=True, type=click.IntRange(0, 65535), help="Port; 0: any free one.")
@click.option(
    "--log", type=click.Path(path_type=Path), metavar="FILE", help="Access log, a line an answer; -: standard output."
)
def command(
    config: Path | None, given: dict[str, Any], library: Path | None, host: str, port: int, log: Path | None
) -> int:
    """Proofread in the browser what `proof check` flagged.

    Answers until it is interrupted. Nothing of another host is ever asked for. With --auth people log in, each with
    an account; --no-auth says that whoever reaches --host may decide, and take back, anything.
    """
    from proof.checking.library import library_settings  # noqa: PLC0415 - other commands do without it
    from proof.store import Store  # noqa: PLC0415
    from proof.web.access_log import write_access_log  # noqa: PLC0415
    from proof.web.app import create_app  # noqa: PLC0415
    from proof.web.serve import serve  # noqa: PLC0415

    settings = library_settings(library).replace(given) if library else settings_of(config, given=given)
    address = existing_store(settings)
    near = is_loopback(host)
    if not near and not settings.serve.auth and given.get("serve.auth") is not False:
        raise UsageError(
            f"--host {host}: whoever reaches it could decide; give people accounts (--auth), or say that this is "
            "meant (--no-auth)"
        )
    hosts = names(settings, host)
    store = Store.open(address, folder=settings.base)
    if settings.serve.auth and not store.accounts.everybody():
        raise UsageError("nobody has an account yet: make the first, an administrator's, with `proof user add NAME`")
    if not near and settings.serve.auth and not settings.serve.https:
        click.echo("proof: passwords go over the network unencrypted; put https in front (serve.https)", err=True)
    app = create_app(settings, store=store, hosts=hosts)
    if log is not None:
        write_access_log(app, log)
    served = settings.serve
    message = _("proofread at %(url)s\nproject: %(project)s")
    ready = lambda url: click.echo(say(message, url=url, project=_called(settings)))  # noqa: E731
    with suppress(KeyboardInterrupt), _ended_by(signal.SIGTERM):
        serve(app, host, port, ready, proxy=served.proxy, https=served.https)
    return 0


@contextmanager
def _ended_by(number: signal.Signals) -> Iterator[None]:
    """Within the block, handle a signal, as service managers send it, like Ctrl-C, so that everything is closed."""

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(number, end)
    try:
        yield
    finally:
        signal.signal(number, before)


def _called(settings: Settings) -> str:
    """The name of the project in the message at the start: its title and folder."""
    title = settings.project.title
    return f"{title} ({settings.base})" if title else str(settings.base)


def is_loopback(host: str) -> bool:
    """Whether an address is reachable only from this machine."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def names(settings: Settings, host: str) -> list[str]:
    """The host names that a server at `host` answers to. Raises UsageError if it would answer to all names without
    accounts: a page elsewhere could then make decisions through a browser inside the network."""
    from proof.web.app import ANY, LOOPBACK  # noqa: PLC0415

    given = settings.serve.names.split()
    if host not in EVERYWHERE:
        own = f"[{host}]" if ":" in host else host
        return list(dict.fromkeys([*LOOPBACK, own, *given]))
    if given:
        return [*LOOPBACK, *given]
    if not settings.serve.auth:
        raise UsageError(f"--host {host}: name what browsers will call it, such as --names proof.example.org")
    return ANY
