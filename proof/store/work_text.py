"""The text of a work as one string, as it stands after decisions, in which words are found wherever columns and pages
break.

What is compared are characters alone: spaces, punctuation, the markup of notes and invisible characters are passed over
on both sides, so that words are found in whatever rows of a note they stand, and as they are copied from the text.
Traditional, simplified and variant forms of a character are compared as one (`VariantPolicy.fold`).
"""

from __future__ import annotations

import unicodedata
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from itertools import chain, groupby
from sys import getsizeof
from threading import Lock
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.orm import Session, load_only

from proof.model.flags import LINE_BREAK, Kind
from proof.store.cache import Bounded
from proof.store.decision_records import State
from proof.store.lookup import WorkNow, newest_act, works_now
from proof.store.models import DecisionRow, FlagRow, PageRow, TextRow
from proof.store.readings import OwnState
from proof.store.seeded import IS_SEEDED
from proof.store.texts import columns_of_pages, decided_reading
from proof.text.column import TAG
from proof.text.edit import Edit, edited
from proof.text.model import Script
from proof.text.variants import policy_of

BLANK = f" \u3000{LINE_BREAK}"
"""Characters at the ends of a column that are no part of its text."""

KEPT_BYTES = 250_000_000
"""Bytes of texts that are kept in memory, of some 150,000 pages: those that were searched last."""

_PASSED_OVER = frozenset({"Cc", "Cf", "Mn"})
"""Categories of Unicode, beside punctuation and spaces, that are not compared: invisible characters and marks."""

FILE_END = "\n"
"""Stands behind the last column of each file."""

At = tuple[int, int]
"""A column, by the number of its page in the store and its own number on that page."""


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column: the number of its page in the store, its own on that page, its source after decisions. `edits` are the
    decisions, in order and by their places in the column as it was `checked`."""

    page: int
    number: int
    source: str
    edits: tuple[Edit, ...] = ()
    checked: str = ""

    def as_checked(self, offset: int) -> int:
        """The offset in the column as it was checked of one in `source`; of an inserted character that of the edit."""
        moved = 0
        for edit in self.edits:
            begin = edit.start + moved
            if offset < begin:
                break
            if offset < begin + len(edit.replacement):
                return edit.start
            moved += len(edit.replacement) - edit.length
        return offset - moved


@dataclass(frozen=True, slots=True)
class WordsInText:
    """A match: from `offset` of the source of the column `first` to `end`, behind its last character, of the column
    `last`; `words` as they stand there, joined over columns."""

    first: TextColumn
    offset: int
    last: TextColumn
    end: int
    words: str

    @property
    def before(self) -> str:
        """The source of the first column before the match."""
        return self.first.source[: self.offset]

    @property
    def after(self) -> str:
        """The source of the last column behind the match."""
        return self.last.source[self.end :]

    @property
    def anchor(self) -> int:
        """The offset of the match in its first column as that was checked."""
        return self.first.as_checked(self.offset)


class WorkText:
    """The columns of a work, file by file in the order of its pages, as one text."""

    def __init__(self, files: Iterable[Iterable[TextColumn]]) -> None:
        pages, numbers = array("q"), array("q")
        self._edits: dict[At, tuple[Edit, ...]] = {}
        text, sources = list[str](), list[str]()
        for columns in files:
            for column in columns:
                pages.append(column.page)
                numbers.append(column.number)
                text.append(_bare(column.source))
                sources.append(column.source)
                if column.edits:
                    self._edits[column.page, column.number] = column.edits
            if text and not text[-1].endswith(FILE_END):  # no words go on from one file to the next
                text[-1] += FILE_END
        self._pages, self._numbers = np.frombuffer(pages, np.int64), np.frombuffer(numbers, np.int64)
        self._starts, self._source_starts = _starts(map(len, text)), _starts(map(len, sources))
        self._text, self._sources = "".join(text), "".join(sources)

    @property
    def size(self) -> int:
        """Bytes that it takes in memory."""
        indexed = (self._pages, self._numbers, self._starts, self._source_starts)
        return getsizeof(self._text) + getsizeof(self._sources) + sum(column.nbytes for column in indexed)

    def with_columns(self, columns: Iterable[TextColumn]) -> WorkText:
        """The same text with other sources of these columns, where it has them."""
        others = {(column.page, column.number): column for column in columns}
        near = np.flatnonzero(np.isin(self._pages, [page for page, _ in others])).tolist()
        at = {n: others[place] for n in near if (place := (int(self._pages[n]), int(self._numbers[n]))) in others}
        changed = copy(self)
        changed._edits = {place: edits for place, edits in self._edits.items() if place not in others}
        changed._edits |= {place: column.edits for place, column in others.items() if column.edits}
        bare = {n: _bare(column.source) + self._ending(n) for n, column in at.items()}
        changed._text, changed._starts = _spliced(self._text, self._starts, bare)
        sources = {n: column.source for n, column in at.items()}
        changed._sources, changed._source_starts = _spliced(self._sources, self._source_starts, sources)
        return changed

    def _ending(self, column: int) -> str:
        """The end of a file, where this column is its last one."""
        return FILE_END if self._text.endswith(FILE_END, 0, self._starts[column + 1]) else ""

    def count(self, wanted: str) -> int:
        """How often the words occur, without overlaps."""
        bare = _bare(wanted)
        return self._text.count(bare) if bare else 0

    def find(self, wanted: str) -> Iterator[WordsInText]:
        """Where the words occur, in the order of the text."""
        bare = _bare(wanted)
        at = self._text.find(bare) if bare else -1
        while at >= 0:
            yield self._words(at, at + len(bare))
            at = self._text.find(bare, at + len(bare))

    def _words(self, first: int, end: int) -> WordsInText:
        """The match from character `first` to `end` of the text."""
        begin, last = self._column_at(first), self._column_at(end - 1)
        columns = [self._column(number) for number in range(begin, last + 1)]
        offset = _offsets(columns[0].source)[first - self._starts[begin]]
        behind = _offsets(columns[-1].source)[end - self._starts[last] - 1] + 1
        parts = [column.source for column in columns]
        parts[-1] = parts[-1][:behind]
        parts[0] = parts[0][offset:]
        words = "".join(part.strip(BLANK) for part in parts) if len(parts) > 1 else parts[0]
        return WordsInText(columns[0], offset, columns[-1], behind, words)

    def _column_at(self, place: int) -> int:
        """The column that has a character of the text."""
        return int(np.searchsorted(self._starts, place, side="right")) - 1

    def _column(self, at: int) -> TextColumn:
        source = self._sources[self._source_starts[at] : self._source_starts[at + 1]]
        page, number = int(self._pages[at]), int(self._numbers[at])
        return TextColumn(page, number, source, self._edits.get((page, number), ()))


def _starts(lengths: Iterable[int]) -> NDArray[np.int64]:
    """Where each of some pieces laid end to end begins, and the end of the last."""
    return np.cumsum([0, *lengths])


def _spliced(data: str, starts: NDArray[np.int64], others: Mapping[int, str]) -> tuple[str, NDArray[np.int64]]:
    """Pieces laid end to end, with `others` in place of some; and where each begins, with the end of the last."""
    pieces: list[str] = []
    reached = 0
    lengths = np.diff(starts)
    for n in sorted(others):
        pieces += (data[reached : starts[n]], others[n])
        reached = starts[n + 1]
        lengths[n] = len(others[n])
    return "".join((*pieces, data[reached:])), _starts(lengths)


class WorkTexts:
    """The texts of the works of a store as they are now, as many kept in memory as there is room for. A text is read
    anew where its work has another revision; of what was decided since, the pages alone are."""

    def __init__(self) -> None:
        self._kept = Bounded[int, tuple[int, WorkText]](KEPT_BYTES, lambda kept: kept[1].size)
        self._lock = Lock()
        self._act: int | None = None
        self._decided: defaultdict[int, set[int]] = defaultdict(set)

    def texts(self, session: Session, *which: ColumnElement[bool]) -> Iterator[tuple[WorkNow, WorkText]]:
        """Works by their names, each with its text."""
        with self._lock:
            self._note_decided(session)
        for work in works_now(session, *which):
            yield work, self._text(session, work)

    def _note_decided(self, session: Session) -> None:
        """Note on which pages something was decided since the last time."""
        newest = newest_act(session)
        if self._act is not None and newest > self._act:
            since = select(FlagRow.work_id, FlagRow.page_id).join(DecisionRow, DecisionRow.flag_id == FlagRow.id)
            for work, page in session.execute(since.where(DecisionRow.id > self._act).distinct()):
                self._decided[work].add(page)
        self._act = newest

    def _text(self, session: Session, work: WorkNow) -> WorkText:
        with self._lock:  # one thread reads the text, and the others that wait for it find it
            revision, text = self._kept.get(work.id) or (None, WorkText(()))
            decided = self._decided.pop(work.id, None)
            if revision != work.revision:
                text = WorkText(columns_of(session, work.id))
            elif decided:
                text = text.with_columns(chain.from_iterable(columns_of(session, work.id, decided)))
            else:
                return text
            self._kept.put(work.id, (work.revision, text))
            return text


def columns_of(
    session: Session,
    work: int,
    among: Collection[int] | None = None,
    own: Mapping[int, OwnState] = MappingProxyType({}),
) -> Iterator[Iterator[TextColumn]]:
    """The columns of each file of a work, or of the pages `among` them: as they were checked, with what was decided
    since, and with what who looks read as their `own`."""
    parts = load_only(PageRow.text, PageRow.version_id, PageRow.start, PageRow.lines)
    query = select(PageRow).options(parts).where(PageRow.work_id == work, PageRow.absent.is_(False))
    query = query if among is None else query.where(PageRow.id.in_(among))
    pages = session.scalars(query.order_by(PageRow.text, PageRow.position, PageRow.id)).all()
    checked = columns_of_pages(session, pages)
    decided = _decided(session, work, among, own)

    def columns(of_file: Iterable[PageRow]) -> Iterator[TextColumn]:
        for page in of_file:
            for number, source in checked[page.id].items():
                edits = _edits(source, decided.get((page.id, number), ()))
                yield TextColumn(page.id, number, edited(source, edits), edits, source)

    for _, of_file in groupby(pages, lambda page: page.text):
        yield columns(of_file)


def _decided(
    session: Session, work: int, among: Collection[int] | None, own: Mapping[int, OwnState]
) -> dict[At, list[Any]]:
    """The flags of each column that are corrected, or were written and taken back, in the order of their places; those
    that have lost their place are left out. `checked` is the version of the text in which the page was checked."""
    query = select(
        FlagRow.id,
        FlagRow.page_id,
        FlagRow.line,
        FlagRow.offset,
        FlagRow.kind,
        FlagRow.transcribed,
        FlagRow.state,
        FlagRow.reading,
        FlagRow.reads,
        FlagRow.version_id,
        FlagRow.evidence["column"].as_integer().label("column"),
        PageRow.version_id.label("checked"),
    )
    query = query.join(PageRow, PageRow.id == FlagRow.page_id).outerjoin(TextRow, TextRow.id == FlagRow.text_id)
    of_pages = FlagRow.work_id == work if among is None else FlagRow.page_id.in_(among)
    query = query.where(of_pages, ~IS_SEEDED, or_(FlagRow.version > 0, FlagRow.id.in_(own)))
    written = (FlagRow.state == State.CORRECTED.value, FlagRow.reads != FlagRow.transcribed, FlagRow.id.in_(own))
    query = query.where(or_(*written), or_(FlagRow.text_id.is_(None), FlagRow.version_id == TextRow.version_id))
    of_column: defaultdict[At, list[Any]] = defaultdict(list)
    for flag in session.execute(query.order_by(FlagRow.offset, FlagRow.length, FlagRow.id)):
        seen = {"state": own[flag.id].state.value, "reading": own[flag.id].reading} if flag.id in own else {}
        of_column[flag.page_id, flag.line].append(SimpleNamespace(**flag._asdict() | seen))
    return of_column


def _edits(source: str, flags: Iterable[Any]) -> tuple[Edit, ...]:
    """The edits that decisions make of a column as it was checked. Of two at the same place the first one holds;
    columns beside it stand in the order of the image."""
    edits: dict[tuple[int, int, int], Edit] = {}
    reached = 0
    for flag in flags:
        exported = flag.version_id != flag.checked  # since the check: the column still has what was transcribed
        old, new = flag.transcribed if exported else flag.reads, decided_reading(flag)
        if flag.kind == Kind.LAYOUT.value and new and not old and new != LINE_BREAK:  # a column beside this one
            new = f"{LINE_BREAK}{new}" if flag.offset else f"{new}{LINE_BREAK}"
        edit = Edit(flag.offset, len(old), new)
        if old == new or edit.start < reached or not source.startswith(old, edit.start):
            continue
        if exported and not old and source.startswith(new, edit.start):  # exported earlier, and checked
            continue
        edits.setdefault((*edit.place, flag.column or 0), edit)
        reached = edit.end
    return tuple(edit for _, edit in sorted(edits.items()))


class _Compared(dict[int, str | None]):
    """By code point the character that is compared; None where it is passed over."""

    def __missing__(self, code: int) -> str | None:
        char = chr(code)
        category = unicodedata.category(char)
        form = policy_of(Script.TRADITIONAL).fold(char).lower()
        form = form if len(form) == 1 else char
        self[code] = None if category[0] in "PZ" or category in _PASSED_OVER else form
        return self[code]


_COMPARED = _Compared()


def _bare(source: str) -> str:
    return (TAG.sub("", source) if "<" in source else source).translate(_COMPARED)


def _offsets(source: str) -> list[int]:
    """The offsets of the characters of a source that are compared."""
    plain = TAG.sub(lambda tag: " " * len(tag[0]), source) if "<" in source else source
    return [at for at, char in enumerate(plain) if _COMPARED[ord(char)] is not None]
