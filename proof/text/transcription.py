"""A transcription in any format: the text of a file with its pages and columns, and its layers of running text.

A page-marked file consists of pages with columns (`proof.text.model`), and each column is a block of running text. A
file without page marks consists of blocks of running text (`proof.text.layers`); it has pages once it is aligned with
their images."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from proof.text.edit import Edit, edited
from proof.text.encoding import Decoded, encode
from proof.text.layers import Layer, LayerStretch, TextBlock, line_number
from proof.text.model import Page, Script
from proof.text.note_layers import column_blocks
from proof.text.remarks import Remark
from proof.text.script import script_of


class Format(StrEnum):
    """The transcription formats. The values are their names in commands."""

    KANRIPO = "kanripo"
    MIRROR = "mirror"
    INLINE = "inline"
    ZHUSHU = "zhushu"
    CRITICAL = "critical"
    PLAIN = "plain"


PAGED = frozenset({Format.KANRIPO, Format.MIRROR})
"""Formats with page marks."""


@dataclass(frozen=True, slots=True)
class Footnote:
    """A footnote. `anchor` is the code point of its reference in the file, None if there is none; `start` is that of
    its own text."""

    label: str
    text: str
    start: int
    file_line: int
    anchor: int | None

    def moved(self, by: int) -> Footnote:
        """The footnote moved by `by` code points."""
        return replace(self, start=self.start + by, anchor=None if self.anchor is None else self.anchor + by)


def apparatus_notes(decoded: Decoded) -> tuple[Footnote, ...]:
    """The notes of an apparatus that is outside the text of the file."""
    notes = decoded.extraction.notes if decoded.extraction else ()
    return tuple(
        Footnote(f"app{number}", words, at, line_number(decoded.text, at), at)
        for number, (at, words) in enumerate(notes, start=1)
    )


@dataclass(frozen=True)
class Transcription:
    """A transcription file; `decoded` is its unchanged text.

    `pages` are those of its page marks, or, for a text without marks, those with which it was aligned. `running` are
    the blocks of a text without page marks. A transcription of several files (`parts`) has their texts one after the
    other. `siglum` is its name as a witness, `full_name` the name of the edition."""

    path: Path
    format: Format
    script: Script
    decoded: Decoded
    title: str = ""
    work: str = ""
    pages: tuple[Page, ...] = ()
    running: tuple[TextBlock, ...] = ()
    footnotes: tuple[Footnote, ...] = ()
    remarks: tuple[Remark, ...] = ()
    siglum: str = ""
    full_name: str = ""
    parts: tuple[Transcription, ...] = ()

    @classmethod
    def of_blocks(
        cls,
        decoded: Decoded,
        path: Path,
        form: Format,
        blocks: Sequence[TextBlock],
        remarks: Iterable[Remark],
        title: str = "",
        footnotes: tuple[Footnote, ...] = (),
    ) -> Transcription:
        """A transcription without page marks. Its script is recognised; remarks and notes of the extraction are
        added."""
        script = script_of(stretch.source for block in blocks for stretch in block.stretches)
        of_extraction = decoded.extraction.remarks if decoded.extraction else ()
        all_remarks = (*remarks, *(Remark(path, line, notice) for line, notice in of_extraction))
        by_line = tuple(sorted(all_remarks, key=lambda remark: remark.line))
        notes = (*footnotes, *apparatus_notes(decoded))
        return cls(path, form, script, decoded, title, running=tuple(blocks), footnotes=notes, remarks=by_line)

    @property
    def text(self) -> str:
        """The text of the file; all positions are code points in it."""
        return self.decoded.text

    @property
    def paged(self) -> bool:
        """Whether the format has page marks, so that addresses have page and column, not just a line."""
        return self.format in PAGED

    @cached_property
    def blocks(self) -> tuple[TextBlock, ...]:
        """Headings and paragraphs, or the columns of its pages, in the order of the file."""
        return self.running or (column_blocks(self.pages) if self.paged else ())

    @property
    def marks(self) -> dict[int, Page]:
        """The pages by the places of their marks, in the order of the file."""
        starts = {start: page for page in self.pages for start in page.starts}
        return dict(sorted(starts.items()))

    def stretches(self) -> Iterator[LayerStretch]:
        """All stretches in the order of the file."""
        for block in self.blocks:
            yield from block.stretches

    @property
    def layers(self) -> frozenset[Layer]:
        return frozenset(stretch.layer for stretch in self.stretches())

    def is_current(self) -> bool:
        """Whether the file still has the content that was read. A file that was removed counts as current."""
        return not self.path.is_file() or self.path.read_bytes() == self.data()

    def data(self, edits: Iterable[Edit] = ()) -> bytes:
        """The bytes of the file after edits of its text; without edits the bytes that were read. Raises UsageError for
        overlapping edits, TextError if a character cannot be written in the file's encoding."""
        edits = list(edits)
        text = edited(self.text, edits)  # raises if edits overlap
        if self.decoded.extraction is not None:
            return self.decoded.extraction.edited(edits)
        return encode(self.path, text, self.decoded.encoding, self.decoded.bom)
