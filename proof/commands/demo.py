"""`proof demo`: checks the sample project and shows what a decision would change."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from proof.commands.check import run_check
from proof.commands.options import config_words
from proof.errors import OutputError, UsageError, os_errors_as
from proof.locale.marking import _
from proof.locale.terminal import say
from proof.paths import sample_dir
from proof.settings.config import FILE_NAME, Settings
from proof.store import Store
from proof.store.queue_records import Order, QueueFilter

EVERY_PLACE = 1_000_000
"""Maximum number of flagged places to print: more than the sample has."""

DEFAULT = Path("proof-demo")
"""Folder of the copied sample."""

EXAMPLE = ("北", "比")
"""A pair of look-alikes in the sample: the character of the text, and that on the image."""


@click.command("demo")
@click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False))
def command(folder: Path | None) -> int:
    """Check the sample: drawn half-folios of 大射儀 with known errors, and a scanned one.

    Prints every flagged place with the readings of text and image, and the path of the report. The sample is copied
    into FOLDER (proof-demo), a project of its own; in the source folder of the program it is checked in place.
    """
    project = sample_project(folder)
    settings = Settings.load(project)
    status = run_check(settings, EVERY_PLACE, quiet=False, verbose=False)
    show_example(settings)
    where = config_words(project)
    click.echo(say(_("decide at the desk: %(command)s"), command=f"proof serve{where}"))
    click.echo(say(_("what an export would then write: %(command)s"), command=f"proof export --dry-run{where}"))
    return status


def show_example(settings: Settings) -> None:
    """Print one place where the text has 北 and the image 比, and the change that an export then writes."""
    with Store.open(settings.store_address) as store:
        for work in store.queue.works():
            numbers, _more = store.queue.find(work.name, QueueFilter(pair=EXAMPLE), Order.SCORE, limit=1)
            for queued in store.queue.flags(work.name, numbers):
                flag = queued.flag
                column = store.queue.results([queued.page.number])[queued.page.number].column_of(flag)
                source = column.source if column else ""
                before, after = source[: flag.offset], source[flag.offset + flag.length :]
                values = {"page": flag.page, "column": flag.line, "text": flag.transcribed, "image": flag.suggested}
                message = _("%(page)s, column %(column)s: the text has %(text)s, the image %(image)s.")
                click.echo(f"\n{say(message, **values)}")
                click.echo(say(_("T at the desk takes the reading of the image; the export then changes that line:")))
                click.echo(f"- {before}{flag.transcribed}{after}\n+ {before}{flag.suggested}{after}\n")


def sample_project(folder: Path | None) -> Path:
    """The folder of the sample project: the sample itself if it is the working folder and no `folder` is named, else a
    copy in `folder`, which is created if it does not exist. Raises UsageError if `folder` has other contents, and
    OutputError."""
    sample = sample_dir()
    if folder is None and sample == Path.cwd():
        return sample
    folder = folder or DEFAULT
    config = sample / FILE_NAME
    if (folder / FILE_NAME).is_file():
        if (folder / FILE_NAME).read_bytes() != config.read_bytes():
            raise UsageError(
                _("%(folder)s is another project: name a new folder for the sample, as in proof demo sample"),
                folder=folder,
            )
        return folder
    if folder.is_dir() and any(folder.iterdir()):
        raise UsageError(
            _("%(folder)s is not empty: name a new folder for the sample, as in proof demo sample"), folder=folder
        )
    with os_errors_as(OutputError, _("%(folder)s: the sample cannot be copied there (%(reason)s)"), folder=folder):
        shutil.copytree(sample / "pages", folder / "pages")
        shutil.copy(config, folder / FILE_NAME)
    return folder
