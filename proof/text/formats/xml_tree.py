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
from typing import NamedTuple
from xml.parsers import expat
from xml.sax.saxutils import escape

from proof.errors import TextError
from proof.locale.marking import _
from proof.text.extraction import Site

MAX_DEPTH = 200
"""Maximum depth of nested elements; no real text comes near it."""

_BEFORE_ROOT = rb"<\?.*?\?>\s*|<!--.*?-->\s*|<!DOCTYPE[^>\[]*(?:\[[^\]]*\])?[^>\[]*>\s*"
_ROOT = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*(?>" + _BEFORE_ROOT + rb")*+<([^\s/>?!]+)", re.DOTALL)
_ENCODING = re.compile(rb"""\A(?:\xef\xbb\xbf)?<\?xml[^>]*?encoding\s*=\s*["']([^"']+)["']""")
_UTF_8 = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})


class Run(NamedTuple):
    """A run of text. A verbatim run has the same characters as its bytes in the file. Any other is the text of a
    reference or of a CDATA section."""

    text: str
    site: Site
    verbatim: bool

    def characters(self) -> list[Run]:
        """One run for each character; the text of a reference stays one run."""
        if self.site.size != len(self.text.encode()):
            return [self]
        runs, at = [], self.site.start
        for char in self.text:
            size = len(char.encode())
            runs.append(Run(char, Site(at, size, self.site.member), self.verbatim))
            at += size
        return runs


@dataclass(slots=True)
class Node:
    """An element. Names are without namespaces. `at` and `end` are the byte offsets of its start tag and end tag."""

    name: str
    attributes: dict[str, str]
    at: int
    end: int = 0
    content: list[Node | Run] = field(default_factory=list)

    def children(self, name: str) -> Iterator[Node]:
        return (child for child in self.content if isinstance(child, Node) and child.name == name)

    def child(self, name: str) -> Node | None:
        return next(self.children(name), None)

    def all(self, name: str) -> Iterator[Node]:
        """The elements of that name within this one, in the order of the document."""
        for child in self.content:
            if isinstance(child, Node):
                if child.name == name:
                    yield child
                yield from child.all(name)

    def has(self, name: str) -> bool:
        """Whether an element of that name is within this one."""
        return next(self.all(name), None) is not None

    def runs(self) -> Iterator[Run]:
        """The runs of text within this element, in the order of the document."""
        for child in self.content:
            if isinstance(child, Run):
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
    parser = expat.ParserCreate("utf-8", namespace_separator=" ")
    parser.buffer_text = False
    parser.UseForeignDTD(True)
    root = Node("", {}, 0)
    open_nodes = [root]
    in_cdata: list[bool] = []  # has an entry while the parser is inside a CDATA section, which the handlers change

    def start(name: str, attributes: dict[str, str]) -> None:
        if len(open_nodes) > MAX_DEPTH:
            raise TextError(
                path,
                parser.CurrentLineNumber,
                _("more than %(most)s elements stand within one another"),
                most=MAX_DEPTH,
            )
        local = {key.rpartition(" ")[2]: value for key, value in attributes.items()}
        node = Node(name.rpartition(" ")[2], local, parser.CurrentByteIndex)
        open_nodes[-1].content.append(node)
        open_nodes.append(node)

    def end(_: str) -> None:
        open_nodes.pop().end = parser.CurrentByteIndex

    def text(value: str) -> None:
        at, raw = parser.CurrentByteIndex, value.encode()
        verbatim = data.startswith(raw, at) and not raw.startswith(b"&") and not in_cdata
        size = len(raw) if verbatim or in_cdata else _reference_size(data, at)
        open_nodes[-1].content.append(Run(value, Site(at, size, member), verbatim))

    def skipped(name: str, is_parameter: bool) -> None:
        if not is_parameter:
            at = parser.CurrentByteIndex
            site = Site(at, _reference_size(data, at), member)
            open_nodes[-1].content.append(Run(unescape(f"&{name};"), site, False))

    def declared(name: str, *_unused: object) -> None:
        raise TextError(
            path, parser.CurrentLineNumber, _("declares an entity (%(name)s): write it out and delete it"), name=name
        )

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, text
    parser.StartCdataSectionHandler, parser.EndCdataSectionHandler = lambda: in_cdata.append(True), in_cdata.clear
    parser.SkippedEntityHandler, parser.EntityDeclHandler = skipped, declared
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        where = f"{member}: " if member else ""
        why = expat.ErrorString(error.code)
        raise TextError(
            path, error.lineno, _("%(where)sis no well-formed XML (%(why)s)"), where=where, why=why
        ) from error
    except ValueError as error:
        raise TextError(path, None, _("is no XML that can be read (%(error)s)"), error=error) from error
    return next(child for child in root.content if isinstance(child, Node))


def _reference_size(data: bytes, at: int) -> int:
    """The number of bytes of a reference, of CR LF, or of another character."""
    if data[at : at + 1] == b"&":
        end = data.find(b";", at)
        return end + 1 - at if end >= 0 else 1
    return 2 if data[at : at + 2] == b"\r\n" else 1


def attribute_runs(data: bytes, node: Node, name: str) -> list[Run]:
    """The value of an attribute as runs of text."""
    pattern = rb"""<[^\s<>]+(?:\s+[^\s=<>]+\s*=\s*(?:"[^"]*"|'[^']*'))*?\s+%s\s*=\s*(?:"([^"]*)"|'([^']*)')"""
    match = re.compile(pattern % name.encode()).match(data, node.at)
    if match is None:
        return []
    group = 1 if match[1] is not None else 2
    runs = []
    for part in re.finditer(rb"&[^;]*;|[^&]+|&", match[group]):
        text = part[0].decode("utf-8", "replace")
        site = Site(match.start(group) + part.start(), len(part[0]))
        runs.append(Run(unescape(text), site, not text.startswith("&")))
    return runs
