"""The text of a work as one string, in which words are found wherever columns and pages break.

What is compared are characters alone: spaces, punctuation, the markup of notes and what is invisible are passed over on
both sides, so that words are found as they are read, in whatever rows of a note they stand, and as they are copied from
the text.
"""

from __future__ import annotations

import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from threading import Lock
from typing import Any, Protocol

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from proof.errors import ProofError
from proof.model.result import Status
from proof.store.bounded import Bounded
from proof.store.models import ColumnRow, PageRow, RunRow, WorkRow
from proof.text.column import TAG
from proof.text.read import page_sources

BLANK = " \u3000¶"
"""What stands at the ends of a column and is no part of its text."""

KEPT = 250_000_000
"""Bytes of texts that are kept in memory, of some 200,000 pages: those in which somebody looked for words last."""

UTF8 = ("utf-8", "surrogatepass")
"""How texts are kept; half a surrogate pair, which a damaged file may have, is kept as it is."""

_PASSED_OVER = frozenset({"Cc", "Cf", "Mn"})
"""Categories of Unicode beside punctuation and spaces: what is invisible, and what selects a variant of a character."""


class TextPage(Protocol):
    """A page by its number in the store, its id in the text, and the file of that."""

    @property
    def number(self) -> int: ...

    @property
    def page(self) -> str: ...

    @property
    def text(self) -> str: ...


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column as the text has it: the number of its page in the store, its own on that page, its source."""

    page: int
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

    @property
    def before(self) -> str:
        """What stands before them in their first column."""
        return self.first.source[: self.offset]

    @property
    def after(self) -> str:
        """What stands behind them in their last column."""
        return self.last.source[self.end :]


class WorkText:
    """The columns of a work, file by file in the order of its pages, as one text. It is kept as UTF-8, in some seven
    bytes a character, so that the texts of many works may be."""

    def __init__(self, files: Iterable[Iterable[TextColumn]]) -> None:
        self._pages, self._numbers = array("q"), array("l")
        self._starts, self._source_starts = array("q"), array("q", [0])
        text, sources = bytearray(), bytearray()
        for columns in files:
            for column in columns:
                self._pages.append(column.page)
                self._numbers.append(column.number)
                self._starts.append(len(text))
                text += _bare(column.source).encode(*UTF8)
                sources += column.source.encode(*UTF8)
                self._source_starts.append(len(sources))
            text += b"\n"  # where a file ends, no words go on
        self._text, self._sources = bytes(text), bytes(sources)

    @property
    def size(self) -> int:
        """Bytes that it takes in memory."""
        indexed = (self._pages, self._numbers, self._starts, self._source_starts)
        return len(self._text) + len(self._sources) + sum(len(one) * one.itemsize for one in indexed)

    def count(self, wanted: str) -> int:
        """How often the words occur, one behind the other."""
        bare = _bare(wanted).encode(*UTF8)
        return self._text.count(bare) if bare else 0

    def find(self, wanted: str) -> Iterator[WordsInText]:
        """Where the words occur, in the order of the text."""
        bare = _bare(wanted).encode(*UTF8)
        at = self._text.find(bare) if bare else -1
        while at >= 0:
            yield self._words(at, at + len(bare))
            at = self._text.find(bare, at + len(bare))

    def _words(self, first: int, end: int) -> WordsInText:
        """What stands from byte `first` to `end` of the text."""
        begin, last = self._column_at(first), self._column_at(end - 1)
        columns = [self._column(number) for number in range(begin, last + 1)]
        offset = _offsets(columns[0].source)[self._characters(begin, first)]
        behind = _offsets(columns[-1].source)[self._characters(last, end) - 1] + 1
        parts = [one.source for one in columns]
        parts[-1] = parts[-1][:behind]
        parts[0] = parts[0][offset:]
        words = "".join(part.strip(BLANK) for part in parts) if len(parts) > 1 else parts[0]
        return WordsInText(columns[0], offset, columns[-1], behind, words)

    def _column_at(self, place: int) -> int:
        """Which of all columns has a byte of the text."""
        return bisect_right(self._starts, place) - 1

    def _column(self, at: int) -> TextColumn:
        source = self._sources[self._source_starts[at] : self._source_starts[at + 1]]
        return TextColumn(self._pages[at], self._numbers[at], source.decode(*UTF8))

    def _characters(self, column: int, end: int) -> int:
        """How many characters the text has from the beginning of a column to byte `end`."""
        return len(self._text[self._starts[column] : end].decode(*UTF8))


def text_of(session: Session, work: int) -> WorkText:
    """The text of the work of that number: of pages that were checked as they then were, of the others as their files
    have them."""
    query = select(PageRow.id.label("number"), PageRow.page, PageRow.text, PageRow.status)
    query = query.where(PageRow.work_id == work, PageRow.absent.is_(False))
    pages = session.execute(query.order_by(PageRow.text, PageRow.position, PageRow.id)).all()
    stored = _stored(session, work)
    in_files = columns_in_files(page for page in pages if page.status != Status.CHECKED.value)

    def columns(of: Iterable[Any]) -> Iterator[TextColumn]:
        for page in of:
            found = in_files.get(page.number)
            numbered = stored.get(page.number, ()) if found is None else enumerate(found, 1)
            yield from (TextColumn(page.number, number, source) for number, source in numbered)

    return WorkText(columns(among) for _, among in groupby(pages, lambda page: page.text))


class WorkTexts:
    """The texts of the works of a store as they stand there now, as many kept in memory as there is room for."""

    def __init__(self) -> None:
        self._kept = Bounded[str, tuple[Any, WorkText]](KEPT, lambda kept: kept[1].size)
        self._lock = Lock()

    def of(self, session: Session, work: str) -> WorkText:
        """The text of one work; an empty one where there is no such work."""
        return next((text for _, _, text in self._texts(session, WorkRow.name == work)), WorkText(()))

    def every(self, session: Session) -> Iterator[tuple[str, str, WorkText]]:
        """Every work by its name: that, its title, its text."""
        return self._texts(session)

    def _texts(self, session: Session, *which: Any) -> Iterator[tuple[str, str, WorkText]]:
        for work, name, title, stamp in _works(session, which):
            yield name, title, self._text(session, work, name, stamp)

    def _text(self, session: Session, work: int, name: str, stamp: Any) -> WorkText:
        with self._lock:  # of many who look for words at the same time one reads the text, and the others find it
            seen, text = self._kept.get(name) or (None, None)
            if text is None or seen != stamp:
                text = text_of(session, work)
                self._kept.put(name, (stamp, text))
            return text


def _works(session: Session, which: Sequence[Any]) -> list[tuple[int, str, str, Any]]:
    """Works by their names: their numbers, names, titles, and what changes with their texts."""
    counts = (
        func.max(RunRow.id).label("newest"),
        func.count().label("runs"),
        func.count(RunRow.finished).label("finished"),
    )
    runs = select(RunRow.work_id, *counts).group_by(RunRow.work_id).subquery()
    query = select(
        WorkRow.id, WorkRow.name, WorkRow.title, WorkRow.revision, runs.c.newest, runs.c.runs, runs.c.finished
    )
    query = query.outerjoin(runs, runs.c.work_id == WorkRow.id).where(*which).order_by(WorkRow.name)
    found = session.execute(query).all()
    # a run that goes on adds pages one by one, and changes nothing else before its end
    going_on = [row.id for row in found if row.runs != row.finished]
    pages = select(PageRow.work_id, func.count()).where(PageRow.work_id.in_(going_on)).group_by(PageRow.work_id)
    there = dict(session.execute(pages).tuples()) if going_on else {}
    return [(row.id, row.name, row.title, (*row[3:], there.get(row.id))) for row in found]


def _stored(session: Session, work: int) -> dict[int, list[tuple[int, str]]]:
    """The columns of the pages of a work as they were checked, each once: of a text without columns, one line of its
    file stands in several."""
    query = select(ColumnRow.page_id, ColumnRow.number, ColumnRow.source)
    query = query.join(PageRow, ColumnRow.page_id == PageRow.id)
    query = query.where(PageRow.work_id == work, PageRow.absent.is_(False))
    rows = session.execute(query.order_by(ColumnRow.page_id, ColumnRow.ordinal)).all()
    return {
        page: list(dict.fromkeys((number, source) for _, number, source in found))
        for page, found in groupby(rows, lambda row: int(row[0]))
    }


def columns_in_files(pages: Iterable[TextPage]) -> Mapping[int, Sequence[str]]:
    """The columns of pages as their texts have them, by the number of the page: of a page without an image the store
    keeps none. Those are left out whose text is gone, or has changed so that it cannot be read."""
    by_file: dict[str, list[TextPage]] = {}
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
