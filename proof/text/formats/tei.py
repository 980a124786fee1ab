"""TEI P5, and the P5a of CBETA: pages and columns if the text has page breaks and line breaks, else running text.

The text is that of the edition: the lemma of an `app`, `corr`, `orig` or `abbr` of a `choice`, and inline notes as
notes. The header, footnotes of the apparatus, running heads and CBETA's tables of contents (`mulu`) are left out, with
remarks on the notes. The readings of an `app`, in the text or after it (`from`, `to`), become notes on their place,
like the footnotes of a critical edition; a lemma after the text is corrected with the words that it repeats. A
character without a code point (`g`) is read as an entity."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from proof.text.extraction import COLUMN_END, Draft, Extraction, SourceRun
from proof.text.formats import TextFormat
from proof.text.formats.columns import UNSAFE, page_mark
from proof.text.formats.prose import ProseWriter
from proof.text.formats.xml_tree import Node, element_site, escaped, root_name, tree
from proof.text.milestones import Milestones
from proof.text.remarks import RemarkCode

_ROOTS = frozenset({"TEI", "TEI.2", "teiCorpus"})
_UNREAD = frozenset({"teiHeader", "facsimile", "standOff", "rdg", "fw", "mulu", "figDesc", "del"})
_INLINE = frozenset({"inline", "inline2", "interlinear"})
_MILESTONES = frozenset({"pb", "lb", "cb", "space", "caesura"})
_HEADS = frozenset({"head", "jhead"})
_BLOCKS = frozenset({"p", "ab", "l", "lg", "head", "jhead", "byline", "docNumber", "item", "cell", "row", "div", "t",
                     "list", "juan", "closer", "opener", "trailer", "titlePage", "entry", "form", "def"})  # fmt: skip
_DIVIDING = re.compile(r"[\s，。；：,;]")
"""Spaces, and the punctuation between the parts of a note of the apparatus."""


def _extract(data: bytes, path: Path) -> Extraction:
    root = tree(data, path)
    body = Node("text", {}, 0, content=list(root.all("text")))
    has_lines = body.has("lb") or body.has("cb")
    text = _Columns.of(data, root, body) if body.has("pb") and has_lines else ProseWriter(data, escaped, _title(root))
    apparatus = _Apparatus.of(text.draft, root)
    _Reader(data, text, apparatus).take(body)
    apparatus.note_anchored(data, root)
    return text.done()


def _title(root: Node) -> str:
    """The first title of the header, preferably in Chinese and that of the monograph (CBETA has several)."""
    titles = [title for statement in root.all("titleStmt") for title in statement.children("title")]
    chinese = [title for title in titles if title.get("lang").startswith(("zh", "lzh"))]
    of_monograph = [title for title in chinese if title.get("level") == "m"]
    candidates = of_monograph or chinese or titles
    return "".join(candidates[0].text().split()) if candidates else ""


def _images_by_id(root: Node) -> dict[str, str]:
    """The image file of each surface and each graphic of the `facsimile`, by its id."""
    graphics = {graphic.get("id"): graphic.get("url") for graphic in root.all("graphic")}
    first_graphics = ((surface.get("id"), next(surface.all("graphic"), None)) for surface in root.all("surface"))
    surfaces = {name: graphic.get("url") for name, graphic in first_graphics if graphic}
    return {name: unquote(url) for name, url in (graphics | surfaces).items()}


def _is_apparatus(node: Node) -> bool:
    """Whether a division after the text is its apparatus, as in CBETA: its entries point to places of the text."""
    return any("from" in entry.attributes for entry in (node, *node.all("app"))) or any(
        "target" in note.attributes for note in node.all("note")
    )


def _chosen(node: Node) -> Sequence[Node | SourceRun]:
    """The children of an element that are read. Of alternatives (`choice`, `app`, `tt`) this is only one."""
    if node.name == "choice":
        for name in ("corr", "orig", "abbr"):
            if child := node.child(name):
                return [child]
    if node.name == "back":
        return [child for child in node.content if isinstance(child, SourceRun) or not _is_apparatus(child)]
    if node.name == "app" and (lemma := node.child("lem")):
        return [lemma]
    if node.name == "tt":
        return [*node.children("t")][:1]
    return node.content


def _is_footnote(note: Node) -> bool:
    """Whether a note belongs to the apparatus or to an editor, and not to the text."""
    place = note.get("place").split()
    return not _INLINE.intersection(place) and (bool(place) or "resp" in note.attributes or "n" in note.attributes)


def _gaiji(node: Node) -> str:
    """The name of a character without a code point, as in an entity."""
    if entity := re.fullmatch(r"&([A-Z][A-Z0-9+-]*);", node.text().strip()):
        return entity[1]
    reference = node.get("ref") or node.get("type")
    name = re.sub(r"[^A-Z0-9]", "", reference.upper())
    return name if re.search(r"[0-9]", name) and name[:1].isalpha() else f"G{name}0"


def _with_notes(text: str) -> str:
    """Columns in the syntax of XML, their notes `(right/left)` as elements whose half-rows a line break parts. Not for
    files in which a line break begins a column."""
    parts = re.split(r"\(([^()]*)\)", escaped(text))
    parts[1::2] = [f'<note place="inline">{note.replace("/", "<lb/>")}</note>' for note in parts[1::2]]
    return "".join(parts)


@dataclass(slots=True)
class _Apparatus:
    """Makes notes from the readings of `app` elements. `witnesses` maps the ids of witnesses to their names, `anchors`
    the ids of anchors to their code points in the text."""

    draft: Draft
    witnesses: dict[str, str]
    anchors: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, draft: Draft, root: Node) -> _Apparatus:
        with_id = (witness for witness in root.all("witness") if "id" in witness.attributes)
        return cls(draft, {witness.attributes["id"]: _words(witness).strip("【】〔〕[]") for witness in with_id})

    def after(self, node: Node) -> None:
        """Store the place of an anchor, or add notes on the readings of an `app`, after `node` was read."""
        if node.name == "anchor":
            self.anchors[node.get("id")] = self.draft.length
        elif node.name == "app" and "from" not in node.attributes:
            self.note(node, self.draft.length)

    def note_anchored(self, data: bytes, root: Node) -> None:
        """Add notes on the readings of each `app` that refers to anchors (`from`, `to`), after the text was read."""
        for app in root.all("app"):
            if "from" not in app.attributes:
                continue
            start, end = (self.anchors.get(app.get(name).removeprefix("#")) for name in ("from", "to"))
            lemma = app.child("lem")
            if start is not None and end is not None and lemma:
                self.note(app, end)
                self.draft.repeat(start, end, [char for run in lemma.runs() for char in run.characters()])
            else:
                line = data.count(b"\n", 0, app.at) + 1
                self.draft.remark_on(_words(app), RemarkCode.APPARATUS_UNPLACED, place=line)

    def note(self, app: Node, at: int) -> None:
        """Add a note on each reading of an `app` whose lemma ends at code point `at`."""
        lemma = app.child("lem")
        base = _words(lemma) if lemma else ""
        for reading in app.children("rdg"):
            ids = [ident.removeprefix("#") for ident in reading.get("wit").split()]
            names = "、".join(self.witnesses.get(ident, ident) for ident in ids) or "一"
            words = _words(reading)
            if base and words != base:
                self.draft.note(at, f"{base}：{names}作{words}" if words else f"{base}：{names}無")
            elif words != base:
                self.draft.note(at, f"{words}：{names}有")


def _words(node: Node) -> str:
    """The words of an element without spaces and punctuation that would divide a note."""
    parts = []
    for child in _chosen(node):
        if isinstance(child, SourceRun):
            parts.append(_DIVIDING.sub("", child.text))
        elif child.name == "g":
            parts.append(f"&{_gaiji(child)};")
        elif child.name not in _UNREAD and child.name != "note":
            parts.append(_words(child))
    return "".join(parts)


@dataclass(slots=True)
class _Reader:
    """Reads the elements of a document and writes them to `text`. `depth` is the number of open `div` elements."""

    data: bytes
    text: ProseWriter | _Columns
    apparatus: _Apparatus
    depth: int = 0

    def take(self, node: Node) -> None:
        """Read the content of an element."""
        for child in _chosen(node):
            if isinstance(child, SourceRun):
                self.text.add(child)
            elif child.name == "g":
                self.text.add(SourceRun(f"&{_gaiji(child)};", element_site(self.data, child), False))
            elif child.name == "note" and _is_footnote(child):
                self.footnote(child)
            elif child.name == "note":
                with self.text.note():
                    self.take(child)
            elif isinstance(self.text, _Columns) and child.name in _MILESTONES:
                self.text.milestone(child)
            elif child.name not in _UNREAD:
                self.element(child)
                self.apparatus.after(child)

    def footnote(self, note: Node) -> None:
        if isinstance(self.text, _Columns):
            self.text.draft.remark_on(note.text().strip(), RemarkCode.NOTE_OF_APPARATUS)
        else:
            innermost = next(note.all("note"), note)  # a note with an `app` has its text in an inner note
            self.text.footnote(*innermost.runs())

    def element(self, element: Node) -> None:
        """Read the content of an element, which in running text may be a paragraph or a heading."""
        if isinstance(self.text, _Columns) or element.name not in _BLOCKS:
            self.take(element)
            return
        self.depth += element.name == "div"
        self.text.paragraph(max(self.depth, 1) if element.name in _HEADS else None)
        self.take(element)
        self.text.paragraph()
        self.depth -= element.name == "div"


@dataclass(slots=True)
class _Columns:
    """Writes pages with columns into a draft. `edition` is the one whose page and line breaks count if the document has
    those of several; `prefix` begins the id of every page; `column_break` is the element that begins a column.
    `images` maps the ids in the `facsimile` to image files. `open_notes` is the number of nested notes that are open;
    `in_left_half`: the left half-row of the note has begun."""

    draft: Draft
    edition: str
    prefix: str
    column_break: str
    images: dict[str, str]
    paged: bool = False
    line_open: bool = False
    open_notes: int = 0
    in_left_half: bool = False
    milestones: Milestones = field(init=False)

    def __post_init__(self) -> None:
        self.draft.breaks = self.milestones = Milestones(self.draft.data)

    @classmethod
    def of(cls, data: bytes, root: Node, body: Node) -> _Columns:
        edition = next(body.all("pb")).get("ed")
        document = root.get("id")
        prefix = f"{document}_p" if document else ""
        column_break = "cb" if body.has("cb") else "lb"
        escape = _with_notes if column_break == "cb" else escaped
        columns = cls(Draft(data, escape, UNSAFE), edition, prefix, column_break, _images_by_id(root))
        if title := _title(root):
            columns.draft.mark(f"#+TITLE: {title}\n")
        return columns

    def done(self) -> Extraction:
        self.end_line()
        return self.draft.done()

    def end_line(self) -> None:
        if self.line_open:
            self.draft.mark(COLUMN_END)
        self.line_open = False

    def add(self, run: SourceRun) -> None:
        if self.paged and (self.line_open if not run.text else run.text.strip("\n\r\t ")):
            self.line_open = True
            self.draft.add(run)
        elif run.text.strip():
            self.draft.remark(RemarkCode.LINES_ON_NO_PAGE, number=1)

    def milestone(self, node: Node) -> None:
        """Write a page break, a line break or a space."""
        if node.name in ("space", "caesura"):
            self.draft.mark("\u3000")
        elif node.attributes.get("ed", self.edition) != self.edition:
            return  # a break of another edition
        elif node.name == "pb":
            self.end_line()
            name = node.get("n") or node.get("id")
            self.break_at(node, begins_column=False)
            page_mark(self.draft, name if self.prefix in name else self.prefix + name, self.image_of(node))
            self.paged = True
        elif node.name == self.column_break:
            self.end_line()
            self.break_at(node, begins_column=True)
            self.line_open = True
        elif self.open_notes and not self.in_left_half:  # a line break where columns have breaks of their own
            self.draft.mark("/")
            self.in_left_half = True

    def break_at(self, node: Node, *, begins_column: bool) -> None:
        """Record where a column or a page begins in the file."""
        site = element_site(self.draft.data, node)
        self.milestones.add(self.draft.length, site.start, site.end, begins_column=begins_column)

    def image_of(self, page_break: Node) -> str:
        """The image file that `facs` names, itself or by an id in the `facsimile`; empty if it names none."""
        named = next(iter(page_break.get("facs").split()), "")
        return self.images.get(named[1:], "") if named.startswith("#") else unquote(named)

    @contextmanager
    def note(self) -> Iterator[None]:
        """What is written within is a note."""
        if not self.open_notes:
            self.draft.mark("(")
            self.in_left_half = False
        self.open_notes += 1
        yield
        self.open_notes -= 1
        if not self.open_notes:
            self.draft.mark(")")


FORMAT = TextFormat("tei", frozenset({".xml", ".tei"}), lambda data, _: root_name(data) in _ROOTS, _extract)
