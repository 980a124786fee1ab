"""`proof check`: checks transcriptions against page images."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click

from proof.atomic import ensure_writable
from proof.checking.library import check_library, library_settings
from proof.checking.pipeline import check, read_texts
from proof.checking.plan import image_lists
from proof.commands.options import (
    CHECKING,
    config_option,
    library_option,
    must_be_checkable,
    quiet_option,
    setting_options,
    settings_of,
)
from proof.commands.outcome import counts_in_words, print_counts, print_flagged, print_trouble
from proof.commands.progress import CheckProgress
from proof.commands.remarks import verbose_option
from proof.errors import ConfigError, EngineError, TextError, UsageError
from proof.images.find import ImageIndex
from proof.locale.marking import AND, _, joined
from proof.locale.terminal import say, sentence, terminal_language
from proof.settings.config import Settings
from proof.settings.new_project import add_to_project, write_project
from proof.settings.project import names_all, texts_of_project
from proof.store import Store
from proof.text.transcription import Transcription

EXIT_SOUND = 0
EXIT_TROUBLED = 1


@click.command("check")
@click.argument("texts", nargs=-1, metavar="[TEXT]...", type=click.Path(path_type=Path))
@config_option
@setting_options(CHECKING)
@library_option
@click.option(
    "--show", type=click.IntRange(0), metavar="NUMBER", default=20, show_default=True, help="Flagged places to print."
)
@quiet_option
@verbose_option
def command(
    texts: tuple[Path, ...],
    config: Path | None,
    library: Path | None,
    given: dict[str, Any],
    show: int,
    quiet: bool,
    verbose: bool,
) -> int:
    """Check transcriptions against images of their pages.

    Writes flags.jsonl, flags.csv, summary.json and report.html into the folder out of the project, or into --out.
    Without TEXT all texts of the project in the working folder are checked. A TEXT that no project names is added to
    the project in its folder, which is created if there is none. Pages whose image, text, engine and settings are
    unchanged are not read again; an interrupted check continues where it stopped. With --library every work in a folder
    of works is checked, into one store; works that cannot be checked are skipped and reported.

    The exit status is 0 when the check finished; 1 when some pages failed or have the wrong image, some of several
    texts could not be read, or named images and lists belong to no page; 2 when the command or its input is wrong.
    """
    if library is None:
        settings = settings_of(config, texts, given)
        must_be_checkable(settings)
        with _restored_after_error(settings):
            project_change = keep_in_project(settings, texts, given, named=config is not None)
            status = run_check(settings, show, quiet=quiet, verbose=verbose)
        if project_change and not quiet:
            click.echo(project_change, err=True)
        if not quiet and settings.folder != Path.cwd():
            message = _("project: %(folder)s; next: proof serve --config %(word)s")
            click.echo(say(message, folder=settings.folder, word=shlex.quote(str(settings.folder))))
        return status
    if texts or config:
        raise UsageError(_("--library checks all works: give neither TEXT nor --config with it"))
    return run_library(library_settings(library).replace(given), quiet=quiet, verbose=verbose)


def keep_in_project(settings: Settings, texts: Sequence[Path], given: Mapping[str, Any], *, named: bool) -> str:
    """Create the project that is checked if it has no config.toml; else add the `texts` that it does not name, unless
    the user `named` the project. Other settings are saved in a new project only. Gives a message about what was done
    or should be done, empty if there is none. Raises ProofError if the material cannot be used."""
    file = settings.file
    assert file is not None, "a check has a project"
    is_new = not file.exists()
    if not is_new and (not texts or names_all(Settings.load(file), texts)):
        return _of_this_check(settings, given)
    if not is_new and named:
        listed = ", ".join(map(str, texts))
        return say(
            _("%(file)s does not name %(texts)s: add it to project.texts to have it saved with the project"),
            file=file,
            texts=listed,
        )
    added = [text for text in _usable_texts(settings) if is_new or not names_all(Settings.load(file), [text])]
    if not added:
        return ""
    if is_new and settings.store.url:
        with Store.open(settings.store_address, folder=settings.base):
            pass  # a project is useless if its store cannot be opened
    ensure_writable(settings.project.out)
    if is_new:
        write_project(settings.replace({"project.texts": added}), given)
        return say(_("%(file)s: a new project"), file=file)
    add_to_project(file, added, given.get("project.images", ()))
    return say(_("%(file)s: texts were added to it"), file=file)


def _of_this_check(settings: Settings, given: Mapping[str, Any]) -> str:
    """A message about the `given` settings of the material that the settings file of the project does not have, so that
    later checks are without them; empty if there are none."""
    assert settings.file is not None, "a check has a project"
    saved = Settings.load(settings.file)
    of_material = {name for name in given if name.startswith(("project.", "page."))} - {"project.texts", "project.out"}
    unsaved = sorted(name for name in of_material if settings[name] != saved[name])
    message = _("used in this check only: %(settings)s; set it in %(file)s for later ones")
    return say(message, settings=", ".join(unsaved), file=settings.file) if unsaved else ""


@contextmanager
def _restored_after_error(settings: Settings) -> Iterator[None]:
    """Restore the project's config.toml if the block raises UsageError, ConfigError or EngineError: a setting that
    stops this check would stop every later one too."""
    file = settings.file
    assert file is not None, "a check has a project"
    before = file.read_bytes() if file.exists() else None
    try:
        yield
    except (UsageError, ConfigError, EngineError):
        if before is None:
            file.unlink(missing_ok=True)
        elif file.read_bytes() != before:
            file.write_bytes(before)
        raise


def _usable_texts(settings: Settings) -> list[Path]:
    """The texts that can be read. Raises ProofError if none can be read, if an image folder or an image list is
    missing, or if the texts are of several works or of another work than the project: a project is one work."""
    texts, _unread = read_texts(settings.text_files())
    of_project: list[Transcription] = []
    with suppress(TextError):  # the check itself reports a text that cannot be read
        of_project, _unread = read_texts(texts_of_project(settings)[:1])
    works = dict.fromkeys(text.work for text in (*of_project, *texts) if text.work)
    if len(works) > 1:
        raise UsageError(
            _(
                "%(path)s: a project is one work, and these are %(works)s: move each with its images "
                "into a folder of its own, or make a project elsewhere: proof init FOLDER --texts "
                "%(path)s"
            ),
            path=texts[0].path,
            works=joined(works, AND),
        )
    ImageIndex(settings.project.images)  # raises if a folder is missing
    for text in texts:
        image_lists(settings, text)  # raises if a list is missing
    return [text.path for text in texts]


def run_check(settings: Settings, show: int, *, quiet: bool, verbose: bool) -> int:
    """Check, print the result, and give the exit status."""
    ensure_writable(settings.project.out)
    with CheckProgress(quiet=quiet) as progress:
        outcome = check(
            settings, progress, waiting=_tell_waiting, show=0 if quiet else show, language=terminal_language()
        )
    if not quiet:
        print_flagged(outcome.suspicious, outcome.written.tally)
        print_counts(outcome.written)
    print_trouble(outcome, verbose=verbose)
    return EXIT_SOUND if outcome.sound else EXIT_TROUBLED


def run_library(settings: Settings, *, quiet: bool, verbose: bool) -> int:
    """Check every work of a library, print the result of each, and give the exit status."""
    ensure_writable(settings.base)
    with CheckProgress(quiet=quiet) as progress:

        def on_folder_start(folder: str, number: int, count: int) -> None:
            if not quiet:
                message = _("%(folder)s (%(number)s of %(of)s)")
                click.echo(say(message, folder=folder, number=number, of=count), err=True)

        works = check_library(settings, progress, on_folder_start, _tell_waiting)
    for work in works:
        if work.outcome is None:
            why = sentence(work.trouble) if work.trouble else ""
            click.echo(say(_("%(folder)s: not checked: %(why)s"), folder=work.folder, why=why), err=True)
        elif not quiet:
            click.echo(f"{work.folder}: {counts_in_words(work.outcome.written.tally)}")
            if verbose or not work.outcome.sound:
                print_trouble(work.outcome, verbose=verbose)
    return EXIT_SOUND if all(work.sound for work in works) else EXIT_TROUBLED


def _tell_waiting(work: str) -> None:
    message = _("%(work)s is being checked by another proof check; waiting until that is done")
    click.echo(say(message, work=work), err=True)
