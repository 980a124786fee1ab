"""All forms of a corrected text, as files beside one another in a folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import quote

from proof.atomic import whole_file
from proof.collate.collation import Collation
from proof.errors import OutputError, UsageError
from proof.export.alto import alto
from proof.export.collation_notes import house_list, plain_list, with_footnotes
from proof.export.iiif import flag_annotations, manifest
from proof.export.marked import MarkedPage, mark
from proof.export.pagexml import page_xml
from proof.export.source import CorrectedSource, write_corrected
from proof.export.tei import tei
from proof.images.pdf import file_name
from proof.model.result import PageResult


class Form(StrEnum):
    """What can be written. The last four need pages with images."""

    TEXT = "text"
    DIFF = "diff"
    NOTES = "notes"
    PLAIN = "plain"
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
    collated with its witnesses, and its title where the text does not say it. `name` is the file's path in its
    repository, for the diff; `base` the address under which a manifest will be served; `made` the time that files
    give."""

    corrected: CorrectedSource
    made: datetime
    pages: Sequence[PageResult] = ()
    collations: Sequence[Collation] = ()
    title: str = ""
    name: str = ""
    base: str = ""


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
        else:
            written += _WRITERS[form](material, folder / edition.path.stem)
    return written


def _diff(material: Material, stem: Path) -> list[Path]:
    name = material.name or material.corrected.edition.path.name
    return [_bytes(stem.with_name(f"{stem.name}.diff"), material.corrected.diff(name))]


def _notes(material: Material, stem: Path) -> list[Path]:
    return [_text(stem.with_name(f"{stem.name}.notes.txt"), house_list(material.corrected))]


def _plain(material: Material, stem: Path) -> list[Path]:
    return [_text(stem.with_name(f"{stem.name}.corrections.txt"), plain_list(material.corrected))]


def _footnotes(material: Material, stem: Path) -> list[Path]:
    return [_text(stem.with_name(f"{stem.name}.footnotes.txt"), with_footnotes(material.corrected))]


def _tei(material: Material, stem: Path) -> list[Path]:
    corrected = material.corrected
    document = tei(corrected.edition, corrected.placed, material.pages, material.collations, material.title)
    return [_bytes(stem.with_name(f"{stem.name}.tei.xml"), document)]


def _pages(material: Material, stem: Path, kind: str, document: Callable[[MarkedPage], bytes]) -> list[Path]:
    """A file a page, named by its image: that is how recognisers find the two together."""
    corrections = [placed.correction for placed in material.corrected.placed]
    written: dict[Path, None] = {}
    running = not material.corrected.edition.paged
    for page in material.pages:
        marked = mark(page, corrections, running=running)
        if marked is None:
            continue
        path = stem.parent / kind / f"{Path(marked.name).stem}.xml"
        if path in written:
            path = path.with_name(f"{Path(marked.name).stem}_{_safe(page.page)}.xml")
        written[_bytes(path, document(marked))] = None
    return list(written)


def _page_xml(material: Material, stem: Path) -> list[Path]:
    return _pages(material, stem, "page", lambda page: page_xml(page, material.made))


def _alto(material: Material, stem: Path) -> list[Path]:
    return _pages(material, stem, "alto", alto)


def _iiif(material: Material, stem: Path) -> list[Path]:
    edition = material.corrected.edition
    told = manifest(material.pages, material.base, material.title or edition.title or edition.path.stem)
    return [_json(stem.with_name(f"{stem.name}.manifest.json"), told)]


def _annotations(material: Material, stem: Path) -> list[Path]:
    written = []
    for page in material.pages:
        if page.image is not None:
            base = material.base.rstrip("/")
            target = f"{base}/images/{quote(file_name(page.image))}" if base else file_name(page.image)
            path = stem.parent / "annotations" / f"{_safe(page.page)}.json"
            written.append(_json(path, flag_annotations(page, target)))
    return written


_WRITERS: dict[Form, Callable[[Material, Path], list[Path]]] = {
    Form.DIFF: _diff,
    Form.NOTES: _notes,
    Form.PLAIN: _plain,
    Form.FOOTNOTES: _footnotes,
    Form.TEI: _tei,
    Form.PAGE: _page_xml,
    Form.ALTO: _alto,
    Form.IIIF: _iiif,
    Form.ANNOTATIONS: _annotations,
}


def _safe(name: str) -> str:
    return "".join(char if char.isalnum() or char in "-_." else "_" for char in name).lstrip(".") or "page"


def _text(path: Path, text: str) -> Path:
    with whole_file(path, newline="") as file:
        file.write(text)
    return path


def _bytes(path: Path, data: bytes) -> Path:
    with whole_file(path, encoding="latin-1", newline="") as file:
        file.write(data.decode("latin-1"))
    return path


def _json(path: Path, told: dict[str, Any]) -> Path:
    return _text(path, json.dumps(told, ensure_ascii=False, indent=1) + "\n")
