"""The critical edition: Markdown with front matter, `### heading {#5.0}`, `<small>` for the commentary, and
footnotes `[^3]: 西：原作東，據嚴本校勘記改。` for what the editor changed and why.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from proof.errors import TextError
from proof.text.encoding import Decoded
from proof.text.script import script_of
from proof.text.witness import Block, BlockKind, Edition, Footnote, Format, Layer, Stretch

MARK = re.compile(r"<small>|^\[\^[^\]\n]+\]:|^#{1,6} .*\{#[^}\n]+\}\s*$", re.MULTILINE)
_FRONT = re.compile(r"---[ \t]*\r?\n")
_FRONT_END = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE)
_TITLE = re.compile(r"""^title:[ \t]*(?P<quote>["']?)(?P<title>.*?)(?P=quote)[ \t]*\r?$""", re.MULTILINE)
_HEADING = re.compile(r"(?P<marks>#{1,6})[ \t]+(?P<title>.*?)[ \t]*(?:\{#(?P<anchor>[^}]*)\})?[ \t]*$")
_DEFINITION = re.compile(r"\[\^(?P<label>[^\]]+)\]:[ \t]*")
_MARKUP = re.compile(r"<(?P<close>/?)small>|\[\^(?P<label>[^\]\n]+)\]|<!--.*?-->|</?[A-Za-z][^<>\n]*>")


@dataclass(slots=True)
class _Reader:
    """Reads the body line by line; `small` says whether the commentary goes on."""

    path: Path
    text: str
    blocks: list[Block] = field(default_factory=list)
    references: dict[str, int] = field(default_factory=dict)
    definitions: list[tuple[str, str, int, int]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    opened: int = 0
    """The line on which an open `<small>` stands; 0 for none."""

    def warn(self, number: int, message: str) -> None:
        self.warnings.append(f"{self.path}:{number}: {message}")

    def line(self, begin: int, line: str, number: int) -> None:
        if not line.strip():
            return
        end = begin + len(line)
        if (found := _DEFINITION.match(line)) is not None:
            start = begin + found.end()
            self.definitions.append((found["label"], self.text[start:end], start, number))
        elif (found := _HEADING.match(line)) is not None:
            start = begin + found.start("title")
            stretches = (Stretch(Layer.HEADING, start, found["title"]),) if found["title"] else ()
            anchor, level = found["anchor"] or "", len(found["marks"])
            self.blocks.append(Block(BlockKind.HEADING, begin, end, number, stretches, level=level, anchor=anchor))
        else:
            self.blocks.append(
                Block(BlockKind.PARAGRAPH, begin, end, number, tuple(self.stretches(begin, end, number)))
            )

    def stretches(self, begin: int, end: int, number: int) -> list[Stretch]:
        found, at = [], begin
        for markup in _MARKUP.finditer(self.text, begin, end):
            if markup.start() > at:
                found.append(self.stretch(at, markup.start()))
            at = markup.end()
            if markup["label"] is not None:
                if markup["label"] in self.references:
                    self.warn(number, f"footnote [^{markup['label']}] is referred to twice: expected one place")
                self.references.setdefault(markup["label"], markup.start())
            elif markup["close"] is not None:
                self.small(number, closing=bool(markup["close"]))
        if at < end:
            found.append(self.stretch(at, end))
        return found

    def stretch(self, start: int, end: int) -> Stretch:
        return Stretch(Layer.COMMENTARY if self.opened else Layer.CANON, start, self.text[start:end])

    def small(self, number: int, *, closing: bool) -> None:
        if closing and not self.opened:
            self.warn(number, "</small> without <small>: expected the commentary to be opened first")
        elif not closing and self.opened:
            self.warn(number, f"<small> within <small> (line {self.opened}): expected </small> first")
        self.opened = 0 if closing else number

    def footnotes(self) -> tuple[Footnote, ...]:
        found = []
        for label, told, start, number in self.definitions:
            if label not in self.references:
                self.warn(number, f"nothing refers to footnote [^{label}]: expected [^{label}] in the text")
            found.append(Footnote(label, told, start, number, self.references.get(label)))
        for label, start in self.references.items():
            if all(label != known for known, *_ in self.definitions):
                line = self.text.count("\n", 0, start) + 1
                self.warn(line, f"footnote [^{label}] is missing: expected a line that begins [^{label}]:")
        return tuple(found)


def parse_critical(decoded: Decoded, path: Path) -> Edition:
    """The edition that a decoded file holds. Raises TextError where the front matter has no end."""
    text = decoded.text
    body, title = _front_matter(text, path)
    reader = _Reader(path, text)
    begin, number = body, text.count("\n", 0, body) + 1
    for raw in text[body:].split("\n"):
        reader.line(begin, raw.rstrip("\r"), number)
        begin += len(raw) + 1
        number += 1
    if reader.opened:
        reader.warn(reader.opened, "<small> is not closed: expected </small> before the end of the file")
    footnotes = reader.footnotes()
    script = script_of(stretch.source for block in reader.blocks for stretch in block.stretches)
    return Edition(
        path=path,
        format=Format.CRITICAL,
        script=script,
        text=text,
        encoding=decoded.encoding,
        bom=decoded.bom,
        title=title,
        work="",
        blocks=tuple(reader.blocks),
        footnotes=footnotes,
        warnings=tuple(reader.warnings),
    )


def has_front_matter(text: str) -> bool:
    """Whether a text begins with front matter that gives its title, as no other format does."""
    opening = _FRONT.match(text)
    closing = _FRONT_END.search(text, opening.end()) if opening else None
    return bool(opening and closing and _TITLE.search(text, opening.end(), closing.start()))


def _front_matter(text: str, path: Path) -> tuple[int, str]:
    """Where the body begins, and the title that the front matter gives."""
    opening = _FRONT.match(text)
    if opening is None:
        return 0, ""
    closing = _FRONT_END.search(text, opening.end())
    if closing is None:
        raise TextError(path, 1, "the front matter has no end: expected a line --- after it")
    found = _TITLE.search(text, opening.end(), closing.start())
    return closing.end(), _scalar(found["title"], found["quote"]) if found else ""


def _scalar(text: str, quote: str) -> str:
    """What a quoted title says: quotes within it are escaped, or doubled between single ones."""
    if quote == "'":
        return text.replace("''", "'")
    try:
        return str(json.loads(f'"{text}"')) if quote else text
    except ValueError:
        return text
