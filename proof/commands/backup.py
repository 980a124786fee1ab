"""`proof backup`: a whole project as one file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click

from proof.commands.options import config_option, existing_store, is_library, settings_of
from proof.errors import ConfigError, UsageError
from proof.locale.marking import _
from proof.locale.terminal import counted, error_text, say
from proof.settings.config import FILE_NAME, Settings
from proof.settings.material import find_images
from proof.store.backup import backup, next_file, remove_older, verify


@click.command("backup")
@click.argument("file", type=click.Path(path_type=Path))
@config_option
@click.option("--images/--no-images", default=True, help="Whether page images go into it.  [default: they do]")
@click.option("--with-cache", "cache", is_flag=True, help="Also save the readings of the images.")
@click.option("--verify", "verifies", is_flag=True, help="Restore FILE, a backup, into a temporary folder and compare.")
@click.option(
    "--keep",
    type=click.IntRange(1),
    metavar="NUMBER",
    help="FILE is a folder: save into a new file in it, named by the time, and keep the last NUMBER of them.",
)
def command(file: Path, config: Path | None, images: bool, cache: bool, verifies: bool, keep: int | None) -> int:
    """Save the project into FILE: store with all decisions and their journal, settings, texts and images.

    In the folder of a library it saves all works.

    The project may be in use meanwhile; the file holds its state at one moment. Cached readings of images are left out,
    since a check reads them again. With --verify nothing is saved: FILE is restored to a temporary folder and compared,
    and the exit status is 2 if it is damaged. With --keep the command can be run by a timer: an older backup is removed
    only when the new one is complete.
    """
    if verifies and keep:
        raise UsageError(_("--verify checks a backup, --keep makes one: give only one of the two"))
    if verifies:
        restored = verify(file)
        message = _("%(path)s: can be restored completely, %(files)s, %(rows)s rows of the store")
        rows = f"{restored.rows:,}"
        click.echo(say(message, path=restored.path, files=_files(restored.files), rows=rows))
        return 0
    settings = settings_of(config)
    existing_store(settings)
    works = _works_of(settings)
    project = settings.base.absolute().name or "project"
    target = next_file(file, project) if keep else file
    saved = backup(settings, target, works=works, images=images, cache=cache)
    message = _("%(path)s: %(files)s, %(rows)s rows of the store of %(folder)s")
    rows = f"{saved.rows:,}"
    click.echo(say(message, path=saved.path, files=_files(saved.files), rows=rows, folder=settings.base))
    for path in remove_older(file, project, keep) if keep else ():
        click.echo(say(_("removed: %(path)s"), path=path))
    for folder in _folders_left_out([settings, *works], settings.base, images=images):
        message = _("left out, the images of %(folder)s; put them there after proof restore")
        click.echo(say(message, folder=folder), err=True)
    in_repository = _("left out, a repository: %(path)s")
    outside = _("left out, outside the project's folder: %(path)s")
    for path in saved.left_out:
        click.echo(say(in_repository if path.is_dir() else outside, path=path), err=True)
    return 0


def _files(number: int) -> str:
    return counted(number, "%(number)s file", "%(number)s files")


def _works_of(settings: Settings) -> list[Settings]:
    """The settings of the works of a library; empty for a project. A work whose settings are invalid is named and left
    out."""
    if not is_library(settings):
        return []
    from proof.checking.library import folders_of, work_settings  # noqa: PLC0415 - it loads libraries for images

    works = []
    for folder in folders_of(settings):
        try:
            works.append(replace(work_settings(settings, folder), file=folder.path / FILE_NAME))
        except ConfigError as error:
            click.echo(say(_("left out: %(folder)s: %(why)s"), folder=folder.name, why=error_text(error)), err=True)
    return works


def _folders_left_out(named_by: Sequence[Settings], base: Path, *, images: bool) -> Iterator[Path]:
    """The image folders inside the project's folder `base` of which the backup has no image: all if no `images` are
    saved, else the empty ones."""
    for folder in dict.fromkeys(folder for settings in named_by for folder in settings.project.images):
        is_inside = folder.is_relative_to(base) and folder.is_dir()
        if is_inside and not (images and find_images(folder)):
            yield folder
