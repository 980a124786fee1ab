"""Matching the findings of a page with the flags already stored.

A finding is identified by its place in the text: a finding at the place of a flag is that flag, whatever page and line
the place is on now. A decision that was written into the text is not asked again.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, count
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from proof.model.flags import MAX_CONTEXT_CHARACTERS, Flag, Kind, Origin, context_of
from proof.store import rows
from proof.store.decision_records import SETTLED
from proof.store.lookup import raise_revision
from proof.store.models import Base, FlagRow, PageRow, TextRow, TextVersionRow
from proof.store.rows import PagePlace
from proof.store.texts import (
    carry_to_present,
    carry_to_version,
    content_of,
    decided_reading,
    find_version,
    is_displaced,
)
from proof.text.positions import PositionMap, Span, line_end

OF_CHECK = frozenset({Origin.FINDING.value, Origin.SAMPLE.value, Origin.SEEDED.value})
"""Origins of the flags that a check makes."""

OF_COLLATION = frozenset({Origin.COLLATION.value})
"""Origins of the flags that a collation makes."""

Findings = Sequence[tuple[Flag, Origin]]
"""The findings of a page."""


@dataclass(frozen=True, slots=True)
class _Placed:
    """A finding with the id of its flag, its place as values of the columns of `flags` (`place`), and the `row` of its
    flag, None for a new flag."""

    flag: Flag
    origin: Origin
    place: dict[str, Any]
    row: FlagRow | None


class _TextPlace(NamedTuple):
    """The place of a page: the version of its text, and the start of its first line there."""

    version: int | None
    start: int


def save_flags(session: Session, pages: Sequence[tuple[PageRow, Findings]], replaced: Collection[str]) -> int:
    """Save the findings of pages as their flags. Flags whose origin is among `replaced` become stale if they were not
    found. Returns the number of flags of a check that a collation found again; these stay as they are."""
    fresh: list[dict[str, Any]] = []
    again = 0
    for page, placed, others in _placed_pages(session, pages):
        by_hand = [(row.line, row.offset) for row in others if row.origin == Origin.PERSON.value]
        for ordinal, placing in enumerate(placed):
            values = rows.flag_values(placing.flag) | placing.place
            values |= {"origin": placing.origin.value, "ordinal": ordinal, "last_run_id": page.run_id, "stale": False}
            if placing.row is None:
                if placing.origin is not Origin.SEEDED or _is_free(placing.flag, by_hand):
                    fresh.append(values | {"work_id": page.work_id, "page_id": page.id})
            elif _stays(placing.row, placing.origin):
                again += 1
            else:
                for name, value in values.items():
                    setattr(placing.row, name, value)
        for row in others:
            row.stale = row.stale or row.origin in replaced
    session.flush()
    if fresh:
        session.execute(insert(Base.metadata.tables["flags"]), fresh)
    return again


def _stays(row: FlagRow, origin: Origin) -> bool:
    """Whether the flag `row` stays as it is although a finding of this origin has its place: a flag of a check, found
    again by a collation."""
    return origin is Origin.COLLATION and row.origin in OF_CHECK and not row.stale


def _is_free(flag: Flag, by_hand: Iterable[tuple[int, int]]) -> bool:
    """Whether an error may be seeded at the place of `flag`: no correction `by_hand` (line, offset) is so near that one
    would be seen in the context of the other."""
    return all(line != flag.line or abs(offset - flag.offset) > 2 * MAX_CONTEXT_CHARACTERS for line, offset in by_hand)


def place_unchanged_pages(session: Session, pages: Iterable[tuple[PageRow, PagePlace]]) -> None:
    """`place_pages` for pages whose own columns did not change. Flags on them that lost their place when the text
    changed get it again; undecided flags that a decision answers become stale."""
    known = {page.id: (page, before) for page, before in place_pages(session, pages) if before.version is not None}
    moved = [page.id for page, before in known.values() if before.version != page.version_id]
    lost = FlagRow.page_id.in_(moved) | is_displaced()
    flags = session.scalars(select(FlagRow).where(FlagRow.page_id.in_(known), lost)).all() if known else ()
    content = cache(lambda number: content_of(session.get_one(TextVersionRow, number)))
    comparison = cache(lambda old, new: PositionMap.of_comparison(content(old), content(new)))
    restored: set[int] = set()
    for flag in _left_behind(session, flags):
        page, before = known[flag.page_id]
        begin = before.start
        if flag.version_id != before.version:  # an export wrote a version that was not checked
            span = comparison(before.version, flag.version_id).where(begin, 1)
            begin = span.start if span is not None else len(content(flag.version_id))
        if flag.start is None or flag.start < begin:
            continue
        old = content(flag.version_id)
        # the page up to the end of the flag's column: what follows may be another page
        up_to_flag = old[begin : line_end(old, flag.start + flag.extent)]
        if content(page.version_id).startswith(up_to_flag, page.start):
            flag.text_id, flag.version_id, flag.start = page.text_id, page.version_id, flag.start - begin + page.start
            restored.add(page.id)
    if restored:
        decided = select(FlagRow).where(FlagRow.page_id.in_(restored), FlagRow.version > 0)
        mark_answered_stale(session, session.scalars(decided).all())


def follow_to_other_texts(session: Session, pages: Iterable[tuple[PageRow, PagePlace]]) -> None:
    """Carry the flags of pages that move to another file to that file: those whose own file is gone or has lost their
    places."""
    moved = {page.id: (page, place) for page, place in pages if page.text != place.text}
    flags = session.scalars(select(FlagRow).where(FlagRow.page_id.in_(moved))).all() if moved else ()
    flags_of: defaultdict[tuple[str, str], list[FlagRow]] = defaultdict(list)
    for flag in _left_behind(session, flags):
        page, place = moved[flag.page_id]
        if flag.version_id == page.version_id:
            flags_of[place.text, place.sha].append(flag)
    for (text, sha), of_version in flags_of.items():
        version = find_version(session, text, sha)
        if version is not None:
            carry_to_version(session, of_version, version)
            carry_to_present(session, of_version)


def _left_behind(session: Session, flags: Sequence[FlagRow]) -> list[FlagRow]:
    """The flags that have lost their places in their texts, or whose files are gone."""
    texts = {flag.text_id for flag in flags if flag.text_id is not None}
    known = {text.id: text for text in session.scalars(select(TextRow).where(TextRow.id.in_(texts)))}
    gone = {number for number, text in known.items() if not Path(text.path).is_file()}
    return [
        flag
        for flag in flags
        if flag.text_id in known and (flag.text_id in gone or flag.version_id != known[flag.text_id].version_id)
    ]


def place_pages(session: Session, pages: Iterable[tuple[PageRow, PagePlace]]) -> list[tuple[PageRow, _TextPlace]]:
    """Record the places of pages in their texts, if the store has these versions. Returns the recorded pages, each with
    its place before."""
    placed = []
    versions: dict[tuple[str, str], TextVersionRow | None] = {}
    for page, place in pages:
        key = (place.text, place.sha)
        if key not in versions:
            versions[key] = find_version(session, *key)
        version = versions[key]
        if version is not None:
            before = _TextPlace(page.version_id, page.start)
            start = min((span.start for span in place.lines.values()), default=0)
            page.text_id, page.version_id, page.start = version.text_id, version.id, start
            page.lines = {str(number): [span.start - start, span.length] for number, span in place.lines.items()}
            placed.append((page, before))
    return placed


def _placed_pages(
    session: Session, pages: Sequence[tuple[PageRow, Findings]]
) -> Iterator[tuple[PageRow, list[_Placed], list[FlagRow]]]:
    """Each page with its findings, and those of its flags that were not found. Its flags are those whose places are on
    it now, and those stored on it whose places are on none of `pages`."""
    content = cache(lambda number: content_of(session.get_one(TextVersionRow, number)))
    spans = {page.id: _PageSpans(session, page, content) for page, _ in pages}
    known = list(session.scalars(select(FlagRow).where(FlagRow.page_id.in_(spans)).order_by(FlagRow.id)))
    places = {page.id: {flag.id: spans[page.id].span_of(flag) for flag, _ in found} for page, found in pages}
    known += _claimed(session, spans, places, content)
    flags_of: defaultdict[int, list[FlagRow]] = defaultdict(list)
    ids: defaultdict[int, set[str]] = defaultdict(set)
    for flag in known:
        ids[flag.page_id].add(flag.uid)
        # first the page it is stored on: in a text without pages two pages may share a line
        candidates = (spans.get(flag.page_id), *spans.values())
        page = next((span for span in candidates if span is not None and span.has(flag)), None)
        flags_of[page.number if page is not None else flag.page_id].append(flag)
    for number, flags in flags_of.items():
        for flag in flags:
            if flag.page_id != number:
                flag.page_id, flag.uid = number, _unused(flag.uid, ids[number])
    for row, found in pages:
        yield row, *_placed(found, places[row.id], spans[row.id], flags_of[row.id], ids[row.id])


def _unused(uid: str, used: set[str]) -> str:
    """The id, or a hash derived from it if it is used already; adds the result to `used`."""
    derived = (hashlib.blake2b(f"{uid}\x1f{n}".encode(), digest_size=10).hexdigest() for n in count(1))
    unused = next(candidate for candidate in chain([uid], derived) if candidate not in used)
    used.add(unused)
    return unused


def _claimed(
    session: Session,
    spans: Mapping[int, _PageSpans],
    places: Mapping[int, Mapping[str, Span | None]],
    content: Callable[[int], str],
) -> list[FlagRow]:
    """The flags stored on other pages whose places are on these pages now, by the numbers of which `spans` and the
    `places` of their findings are given. A place that is on its own page, too, in a line that goes over the end of a
    page, stays there unless it was found here."""
    by_text: defaultdict[tuple[int, int], list[_PageSpans]] = defaultdict(list)
    for span in spans.values():
        if span.text is not None and span.version is not None:
            by_text[span.text, span.version].append(span)

    @cache
    def own(page_id: int, version: int) -> _PageSpans | None:
        page = session.get_one(PageRow, page_id)
        return _PageSpans(session, page, content) if page.version_id == version else None

    claimed: list[FlagRow] = []
    for (text, version), page_spans in by_text.items():
        query = select(FlagRow).where(FlagRow.text_id == text, FlagRow.version_id == version)
        query = query.where(FlagRow.start >= min(span.begin for span in page_spans), FlagRow.page_id.not_in(spans))
        query = query.where(FlagRow.start <= max(span.end for span in page_spans)).order_by(FlagRow.id)
        for flag in session.scalars(query).all():
            here = [span for span in page_spans if span.has(flag)]
            found = any((flag.start, flag.extent) in places[span.number].values() for span in here)
            if here and (found or (page := own(flag.page_id, version)) is None or not page.has(flag)):
                claimed.append(flag)
    return claimed


class _PageSpans:
    """The lines of a page in the present version of its text; `content` gives the content of a version by number."""

    def __init__(self, session: Session, page: PageRow, content: Callable[[int], str]) -> None:
        text = session.get(TextRow, page.text_id) if page.text_id is not None else None
        self.number, self.work = page.id, page.work_id
        self.text = text.id if text is not None else None
        self.version = text.version_id if text is not None else None
        self._lines = page.spans if text is not None and not page.absent else {}
        self._checked, self._content = page.version_id, content
        self._map: PositionMap | None = None
        if self.version is not None and self._checked is not None and self.version != self._checked:
            self._map = PositionMap.of_comparison(content(self._checked), content(self.version))
        self.begin = min((span.start for span in self._lines.values()), default=0)
        self.end = max((span.end for span in self._lines.values()), default=-1)
        self._starts = sorted((span.start, number) for number, span in self._lines.items())

    def span_of(self, flag: Flag) -> Span | None:
        """The place of a finding: at the end of the page for a column that the text lacks, at its beginning for a
        finding about the whole page (line 0). None if the page has no lines in its text or the place is lost."""
        if not self._lines:
            return None
        if flag.line in self._lines:
            start = self._lines[flag.line].start + flag.offset
        else:
            start = (self.end if flag.line else self.begin) + flag.offset
        return Span(start, flag.length) if self._map is None else self._map.where(start, flag.length)

    def place_values(self, span: Span | None, flag: Flag) -> dict[str, Any]:
        """The place of a finding as values of the columns of `flags`; `span` is that of `span_of`."""
        return {
            "text_id": self.text if span is not None else None,
            "version_id": self.version if span is not None else None,
            "start": span.start if span is not None else None,
            "extent": flag.length,
            "reads": flag.transcribed,
        }

    def has(self, flag: FlagRow) -> bool:
        """Whether the place of a flag is on this page now."""
        if flag.start is None or self.version is None or (flag.text_id, flag.version_id) != (self.text, self.version):
            return False
        address = self.address(flag.start)
        if flag.work_id != self.work or address is None or flag.start > self.end:
            return False
        number, offset = address
        return offset <= self._lines[number].length  # else it is in a line of another page, between those of this one

    def address(self, start: int) -> tuple[int, int] | None:
        """The number of the line of this page that begins last before a code point of the text, and the offset from its
        beginning; None before the first line, or if the text has changed since the page was checked."""
        index = bisect_right(self._starts, (start, 1 << 60)) - 1
        if index < 0 or self._map is not None:
            return None
        begin, number = self._starts[index]
        return number, start - begin

    def source(self, line: int) -> str:
        """The source of the column of this number, empty if the page has none."""
        span = self._lines.get(line)
        return self._content(self._checked)[span.start : span.end] if span and self._checked is not None else ""


def _placed(
    findings: Findings,
    place_of: Mapping[str, Span | None],
    spans: _PageSpans,
    flags: Sequence[FlagRow],
    used: set[str],
) -> tuple[list[_Placed], list[FlagRow]]:
    """The findings, of which `place_of` gives the places, with their flags, and those of `flags` that were not found.
    `used` are the ids that are taken.

    A finding is matched with a flag at its place (preferably of its kind, else a settled one), then with a flag of its
    id that has no place. Findings that a decision already answers are left out.
    """
    decided = [row for row in flags if spans.has(row)]
    answered = {
        flag.id
        for flag, origin in findings
        if origin is not Origin.SEEDED and any(answers(row, place_of[flag.id], flag) for row in decided)
    }
    known: defaultdict[object, list[FlagRow]] = defaultdict(list)
    for row in flags:
        if row.origin != Origin.PERSON.value:
            here = spans.has(row) and row.reads == row.transcribed
            known[(row.start, row.extent) if here else row.uid].append(row)
    ranked = []
    for n, (flag, origin) in enumerate(findings):
        for row in (*known[place_of[flag.id]], *known[flag.id]):
            rank = _rank(spans, row, flag, place_of[flag.id])
            alike = (row.origin == Origin.SEEDED.value) == (origin is Origin.SEEDED)
            if rank is not None and alike and (row.state in SETTLED or flag.id not in answered):
                ranked.append((rank, n, row.id, row))
    rows_of: dict[int, FlagRow] = {}
    taken: set[int] = set()
    for _, n, number, row in sorted(ranked, key=itemgetter(0, 1, 2)):
        if n not in rows_of and number not in taken:
            rows_of[n] = row
            taken.add(number)
    asked = [(n, *found) for n, found in enumerate(findings) if n in rows_of or found[0].id not in answered]
    ids = {flag.id: rows_of[n].uid if n in rows_of else _unused(flag.id, used) for n, flag, _ in asked}
    # a flag that stays as it is does not know of the other flag of a character that moved
    unlinked = {flag.id for n, flag, origin in asked if n in rows_of and _stays(rows_of[n], origin)}
    others = [row for row in flags if row.id not in taken]
    _follow(spans, others)
    return [
        _Placed(
            replace(flag, id=ids[flag.id], moved="" if flag.moved in unlinked else ids.get(flag.moved, "")),
            origin,
            spans.place_values(place_of[flag.id], flag),
            rows_of.get(n),
        )
        for n, flag, origin in asked
    ], others


def _rank(spans: _PageSpans, row: FlagRow, flag: Flag, span: Span | None) -> int | None:
    """The rank of `row` as the flag of a finding, 0 for the best match; None if it does not match."""
    same = span == (row.start, row.extent) and spans.has(row) and row.reads == row.transcribed
    if same and row.kind == flag.kind.value:
        return 0 if row.uid == flag.id else 1
    if same and row.state in SETTLED and (row.kind == Kind.LAYOUT.value) == (flag.kind is Kind.LAYOUT):
        return 2
    return 3 if row.uid == flag.id and _may_be_anywhere(row, spans) else None


def _may_be_anywhere(row: FlagRow, spans: _PageSpans) -> bool:
    """Whether a flag may be matched by its id alone: its place is unknown, or lost and never decided."""
    return row.start is None or spans.version is None or (not row.version and not spans.has(row))


def answers(row: FlagRow, span: Span | None, flag: Flag | FlagRow) -> bool:
    """Whether the decision on `row` answers a finding: at the same place, or within the reading written there."""
    if span is None or row.start is None or row.origin == Origin.SEEDED.value:
        return False
    if row.reads == row.transcribed:
        of_text = Kind.LAYOUT.value not in (row.kind, flag.kind)
        return row.state in SETTLED and of_text and span == (row.start, row.extent)
    # a decision that a column moved says nothing of its characters
    of_moved = row.kind == Kind.LAYOUT.value != flag.kind and "moved" in row.evidence
    if row.reads != decided_reading(row) or not flag.line or of_moved:
        return False
    end = row.start + row.extent
    if not row.extent:  # characters were deleted: the finding asks for the same ones
        return span.start == row.start and not span.length and flag.suggested == row.transcribed
    if not span.length:
        return row.start < span.start < end
    return row.start <= span.start and span.end <= end


def mark_answered_stale(session: Session, decided: Iterable[FlagRow]) -> None:
    """Make undecided flags stale that the decisions on these flags answer."""
    for flag in decided:
        if flag.start is None:
            continue
        in_text = select(FlagRow).where(FlagRow.text_id == flag.text_id, FlagRow.version_id == flag.version_id)
        nearby = in_text.where(FlagRow.start >= flag.start, FlagRow.start <= flag.start + flag.extent)
        asked = nearby.where(FlagRow.version == 0, FlagRow.origin != Origin.SEEDED.value, FlagRow.stale.is_(False))
        for other in session.scalars(asked).all():
            if answers(flag, Span(other.start or 0, other.extent), other):
                other.stale = True
                raise_revision(session, other.work_id)


def _follow(spans: _PageSpans, flags: Iterable[FlagRow]) -> None:
    """Move flags that were not found to the line where their places are now; those whose places are lost, or whose
    decisions are written, become stale unless they come from a check."""
    for row in flags:
        if not spans.has(row) or row.start is None:
            if row.origin not in OF_CHECK and row.start is not None:
                row.stale = True
            continue
        address = spans.address(row.start)
        if address is None:
            continue
        row.line, row.offset = address
        written = row.reads != row.transcribed
        if not written:
            row.context = context_of(spans.source(row.line), row.offset, row.length)
        if row.origin not in OF_CHECK:
            row.stale = written
