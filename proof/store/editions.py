"""Other editions of a checked text: their differences as flags, and decisions carried over from other texts.

Differences are decided like the flags of a check. A difference at the place of a flag is not saved as a second flag, so
that each place is shown once, and the decision on that flag stays. A difference that a later collation no longer has
becomes stale, like a flag that a later check no longer has.
"""

from __future__ import annotations

import uuid
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from proof.errors import PublicError, UsageError
from proof.locale.marking import Sentence, _
from proof.model.flags import Flag, Origin, with_ids
from proof.model.result import PageResult, box_at
from proof.store import rows
from proof.store.decision_records import State, Verdict
from proof.store.flag_matching import OF_COLLATION, save_flags
from proof.store.lookup import NoPlaceError, StorePart, filled, raise_revision, work_id_subquery
from proof.store.manual_corrections import ManualCorrection, correct_in
from proof.store.models import FlagRow, PageRow, TextRow, TextVersionRow
from proof.store.seeded_errors import IS_SEEDED
from proof.store.texts import of_column, sha_of
from proof.text.contexts import context_of
from proof.text.positions import Span
from proof.text.transcription import Transcription

DECIDED = _("something was decided there already")
ON_NO_PAGE = _("stands on no page that was checked")


PlacedFlag = tuple[int, Flag]
"""The code point of the text at which a flag begins, and the flag."""


class SavedDifferences(NamedTuple):
    """The number of differences saved as flags of their own, of those at flags of a check, and of those on no checked
    page."""

    own: int
    at_flags: int
    on_no_page: int


class CollatedTexts(StorePart):
    """The differences of editions in a store, as `Store.collated`."""

    def must_be_as_checked(self, work: str, path: str, edition: Transcription) -> None:
        """Raise UsageError if the text at `path` was changed since it was checked in a work."""
        with self._reading() as session:
            pages_of_text(session, work, path, edition)

    def save(self, work: str, path: str, edition: Transcription, differences: Sequence[PlacedFlag]) -> SavedDifferences:
        """Save the differences of the text at `path`, whose content is `edition`, as flags of the pages of a work.
        Raises UsageError if the text was changed since it was checked."""
        with self._writing() as session:
            pages = pages_of_text(session, work, path, edition)
            saved = _save(session, pages, edition, differences)
            if pages:
                raise_revision(session, pages[0].work_id)
            return saved


def pages_of_text(session: Session, work: str, path: str, edition: Transcription) -> list[PageRow]:
    """The pages of a work from the text at `path`, whose content is `edition`. Raises UsageError if the text was
    changed since it was checked."""
    text = session.scalar(select(TextRow).where(TextRow.path == path))
    version = session.get(TextVersionRow, text.version_id) if text is not None else None
    query = select(PageRow).join(TextVersionRow, TextVersionRow.id == PageRow.version_id)
    query = query.where(PageRow.work_id == work_id_subquery(work), PageRow.text == path, PageRow.absent.is_(False))
    pages = list(session.scalars(query.order_by(PageRow.position)))
    is_current = version is not None and version.sha == sha_of(edition.text)
    if version is None or not is_current or any(page.version_id != version.id for page in pages):
        raise UsageError(_("%(path)s was changed since it was checked; run proof check on it first"), path=path)
    return pages


def _save(
    session: Session, pages: Sequence[PageRow], edition: Transcription, differences: Sequence[PlacedFlag]
) -> SavedDifferences:
    results = {page.id: result for page, result in zip(pages, rows.results(session, pages), strict=True)}
    text = ColumnsInText(pages, edition)
    flags_of_page: defaultdict[int, list[Flag]] = defaultdict(list)
    on_no_page = 0
    for start, difference in differences:
        column = _showing(text.at(start), start, results)
        flag = column.flag(start, difference, results[column.page.id]) if column is not None else None
        if column is None or flag is None:
            on_no_page += 1
            continue
        flags_of_page[column.page.id].append(flag)
    to_save = []
    for page in pages:
        flags = with_ids(flags_of_page[page.id])
        new_id_of = {flag.id: new.id for flag, new in zip(flags_of_page[page.id], flags, strict=True)}
        linked = [replace(flag, moved=new_id_of.get(flag.moved, "")) for flag in flags]
        to_save.append((page, [(flag, Origin.COLLATION) for flag in linked]))
    at_flags = save_flags(session, to_save, OF_COLLATION)
    return SavedDifferences(sum(map(len, flags_of_page.values())) - at_flags, at_flags, on_no_page)


def _showing(columns: Sequence[ColumnInText], start: int, results: Mapping[int, PageResult]) -> ColumnInText | None:
    """The one of these columns, of the pages that share a line, whose page shows a code point of the text; None if
    there are none. `results` are those of the pages."""
    if len(columns) < 2:
        return next(iter(columns), None)
    characters = {column.page.id: results[column.page.id].characters for column in columns}
    page = rows.page_showing(characters, columns[0].number, start - columns[0].start)
    return next((column for column in columns if column.page.id == page), columns[0])


@dataclass(frozen=True, slots=True)
class ColumnInText:
    """A column: the code point of the text at which it begins, its page, its number on the page, and its source."""

    start: int
    page: PageRow
    number: int
    source: str

    def flag(self, start: int, flag: Flag, result: PageResult) -> Flag | None:
        """The flag of a difference that begins at a code point of the text, with its place in this column; None where
        the column has other characters there. `result` is that of the page."""
        offset = start - self.start
        if not self.source.startswith(flag.transcribed, offset):
            return None
        return replace(
            flag,
            page=self.page.page,
            ref=self.page.ref,
            line=self.number,
            offset=offset,
            context=context_of(self.source, offset, flag.length),
            bbox=box_at(result.characters, self.number, offset, flag.length),
        )


class ColumnsInText:
    """The columns of the pages of a text."""

    def __init__(self, pages: Iterable[PageRow], edition: Transcription) -> None:
        columns = [
            ColumnInText(span.start, page, number, edition.text[span.start : span.end])
            for page in pages
            for number, span in page.spans.items()
        ]
        self._columns = sorted(columns, key=lambda column: column.start)
        self._starts = [column.start for column in self._columns]

    def at(self, start: int) -> Sequence[ColumnInText]:
        """The column that contains code point `start` of the text, or ends just before it, for each page that has it;
        empty if there is none."""
        end = bisect_right(self._starts, start)
        first = bisect_left(self._starts, self._starts[end - 1]) if end else 0
        columns = self._columns[first:end]
        return columns if columns and start <= columns[0].start + len(columns[0].source) else []


@dataclass(frozen=True, slots=True)
class CarriedDecision:
    """A decision to make on `length` code points of a text from `start` on. `reading` is the decided reading; `origin`
    describes the decision on the other text from which it is carried."""

    start: int
    length: int
    verdict: Verdict
    reading: str
    note: str
    authority: str
    origin: Mapping[str, str | int]


class CarriedDecisions(StorePart):
    """Decisions carried over from other texts, as `Store.carried`."""

    def make(
        self,
        work: str,
        path: str,
        edition: Transcription,
        groups: Sequence[Sequence[CarriedDecision]],
        person: str,
        *,
        dry_run: bool,
    ) -> list[str]:
        """Make decisions as `person` on the text at `path`, whose content is `edition`. Those of a group are made
        together or not at all. Returns for each group the reason why it was refused, '' if it was made. With `dry_run`
        nothing is saved.

        Raises UsageError if the text was changed since it was checked.
        """
        with self._writing() as session, session.begin_nested() as making:
            pages = pages_of_text(session, work, path, edition)
            text = ColumnsInText(pages, edition)
            batch = uuid.uuid4().hex
            refusals = [_make_group(session, text, work, group, person, batch) for group in groups]
            if dry_run:
                making.rollback()
            elif pages:
                raise_revision(session, pages[0].work_id)
        return refusals


def _make_group(
    session: Session, text: ColumnsInText, work: str, group: Sequence[CarriedDecision], person: str, batch: str
) -> str:
    """Make the decisions of a group; returns the reason why they were refused, '' if they were made."""
    try:
        with session.begin_nested():
            for decision in group:
                _make(session, text, work, decision, person, batch)
    except PublicError as refusal:
        return Sentence.of(refusal)
    return ""


def _make(session: Session, text: ColumnsInText, work: str, decision: CarriedDecision, person: str, batch: str) -> None:
    """Make a decision. Raises PublicError if it cannot be made."""
    columns = text.at(decision.start)
    if not columns:
        raise NoPlaceError(ON_NO_PAGE)
    column, offset = columns[0], decision.start - columns[0].start
    _must_be_undecided(session, [each.page for each in columns], column.number, offset, decision.length)
    place = {"work": work, "page": column.page.id, "line": column.number, "offset": offset}
    request = {"person": person, "key": uuid.uuid4().hex, "batch": batch, "confirmed": True}
    correction = filled(ManualCorrection, decision, **place, **request)
    correct_in(session, correction)


def _must_be_undecided(session: Session, pages: Sequence[PageRow], line: int, offset: int, length: int) -> None:
    """Raise NoPlaceError if there is a decision on any of these characters, which all of the pages have."""
    query = select(FlagRow).where(of_column(pages, line), ~IS_SEEDED)
    query = query.where(FlagRow.state != State.OPEN.value, FlagRow.version_id == pages[0].version_id)
    for flag in session.scalars(query):
        if Span(flag.offset, flag.length).meets(Span(offset, length)):
            raise NoPlaceError(DECIDED)
