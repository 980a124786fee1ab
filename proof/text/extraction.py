"""Text extracted from XML, wikitext or an archive. Every character is mapped to the bytes that it was read from, so
that an edit of the text changes only these bytes.

A reader builds an `Extraction` with a `Draft`: `add` adds text of the file, `mark` adds marks of a notation that
`proof.text.read` parses (a page mark, `<small>`, a line feed). All positions are code points of the extracted text.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple, Protocol

from proof.errors import OutputError
from proof.locale.marking import _
from proof.model.notices import Notice, Value
from proof.text.edit import Edit
from proof.text.remarks import RemarkCode, quotation

COLUMN_END = "¶\n"
"""The mark of the end of a column in the text of a file with pages and columns."""

DAMAGED_ARCHIVE = (zipfile.BadZipFile, ValueError, NotImplementedError, RuntimeError, OSError, zlib.error, EOFError)
"""Exceptions that reading a damaged archive may raise."""


@dataclass(frozen=True, slots=True)
class Site:
    """The place of a piece of text: `size` bytes from `start` of the file, or of a member of the archive. `escaped`:
    characters are written there in the file's syntax; they are not in a CDATA section."""

    start: int
    size: int
    member: str = ""
    escaped: bool = True

    @property
    def end(self) -> int:
        return self.start + self.size


class SourceRun(NamedTuple):
    """A run of text of a file. A verbatim run has the same characters as its bytes in the file. Any other is the text
    of a reference or of a template."""

    text: str
    site: Site
    verbatim: bool = True

    def characters(self) -> Iterator[SourceRun]:
        """One run for each character; the text of a reference stays one run."""
        if self.site.size != len(self.text.encode()):
            yield self
            return
        yield from (SourceRun(char, site, self.verbatim) for char, (site,) in _with_sites(self.text, [self.site]))


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of the text from code point `start`, with its sites in the file: several if the file repeats it (in a
    line, its words, its glyphs). A verbatim piece has the same characters as its sites. Any other corresponds to its
    sites only as a whole (`&amp;`, `{{SKchar|7}}`)."""

    start: int
    text: str
    sites: tuple[Site, ...]
    verbatim: bool

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def characters(self) -> Iterator[Piece]:
        """One piece for each character; a piece that is not verbatim stays one."""
        if not self.verbatim:
            yield self
            return
        for at, (char, sites) in enumerate(_with_sites(self.text, self.sites), self.start):
            yield Piece(at, char, sites, verbatim=True)


def _with_sites(parts: Iterable[str], sites: Sequence[Site]) -> Iterator[tuple[str, tuple[Site, ...]]]:
    """The parts of a text, one after the other, each with its places in the `sites` of the text."""
    offset = 0
    for part in parts:
        size = len(part.encode())
        yield part, tuple(replace(site, start=site.start + offset, size=size) for site in sites)
        offset += size


class ByteChange(NamedTuple):
    """Bytes `start` to `end` of a file or a member of an archive are replaced."""

    start: int
    end: int
    replacement: bytes


class ColumnBreaks(Protocol):
    """What parts the columns in a file."""

    def change(self, text: str, edit: Edit, pieces: Sequence[Piece], escape: Callable[[str], str]) -> ByteChange | None:
        """The change of the file for an edit of its `text` that adds or deletes a column or the end of one (with
        `COLUMN_END`); None if it has no place in the file. `pieces` are those that the edit touches, at its ends
        too."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """The bytes of a file (`data`), the text that was read from them, and its pieces in their order.

    `escape` converts characters to the file's syntax. `remarks` have their lines of the text. `notes` are the notes of
    an apparatus outside the text, each with the code point of the text after the annotated words. `own_marks`: the
    marks of the text are in the file itself, so remarks on them are reported too. `images` are the image files that the
    file names, each by the code point at which the mark of its page begins. `breaks` part its columns, if they can be
    edited. `has_line_endings`: the ends of its columns are line endings of the file, which `escape` writes."""

    data: bytes = field(repr=False)
    text: str = field(repr=False)
    pieces: tuple[Piece, ...] = field(repr=False)
    escape: Callable[[str], str]
    remarks: tuple[tuple[int, Notice], ...] = ()
    notes: tuple[tuple[int, str], ...] = ()
    own_marks: bool = False
    images: Mapping[int, str] = field(default_factory=dict)
    breaks: ColumnBreaks | None = field(default=None, repr=False)
    has_line_endings: bool = False

    def holds(self, edit: Edit) -> bool:
        """Whether the file has a place for an edit: it changes only characters of the file and whole columns, and no
        other marks that the reader added."""
        return (self._changes_of(edit) or self._column_change(edit)) is not None

    def edited(self, edits: Iterable[Edit]) -> bytes:
        """The bytes of the file after edits of its text; without edits `data` itself. Raises ValueError for an edit
        without a place in the file."""
        changes: defaultdict[str, list[ByteChange]] = defaultdict(list)
        for edit in sorted(edits, key=attrgetter("place")):
            if (column_change := self._column_change(edit)) is not None:
                changes[""].append(column_change)
                continue
            piece_changes = self._changes_of(edit)
            if piece_changes is None:
                raise ValueError(f"the file has no place for the edit at {edit.start}")
            for change in piece_changes:
                for site in change.piece.sites:
                    start, end = _bytes_of(change.piece, site, change.start, change.end)
                    written = self.escape(change.replacement) if site.escaped else change.replacement
                    changes[site.member].append(ByteChange(start, end, written.encode()))
        if not changes:
            return self.data
        if list(changes) == [""]:
            return _replaced(self.data, changes[""])
        return _repacked(self.data, changes)

    def _column_change(self, edit: Edit) -> ByteChange | None:
        """The change of the file for an edit that adds or deletes a column or the end of one; None if there is no
        place for it, or if it is another edit."""
        if self.breaks is None or COLUMN_END not in (edit.replacement or self.text[edit.start : edit.end]):
            return None
        first = bisect_left(self.pieces, edit.start, key=lambda piece: piece.end)
        last = bisect_right(self.pieces, edit.end, key=lambda piece: piece.start)
        return self.breaks.change(self.text, edit, self.pieces[first:last], self.escape)

    def _changes_of(self, edit: Edit) -> list[_PieceChange] | None:
        """The changes of pieces that an edit makes. None if it changes characters of no piece, or a part of a piece
        that is not verbatim, or adds or deletes the end of a line, which is a mark of the reader."""
        changes_lines = COLUMN_END in self.text[edit.start : edit.end] or "\n" in edit.replacement
        if changes_lines and not (self.own_marks or self._can_change_lines(edit)):
            return None
        if not edit.length:
            piece = self._piece_at(edit.start)
            if piece is None:
                return None
            offset = edit.start - piece.start
            return [_PieceChange(piece, offset, offset, edit.replacement)]
        changes, at, replacement = [], edit.start, edit.replacement
        number = bisect_right(self.pieces, edit.start, key=lambda piece: piece.start) - 1
        while at < edit.end:
            if not 0 <= number < len(self.pieces) or not self.pieces[number].start <= at < self.pieces[number].end:
                return None
            piece = self.pieces[number]
            end = min(edit.end, piece.end)
            if not piece.verbatim and (at, end) != (piece.start, piece.end):
                return None
            # each piece gets as many characters as it loses, the last one the rest
            part = replacement if end == edit.end else replacement[: end - at]
            changes.append(_PieceChange(piece, at - piece.start, end - piece.start, part))
            at, replacement, number = end, replacement[len(part) :], number + 1
        return changes

    def _can_change_lines(self, edit: Edit) -> bool:
        """Whether an edit adds lines to the file, none of them empty, or deletes line endings and joins no line to what
        is no column."""
        before = self.text[self.text.rfind("\n", 0, edit.start) + 1 : edit.start]
        is_before_column = edit.end < len(self.text) and not self.text.startswith("<pb:", edit.end)
        if edit.length:
            return self.has_line_endings and not edit.replacement and (is_before_column or not before)
        if is_before_column:
            lines = before + edit.replacement + self.text[edit.end :].partition(COLUMN_END)[0]
        else:
            lines = edit.replacement.removesuffix(COLUMN_END)
        return self.has_line_endings and all(map(str.strip, lines.split(COLUMN_END)))

    def _piece_at(self, place: int) -> Piece | None:
        """The piece that an insertion belongs to: the one that ends there, else the one that begins there; None within
        a piece that is not verbatim."""
        following = bisect_left(self.pieces, place, key=lambda piece: piece.start)
        for piece in self.pieces[max(following - 1, 0) : following + 1]:
            is_inside = piece.start < place < piece.end
            if piece.start <= place <= piece.end and (piece.verbatim or not is_inside):
                return piece
        return None


class _PieceChange(NamedTuple):
    """Characters `start` to `end` of a piece are replaced."""

    piece: Piece
    start: int
    end: int
    replacement: str


def _bytes_of(piece: Piece, site: Site, start: int, end: int) -> tuple[int, int]:
    """Start and end, in bytes, of characters `start` to `end` of a piece at a site."""
    if not piece.verbatim:  # the whole piece, or an insertion at its start or its end
        return site.end if start else site.start, site.end if end else site.start
    first_byte = site.start + len(piece.text[:start].encode())
    return first_byte, first_byte + len(piece.text[start:end].encode())


def _replaced(data: bytes, changes: Iterable[ByteChange]) -> bytes:
    parts, reached = [], 0
    for change in sorted(changes, key=lambda change: (change.start, change.end)):
        parts += [data[reached : change.start], change.replacement]
        reached = change.end
    return b"".join((*parts, data[reached:]))


def _repacked(data: bytes, changes: Mapping[str, Sequence[ByteChange]]) -> bytes:
    """An archive with changed members. All members keep their order, dates and compression. Raises OutputError if one
    of them is damaged."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(target, "w") as new:
        new.comment = old.comment
        for info in old.infolist():
            try:
                content = old.read(info)
            except DAMAGED_ARCHIVE as error:
                raise OutputError(
                    _("%(filename)s in the archive is damaged (%(error)s): save the file again"),
                    filename=info.filename,
                    error=error,
                ) from error
            new.writestr(info, _replaced(content, changes.get(info.filename, ())))
    return target.getvalue()


@dataclass(slots=True)
class Draft:
    """Builds an extraction. `unsafe` maps characters that would be marks in the notation to their substitutes in the
    text."""

    data: bytes
    escape: Callable[[str], str]
    unsafe: Mapping[str, str]
    breaks: ColumnBreaks | None = None
    length: int = 0
    line: int = 1
    has_line_endings: bool = False
    _text: list[str] = field(default_factory=list)
    _pieces: list[Piece] = field(default_factory=list)
    _remarks: list[tuple[int, Notice]] = field(default_factory=list)
    _notes: list[tuple[int, str]] = field(default_factory=list)
    _images: dict[int, str] = field(default_factory=dict)

    def mark(self, text: str) -> None:
        """Add marks of the notation."""
        self._text.append(text)
        self.length += len(text)
        self.line += text.count("\n")

    def add(self, run: SourceRun, *copies: SourceRun) -> None:
        """Add text of the file. The `copies` are runs elsewhere in the file that repeat it. An empty run is a place for
        text."""
        sites = (run.site, *(copy.site for copy in copies))
        if not run.text:
            self._pieces.append(Piece(self.length, "", sites, verbatim=True))
        elif not all(each.verbatim for each in (run, *copies)):
            self._add_piece("".join(self.unsafe.get(char, char) for char in run.text), sites, verbatim=False)
            return
        for part, part_sites in _with_sites(_divided_at(self.unsafe, run.text), sites):
            self._add_piece(self.unsafe.get(part, part), part_sites, verbatim=part not in self.unsafe)

    def repeat(self, start: int, end: int, copies: Sequence[SourceRun]) -> None:
        """Add the sites of `copies`, one for each character, to the text from code point `start` to `end`, if they
        repeat it."""
        first = bisect_right(self._pieces, start, key=lambda piece: piece.end)
        last = bisect_left(self._pieces, end, key=lambda piece: piece.start)
        characters = [part for piece in self._pieces[first:last] for part in piece.characters()]
        inside = [part for part in characters if start <= part.start < end]
        if [part.text for part in inside] == [copy.text for copy in copies]:
            sites = {part.start: copy.site for part, copy in zip(inside, copies, strict=True)}
            self._pieces[first:last] = (
                replace(part, sites=(*part.sites, sites[part.start])) if part.start in sites else part
                for part in characters
            )

    def end_column(self, line_ending: Site) -> None:
        """End a column with a line ending of the file. Columns of this file are added, deleted, split and joined."""
        self.has_line_endings = True
        self._add_piece(COLUMN_END, (line_ending,), verbatim=False)

    def _add_piece(self, text: str, sites: tuple[Site, ...], *, verbatim: bool) -> None:
        if text:
            self._pieces.append(Piece(self.length, text, sites, verbatim))
            self.mark(text)

    def remark(self, code: RemarkCode, **values: Value) -> None:
        """Add a remark about the current line."""
        self._remarks.append((self.line, Notice.of(code, **values)))

    def remark_on(self, text: str, code: RemarkCode, **values: Value) -> None:
        """Add a remark that quotes the beginning of a `text` of the file."""
        self.remark(code, **values, text=quotation(text))

    def note(self, at: int, words: str) -> None:
        """Add a note of an apparatus on the words before code point `at`."""
        self._notes.append((at, words))

    def image(self, file: str) -> None:
        """Name the image file of the page whose mark follows."""
        self._images[self.length] = file

    @property
    def at_line_start(self) -> bool:
        """Whether the text so far is empty or ends with a line feed."""
        return not self._text or next((part for part in reversed(self._text) if part), "").endswith("\n")

    def done(self) -> Extraction:
        text = "".join(self._text)
        remarks, notes = tuple(self._remarks), tuple(sorted(self._notes, key=lambda note: note[0]))
        pieces = tuple(self._pieces)
        return Extraction(
            self.data,
            text,
            pieces,
            self.escape,
            remarks,
            notes,
            images=self._images,
            breaks=self.breaks,
            has_line_endings=self.has_line_endings,
        )


def _divided_at(unsafe: Container[str], text: str) -> Iterator[str]:
    """A text divided into stretches without unsafe characters and single unsafe characters."""
    for is_unsafe, characters in groupby(text, key=lambda char: char in unsafe):
        if is_unsafe:
            yield from characters
        else:
            yield "".join(characters)


def as_it_is(text: str) -> str:
    """The `escape` of files without a syntax: returns the characters unchanged."""
    return text
