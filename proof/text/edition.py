"""Reading a witness: from a file in any of the formats to an edition."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from proof.errors import TextError
from proof.text import critical, inline, plain, zhushu
from proof.text.encoding import Decoded
from proof.text.formats import decoded_file
from proof.text.kanripo import has_page_mark, header_property, last_page
from proof.text.layers import last_layer, note_parts
from proof.text.lines import lines
from proof.text.mirror import MIRROR
from proof.text.model import Cell, Column, Script, Transcription
from proof.text.pages import LineKind
from proof.text.read import parse_transcription
from proof.text.remarks import Code, Remark
from proof.text.witness import PAGED, BlockKind, Edition, Format, Layer, LayerStretch, PageStart, TextBlock

_HEAD = re.compile(r"^#\+PROPERTY:[ \t]*(?:ID|JUAN)[ \t]", re.MULTILINE)
_INDENTED = re.compile(r"[ \u3000]+")
_VOICES = (
    (re.compile(r"[鄭郑](?:注|氏)"), Layer.COMMENTARY),
    (re.compile(r"[釋释]曰|[疏䟽]曰"), Layer.SUBCOMMENTARY),
    (re.compile(r"[釋释]文|[陸陆]氏"), Layer.GLOSS),
)


def in_script(edition: Edition, named: str) -> Edition:
    """The edition in the script of that name; as it was found where that is `auto`."""
    return edition if named == "auto" else replace(edition, script=Script(named))


def read_edition(path: Path | str, encoding: str | None = None) -> Edition:
    """The edition in the file at `path`; its format is found from its marks.

    Raises TextError where the file cannot be read, is in another encoding, or is in none of the formats.
    """
    return parse_edition(decoded_file(path, encoding), Path(path))


def read_text(path: Path | str, encoding: str | None = None) -> Transcription | Edition:
    """The text in the file at `path`: a transcription where it has page marks, else the running edition that it is.

    Raises TextError, also where it is in none of the formats.
    """
    path, decoded = Path(path), decoded_file(path, encoding)
    form = detect_format(decoded.text)
    return parse_transcription(decoded, path) if form is None or form in PAGED else parse_edition(decoded, path, form)


def parse_edition(decoded: Decoded, path: Path, form: Format | None = None) -> Edition:
    """The edition that a decoded file holds; `path` is what messages call it. Raises TextError."""
    form = form or detect_format(decoded.text)
    paged = form is not Format.KANRIPO or last_page(decoded.text) is not None
    if not paged and not any(map(has_page_mark, decoded.text.splitlines())):
        return _without_pages(decoded, path)
    if form not in PAGED and "\r" in decoded.text and "\n" not in decoded.text:
        raise TextError(path, None, "its lines end in CR alone: save it with LF or CR LF")
    match form:
        case Format.KANRIPO | Format.MIRROR:
            return edition_of(parse_transcription(decoded, path))
        case Format.INLINE:
            return inline.parse_inline(decoded, path)
        case Format.ZHUSHU:
            return zhushu.parse_zhushu(decoded, path)
        case Format.CRITICAL:
            return critical.parse_critical(decoded, path)
        case Format.PLAIN:
            return plain.parse_plain(decoded, path)
    raise TextError(path, 1, plain.foreign(decoded.text) or "no format is recognised, and it is no Chinese text")


def detect_format(text: str) -> Format | None:
    """The format of a text by its marks, None where it has none. Page marks decide; of the others, the most
    frequent mark does."""
    for line in text.splitlines():
        if has_page_mark(line):
            return Format.KANRIPO
        if MIRROR.mark.match(line):
            return Format.MIRROR
    if _HEAD.search(text):
        return Format.KANRIPO
    counts = {
        Format.INLINE: len(inline.MARK.findall(text)),
        Format.ZHUSHU: len(re.findall(r"^\[疏\]", text, re.MULTILINE)),
        Format.CRITICAL: len(critical.MARK.findall(text)) + critical.has_front_matter(text),
    }
    best = max(counts, key=lambda form: counts[form])
    if counts[best]:
        return best
    return Format.PLAIN if plain.is_plain(text) else None


def edition_of(transcription: Transcription) -> Edition:
    """A page-marked transcription as a witness: every column a block, its notes and indented commentary in their
    layers."""
    form = Format(transcription.format)
    columns = [(page.id, column) for page in transcription.pages for column in page.columns]
    columns.sort(key=lambda item: item[1].start)
    blocks: list[TextBlock] = []
    layers = _Layers()
    for page, column in columns:
        end = column.start + len(column.source)
        blocks.append(
            TextBlock(
                BlockKind.COLUMN,
                column.start,
                end,
                column.file_line,
                tuple(layers.stretches(column)),
                page=page,
                number=column.number,
            )
        )
    marks = _page_starts(transcription)
    return Edition(
        path=transcription.path,
        format=form,
        script=transcription.script,
        text=transcription.text,
        encoding=transcription.encoding,
        bom=transcription.bom,
        title=transcription.title,
        work=transcription.work,
        blocks=tuple(blocks),
        pages=marks,
        remarks=transcription.remarks,
        container=transcription.container,
        extraction=transcription.extraction,
    )


def _without_pages(decoded: Decoded, path: Path) -> Edition:
    """A file of the Kanseki Repository that is a head and nothing else, as the juan `000` of some works."""
    known = dict(filter(None, map(header_property, decoded.text.splitlines())))
    return Edition(
        path=path,
        format=Format.KANRIPO,
        script=Script.TRADITIONAL,
        text=decoded.text,
        encoding=decoded.encoding,
        bom=decoded.bom,
        title=known.get("TITLE", ""),
        work=known.get("ID", ""),
        blocks=(),
        remarks=(Remark.of(path, 1, Code.NO_PAGES),),
    )


def _page_starts(transcription: Transcription) -> tuple[PageStart, ...]:
    juan = {page.id: page.juan for page in transcription.pages}
    return tuple(
        PageStart(line.mark.id, line.mark.folio, line.mark.ref, juan[line.mark.id], line.start, line.number)
        for line in lines(transcription.text)
        if line.kind is LineKind.MARK and line.mark is not None
    )


class _Layers:
    """Gives columns their layers, one after the other: a note goes on in the next column, and so does a commentary
    that stands indented in full width (`　鄭注…`)."""

    def __init__(self) -> None:
        self.main = Layer.CANON
        self.note: Layer | None = None
        """The layer in which a note stood at the end of the column before, None where none did."""

    def stretches(self, column: Column) -> list[LayerStretch]:
        found: list[LayerStretch] = []
        self._begin(column)
        for run in column.runs:
            if not run.note:
                found += _slices(column, run.cells, self.main)
                if any(not cell.blank for cell in run.cells):
                    self.note = None
                continue
            opening = self.note
            told = "".join(cell.text for cell in run.cells)
            parts = note_parts(told, opening or Layer.COMMENTARY) if opening is not Layer.EDITOR else []
            parts = parts or [(Layer.EDITOR if opening is Layer.EDITOR else Layer.COMMENTARY, 0, len(told))]
            found += _note_slices(column, run.cells, parts)
            self.note = last_layer(parts, opening or Layer.COMMENTARY)
        if not column.runs or column.runs[-1].note is False:
            self.note = None
        return found

    def _begin(self, column: Column) -> None:
        indent = _INDENTED.match(column.source)
        if indent is None:
            self.main = Layer.CANON
            return
        rest = column.source[indent.end() :]
        voice = next((layer for pattern, layer in _VOICES if pattern.match(rest)), None)
        if voice is not None:
            self.main = voice


def _slices(column: Column, cells: tuple[Cell, ...], layer: Layer) -> list[LayerStretch]:
    """The cells as stretches: cut wherever markup stands between two of them."""
    found: list[LayerStretch] = []
    start = end = -1
    for cell in cells:
        if cell.offset != end:
            if end > start:
                found.append(LayerStretch(layer, column.start + start, column.source[start:end]))
            start = cell.offset
        end = cell.offset + cell.length
    if end > start:
        found.append(LayerStretch(layer, column.start + start, column.source[start:end]))
    return found


def _note_slices(column: Column, cells: tuple[Cell, ...], parts: list[tuple[Layer, int, int]]) -> list[LayerStretch]:
    """The cells of a note, each in the layer of the part that its text falls in."""
    found: list[LayerStretch] = []
    at, index = 0, 0
    for layer, start, end in parts:
        chosen = []
        while index < len(cells) and at < end:
            if at >= start:
                chosen.append(cells[index])
            at += len(cells[index].text)
            index += 1
        found += _slices(column, tuple(chosen), layer)
    return found
