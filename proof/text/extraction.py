"""Text extracted from XML, wikitext or an archive. Every character is mapped to the bytes that it was read from, so
that an edit of the text changes only these.

A reader makes an `Extraction` with a `Draft`: `read` adds text of the file, `mark` adds marks of a notation that
`proof.text.read` parses (a page mark, `<small>`, a line feed). Positions of pages, columns, findings and decisions are
code points of the extracted text.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from proof.errors import OutputError
from proof.locale.marking import _
from proof.model.notices import Notice, Value
from proof.text.edit import Edit
from proof.text.remarks import RemarkCode

DAMAGED_ARCHIVE = (zipfile.BadZipFile, ValueError, NotImplementedError, RuntimeError, OSError, zlib.error, EOFError)
"""Exceptions that reading a damaged archive may raise."""


@dataclass(frozen=True, slots=True)
class Site:
    """The place of a piece of text: `size` bytes from `start` of the file, or of a member of the archive."""

    start: int
    size: int
    member: str = ""

    @property
    def end(self) -> int:
        return self.start + self.size


@dataclass(frozen=True, slots=True)
class Piece:
    """Code points of the text from `start` on, with their sites in the file: several if the file repeats them (in a
    line, its words, its glyphs). A verbatim piece has the same characters as its sites; any other corresponds to its
    sites only as a whole (`&amp;`, `{{SKchar|7}}`)."""

    start: int
    text: str
    sites: tuple[Site, ...]
    verbatim: bool

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Extraction:
    """The bytes of a file (`data`) and the pieces of the text that was read from them, in the order of the text.
    `escape` converts characters to the file's syntax; each of the `remarks` has its line of the text. `notes` are those
    of the apparatus that stand elsewhere in the file, each behind the code point of the text to which the noted words
    go. `own_marks`: the marks of the text are the file's own, so that what is odd about them is remarked, too."""

    data: bytes = field(repr=False)
    text: str = field(repr=False)
    pieces: tuple[Piece, ...] = field(repr=False)
    escape: Callable[[str], str]
    remarks: tuple[tuple[int, Notice], ...] = ()
    notes: tuple[tuple[int, str], ...] = ()
    own_marks: bool = False

    def holds(self, edit: Edit) -> bool:
        """Whether an edit changes only characters of the file, no marks that the reader added."""
        return self._parts(edit) is not None

    def edited(self, edits: Iterable[Edit]) -> bytes:
        """The bytes of the file after edits of its text; without edits `data` itself. Raises ValueError for an edit
        without a place in the file."""
        changes: defaultdict[str, list[tuple[int, int, bytes]]] = defaultdict(list)
        for edit in edits:
            parts = self._parts(edit)
            if parts is None:
                raise ValueError(f"the file has no place for the edit at {edit.start}")
            for piece, start, end, replacement in parts:
                written = self.escape(replacement).encode()
                for site in piece.sites:
                    begin, stop = _bytes_of(piece, site, start, end)
                    changes[site.member].append((begin, stop, written))
        if not changes:
            return self.data
        if list(changes) == [""]:
            return _replaced(self.data, changes[""])
        return _repacked(self.data, changes)

    def _parts(self, edit: Edit) -> list[tuple[Piece, int, int, str]] | None:
        """The pieces that an edit changes, each with start and end of the changed characters and their replacement.
        None if it changes characters of no piece, or a part of a piece that is not verbatim."""
        if not edit.length:
            at = self._piece_at(edit.start)
            if at is None:
                return None
            offset = edit.start - at.start
            return [(at, offset, offset, edit.replacement)]
        parts, reached, rest = [], edit.start, edit.replacement
        number = bisect_right(self.pieces, edit.start, key=lambda piece: piece.start) - 1
        while reached < edit.end:
            if not 0 <= number < len(self.pieces) or not self.pieces[number].start <= reached < self.pieces[number].end:
                return None
            piece = self.pieces[number]
            end = min(edit.end, piece.end)
            if not piece.verbatim and (reached, end) != (piece.start, piece.end):
                return None
            replacement = rest if end == edit.end else rest[: end - reached]
            parts.append((piece, reached - piece.start, end - piece.start, replacement))
            rest, reached, number = rest[len(replacement) :], end, number + 1
        return parts

    def _piece_at(self, place: int) -> Piece | None:
        """The piece that an insertion belongs to: the one that ends there, else the one that begins there; None within
        a piece that is not verbatim."""
        following = bisect_left(self.pieces, place, key=lambda piece: piece.start)
        for piece in self.pieces[max(following - 1, 0) : following + 1]:
            inside = piece.start < place < piece.end
            if piece.start <= place <= piece.end and (piece.verbatim or not inside):
                return piece
        return None


def _bytes_of(piece: Piece, site: Site, start: int, end: int) -> tuple[int, int]:
    """Start and end, in bytes, of characters `start` to `end` of a piece at a site."""
    if not piece.verbatim:  # all of it, or an insertion at its start or its end
        return site.end if start else site.start, site.end if end else site.start
    begin = site.start + len(piece.text[:start].encode())
    return begin, begin + len(piece.text[start:end].encode())


def _replaced(data: bytes, changes: Iterable[tuple[int, int, bytes]]) -> bytes:
    parts, reached = [], 0
    for start, end, written in sorted(changes, key=lambda change: change[:2]):
        parts += [data[reached:start], written]
        reached = end
    return b"".join((*parts, data[reached:]))


def _repacked(data: bytes, changes: Mapping[str, Sequence[tuple[int, int, bytes]]]) -> bytes:
    """An archive with changed members; the others keep content, order, dates and compression. Raises OutputError if one
    of them is damaged."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(target, "w") as new:
        new.comment = old.comment
        for info in old.infolist():
            try:
                content = old.read(info)
            except DAMAGED_ARCHIVE as error:
                raise OutputError(
                    _("%(filename)s in the archive is damaged (%(error)s): save the file anew"),
                    filename=info.filename,
                    error=error,
                ) from error
            new.writestr(info, _replaced(content, changes.get(info.filename, ())))
    return target.getvalue()


@dataclass(slots=True)
class Draft:
    """Builds an extraction. `unsafe` are characters that would be marks in the notation, each with its substitute in
    the text."""

    data: bytes
    escape: Callable[[str], str]
    unsafe: Mapping[str, str]
    length: int = 0
    line: int = 1
    _text: list[str] = field(default_factory=list)
    _pieces: list[Piece] = field(default_factory=list)
    _remarks: list[tuple[int, Notice]] = field(default_factory=list)
    _notes: list[tuple[int, str]] = field(default_factory=list)

    def mark(self, text: str) -> None:
        """Add marks of the notation."""
        self._text.append(text)
        self.length += len(text)
        self.line += text.count("\n")

    def read(self, text: str, *sites: Site, verbatim: bool = True) -> None:
        """Add text of the file; all its `sites` have the same characters."""
        if not verbatim:
            self._piece("".join(self.unsafe.get(char, char) for char in text), sites, verbatim=False)
            return
        for start, end, stood in _parted(text, self.unsafe):
            before, size = len(text[:start].encode()), len(text[start:end].encode())
            moved = tuple(Site(site.start + before, size, site.member) for site in sites)
            self._piece(stood, moved, verbatim=stood == text[start:end])

    def _piece(self, text: str, sites: tuple[Site, ...], *, verbatim: bool) -> None:
        if text:
            self._pieces.append(Piece(self.length, text, sites, verbatim))
            self.mark(text)

    def remark(self, code: RemarkCode, **values: Value) -> None:
        """Add a remark about the current line."""
        self._remarks.append((self.line, Notice.of(code, **values)))

    def note(self, at: int, words: str) -> None:
        """Add a note of the apparatus on the words before code point `at`."""
        self._notes.append((at, words))

    @property
    def at_line_start(self) -> bool:
        """Whether the text so far is empty or ends with a line feed."""
        return not self._text or next((part for part in reversed(self._text) if part), "").endswith("\n")

    def done(self) -> Extraction:
        text = "".join(self._text)
        remarks, notes = tuple(self._remarks), tuple(sorted(self._notes, key=lambda note: note[0]))
        return Extraction(self.data, text, tuple(self._pieces), self.escape, remarks, notes)


def _parted(text: str, unsafe: Mapping[str, str]) -> Iterator[tuple[int, int, str]]:
    """A text divided into stretches without unsafe characters, and single unsafe ones with their substitutes."""
    start = 0
    for at, char in enumerate(text):
        if char in unsafe:
            if at > start:
                yield start, at, text[start:at]
            yield at, at + 1, unsafe[char]
            start = at + 1
    if start < len(text):
        yield start, len(text), text[start:]


def as_it_is(text: str) -> str:
    """The `escape` of files without a syntax: characters do not change."""
    return text
