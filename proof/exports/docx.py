"""The corrected text as DOCX: corrections as tracked changes, collation notes as footnotes.

The package is made with python-docx, which supports neither footnotes nor tracked changes: `w:ins`, `w:del` and the
footnotes part are made here, after ECMA-376 part 1 (17.11 and 17.13.5).
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from docx import Document
from docx.document import Document as DocxDocument
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import OxmlElement
from docx.oxml.ns import nsdecls, qn
from lxml import etree

from proof.exports.collation_notes import CollationNote, CollationNotes
from proof.exports.noted_text import Change, NotedParagraph, NotedRun
from proof.exports.xml import legal

_FOOTNOTES = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
FIRST_FOOTNOTE = 1
"""The number of the first footnote: -1 and 0 are the separators between text and footnotes."""

COMMENTARY_HALF_POINTS = 18
"""Type size of commentary; that of the text is 22, from the template."""

FONT = "Noto Serif CJK TC"


def docx(paragraphs: Sequence[NotedParagraph], notes: CollationNotes, title: str, made: datetime) -> bytes:
    """The document. Tracked changes have the names of the people and the time `made`."""
    document = Document()
    document.core_properties.title = legal(title)
    document.core_properties.created = document.core_properties.modified = made.astimezone(UTC).replace(tzinfo=None)
    document.styles["Normal"].element.get_or_add_rPr().get_or_add_rFonts().set(qn("w:eastAsia"), FONT)
    document.add_heading(legal(title), 0)
    for siglum, name in notes.witnesses.items():
        document.add_paragraph(legal(f"{siglum}：{name}" if name else siglum))
    numbers = {id(note): number for number, note in enumerate(notes.notes, FIRST_FOOTNOTE)}
    changes = _Changes(made.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
    for paragraph in paragraphs:
        if paragraph.label:
            document.add_heading(legal(paragraph.label), 3)
        if paragraph.runs:
            holder = document.add_heading("", min(paragraph.level, 9)) if paragraph.level else document.add_paragraph()
            for run in paragraph.runs:
                for element in changes.elements(run, numbers):
                    holder._p.append(element)
    _add_footnotes(document, notes.notes)
    file = io.BytesIO()
    document.save(file)
    return _dated(file, made)


def _dated(file: io.BytesIO, made: datetime) -> bytes:
    """The archive with `made` as the time of its members, so that the same document gives the same bytes."""
    target = io.BytesIO()
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            member = zipfile.ZipInfo(name, made.astimezone(UTC).timetuple()[:6])
            new.writestr(member, old.read(name), zipfile.ZIP_DEFLATED)
    return target.getvalue()


class _Changes:
    """Runs as elements; tracked changes are numbered in the document."""

    def __init__(self, at: str) -> None:
        self._at, self._number = at, 0

    def elements(self, run: NotedRun, numbers: Mapping[int, int]) -> Iterator[etree._Element]:
        if run.text:
            element = _run(run.text, deleted=run.change is Change.DELETED, small=run.commentary)
            yield element if run.change is Change.KEPT else self._tracked(run, element)
        if run.note is not None:
            reference = OxmlElement("w:footnoteReference")
            reference.set(qn("w:id"), str(numbers[id(run.note)]))
            yield _raised(reference)

    def _tracked(self, run: NotedRun, element: etree._Element) -> etree._Element:
        self._number += 1
        change = OxmlElement("w:ins" if run.change is Change.INSERTED else "w:del")
        change.set(qn("w:id"), str(self._number))
        change.set(qn("w:author"), legal(run.person) or "proof")
        change.set(qn("w:date"), self._at)
        change.append(element)
        return change


def _run(text: str, *, deleted: bool = False, small: bool = False) -> etree._Element:
    run = OxmlElement("w:r")
    if small:
        properties = OxmlElement("w:rPr")
        for name in ("w:sz", "w:szCs"):
            size = OxmlElement(name)
            size.set(qn("w:val"), str(COMMENTARY_HALF_POINTS))
            properties.append(size)
        run.append(properties)
    words = OxmlElement("w:delText" if deleted else "w:t")
    words.text = legal(text)
    words.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")
    run.append(words)
    return run


def _raised(mark: etree._Element) -> etree._Element:
    """A superscript run for the number of a footnote."""
    run, properties, raised = OxmlElement("w:r"), OxmlElement("w:rPr"), OxmlElement("w:vertAlign")
    raised.set(qn("w:val"), "superscript")
    properties.append(raised)
    run.extend((properties, mark))
    return run


def _add_footnotes(document: DocxDocument, notes: Sequence[CollationNote]) -> None:
    root = etree.fromstring(f"<w:footnotes {nsdecls('w')}/>")
    for number, kind in ((-1, "separator"), (0, "continuationSeparator")):
        note, run = _footnote(root, number), OxmlElement("w:r")
        note.set(qn("w:type"), kind)
        run.append(OxmlElement(f"w:{kind}"))
        note[0].append(run)
    for number, collation_note in enumerate(notes, FIRST_FOOTNOTE):
        paragraph = _footnote(root, number)[0]
        paragraph.append(_raised(OxmlElement("w:footnoteRef")))
        paragraph.append(_run(f" {collation_note.words}"))
    data = etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True)
    part = Part(PackURI("/word/footnotes.xml"), _FOOTNOTES, data, document.part.package)
    document.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)


def _footnote(root: etree._Element, number: int) -> etree._Element:
    note = etree.SubElement(root, qn("w:footnote"))
    note.set(qn("w:id"), str(number))
    note.append(OxmlElement("w:p"))
    return note
