"""The kind of each line of a page-marked file: page mark, column, comment, Org outline.

Lines end as in Python's `splitlines`, also at a form feed; line numbers count line feeds and carriage returns, as
editors do. In the Kanripo format a line may hold several columns and page marks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from proof.model.flags import LINE_BREAK
from proof.text import kanripo, mirror
from proof.text.edit import Edit
from proof.text.model import is_han
from proof.text.pages import LineKind, PageMark, SourceLine, implied_first_page
from proof.text.remarks import RemarkCode
from proof.text.transcription import Format

LINE_ENDING = re.compile(r"¶*(?:\r\n|\n|\r)|¶+")
"""The separator of two columns of a page."""

LINE_ENDING_SIGNS = "¶\r\n"
"""The characters of `LINE_ENDING`."""

LINE_ENDING_CHARACTERS = "\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""The characters that end a line, as in `splitlines`."""


def lines(text: str) -> Iterator[SourceLine]:
    """The lines of `text`, or parts of lines, with their kinds, in the order of the file. Parts do not overlap; line
    endings and pilcrows are in none. A file may have one page-marked format after the other."""
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
    """Iterates over the lines of a file. `start` and `number` are those of the current line, `format` that of the last
    page mark."""

    def __init__(self, text: str) -> None:
        self.raw = text.splitlines(keepends=True)
        self.base_lines = kanripo.keeps_base_lines(text)
        self.format: Format | None = None
        self.drawer_ends = self._drawers()
        self.start, self.number = 0, 1

    def _drawers(self) -> dict[int, int]:
        """The index of the last line of each drawer by that of its first line. Lines that contain another drawer or a
        heading are no drawer."""
        ends: dict[int, int] = {}
        start: int | None = None
        for index, raw in enumerate(self.raw):
            source = raw.rstrip(LINE_ENDING_CHARACTERS)
            if kanripo.HEADING.match(source):
                start = None
            elif kanripo.DRAWER_ENDS.match(source):
                if start is not None:
                    ends[start] = index
                start = None
            elif kanripo.DRAWER.match(source):
                start = index
        return ends

    def __iter__(self) -> Iterator[SourceLine]:
        drawer_end = -1
        for index, raw in enumerate(self.raw):
            source = raw.rstrip(LINE_ENDING_CHARACTERS)
            if self.format is not Format.MIRROR and index in self.drawer_ends:
                drawer_end = self.drawer_ends[index]
            if index <= drawer_end:
                yield self.part(LineKind.OUTLINE, source, fault=_unread_mark(source))
            else:
                yield from self.line(source)
            self.start += len(raw)
            self.number += raw[-1] in "\r\n"

    def part(
        self, kind: LineKind, source: str, begin: int = 0, fault: RemarkCode | None = None, mark: PageMark | None = None
    ) -> SourceLine:
        """The part of the current line that begins at its code point `begin`."""
        return SourceLine(kind, self.start + begin, self.number, source, self.format, mark, fault)

    def line(self, source: str) -> Iterator[SourceLine]:
        if source.startswith("#"):
            yield self.comment(source)
        elif kanripo.FORME_WORK.match(source) is not None:
            yield self.part(LineKind.OUTLINE, source, fault=RemarkCode.FORME_WORK)
        elif (match := mirror.MARK.match(source)) is not None:
            self.format = Format.MIRROR
            yield self.part(LineKind.MARK, source, mark=mirror.page_mark(match))
        elif self.format is Format.MIRROR and kanripo.MARK.search(source) is None:
            fault = RemarkCode.MARK_MALFORMED if mirror.LIKE_A_MARK.match(source) else None
            yield self.part(LineKind.COLUMN, source.rstrip("¶"), fault=fault)
        else:
            yield from self.kanripo(source)

    def comment(self, source: str) -> SourceLine:
        fault = None if kanripo.LAST_PAGE.match(source) else _unread_mark(source)
        if fault is None and kanripo.MARKDOWN_HEADING.match(source) and any(map(is_han, source)):
            fault = RemarkCode.HEADING
        return self.part(LineKind.COMMENT, source, fault=fault)

    def kanripo(self, source: str) -> Iterator[SourceLine]:
        """The parts of a line in the Kanripo format, or before the first page mark."""
        annotation = kanripo.ANNOTATION.search(source)
        end = annotation.start() if annotation else len(source)
        begin = 0
        is_outline = self.format is not Format.MIRROR and kanripo.HEADING.match(source) is not None
        if is_outline and (printed := kanripo.PRINTED_HEADING.match(source, 0, end)) is not None:
            is_outline, begin = False, printed.end()
            yield self.part(LineKind.OUTLINE, printed[0])
        marks = list(kanripo.MARK.finditer(source, 0, end))
        for match in marks:
            yield from self.text(source[begin : match.start()], begin, is_outline=is_outline, has_marks=True)
            self.format, begin = Format.KANRIPO, match.end()
            yield self.part(LineKind.MARK, match[0], match.start(), mark=kanripo.page_mark(match))
        yield from self.text(source[begin:end], begin, is_outline=is_outline, has_marks=bool(marks))
        if annotation is not None:
            note = source[end:]
            yield self.part(LineKind.ANNOTATION, note, end, _unread_mark(note) or RemarkCode.ANNOTATION)

    def text(self, part: str, begin: int, *, is_outline: bool, has_marks: bool) -> Iterator[SourceLine]:
        """The columns of a part of a line: the text before, between or after its page marks, if it has any."""
        if is_outline:
            if part:
                yield self.part(LineKind.OUTLINE, part, begin, RemarkCode.HEADING if any(map(is_han, part)) else None)
            return
        if not has_marks and not part:
            yield self.part(LineKind.EMPTY, part)
        elif has_marks and not part.strip("¶ \u3000"):
            return
        elif not self.base_lines:
            yield from self.columns(part, begin, has_marks=has_marks)
        elif not kanripo.BASE_PAGE.sub("", part).strip("¶"):
            yield self.part(LineKind.EMPTY, part, begin)
        else:
            yield self.column(part, begin)

    def columns(self, part: str, begin: int, *, has_marks: bool) -> Iterator[SourceLine]:
        """The columns that pilcrows divide. A pilcrow without text before it ends no column, but a line with nothing
        but pilcrows is a column whose text was lost."""
        if not has_marks and not part.strip("¶"):
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
        return self.part(LineKind.BEFORE if self.format is None else LineKind.COLUMN, source, begin, fault)


def _unread_mark(source: str) -> RemarkCode | None:
    """The remark on a line that is no text but holds a page mark; None for other lines."""
    return RemarkCode.MARK_NOT_READ if kanripo.MARK_BEGINS in source else None


def line_edit(text: str, start: int, old: str, new: str, offset: int) -> Edit:
    """The edit that inserts or deletes a whole line with its ending, replaces the text of a line, or inserts or deletes
    a line ending alone (`LINE_BREAK`). A line is inserted before that of `start` if the `offset` in it is 0, else
    behind it. The ending behind a line goes with it, so that the line before keeps its own."""
    if new == LINE_BREAK:
        return Edit(start, 0, _ending(text, start))
    if old and new:
        return Edit(start, len(old), new)
    if old:
        length = 0 if old == LINE_BREAK else len(old)
        ending = LINE_ENDING.match(text, start + length)
        return Edit(start, length + (len(ending[0]) if ending is not None else 0), "")
    before = LINE_ENDING.match(text, start) if offset else None
    if offset and before is None:  # at the end of the text
        return Edit(start, 0, _ending(text, start) + new)
    return Edit(before.end() if before is not None else start, 0, new + _ending(text, start))


def _ending(text: str, start: int) -> str:
    """The first line ending of a text from `start` on, or else the last one before it; a line feed if there is none."""
    following = LINE_ENDING.search(text, start)
    endings = [following] if following is not None else list(LINE_ENDING.finditer(text))
    return endings[-1][0] if endings else "\n"
