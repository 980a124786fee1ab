"""Adding, deleting, splitting and joining columns of an XML file in which each column begins at an empty element, such
as `<lb/>` in TEI.

A change has no place in the file if it would tear an element apart, or delete an element that others may refer to.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from proof.text.edit import Edit
from proof.text.extraction import COLUMN_END, ByteChange, Piece

_TAG = re.compile(
    rb"<!--.*?-->|<\?.*?\?>|<!\[CDATA\[.*?\]\]>"
    rb"""|<(?P<end>/?)(?P<name>[^\s<>/!?]+)(?:[^<>"']|"[^"]*"|'[^']*')*?(?P<empty>/?)>""",
    re.DOTALL,
)
"""A tag, or what may look like one: a comment, a processing instruction, a CDATA section."""

_IDENTIFIED = re.compile(rb"""\s(?:xml:)?id\s*=""")
"""The attribute of an element that others may refer to."""

_BETWEEN_COLUMNS = re.compile(rb"(?:(?<=>)[ \t]|[\r\n])[ \t\r\n]*\Z")
"""White space before a milestone, without blanks that follow a character."""

_OF_EDITION = re.compile(rb"""\sed\s*=""")
"""The attribute of an element that begins a column of one edition among several."""


class _Milestone(NamedTuple):
    """An element without content that begins a column or a page: its place in bytes, and the code point of the text at
    which the column, or the mark of the page, begins."""

    at: int
    start: int
    end: int
    begins_column: bool


@dataclass(slots=True)
class Milestones:
    """The milestones of the file `data`, in their order."""

    data: bytes = field(repr=False)
    _milestones: list[_Milestone] = field(default_factory=list)

    def add(self, at: int, start: int, end: int, *, begins_column: bool) -> None:
        """Add the milestone in the bytes `start` to `end`; its column or page begins at the code point `at`."""
        self._milestones.append(_Milestone(at, start, end, begins_column))

    def change(self, text: str, edit: Edit, pieces: Sequence[Piece], escape: Callable[[str], str]) -> ByteChange | None:
        """The change of the file for an edit of its `text` that adds or deletes a column or the end of one; None if it
        has no place in the file. `pieces` are those that the edit touches, at its ends too."""
        written = edit.replacement.replace(COLUMN_END, "", 1)
        if edit.length and edit.replacement:
            return None
        if not edit.length and not written:
            return self._split(edit.start, pieces)
        begin = edit.start
        is_ending_first = (edit.replacement or text[edit.start : edit.end]).startswith(COLUMN_END)
        if is_ending_first and text.startswith(COLUMN_END, edit.start):
            begin += len(COLUMN_END)
        if not edit.length:
            is_within_note = "(" in written and text.count("(", 0, begin) > text.count(")", 0, begin)
            return None if is_within_note else self._added(text, begin, escape(written).encode())
        if text[edit.start : edit.end] == COLUMN_END:
            return self._joined(edit.end)
        return self._deleted(text, begin, edit.end, pieces)

    def _split(self, at: int, pieces: Sequence[Piece]) -> ByteChange | None:
        """Begin a column at a character."""
        number = bisect_right(self._milestones, at, key=lambda each: each.at) - 1
        piece = next((piece for piece in pieces if piece.start <= at <= piece.end), None)
        if number < 0 or not self._milestones[number].begins_column or piece is None or len(piece.sites) > 1:
            return None
        [site] = piece.sites
        if piece.verbatim:
            place = site.start + len(piece.text[: at - piece.start].encode())
        elif at in (piece.start, piece.end):
            place = site.start if at == piece.start else site.end
        else:
            return None
        return ByteChange(place, place, self._newline(self._milestones[number].start) + self._tag(number))

    def _joined(self, at: int) -> ByteChange | None:
        """Join the column that begins at code point `at` to the one before it."""
        number = bisect_left(self._milestones, at, key=lambda each: each.at)
        if number == len(self._milestones) or self._milestones[number].at != at:
            return None
        joined = self._milestones[number]
        if not joined.begins_column or _IDENTIFIED.search(self.data, joined.start, joined.end):
            return None
        # white space between two columns would be read as blanks within one
        between = _BETWEEN_COLUMNS.search(self.data, self._milestones[number - 1].end if number else 0, joined.start)
        return ByteChange(between.start() if between else joined.start, joined.end, b"")

    def _added(self, text: str, at: int, written: bytes) -> ByteChange | None:
        """Add a column before code point `at`, where a column or a page begins or the text ends."""
        number = bisect_left(self._milestones, at, key=lambda each: each.at)
        following = self._milestones[number] if number < len(self._milestones) else None
        if following is not None and following.at == at and following.begins_column:
            place = following.start
        else:  # behind the last column of its page
            number -= 1
            content_end = self._content_end(text, number, at)
            if content_end is None:
                return None
            place = content_end
        return ByteChange(place, place, self._tag(number) + written + self._newline(place))

    def _deleted(self, text: str, at: int, end: int, pieces: Sequence[Piece]) -> ByteChange | None:
        """Delete the column that stands from code point `at` to `end`."""
        number = bisect_right(self._milestones, at, key=lambda each: each.at) - 1
        content_end = self._content_end(text, number, end)
        if content_end is None or self._milestones[number].at != at:
            return None
        milestone = self._milestones[number]
        if _IDENTIFIED.search(self.data, milestone.start, content_end):
            return None
        if _OF_EDITION.search(self.data, milestone.end, content_end):
            return None
        sites = [site for piece in pieces if at <= piece.start < end for site in piece.sites]
        if not all(milestone.end <= site.start and site.end <= content_end for site in sites):
            return None
        return ByteChange(milestone.start, content_end, b"")

    def _content_end(self, text: str, number: int, end: int) -> int | None:
        """The byte at which the content of a column ends, which ends at code point `end` of the text: before the next
        milestone, or before the end of an element that began in another column. None if the milestone `number` begins
        no column, or an element that begins in the column does not end there."""
        if number < 0 or not self._milestones[number].begins_column:
            return None
        column = text[self._milestones[number].at : end]
        if column.count("(") != column.count(")"):
            return None
        following = self._milestones[number + 1].start if number + 1 < len(self._milestones) else len(self.data)
        depth = 0
        for tag in _TAG.finditer(self.data, self._milestones[number].end, following):
            if tag["name"] is None or tag["empty"]:
                continue
            if tag["end"] and not depth:
                return tag.start()
            depth += -1 if tag["end"] else 1
        return None if depth else following

    def _newline(self, place: int) -> bytes:
        """A line feed if a line of the file begins at byte `place`."""
        return b"\n" if self.data[place - 1 : place] == b"\n" else b""

    def _tag(self, number: int) -> bytes:
        """The tag of a new milestone like one of the file, without attributes."""
        milestone = self._milestones[number]
        tag = _TAG.match(self.data, milestone.start)
        assert tag is not None, "a milestone begins with its tag"
        return b"<%s/>" % tag["name"]
