"""All forms of a corrected text, as files beside one another in a folder."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import quote

from proof.atomic import whole_binary_file
from proof.collate.collation import Collation
from proof.errors import OutputError, UsageError
from proof.export.alto import alto
from proof.export.collation_notes import CollationNotes, notes_of
from proof.export.corrections import Correction
from proof.export.iiif import flag_annotations, manifest
from proof.export.marked import MarkedPage, as_checked, mark
from proof.export.note_files import house_list, plain_list, with_footnotes
from proof.export.pagexml import page_xml
from proof.export.shown import with_decisions
from proof.export.source import CorrectedSource, write_corrected
from proof.export.spreadsheet import spreadsheet
from proof.export.tei import tei
from proof.images.pdf import file_name
from proof.model.result import PageResult


class Form(StrEnum):
    """What can be written. The last four need pages with images."""

    TEXT = "text"
    DIFF = "diff"
    NOTES = "notes"
    PLAIN = "plain"
    CSV = "csv"
    FOOTNOTES = "footnotes"
    TEI = "tei"
    PAGE = "page"
    ALTO = "alto"
    IIIF = "iiif"
    ANNOTATIONS = "annotations"


ON_IMAGES = frozenset({Form.PAGE, Form.ALTO, Form.IIIF, Form.ANNOTATIONS})


@dataclass(frozen=True, slots=True)
class Material:
    """What there is to write: the corrected source, and, where it was checked against images, its pages; the text
    collated with its witnesses, and its title where the text does not say it. `rejected` are the ids of flags at which
    the text is kept. `name` is the file's path in its repository, for the diff; `base` the address under which a
    manifest will be served; `made` the time that files give; `noted` and `names` are what `notes_of` takes."""

    corrected: CorrectedSource
    made: datetime
    pages: Sequence[PageResult] = ()
    collations: Sequence[Collation] = ()
    title: str = ""
    noted: Sequence[Correction] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    rejected: frozenset[str] = frozenset()
    name: str = ""
    base: str = ""

    @property
    def notes(self) -> CollationNotes:
        """The notes on the text."""
        return notes_of(self.corrected, self.noted, self.names)


def write_export(material: Material, forms: Sequence[Form], folder: Path) -> list[Path]:
    """Write these forms into `folder`; gives the files. Raises OutputError where one cannot be written or would
    replace the source, UsageError where pages with images are needed and there are none."""
    edition = material.corrected.edition
    missing = [form for form in forms if form in ON_IMAGES and not material.pages]
    if missing:
        raise UsageError(f"{', '.join(missing)} needs pages that were checked against images: run proof check first")
    if Form.IIIF in forms and not material.base:
        raise UsageError("a manifest holds addresses: name the one under which it will be served (--base)")
    written: list[Path] = []
    for form in forms:
        if form is Form.TEXT:
            target = folder / edition.path.name
            if target.exists() and target.samefile(edition.path):
                raise OutputError(f"{target} is the source itself: name another folder, or correct it in place")
            write_corrected(material.corrected, target)
            written.append(target)
        elif form in ENDINGS:
            ending, made = ENDINGS[form]
            written.append(_write(folder / f"{edition.path.stem}.{ending}", made(material)))
        elif form is Form.PAGE:
            written += _pages(material, folder / "page", lambda page: page_xml(page, material.made))
        elif form is Form.ALTO:
            written += _pages(material, folder / "alto", alto)
        else:
            written += _annotations(material, folder / "annotations")
    return written


def _diff(material: Material) -> bytes:
    return material.corrected.diff(material.name or material.corrected.edition.path.name)


def _tei(material: Material) -> bytes:
    corrected = material.corrected
    return tei(corrected.edition, corrected.placed, material.pages, material.collations, material.title)


def _iiif(material: Material) -> bytes:
    edition = material.corrected.edition
    return _json(
        manifest(_decided_pages(material), material.base, material.title or edition.title or edition.path.stem)
    )


def _decided_pages(material: Material) -> list[PageResult]:
    """The checked pages with their flags as decisions leave them."""
    corrections = as_checked(material.corrected.placed, material.pages)
    running = not material.corrected.edition.paged
    return [with_decisions(page, corrections, material.rejected, running=running) for page in material.pages]


def _json(told: dict[str, Any]) -> bytes:
    return json.dumps(told, ensure_ascii=False, indent=1).encode() + b"\n"


ENDINGS: dict[Form, tuple[str, Callable[[Material], bytes]]] = {
    Form.DIFF: ("diff", _diff),
    Form.NOTES: ("notes.txt", lambda material: house_list(material.notes).encode()),
    Form.PLAIN: ("corrections.txt", lambda material: plain_list(material.corrected).encode()),
    Form.CSV: ("decided.csv", lambda material: spreadsheet(material.corrected)),
    Form.FOOTNOTES: ("footnotes.txt", lambda material: with_footnotes(material.corrected, material.notes).encode()),
    Form.TEI: ("tei.xml", _tei),
    Form.IIIF: ("manifest.json", _iiif),
}
"""Forms that are one file, named as the text with another ending."""


def _pages(material: Material, folder: Path, document: Callable[[MarkedPage], bytes]) -> list[Path]:
    """A file a page, named by its image: that is how recognisers find the two together."""
    corrections = as_checked(material.corrected.placed, material.pages)
    written: dict[Path, None] = {}
    running = not material.corrected.edition.paged
    for page in material.pages:
        marked = mark(page, corrections, running=running)
        if marked is None:
            continue
        path = folder / f"{Path(marked.name).stem}.xml"
        if path in written:
            path = path.with_name(f"{Path(marked.name).stem}_{_safe(page.page)}.xml")
        written[_write(path, document(marked))] = None
    return list(written)


def _annotations(material: Material, folder: Path) -> list[Path]:
    written = []
    for page in _decided_pages(material):
        if page.image is not None:
            base = material.base.rstrip("/")
            target = f"{base}/images/{quote(file_name(page.image))}" if base else file_name(page.image)
            written.append(_write(folder / f"{_safe(page.page)}.json", _json(flag_annotations(page, target))))
    return written


def folders_of(texts: Sequence[Path]) -> dict[Path, Path]:
    """A folder for each text: named as the text is; where several are called so, within the folders that they lie in,
    and with their endings where these alone tell them apart."""
    files = [text.absolute() for text in texts]
    common = Path(os.path.commonpath([file.parent for file in files])) if files else Path()
    inside = [file.relative_to(common) for file in files]
    named = [Path(file.stem) for file in files], [file.with_suffix("") for file in inside], inside
    folders = next((names for names in named if len(set(names)) == len(texts)), inside)
    return dict(zip(texts, folders, strict=True))


def _safe(name: str) -> str:
    return "".join(char if char.isalnum() or char in "-_." else "_" for char in name).lstrip(".") or "page"


def _write(path: Path, made: bytes) -> Path:
    with whole_binary_file(path) as file:
        file.write(made)
    return path
