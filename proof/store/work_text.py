"""The text of a work as one string, in which words are found wherever columns and pages break.

What is compared are characters alone: spaces, punctuation, the markup of notes and what is invisible are passed over on
both sides, so that words are found as they are read, in whatever rows of a note they stand, and as they are copied from
the text.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from sqlalchemy import select
from sqlalchemy.orm import Session

from proof.errors import ProofError
from proof.model.result import Status
from proof.store.models import ColumnRow, PageRow, WorkRow
from proof.store.queue_records import ListedPage
from proof.text.column import TAG
from proof.text.read import page_sources

BLANK = " \u3000¶"
"""What stands at the ends of a column and is no part of its text."""

_PASSED_OVER = frozenset({"Cc", "Cf", "Mn"})
"""Categories of Unicode beside punctuation and spaces: what is invisible, and what selects a variant of a character."""


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column of a page as its text has it, by its number there."""

    page: ListedPage
    number: int
    source: str


@dataclass(frozen=True, slots=True)
class WordsInText:
    """Words that were found: from `offset` of the source of the column `first` to `end`, behind the last of them, of
    the column `last`; `words` as they stand there, without what parts the columns."""

    first: TextColumn
    offset: int
    last: TextColumn
    end: int
    words: str


class WorkText:
    """The columns of a work, in the order of its pages, as one text."""

    def __init__(self, columns: Iterable[TextColumn]) -> None:
        self.columns: list[TextColumn] = []
        self._starts: list[int] = []
        parts: list[str] = []
        length, file = 0, ""
        for column in columns:
            if self.columns and column.page.text != file:  # where a file ends, no words go on
                parts.append("\n")
                length += 1
            file = column.page.text
            bare = _bare(column.source)
            self.columns.append(column)
            self._starts.append(length)
            parts.append(bare)
            length += len(bare)
        self._text = "".join(parts)

    def __len__(self) -> int:
        return len(self._text)

    def count(self, wanted: str) -> int:
        """How often the words occur, one behind the other."""
        bare = _bare(wanted)
        return self._text.count(bare) if bare else 0

    def find(self, wanted: str) -> Iterator[WordsInText]:
        """Where the words occur, in the order of the text."""
        bare = _bare(wanted)
        at = self._text.find(bare) if bare else -1
        while at >= 0:
            yield self._words(at, at + len(bare) - 1)
            at = self._text.find(bare, at + len(bare))

    def _words(self, first: int, last: int) -> WordsInText:
        begin, end = self._column_at(first), self._column_at(last)
        here, there = self.columns[begin], self.columns[end]
        offset = _offsets(here.source)[first - self._starts[begin]]
        behind = _offsets(there.source)[last - self._starts[end]] + 1
        parts = [one.source for one in self.columns[begin : end + 1]]
        parts[-1] = parts[-1][:behind]
        parts[0] = parts[0][offset:]
        words = "".join(part.strip(BLANK) for part in parts) if len(parts) > 1 else parts[0]
        return WordsInText(here, offset, there, behind, words)

    def _column_at(self, place: int) -> int:
        """The number of the column in which a character of the text stands."""
        return bisect_right(self._starts, place) - 1


def text_of(session: Session, work: str, pages: Sequence[ListedPage]) -> WorkText:
    """The text of a work: of pages that were checked as they then were, of the others as their files have them."""
    stored = _stored(session, work)
    unread = [page for page in pages if page.status != Status.CHECKED.value]
    in_files = columns_in_files(unread)

    def columns() -> Iterator[TextColumn]:
        for page in pages:
            found = in_files.get(page.number)
            if found is not None:
                yield from (TextColumn(page, number, source) for number, source in enumerate(found, 1))
            else:
                yield from (TextColumn(page, number, source) for number, source in stored.get(page.number, ()))

    return WorkText(columns())


def _stored(session: Session, work: str) -> dict[int, list[tuple[int, str]]]:
    """The columns of the pages of a work as they were checked, each once: of a text without columns, one line of its
    file stands in several."""
    query = select(ColumnRow.page_id, ColumnRow.number, ColumnRow.source)
    query = query.join(PageRow, ColumnRow.page_id == PageRow.id).join(WorkRow, PageRow.work_id == WorkRow.id)
    query = query.where(WorkRow.name == work, PageRow.absent.is_(False))
    rows = session.execute(query.order_by(ColumnRow.page_id, ColumnRow.ordinal)).all()
    return {
        page: list(dict.fromkeys((number, source) for _, number, source in found))
        for page, found in groupby(rows, lambda row: int(row[0]))
    }


def columns_in_files(pages: Iterable[ListedPage]) -> Mapping[int, Sequence[str]]:
    """The columns of pages as their texts have them, by the number of the page: of a page without an image the store
    keeps none. Those are left out whose text is gone, or has changed so that it cannot be read."""
    by_file: dict[str, list[ListedPage]] = {}
    for page in pages:
        by_file.setdefault(page.text, []).append(page)
    found: dict[int, Sequence[str]] = {}
    for file, listed in by_file.items():
        try:
            columns = page_sources(file)
        except ProofError:
            continue
        found |= {page.number: columns[page.page] for page in listed if page.page in columns}
    return found


class _Compared(dict[int, str | None]):
    """By code point what of a character is compared; None where it is passed over."""

    def __missing__(self, code: int) -> str | None:
        char = chr(code)
        category = unicodedata.category(char)
        small = char.lower()
        kept = small if len(small) == 1 else char
        self[code] = None if category[0] in "PZ" or category in _PASSED_OVER else kept
        return self[code]


_COMPARED = _Compared()


def _bare(source: str) -> str:
    return (TAG.sub("", source) if "<" in source else source).translate(_COMPARED)


def _offsets(source: str) -> list[int]:
    """Where the characters that are compared stand in a source."""
    plain = TAG.sub(lambda tag: " " * len(tag[0]), source) if "<" in source else source
    return [at for at, char in enumerate(plain) if _COMPARED[ord(char)] is not None]
