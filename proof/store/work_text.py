"""Searches for words in the text of a work after decisions, across the breaks of columns and pages.

Only characters are compared: spaces, punctuation, the markup of notes and invisible characters are ignored, in the text
and in the words. So words are found in either half-row of a note, and words that were copied from the text are found
again. Traditional, simplified and variant forms of a character are equal (`VariantPolicy.fold`).
"""

from __future__ import annotations

import unicodedata
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from itertools import chain, groupby
from operator import attrgetter
from sys import getsizeof
from threading import Lock
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.orm import Session, load_only

from proof.model.flags import LINE_BREAK, Kind, insertion_order
from proof.store.cache import Bounded
from proof.store.decision_records import State
from proof.store.double_readings import OwnState, own_states
from proof.store.lookup import NO_WORK, NoPlaceError, StoredWork, find_works, newest_act_id
from proof.store.models import DecisionRow, FlagRow, PageRow, TextRow, WorkRow
from proof.store.seeded_errors import IS_SEEDED
from proof.store.texts import (
    ColumnPlace,
    column_places,
    columns_of_pages,
    contents,
    decided_reading,
    effects_in,
    first_decision_id,
    pages_with_columns_of,
    readings_before_export,
)
from proof.text.column import TAG
from proof.text.edit import Edit, edited
from proof.text.model import Script
from proof.text.positions import Span
from proof.text.variants import policy_of

BLANK = f" \u3000{LINE_BREAK}"
"""Characters that are stripped from the ends of columns in a match across columns."""

KEPT_BYTES = 250_000_000
"""Maximum size of the texts that are kept in memory, in bytes: some 150,000 pages."""

_IGNORED = frozenset({"Cc", "Cf", "Mn"})
"""Unicode categories that are ignored besides punctuation and spaces: invisible characters and combining marks."""

FILE_END = "\n"
"""Character after the last column of each file, so that no words are found across two files."""

ColumnKey = tuple[int, int]
"""A column: the number of its page, and its number on that page."""


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column: the number of its page, its number on that page, and its `source` after decisions. `checked` is its
    source when it was checked, `edits` are the decisions as edits of `checked`, in order. `later` are the numbers of
    the pages on which its line goes on, in a text without page marks."""

    page: int
    number: int
    source: str
    edits: tuple[Edit, ...] = ()
    checked: str = ""
    later: tuple[int, ...] = ()

    def as_checked(self, offset: int) -> int:
        """The offset in `checked` that corresponds to `offset` in `source`. For a character that an edit inserted, it
        is the start of the edit."""
        shift = 0
        for edit in self.edits:
            begin = edit.start + shift
            if offset < begin:
                break
            if offset < begin + len(edit.replacement):
                return edit.start
            shift += len(edit.replacement) - edit.length
        return offset - shift


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
        """The source of the last column after the match."""
        return self.last.source[self.end :]

    @property
    def anchor(self) -> int:
        """The offset of the match in its first column when that was checked."""
        return self.first.as_checked(self.offset)


class WorkText:
    """The columns of a work, file by file in the order of its pages, as one text."""

    def __init__(self, files: Iterable[Iterable[TextColumn]]) -> None:
        pages, numbers = array("q"), array("q")
        self._edits: dict[ColumnKey, tuple[Edit, ...]] = {}
        self._later: dict[ColumnKey, tuple[int, ...]] = {}
        texts, sources = list[str](), list[str]()
        for columns in files:
            for column in columns:
                pages.append(column.page)
                numbers.append(column.number)
                texts.append(_compared_text(column.source))
                sources.append(column.source)
                if column.edits:
                    self._edits[column.page, column.number] = column.edits
                if column.later:
                    self._later[column.page, column.number] = column.later
            if texts and not texts[-1].endswith(FILE_END):
                texts[-1] += FILE_END
        self._pages, self._numbers = np.frombuffer(pages, np.int64), np.frombuffer(numbers, np.int64)
        self._starts, self._source_starts = _starts(map(len, texts)), _starts(map(len, sources))
        self._text, self._sources = "".join(texts), "".join(sources)

    @property
    def size(self) -> int:
        """The size of the text in memory, in bytes."""
        arrays = (self._pages, self._numbers, self._starts, self._source_starts)
        return getsizeof(self._text) + getsizeof(self._sources) + sum(array.nbytes for array in arrays)

    def with_columns(self, columns: Iterable[TextColumn]) -> WorkText:
        """The same text with these columns in place of its own; columns that it lacks are ignored."""
        new_columns = {(column.page, column.number): column for column in columns}
        replaced: dict[int, TextColumn] = {}
        for index in np.flatnonzero(np.isin(self._pages, [page for page, _ in new_columns])).tolist():
            key = int(self._pages[index]), int(self._numbers[index])
            if key in new_columns:
                replaced[index] = new_columns[key]
        changed = copy(self)
        changed._edits = {key: edits for key, edits in self._edits.items() if key not in new_columns}
        changed._edits |= {key: column.edits for key, column in new_columns.items() if column.edits}
        texts = {index: _compared_text(column.source) + self._ending(index) for index, column in replaced.items()}
        changed._text, changed._starts = _spliced(self._text, self._starts, texts)
        sources = {index: column.source for index, column in replaced.items()}
        changed._sources, changed._source_starts = _spliced(self._sources, self._source_starts, sources)
        return changed

    def _ending(self, index: int) -> str:
        """`FILE_END` if the column with this index is the last one of its file, else ''."""
        return FILE_END if self._text.endswith(FILE_END, 0, self._starts[index + 1]) else ""

    def count(self, words: str) -> int:
        """The number of occurrences of the words, without overlaps."""
        compared = _compared_text(words)
        return self._text.count(compared) if compared else 0

    def find(self, words: str) -> Iterator[WordsInText]:
        """The matches of the words, in the order of the text, without overlaps."""
        compared = _compared_text(words)
        start = self._text.find(compared) if compared else -1
        while start >= 0:
            yield self._match(start, start + len(compared))
            start = self._text.find(compared, start + len(compared))

    def _match(self, start: int, end: int) -> WordsInText:
        """The match from character `start` to `end` (exclusive) of the compared text."""
        first, last = self._column_at(start), self._column_at(end - 1)
        columns = [self._column(index) for index in range(first, last + 1)]
        source_start = _offsets(columns[0].source)[start - self._starts[first]]
        source_end = _offsets(columns[-1].source)[end - self._starts[last] - 1] + 1
        parts = [column.source for column in columns]
        parts[-1] = parts[-1][:source_end]
        parts[0] = parts[0][source_start:]
        words = "".join(part.strip(BLANK) for part in parts) if len(parts) > 1 else parts[0]
        return WordsInText(columns[0], source_start, columns[-1], source_end, words)

    def _column_at(self, position: int) -> int:
        """The index of the column that has the character at this position of the compared text."""
        return int(np.searchsorted(self._starts, position, side="right")) - 1

    def _column(self, index: int) -> TextColumn:
        source = self._sources[self._source_starts[index] : self._source_starts[index + 1]]
        key = int(self._pages[index]), int(self._numbers[index])
        return TextColumn(*key, source, self._edits.get(key, ()), later=self._later.get(key, ()))


def _starts(lengths: Iterable[int]) -> NDArray[np.int64]:
    """The starts of joined pieces with these lengths, and the end of the last piece."""
    return np.cumsum([0, *lengths])


def _spliced(joined: str, starts: NDArray[np.int64], new_pieces: Mapping[int, str]) -> tuple[str, NDArray[np.int64]]:
    """The joined pieces with `new_pieces` in place of those with the same indices, and the new starts."""
    parts: list[str] = []
    reached = 0
    lengths = np.diff(starts)
    for index in sorted(new_pieces):
        parts += (joined[reached : starts[index]], new_pieces[index])
        reached = starts[index + 1]
        lengths[index] = len(new_pieces[index])
    return "".join((*parts, joined[reached:])), _starts(lengths)


class _KeptText(NamedTuple):
    """A text, read when its work was at this `revision` and `act` was the newest act of the store."""

    revision: int
    act: int
    text: WorkText


class WorkTexts:
    """The present texts of the works of a store, cached in memory up to `KEPT_BYTES`. A text is read again when the
    revision of its work has changed; after decisions, only the pages of these are."""

    def __init__(self) -> None:
        self._kept = Bounded[int, _KeptText](KEPT_BYTES, lambda kept: kept.text.size)
        self._lock = Lock()

    def texts(self, session: Session, *which: ColumnElement[bool]) -> Iterator[tuple[StoredWork, WorkText]]:
        """The works that meet the conditions `which`, by name, each with its text."""
        newest = newest_act_id(session)
        for work in find_works(session, *which):
            yield work, self._text(session, work, newest)

    def of_work(self, session: Session, name: str) -> tuple[StoredWork, WorkText]:
        """The work with this name, and its text. Raises NoPlaceError."""
        for work_and_text in self.texts(session, WorkRow.name == name):
            return work_and_text
        raise NoPlaceError(NO_WORK, work=name)

    def _text(self, session: Session, work: StoredWork, newest: int) -> WorkText:
        """The text of a work; `newest` is the newest act that the session sees."""
        with self._lock:  # one thread reads a text, and the others wait for it
            kept = self._kept.get(work.id)
            if kept is None or kept.revision != work.revision:
                text = WorkText(columns_of(session, work.id))
            elif newest <= kept.act:
                return kept.text
            else:
                decided = select(FlagRow.page_id).join(DecisionRow, DecisionRow.flag_id == FlagRow.id)
                decided = decided.where(DecisionRow.work_id == work.id, DecisionRow.id > kept.act)
                pages = session.scalars(select(PageRow).where(PageRow.id.in_(decided))).all()
                text = kept.text
                if pages:
                    pages_now = [page.id for page in pages_with_columns_of(session, pages)]
                    text = text.with_columns(chain.from_iterable(columns_of(session, work.id, pages_now)))
            self._kept.put(work.id, _KeptText(work.revision, newest, text))
            return text


def columns_of(
    session: Session, work: int, among: Collection[int] | None = None, *, personal: bool = False
) -> Iterator[Iterator[TextColumn]]:
    """The columns of each file of a work after decisions: all, each once, or those of each of the pages `among`; with
    `personal` as the person who makes the request decided."""
    attributes = load_only(PageRow.text, PageRow.position, PageRow.version_id, PageRow.start, PageRow.lines)
    query = select(PageRow).options(attributes).where(PageRow.work_id == work, PageRow.absent.is_(False))
    query = query if among is None else query.where(PageRow.id.in_(among))
    pages = session.scalars(query.order_by(PageRow.text, PageRow.position, PageRow.id)).all()
    with_flags = pages if among is None else pages_with_columns_of(session, pages)
    which = FlagRow.work_id == work if among is None else FlagRow.page_id.in_([page.id for page in with_flags])
    flags_of = _changing_flags(session, which, own_states(session, which) if personal else {})
    spans_of = {page.id: page.spans for page in with_flags}
    flags_at: defaultdict[ColumnPlace, list[Any]] = defaultdict(list)
    for (page, line), flags in flags_of.items():
        spans = spans_of.get(page, {})
        number = min(line, max(spans, default=0))
        if number < line:  # a column that is missing behind the last one
            for flag in flags:
                flag.offset = spans[number].length if spans else 0
        if number in spans:
            flags_at[flags[0].checked_version, spans[number].start] += flags
    checked = columns_of_pages(session, pages)

    def columns_of_file(pages_of_file: Iterable[PageRow]) -> Iterator[TextColumn]:
        columns = ((page, number, place) for page in pages_of_file for number, place in column_places(page).items())
        for _, on_pages in groupby(columns, lambda column: column[2] if among is None else column[:2]):
            (page, number, place), *later = on_pages
            source = checked[page.id][number]
            edits = _edits(source, sorted(flags_at.get(place, ()), key=attrgetter("offset", "length", "id")))
            yield TextColumn(page.id, number, edited(source, edits), edits, source, tuple(on.id for on, *_ in later))

    for _, pages_of_file in groupby(pages, attrgetter("text")):
        yield columns_of_file(pages_of_file)


def _changing_flags(
    session: Session, which: ColumnElement[bool], own: Mapping[int, OwnState]
) -> dict[ColumnKey, list[Any]]:
    """Those of `which` flags that change the text of each column: corrected ones, and those whose correction was
    undone, perhaps after an export. Flags that have lost their places are left out. `checked_version` is the version of
    the text in which the page was checked. `own` are the states of flags for the person who makes the request, which
    replace those in the store."""
    query = select(
        *FlagRow.__table__.c, first_decision_id().label("first"), PageRow.version_id.label("checked_version")
    )
    query = query.join(PageRow, PageRow.id == FlagRow.page_id).outerjoin(TextRow, TextRow.id == FlagRow.text_id)
    is_own = FlagRow.id.in_(own)
    query = query.where(which, ~IS_SEEDED, or_(FlagRow.version > 0, is_own))
    states = (State.CORRECTED.value, State.OPEN.value)
    is_exported = FlagRow.version_id != PageRow.version_id
    query = query.where(or_(FlagRow.state.in_(states), FlagRow.reads != FlagRow.transcribed, is_exported, is_own))
    query = query.where(or_(FlagRow.text_id.is_(None), FlagRow.version_id == TextRow.version_id))
    flags_of: defaultdict[ColumnKey, list[Any]] = defaultdict(list)
    for row in session.execute(query):
        flag = SimpleNamespace(**row._asdict())
        if flag.id in own:
            flag.state, flag.reading = own[flag.id].state.value, own[flag.id].reading
        flags_of[flag.page_id, flag.line].append(flag)
    flags = list(chain.from_iterable(flags_of.values()))
    withdrawn = [flag for flag in flags if flag.state == State.OPEN.value and flag.reads != flag.transcribed]
    new_readings: dict[int, str] = {}
    for text in {flag.text_id for flag in withdrawn} - {None}:
        effects = effects_in(session, text)
        new_readings |= effects.restored | {flag.id: flag.reads for flag in flags if flag.id in effects.kept}
    has_exported = any(flag.version_id != flag.checked_version for flag in flags)
    given = readings_before_export(session, which) if has_exported else {}
    content_of = contents(session)
    for flag in flags:
        flag.new, flag.given = new_readings.get(flag.id, decided_reading(flag)), given.get(flag.id, frozenset())
        flag.present = flag.reads
        if flag.version_id != flag.checked_version and flag.reads != LINE_BREAK:
            flag.present = content_of(flag.version_id)[_span(flag).start : _span(flag).end]
    return flags_of


def _edits(source: str, flags: Collection[Any]) -> tuple[Edit, ...]:
    """The edits that the decisions on `flags` make to the `source` of a column when it was checked. Of two edits of the
    same characters the first one is made. Columns inserted beside this one are in the order of the image."""
    edits: dict[tuple[Any, ...], Edit] = {}
    reached = 0
    exported = [flag for flag in flags if flag.version_id != flag.checked_version]
    known = [flag for flag in exported if _was_in(flag, source)]
    for flag in flags:
        old, new = flag.reads, flag.new
        if flag in exported:  # since the check, for the first time or once more
            if flag not in known:
                continue  # its place was lost when the page was checked, and came back with a column since
            later = [other for other in known if other.first > flag.first and _overlap(flag, other)]
            if any(new == flag.reads or _span(flag).is_within(_span(other)) for other in later):
                continue  # it was replaced when the text was checked
            old = source[flag.offset : flag.offset + flag.length]
            if new == flag.reads:
                new = edited(flag.present, _edits_within(flag, known))
        if old == new:
            continue
        is_inserted_column = flag.kind == Kind.LAYOUT.value and new not in ("", LINE_BREAK) and not old
        if is_inserted_column:
            new = f"{LINE_BREAK}{new}" if flag.offset else f"{new}{LINE_BREAK}"
        edit = Edit(flag.offset, flag.length, new)
        if edit.start < reached or edit.end > len(source):
            continue
        column = flag.evidence.get("column") or 0
        order = insertion_order(flag.offset, column, new, flag.former, is_column=is_inserted_column)
        edits.setdefault((*edit.place, flag.start or 0, flag.extent, *order), edit)
        reached = edit.end
    return tuple(edit for _, edit in sorted(edits.items()))


def _was_in(flag: Any, source: str) -> bool:
    """Whether the `source` of a column had the place of a flag when it was checked."""
    end = flag.offset + flag.length
    return end <= len(source) and source[flag.offset : end] in (flag.transcribed, *flag.given)


def _span(flag: Any) -> Span:
    """The place of a flag in the present text."""
    return Span(flag.start or 0, flag.extent)


def _overlap(flag: Any, other: Any) -> bool:
    """Whether two flags share a character of the present text, or one is a gap within the other."""
    return bool(flag.extent or other.extent) and _span(flag).meets(_span(other))


def _edits_within(flag: Any, others: Iterable[Any]) -> list[Edit]:
    """The edits of the characters of a flag that decisions on `others`, which are earlier, still make."""
    return [
        Edit(other.start - flag.start, other.extent, other.new)
        for other in others
        if other.new != other.reads
        and other.first < flag.first
        and _overlap(other, flag)
        and _span(other).is_within(_span(flag))
    ]


class _ComparedForms(dict[int, str | None]):
    """The compared form of a character, by code point; None if it is ignored. A table for `str.translate`."""

    def __missing__(self, code_point: int) -> str | None:
        char = chr(code_point)
        category = unicodedata.category(char)
        form = policy_of(Script.TRADITIONAL).fold(char).lower()
        form = form if len(form) == 1 else char  # `_offsets` relies on one character for each
        self[code_point] = None if category[0] in "PZ" or category in _IGNORED else form
        return self[code_point]


_COMPARED_FORMS = _ComparedForms()


def _compared_text(source: str) -> str:
    """The compared characters of a source, in their compared forms."""
    return (TAG.sub("", source) if "<" in source else source).translate(_COMPARED_FORMS)


def _offsets(source: str) -> list[int]:
    """The offsets of the compared characters of a source."""
    without_tags = TAG.sub(lambda tag: " " * len(tag[0]), source) if "<" in source else source
    return [offset for offset, char in enumerate(without_tags) if _COMPARED_FORMS[ord(char)] is not None]
