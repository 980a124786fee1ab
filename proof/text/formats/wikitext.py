"""Wikitext of Wikisource: a page, or a page of ProofreadPage. The parser is mwparserfromhell, which keeps every
character of the source.

Templates: `{{SK notes}}` and `{{*}}` are commentary, `{{SKchar}}` is a character without code point; of any other
(`{{SK anchor}}`, `{{另}}`) the first argument is text. Headers, footers, categories, `noinclude` of ProofreadPage and
the fore-edge of the Siku (`<史部,正史類,晉書,卷一>`) are left out. `ref` is a footnote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import mwparserfromhell
from mwparserfromhell.nodes import Comment, ExternalLink, Heading, HTMLEntity, Tag, Template, Text, Wikilink
from mwparserfromhell.nodes.extras import Parameter
from mwparserfromhell.wikicode import Wikicode

from proof.text.extraction import Extraction, SourceRun, as_it_is
from proof.text.formats import TextFormat
from proof.text.formats.prose import ProseWriter
from proof.text.formats.text_file import TextFile
from proof.text.formats.variant_markup import NOT_SHOWN, shown
from proof.text.model import is_han
from proof.text.remarks import RemarkCode

SUFFIXES = frozenset({".wiki", ".wikitext", ".mediawiki"})
_XML_OR_ORG = re.compile(rb"(?:\xef\xbb\xbf)?(?:<\?xml|<html|<!DOC|#\+)")
"""The beginning of XML, of HTML and of Org files, whose links look like those of wikitext."""

_SIGNS = re.compile(
    (
        r"\{\{(?:SK ?(?:anchor|notes|char[23]?)|SKQS|[Hh]eader\d?|\*\||YL\||另\||PD-)|<noinclude>|<pagequality|<pages\s"
        r"|\[\[(?:[Cc]ategory|分類|分类|[Ff]ile):|</?poem>|<onlyinclude>"
    ).encode()
)
"""Markup that only wikitext has."""

_MARKUP = re.compile(rb"\{\{[^{}\n]+\}\}|\[\[[^\[\]\n]+\]\]|^==+(?! *[0-9]+[ab]? *=)[^=\n]+==+\s*$", re.MULTILINE)
"""Templates, links and headings, except those of a number alone, which name pages. A file with three of them is
wikitext."""

_NOTES = frozenset({"*", "sk notes", "sknotes", "小注", "注", "夾注", "夹注", "雙行小注", "双行小注", "small", "zhu"})
"""The templates of commentary."""

_CHARACTERS = frozenset({"skchar", "skchar2", "skchar3"})
_HEADERS = re.compile(
    r"(?:skqs )?(?:header\d?|footer)|pd|pd-.*|textquality|versions|translations|authority.*|cc-.*|gfdl.*|novel"
    r"|scripture|detail|rh|runningheader|nop|dhr|clear|page break|toc.*|目錄",
    re.IGNORECASE,
)
"""The templates without text: headers, footers, licences, the layout of pages."""

_LINK_WITHOUT_TEXT = re.compile(r"(?:file|image|category|分類|分类|文件|圖像|图像)\s*:", re.IGNORECASE)
_FORE_EDGE = re.compile(r"^<[經史子集]部[,，][^<>\n]*>[ \t]*$", re.MULTILINE)
_UNREAD_TAGS = frozenset({"noinclude", "pagequality", "pages", "references", "section", "gallery", "math"})


def _recognises(data: bytes, path: Path) -> bool:
    if _XML_OR_ORG.match(data) or b"<pb:" in data:
        return False
    return path.suffix.lower() in SUFFIXES or _SIGNS.search(data) is not None or len(_MARKUP.findall(data)) >= 3


def _extract(data: bytes, path: Path) -> Extraction:
    file = TextFile(data, path)
    visible = shown(file.text)
    code = mwparserfromhell.parse(visible)
    reader = _Reader(ProseWriter(data, as_it_is, _title(code)), file, visible)
    reader.take(code, 0)
    return reader.prose.done()


def _title(code: Wikicode) -> str:
    """The title that the header of the page names, without the edition in brackets; empty if it names none."""
    for template in code.ifilter_templates(recursive=False):
        if _HEADERS.fullmatch(_name(template)) and template.has("title"):
            return re.sub(r"\s*[({（].*", "", _without_hidden(str(template.get("title").value)).strip())
    return ""


def _name(template: Template) -> str:
    """The name of a template in lower case."""
    return _without_hidden(str(template.name)).strip().lower().replace("_", " ")


def _without_hidden(text: str) -> str:
    """The text without the places of markup that is not shown."""
    return text.replace(NOT_SHOWN, "")


@dataclass(slots=True)
class _Reader:
    """Reads the nodes of the source. Each method takes the code point at which its node begins. `visible` is the source
    without what the markup of variants hides."""

    prose: ProseWriter
    file: TextFile
    visible: str

    def take(self, code: Wikicode, start: int) -> None:
        if not code.nodes:
            self.prose.add(self.file.run(start, start))
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
            self.prose.paragraph(node.level - 1)  # the highest heading of a page has level 2
            self.take(node.title, start + node.level)
            self.prose.paragraph()
        elif isinstance(node, HTMLEntity):
            self.prose.add(SourceRun(node.normalize(), self.file.site(start, start + len(str(node))), False))
        elif isinstance(node, ExternalLink) and node.title is not None:
            self.take(node.title, start + str(node).index(str(node.title)))
        elif isinstance(node, Tag):
            self.tag(node, start)
        elif not isinstance(node, Comment | ExternalLink):
            self.text(start, start + len(str(node)))

    def text(self, start: int, end: int) -> None:
        """Read text, in which each line is a paragraph."""
        source = self.visible[start:end]
        in_fore_edges = {at for edge in _FORE_EDGE.finditer(source) for at in range(*edge.span())}
        for part in re.finditer(rf"{NOT_SHOWN}+|[^\n{NOT_SHOWN}]+|\n", source):
            if part[0] == "\n":
                self.prose.paragraph()
            elif part[0][0] == NOT_SHOWN:
                self.remark_on_unread(
                    self.file.text[start + part.start() : start + part.end()], RemarkCode.VARIANT_FORM
                )
            elif part.start() in in_fore_edges:
                self.prose.draft.remark_on(part[0], RemarkCode.FORE_EDGE)
            else:
                if "-{" in part[0] or "}-" in part[0]:
                    self.prose.draft.remark_on(part[0].strip(), RemarkCode.VARIANTS_OPEN)
                self.prose.add(self.file.run(start + part.start(), start + part.end()))

    def remark_on_unread(self, text: str, code: RemarkCode, **values: str) -> None:
        """Add a remark on a text that is not read, if it has Chinese characters."""
        if any(map(is_han, text)):
            self.prose.draft.remark_on(text, code, **values)

    def template(self, node: Template, start: int) -> None:
        name = _name(node)
        if name in _CHARACTERS:
            number = re.sub(r"[^0-9A-Z]", "", str(node.params[0]).upper()) if node.params else ""
            suffix = name.removeprefix("skchar")
            site = self.file.site(start, start + len(str(node)))
            self.prose.add(SourceRun(f"&SK{suffix}-{number or 0};", site, False))
            return
        if _HEADERS.fullmatch(name):
            return
        values = list(_values(node, start))
        with self.prose.note() if name in _NOTES else nullcontext():
            for value, inside in values[:1]:
                self.take(value, inside)
        unread = [value for value, _ in values[1:]]
        unread += (parameter.value for parameter in node.params if parameter.showkey and not _is_first(parameter))
        for value in unread:
            self.remark_on_unread(_without_hidden(str(value)), RemarkCode.TEMPLATE_PART, name=name)

    def tag(self, node: Tag, start: int) -> None:
        name = str(node.tag).strip().lower()
        if name in ("br", "hr", "li", "dd", "dt"):
            self.prose.paragraph()
        if node.contents is None or name in _UNREAD_TAGS:
            return
        contents = str(node.contents)
        opening = str(node.wiki_markup or node.tag)  # `{|` of a table, which wikitext writes without the tag's name
        inside = start + (str(node).index(contents, len(opening)) if contents else max(str(node).find("</"), 0))
        if name == "ref":
            lines = re.finditer(rf"[^\n{NOT_SHOWN}]+", contents)
            self.prose.footnote(*(self.file.run(inside + line.start(), inside + line.end()) for line in lines))
        else:
            with self.prose.note() if name in ("small", "sub") else nullcontext():
                self.take(node.contents, inside)


def _values(node: Template, start: int) -> Iterator[tuple[Wikicode, int]]:
    """The values of the parameters without a name, or named 1, and the code point at which each begins."""
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


FORMAT = TextFormat("wikitext", SUFFIXES | {".txt"}, _recognises, _extract)
