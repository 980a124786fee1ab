"""Page marks and lines of page-marked transcriptions: of Kanripo files and of the page-reference mirror."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto

from proof.model.refs import Folio, ImageRef
from proof.text.remarks import RemarkCode
from proof.text.transcription import Format


@dataclass(frozen=True, slots=True)
class PageMark:
    """A page mark. `juan` and `work` are written as in the mark, or empty; `fault` is the remark on a damaged mark."""

    id: str
    folio: Folio | None
    ref: ImageRef | None
    juan: str
    work: str
    fault: RemarkCode | None = None


class LineKind(Enum):
    """The kinds of lines of a page-marked transcription."""

    MARK = auto()
    COLUMN = auto()
    COMMENT = auto()
    """A line that begins with `#`: a property or a remark."""
    OUTLINE = auto()
    """An Org heading, or a line of an Org drawer."""
    ANNOTATION = auto()
    """The part of a line after a tab."""
    BEFORE = auto()
    """A line before the first page mark."""
    EMPTY = auto()
    """A line without text that is no column: empty, or with nothing but page breaks of the base edition."""


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of the file, or a part of one, of a single kind. `start` is its first code point in the file, `number`
    counts lines of the file from 1. `source` is its text without its ending, for a column also without trailing
    pilcrows.

    `format` is that of its page; `mark` is set only for page marks; `fault` is the remark on any other line.
    """

    kind: LineKind
    start: int
    number: int
    source: str
    format: Format | None
    mark: PageMark | None = None
    fault: RemarkCode | None = None


def implied_first_page(
    before: list[SourceLine], first: PageMark | None, continued: PageMark | None
) -> Iterator[SourceLine]:
    """The lines before the first page mark, as columns of their page.

    The page is `continued`, the one named in the head of the file. Without it, if the `first` mark is of side b, the
    page is side a of the same leaf: its mark was lost. If there is no such page or no text, the lines do not change."""
    with_text = (line for line in before if line.kind is LineKind.BEFORE and line.source.strip("¶ \u3000"))
    first_text = next(with_text, None)
    page = replace(continued, fault=RemarkCode.PAGE_CONTINUED) if continued is not None else _right_half(first)
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
    """The page mark of side a of the same leaf, for a mark of side b; None for other marks."""
    if mark is None or mark.folio is None or mark.folio.side != "b" or not mark.id.endswith(str(mark.folio)):
        return None
    folio = Folio(mark.folio.leaf, "a")
    return replace(
        mark, id=mark.id.removesuffix(str(mark.folio)) + str(folio), folio=folio, fault=RemarkCode.PAGE_IMPLIED
    )
