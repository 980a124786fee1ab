"""Page marks and columns of a page-marked transcription, whatever its format."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from proof.model.refs import Folio, ImageRef


@dataclass(frozen=True, slots=True)
class PageMark:
    """What a page mark says. `juan` and `work` as the mark writes them, empty where it does not."""

    id: str
    folio: Folio | None
    ref: ImageRef | None
    juan: str
    work: str


@dataclass(frozen=True, slots=True)
class PageFormat:
    """A page-marked format: how its page marks are written, what they mean, and whether an empty line under
    one is a column whose text was lost."""

    name: str
    mark: re.Pattern[str]
    meaning: Callable[[re.Match[str]], PageMark]
    empty_line_is_column: bool


class LineKind(Enum):
    MARK = auto()
    """Begins a page."""
    COLUMN = auto()
    COMMENT = auto()
    """Begins with `#`: properties and remarks, never a column."""
    BEFORE = auto()
    """Before the first page mark."""
    EMPTY = auto()
    """Empty under a page mark of a format in which that is no column."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the file. `start` is its code point in the file, `number` counts lines of the file from 1;
    `source` is the line without its ending and, for a column, without trailing pilcrows; for a page mark it is
    what follows the mark on its line. `pilcrow` says whether the line ends in one.

    `format` is that of the page it is on; `mark` is set for a page mark alone.
    """

    kind: LineKind
    start: int
    number: int
    source: str
    format: PageFormat | None
    mark: PageMark | None = None
    pilcrow: bool = False


def lines(text: str, formats: Sequence[PageFormat]) -> Iterator[Line]:
    """Every line of `text` with what it is; several formats may follow one another in one file.

    A line ends where Python's `splitlines` ends it (a form feed ends one too); lines of the file are counted by
    line feeds and carriage returns, as editors count them.
    """
    start, number, current = 0, 1, None
    for raw in text.splitlines(keepends=True):
        source = raw.rstrip("\r\n")
        found = _page_mark(source, formats)
        if found is not None:
            current, mark, rest = found
            yield Line(LineKind.MARK, start, number, rest, current, mark)
        elif source.startswith("#"):
            yield Line(LineKind.COMMENT, start, number, source, current)
        elif current is None:
            yield Line(LineKind.BEFORE, start, number, source, None)
        elif source or current.empty_line_is_column:
            column = source.rstrip("¶")
            yield Line(LineKind.COLUMN, start, number, column, current, pilcrow=column != source)
        else:
            yield Line(LineKind.EMPTY, start, number, source, current)
        start += len(raw)
        number += raw[-1] in "\r\n"


def _page_mark(source: str, formats: Sequence[PageFormat]) -> tuple[PageFormat, PageMark, str] | None:
    for form in formats:
        found = form.mark.match(source)
        if found is not None:
            return form, form.meaning(found), source[found.end() :]
    return None
