"""`proof export`: accepted corrections into the source, and the corrected text in forms that others read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from proof.collate.collation import collate
from proof.commands.options import config_option, setting_options, settings_of
from proof.commands.remarks import print_remarks, verbose_option
from proof.errors import ProofError, UsageError
from proof.export.decided import Decided, Unused, decided_in, note_written
from proof.export.files import ON_IMAGES, Form, Material, folders_of, write_export
from proof.export.preview import Preview, preview_of
from proof.export.records import read_corrections
from proof.export.script import FormChoice
from proof.export.source import CorrectedSource, write_corrected
from proof.model.result import PageResult
from proof.settings.config import Settings
from proof.store import Store
from proof.store.database import is_missing
from proof.store.text_pages import find_text
from proof.text.edition import in_script, read_edition
from proof.text.gathered import read_witnesses
from proof.text.witness_source import WitnessSource


@click.command("export")
@click.argument("text", type=click.Path(path_type=Path), required=False)
@config_option
@setting_options(("project.out", "store.url"))
@click.option(
    "--corrections",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Accepted corrections, JSON lines.  [default: what was decided in the store]",
)
@click.option(
    "--form",
    "forms",
    multiple=True,
    type=click.Choice([form.value for form in Form]),
    help="What to write.  [default: text, diff, notes]",
)
@click.option("--in-place", is_flag=True, help="Correct the source itself, too.")
@click.option("--dry-run", is_flag=True, help="Say what would be written, what not, and why; write nothing.")
@click.option("--reanchor", is_flag=True, help="Set corrections of a changed source where their context stands once.")
@click.option(
    "--choose",
    "choices",
    multiple=True,
    metavar="乾[@PLACE]=干",
    help="Form of a character that has several in the text's script; with PAGE:COLUMN:OFFSET, at that place alone.",
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
    reanchor: bool,
    choices: tuple[str, ...],
    name: str,
    base: str,
    witnesses: tuple[str, ...],
    verbose: bool,
) -> int:
    """Write accepted corrections, and nothing else, into a transcription or all of the project.

    The corrected text keeps every other byte. Beside it: a diff for git apply, collation notes, TEI, PAGE XML,
    ALTO, a IIIF manifest and Web Annotations.

    What was decided is what was decided for this file, in whatever work of the store it was checked; where the file
    was changed since, it is written where its place is now. What cannot be written is named with the reason and
    keeps nothing else back; where two decisions contradict each other neither is written. Then the exit status is 1.
    """
    settings = settings_of(config, (text,) if text else (), given)
    texts = (text,) if text else settings.text_files()
    if not texts:
        raise UsageError(
            "nothing to export: name a transcription (proof export TEXT), or run in the folder of a project"
        )
    if len(texts) > 1 and (corrections is not None or name):
        raise UsageError("--corrections and --name are about one text: name it")
    wanted = _Wanted(
        corrections,
        [Form(form) for form in forms] or [Form.TEXT, Form.DIFF, Form.NOTES],
        in_place,
        dry_run,
        reanchor,
        [FormChoice.parse(one) for one in choices],
        name,
        base,
        [WitnessSource.parse(one, Path.cwd()) for one in witnesses],
        verbose,
    )
    folders = folders_of(texts) if len({one.name for one in texts}) < len(texts) else {}
    status = 0
    for one in texts:
        try:
            status |= _export(one, settings, wanted, settings.project.out / folders.get(one, Path()))
        except ProofError as error:  # a text that cannot be exported costs that text
            if len(texts) == 1:
                raise
            click.echo(f"{one}: {error}", err=True)
            status = 1
    return status


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is to be written of a text, and how."""

    corrections: Path | None
    forms: Sequence[Form]
    in_place: bool
    dry_run: bool
    reanchor: bool
    choices: Sequence[FormChoice]
    name: str
    base: str
    witnesses: Sequence[WitnessSource]
    verbose: bool


def _export(text: Path, settings: Settings, wanted: _Wanted, folder: Path) -> int:
    """Export one text into a folder; gives the exit status. Raises ProofError."""
    pairs = settings.variants.file
    with _store_now(settings, asked=wanted.corrections is None or _needs_pages(wanted.forms)) as store:
        decided = decided_for(text, wanted.corrections, settings, store)
        preview = preview_of(decided, pairs, reanchor=wanted.reanchor, choices=wanted.choices)
        corrected = preview.corrected
        pages = _pages(store, corrected) if store and _needs_pages(wanted.forms) else []
    status = int(bool(corrected.refused) or any(one.reason is Unused.CONFLICT for one in decided.left_out))
    if wanted.dry_run:
        for one in preview.written:
            click.echo(str(one))
        _tell(preview)
        return status
    others = read_witnesses(wanted.witnesses)
    remarks = (remark for edition in (corrected.edition, *others) for remark in edition.remarks)
    print_remarks(remarks, verbose=wanted.verbose)
    material = Material(
        corrected,
        datetime.now(UTC),
        pages=pages,
        collations=[collate(corrected.edition, one, pairs) for one in others],
        title=settings.project.title,
        noted=decided.noted,
        names=settings.witness_names(),
        rejected=decided.rejected,
        name=wanted.name,
        base=wanted.base,
    )
    written = write_export(material, wanted.forms, folder)
    if wanted.in_place:
        write_corrected(corrected, text)
        written.append(text)
        if wanted.corrections is None:
            with Store.open(settings.store_address) as store:
                note_written(store, corrected)
    _tell(preview)
    _print_written(preview, written)
    return status


def _print_written(preview: Preview, written: Sequence[Path]) -> None:
    already = f", {preview.in_text} are in the text already" if preview.in_text else ""
    click.echo(f"{len(preview.written)} corrections{already}")
    for path in written:
        click.echo(path)


@contextmanager
def _store_now(settings: Settings, *, asked: bool) -> Iterator[Store | None]:
    """The project's store as it is at this moment, whatever people decide meanwhile; None where there is none, or it is
    not asked for anything."""
    if not asked or is_missing(settings.store_address):
        yield None
        return
    with Store.open(settings.store_address) as store, store.at_one_moment() as now:
        yield now


def decided_for(text: Path, corrections: Path | None, settings: Settings, store: Store | None) -> Decided:
    """What there is to write into the transcription at `text`: the corrections of a file, or, without one, what was
    decided for it in the project's store. Raises ProofError."""
    edition = in_script(read_edition(text), settings.page.script)
    if corrections is not None:
        return Decided(edition, tuple(read_corrections(corrections)))
    if store is None:
        raise UsageError(f"nothing was decided yet: there is no store at {settings.store_address}; give --corrections")
    return decided_in(store, edition)


def _tell(preview: Preview) -> None:
    """What whoever exports should know of how decisions became corrections, on standard error."""
    decided, corrected = preview.decided, preview.corrected
    for placed in corrected.moved:
        click.echo(f"moved: {placed.correction.place}", err=True)
    for was, written in corrected.rewritten:
        click.echo(f"in the script of the text: {was.place}, written {written.replacement}", err=True)
    if decided.nothing:
        click.echo(f"nothing was decided for {decided.edition.path}: it stays as it is", err=True)
    for line in preview.reasons():
        click.echo(line, err=True)


def _needs_pages(forms: Sequence[Form]) -> bool:
    """Whether pages of a check are wanted; TEI takes them where there are any."""
    return bool(ON_IMAGES.union({Form.TEI}) & set(forms))


def _pages(store: Store, corrected: CorrectedSource) -> list[PageResult]:
    """The pages of this text as they were last checked."""
    try:
        text = find_text(store, corrected.edition)
    except UsageError:  # corrections from a file, for a text that this store does not know
        return []
    work = text.latest.work
    wanted = text.pages(work)
    return [page for page in store.results(work=work) if page.page in wanted]
