"""EPUB 2 and 3: headings and paragraphs of the book's documents in the order of its spine; `small` is commentary. Ruby
readings and the navigation are left out.

The archive is parsed directly, since no EPUB library gives the position of a character in its document; EbookLib is
also under the AGPL."""

from __future__ import annotations

import posixpath
from contextlib import nullcontext
from pathlib import Path
from urllib.parse import unquote

from proof.errors import TextError
from proof.locale.marking import _
from proof.text.extraction import Extraction, SourceRun
from proof.text.formats import TextFormat
from proof.text.formats.archives import member, member_names, member_tree
from proof.text.formats.prose import ProseWriter
from proof.text.formats.xml_tree import Node, escaped

_CONTAINER = "META-INF/container.xml"
_HEADING_LEVELS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = frozenset({"p", "div", "li", "blockquote", "section", "article", "tr", "td", "th", "dd", "dt", "br", "body",
                     "pre", "aside", "header", "footer", "figure", *_HEADING_LEVELS})  # fmt: skip
_UNREAD = frozenset({"head", "script", "style", "rt", "rp", "rtc", "svg", "math"})


def _extract(data: bytes, path: Path) -> Extraction:
    names = member_names(data)
    if "META-INF/encryption.xml" in names and b"EncryptedData" in member(data, "META-INF/encryption.xml", path):
        raise TextError(path, None, _("is an encrypted EPUB: name one without protection"))
    container = member_tree(data, _CONTAINER, path)
    package_name = next((node.get("full-path") for node in container.all("rootfile")), "")
    package = member_tree(data, package_name, path)
    prose = ProseWriter(data, escaped, package.text_of("title"))
    items = {item.get("id"): item for item in package.all("item")}
    for reference in package.all("itemref"):
        item = items.get(reference.get("idref"))
        if item is None or "nav" in item.get("properties").split() or "href" not in item.attributes:
            continue
        name = posixpath.normpath(posixpath.join(posixpath.dirname(package_name), unquote(item.get("href"))))
        if name in names and "html" in item.attributes.get("media-type", "html"):
            _take(member_tree(data, name, path), prose)
            prose.paragraph()
    return prose.done()


def _take(node: Node, prose: ProseWriter) -> None:
    """Read the content of an element."""
    for child in node.content:
        if isinstance(child, SourceRun):
            prose.add(child)
        elif child.name not in _UNREAD and "noteref" not in child.get("type"):
            _take_element(child, prose)


def _take_element(child: Node, prose: ProseWriter) -> None:
    """Read an element, which may be a heading, a paragraph or commentary."""
    is_block = child.name in _BLOCKS
    is_note = child.name == "small" or "footnote" in child.get("type")
    if is_block:
        prose.paragraph(_HEADING_LEVELS.get(child.name))
    with prose.note() if is_note else nullcontext():
        _take(child, prose)
    if is_block:
        prose.paragraph()


FORMAT = TextFormat("epub", frozenset({".epub"}), lambda data, _: _CONTAINER in member_names(data), _extract)
