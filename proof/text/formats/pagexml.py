"""PAGE XML: a page a file, a column a line. Half-rows of a note that the file names as such (`structure
{type:note-right;}`) are one column with the text around them.

What is read is the text of the lines; the same characters in their region, words and glyphs are corrected with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from proof.text.extraction import Extraction
from proof.text.formats import TextFormat
from proof.text.formats.columns import Half, Line, draft_of_columns, write_page
from proof.text.formats.xml_tree import Node, Run, root_name, tree

_ROW = re.compile(r"structure\s*\{[^}]*type:\s*note-(right|left)\b")


def _read(data: bytes, path: Path) -> Extraction:
    root = tree(data, path)
    page = root.child("Page") or Node("Page", {}, 0)
    draft = draft_of_columns(data)
    regions = _in_order(page)
    name = Path(page.attributes.get("imageFilename", "").replace("\\", "/")).stem or path.stem
    write_page(draft, name, map(_lines, regions))
    return draft.done()


def _in_order(page: Node) -> list[Node]:
    """The regions with lines, in the reading order that the page gives, those that it does not name behind."""
    regions = [region for region in page.all("TextRegion") if region.child("TextLine")]
    order = page.child("ReadingOrder")
    named = [node.attributes.get("regionRef", "") for node in _references(order)] if order else []
    rank = {name: number for number, name in enumerate(named)}
    return sorted(regions, key=lambda region: rank.get(region.attributes.get("id", ""), len(rank)))


def _references(group: Node) -> Iterator[Node]:
    children = [child for child in group.content if isinstance(child, Node)]
    for child in sorted(children, key=lambda child: int(child.attributes.get("index", 0) or 0)):
        if child.name.startswith("RegionRef"):
            yield child
        yield from _references(child)


def _lines(region: Node) -> Iterator[Line]:
    lines = [(line, _equivalent(line)) for line in region.children("TextLine")]
    whole = _equivalent(region)
    texts = ["".join(run.text for run in runs) for _, runs in lines]
    together = _copies(whole, "\n".join(texts))
    at = 0
    for (line, runs), text in zip(lines, texts, strict=True):
        note_row = _ROW.search(line.attributes.get("custom", ""))
        copies = [together[at : at + len(text)]] if together else []
        copies += [copy for part in _parts(line) if (copy := _copies(part, text))]
        yield Line(tuple(runs), Half(note_row[1]) if note_row else None, tuple(map(tuple, copies)))
        at += len(text) + 1


def _parts(line: Node) -> Iterator[list[Run]]:
    """The text of a line as its words have it, and as their glyphs do."""
    words = list(line.children("Word"))
    for parts in (words, [glyph for word in words for glyph in word.children("Glyph")]):
        if parts:
            yield [run for part in parts for run in _equivalent(part)]


def _equivalent(node: Node) -> list[Run]:
    """The first text of a line, word or glyph: that of the lowest index, as readers take it."""
    given: Sequence[Node] = list(node.children("TextEquiv"))
    first = min(given, key=lambda equivalent: int(equivalent.attributes.get("index", 0) or 0), default=None)
    unicode = first.child("Unicode") if first else None
    return list(unicode.runs()) if unicode else []


def _copies(runs: Iterable[Run], text: str) -> list[Run]:
    """A run of its own for each character of a text; empty where the runs say another one."""
    copies = [char for run in runs for char in run.characters()]
    return copies if [copy.text for copy in copies] == list(text) else []


FORMAT = TextFormat("page", frozenset({".xml"}), lambda data, _: root_name(data) == "PcGts", _read)
