"""The format of critical editions: Markdown with front matter, headings with anchors (`### 鄉射禮 {#5.0}`), commentary
in `<small>`, and footnotes on the editor's changes (`[^3]: 西：原作東，據嚴本校勘記改。`).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from proof.errors import TextError
from proof.locale.marking import _
from proof.text.encoding import Decoded
from proof.text.layers import BlockKind, Layer, LayerStretch, TextBlock, line_number, numbered_lines
from proof.text.remarks import Remark, RemarkCode
from proof.text.transcription import Footnote, Format, Transcription

MARK = re.compile(r"<small>|^\[\^[^\]\n]+\]:|^#{1,6}[ \t]+\S", re.MULTILINE)
_FRONT = re.compile(r"---[ \t]*\r?\n")
_FRONT_END = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE)
_FRONT_LINE = re.compile(r"\s*$|[A-Za-z_][\w .-]*:(?:\s|$)|[ \t]+\S|- |#(?!#)")
"""A line that may belong to front matter: empty, `key: value`, indented, an item of a list, a comment."""

_HALF_OPENED = re.compile(
    r"(?:--?[ \t]*\r?\n|\s+)?(?=title:[ \t])(?:[A-Za-z_][\w-]*:[^\n]*\n)+(?:---|\.\.\.)[ \t]*(?=\r?\n|$)"
)
"""Front matter whose first line is missing."""

_EMPTY_LINE = re.compile(r"^[ \t]*\r?\n", re.MULTILINE)
_TITLE = re.compile(r"""^title:[ \t]*(?P<quote>["']?)(?P<title>.*?)(?P=quote)[ \t]*\r?$""", re.MULTILINE)
_HEADING = re.compile(r"(?P<marks>#{1,6})[ \t]+(?P<title>.*?)[ \t]*(?:\{#(?P<anchor>[^}]*)\})?[ \t]*$")
_DEFINITION = re.compile(r"\[\^(?P<label>[^\]]+)\]:[ \t]*")
_MARKUP = re.compile(
    r"<(?P<close>/?)small>|\[\^(?P<label>[^\]\n]+)\]|<!--.*?-->|</?[A-Za-z][^<>\n]*>|\*\*|__|"
    r"!\[[^\]\n]*\]\([^()\n]*\)|\[(?=[^\[\]\n]+\]\()|(?<=[^\s\]])\]\([^()\n]*\)|"
    r"^(?:>[ \t]*)+|^[ \t]*(?:[-+]|[0-9]+[.)])[ \t]+",
    re.MULTILINE,
)
"""Markup within a line: commentary, references, tags, emphasis, images, links, quotes, lists."""


@dataclass(slots=True)
class _Reader:
    """Reads the body line by line. `references` maps the labels of footnotes to the places that refer to them,
    `definitions` are their texts. `small_line` is the line of a `<small>` that is still open, 0 for none."""

    path: Path
    text: str
    blocks: list[TextBlock] = field(default_factory=list)
    references: dict[str, int] = field(default_factory=dict)
    definitions: list[Footnote] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    small_line: int = 0

    def remark(self, number: int, code: RemarkCode, **values: str | int) -> None:
        self.remarks.append(Remark.of(self.path, number, code, **values))

    def line(self, begin: int, line: str, number: int) -> None:
        if not line.strip():
            return
        end = begin + len(line)
        if (match := _DEFINITION.match(line)) is not None:
            start = begin + match.end()
            self.definitions.append(Footnote(match["label"], self.text[start:end], start, number, None))
        elif (match := _HEADING.match(line)) is not None:
            start = begin + match.start("title")
            stretches = (LayerStretch(Layer.HEADING, start, match["title"]),) if match["title"] else ()
            anchor, level = match["anchor"] or "", len(match["marks"])
            self.blocks.append(TextBlock(BlockKind.HEADING, begin, end, number, stretches, level=level, anchor=anchor))
        else:
            self.blocks.append(
                TextBlock(BlockKind.PARAGRAPH, begin, end, number, tuple(self.stretches(begin, end, number)))
            )

    def stretches(self, begin: int, end: int, number: int) -> list[LayerStretch]:
        parts, at = [], begin
        for markup in _MARKUP.finditer(self.text, begin, end):
            if markup.start() > at:
                parts.append(self.stretch(at, markup.start()))
            at = markup.end()
            if markup["label"] is not None:
                if markup["label"] in self.references:
                    self.remark(number, RemarkCode.FOOTNOTE_TWICE, label=markup["label"])
                self.references.setdefault(markup["label"], markup.start())
            elif markup["close"] is not None:
                self.small(number, closing=bool(markup["close"]))
        if at < end:
            parts.append(self.stretch(at, end))
        return parts

    def stretch(self, start: int, end: int) -> LayerStretch:
        return LayerStretch(Layer.COMMENTARY if self.small_line else Layer.CANON, start, self.text[start:end])

    def small(self, number: int, *, closing: bool) -> None:
        if closing and not self.small_line:
            self.remark(number, RemarkCode.SMALL_NOT_OPENED)
        elif not closing and self.small_line:
            self.remark(number, RemarkCode.SMALL_NESTED, first=self.small_line)
        self.small_line = 0 if closing else number

    def footnotes(self) -> tuple[Footnote, ...]:
        """The footnotes with their anchors. Adds remarks on those that lack a reference or a text."""
        for note in self.definitions:
            if note.label not in self.references:
                self.remark(note.file_line, RemarkCode.FOOTNOTE_UNUSED, label=note.label)
        defined = {note.label for note in self.definitions}
        for label, start in self.references.items():
            if label not in defined:
                self.remark(line_number(self.text, start), RemarkCode.FOOTNOTE_MISSING, label=label)
        return tuple(replace(note, anchor=self.references.get(note.label)) for note in self.definitions)


def parse_critical(decoded: Decoded, path: Path) -> Transcription:
    """Parse a decoded file. Raises TextError if it has nothing but front matter without an end."""
    text = decoded.text
    front = _front_matter(text, path)
    reader = _Reader(path, text)
    for fault_line, code in front.faults:
        reader.remark(fault_line, code)
    for number, begin, line in numbered_lines(text, front.body):
        reader.line(begin, line, number)
    if reader.small_line:
        reader.remark(reader.small_line, RemarkCode.SMALL_OPEN)
    footnotes = reader.footnotes()
    return Transcription.of_blocks(
        decoded, path, Format.CRITICAL, reader.blocks, reader.remarks, front.title, footnotes
    )


def front_matter(title: str) -> str:
    """Front matter with a title."""
    return f"---\ntitle: {json.dumps(title, ensure_ascii=False)}\n---\n"


def has_front_matter(text: str) -> bool:
    """Whether a text begins with front matter with a title, which no other format has."""
    if _HALF_OPENED.match(text):
        return True
    opening = _FRONT.match(text)
    closing = _FRONT_END.search(text, opening.end()) if opening else None
    return bool(opening and _TITLE.search(text, opening.end(), closing.start() if closing else len(text)))


@dataclass(frozen=True, slots=True)
class _Front:
    """Front matter: the code point at which the body begins, the title, and remarks with their lines."""

    body: int
    title: str = ""
    faults: tuple[tuple[int, RemarkCode], ...] = ()


def _front_matter(text: str, path: Path) -> _Front:
    """The front matter of a text. If its last line is missing, or comes only after marks or an empty line of the body,
    the front matter ends at the first line that cannot belong to it. Raises TextError if there is no such line."""
    half = _HALF_OPENED.match(text)
    if half is not None:
        return _Front(half.end(), _title_in(text, 0, half.end()), ((1, RemarkCode.FRONT_MATTER_BROKEN),))
    opening = _FRONT.match(text)
    if opening is None:
        return _Front(0)
    closing = _FRONT_END.search(text, opening.end())
    end = closing.start() if closing else len(text)
    others = _other_lines(text, opening.end(), end)
    if closing is None and not others:
        raise TextError(path, 1, _("the front matter has no end: expected a line --- after it"))
    has_body = bool(others) and (MARK.search(text, others[0], end) or _EMPTY_LINE.search(text, others[0], end))
    if closing is not None and not has_body:
        faults = tuple((line_number(text, start), RemarkCode.FRONT_MATTER_BROKEN) for start in others)
        return _Front(closing.end(), _title_in(text, opening.end(), end), faults)
    body = others[0]
    faults = ((line_number(text, body), RemarkCode.FRONT_MATTER_OPEN),)
    return _Front(body, _title_in(text, opening.end(), body), faults)


def _other_lines(text: str, start: int, end: int) -> list[int]:
    """The starts of lines that cannot belong to front matter."""
    lines = re.finditer(r"^.*$", text[start:end], re.MULTILINE)
    return [start + line.start() for line in lines if not _FRONT_LINE.match(line[0])]


def _title_in(text: str, start: int, end: int) -> str:
    title = _TITLE.search(text, start, end)
    return _scalar(title["title"], title["quote"]) if title else ""


def _scalar(text: str, quote: str) -> str:
    """The value of a title, with escapes resolved: backslashes between double quotes, doubled single quotes."""
    if quote == "'":
        return text.replace("''", "'")
    try:
        return str(json.loads(f'"{text}"')) if quote else text
    except ValueError:
        return text
