"""XML as a tree in which each run of text has its place in the bytes of the file.

The parser is expat, because it gives the byte offset of an event; lxml gives only the line. Nothing outside the file
is read. Files that declare entities are refused, since their expansion could fill the memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from xml.parsers import expat
from xml.sax.saxutils import escape

from proof.errors import TextError
from proof.locale.marking import _
from proof.text.extraction import Site, SourceRun

MAX_DEPTH = 200
"""Maximum depth of nested elements; no real text comes near it."""

_BEFORE_ROOT = rb"<\?.*?\?>\s*|<!--.*?-->\s*|<!DOCTYPE[^>\[]*(?:\[[^\]]*\])?[^>\[]*>\s*"
_ROOT = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*(?>" + _BEFORE_ROOT + rb")*+<([^\s/>?!]+)", re.DOTALL)
_ENCODING = re.compile(rb"""\A(?:\xef\xbb\xbf)?<\?xml[^>]*?encoding\s*=\s*["']([^"']+)["']""")
_ATTRIBUTE = rb"""\s+[^\s=<>]+\s*=\s*(?:"[^"]*"|'[^']*')"""
_START_TAG = re.compile(rb"<[^\s<>/]+(?:" + _ATTRIBUTE + rb")*\s*(?P<empty>/?)>")
_UTF_8 = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})


@dataclass(slots=True)
class Node:
    """An element. Names are without namespaces. `at` and `end` are the byte offsets of its start tag and end tag."""

    name: str
    attributes: dict[str, str]
    at: int
    end: int = 0
    content: list[Node | SourceRun] = field(default_factory=list)

    def get(self, attribute: str) -> str:
        """The value of an attribute; empty if the element has none."""
        return self.attributes.get(attribute, "")

    def elements(self) -> Iterator[Node]:
        """The child elements."""
        return (child for child in self.content if isinstance(child, Node))

    def children(self, name: str) -> Iterator[Node]:
        """The child elements of that name."""
        return (child for child in self.elements() if child.name == name)

    def child(self, name: str) -> Node | None:
        return next(self.children(name), None)

    def all(self, name: str) -> Iterator[Node]:
        """The elements of that name within this one, in the order of the document."""
        for child in self.elements():
            if child.name == name:
                yield child
            yield from child.all(name)

    def text_of(self, name: str) -> str:
        """The text of the first element of that name within this one, without spaces around it; empty without one."""
        return next((element.text().strip() for element in self.all(name)), "")

    def has(self, name: str) -> bool:
        """Whether an element of that name is within this one."""
        return next(self.all(name), None) is not None

    def runs(self) -> Iterator[SourceRun]:
        """The runs of text within this element, in the order of the document."""
        for child in self.content:
            if isinstance(child, SourceRun):
                yield child
            else:
                yield from child.runs()

    def text(self) -> str:
        """All text within the element."""
        return "".join(run.text for run in self.runs())


def root_name(data: bytes) -> str:
    """The name of the root element without its prefix; empty if the data is no XML."""
    root = _ROOT.match(data[: 1 << 16])
    return root[1].decode("utf-8", "replace").rpartition(":")[2] if root else ""


def escaped(text: str) -> str:
    """The text with characters escaped for text and attributes of XML."""
    return escape(text, {'"': "&quot;"})


def tree(data: bytes, path: Path, member: str = "") -> Node:
    """The root element of a document. Raises TextError, with the line, if it is not well-formed."""
    encoding = _ENCODING.match(data)
    named = encoding[1].decode("ascii", "replace").lower() if encoding else "utf-8"
    if named not in _UTF_8 or data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise TextError(path, 1, _("is XML in %(named)s: save it as UTF-8"), named=named.upper())
    return _Parser(data, path, member).root()


class _Parser:
    """Builds a tree from the events of expat. `open_nodes` are the elements without an end tag so far; the first one
    holds the root."""

    def __init__(self, data: bytes, path: Path, member: str) -> None:
        self.data, self.path, self.member = data, path, member
        self.open_nodes = [Node("", {}, 0)]
        self.in_cdata = False
        self.expat = expat.ParserCreate("utf-8", namespace_separator=" ")
        self.expat.buffer_text = False
        self.expat.UseForeignDTD(True)
        self.expat.StartElementHandler, self.expat.EndElementHandler = self.start, self.end
        self.expat.CharacterDataHandler = self.text
        self.expat.StartCdataSectionHandler, self.expat.EndCdataSectionHandler = self.start_cdata, self.end_cdata
        self.expat.SkippedEntityHandler, self.expat.EntityDeclHandler = self.skipped, self.declared

    def root(self) -> Node:
        """Parse the document and return its root element."""
        try:
            self.expat.Parse(self.data, True)
        except expat.ExpatError as error:
            where, why = f"{self.member}: " if self.member else "", expat.ErrorString(error.code)
            message = _("%(where)sis not well-formed XML (%(why)s)")
            raise TextError(self.path, error.lineno, message, where=where, why=why) from error
        except ValueError as error:
            raise TextError(self.path, None, _("is not XML that can be read (%(error)s)"), error=error) from error
        return next(self.open_nodes[0].elements())

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self.open_nodes) > MAX_DEPTH:
            message = _("more than %(most)s elements are nested")
            raise TextError(self.path, self.expat.CurrentLineNumber, message, most=MAX_DEPTH)
        local = {key.rpartition(" ")[2]: value for key, value in attributes.items()}
        node = Node(name.rpartition(" ")[2], local, self.expat.CurrentByteIndex)
        self.open_nodes[-1].content.append(node)
        self.open_nodes.append(node)

    def end(self, _name: str) -> None:
        node, at = self.open_nodes.pop(), self.expat.CurrentByteIndex
        node.end = at
        if not node.content and self.data.startswith(b"</", at):  # all of its text may have been deleted
            node.content.append(SourceRun("", Site(at, 0, self.member)))

    def text(self, value: str) -> None:
        at, raw = self.expat.CurrentByteIndex, value.encode()
        is_verbatim = self.data.startswith(raw, at) and (self.in_cdata or not raw.startswith(b"&"))
        size = len(raw) if is_verbatim else _reference_size(self.data, at)
        self.add(value, size, is_verbatim=is_verbatim)

    def skipped(self, name: str, is_parameter: bool) -> None:
        """Resolve an entity that the document does not declare: one of HTML."""
        if not is_parameter:
            size = _reference_size(self.data, self.expat.CurrentByteIndex)
            self.add(unescape(f"&{name};"), size, is_verbatim=False)

    def add(self, text: str, size: int, *, is_verbatim: bool) -> None:
        """Add a run of text to the open element: the next `size` bytes of the document."""
        site = Site(self.expat.CurrentByteIndex, size, self.member, escaped=not self.in_cdata)
        self.open_nodes[-1].content.append(SourceRun(text, site, is_verbatim))

    def start_cdata(self) -> None:
        self.in_cdata = True

    def end_cdata(self) -> None:
        self.in_cdata = False

    def declared(self, name: str, *_unused: object) -> None:
        message = _("declares an entity (%(name)s): write it out and delete it")
        raise TextError(self.path, self.expat.CurrentLineNumber, message, name=name)


def _reference_size(data: bytes, at: int) -> int:
    """The number of bytes of a reference, of CR LF, or of another character."""
    if data[at : at + 1] == b"&":
        end = data.find(b";", at)
        return end + 1 - at if end >= 0 else 1
    return 2 if data[at : at + 2] == b"\r\n" else 1


def element_site(data: bytes, node: Node) -> Site:
    """The bytes of an element with its tags."""
    tag = _START_TAG.match(data, node.at)
    end = tag.end() if tag and tag["empty"] else data.find(b">", node.end) + 1
    return Site(node.at, end - node.at)


def attribute_runs(data: bytes, node: Node, name: str) -> list[SourceRun]:
    """The value of an attribute as runs of text."""
    named = rb"""\s+%s\s*=\s*(?:"([^"]*)"|'([^']*)')""" % name.encode()
    match = re.compile(rb"<[^\s<>]+(?:" + _ATTRIBUTE + rb")*?" + named).match(data, node.at)
    if match is None:
        return []
    group = 1 if match[1] is not None else 2
    runs = []
    for part in re.finditer(rb"&[^;]*;|[^&]+|&", match[group]):
        text = part[0].decode("utf-8", "replace")
        site = Site(match.start(group) + part.start(), len(part[0]))
        runs.append(SourceRun(unescape(text), site, not text.startswith("&")))
    return runs
