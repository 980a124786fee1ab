"""ALTO 2 to 4: each `Page` is a page, each `TextLine` a column. Half-rows of a note are marked by tags, as in the
program's own ALTO. Hyphens (`HYP`) are left out. Corrections also change the copy of a character in a `Glyph`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from proof.text.extraction import Draft, Extraction, SourceRun
from proof.text.formats import TextFormat
from proof.text.formats.columns import UNSAFE, Line, page_name, write_page
from proof.text.formats.xml_tree import Node, attribute_runs, escaped, root_name, tree
from proof.text.model import Row


def _extract(data: bytes, path: Path) -> Extraction:
    root = tree(data, path)
    draft = Draft(data, escaped, UNSAFE)
    halves = {
        tag.get("ID"): Row(label.removeprefix("note-"))
        for tag in root.all("OtherTag")
        if (label := tag.get("LABEL")) in ("note-right", "note-left")
    }
    image_name = page_name(root.text_of("fileName"), path)
    pages = list(root.all("Page"))
    for number, page in enumerate(pages, start=1):
        name = f"{image_name}_{number}" if len(pages) > 1 else image_name
        write_page(draft, name, (_lines(block, data, halves) for block in page.all("TextBlock")))
    return draft.done()


def _lines(block: Node, data: bytes, halves: dict[str, Row]) -> Iterator[Line]:
    for line in block.children("TextLine"):
        half = next((halves[tag] for tag in line.get("TAGREFS").split() if tag in halves), None)
        runs: list[SourceRun] = []
        glyphs: list[SourceRun | None] = []
        for string in line.children("String"):
            content = attribute_runs(data, string, "CONTENT")
            runs += content
            glyphs += _glyphs(string, data, "".join(run.text for run in content))
        yield Line(tuple(runs), half, (tuple(glyphs),))


def _glyphs(string: Node, data: bytes, text: str) -> list[SourceRun | None]:
    """The content of the `Glyph` of each character of a string; None for a character without one."""
    glyphs = [run for glyph in string.children("Glyph") for run in attribute_runs(data, glyph, "CONTENT")]
    by_character: list[SourceRun | None] = []
    at = 0
    for char in text:
        is_same = at < len(glyphs) and glyphs[at].text == char
        by_character.append(glyphs[at] if is_same else None)
        at += is_same
    return by_character


FORMAT = TextFormat("alto", frozenset({".xml"}), lambda data, _: root_name(data) == "alto", _extract)
