"""TEI P5: the text in its layers, page and column breaks, corrections and readings of witnesses, zones on images.

A column is `cb`; the second half-row of a note begins with `lb`; a note is `note` with its layer as its type. In a
running edition with images, `pb` and `cb` stand where the pages and columns of the images begin. A correction is
`choice` of `sic` and `corr`, with its person (`resp`) and its authority (`evidence`). A footnote of the edition's own
apparatus is `app` within its `note`: the lemma, the reading, its witness or authority, and the wording of the note.

A place where a witness has another reading is `app`: `lem` is the base's text (with the correction, if there is one),
each `rdg` another reading with its witnesses. The `type` says how the readings differ, not which is wrong. Outside of
`app` a witness has the text of the base without its corrections, as its last `milestone` says: `n` is the number of the
witness's own character with which it continues, `unit="lacuna"` means that it has nothing until its next milestone,
`type="moved"` that it has this part in another order. Each witness can be reconstructed from the file.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path

from lxml import etree

import proof
from proof.collation.apparatus import apparatus_of
from proof.collation.classes import Class
from proof.collation.collation import Collation
from proof.collation.witnesses import full_names, witness_names
from proof.exports.apparatus import ApparatusPlace, Milestone, apparatus
from proof.exports.collation_notes import house_note, with_moved
from proof.exports.corrections import PlacedCorrection
from proof.exports.marked_pages import columns_found, image_names
from proof.exports.xml import add, identified, legal, root_of, written
from proof.model.geometry import Box
from proof.model.result import CheckedCharacter, CheckedColumn, PageResult
from proof.store.authorities import REASON, SAME_BOOK
from proof.text.addresses import Addresses
from proof.text.column import ENTITY, parse_column
from proof.text.layers import BlockKind, Layer, LayerStretch, TextBlock
from proof.text.lines import LINE_ENDING
from proof.text.model import Page, Script
from proof.text.transcription import Footnote, Format, Transcription

NAMESPACE = "http://www.tei-c.org/ns/1.0"
_NOTES = frozenset(Layer) - {Layer.CANON, Layer.UNDIVIDED, Layer.HEADING}
"""The layers that are written as `note`."""

_EVIDENCE = {SAME_BOOK: "internal", REASON: "conjecture"}
"""The TEI names of internal evidence; the image, a witness or another book are external evidence."""

_NOTE_TYPES = {
    Layer.COMMENTARY: "commentary",
    Layer.SUBCOMMENTARY: "subcommentary",
    Layer.GLOSS: "gloss",
    Layer.EDITOR: "editor",
    Layer.LEMMA: "lemma",
    Layer.APPARATUS: "apparatus",
}
"""The type of `note` for each layer of notes."""


def tei(
    edition: Transcription,
    placed: Iterable[PlacedCorrection] = (),
    pages: Sequence[PageResult] = (),
    collations: Sequence[Collation] = (),
    title: str = "",
) -> bytes:
    """An edition as a TEI document. `placed` are the accepted corrections, `pages` the checked pages (for zones),
    `collations` the edition with each of its witnesses; `title` is used if the text does not have one."""
    writer = _Writer(edition, sorted(placed, key=lambda correction: correction.edit.start), list(collations), title)
    writer.facsimile(pages)
    writer.body()
    return written(writer.root)


@dataclass(frozen=True, slots=True)
class _Break:
    """Where in the source a page (`pb`) or column (`cb`) of an image begins, in a file without marks for it. `label` is
    the page's id or the column's number, `facs` its surface or zone."""

    start: int
    element: str
    label: str
    facs: str


class _Writer:
    """Writes a TEI document from the edition's source, in the order of the source."""

    def __init__(
        self, edition: Transcription, corrections: list[PlacedCorrection], collations: list[Collation], title: str
    ) -> None:
        self.edition, self.corrections, self.collations, self.title = edition, corrections, collations, title
        self.images: dict[Path, str] = {}
        """The file names of the images."""
        self.surfaces: dict[str, str] = {}
        """The XML ids of the surfaces of pages, by page id."""
        self.zones: dict[tuple[str, int], str] = {}
        """The XML ids of the zones of columns, by page id and column number."""
        self.boxes: dict[int, str] = {}
        """The XML ids of the zones of characters, by their places in the source."""
        self.breaks: list[_Break] = []
        self.changes: Sequence[ApparatusPlace | Milestone] = apparatus(edition, corrections, collations)
        self.starts = [change.start for change in self.changes]
        self.written: set[int] = set()
        """The numbers of the changes that have been written."""
        self.block_end = 0
        """The end of the last block that was begun."""
        self.reached = 0
        """The end of the written text in the source: a change may reach over markup into the next stretch."""
        notes = apparatus_of(edition) if edition.footnotes else []
        self.apparatus = {(note.start, note.text): note for note in notes}
        """The parsed footnotes of the edition, by their beginning in the source and their text."""
        people = dict.fromkeys(change.correction.person for change in corrections)
        self.people = {name: f"r{number}" for number, name in enumerate(people, start=1)}
        """The XML ids of the persons who made the corrections."""
        self.halves: dict[str, tuple[str, str]] = {}
        """For the two corrections of a moved character, by their flags: the XML id of the correction, and that of the
        other one."""
        moved = ((change, removal) for change, removal in with_moved(corrections) if removal is not None)
        for number, (change, removal) in enumerate(moved, start=1):
            to, source = f"m{number}", f"m{number}from"
            self.halves |= {change.correction.flag: (to, source), removal.correction.flag: (source, to)}
        self.root = root_of("TEI", NAMESPACE)
        self._header()
        self.text = etree.Element(f"{{{NAMESPACE}}}text")

    def _header(self) -> None:
        header = add(self.root, "teiHeader")
        file = add(header, "fileDesc")
        statement = add(file, "titleStmt")
        title = self.title or self.edition.title or self.edition.work
        add(statement, "title").text = legal(title) or self.edition.path.stem
        for name, ident in self.people.items():
            responsible = identified(add(statement, "respStmt"), ident)
            add(responsible, "resp").text = "corrections" if name else "corrections by persons not named"
            add(responsible, "name").text = legal(name) or "unknown"
        add(add(file, "publicationStmt"), "p").text = "Made from a transcription by proofreading it."
        source = add(file, "sourceDesc")
        listed = add(source, "listWit")
        names = {"base": self.edition.path.name}
        names |= {f"w{n}": name for n, name in enumerate(witness_names(self.collations), start=1)}
        full = {siglum: name for change in self.corrections for siglum, name in change.correction.names if name}
        full |= full_names(self.collations)
        for ident, name in names.items():
            identified(add(listed, "witness", n=name), ident).text = legal(full.get(name, name))
        encoding = add(header, "encodingDesc")
        application = add(add(encoding, "appInfo"), "application", ident="proof", version=_version())
        add(application, "label").text = "proof"
        if self.collations:
            add(encoding, "variantEncoding", method="parallel-segmentation", location="internal")
        usage = add(add(header, "profileDesc"), "langUsage")
        code = "lzh-Hans" if self.edition.script is Script.SIMPLIFIED else "lzh-Hant"
        add(usage, "language", ident=code).text = "Classical Chinese"

    def facsimile(self, pages: Sequence[PageResult]) -> None:
        """A surface for each page that has an image, with a zone for each column and each corrected character."""
        shown = [page for page in pages if page.shown]
        self.images = image_names(pages)
        if shown:
            parent = add(self.root, "facsimile")
            for number, page in enumerate(shown, start=1):
                self._surface(parent, page, f"s{number}")
        self.breaks.sort(key=lambda mark: mark.start)  # stable: a page stays before its first column
        self.root.append(self.text)

    def _surface(self, parent: etree._Element, page: PageResult, name: str) -> None:
        width, height = page.image_size
        surface = identified(add(parent, "surface", ulx="0", uly="0", lrx=str(width), lry=str(height)), name)
        add(
            surface,
            "graphic",
            url=self.images[page.image] if page.image else "",
            width=f"{width}px",
            height=f"{height}px",
        )
        self.surfaces[page.page] = name
        addresses = Addresses(self.edition)
        if self.edition.paged:
            for number, column in enumerate(page.columns, start=1):
                zone = _zone(surface, f"{name}c{number}", "column", column.box)
                if self._is_as_checked(addresses, page, column):
                    self.zones.setdefault((page.page, column.number), zone)
        else:
            self._detected_columns(surface, page, name, addresses)
        for number, character in enumerate(page.characters, start=1):
            start = _start(addresses, page, character)
            has_zone = not self.edition.paged or (page.page, character.line) in self.zones
            if start is not None and has_zone and self._is_changed(start):
                self.boxes[start] = _zone(surface, f"{name}g{number}", "character", character.box)

    def _detected_columns(self, surface: etree._Element, page: PageResult, name: str, addresses: Addresses) -> None:
        """Write zones for the columns found on the image of a running edition, and note where in the source the page
        and its columns begin."""
        column_breaks = []
        characters = sorted(page.characters, key=attrgetter("line", "offset"))
        for number, column in enumerate(columns_found(page.columns, characters), start=1):
            zone = _zone(surface, f"{name}c{number}", "column", column.box)
            starts = [_start(addresses, page, character) for character in column.characters]
            known_starts = [start for start in starts if start is not None]
            if known_starts:
                column_breaks.append(_Break(min(known_starts), "cb", str(number), zone))
        if column_breaks:
            self.breaks.append(_Break(min(mark.start for mark in column_breaks), "pb", page.page, name))
            self.breaks += column_breaks

    def _is_as_checked(self, addresses: Addresses, page: PageResult, column: CheckedColumn) -> bool:
        """Whether a column of the text still reads as it did when its page was checked, so that its box is valid."""
        span = addresses.find(page.page, column.number)
        return span is not None and self.edition.text[slice(*span)] == column.source

    def _is_changed(self, start: int) -> bool:
        """Whether a correction or a witness's reading begins at `start`."""
        first, after = bisect_left(self.starts, start), bisect_left(self.starts, start + 1)
        return any(isinstance(change, ApparatusPlace) for change in self.changes[first:after])

    def body(self) -> None:
        """Write the text, block by block, with the page breaks of the edition and its footnotes."""
        body = add(self.text, "body")
        page_marks = self.edition.marks
        unwritten_marks = sorted(page_marks)
        footnotes: defaultdict[int, list[Footnote]] = defaultdict(list)
        for note in self.edition.footnotes:
            if note.anchor is not None:
                footnotes[note.anchor].append(note)
        divisions = _Divisions(body)
        paragraph: etree._Element | None = None
        for block in self.edition.blocks:
            if block.kind is BlockKind.HEADING and self.edition.format is Format.CRITICAL:
                parent = add(divisions.open(block.level, block.anchor), "head")
            else:
                if block.kind is not BlockKind.COLUMN or paragraph is None:
                    paragraph = add(divisions.current(), "p")
                    if block.kind is BlockKind.HEADING:
                        paragraph.set("rend", "heading")
                parent = paragraph
            # a page without a mark of its own begins with its first column
            while unwritten_marks and unwritten_marks[0] <= block.start:
                start = unwritten_marks.pop(0)
                self._added_columns(start, paragraph)
                self._page(page_marks[start], paragraph)
            self._block(block, parent, footnotes)
        for start in unwritten_marks:
            self._added_columns(start, paragraph)
            self._page(page_marks[start], paragraph)
        self._added_columns(len(self.edition.text), paragraph)
        if next(body.iter(f"{{{NAMESPACE}}}p"), None) is None:
            add(divisions.current(), "p")

    def _added_columns(self, end: int, paragraph: etree._Element | None) -> None:
        """Write the columns that are added behind the last one of a page, which ends at `end`."""
        if paragraph is not None:
            for number in self._between(self.reached, end + 1):
                self._change(paragraph, number)

    def _page(self, page: Page, paragraph: etree._Element | None) -> None:
        element = add(paragraph if paragraph is not None else self.text, "pb", n=page.id)
        if page.id in self.surfaces:
            element.set("facs", f"#{self.surfaces[page.id]}")

    def _block(self, block: TextBlock, parent: etree._Element, footnotes: Mapping[int, Sequence[Footnote]]) -> None:
        """Write a block, with the footnotes that are anchored in it."""
        self.block_end = block.end
        if block.kind is BlockKind.COLUMN:
            holder = parent[-1] if len(parent) and _continues_note(parent, block) else parent
            mark = add(holder, "cb", n=str(block.number))
            if (block.page, block.number) in self.zones:
                mark.set("facs", f"#{self.zones[block.page, block.number]}")
        remaining = sorted(place for place in footnotes if block.start <= place <= block.end)
        last: LayerStretch | None = None
        ends = {stretch.end for stretch in block.stretches} - {stretch.start for stretch in block.stretches}
        for stretch in block.stretches:
            self._between_stretches(parent, max(block.start, self.reached), stretch.start, last, block)
            while remaining and remaining[0] < stretch.start:
                for note in footnotes[remaining.pop(0)]:
                    self._footnote(parent, note)
            self._stretch(parent, stretch, last, block, behind=stretch.end in ends)
            last = stretch
        self._between_stretches(parent, max(block.start, self.reached), block.end + 1, last, block)
        for place in remaining:
            for note in footnotes[place]:
                self._footnote(parent, note)

    def _between_stretches(
        self, parent: etree._Element, start: int, end: int, last: LayerStretch | None, block: TextBlock
    ) -> None:
        """Write the changes that begin between `start` and `end`, where the block has no text, such as in an empty
        half-row. Within a note they go into the open `note`, or into a new one. `last` is the stretch before."""
        for number in self._between(start, end):
            change_start = self.starts[number]
            target = parent
            if block.kind is BlockKind.COLUMN and self._in_note(block, change_start):
                layer = last.layer if last is not None and last.layer in _NOTES else Layer.COMMENTARY
                divided = last is not None and "/" in self.edition.text[last.end : change_start]
                target = _note(parent, layer, divided=divided)
            self.reached = max(self.reached, self._change(target, number))

    def _in_note(self, block: TextBlock, at: int) -> bool:
        """Whether a place of a column is within a note."""
        before = self.edition.text[block.start : at]
        opened = max(before.rfind("("), before.rfind("（"))
        closed = max(before.rfind(")"), before.rfind("）"))
        if opened == closed:  # no bracket before it: the column may begin within a note
            behind = self.edition.text[at : block.end]
            return bool(re.match(r"[^(（]*[)）]", behind))
        return opened > closed

    def _between(self, start: int, end: int) -> list[int]:
        """The numbers of the unwritten changes that begin at `start` or later, and before `end`."""
        between = range(bisect_left(self.starts, start), bisect_left(self.starts, end))
        return [number for number in between if number not in self.written]

    def _footnote(self, parent: etree._Element, note: Footnote) -> None:
        element = add(parent, "note", place="foot", n=legal(note.label))
        apparatus_note = self.apparatus.get((note.start, note.text))
        if apparatus_note is None or not apparatus_note.understood:
            element.text = legal(note.text)
            return
        app = add(element, "app", type="edition")
        add(app, "lem").text = legal(apparatus_note.lemma)
        add(app, "rdg").text = legal(apparatus_note.reading)
        if named := apparatus_note.witness or apparatus_note.authority:
            add(app, "wit").text = legal(named)
        add(app, "note").text = legal(note.text)

    def _stretch(
        self,
        parent: etree._Element,
        stretch: LayerStretch,
        last: LayerStretch | None,
        block: TextBlock,
        *,
        behind: bool,
    ) -> None:
        """Write a stretch into the element of its layer; `last` is the stretch before. `behind`: also write a change at
        its end, where no other stretch begins."""
        target = parent
        if stretch.layer in _NOTES:
            same = last is not None and last.layer is stretch.layer
            target = _note(parent, stretch.layer, divided=same and block.kind is BlockKind.COLUMN)
        elif stretch.layer is Layer.HEADING and parent.tag != f"{{{NAMESPACE}}}head":
            target = add(parent, "label")
        at = max(stretch.start, self.reached)
        for number in self._between(at, stretch.end + behind):
            if self.starts[number] >= at:
                self._plain_to(target, at, self.starts[number])
                at = self._change(target, number)
        self._plain_to(target, at, stretch.end)
        self.reached = max(at, stretch.end)

    def _plain_to(self, target: etree._Element, start: int, end: int) -> None:
        """Write the source from `start` to `end`, with the pages and columns of images that begin there."""
        while self.breaks and self.breaks[0].start < end:
            broken_at = max(self.breaks[0].start, start)
            _text(target, self.edition.text[start:broken_at])
            start = broken_at
            self._break(target)
        _text(target, self.edition.text[start:end])

    def _break(self, target: etree._Element) -> None:
        """Write the next page or column of an image."""
        mark = self.breaks.pop(0)
        add(target, mark.element, n=mark.label, facs=f"#{mark.facs}")

    def _change(self, target: etree._Element, number: int) -> int:
        """Write the change with that number; gives the end of the written text in the source."""
        self.written.add(number)
        change = self.changes[number]
        if isinstance(change, Milestone):
            self._milestone(target, change)
            return change.start
        while self.breaks and self.breaks[0].start < max(change.end, change.start + 1):
            self._break(target)
        if any(text != change.base for _, text in change.readings):
            app = add(target, "app", type=change.category.replace(" ", "-"))
            agreeing = [f"#w{witness + 1}" for witness, text in change.readings if text == change.base]
            self._base(add(app, "lem", wit=" ".join(["#base", *agreeing])), change)
            for text in dict.fromkeys(text for _, text in change.readings if text != change.base):
                names = " ".join(f"#w{witness + 1}" for witness, other in change.readings if other == text)
                _text(add(app, "rdg", wit=names), text)
        else:
            self._base(target, change)
        return change.end

    def _milestone(self, target: etree._Element, milestone: Milestone) -> None:
        mark = add(
            target, "milestone", unit="text" if milestone.number else "lacuna", edRef=f"#w{milestone.witness + 1}"
        )
        if milestone.number:
            mark.set("n", str(milestone.number))
        if milestone.moved:
            mark.set("type", Class.MOVED.value)

    def _base(self, holder: etree._Element, change: ApparatusPlace) -> None:
        """Write into `holder` the text of the base at a place, and its correction."""
        source = self.edition.text[change.start : change.end]
        if change.placed is None:
            _text(holder, source)
            return
        correction = change.placed.correction
        responsible = f"#{self.people[correction.person]}"
        if correction.copy_reads is not None:
            _text(holder, source)
            note = add(holder, "note", type="copy", resp=responsible)
            note.text = legal(house_note(change.placed, self.edition.script))
            return
        if not correction.changes:
            _text(add(holder, "sic", resp=responsible), source)
            return
        if correction.restores:
            _text(holder, correction.replacement)
            return
        choice = add(holder, "choice")
        if correction.flag in self.halves:
            ident, ident_of_other = self.halves[correction.flag]
            identified(choice, ident).set("corresp", f"#{ident_of_other}")
        _text(add(choice, "sic"), change.placed.removed)
        corr = add(choice, "corr", resp=responsible)
        if correction.authority:
            corr.set("evidence", _EVIDENCE.get(correction.authority, "external"))
        columns = LINE_ENDING.split(change.placed.edit.replacement)
        if change.start > self.block_end and not columns[-1]:  # behind the last column of a page
            columns = ["", *columns[:-1]]
        for number, column in enumerate(columns):
            if number:
                add(corr, "cb" if self.edition.paged else "lb")
            _with_notes(corr, column)
        if change.start in self.boxes:
            choice.set("facs", f"#{self.boxes[change.start]}")


@dataclass(slots=True)
class _Divisions:
    """Divisions (`div`) of the body, nested by the levels of their headings. `stack` are the open divisions, each with
    its level, the outermost first; level 0 has no heading."""

    body: etree._Element
    stack: list[tuple[int, etree._Element]] = field(default_factory=list)

    def current(self) -> etree._Element:
        """The innermost open division; if none is open, a new one without heading."""
        if not self.stack:
            self.stack.append((0, add(self.body, "div")))
        return self.stack[-1][1]

    def open(self, level: int, anchor: str) -> etree._Element:
        """A new division for a heading of that level, with `anchor` as its number. It closes the open divisions of its
        level and of lower levels."""
        while self.stack and self.stack[-1][0] >= level:
            self.stack.pop()
        if self.stack and self.stack[-1][0] == 0:
            self.stack.pop()
        division = add(self.stack[-1][1] if self.stack else self.body, "div")
        if anchor:
            division.set("n", legal(anchor))
        self.stack.append((level, division))
        return division


def _continues_note(parent: etree._Element, block: TextBlock) -> bool:
    """Whether the column begins within the note in which the column before ended."""
    last = parent[-1]
    first = next((stretch for stretch in block.stretches if stretch.source.strip()), None)
    return first is not None and first.layer in _NOTES and _open_note(last, _NOTE_TYPES[first.layer])


def _note(parent: etree._Element, layer: Layer, *, divided: bool) -> etree._Element:
    """The inline note of a layer that is open at the end of an element, with a new line break if it is `divided` there;
    a new note if none is open."""
    if not len(parent) or not _open_note(parent[-1], _NOTE_TYPES[layer]):
        return add(parent, "note", place="inline", type=_NOTE_TYPES[layer])
    if divided:
        add(parent[-1], "lb")
    return parent[-1]


def _open_note(element: etree._Element, kind: str) -> bool:
    """Whether an element is an inline note of that kind, with no text after it."""
    if element.tag != f"{{{NAMESPACE}}}note" or element.tail:
        return False
    return element.get("type") == kind and element.get("place") == "inline"


def _with_notes(parent: etree._Element, text: str) -> None:
    """Append a text to an element, its notes `(right/left)` as inline notes."""
    at = 0
    for run in parse_column(text).runs:
        if not run.is_note:
            continue
        first, last = run.cells[0], run.cells[-1]
        start, end = text.rfind("(", at, first.offset), text.find(")", last.offset + last.length)
        middle = text.rfind("/", start, run.left[0].offset) if run.left else end
        _text(parent, text[at:start])
        note = add(parent, "note", place="inline", type=_NOTE_TYPES[Layer.COMMENTARY])
        _text(note, text[start + 1 : middle])
        if run.left:
            add(note, "lb")
            _text(note, text[middle + 1 : end])
        at = end + 1
    _text(parent, text[at:])


def _text(parent: etree._Element, text: str) -> None:
    """Append text to an element, its entities as `g`."""
    at = 0
    for entity in ENTITY.finditer(text):
        _plain(parent, text[at : entity.start()])
        add(parent, "g", type=re.sub(r"[^A-Za-z0-9]", "", entity[0])).text = legal(entity[0])
        at = entity.end()
    _plain(parent, text[at:])


def _plain(parent: etree._Element, text: str) -> None:
    """Append text without entities to an element."""
    text = legal(text)
    if not text:
        return
    if len(parent):
        parent[-1].tail = (parent[-1].tail or "") + text
    else:
        parent.text = (parent.text or "") + text


def _start(addresses: Addresses, page: PageResult, character: CheckedCharacter) -> int | None:
    """The code point of the source at which a character of a page begins; None if the source has no such line."""
    span = addresses.find(page.page, character.line)
    return None if span is None else span[0] + character.offset


def _zone(surface: etree._Element, ident: str, kind: str, box: Box) -> str:
    """Add a zone to a surface; gives its id."""
    x, y, w, h = box.rounded()
    corners = {"ulx": str(x), "uly": str(y), "lrx": str(x + w), "lry": str(y + h)}
    identified(add(surface, "zone", type=kind, **corners), ident)
    return ident


def _version() -> str:
    """The version of the program without what TEI does not allow in one, such as `.dev0`."""
    release = re.match(r"\d+(?:\.\d+)*", proof.__version__)
    return release[0] if release else "0"
