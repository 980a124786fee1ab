"""Search for words in the text of a work as it stands after decisions, wherever its columns and pages break.

Only characters are compared: spaces, punctuation, the markup of notes and invisible characters are passed over, in the
text and in the words sought. So words are found in either half-row of a note, and as somebody copied them from the
text. Traditional, simplified and variant forms of a character are compared as one (`VariantPolicy.fold`).
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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.orm import Session, load_only

from proof.model.flags import LINE_BREAK, Kind
from proof.store.cache import Bounded
from proof.store.decision_records import State
from proof.store.lookup import NO_WORK, NoPlaceError, StoredWork, find_works, newest_act_id
from proof.store.models import DecisionRow, FlagRow, PageRow, TextRow, WorkRow
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
"""Limit of the texts that are kept in memory, in bytes; some 150,000 pages take as much."""

_PASSED_OVER = frozenset({"Cc", "Cf", "Mn"})
"""Unicode categories that are not compared, beside punctuation and spaces: invisible characters and combining marks."""

FILE_END = "\n"
"""Follows the last column of each file, so that no words are found across two files."""

ColumnKey = tuple[int, int]
"""A column: the number of its page in the store, and its own number on that page."""


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column: the number of its page in the store, its own number on that page, and its source after decisions.
    `checked` is its source as it was checked, `edits` are the decisions, in the order of their places in `checked`."""

    page: int
    number: int
    source: str
    edits: tuple[Edit, ...] = ()
    checked: str = ""

    def as_checked(self, offset: int) -> int:
        """The offset in the column as it was checked that corresponds to `offset` in `source`. For a character that a
        decision put in, it is the start of the edit."""
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
    """A match: it begins at `offset` in the source of the column `first` and ends before `end` in that of the column
    `last`. `words` is the text between, without the breaks of columns."""

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
        self._edits: dict[ColumnKey, tuple[Edit, ...]] = {}
        text, sources = list[str](), list[str]()
        for columns in files:
            for column in columns:
                pages.append(column.page)
                numbers.append(column.number)
                text.append(_bare(column.source))
                sources.append(column.source)
                if column.edits:
                    self._edits[column.page, column.number] = column.edits
            if text and not text[-1].endswith(FILE_END):
                text[-1] += FILE_END
        self._pages, self._numbers = np.frombuffer(pages, np.int64), np.frombuffer(numbers, np.int64)
        self._starts, self._source_starts = _starts(map(len, text)), _starts(map(len, sources))
        self._text, self._sources = "".join(text), "".join(sources)

    @property
    def size(self) -> int:
        """The size of the text in memory, in bytes."""
        arrays = (self._pages, self._numbers, self._starts, self._source_starts)
        return getsizeof(self._text) + getsizeof(self._sources) + sum(array.nbytes for array in arrays)

    def with_columns(self, columns: Iterable[TextColumn]) -> WorkText:
        """The same text with these columns in place of its own; columns that it lacks are ignored."""
        others = {(column.page, column.number): column for column in columns}
        on_pages = np.flatnonzero(np.isin(self._pages, [page for page, _ in others])).tolist()
        by_index = {n: others[key] for n in on_pages if (key := (int(self._pages[n]), int(self._numbers[n]))) in others}
        changed = copy(self)
        changed._edits = {key: edits for key, edits in self._edits.items() if key not in others}
        changed._edits |= {key: column.edits for key, column in others.items() if column.edits}
        bare = {n: _bare(column.source) + self._ending(n) for n, column in by_index.items()}
        changed._text, changed._starts = _spliced(self._text, self._starts, bare)
        sources = {n: column.source for n, column in by_index.items()}
        changed._sources, changed._source_starts = _spliced(self._sources, self._source_starts, sources)
        return changed

    def _ending(self, column: int) -> str:
        """`FILE_END` if the column of this index is the last one of its file, else ''."""
        return FILE_END if self._text.endswith(FILE_END, 0, self._starts[column + 1]) else ""

    def count(self, wanted: str) -> int:
        """How often the `wanted` words occur, without overlaps."""
        bare = _bare(wanted)
        return self._text.count(bare) if bare else 0

    def find(self, wanted: str) -> Iterator[WordsInText]:
        """The matches of the `wanted` words, in the order of the text."""
        bare = _bare(wanted)
        at = self._text.find(bare) if bare else -1
        while at >= 0:
            yield self._words(at, at + len(bare))
            at = self._text.find(bare, at + len(bare))

    def _words(self, start: int, end: int) -> WordsInText:
        """The match from character `start` to `end` (exclusive) of the text."""
        first, last = self._column_at(start), self._column_at(end - 1)
        columns = [self._column(index) for index in range(first, last + 1)]
        offset = _offsets(columns[0].source)[start - self._starts[first]]
        behind = _offsets(columns[-1].source)[end - self._starts[last] - 1] + 1
        parts = [column.source for column in columns]
        parts[-1] = parts[-1][:behind]
        parts[0] = parts[0][offset:]
        words = "".join(part.strip(BLANK) for part in parts) if len(parts) > 1 else parts[0]
        return WordsInText(columns[0], offset, columns[-1], behind, words)

    def _column_at(self, place: int) -> int:
        """The index of the column that has the character at this place of the text."""
        return int(np.searchsorted(self._starts, place, side="right")) - 1

    def _column(self, index: int) -> TextColumn:
        source = self._sources[self._source_starts[index] : self._source_starts[index + 1]]
        page, number = int(self._pages[index]), int(self._numbers[index])
        return TextColumn(page, number, source, self._edits.get((page, number), ()))


def _starts(lengths: Iterable[int]) -> NDArray[np.int64]:
    """The start of each of several joined pieces, and the end of the last one."""
    return np.cumsum([0, *lengths])


def _spliced(data: str, starts: NDArray[np.int64], others: Mapping[int, str]) -> tuple[str, NDArray[np.int64]]:
    """The joined pieces `data`, with `others` in place of those of the same indices, and their new `_starts`."""
    pieces: list[str] = []
    reached = 0
    lengths = np.diff(starts)
    for n in sorted(others):
        pieces += (data[reached : starts[n]], others[n])
        reached = starts[n + 1]
        lengths[n] = len(others[n])
    return "".join((*pieces, data[reached:])), _starts(lengths)


class _KeptText(NamedTuple):
    """A text, read when its work had this `revision` and `act` was the newest of the store."""

    revision: int
    act: int
    text: WorkText


class WorkTexts:
    """The present texts of the works of a store, as many kept in memory as there is room for. A text is read again when
    the revision of its work has changed; after decisions only their pages are."""

    def __init__(self) -> None:
        self._kept = Bounded[int, _KeptText](KEPT_BYTES, lambda kept: kept.text.size)
        self._lock = Lock()
        self._noted: int | None = None
        """The newest act up to which decisions were noted; None before the first time."""
        self._decided: defaultdict[int, dict[int, int]] = defaultdict(dict)
        """By work, the pages with decisions since the first time, each with its last one."""

    def texts(self, session: Session, *which: ColumnElement[bool]) -> Iterator[tuple[StoredWork, WorkText]]:
        """The works for which the conditions `which` hold, by their names, each with its text."""
        with self._lock:
            newest = self._note_decided(session)
        for work in find_works(session, *which):
            yield work, self._text(session, work, newest)

    def of_work(self, session: Session, name: str) -> tuple[StoredWork, WorkText]:
        """The work of that name with its text. Raises NoPlaceError."""
        for found in self.texts(session, WorkRow.name == name):
            return found
        raise NoPlaceError(NO_WORK, work=name)

    def _note_decided(self, session: Session) -> int:
        """Note the pages with new decisions; returns the newest act. A session that began earlier sees fewer acts than
        were noted: those that it lacks are noted again next time."""
        newest = newest_act_id(session)
        if self._noted is not None and newest > self._noted:
            since = select(FlagRow.work_id, FlagRow.page_id, func.max(DecisionRow.id))
            since = since.join(DecisionRow, DecisionRow.flag_id == FlagRow.id).where(DecisionRow.id > self._noted)
            for work, page, act in session.execute(since.group_by(FlagRow.work_id, FlagRow.page_id)):
                self._decided[work][page] = act
        self._noted = newest
        return newest

    def _text(self, session: Session, work: StoredWork, newest: int) -> WorkText:
        with self._lock:  # one thread reads a text, and the others wait for it
            kept = self._kept.get(work.id)
            if kept is None or kept.revision != work.revision:
                text = WorkText(columns_of(session, work.id))
            else:
                pages = [page for page, act in self._decided[work.id].items() if act > kept.act]
                if not pages:
                    return kept.text
                text = kept.text.with_columns(chain.from_iterable(columns_of(session, work.id, pages)))
            self._kept.put(work.id, _KeptText(work.revision, newest, text))
            return text


def columns_of(
    session: Session,
    work: int,
    among: Collection[int] | None = None,
    own: Mapping[int, OwnState] = MappingProxyType({}),
) -> Iterator[Iterator[TextColumn]]:
    """The columns of each file of a work as they stand after decisions: all, or those of the pages `among`. `own` are
    the states of flags as the person who looks decided them, which take the place of those in the store."""
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
) -> dict[ColumnKey, list[Any]]:
    """The flags of each column that change its text: corrected ones, and those whose correction was exported and then
    taken back. They are in the order of their places, without those that have lost their place. `checked_version` is
    the version of the text in which the page was checked."""
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
        PageRow.version_id.label("checked_version"),
    )
    query = query.join(PageRow, PageRow.id == FlagRow.page_id).outerjoin(TextRow, TextRow.id == FlagRow.text_id)
    of_pages = FlagRow.work_id == work if among is None else FlagRow.page_id.in_(among)
    query = query.where(of_pages, ~IS_SEEDED, or_(FlagRow.version > 0, FlagRow.id.in_(own)))
    changing = (FlagRow.state == State.CORRECTED.value, FlagRow.reads != FlagRow.transcribed, FlagRow.id.in_(own))
    query = query.where(or_(*changing), or_(FlagRow.text_id.is_(None), FlagRow.version_id == TextRow.version_id))
    of_column: defaultdict[ColumnKey, list[Any]] = defaultdict(list)
    for flag in session.execute(query.order_by(FlagRow.offset, FlagRow.length, FlagRow.id)):
        decided = {"state": own[flag.id].state.value, "reading": own[flag.id].reading} if flag.id in own else {}
        of_column[flag.page_id, flag.line].append(SimpleNamespace(**flag._asdict() | decided))
    return of_column


def _edits(source: str, flags: Iterable[Any]) -> tuple[Edit, ...]:
    """The edits that the decisions on `flags` make to a column as it was checked, whose text is `source`. Of two edits
    of the same characters the first one holds. Columns that are put in beside it are in the order of the image."""
    edits: dict[tuple[int, int, int], Edit] = {}
    reached = 0
    for flag in flags:
        # a decision exported since the check is in the text, but not yet in the column as it was checked
        exported = flag.version_id != flag.checked_version
        old, new = flag.transcribed if exported else flag.reads, decided_reading(flag)
        if flag.kind == Kind.LAYOUT.value and new and not old and new != LINE_BREAK:  # a column beside this one
            new = f"{LINE_BREAK}{new}" if flag.offset else f"{new}{LINE_BREAK}"
        edit = Edit(flag.offset, len(old), new)
        if old == new or edit.start < reached or not source.startswith(old, edit.start):
            continue
        if exported and not old and source.startswith(new, edit.start):  # it was exported before the check too
            continue
        edits.setdefault((*edit.place, flag.column or 0), edit)
        reached = edit.end
    return tuple(edit for _, edit in sorted(edits.items()))


class _Compared(dict[int, str | None]):
    """The character that is compared, by code point; None if it is passed over. A table for `str.translate`."""

    def __missing__(self, code: int) -> str | None:
        char = chr(code)
        category = unicodedata.category(char)
        form = policy_of(Script.TRADITIONAL).fold(char).lower()
        form = form if len(form) == 1 else char  # `_offsets` counts on one for each
        self[code] = None if category[0] in "PZ" or category in _PASSED_OVER else form
        return self[code]


_COMPARED = _Compared()


def _bare(source: str) -> str:
    """The characters of a source that are compared."""
    return (TAG.sub("", source) if "<" in source else source).translate(_COMPARED)


def _offsets(source: str) -> list[int]:
    """The offsets of the characters of a source that are compared."""
    plain = TAG.sub(lambda tag: " " * len(tag[0]), source) if "<" in source else source
    return [at for at, char in enumerate(plain) if _COMPARED[ord(char)] is not None]
