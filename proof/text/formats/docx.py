"""DOCX: paragraphs, headings and footnotes. Runs in a smaller size than the usual one are commentary. Tracked
insertions are read, tracked deletions are not.

The XML of the archive is parsed directly, since python-docx does not give the position of a character in
`word/document.xml` and rewrites the whole file.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from proof.text.extraction import Extraction
from proof.text.formats import TextFormat
from proof.text.formats.archives import member_names, member_tree
from proof.text.formats.running import Running
from proof.text.formats.xml_tree import Node, Run, escaped

_DOCUMENT = "word/document.xml"
_FOOTNOTES = "word/footnotes.xml"
_CORE = "docProps/core.xml"


def _read(data: bytes, path: Path) -> Extraction:
    names = member_names(data)
    title = ""
    if _CORE in names:
        title = next((node.text().strip() for node in member_tree(data, _CORE, path).all("title")), "")
    notes = {}
    if _FOOTNOTES in names:
        for note in member_tree(data, _FOOTNOTES, path).all("footnote"):
            notes[note.attributes.get("id", "")] = tuple(run for text in note.all("t") for run in text.runs())
    document = member_tree(data, _DOCUMENT, path)
    running = Running(data, escaped, title)
    normal = _usual_size(document)
    for paragraph in document.all("p"):
        running.paragraph(_level(paragraph))
        _take(paragraph, running, notes, normal)
    return running.done()


def _take(node: Node, running: Running, notes: dict[str, tuple[Run, ...]], normal: int) -> None:
    for child in node.content:
        if not isinstance(child, Node) or child.name in ("del", "p", "rt", "instrText", "Fallback"):
            continue
        if child.name != "r":
            _take(child, running, notes, normal)
            continue
        small = 0 < _size(child) < normal
        if small:
            running.open_note()
        _take_run(child, running, notes)
        if small:
            running.close_note()


def _take_run(node: Node, running: Running, notes: dict[str, tuple[Run, ...]]) -> None:
    for part in node.content:
        if not isinstance(part, Node):
            continue
        if part.name == "t":
            for run in part.runs():
                running.read(run)
        elif part.name in ("br", "cr"):
            running.paragraph()
        elif part.name == "footnoteReference":
            running.footnote(*notes.get(part.attributes.get("id", ""), ()))
        elif part.name in ("ruby", "rubyBase"):
            for inner in part.all("r"):
                _take_run(inner, running, notes)


def _level(paragraph: Node) -> int:
    """The heading level from the name of the paragraph style, 3 to 6; 0 for a paragraph that is no heading."""
    for style in paragraph.all("pStyle"):
        name = style.attributes.get("val", "").lower()
        digits = "".join(char for char in name if char.isdecimal())
        if name.startswith(("heading", "標題", "标题", "title")):
            return min(int(digits or 1) + 2, 6)
    return 0


def _size(run: Node) -> int:
    """The font size of a run in half points, 0 if the run has none of its own."""
    properties = run.child("rPr")
    size = properties.child("sz") if properties else None
    value = size.attributes.get("val", "") if size else ""
    return int(value) if value.isdecimal() else 0


def _usual_size(document: Node) -> int:
    """The most frequent stated font size by characters, in half points, but at least 21; 0 if no run states a size."""
    sizes: Counter[int] = Counter()
    for run in document.all("r"):
        sizes[_size(run)] += sum(len(text.text()) for text in run.children("t"))
    sizes.pop(0, None)
    stated = max(sizes, key=lambda size: (sizes[size], size), default=0)
    return max(stated, 21) if stated else 0


FORMAT = TextFormat("docx", frozenset({".docx"}), lambda data, _: _DOCUMENT in member_names(data), _read)
