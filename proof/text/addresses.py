"""Conversion between places in a transcription's file and the addresses that flags and decisions use."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

from proof.errors import UsageError
from proof.locale.marking import Sentence, _
from proof.text.layers import numbered_lines
from proof.text.lines import LINE_ENDING
from proof.text.transcription import Transcription


@dataclass(frozen=True, slots=True)
class Address:
    """The place of a character. `line` is the number of the column on the page, or, in formats without pages, that of
    the line in the file (then `page` is empty); `offset` is in code points of that line's source."""

    page: str
    line: int
    offset: int


class _Line(NamedTuple):
    """A line of the file: its code points, and its page and number in addresses."""

    start: int
    end: int
    page: str
    number: int


class Addresses:
    """Converts places in a transcription's file to addresses and back.

    Line endings and pilcrows have no address. In formats without pages the page of an address is that of the image, and
    is ignored.
    """

    def __init__(self, transcription: Transcription) -> None:
        self._name = str(transcription.path)
        self._text = transcription.text
        self._paged = transcription.paged
        if transcription.paged:
            lines = [_Line(block.start, block.end, block.page, block.number) for block in transcription.blocks]
        else:
            numbered = numbered_lines(transcription.text)
            lines = [_Line(start, start + len(line), "", number) for number, start, line in numbered]
        self._lines = sorted(lines)
        self._starts = [line.start for line in self._lines]
        self._bounds = {(line.page, line.number): (line.start, line.end) for line in self._lines}

    def of(self, start: int) -> Address | None:
        """The address of a code point of the file, or of the end of a line; None outside all lines."""
        index = bisect_right(self._starts, start) - 1
        if index < 0:
            return None
        line = self._lines[index]
        return Address(line.page, line.number, start - line.start) if start <= line.end else None

    def before_last(self, start: int, deleted: Container[int]) -> tuple[int, int] | None:
        """Start and end of the line before the one that begins at a code point, if only lines that begin at `deleted`
        follow that on their page, and both, or only the first, have the same line ending; else None. An empty line
        before it has no end of its own."""
        index = bisect_right(self._starts, start) - 1
        if index < 1:
            return None
        before, line = self._lines[index - 1 : index + 1]
        following = takewhile(lambda other: other.page == line.page, self._lines[index + 1 :])
        is_last = all(other.start in deleted for other in following)
        ending = self._text[before.end : line.start]
        is_behind = before.page == line.page and before.start < before.end and line.start == start
        is_ended_alike = self._text.startswith(ending, line.end) or line.end == len(self._text)
        has_ending = LINE_ENDING.fullmatch(ending) is not None
        return before[:2] if is_last and is_behind and has_ending and is_ended_alike else None

    def find(self, page: str, line: int) -> tuple[int, int] | None:
        """Start and end of a line in the file; None if there is no such line."""
        return self._bounds.get((page if self._paged else "", line))

    def line(self, page: str, line: int) -> tuple[int, int]:
        """Start and end of a line in the file. Raises UsageError if there is no such line."""
        bounds = self.find(page, line)
        if bounds is None:
            message = _("%(name)s has no %(where)s: another file was checked")
            raise UsageError(message, name=self._name, where=_place_in_words(page, line))
        return bounds

    def start(self, address: Address, length: int = 0) -> int:
        """The start in the file of `length` characters at `address`. Raises UsageError."""
        begin, end = self.line(address.page, address.line)
        if address.offset < 0 or length < 0 or begin + address.offset + length > end:
            raise UsageError(
                _("%(name)s: offset %(offset)s, length %(length)s is outside %(where)s"),
                name=self._name,
                offset=address.offset,
                length=length,
                where=_place_in_words(address.page, address.line),
            )
        return begin + address.offset


def _place_in_words(page: str, line: int) -> Sentence:
    if page:
        return Sentence(_("page %(page)s, line %(line)s"), page=page, line=line)
    return Sentence(_("line %(line)s"), line=line)
