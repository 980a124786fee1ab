"""`proof serve`: the proofreader's desk in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from proof.commands.options import config_option, setting_options, settings_of
from proof.config import FILE_NAME, Settings
from proof.errors import UsageError


@click.command("serve")
@config_option
@setting_options(("project.out", "store.url"))
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@click.option("--port", default=8642, show_default=True, type=click.IntRange(0, 65535), help="Port; 0: any free one.")
def command(config: Path | None, given: dict[str, Any], host: str, port: int) -> int:
    """Proofread in the browser what `proof check` flagged.

    Answers until it is interrupted. Nothing of another host is ever asked for.
    """
    from proof.web.app import LOOPBACK, create_app  # noqa: PLC0415 - other commands do without it
    from proof.web.serve import serve  # noqa: PLC0415

    settings = settings_of(config, given=given)
    _must_have_store(settings)
    if host not in ("127.0.0.1", "::1", "localhost"):
        raise UsageError(f"--host {host}: everybody who reaches it could decide; without accounts it serves 127.0.0.1")
    serve(create_app(settings, hosts=LOOPBACK), host, port, lambda address: click.echo(f"proofread at {address}"))
    return 0


def _must_have_store(settings: Settings) -> None:
    address = settings.store_address
    if isinstance(address, Path) and not address.is_file():
        where = f"run in a folder with {FILE_NAME}, or name one with --config or the output folder with --out"
        raise UsageError(f"{address}: there is no store, so nothing was checked here yet; {where}")
