"""Writes the export forms of a corrected text as files into a folder."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import attrgetter
from pathlib import Path
from typing import Any
from urllib.parse import quote

from proof.atomic import whole_binary_file
from proof.collation.collation import Collation
from proof.errors import OutputError, UsageError
from proof.exports.alto import alto
from proof.exports.collation_notes import CollationNotes, notes_of
from proof.exports.corrections import Correction, PlacedCorrection
from proof.exports.docx import docx
from proof.exports.forms import ExportForm, export_form
from proof.exports.forms import names as more_names
from proof.exports.iiif import Addressed, flag_annotations, manifest
from proof.exports.marked_pages import MarkedPage, image_names, mark
from proof.exports.note_files import house_list, with_footnotes
from proof.exports.note_page import note_page
from proof.exports.noted_text import noted_text
from proof.exports.pagexml import page_xml
from proof.exports.shown_flags import with_decisions
from proof.exports.source import CorrectedSource, noted_places, write_corrected
from proof.exports.spreadsheet import spreadsheet
from proof.exports.tei import tei
from proof.locale.marking import _
from proof.model.result import PageResult
from proof.store.page_states import PageState


@dataclass(frozen=True, slots=True)
class Material:
    """The material of an export.

    made: the time written in files.
    pages: the checked pages, if the text was checked against images.
    collations: the text with each of its witnesses.
    title: the title if the text does not have one.
    noted: corrections that get a note but change nothing.
    names: full names of witnesses by their sigla.
    rejected: the ids of flags at which the text is kept.
    states: the states that people gave pages, by page id.
    name: the file's path in its repository, for the diff.
    base: the address under which a manifest will be served.
    """

    corrected: CorrectedSource
    made: datetime
    pages: Sequence[PageResult] = ()
    collations: Sequence[Collation] = ()
    title: str = ""
    noted: Sequence[Correction] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    rejected: frozenset[str] = frozenset()
    states: Mapping[str, PageState] = field(default_factory=dict)
    name: str = ""
    base: str = ""

    @property
    def named(self) -> str:
        """The title of the work, or else the name of the file."""
        edition = self.corrected.edition
        return self.title or edition.title or self.stem

    @property
    def stem(self) -> str:
        """The name of the text's file without its ending, which the files of most forms have."""
        return self.corrected.edition.path.stem

    @property
    def corrections_of_pages(self) -> list[Correction]:
        """The corrections of the pages as they were checked."""
        placed = [placed.correction for placed in self.corrected.placed]
        applied = (each for each in self.noted if each.doubt is None)
        unchecked = [each for each in applied if each.checked is not None and not each.checked.is_present]
        return [correction.on_checked_page for correction in (*unchecked, *placed)]

    @property
    def placed(self) -> list[PlacedCorrection]:
        """The corrections that are written, and those that the text has, in the order of their places."""
        noted = noted_places(self.corrected, self.noted)
        placed = (each for each in noted if not each.is_applied or each.correction.doubt is None)
        return sorted(placed, key=attrgetter("order"))

    @property
    def notes(self) -> CollationNotes:
        """The notes on the text."""
        return notes_of(self.corrected, self.noted, self.names)


def form_names() -> tuple[str, ...]:
    """The names of all forms."""
    return *FORMS, *more_names()


def _form(name: str) -> ExportForm:
    """The form of that name. Raises UsageError."""
    return FORMS.get(name) or export_form(name)


def needs_pages(forms: Iterable[str]) -> bool:
    """Whether any of these forms uses the pages of a check."""
    return any(form.on_images or form.takes_pages for form in map(_form, forms))


def without_images(material: Material, forms: Iterable[str]) -> list[str]:
    """The forms that need images, if no page has an image; else none."""
    if any(page.shown for page in material.pages):
        return []
    return [form.name for form in map(_form, forms) if form.on_images]


def write_export(material: Material, forms: Sequence[str], folder: Path) -> list[Path]:
    """Write these forms into `folder`, and return the files. Raises OutputError if a file cannot be written or would
    replace the source, UsageError if pages with images are needed and there are none."""
    chosen_forms = [_form(name) for name in forms]
    if missing := without_images(material, forms):
        raise UsageError(
            _("%(missing)s needs pages that were checked against images: run proof check first"),
            missing=", ".join(missing),
        )
    if "iiif" in forms and not material.base:
        raise UsageError(_("a manifest contains the address at which it will be served: name it with --base"))
    return [path for form in chosen_forms for path in form.write(material, folder)]


def _text(material: Material, folder: Path) -> list[Path]:
    source = material.corrected.edition.path
    target = folder / source.name
    if target.exists() and target.samefile(source):
        raise OutputError(
            _("%(target)s is the source itself: name another folder, or correct it in place"), target=target
        )
    write_corrected(material.corrected, target)
    return [target]


def _diff(material: Material) -> bytes:
    return material.corrected.diff(material.name or material.corrected.edition.path.name)


def _tei(material: Material) -> bytes:
    corrected = material.corrected
    return tei(corrected.edition, material.placed, material.pages, material.collations, material.title)


def _csv(material: Material) -> bytes:
    return spreadsheet(material.corrected.edition, material.placed)


def _docx(material: Material) -> bytes:
    notes = material.notes
    return docx(noted_text(material.corrected, notes), notes, material.named, material.made)


def _html(material: Material) -> bytes:
    notes = material.notes
    return note_page(noted_text(material.corrected, notes), notes, material.named)


def _iiif(material: Material) -> bytes:
    addressed = Addressed(material.base, material.stem, decided_pages(material))
    return as_json(manifest(addressed, material.named))


def decided_pages(material: Material) -> list[PageResult]:
    """The checked pages with the flags that remain after decisions."""
    corrections, running = material.corrections_of_pages, not material.corrected.edition.paged
    return [with_decisions(page, corrections, material.rejected, running=running) for page in material.pages]


def as_json(document: dict[str, Any]) -> bytes:
    """A document as bytes of a JSON file."""
    return json.dumps(document, ensure_ascii=False, indent=1).encode() + b"\n"


def page_form(name: str, ending: str, document: Callable[[MarkedPage, datetime], bytes]) -> ExportForm:
    """A form with one document for each page with an image, in a folder of its own."""

    def write(material: Material, folder: Path) -> list[Path]:
        pages = marked_pages(material, folder / name, ending)
        return [write_file(path, document(page, material.made)) for path, page in pages.items()]

    return ExportForm(name, write, on_images=True)


def marked_pages(material: Material, folder: Path, ending: str) -> dict[Path, MarkedPage]:
    """The pages with images by the files in `folder` that they are written to. A file is named after its image
    (`image_names`), by which recognisers match the two; pages that share an image, as the half-folios of a plate, have
    their own names appended."""
    corrections, running = material.corrections_of_pages, not material.corrected.edition.paged
    names = image_names(material.pages)
    pages = []
    for result in material.pages:
        page = mark(result, corrections, running=running)
        if page is not None and result.image:
            pages.append(replace(page, name=names[result.image]))
    pages_on = Counter(page.name for page in pages)
    page_of_file = {}
    for page in pages:
        own_name = f"_{safe_name(page.id)}" if pages_on[page.name] > 1 else ""
        page_of_file[folder / f"{Path(page.name).stem}{own_name}{ending}"] = page
    return page_of_file


def _annotations(material: Material, folder: Path) -> list[Path]:
    """Write the flags of each page; without a base, their addresses are relative to the image."""
    base = material.base.rstrip("/")
    names = image_names(material.pages)
    written = []
    for page in decided_pages(material):
        if page.image is None:
            continue
        file_name = f"{safe_name(page.page)}.json"
        if base:
            target = f"{base}/images/{quote(names[page.image])}"
            address = f"{base}/annotations/{file_name}"
        else:
            target = names[page.image]
            address = f"{target}/{quote(page.page, safe='')}/flags"
        written.append(write_file(folder / file_name, as_json(flag_annotations(page, target, address))))
    return written


def _file(ending: str, content: Callable[[Material], bytes]) -> Callable[[Material, Path], list[Path]]:
    """A writer for a form of one file with the name of the text and the suffix `ending`."""
    return lambda material, folder: [write_file(folder / f"{material.stem}.{ending}", content(material))]


FORMS = {
    form.name: form
    for form in (
        ExportForm("text", _text),
        ExportForm("diff", _file("diff", _diff)),
        ExportForm("notes", _file("notes.txt", lambda material: house_list(material.notes).encode())),
        ExportForm("csv", _file("decided.csv", _csv)),
        ExportForm(
            "footnotes",
            _file("footnotes.txt", lambda material: with_footnotes(material.corrected, material.notes).encode()),
        ),
        ExportForm("docx", _file("docx", _docx)),
        ExportForm("html", _file("html", _html)),
        ExportForm("tei", _file("tei.xml", _tei), takes_pages=True),
        page_form("page", ".xml", page_xml),
        page_form("alto", ".xml", lambda page, _: alto(page)),
        ExportForm("iiif", _file("manifest.json", _iiif), on_images=True),
        ExportForm(
            "annotations", lambda material, folder: _annotations(material, folder / "annotations"), on_images=True
        ),
    )
}
"""The forms that can be written; `proof.exports.forms` has more."""


def folders_of(texts: Sequence[Path]) -> dict[Path, Path]:
    """A relative folder for each text, named after it. If several texts have the same name, the folders that contain
    them precede it, and their suffixes are kept if only these differ."""
    if not texts:
        return {}
    files = [text.absolute() for text in texts]
    common = Path(os.path.commonpath([file.parent for file in files]))
    relative = [file.relative_to(common) for file in files]
    folders = [Path(file.stem) for file in files]
    if len(set(folders)) < len(texts):
        folders = [file.with_suffix("") for file in relative]
    if len(set(folders)) < len(texts):
        folders = relative
    return dict(zip(texts, folders, strict=True))


def target_folders(texts: Sequence[Path], folder: Path) -> dict[Path, Path]:
    """The folder for each text: `folder` itself or, if several texts have the same file name, the subfolder that
    `folders_of` gives."""
    if len({text.name for text in texts}) == len(texts):
        return dict.fromkeys(texts, folder)
    return {text: folder / subfolder for text, subfolder in folders_of(texts).items()}


def safe_name(name: str) -> str:
    """A name without characters that file names cannot have."""
    return "".join(char if char.isalnum() or char in "-_." else "_" for char in name).lstrip(".") or "page"


def write_file(path: Path, content: bytes) -> Path:
    """Write a file atomically, and return its path. Raises OutputError."""
    with whole_binary_file(path) as file:
        file.write(content)
    return path
