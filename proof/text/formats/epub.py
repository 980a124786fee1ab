"""EPUB 2 and 3: headings and paragraphs of the book's documents in the order of its spine; `small` is commentary. Ruby
readings and the navigation are left out.

The archive is parsed directly, since no EPUB library gives the position of a character in its document; EbookLib is
also under the AGPL."""

from __future__ import annotations

import posixpath
from pathlib import Path
from urllib.parse import unquote

from proof.errors import TextError
from proof.locale.marking import _
from proof.text.extraction import Extraction
from proof.text.formats import TextFormat
from proof.text.formats.archives import member, member_names, member_tree
from proof.text.formats.running import Running
from proof.text.formats.xml_tree import Node, Run, escaped

_CONTAINER = "META-INF/container.xml"
_BLOCKS = frozenset({"p", "div", "li", "blockquote", "section", "article", "tr", "td", "th", "dd", "dt", "br", "body",
                     "h1", "h2", "h3", "h4", "h5", "h6", "pre", "aside", "header", "footer", "figure"})  # fmt: skip
_UNREAD = frozenset({"head", "script", "style", "rt", "rp", "rtc", "svg", "math"})


def _read(data: bytes, path: Path) -> Extraction:
    names = member_names(data)
    if "META-INF/encryption.xml" in names and b"EncryptedData" in member(data, "META-INF/encryption.xml", path):
        raise TextError(path, None, _("is an encrypted EPUB: give one without protection"))
    container = member_tree(data, _CONTAINER, path)
    package = next((node.attributes.get("full-path", "") for node in container.all("rootfile")), "")
    root = member_tree(data, package, path)
    running = Running(data, escaped, next((node.text().strip() for node in root.all("title")), ""))
    items = {item.attributes.get("id", ""): item.attributes for item in root.all("item")}
    for reference in root.all("itemref"):
        item = items.get(reference.attributes.get("idref", ""), {})
        if "nav" in item.get("properties", "").split() or "href" not in item:
            continue
        name = posixpath.normpath(posixpath.join(posixpath.dirname(package), unquote(item["href"])))
        if name in names and "html" in item.get("media-type", "html"):
            _take(member_tree(data, name, path), running)
            running.paragraph()
    return running.done()


def _take(node: Node, running: Running) -> None:
    for child in node.content:
        if isinstance(child, Run):
            running.read(child)
        elif child.name not in _UNREAD and "noteref" not in child.attributes.get("type", ""):
            _inside(child, running)


def _inside(child: Node, running: Running) -> None:
    heading = child.name[:1] == "h" and child.name[1:].isdigit()
    note = child.name == "small" or "footnote" in child.attributes.get("type", "")
    if child.name in _BLOCKS:
        running.paragraph(min(int(child.name[1:]) + 2, 6) if heading else 0)
    if note:
        running.open_note()
    _take(child, running)
    if note:
        running.close_note()
    if child.name in _BLOCKS:
        running.paragraph()


FORMAT = TextFormat("epub", frozenset({".epub"}), lambda data, _: _CONTAINER in member_names(data), _read)
