"""Conversion between places in a transcription's file and the addresses that flags and decisions use."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from proof.errors import UsageError
from proof.locale.marking import Sentence, _
from proof.text.layers import numbered_lines
from proof.text.transcription import Transcription


@dataclass(frozen=True, slots=True)
class Address:
    """A place: page, line and offset. `line` is the column of the page, or, in formats without pages, the line of the
    file (then `page` is empty); `offset` is in code points of that line's source."""

    page: str
    line: int
    offset: int


class Addresses:
    """Converts places in a transcription's file to addresses and back.

    Line endings and pilcrows have no address. In formats without pages the page of an address is ignored: it is that of
    the image.
    """

    def __init__(self, transcription: Transcription) -> None:
        self._name = str(transcription.path)
        self._paged = transcription.paged
        if transcription.paged:
            lines = [(block.start, block.end, block.page, block.number) for block in transcription.blocks]
        else:
            numbered = numbered_lines(transcription.text)
            lines = [(start, start + len(line), "", number) for number, start, line in numbered]
        self._lines = sorted(lines)
        self._starts = [start for start, *_ in self._lines]
        self._known = {(page, number): (start, end) for start, end, page, number in self._lines}

    def of(self, start: int) -> Address | None:
        """The address of a code point of the file, or of the end of a line; None outside all lines."""
        at = bisect_right(self._starts, start) - 1
        if at < 0:
            return None
        begin, end, page, number = self._lines[at]
        return Address(page, number, start - begin) if start <= end else None

    def columns(self) -> Sequence[tuple[int, int, str, int]]:
        """For each line: start and end in the file, its page, and its number there."""
        return self._lines

    def find(self, page: str, line: int) -> tuple[int, int] | None:
        """Start and end of a line in the file; None if there is no such line."""
        return self._known.get((page if self._paged else "", line))

    def line(self, page: str, line: int) -> tuple[int, int]:
        """As `find`. Raises UsageError if there is no such line."""
        known = self.find(page, line)
        if known is None:
            message = _("%(name)s has no %(where)s: it was another file that was checked")
            raise UsageError(message, name=self._name, where=_place_in_words(page, line))
        return known

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
