"""Exports one text, as `proof export` does: its corrections, and the files that are written with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from proof.collation.collation import collate
from proof.errors import UsageError
from proof.exports.correction_records import read_corrections
from proof.exports.decided_corrections import Decided, Unused, decided_in, note_written
from proof.exports.files import Material, needs_pages, without_images, write_export
from proof.exports.preview import Preview, preview_of
from proof.exports.script import FormChoice
from proof.exports.source import CorrectedSource, write_corrected
from proof.locale.marking import _
from proof.model.result import PageResult
from proof.settings.config import Settings
from proof.settings.project import hint_at_projects
from proof.store import Store
from proof.store.database import is_missing
from proof.store.page_states import PageState
from proof.text.read import in_script, read_transcription
from proof.text.remarks import Remark
from proof.text.witness_source import WitnessSource
from proof.text.witnesses import read_witnesses

DEFAULT_FORMS = ("text", "diff", "notes")


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """The options of `proof export`."""

    forms: Sequence[str] = DEFAULT_FORMS
    corrections: Path | None = None
    in_place: bool = False
    dry_run: bool = False
    choices: Sequence[FormChoice] = ()
    name: str = ""
    base: str = ""
    witnesses: Sequence[WitnessSource] = ()


@dataclass(frozen=True, slots=True)
class Export:
    """The result of an export: the preview of its corrections, the files, the remarks of the readers of the texts, and
    the forms that were not written because they need images and no page has one (`imageless`)."""

    preview: Preview
    files: tuple[Path, ...] = ()
    remarks: tuple[Remark, ...] = ()
    imageless: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every form was written, no correction was refused, and no two decisions contradict each other."""
        contradicting = any(decision.reason is Unused.CONFLICT for decision in self.preview.decided.left_out)
        return not (self.preview.corrected.refused or contradicting or self.imageless)


def export_text(text: Path, settings: Settings, options: ExportOptions, folder: Path) -> Export:
    """Export one text into a folder. Raises ProofError."""
    pairs = settings.variants.file
    with _store_snapshot(settings, needed=options.corrections is None or needs_pages(options.forms)) as store:
        decided = _decisions_on(text, options.corrections, settings, store)
        preview = preview_of(decided, pairs, choices=options.choices)
        corrected = preview.corrected
        pages, states = _pages(store, corrected) if store and needs_pages(options.forms) else ([], {})
    if options.dry_run:
        return Export(preview)
    witnesses = read_witnesses(options.witnesses)
    material = replace(
        material_of(preview, settings),
        pages=pages,
        states=states,
        collations=[collate(corrected.edition, witness, pairs) for witness in witnesses],
        name=options.name,
        base=options.base,
    )
    imageless = without_images(material, options.forms) if pages else []
    files = write_export(material, [form for form in options.forms if form not in imageless], folder)
    if options.in_place:
        write_corrected(corrected, text)
        files.append(text)
        if options.corrections is None:
            with Store.open(settings.store_address) as store:
                note_written(store, corrected, lambda: text.is_file() and text.read_bytes() == corrected.data)
    remarks = (remark for edition in (corrected.edition, *witnesses) for remark in edition.remarks)
    return Export(preview, tuple(files), tuple(remarks), tuple(imageless))


def material_of(preview: Preview, settings: Settings) -> Material:
    """The material of an export from decisions alone, without pages and witnesses."""
    return Material(
        preview.corrected,
        datetime.now(UTC),
        title=settings.project.title,
        noted=preview.decided.noted,
        names=settings.witness_names(),
        rejected=preview.decided.rejected,
    )


@contextmanager
def _store_snapshot(settings: Settings, *, needed: bool) -> Iterator[Store | None]:
    """A snapshot of the project's store, in which later decisions do not appear; None if there is no store or none is
    `needed`."""
    if not needed or is_missing(settings.store_address):
        yield None
        return
    with Store.open(settings.store_address) as store, store.at_one_moment() as snapshot:
        yield snapshot


def _decisions_on(text: Path, corrections: Path | None, settings: Settings, store: Store | None) -> Decided:
    """The decisions about the transcription at `text`: those in the file `corrections`, or else those in the project's
    store. Raises ProofError."""
    edition = in_script(read_transcription(text), settings.page.script)
    if corrections is not None:
        return Decided(edition, tuple(read_corrections(corrections)))
    if store is None:
        raise UsageError(
            _(
                "nothing was decided yet: there is no store at %(store)s; run proof check and proof "
                "serve first, or give --corrections%(hint)s"
            ),
            store=settings.store_address,
            hint=hint_at_projects(settings),
        )
    return decided_in(store, edition)


def _pages(store: Store, corrected: CorrectedSource) -> tuple[list[PageResult], dict[str, PageState]]:
    """The pages of this text as last checked, and the states of the work's pages, by page id."""
    try:
        stored_text = store.texts.find(corrected.edition)
    except UsageError:  # corrections from a file, for a text that this store does not know
        return [], {}
    work = stored_text.latest.work
    page_ids = stored_text.pages(work)
    return [page for page in store.results(work=work) if page.page in page_ids], store.page_states.of_work(work)
