"""The corrected text as DOCX: corrections as tracked changes, collation notes as footnotes.

python-docx makes the package, but neither footnotes nor tracked changes: `w:ins`, `w:del` and the part with the
footnotes are made here, after ECMA-376 part 1 (17.11 and 17.13.5).
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
from docx.oxml.ns import qn
from lxml import etree

from proof.exports.collation_notes import CollationNotes
from proof.exports.noted_text import Change, NotedParagraph, NotedRun
from proof.exports.xml import legal

FOOTNOTES_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"

FIRST_FOOTNOTE = 1
"""The number of the first footnote; -1 and 0 are the separators between text and footnotes."""

COMMENTARY_HALF_POINTS = 18
"""Type size of commentary in half-points; the text has 22, from the template."""

FONT = "Noto Serif CJK TC"


def docx(paragraphs: Sequence[NotedParagraph], notes: CollationNotes, title: str, made: datetime) -> bytes:
    """The corrected text as a DOCX file. Tracked changes name the person who made them and the time `made`."""
    document = Document()
    document.core_properties.title = legal(title)
    document.core_properties.created = document.core_properties.modified = made.astimezone(UTC).replace(tzinfo=None)
    document.styles["Normal"].element.get_or_add_rPr().get_or_add_rFonts().set(qn("w:eastAsia"), FONT)
    document.add_heading(legal(title), 0)
    for siglum, name in notes.witnesses.items():
        document.add_paragraph(legal(f"{siglum}：{name}" if name else siglum))
    footnotes = [(id(note), note.words) for note in notes.notes]
    footnotes += [(id(note), note.text) for note in notes.edition.footnotes]
    numbers = {note: number for number, (note, _) in enumerate(footnotes, FIRST_FOOTNOTE)}
    changes = _Changes(made.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
    for paragraph in paragraphs:
        if paragraph.label:
            document.add_heading(legal(paragraph.label), 3)
        if paragraph.runs:
            holder = document.add_heading("", min(paragraph.level, 9)) if paragraph.level else document.add_paragraph()
            for run in paragraph.runs:
                for element in changes.elements(run, numbers):
                    holder._p.append(element)
    _add_footnotes(document, [words for _, words in footnotes])
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
    """Makes the elements of runs; numbers the tracked changes of the document, which are of the time `made`."""

    def __init__(self, made: str) -> None:
        self._made, self._number = made, 0

    def elements(self, run: NotedRun, numbers: Mapping[int, int]) -> Iterator[etree._Element]:
        """The text of a run, tracked if it was changed, and the reference to its note; `numbers` are the numbers of the
        footnotes by `id` of the note."""
        if run.text:
            element = _run(run.text, deleted=run.change is Change.DELETED, small=run.commentary)
            yield element if run.change is Change.KEPT else self._tracked(run, element)
        if run.note is not None:
            yield _superscript(_element("footnoteReference", id=str(numbers[id(run.note)])))

    def _tracked(self, run: NotedRun, element: etree._Element) -> etree._Element:
        self._number += 1
        change = "ins" if run.change is Change.INSERTED else "del"
        author = legal(run.person) or "proof"
        return _element(change, element, id=str(self._number), author=author, date=self._made)


def _element(name: str, *children: etree._Element, **attributes: str) -> etree._Element:
    """An element with these children and attributes; all names are in the namespace `w`."""
    element = OxmlElement(f"w:{name}", {qn(f"w:{key}"): value for key, value in attributes.items()})
    element.extend(children)
    return element


def _run(text: str, *, deleted: bool = False, small: bool = False) -> etree._Element:
    sizes = [_element(name, val=str(COMMENTARY_HALF_POINTS)) for name in ("sz", "szCs")] if small else []
    words = _element("delText" if deleted else "t")
    words.text = legal(text)
    words.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")
    return _element("r", *([_element("rPr", *sizes)] if small else []), words)


def _superscript(mark: etree._Element) -> etree._Element:
    """A run for the number of a footnote."""
    return _element("r", _element("rPr", _element("vertAlign", val="superscript")), mark)


def _add_footnotes(document: DocxDocument, notes: Sequence[str]) -> None:
    separators = [
        _footnote(number, _element("r", _element(kind)), type=kind)
        for number, kind in ((-1, "separator"), (0, "continuationSeparator"))
    ]
    footnotes = [
        _footnote(number, _superscript(_element("footnoteRef")), _run(f" {words}"))
        for number, words in enumerate(notes, FIRST_FOOTNOTE)
    ]
    root = _element("footnotes", *separators, *footnotes)
    data = etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True)
    part = Part(PackURI("/word/footnotes.xml"), FOOTNOTES_TYPE, data, document.part.package)
    document.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)


def _footnote(number: int, *runs: etree._Element, **attributes: str) -> etree._Element:
    return _element("footnote", _element("p", *runs), id=str(number), **attributes)
