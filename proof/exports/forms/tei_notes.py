"""Collation notes as a separate TEI apparatus (TEI P5 chapter 12, location-referenced, external): an `app` for each
note, with the decided reading as `lem`, the earlier one and those of witnesses as `rdg`, and the text of the note."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from lxml import etree

from proof.exports.collation_notes import CollationNote, CollationNotes, called, copy_of, in_script, juan_in_words
from proof.exports.files import Material, write_file
from proof.exports.forms import ExportForm
from proof.exports.xml import add, identified, legal, root_of, written
from proof.store.authorities import IMAGE, REASONED

NAMESPACE = "http://www.tei-c.org/ns/1.0"
BASE = "base"
"""The XML id of the transcribed text."""

COPY = "copy"
"""The XML id of the image of its copy."""


def apparatus_document(collated: CollationNotes, title: str) -> etree._Element:
    """The notes as a TEI document. They name witnesses by ids; the header has the sigla and full names."""
    root = root_of("TEI", NAMESPACE)
    header = add(root, "teiHeader")
    file = add(header, "fileDesc")
    add(add(file, "titleStmt"), "title").text = legal(f"{title} {in_script('校勘記', collated.edition.script)}")
    add(add(file, "publicationStmt"), "p").text = "Made from a transcription by proofreading it."
    witness_list = add(add(file, "sourceDesc"), "listWit")
    ids = {siglum: f"w{number}" for number, siglum in enumerate(collated.witnesses, start=1)}
    _witness(witness_list, "底本", BASE, collated.edition.path.name)
    corrections = [note.placed.correction for note in collated.notes]
    if any(correction.has_image or correction.authority == IMAGE for correction in corrections):
        _witness(witness_list, IMAGE, COPY, "")
    for siglum, name in collated.witnesses.items():
        _witness(witness_list, siglum, ids[siglum], name)
    add(add(header, "encodingDesc"), "variantEncoding", method="location-referenced", location="external")
    body = add(add(root, "text"), "body")
    for juan, in_juan in groupby(collated.notes, key=lambda note: note.juan):
        division = add(body, "div")
        if juan:
            add(division, "head").text = legal(juan_in_words(juan, collated.edition.script))
        entries = add(division, "listApp")
        for note in in_juan:
            _entry(entries, note, ids)
    if not collated.notes:
        add(body, "p")
    return root


def _witness(witness_list: etree._Element, siglum: str, xml_id: str, name: str) -> None:
    witness = identified(add(witness_list, "witness"), xml_id)
    abbreviation = add(witness, "abbr", type="siglum")
    abbreviation.text, abbreviation.tail = legal(siglum), legal(name) or None


def _entry(entries: etree._Element, note: CollationNote, ids: dict[str, str]) -> None:
    """Add a note to `entries`; `ids` are the XML ids of the witnesses, by siglum."""
    correction = note.placed.correction
    where = f"{correction.page} {correction.line}".strip()
    app = add(entries, "app", n=str(note.number), loc=where)
    # the witnesses of each reading; the first reading is the lemma
    readings: dict[str, list[str]] = {correction.replacement: []}
    readings.setdefault(correction.original, []).append(BASE)
    authority, authority_reads = "", correction.replacement
    if correction.copy_reads is not None:
        authority, authority_reads = copy_of(correction), correction.copy_reads
    elif correction.doubt is None and correction.authority not in ("", *REASONED):
        authority = called(correction.authority)
    witnesses_of_reading = readings.setdefault(authority_reads, [])
    if authority:
        witnesses_of_reading.append(ids.get(authority, COPY))
    for siglum, reading in correction.readings:
        readings.setdefault(reading, []).append(ids[called(siglum)])
    for number, (text, witnesses) in enumerate(readings.items()):
        names = " ".join(f"#{name}" for name in dict.fromkeys(witnesses))
        element = add(app, "rdg" if number else "lem", **({"wit": names} if names else {}))
        element.text = legal(text)
    if correction.doubt is not None and correction.doubt not in readings:
        add(app, "rdg", type="conjecture").text = legal(correction.doubt)
    add(app, "note").text = legal(note.words)


def _write(material: Material, folder: Path) -> list[Path]:
    path = folder / f"{material.stem}.notes.xml"
    return [write_file(path, written(apparatus_document(material.notes, material.named)))]


FORM = ExportForm("tei-notes", _write)
