"""Page marks and columns of a page-marked transcription, whatever its format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto

from proof.model.refs import Folio, ImageRef
from proof.text.remarks import Code
from proof.text.transcription import Format


@dataclass(frozen=True, slots=True)
class PageMark:
    """What a page mark says. `juan` and `work` as the mark writes them, empty where it does not; `fault` is what is
    odd about it."""

    id: str
    folio: Folio | None
    ref: ImageRef | None
    juan: str
    work: str
    fault: Code | None = None


class LineKind(Enum):
    MARK = auto()
    """Begins a page."""
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
    """A line of the file, or the part of it that is one thing. `start` is its code point in the file, `number` counts
    lines of the file from 1; `source` is its text without its ending and, for a column, without trailing pilcrows;
    for a page mark it is the mark.

    `format` is that of the page it is on; `mark` is set for a page mark alone; `fault` is what is odd about a line
    that is no mark.
    """

    kind: LineKind
    start: int
    number: int
    source: str
    format: Format | None
    mark: PageMark | None = None
    fault: Code | None = None


def implied_first_page(
    before: list[SourceLine], first: PageMark | None, named: PageMark | None
) -> Iterator[SourceLine]:
    """What stands before the first page mark, as lines of the page that the head of the file names (`named`), or else
    of the one that the mark implies: `1b` after it means that it is `1a`, whose mark went with the page of the base
    edition. Else the lines as they are."""
    written = [line for line in before if line.kind is LineKind.BEFORE and line.source.strip("¶ \u3000")]
    page = replace(named, fault=Code.PAGE_CONTINUED) if named is not None else _right_half(first)
    if not written or page is None:
        yield from before
        return
    for line in before:
        if line is written[0]:
            yield SourceLine(LineKind.MARK, line.start, line.number, "", Format.KANRIPO, page)
        if line.kind is LineKind.BEFORE and line.start >= written[0].start:
            yield replace(line, kind=LineKind.COLUMN, format=Format.KANRIPO)
        else:
            yield line


def _right_half(mark: PageMark | None) -> PageMark | None:
    """The right half of the leaf whose left half a page mark begins; None where it begins another."""
    if mark is None or mark.folio is None or mark.folio.side != "b" or not mark.id.endswith(str(mark.folio)):
        return None
    folio = Folio(mark.folio.leaf, "a")
    return replace(mark, id=mark.id.removesuffix(str(mark.folio)) + str(folio), folio=folio, fault=Code.PAGE_IMPLIED)
