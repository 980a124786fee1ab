"""PAGE XML: each file is a page, each line a column. Lines that are marked as half-rows of a note (`structure
{type:note-right;}`) form one column with the text around them.

The text is that of the lines. Corrections also change the copies of a character in regions, words and glyphs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from proof.text.extraction import Draft, Extraction, SourceRun
from proof.text.formats import TextFormat
from proof.text.formats.columns import UNSAFE, Line, page_name, write_page
from proof.text.formats.xml_tree import Node, escaped, root_name, tree
from proof.text.model import Row

_ROW = re.compile(r"structure\s*\{[^}]*type:\s*note-(right|left)\b")


def _extract(data: bytes, path: Path) -> Extraction:
    root = tree(data, path)
    page = root.child("Page") or Node("Page", {}, 0)
    draft = Draft(data, escaped, UNSAFE)
    write_page(draft, page_name(page.get("imageFilename"), path), map(_lines, _in_order(page)))
    return draft.done()


def _in_order(page: Node) -> list[Node]:
    """The regions with lines in the reading order of the page, then the regions that this does not name."""
    regions = [region for region in page.all("TextRegion") if region.child("TextLine")]
    order = page.child("ReadingOrder")
    names = [node.get("regionRef") for node in _references(order)] if order else []
    rank = {name: number for number, name in enumerate(names)}
    return sorted(regions, key=lambda region: rank.get(region.get("id"), len(rank)))


def _index(node: Node) -> int:
    """The index of a node among its siblings; 0 if it has none."""
    index = node.get("index")
    return int(index) if index.isdecimal() else 0


def _references(group: Node) -> Iterator[Node]:
    """The references to regions in a group and its inner groups, in their order."""
    for child in sorted(group.elements(), key=_index):
        if child.name.startswith("RegionRef"):
            yield child
        yield from _references(child)


def _lines(region: Node) -> Iterator[Line]:
    """The lines of a region with the copies of their characters in the region, in words and in glyphs."""
    lines = [(line, _equivalent(line)) for line in region.children("TextLine")]
    texts = ["".join(run.text for run in runs) for _, runs in lines]
    in_region = _copies(_equivalent(region), "\n".join(texts))
    at = 0
    for (line, runs), text in zip(lines, texts, strict=True):
        note_row = _ROW.search(line.get("custom"))
        copies = [in_region[at : at + len(text)]] if in_region else []
        copies += [copy for part in _parts(line) if (copy := _copies(part, text))]
        yield Line(tuple(runs), Row(note_row[1]) if note_row else None, tuple(map(tuple, copies)))
        at += len(text) + 1


def _parts(line: Node) -> Iterator[list[SourceRun]]:
    """The text of a line in its words, and in their glyphs."""
    words = list(line.children("Word"))
    for parts in (words, [glyph for word in words for glyph in word.children("Glyph")]):
        if parts:
            yield [run for part in parts for run in _equivalent(part)]


def _equivalent(node: Node) -> list[SourceRun]:
    """The text of a region, line, word or glyph: the alternative with the lowest index."""
    first = min(node.children("TextEquiv"), key=_index, default=None)
    unicode = first.child("Unicode") if first else None
    return list(unicode.runs()) if unicode else []


def _copies(runs: Iterable[SourceRun], text: str) -> list[SourceRun]:
    """The runs divided to one for each character of `text`; empty if they have another text."""
    copies = [char for run in runs for char in run.characters()]
    return copies if [copy.text for copy in copies] == list(text) else []


FORMAT = TextFormat("page", frozenset({".xml"}), lambda data, _: root_name(data) == "PcGts", _extract)
