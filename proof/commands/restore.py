"""`proof restore`: unpacks a backup into a folder."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

import click

from proof.commands.options import config_words, is_library
from proof.locale.marking import _
from proof.locale.terminal import counted, say
from proof.settings.config import Settings
from proof.store.backup import restore
from proof.store.database import name_of, store_url


@click.command("restore")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--store", default="", metavar="URL", help="Empty database to fill.  [default: a file in FOLDER]")
def command(file: Path, folder: Path, store: str) -> int:
    """Unpack the backup FILE into FOLDER, a new or empty one.

    Nothing else is changed. If the project had its store at another address, repeat that address with --store. A
    relative path in it counts from FOLDER.
    """
    restored = restore(file, folder, store=store)
    if restored.unused:
        shown = name_of(store_url(restored.unused))
        message = _("the database of the backup, %(store)s, was not filled; to fill one, name it with --store")
        click.echo(say(message, store=shown), err=True)
    click.echo(counted(restored.files, "%(number)s file restored", "%(number)s files restored"))
    words = f" --library {quote(str(folder))}" if is_library(Settings.of_folder(folder)) else config_words(folder)
    click.echo(say(_("next: %(command)s"), command=f"proof serve{words}"))
    return 0
