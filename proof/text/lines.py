"""What each line of a page-marked file is: page mark, column, comment, Org outline.

A line ends where Python's `splitlines` ends it (a form feed ends one too); lines of the file are counted by line feeds
and carriage returns, as editors count them. In the Kanripo format a line may hold several columns and page marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from proof.text import kanripo
from proof.text.kanripo import KANRIPO
from proof.text.mirror import LIKE_A_MARK, MIRROR
from proof.text.model import is_han
from proof.text.pages import LineKind, PageFormat, SourceLine, implied_first_page
from proof.text.remarks import Code

FORMATS = (KANRIPO, MIRROR)

LINE_ENDING = re.compile(r"¶*(?:\r\n|\n|\r)|¶+")
"""What stands between two columns of a page."""


def lines(text: str) -> Iterator[SourceLine]:
    """Every line of `text`, or part of one, with what it is; both formats may follow one another in one file.

    Parts come in the order of the file and do not overlap; what lies between them are line endings and pilcrows.
    """
    before: list[SourceLine] = []
    current: PageFormat | None = None
    for line in _Lines(text):
        if current is not None:
            yield line
        elif line.kind is not LineKind.MARK:
            before.append(line)
        else:
            current = line.format
            if current is KANRIPO:
                yield from implied_first_page(before, line.mark, kanripo.last_page(text), KANRIPO)
            else:
                yield from before
            yield line
    if current is None:
        yield from implied_first_page(before, None, kanripo.last_page(text), KANRIPO)


_ENDINGS = "\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""What ends a line."""


@dataclass(slots=True)
class _Place:
    """A line of the file: where it begins, and its number."""

    start: int
    number: int


class _Lines:
    """The lines of a file one after the other, as far as the lines before tell."""

    def __init__(self, text: str) -> None:
        self.raw = text.splitlines(keepends=True)
        self.base_lines = kanripo.keeps_base_lines(text)
        self.current: PageFormat | None = None
        self.drawer_ends = self._drawers()

    def _drawers(self) -> dict[int, int]:
        """Where each drawer ends, by the index of the line on which it begins. A drawer holds neither another nor a
        heading; one that would is none."""
        ends: dict[int, int] = {}
        begun: int | None = None
        for index, raw in enumerate(self.raw):
            source = raw.rstrip(_ENDINGS)
            if kanripo.HEADING.match(source):
                begun = None
            elif kanripo.DRAWER_ENDS.match(source):
                if begun is not None:
                    ends[begun] = index
                begun = None
            elif kanripo.DRAWER.match(source):
                begun = index
        return ends

    def __iter__(self) -> Iterator[SourceLine]:
        at = _Place(0, 1)
        drawer_until = -1
        for index, raw in enumerate(self.raw):
            source = raw.rstrip(_ENDINGS)
            if self.current is not MIRROR and index in self.drawer_ends:
                drawer_until = self.drawer_ends[index]
            if index <= drawer_until:
                fault = Code.MARK_NOT_READ if kanripo.MARK_BEGINS in source else None
                yield SourceLine(LineKind.OUTLINE, at.start, at.number, source, self.current, fault=fault)
            else:
                yield from self.line(source, at)
            at = _Place(at.start + len(raw), at.number + (raw[-1] in "\r\n"))

    def line(self, source: str, at: _Place) -> Iterator[SourceLine]:
        if source.startswith("#"):
            misplaced = kanripo.MARK_BEGINS in source and kanripo.LAST_PAGE.match(source) is None
            fault = Code.MARK_NOT_READ if misplaced else None
            yield SourceLine(LineKind.COMMENT, at.start, at.number, source, self.current, fault=fault)
        elif kanripo.FORME_WORK.match(source) is not None:
            fault = Code.FORME_WORK
            yield SourceLine(LineKind.OUTLINE, at.start, at.number, source, self.current, fault=fault)
        elif (match := MIRROR.mark.match(source)) is not None:
            self.current = MIRROR
            yield SourceLine(LineKind.MARK, at.start, at.number, source, MIRROR, MIRROR.meaning(match))
        elif self.current is MIRROR and kanripo.MARK.search(source) is None:
            column = source.rstrip("¶")
            fault = Code.MARK_MALFORMED if LIKE_A_MARK.match(source) else None
            yield SourceLine(LineKind.COLUMN, at.start, at.number, column, MIRROR, fault=fault)
        else:
            yield from self.kanripo(source, at)

    def kanripo(self, source: str, at: _Place) -> Iterator[SourceLine]:
        """The parts of a line, or what stands before the first mark of any format."""
        end = len(source)
        annotation = kanripo.ANNOTATION.search(source) if "\t" in source else None
        if annotation is not None:
            end = annotation.start()
        begin, marked = 0, False
        outline = self.current is not MIRROR and kanripo.HEADING.match(source) is not None
        printed = kanripo.PRINTED_HEADING.match(source, 0, end) if outline else None
        if printed is not None:
            outline, begin = False, printed.end()
            yield SourceLine(LineKind.OUTLINE, at.start, at.number, printed[0], self.current)
        for match in kanripo.MARK.finditer(source, 0, end):
            yield from self.written(source, begin, match.start(), at, outline=outline, marked=marked, last=False)
            self.current, marked = KANRIPO, True
            start = at.start + match.start()
            yield SourceLine(LineKind.MARK, start, at.number, match[0], KANRIPO, KANRIPO.meaning(match))
            begin = match.end()
        yield from self.written(source, begin, end, at, outline=outline, marked=marked, last=True)
        if annotation is not None:
            rest = source[end:]
            fault = Code.MARK_NOT_READ if kanripo.MARK_BEGINS in rest else Code.ANNOTATION
            yield SourceLine(LineKind.ANNOTATION, at.start + end, at.number, rest, self.current, fault=fault)

    def written(
        self, source: str, begin: int, end: int, at: _Place, *, outline: bool, marked: bool, last: bool
    ) -> Iterator[SourceLine]:
        """What stands before, between or behind the page marks of a line; `marked`: a mark precedes, `last`: none
        follows."""
        part = source[begin:end]
        if outline:
            if part:
                fault = Code.HEADING if any(map(is_han, part)) else None
                yield SourceLine(LineKind.OUTLINE, at.start + begin, at.number, part, self.current, fault=fault)
            return
        blank = not part.strip("¶ \u3000")
        if not part or (blank and (marked or not last)):
            if not marked and last:
                yield SourceLine(LineKind.EMPTY, at.start, at.number, part, self.current)
            return
        if self.base_lines:
            if not kanripo.BASE_PAGE.sub("", part).strip("¶"):
                yield SourceLine(LineKind.EMPTY, at.start + begin, at.number, part, self.current)
            else:
                yield self.column(part, begin, at)
            return
        yield from self.columns(part, begin, at, alone=not marked and last)

    def columns(self, part: str, begin: int, at: _Place, *, alone: bool) -> Iterator[SourceLine]:
        """A part of a line cut at its pilcrows. A pilcrow that nothing precedes ends no column of its own, unless it
        is `alone` on its line: then the text of a column was lost."""
        if alone and not part.strip("¶"):
            yield self.column(part, begin, at)
            return
        start = 0
        for pilcrows in kanripo.PILCROWS.finditer(part):
            if pilcrows.start() > start:
                yield self.column(part[start : pilcrows.end()], begin + start, at)
            start = pilcrows.end()
        if part[start:].strip(" \u3000") or (part and not start):
            yield self.column(part[start:], begin + start, at)

    def column(self, part: str, begin: int, at: _Place) -> SourceLine:
        source = part.rstrip("¶")
        like_mark = kanripo.MARK_BEGINS in source or LIKE_A_MARK.match(source) is not None
        fault = Code.MARK_MALFORMED if like_mark else None
        if fault is None and kanripo.DRAWER.match(source):
            fault = Code.DRAWER_OPEN
        kind = LineKind.BEFORE if self.current is None else LineKind.COLUMN
        return SourceLine(kind, at.start + begin, at.number, source, self.current, fault=fault)
