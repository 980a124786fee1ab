"""Wikitext of Wikisource: a page, or a page of ProofreadPage. The parser is mwparserfromhell, which keeps every
character of the source.

Templates: `{{SK notes}}` and `{{*}}` are commentary, `{{SKchar}}` is a character without code point; of any other
(`{{SK anchor}}`, `{{另}}`) the first argument is text. Headers, footers, categories, `noinclude` of ProofreadPage and
the fore-edge of the Siku (`<史部,正史類,晉書,卷一>`) are left out. `ref` is a footnote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import mwparserfromhell
from mwparserfromhell.nodes import Comment, ExternalLink, Heading, HTMLEntity, Tag, Template, Text, Wikilink
from mwparserfromhell.nodes.extras import Parameter
from mwparserfromhell.wikicode import Wikicode

from proof.text.encoding import decode
from proof.text.extraction import Extraction, Site, as_it_is
from proof.text.formats import TextFormat
from proof.text.formats.running import Running
from proof.text.formats.variant_markup import NOT_SHOWN, shown
from proof.text.formats.xml_tree import Run
from proof.text.model import is_han
from proof.text.remarks import QUOTED_CHARACTERS, RemarkCode

SUFFIXES = frozenset({".wiki", ".wikitext", ".mediawiki"})
_SIGNS = re.compile(
    (
        r"\{\{(?:SK ?(?:anchor|notes|char[23]?)|SKQS|[Hh]eader\d?|\*\||YL\||另\||PD-)|<noinclude>|<pagequality|<pages\s"
        r"|\[\[(?:[Cc]ategory|分類|分类|[Ff]ile):|</?poem>|<onlyinclude>"
    ).encode()
)
_MARKUP = re.compile(rb"\{\{[^{}\n]+\}\}|\[\[[^\[\]\n]+\]\]|^==+[^=\n]+==+\s*$", re.MULTILINE)
_NOTES = frozenset({"*", "sk notes", "sknotes", "小注", "注", "夾注", "夹注", "雙行小注", "双行小注", "small", "zhu"})
_CHARACTERS = frozenset({"skchar", "skchar2", "skchar3"})
_HEADERS = re.compile(
    r"(?:skqs )?(?:header\d?|footer)|pd|pd-.*|textquality|versions|translations|authority.*|cc-.*|gfdl.*|novel"
    r"|scripture|detail|rh|runningheader|nop|dhr|clear|page break|toc.*|目錄",
    re.IGNORECASE,
)
_LINK_WITHOUT_TEXT = re.compile(r"(?:file|image|category|分類|分类|文件|圖像|图像)\s*:", re.IGNORECASE)
_FORE_EDGE = re.compile(r"^<[經史子集]部[,，][^<>\n]*>[ \t]*$", re.MULTILINE)
_UNREAD_TAGS = frozenset({"noinclude", "pagequality", "pages", "references", "section", "gallery", "math"})


def _recognises(data: bytes, path: Path) -> bool:
    if data[:1] == b"<" and data[:5] in (b"<?xml", b"<html", b"<!DOC"):
        return False
    if b"<pb:" in data:
        return False
    return path.suffix.lower() in SUFFIXES or _SIGNS.search(data) is not None or len(_MARKUP.findall(data)) >= 3


def _read(data: bytes, path: Path) -> Extraction:
    decoded = decode(path, data)
    visible = shown(decoded.text)
    code = mwparserfromhell.parse(visible)
    reader = _Reader(Running(data, as_it_is, _title(code)), decoded.text, visible, decoded.begins)
    reader.take(code, 0)
    return reader.running.done()


def _title(code: Wikicode) -> str:
    for template in code.ifilter_templates(recursive=False):
        if _HEADERS.fullmatch(_name(template)) and template.has("title"):
            return re.sub(r"\s*[({（].*", "", _clean(str(template.get("title").value)).strip())
    return ""


def _name(template: Template) -> str:
    return _clean(str(template.name)).strip().lower().replace("_", " ")


def _clean(text: str) -> str:
    return text.replace(NOT_SHOWN, "")


@dataclass(slots=True)
class _Reader:
    """Takes the nodes of the source, nearly in its order: a footnote before the text behind it. `byte` is the place in
    the file of the character `at` of the source. `visible` is the source without what the markup of variants hides."""

    running: Running
    source: str
    visible: str
    byte: int
    at: int = 0

    def site(self, start: int, end: int) -> Site:
        """The bytes of the characters from `start` to `end` of the source."""
        if start < self.at:
            self.byte -= len(self.source[start : self.at].encode())
        else:
            self.byte += len(self.source[self.at : start].encode())
        self.at = start
        return Site(self.byte, len(self.source[start:end].encode()))

    def take(self, code: Wikicode, start: int) -> None:
        for node in code.nodes:
            self.node(node, start)
            start += len(str(node))

    def node(self, node: object, start: int) -> None:
        if isinstance(node, Text):
            self.text(start, start + len(str(node)))
        elif isinstance(node, Template):
            self.template(node, start)
        elif isinstance(node, Wikilink):
            title, text = str(node.title), node.text
            if not _LINK_WITHOUT_TEXT.match(title.strip().lstrip(":")):
                inside = start + 2 + (len(title) + 1 if text is not None else 0)
                self.take(text if text is not None else node.title, inside)
        elif isinstance(node, Heading):
            self.running.paragraph(min(max(node.level, 1) + 1, 6))
            self.take(node.title, start + node.level)
            self.running.paragraph()
        elif isinstance(node, HTMLEntity):
            self.running.read(Run(node.normalize(), self.site(start, start + len(str(node))), False))
        elif isinstance(node, ExternalLink) and node.title is not None:
            self.take(node.title, start + str(node).index(str(node.title)))
        elif isinstance(node, Tag):
            self.tag(node, start)
        elif not isinstance(node, Comment | ExternalLink):
            self.text(start, start + len(str(node)))

    def text(self, start: int, end: int) -> None:
        """Text of the source: a line is a paragraph."""
        source = self.visible[start:end]
        edges = {at for part in _FORE_EDGE.finditer(source) for at in range(*part.span())}
        for part in re.finditer(rf"{NOT_SHOWN}+|[^\n{NOT_SHOWN}]+|\n", source):
            if part[0] == "\n":
                self.running.paragraph()
            elif part[0][0] == NOT_SHOWN:
                self.hidden(self.source[start + part.start() : start + part.end()])
            elif part.start() in edges:
                self.running.draft.remark(RemarkCode.FORE_EDGE, text=part[0][:QUOTED_CHARACTERS])
            else:
                if "-{" in part[0] or "}-" in part[0]:
                    self.running.draft.remark(RemarkCode.VARIANTS_OPEN, text=part[0].strip()[:QUOTED_CHARACTERS])
                self.running.read(Run(part[0], self.site(start + part.start(), start + part.end()), True))

    def hidden(self, markup: str) -> None:
        """Remark what the markup of variants holds besides the form that is shown."""
        if any(map(is_han, markup)):
            self.running.draft.remark(RemarkCode.VARIANT_FORM, text=markup[:QUOTED_CHARACTERS])

    def template(self, node: Template, start: int) -> None:
        name = _name(node)
        if name in _CHARACTERS:
            number = re.sub(r"[^0-9A-Z]", "", str(node.params[0]).upper()) if node.params else ""
            suffix = name.removeprefix("skchar")
            self.running.named(f"SK{suffix}-{number or 0}", self.site(start, start + len(str(node))))
            return
        if _HEADERS.fullmatch(name):
            return
        values = list(_values(node, start))
        note = name in _NOTES
        if note:
            self.running.open_note()
        for value, inside in values[:1]:
            self.take(value, inside)
        if note:
            self.running.close_note()
        named = [parameter.value for parameter in node.params if not _is_first(parameter) and parameter.showkey]
        for text in map(_clean, map(str, [*(value for value, _ in values[1:]), *named])):
            if any(map(is_han, text)):
                self.running.draft.remark(RemarkCode.TEMPLATE_PART, name=name, text=text[:QUOTED_CHARACTERS])

    def tag(self, node: Tag, start: int) -> None:
        name = str(node.tag).strip().lower()
        source = str(node)
        if name in ("br", "hr", "li", "dd", "dt"):
            self.running.paragraph()
        if node.contents is None or name in _UNREAD_TAGS:
            return
        opening = str(node.wiki_markup or node.tag)  # `{|` of a table, which wikitext writes without the tag's name
        inside = start + source.index(str(node.contents), len(opening)) if str(node.contents) else start
        if name == "ref":
            self.running.footnote(*self.runs(str(node.contents), inside))
        elif name in ("small", "sub"):
            self.running.open_note()
            self.take(node.contents, inside)
            self.running.close_note()
        else:
            self.take(node.contents, inside)

    def runs(self, text: str, start: int) -> Iterator[Run]:
        for part in re.finditer(rf"[^\n{NOT_SHOWN}]+", text):
            yield Run(part[0], self.site(start + part.start(), start + part.end()), True)


def _values(node: Template, start: int) -> Iterator[tuple[Wikicode, int]]:
    """The values of the parameters that have no name, and where each begins."""
    at = start + 2 + len(str(node.name))
    for parameter in node.params:
        at += 1
        if not parameter.showkey:
            yield parameter.value, at
        elif _is_first(parameter):
            yield parameter.value, at + len(str(parameter.name)) + 1
        at += len(str(parameter))


def _is_first(parameter: Parameter) -> bool:
    """Whether a parameter is called 1, the name of the first one without a name."""
    return str(parameter.name).strip() == "1"


FORMAT = TextFormat("wikitext", SUFFIXES | {".txt"}, _recognises, _read)
