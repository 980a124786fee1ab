"""DOCX: paragraphs, headings and footnotes. Runs in a smaller size than the usual one are commentary. Tracked
insertions are read, tracked deletions are not.

The XML of the archive is parsed directly, since python-docx does not give the position of a character in
`word/document.xml` and rewrites the whole file.
"""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from proof.text.extraction import Extraction, SourceRun
from proof.text.formats import TextFormat
from proof.text.formats.archives import member_names, member_tree
from proof.text.formats.prose import ProseWriter
from proof.text.formats.xml_tree import Node, escaped

_DOCUMENT = "word/document.xml"
_FOOTNOTES = "word/footnotes.xml"
_CORE = "docProps/core.xml"
_UNREAD = frozenset({"del", "p", "rt", "instrText", "Fallback"})


def _extract(data: bytes, path: Path) -> Extraction:
    names = member_names(data)
    title = member_tree(data, _CORE, path).text_of("title") if _CORE in names else ""
    footnotes = {}
    if _FOOTNOTES in names:
        for footnote in member_tree(data, _FOOTNOTES, path).all("footnote"):
            runs = tuple(run for text in footnote.all("t") for run in text.runs())
            footnotes[footnote.get("id")] = runs
    document = member_tree(data, _DOCUMENT, path)
    reader = _Reader(ProseWriter(data, escaped, title), footnotes, _usual_size(document))
    for paragraph in document.all("p"):
        reader.prose.paragraph(_level(paragraph))
        reader.take(paragraph)
    return reader.prose.done()


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the text of paragraphs. `footnotes` are the texts of the footnotes by their ids; `usual_size` is the font
    size of the text, in half points."""

    prose: ProseWriter
    footnotes: dict[str, tuple[SourceRun, ...]]
    usual_size: int

    def take(self, node: Node) -> None:
        """Read the runs (`r`) of a paragraph, or of a link or an insertion in it."""
        for child in node.elements():
            if child.name == "r":
                is_small = 0 < _size(child) < self.usual_size
                with self.prose.note() if is_small else nullcontext():
                    self.take_run(child)
            elif child.name not in _UNREAD:
                self.take(child)

    def take_run(self, run: Node) -> None:
        """Read the text, the line breaks and the references to footnotes of a run."""
        for part in run.elements():
            if part.name == "t":
                for text in part.runs():
                    self.prose.add(text)
            elif part.name in ("br", "cr"):
                self.prose.paragraph()
            elif part.name == "footnoteReference":
                self.prose.footnote(*self.footnotes.get(part.get("id"), ()))
            elif part.name in ("ruby", "rubyBase"):
                for inner in part.all("r"):
                    self.take_run(inner)


def _level(paragraph: Node) -> int | None:
    """The heading level from the name of the paragraph style; None for a paragraph that is no heading."""
    for style in paragraph.all("pStyle"):
        name = style.get("val").lower()
        if name.startswith(("heading", "標題", "标题", "title")):
            return int("".join(char for char in name if char.isdecimal()) or 1)
    return None


def _size(run: Node) -> int:
    """The font size of a run in half points, 0 if the run has none of its own."""
    properties = run.child("rPr")
    size = properties.child("sz") if properties else None
    value = size.get("val") if size else ""
    return int(value) if value.isdecimal() else 0


def _usual_size(document: Node) -> int:
    """The most frequent stated font size by characters, in half points, but at least 21; 0 if no run states a size."""
    sizes: Counter[int] = Counter()
    for run in document.all("r"):
        sizes[_size(run)] += sum(len(text.text()) for text in run.children("t"))
    sizes.pop(0, None)
    stated = max(sizes, key=lambda size: (sizes[size], size), default=0)
    return max(stated, 21) if stated else 0


FORMAT = TextFormat("docx", frozenset({".docx"}), lambda data, _: _DOCUMENT in member_names(data), _extract)
