"""Places of a transcription as flags and decisions name them, and back to the file."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proof.errors import UsageError
from proof.text.layers import numbered_lines
from proof.text.transcription import Transcription


@dataclass(frozen=True, slots=True)
class Address:
    """A place as flags and decisions name it: page and column, or, where the format has no pages, an empty page
    and the line of the file; `offset` is code points in that line's source."""

    page: str
    line: int
    offset: int


class Addresses:
    """Leads from places in a transcription's file to addresses and back.

    A line is as long as its source: line endings and pilcrows cannot be addressed. Where the format has no pages,
    the page of an address is not asked after: it is the image on which a place was found.
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
