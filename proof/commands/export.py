"""`proof export`: writes accepted corrections into the source, and the corrected text in forms that other programs
read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from proof.commands.options import config_option, setting_options, settings_of
from proof.commands.remarks import print_remarks, verbose_option
from proof.errors import ProofError, UsageError
from proof.exports.files import form_names, target_folders
from proof.exports.preview import Preview
from proof.exports.script import FormChoice
from proof.exports.text_export import DEFAULT_FORMS, Export, ExportOptions, export_text
from proof.locale.marking import _
from proof.locale.terminal import counted, error_text, say
from proof.text.witness_source import WitnessSource


@click.command("export")
@click.argument("text", type=click.Path(path_type=Path), required=False)
@config_option
@setting_options(("project.out", "store.url"))
@click.option(
    "--corrections",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Accepted corrections, JSON lines.  [default: the decisions in the store]",
)
@click.option(
    "--form",
    "forms",
    multiple=True,
    type=click.Choice(form_names()),
    help="What to write.  [default: text, diff, notes]",
)
@click.option("--in-place", is_flag=True, help="Correct the source itself, too.")
@click.option("--dry-run", is_flag=True, help="List what would be written, what not, and why; write nothing.")
@click.option(
    "--choose",
    "choices",
    multiple=True,
    metavar="乾[@PLACE]=干",
    help="Form of a character that has several in the text's script; with PAGE:COLUMN:OFFSET, only at that place.",
)
@click.option("--name", default="", metavar="PATH", help="Path of the text in its repository, for the diff.")
@click.option("--base", default="", metavar="URL", help="Address under which a IIIF manifest will be served.")
@click.option(
    "--witness",
    "witnesses",
    multiple=True,
    metavar="[SIGLUM=]PATH",
    help="Witnesses, for the apparatus of TEI: files, folders, REPOSITORY@BRANCH.",
)
@verbose_option
def command(
    text: Path | None,
    config: Path | None,
    given: dict[str, Any],
    corrections: Path | None,
    forms: tuple[str, ...],
    in_place: bool,
    dry_run: bool,
    choices: tuple[str, ...],
    name: str,
    base: str,
    witnesses: tuple[str, ...],
    verbose: bool,
) -> int:
    """Write accepted corrections, and nothing else, into a transcription or all of the project.

    The corrected text keeps every other byte. Beside it: a diff for git apply, collation notes, TEI, PAGE XML,
    ALTO, a IIIF manifest and Web Annotations.

    The decisions are those on this file, in any work of the store. If the file was changed since, they are written at
    their present places. Decisions that are not written are listed with the reason. The exit status is 1 if
    corrections were refused or decisions contradict each other.
    """
    settings = settings_of(config, (text,) if text else (), given)
    texts = (text,) if text else settings.text_files()
    if not texts:
        raise UsageError(
            _("nothing to export: name a transcription (proof export TEXT), or run in the folder of a project")
        )
    if len(texts) > 1 and (corrections is not None or name):
        raise UsageError(_("--corrections and --name are for a single text: name it"))
    options = ExportOptions(
        forms=forms or DEFAULT_FORMS,
        corrections=corrections,
        in_place=in_place,
        dry_run=dry_run,
        choices=[FormChoice.parse(choice) for choice in choices],
        name=name,
        base=base,
        witnesses=[WitnessSource.parse(witness, Path.cwd()) for witness in witnesses],
    )
    folders = target_folders(texts, settings.project.out)
    status = 0
    for text_path in texts:
        try:
            exported = export_text(text_path, settings, options, folders[text_path])
            if dry_run and len(texts) > 1:
                click.echo(text_path)
            _print_export(exported, dry_run=dry_run, verbose=verbose)
            status |= int(not exported.complete)
        except ProofError as error:  # a text that cannot be exported is skipped
            if len(texts) == 1:
                raise
            click.echo(f"{text_path}: {error_text(error)}", err=True)
            status = 1
    return status


def _print_export(exported: Export, *, dry_run: bool, verbose: bool) -> None:
    preview = exported.preview
    if dry_run:
        for planned in preview.written:
            click.echo(planned.in_words(say))
    print_remarks(exported.remarks, verbose=verbose)
    _print_decisions(preview)
    _print_count(preview, dry_run=dry_run)
    if not dry_run:
        for path in exported.files:
            click.echo(path)
        for form in exported.imageless:
            message = _("%(path)s: %(form)s needs images, and no page of the text has one: nothing was written")
            click.echo(say(message, path=preview.decided.edition.path, form=form), err=True)


def _print_count(preview: Preview, *, dry_run: bool) -> None:
    """Print how many corrections were written; of a dry run, which lists them, on standard error how many would be."""
    already = say(_(", %(number)s already in the text"), number=preview.in_text) if preview.in_text else ""
    count = counted(len(preview.written), "%(number)s correction", "%(number)s corrections")
    click.echo(count + already, err=dry_run)


def _print_decisions(preview: Preview) -> None:
    """Print on standard error which corrections were converted to the script of the text, whether there were no
    decisions, and why some were not written."""
    for decided, rewritten in preview.corrected.rewritten:
        message = _("converted to the script of the text: %(place)s, written as %(replacement)s")
        click.echo(say(message, place=decided.place, replacement=rewritten.replacement), err=True)
    if preview.decided.is_empty:
        message = _("no decisions on %(path)s: it is unchanged")
        click.echo(say(message, path=preview.decided.edition.path), err=True)
    for line in preview.reasons(say):
        click.echo(line, err=True)
