"""The kind of each line of a page-marked file: page mark, column, comment, Org outline.

Lines end as in Python's `splitlines`, also at a form feed; line numbers count line feeds and carriage returns, as
editors do. In the Kanripo format a line may hold several columns and page marks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from proof.text import kanripo, mirror
from proof.text.model import is_han
from proof.text.pages import LineKind, PageMark, SourceLine, implied_first_page
from proof.text.remarks import RemarkCode
from proof.text.transcription import Format

LINE_ENDING = re.compile(r"¶*(?:\r\n|\n|\r)|¶+")
"""The separator of two columns of a page."""

_ENDINGS = "\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""Characters that end a line."""


def lines(text: str) -> Iterator[SourceLine]:
    """The lines of `text`, or parts of lines, with their kinds; a file may hold both formats one after the other. Parts
    come in the order of the file and do not overlap; between them are line endings and pilcrows."""
    before: list[SourceLine] = []
    first: SourceLine | None = None
    parts = iter(_Lines(text))
    for line in parts:
        if line.kind is LineKind.MARK:
            first = line
            break
        before.append(line)
    if first is not None and first.format is Format.MIRROR:
        yield from before
    else:
        yield from implied_first_page(before, first.mark if first else None, kanripo.last_page(text))
    if first is not None:
        yield first
        yield from parts


class _Lines:
    """Iterates over the lines of a file, with the state of the lines before. `start` and `number` are those of the
    current line."""

    def __init__(self, text: str) -> None:
        self.raw = text.splitlines(keepends=True)
        self.base_lines = kanripo.keeps_base_lines(text)
        self.current: Format | None = None
        self.drawer_ends = self._drawers()
        self.start, self.number = 0, 1

    def _drawers(self) -> dict[int, int]:
        """The last line of each drawer by its first line, as indices. A drawer that would contain another one, or a
        heading, is none."""
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
        drawer_until = -1
        for index, raw in enumerate(self.raw):
            source = raw.rstrip(_ENDINGS)
            if self.current is not Format.MIRROR and index in self.drawer_ends:
                drawer_until = self.drawer_ends[index]
            if index <= drawer_until:
                yield self.part(LineKind.OUTLINE, source, fault=_unread_mark(source))
            else:
                yield from self.line(source)
            self.start += len(raw)
            self.number += raw[-1] in "\r\n"

    def part(
        self, kind: LineKind, source: str, begin: int = 0, fault: RemarkCode | None = None, mark: PageMark | None = None
    ) -> SourceLine:
        """The part of the current line from its code point `begin` on."""
        return SourceLine(kind, self.start + begin, self.number, source, self.current, mark, fault)

    def line(self, source: str) -> Iterator[SourceLine]:
        if source.startswith("#"):
            fault = None if kanripo.LAST_PAGE.match(source) else _unread_mark(source)
            if fault is None and kanripo.MARKDOWN_HEADING.match(source) and any(map(is_han, source)):
                fault = RemarkCode.HEADING
            yield self.part(LineKind.COMMENT, source, fault=fault)
        elif kanripo.FORME_WORK.match(source) is not None:
            yield self.part(LineKind.OUTLINE, source, fault=RemarkCode.FORME_WORK)
        elif (match := mirror.MARK.match(source)) is not None:
            self.current = Format.MIRROR
            yield self.part(LineKind.MARK, source, mark=mirror.page_mark(match))
        elif self.current is Format.MIRROR and kanripo.MARK.search(source) is None:
            fault = RemarkCode.MARK_MALFORMED if mirror.LIKE_A_MARK.match(source) else None
            yield self.part(LineKind.COLUMN, source.rstrip("¶"), fault=fault)
        else:
            yield from self.kanripo(source)

    def kanripo(self, source: str) -> Iterator[SourceLine]:
        """The parts of a line in the Kanripo format, or before the first page mark."""
        annotation = kanripo.ANNOTATION.search(source)
        end = annotation.start() if annotation else len(source)
        alone = True
        begin = 0
        outline = self.current is not Format.MIRROR and kanripo.HEADING.match(source) is not None
        if outline and (printed := kanripo.PRINTED_HEADING.match(source, 0, end)) is not None:
            outline, begin = False, printed.end()
            yield self.part(LineKind.OUTLINE, printed[0])
        for match in kanripo.MARK.finditer(source, 0, end):
            yield from self.text(source[begin : match.start()], begin, outline=outline, alone=False)
            self.current, begin = Format.KANRIPO, match.end()
            yield self.part(LineKind.MARK, match[0], match.start(), mark=kanripo.page_mark(match))
            alone = False
        yield from self.text(source[begin:end], begin, outline=outline, alone=alone)
        if annotation is not None:
            note = source[end:]
            yield self.part(LineKind.ANNOTATION, note, end, _unread_mark(note) or RemarkCode.ANNOTATION)

    def text(self, part: str, begin: int, *, outline: bool, alone: bool) -> Iterator[SourceLine]:
        """The columns of the text before, between or after the page marks of a line; `alone`: the line has no mark."""
        if outline:
            if part:
                yield self.part(LineKind.OUTLINE, part, begin, RemarkCode.HEADING if any(map(is_han, part)) else None)
            return
        if alone and not part:
            yield self.part(LineKind.EMPTY, part)
        elif not alone and not part.strip("¶ \u3000"):
            return
        elif not self.base_lines:
            yield from self.columns(part, begin, alone=alone)
        elif not kanripo.BASE_PAGE.sub("", part).strip("¶"):
            yield self.part(LineKind.EMPTY, part, begin)
        else:
            yield self.column(part, begin)

    def columns(self, part: str, begin: int, *, alone: bool) -> Iterator[SourceLine]:
        """The text of a line, or of a part of it, divided at its pilcrows. A pilcrow without text before it ends no
        column, unless it is `alone` on its line: then it is a column whose text was lost."""
        if alone and not part.strip("¶"):
            yield self.column(part, begin)
            return
        start = 0
        for pilcrows in kanripo.PILCROWS.finditer(part):
            if pilcrows.start() > start:
                yield self.column(part[start : pilcrows.end()], begin + start)
            start = pilcrows.end()
        if part[start:].strip(" \u3000") or (part and not start):
            yield self.column(part[start:], begin + start)

    def column(self, part: str, begin: int) -> SourceLine:
        source = part.rstrip("¶")
        fault = None
        if kanripo.MARK_BEGINS in source or mirror.LIKE_A_MARK.match(source):
            fault = RemarkCode.MARK_MALFORMED
        elif kanripo.DRAWER.match(source):
            fault = RemarkCode.DRAWER_OPEN
        return self.part(LineKind.BEFORE if self.current is None else LineKind.COLUMN, source, begin, fault)


def _unread_mark(source: str) -> RemarkCode | None:
    """The remark on a line that is no text but holds a page mark; None for others."""
    return RemarkCode.MARK_NOT_READ if kanripo.MARK_BEGINS in source else None
