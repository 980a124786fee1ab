"""`proof init`: makes a folder with texts and images a project."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from proof.commands.options import config_words, setting_options
from proof.errors import UsageError
from proof.locale.marking import LINES, Sentence, _, joined
from proof.locale.terminal import say
from proof.settings.config import FILE_NAME, Settings
from proof.settings.material import find_images, find_texts, unreadable_texts
from proof.settings.new_project import PROJECT_SETTINGS, write_project


@click.command("init")
@click.argument("folder", default=Path(), type=click.Path(path_type=Path, file_okay=False))
@setting_options(PROJECT_SETTINGS)
def command(folder: Path, given: dict[str, Any]) -> int:
    """Make FOLDER a project: write a config.toml that names its texts and images.

    FOLDER is by default the working folder. Without --texts the project has every text in FOLDER in one of the formats;
    without --images, every folder in it with images. The store and the reports are written to FOLDER, wherever texts
    and images are; nothing else in it is changed.
    """
    settings = Settings.of_folder(folder)
    file = settings.file
    assert file is not None, "a folder gives its settings a file"
    if file.exists():
        raise UsageError(_("%(file)s exists already: edit it, or name another folder"), file=file)
    settings = project_settings(folder, given)
    write_project(settings, given_with_images(given, settings))
    click.echo(f"{file}")
    click.echo(say(_("texts: %(paths)s"), paths=_listed(settings.project.texts, folder)))
    if "project.texts" not in given:
        for error in unreadable_texts(folder.absolute(), settings.project.texts):
            click.echo(say(_("left out: %(what)s"), what=error.sentence), err=True)
    click.echo(say(_("images: %(paths)s"), paths=_listed(settings.project.images, folder)))
    click.echo(say(_("next: %(command)s"), command=f"proof check{config_words(folder)}"))
    return 0


def project_settings(folder: Path, given: Mapping[str, Any]) -> Settings:
    """The settings of a new project in a folder: those that are `given`; without given texts or images, those in the
    folder. Raises UsageError if there is no text, ConfigError if a given text does not exist."""
    material = {name: value for name, value in _material(folder, given).items() if value}
    if not material.get("project.texts"):
        no_text = _("%(folder)s: contains no text in a known format; name texts with --texts")
        reasons = unreadable_texts(folder.absolute(), ()) if folder.is_dir() else []
        raise UsageError(joined([Sentence(no_text, folder=folder), *reasons], LINES))
    settings = Settings.of_folder(folder).replace({**given, **material})
    settings.text_files()  # raises if a text does not exist
    return settings


def given_with_images(given: Iterable[str], settings: Settings) -> list[str]:
    """The names of the settings that a new project keeps: those that were given, and project.images if the project has
    any, even if they were found in the folder."""
    return [*given, *(["project.images"] if settings.project.images else [])]


def _material(folder: Path, given: Mapping[str, Any]) -> dict[str, tuple[Path, ...]]:
    """Texts and image folders, by the names of their settings: those that were given, else those in the folder. Raises
    UsageError if the folder does not exist and no texts were given."""
    base = folder.absolute()
    if not base.is_dir() and "project.texts" not in given:
        raise UsageError(
            _("%(folder)s: there is no such folder; name one with texts, or name these with --texts"), folder=folder
        )
    texts = given.get("project.texts") or find_texts(base)
    images = given.get("project.images") or (find_images(base) if base.is_dir() else ())
    return {"project.texts": tuple(texts), "project.images": tuple(images)}


def _listed(paths: tuple[Path, ...], folder: Path) -> str:
    """The paths, separated by commas; those inside the folder are relative to it."""
    base = folder.absolute()
    names = [str(path.relative_to(base)) if path.is_relative_to(base) else str(path) for path in paths]
    return ", ".join(names) or f"none; name folders under project.images in {FILE_NAME}"
