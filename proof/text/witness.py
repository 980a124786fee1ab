"""One model for a witness of a text, whatever its format: layers of running text over the source file.

A page-marked transcription is pages and columns first (`proof.text.model`); what the running editions share with
it is the text itself, in layers: the classic (經), its commentary (注), the subcommentary (疏), glosses on sounds
(釋文) and remarks of editors (案). Here every format gives that.

A *stretch* is a slice of the source file without any markup in it, so the character at `source[i]` stands at
`start + i` in the file; whatever lies between the stretches is markup. Nothing is normalised.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from proof.errors import UsageError
from proof.model.refs import Folio, ImageRef
from proof.text.column import parse_column
from proof.text.edit import Edit, edited
from proof.text.encoding import Decoded, encode
from proof.text.extraction import Extraction
from proof.text.model import Script, is_han
from proof.text.remarks import Remark
from proof.text.script import script_of

COMPONENTS = frozenset("扌氵亻犭忄纟钅饣礻衤艹讠")
"""Characters that stand for no word: before another one they are the half of a character that an old encoding
could not write (扌奎)."""

_HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\u3007]*")
"""What `is_han` takes for Han characters."""


class Format(StrEnum):
    """The transcription formats, by the names that commands take."""

    KANRIPO = "kanripo"
    MIRROR = "mirror"
    INLINE = "inline"
    ZHUSHU = "zhushu"
    CRITICAL = "critical"
    PLAIN = "plain"


PAGED = frozenset({Format.KANRIPO, Format.MIRROR})


class Layer(StrEnum):
    """What a stretch of text belongs to, in the terms of the field."""

    CANON = "經"
    COMMENTARY = "注"
    SUBCOMMENTARY = "疏"
    GLOSS = "釋文"
    EDITOR = "案"
    UNDIVIDED = "經注"
    """Classic and commentary run together, and nothing says where one ends."""
    LEMMA = "起止"
    """The words of the classic or commentary from which to which a subcommentary speaks."""
    HEADING = "題"
    APPARATUS = "校"
    """The footnotes of a critical edition."""


NOTES = frozenset({Layer.COMMENTARY, Layer.SUBCOMMENTARY, Layer.GLOSS, Layer.EDITOR, Layer.LEMMA})
"""Layers that are commentary on the text."""


class BlockKind(StrEnum):
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    COLUMN = "column"


@dataclass(frozen=True, slots=True)
class WitnessCell:
    """One character, entity or composition of a stretch: its text, and its place in the file."""

    text: str
    start: int
    length: int

    @property
    def han(self) -> bool:
        return is_han(self.text)


@dataclass(frozen=True, slots=True)
class LayerStretch:
    """A slice of the file in one layer; `start` is the code point in the file where it begins."""

    layer: Layer
    start: int
    source: str

    @property
    def end(self) -> int:
        return self.start + len(self.source)

    @property
    def plain(self) -> bool:
        """Whether each of its code points is a Han character by itself."""
        return _HAN.fullmatch(self.source) is not None and COMPONENTS.isdisjoint(self.source)

    def cells(self) -> Iterator[WitnessCell]:
        """Its glyphs in reading order: no spaces, no punctuation. A component before a Han character is one cell
        with it."""
        if self.plain:
            yield from (WitnessCell(char, start, 1) for start, char in enumerate(self.source, self.start))
            return
        half: WitnessCell | None = None
        for run in parse_column(self.source).runs:
            for one in run.cells:
                if not one.glyph:
                    continue
                here = WitnessCell(one.text, self.start + one.offset, one.length)
                if half is not None and half.start + half.length == here.start and here.han:
                    yield WitnessCell(half.text + here.text, half.start, half.length + here.length)
                    half = None
                    continue
                if half is not None:
                    yield half
                half = here if here.text in COMPONENTS else None
                if half is None:
                    yield here
        if half is not None:
            yield half


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A heading, a paragraph or a column. `level` counts from 1 for headings, 0 for what is none; `anchor` is
    its id where the format gives one; `page` and `number` are set for columns alone.

    `start` and `end` are code points in the file: a line of it without its ending (and without a pilcrow).
    """

    kind: BlockKind
    start: int
    end: int
    file_line: int
    stretches: tuple[LayerStretch, ...]
    level: int = 0
    anchor: str = ""
    page: str = ""
    number: int = 0


@dataclass(frozen=True, slots=True)
class PageStart:
    """A page mark: the page's id, and where in the file its mark begins."""

    id: str
    folio: Folio | None
    ref: ImageRef | None
    juan: str
    start: int
    file_line: int


@dataclass(frozen=True, slots=True)
class Footnote:
    """A footnote: `anchor` is the code point in the file where its reference stands (None where nothing refers to
    it), `start` that where its own text begins."""

    label: str
    text: str
    start: int
    file_line: int
    anchor: int | None


@dataclass(frozen=True, slots=True)
class Edition:
    """A file as a witness. `text` is the file decoded, otherwise byte for byte (`encoding`, `bom`).

    An edition of several files (`parts`) has their texts one after the other; `siglum` is what the user calls it.
    Where the text was extracted from a file of another format (`container`), `extraction` leads back to its bytes.
    """

    path: Path
    format: Format
    script: Script
    text: str
    encoding: str
    bom: bool
    title: str
    work: str
    blocks: tuple[TextBlock, ...]
    pages: tuple[PageStart, ...] = ()
    footnotes: tuple[Footnote, ...] = ()
    remarks: tuple[Remark, ...] = ()
    siglum: str = ""
    parts: tuple[Edition, ...] = ()
    container: str = ""
    extraction: Extraction | None = None

    @classmethod
    def running(
        cls,
        decoded: Decoded,
        path: Path,
        form: Format,
        blocks: Sequence[TextBlock],
        remarks: Iterable[Remark],
        title: str = "",
        footnotes: tuple[Footnote, ...] = (),
    ) -> Edition:
        """A decoded file without page marks, in the script that its text is in; remarks in the order of its lines."""
        script = script_of(stretch.source for block in blocks for stretch in block.stretches)
        told = tuple(sorted(remarks, key=lambda remark: remark.line))
        written = (script, decoded.text, decoded.encoding, decoded.bom)
        source = (decoded.container, decoded.extraction)
        return cls(path, form, *written, title, "", tuple(blocks), (), footnotes, told, "", (), *source)

    def data(self, edits: Iterable[Edit] = ()) -> bytes:
        """The file with the edits of its text; without any, byte for byte as it is. Raises UsageError for edits that
        overlap, TextError where a character cannot be written in the file's encoding."""
        edits = list(edits)
        text = edited(self.text, edits)
        if self.extraction is not None:
            return self.extraction.edited(edits)
        return encode(self.path, text, self.encoding, self.bom)

    @property
    def paged(self) -> bool:
        return self.format in PAGED

    def stretches(self) -> Iterator[LayerStretch]:
        """All stretches in the order of the file."""
        for block in self.blocks:
            yield from block.stretches

    @property
    def layers(self) -> frozenset[Layer]:
        return frozenset(stretch.layer for stretch in self.stretches())


@dataclass(frozen=True, slots=True)
class Address:
    """A place as flags and decisions name it: page and column, or, where the format has no pages, an empty page
    and the line of the file; `offset` is code points in that line's source."""

    page: str
    line: int
    offset: int


class Addresses:
    """Leads from places in an edition's file to addresses and back.

    A line is as long as its source: line endings and pilcrows cannot be addressed. Where the format has no pages,
    the page of an address is not asked after: it is the image on which a place was found.
    """

    def __init__(self, edition: Edition) -> None:
        self._name = str(edition.path)
        self._paged = edition.paged
        if edition.paged:
            lines = [(block.start, block.end, block.page, block.number) for block in edition.blocks]
        else:
            lines, start = [], 0
            for number, raw in enumerate(edition.text.split("\n"), start=1):
                lines.append((start, start + len(raw.rstrip("\r")), "", number))
                start += len(raw) + 1
        self._lines = sorted(lines)
        self._starts = [line[0] for line in self._lines]
        self._known = {(page, number): (start, end) for start, end, page, number in self._lines}

    def of(self, start: int) -> Address | None:
        """The address of a code point of the file, its line's end included; None outside all lines."""
        at = bisect_right(self._starts, start) - 1
        if at < 0:
            return None
        begin, end, page, number = self._lines[at]
        return Address(page, number, start - begin) if start <= end else None

    def columns(self) -> Sequence[tuple[int, int, str, int]]:
        """Of each line where in the file it begins and ends, its page and its number there."""
        return self._lines

    def spans(self) -> Iterator[tuple[int, int]]:
        """Where in the file each line begins and ends."""
        return ((start, end) for start, end, _, _ in self._lines)

    def of_page(self, page: str) -> Iterator[tuple[int, int]]:
        """Where in the file each line of a page begins and ends; of all lines where the format has no pages."""
        return ((start, end) for start, end, own, _ in self._lines if not self._paged or own == page)

    def line(self, page: str, line: int) -> tuple[int, int]:
        """Where in the file a line begins and ends. Raises UsageError where there is none."""
        known = self._known.get((page if self._paged else "", line))
        if known is None:
            where = f"page {page or '(none)'}, line {line}"
            raise UsageError(f"{self._name} has no {where}: it was another file that was checked")
        return known

    def start(self, address: Address, length: int = 0) -> int:
        """The code point in the file where `length` characters at `address` begin. Raises UsageError."""
        begin, end = self.line(address.page, address.line)
        if address.offset < 0 or length < 0 or begin + address.offset + length > end:
            where = f"page {address.page or '(none)'}, line {address.line}"
            raise UsageError(f"{self._name}: offset {address.offset}, length {length} is outside {where}")
        return begin + address.offset
