"""`proof restore`: a backup unpacked into a folder."""

from __future__ import annotations

from pathlib import Path

import click

from proof.store.backup import restore


@click.command("restore")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
def command(file: Path, folder: Path) -> int:
    """Unpack the backup FILE into FOLDER, a new or empty one."""
    restored = restore(file, folder)
    click.echo(f"{restored.files:,} files restored; go on with: proof serve --config {folder}")
    return 0
