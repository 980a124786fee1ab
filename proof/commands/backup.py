"""`proof backup`: a whole project as one file."""

from __future__ import annotations

from pathlib import Path

import click

from proof.commands.options import config_option, settings_of
from proof.store.backup import backup


@click.command("backup")
@click.argument("file", type=click.Path(path_type=Path))
@config_option
@click.option("--images/--no-images", default=True, help="Whether page images go into it.  [default: they do]")
def command(file: Path, config: Path | None, images: bool) -> int:
    """Save the project into FILE: store with all decisions, settings, texts and images.

    It may be worked on meanwhile; the file holds one moment of it.
    """
    saved = backup(settings_of(config), file, images=images)
    click.echo(f"{saved.path}: {saved.files:,} files, {saved.rows:,} rows of the store")
    for path in saved.left_out:
        click.echo(f"not in it, outside the project's folder: {path}", err=True)
    return 0
