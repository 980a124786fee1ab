"""Page marks and lines of page-marked transcriptions, in the format of Kanripo and in that of the page-reference
mirror."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto

from proof.model.refs import Folio, ImageRef
from proof.text.remarks import RemarkCode
from proof.text.transcription import Format


@dataclass(frozen=True, slots=True)
class PageMark:
    """A page mark. `juan` and `work` are written as in the mark, empty if it has none; `fault` is the remark on a
    damaged mark."""

    id: str
    folio: Folio | None
    ref: ImageRef | None
    juan: str
    work: str
    fault: RemarkCode | None = None


class LineKind(Enum):
    """The kinds of lines of a page-marked transcription."""

    MARK = auto()
    """A page mark."""
    COLUMN = auto()
    COMMENT = auto()
    """Begins with `#`: properties and remarks, never a column."""
    OUTLINE = auto()
    """An Org heading, or a line of an Org drawer."""
    ANNOTATION = auto()
    """What follows a tab."""
    BEFORE = auto()
    """Before the first page mark."""
    EMPTY = auto()
    """Empty, or with nothing but page breaks of the base edition, where that is no column."""


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of the file, or a part of one, of a single kind. `start` is its code point in the file, `number` counts
    lines of the file from 1. `source` is its text without its ending, for a column also without trailing pilcrows; for
    a page mark it is the mark.

    `format` is that of its page; `mark` is set only for page marks; `fault` is a remark on any other line.
    """

    kind: LineKind
    start: int
    number: int
    source: str
    format: Format | None
    mark: PageMark | None = None
    fault: RemarkCode | None = None


def implied_first_page(
    before: list[SourceLine], first: PageMark | None, named: PageMark | None
) -> Iterator[SourceLine]:
    """The lines before the first page mark, with their page: `named`, which the head of the file names, or else the
    page before that of the `first` mark, if its side is b. Before `1b`, the mark of `1a` was lost with the page of the
    base edition. If there is neither, the lines are given unchanged."""
    text = (line for line in before if line.kind is LineKind.BEFORE and line.source.strip("¶ \u3000"))
    first_text = next(text, None)
    page = replace(named, fault=RemarkCode.PAGE_CONTINUED) if named is not None else _right_half(first)
    if first_text is None or page is None:
        yield from before
        return
    for line in before:
        if line is first_text:
            yield SourceLine(LineKind.MARK, line.start, line.number, "", Format.KANRIPO, page)
        if line.kind is LineKind.BEFORE and line.start >= first_text.start:
            yield replace(line, kind=LineKind.COLUMN, format=Format.KANRIPO)
        else:
            yield line


def _right_half(mark: PageMark | None) -> PageMark | None:
    """The page mark of side a, for a mark of side b of the same leaf; None for other marks."""
    if mark is None or mark.folio is None or mark.folio.side != "b" or not mark.id.endswith(str(mark.folio)):
        return None
    folio = Folio(mark.folio.leaf, "a")
    return replace(
        mark, id=mark.id.removesuffix(str(mark.folio)) + str(folio), folio=folio, fault=RemarkCode.PAGE_IMPLIED
    )
