"""Matches the findings of pages with the stored flags, and saves them as flags.

A finding is identified by its place in the text: a finding at the place of a flag is that flag, whatever page and line
the place is on now. A finding that a decision answers is not asked again.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, count
from operator import attrgetter
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from proof.model.flags import Flag, Kind, Origin
from proof.store import rows
from proof.store.carried_places import Place, TextChange
from proof.store.decision_records import SETTLED, State
from proof.store.lookup import raise_revision
from proof.store.models import Base, FlagRow, PageRow, TextRow
from proof.store.texts import changes_since, checked_span, contents, decided_reading, place_of
from proof.text.contexts import MAX_CONTEXT_CHARACTERS, characters_of, context_of
from proof.text.edit import Edit, edited, merged
from proof.text.positions import PositionMap, Span

OF_CHECK = frozenset({Origin.FINDING.value, Origin.SAMPLE.value, Origin.SEEDED.value})
"""Origins of the flags that a check makes."""

OF_COLLATION = frozenset({Origin.COLLATION.value})
"""Origins of the flags that a collation makes."""

Findings = Sequence[tuple[Flag, Origin]]
"""The findings of a page."""

Spans = Mapping[str, Span | None]
"""The places of the findings of a page in its text, by their ids; None for a finding without a place."""


def save_flags(session: Session, pages: Sequence[tuple[PageRow, Findings]], replaced: Collection[str]) -> int:
    """Save the findings of pages as their flags. Flags whose origin is among `replaced` become stale if they were not
    found. Returns the number of flags of a check that a collation found again, which stay as they are."""
    new_flags: list[dict[str, Any]] = []
    kept = 0
    for page, matched, unmatched in _matched_pages(session, pages):
        by_hand = [(row.line, row.offset) for row in unmatched if row.origin == Origin.PERSON.value]
        for ordinal, finding in enumerate(matched):
            values = rows.flag_values(finding.flag) | finding.place
            values |= {"origin": finding.origin.value, "ordinal": ordinal, "last_run_id": page.run_id, "stale": False}
            if finding.row is None:
                if finding.origin is not Origin.SEEDED or _is_free(finding.flag, by_hand):
                    new_flags.append(values | {"work_id": page.work_id, "page_id": page.id})
            elif _is_kept(finding.row, finding.origin):
                kept += 1
            else:
                for name, value in values.items():
                    setattr(finding.row, name, value)
        for row in unmatched:
            row.stale = row.stale or row.origin in replaced
    session.flush()
    if new_flags:
        session.execute(insert(Base.metadata.tables["flags"]), new_flags)
    return kept + _mark_repeated_stale(session, [page.id for page, _ in pages])


def _mark_repeated_stale(session: Session, pages: Sequence[int]) -> int:
    """Make undecided differences of editions stale that are about the same characters as a raised flag of a check that
    was not rejected: if both were accepted, the characters would be written twice. Returns their number."""
    raised = select(FlagRow).where(FlagRow.page_id.in_(pages), FlagRow.raised.is_(True), FlagRow.stale.is_(False))
    raised = raised.where(FlagRow.start.is_not(None))
    differences = session.scalars(raised.where(FlagRow.origin.in_(OF_COLLATION), FlagRow.version == 0)).all()
    of_pages: defaultdict[int, list[FlagRow]] = defaultdict(list)
    if differences:
        may_be_written = FlagRow.state.in_([State.OPEN.value, State.CORRECTED.value])
        for row in session.scalars(raised.where(FlagRow.origin == Origin.FINDING.value, may_be_written)):
            of_pages[row.page_id].append(row)
    content = contents(session)
    for row in differences:
        row.stale = any(_is_same_question(row, other, content(row.version_id)) for other in of_pages[row.page_id])
    session.flush()
    return sum(row.stale for row in differences)


def _is_same_question(row: FlagRow, other: FlagRow, content: str) -> bool:
    """Whether two flags are about the same characters: they overlap, or at both of them characters are missing, and
    none stand between them (at the end of a line and where a column is missing behind it) that are not missing as well
    (大夫 is missing before or behind the 大 of 大夫大)."""
    first, last = sorted((row, other), key=lambda flag: flag.span.start)
    span, place = first.span, last.span
    if row.version_id != other.version_id:
        return False
    if span.length or place.length:
        return span.start < place.end and place.start < span.end
    between, before, behind = (
        "".join(characters_of(text)).strip()
        for text in (content[span.start : place.start], first.suggested, last.suggested)
    )
    return bool(before and behind) and (before.startswith(between) or behind.endswith(between))


def _is_kept(row: FlagRow, origin: Origin) -> bool:
    """Whether the flag `row` stays as it is although a finding of this origin is at its place: a flag of a check that a
    collation found again."""
    return origin is Origin.COLLATION and row.origin in OF_CHECK and not row.stale


def _is_free(flag: Flag, by_hand: Iterable[tuple[int, int]]) -> bool:
    """Whether an error may be seeded at the place of `flag`: no correction `by_hand` (line, offset) is so near that one
    would be seen in the context of the other, with the marks of a note between them."""
    return all(line != flag.line or abs(offset - flag.offset) > 8 * MAX_CONTEXT_CHARACTERS for line, offset in by_hand)


@dataclass(frozen=True, slots=True)
class _MatchedFinding:
    """A finding with the id of its flag, its place as values of the columns of `flags` (`place`), and the `row` of its
    flag, None for a new flag."""

    flag: Flag
    origin: Origin
    place: dict[str, Any]
    row: FlagRow | None


def _matched_pages(
    session: Session, pages: Sequence[tuple[PageRow, Findings]]
) -> Iterator[tuple[PageRow, list[_MatchedFinding], list[FlagRow]]]:
    """Each page with its findings, and those of its flags that were not found. The flags of a page are those whose
    places are on it now, and those stored on it whose places are on none of `pages`."""
    versions = _Versions(session)
    lines_of = {page.id: _PageLines(session, page, versions) for page, _ in pages}
    spans_of: dict[int, Spans] = {
        page.id: {flag.id: lines_of[page.id].span_of(flag) for flag, _ in findings} for page, findings in pages
    }
    flags = list(session.scalars(select(FlagRow).where(FlagRow.page_id.in_(lines_of)).order_by(FlagRow.id)))
    flags += _flags_from_other_pages(session, lines_of, spans_of, versions)
    flags_of: defaultdict[int, list[FlagRow]] = defaultdict(list)
    ids_of: defaultdict[int, set[str]] = defaultdict(set)
    for flag in flags:
        ids_of[flag.page_id].add(flag.uid)
        # first the page it is stored on: in a text without pages two pages may share a line
        candidates = (lines_of.get(flag.page_id), *lines_of.values())
        page_now = next((lines for lines in candidates if lines is not None and lines.has(flag)), None)
        flags_of[page_now.number if page_now is not None else flag.page_id].append(flag)
    for number, of_page in flags_of.items():
        for flag in of_page:
            if flag.page_id != number:
                flag.page_id, flag.uid = number, unused_id(flag.uid, ids_of[number])
    for page, findings in pages:
        number = page.id
        matched, unmatched = _match(findings, spans_of[number], lines_of[number], flags_of[number], ids_of[number])
        yield page, matched, unmatched


def unused_id(uid: str, used: set[str]) -> str:
    """The id, or a hash derived from it if it is used already; adds the result to `used`."""
    derived = (hashlib.blake2b(f"{uid}\x1f{n}".encode(), digest_size=10).hexdigest() for n in count(1))
    unused = next(candidate for candidate in chain([uid], derived) if candidate not in used)
    used.add(unused)
    return unused


def _flags_from_other_pages(
    session: Session,
    lines_of: Mapping[int, _PageLines],
    spans_of: Mapping[int, Spans],
    versions: _Versions,
) -> list[FlagRow]:
    """The flags stored on other pages whose places are on these pages now. A place that is also on its own
    page, in a line that continues on the next page, stays there unless it was found here."""
    by_version: defaultdict[tuple[int, int], list[_PageLines]] = defaultdict(list)
    for lines in lines_of.values():
        if lines.text is not None and lines.version is not None:
            by_version[lines.text, lines.version].append(lines)

    @cache
    def own_lines(page_id: int, version: int) -> _PageLines | None:
        page = session.get_one(PageRow, page_id)
        return _PageLines(session, page, versions) if page.version_id == version else None

    def is_on_own_page(flag: FlagRow, version: int) -> bool:
        lines = own_lines(flag.page_id, version)
        return lines is not None and lines.has(flag)

    moved: list[FlagRow] = []
    for (text, version), of_version in by_version.items():
        query = select(FlagRow).where(FlagRow.text_id == text, FlagRow.version_id == version)
        query = query.where(FlagRow.start >= min(lines.begin for lines in of_version), FlagRow.page_id.not_in(lines_of))
        query = query.where(FlagRow.start <= max(lines.end for lines in of_version)).order_by(FlagRow.id)
        for flag in session.scalars(query).all():
            pages_now = [lines.number for lines in of_version if lines.has(flag)]
            was_found = any(flag.span in spans_of[number].values() for number in pages_now)
            if pages_now and (was_found or not is_on_own_page(flag, version)):
                moved.append(flag)
    return moved


class _Versions:
    """The versions of texts, by their numbers."""

    def __init__(self, session: Session) -> None:
        self.content = contents(session)
        self.changes = cache(lambda text, version: list(changes_since(session, text, version).values()))


class _PageLines:
    """The lines of a page in the present version of its text."""

    def __init__(self, session: Session, page: PageRow, versions: _Versions) -> None:
        self.number, self.work, self.text = page.id, page.work_id, page.text_id
        self.version: int | None = None
        self._lines = page.spans if not page.absent else {}
        self._checked_version, self._versions = page.version_id, versions
        self._changes: Sequence[TextChange] = ()
        if page.text_id is not None:
            self.version = session.get_one(TextRow, page.text_id).version_id
            self._changes = versions.changes(page.text_id, page.version_id)
        self.begin = min((span.start for span in self._lines.values()), default=0)
        self.end = max((span.end for span in self._lines.values()), default=-1)
        self._starts = sorted((span.start, number) for number, span in self._lines.items())

    def span_of(self, flag: Flag) -> Span | None:
        """The place of a finding; None if the page has no lines in its text or the place is lost."""
        if not self._lines:
            return None
        span: Span | None = checked_span(self._lines, flag)
        for change in self._changes:
            span = change.positions.where(*span) if span is not None else None
        return span

    @property
    def content(self) -> str:
        """The present content of the text of the page."""
        return self._versions.content(self.version)

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
        return self.address(flag) is not None

    def address(self, flag: FlagRow) -> tuple[int, int] | None:
        """The number of the line in which the place of a flag is now, and the offset in it; None if the place is not on
        this page, or if the text has changed since the page was checked."""
        of_flag, of_page = (flag.work_id, flag.text_id, flag.version_id), (self.work, self.text, self.version)
        is_in_range = flag.start is not None and self.begin <= flag.start <= self.end
        if not is_in_range or self.version is None or of_flag != of_page or self._changes:
            return None
        begin, number = self._starts[bisect_right(self._starts, (flag.span.start, 1 << 60)) - 1]
        offset = flag.span.start - begin
        # else it is in a line of another page, between those of this one
        return (number, offset) if offset <= self._lines[number].length else None

    def source(self, line: int) -> str:
        """The source of the column with this number when the page was checked; empty if the page has none."""
        span = self._lines.get(line)
        return self._versions.content(self._checked_version)[span.start : span.end] if span is not None else ""

    def left_of(self, row: FlagRow) -> list[Span]:
        """The places in the present text of what is left of a written reading whose place was lost since."""
        is_lost = row.extent > 0 and row.version_id != self.version and row.text_id == self.text
        if not (is_lost and row.version_id is not None and row.text_id is not None and _is_written(row)):
            return []
        left = [row.span]
        for change in self._versions.changes(row.text_id, row.version_id):
            left = [part for span in left for part in change.positions.kept(*span)]
        return left


def _match(
    findings: Findings, span_of: Spans, lines: _PageLines, flags: Sequence[FlagRow], used_ids: set[str]
) -> tuple[list[_MatchedFinding], list[FlagRow]]:
    """The findings of a page with their flags, and those of its `flags` that were not found. Findings that a decision
    answers are left out. `used_ids` are the ids of flags on the page, to which new ones are added."""
    decided = [row for row in flags if lines.has(row)]
    left_of_lost = [span for row in flags for span in lines.left_of(row)]
    asked_for = [flag for flag, origin in findings if origin is not Origin.SEEDED]
    answered = {flag.id for flag in asked_for if _is_answered_by_any(decided, left_of_lost, span_of[flag.id], flag)}
    answered.update(_restoring(asked_for, span_of, lines, decided))
    row_of = _matched_rows(findings, span_of, lines, flags, answered)
    asked = [(n, *found) for n, found in enumerate(findings) if n in row_of or found[0].id not in answered]
    id_of = {flag.id: row_of[n].uid if n in row_of else unused_id(flag.id, used_ids) for n, flag, _ in asked}
    # the row of a kept flag does not name the other flag of a moved character
    unlinked = {flag.id for n, flag, origin in asked if n in row_of and _is_kept(row_of[n], origin)}
    matched = []
    for n, flag, origin in asked:
        moved = "" if flag.moved in unlinked else id_of.get(flag.moved, "")
        place = lines.place_values(span_of[flag.id], flag)
        matched.append(_MatchedFinding(replace(flag, id=id_of[flag.id], moved=moved), origin, place, row_of.get(n)))
    found = {row.id for row in row_of.values()}
    unmatched = [row for row in flags if row.id not in found]
    _update_unmatched(lines, unmatched)
    return matched, unmatched


def _matched_rows(
    findings: Findings, span_of: Spans, lines: _PageLines, flags: Sequence[FlagRow], answered: Collection[str]
) -> dict[int, FlagRow]:
    """The flags of findings, by the index of the finding. The best matches are made first: with a flag at the place
    (preferably of the kind of the finding, else a settled one), then with a flag of the same id without a place. A
    finding that was `answered` matches a settled flag only."""
    at_place: defaultdict[Span | None, list[FlagRow]] = defaultdict(list)
    without_place: defaultdict[str, list[FlagRow]] = defaultdict(list)
    for row in flags:
        if row.origin == Origin.PERSON.value:
            continue
        if lines.has(row) and row.reads == row.transcribed:
            at_place[row.span].append(row)
        elif row.start is None or lines.version is None or not row.version:  # unknown, or lost and never decided
            without_place[row.uid].append(row)
    ranked = []
    for n, (flag, origin) in enumerate(findings):
        candidates = [(_rank_at_place(row, flag), row) for row in at_place[span_of[flag.id]]]
        for rank, row in (*candidates, *((3, row) for row in without_place[flag.id])):
            same_origin = (row.origin == Origin.SEEDED.value) == (origin is Origin.SEEDED)
            is_asked = row.state in SETTLED or flag.id not in answered
            if rank is not None and same_origin and is_asked:
                ranked.append((rank, n, row.id, row))
    row_of: dict[int, FlagRow] = {}
    taken: set[int] = set()
    for _rank_of_match, n, number, row in sorted(ranked, key=lambda match: match[:3]):
        if n not in row_of and number not in taken:
            row_of[n] = row
            taken.add(number)
    return row_of


def _rank_at_place(row: FlagRow, flag: Flag) -> int | None:
    """The rank of `row` as the flag of a finding at its place, 0 for the best match; None if it does not match."""
    if row.version and flag.transcribed != row.transcribed:
        return None
    if row.kind == flag.kind.value:
        return 0 if row.uid == flag.id else 1
    is_same_question = row.state in SETTLED and (row.kind == Kind.LAYOUT.value) == (flag.kind is Kind.LAYOUT)
    return 2 if is_same_question else None


def _is_answered_by_any(
    decided: Iterable[FlagRow], left_of_lost: Iterable[Span], span: Span | None, flag: Flag
) -> bool:
    """Whether decisions answer a finding at `span`: one of them, or several that together decided all of its
    characters. `left_of_lost` are the places of what is left of written readings."""
    if span is None:
        return False
    if any(_is_answered(row, span, flag) for row in decided):
        return True
    parts = ((row, _common(row.span, span)) for row in decided)
    answered = [part for row, part in parts if part.length > 0 and _is_answered(row, part, flag)]
    answered += [_common(left, span) for left in left_of_lost if flag.line]
    reached = span.start
    for part in sorted(answered):
        if part.start <= reached:
            reached = max(reached, part.end)
    return span.start < reached == span.end


def _restoring(
    findings: Iterable[Flag], span_of: Spans, lines: _PageLines, decided: Iterable[FlagRow]
) -> Iterator[str]:
    """The ids of findings that suggest only what was there before exported decisions. A check may describe the
    difference otherwise than the decisions; adjacent findings are answered together."""
    content, suggested = lines.content, dict[str, Edit]()
    for flag in findings:
        span, here, there = span_of[flag.id], flag.transcribed, flag.suggested
        if flag.line and span is not None and here != there:
            place = Place(0, *span, here, here, there, is_whole=flag.kind is Kind.LAYOUT)
            suggested[flag.id] = place.edit(content, there)
    written = map(place_of, sorted(filter(_is_written, decided), key=attrgetter("former")))
    former = edited(content, merged(place.edit(content, place.transcribed) for place in written))
    if not suggested or former == content:
        return
    edits = merged(suggested.values())
    as_suggested = PositionMap.of_edits(content, edits)
    to_former = PositionMap.of_comparison(as_suggested.new, former)
    for edit, span in zip(edits, as_suggested.written, strict=True):
        instead = to_former.between(*span)
        if instead is not None and former[instead.start : instead.end] == edit.replacement:
            yield from (flag for flag, own in suggested.items() if Span(*own.place).is_within(Span(*edit.place)))


def _common(span: Span, other: Span) -> Span:
    """The characters that two spans share."""
    start = max(span.start, other.start)
    return Span(start, min(span.end, other.end) - start)


def _is_answered(row: FlagRow, span: Span | None, flag: Flag | FlagRow) -> bool:
    """Whether the decision on `row` answers a finding at `span`: at the same place, or within the reading that an
    export wrote there."""
    if span is None or row.start is None or row.origin == Origin.SEEDED.value:
        return False
    about_characters = Kind.LAYOUT.value not in (row.kind, flag.kind)
    if row.reads == row.transcribed:
        return row.state in SETTLED and about_characters and span == row.span
    # that a column moved does not answer questions about its characters
    is_moved_column = row.kind == Kind.LAYOUT.value != flag.kind and "moved" in row.evidence
    if not _is_written(row) or not flag.line or is_moved_column:
        return False
    if not row.extent:  # something was deleted: does the finding suggest to insert it again, or what the image has?
        is_again = flag.suggested in row.transcribed if about_characters else flag.suggested == row.transcribed
        is_as_suggested = about_characters and len(flag.suggested) <= len(row.suggested)
        return span.start == row.start and not span.length and (is_again or is_as_suggested)
    return span.is_within(row.span) if span.length else row.span.overlaps(span)


def _is_written(row: FlagRow) -> bool:
    """Whether an export wrote the decision on a flag into the text."""
    return row.reads == decided_reading(row) != row.transcribed


def mark_answered_stale(session: Session, decided: Iterable[FlagRow]) -> None:
    """Make undecided flags stale that the decisions on these flags answer."""
    for flag in decided:
        if flag.start is None:
            continue
        in_text = select(FlagRow).where(FlagRow.text_id == flag.text_id, FlagRow.version_id == flag.version_id)
        nearby = in_text.where(FlagRow.start >= flag.start, FlagRow.start <= flag.start + flag.extent)
        undecided = nearby.where(FlagRow.version == 0, FlagRow.origin != Origin.SEEDED.value, FlagRow.stale.is_(False))
        for other in session.scalars(undecided).all():
            if _is_answered(flag, other.span, other):
                other.stale = True
                raise_revision(session, other.work_id)


def _update_unmatched(lines: _PageLines, flags: Iterable[FlagRow]) -> None:
    """Move flags that were not found to the lines in which their places are now. Those of people and collations become
    stale if their places are lost or their decisions are exported."""
    for row in flags:
        address = lines.address(row)
        if address is None:
            row.stale = row.stale or (row.origin not in OF_CHECK and row.start is not None)
            continue
        row.line, row.offset, row.length = *address, row.extent
        is_exported = row.reads != row.transcribed
        if not is_exported:
            row.context = context_of(lines.source(row.line), row.offset, row.length)
        if row.origin not in OF_CHECK:
            row.stale = is_exported
