"""Other editions of a checked text: their differences as flags, which are decided like those of the check, and the
decisions about them, made again at the places of this text that answer theirs.

A difference at the place of a flag is that flag, so that a place is shown once. Its decision stays. A difference that a
later collation no longer has becomes stale, as a flag does that a later check no longer has.
"""

from __future__ import annotations

import uuid
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from proof.errors import PublicError, UsageError
from proof.locale.marking import _
from proof.model.flags import Flag, Origin, context_of, numbered
from proof.model.result import PageResult, box_at
from proof.store import rows
from proof.store.decision_records import State, Verdict
from proof.store.lookup import NoPlaceError, StorePart, raise_revision, work_id_subquery
from proof.store.manual_corrections import ManualCorrection, correct_in
from proof.store.matching import OF_COLLATION, save_flags
from proof.store.models import ColumnRow, FlagRow, PageRow, TextRow, TextVersionRow
from proof.store.seeded import IS_SEEDED
from proof.store.texts import sha_of
from proof.text.transcription import Transcription

DECIDED = _("something was decided there already")
ON_NO_PAGE = _("stands on no page that was checked")


PlacedFlag = tuple[int, Flag]
"""The code point of the text at which a flag begins, and the flag."""


class SavedDifferences(NamedTuple):
    """How many differences became flags of their own, how many are at flags of a check, and how many are on no checked
    page."""

    own: int
    at_flags: int
    on_no_page: int


class CollatedTexts(StorePart):
    """The differences of editions in a store; `Store.collated` is one."""

    def must_be_as_checked(self, work: str, path: str, edition: Transcription) -> None:
        """Raises UsageError where the text at `path` was changed since it was checked in a work."""
        with self._reading() as session:
            pages_of_text(session, work, path, edition)

    def save(self, work: str, path: str, edition: Transcription, differences: Sequence[PlacedFlag]) -> SavedDifferences:
        """Save the differences of the text at `path`, whose content is `edition`, as flags of the pages of a work.
        Raises UsageError where the text was changed since it was checked."""
        with self._writing() as session:
            pages = pages_of_text(session, work, path, edition)
            saved = _save(session, pages, edition, differences)
            if pages:
                raise_revision(session, pages[0].work_id)
            return saved


def pages_of_text(session: Session, work: str, path: str, edition: Transcription) -> list[PageRow]:
    """The pages of a work from the text at `path`, whose content is `edition`. Raises UsageError where it was changed
    since it was checked."""
    text = session.scalar(select(TextRow).where(TextRow.path == path))
    version = session.get(TextVersionRow, text.version_id) if text is not None and text.version_id else None
    query = select(PageRow).join(TextVersionRow, TextVersionRow.id == PageRow.version_id)
    query = query.where(PageRow.work_id == work_id_subquery(work), PageRow.text == path, PageRow.absent.is_(False))
    pages = list(session.scalars(query.order_by(PageRow.position)))
    current = version is not None and version.sha == sha_of(edition.text)
    if version is None or not current or any(page.version_id != version.id for page in pages):
        raise UsageError(_("%(path)s was changed since it was checked; run proof check on it first"), path=path)
    return pages


def _save(
    session: Session, pages: Sequence[PageRow], edition: Transcription, differences: Sequence[PlacedFlag]
) -> SavedDifferences:
    results = {page.id: result for page, result in zip(pages, rows.results(session, pages), strict=True)}
    columns = ColumnsInText(pages, edition)
    flags_of_page: defaultdict[int, list[Flag]] = defaultdict(list)
    on_no_page = 0
    for start, difference in differences:
        column = columns.at(start)
        flag = column.flag(start, difference, results[column.page.id]) if column is not None else None
        if column is None or flag is None:
            on_no_page += 1
            continue
        flags_of_page[column.page.id].append(flag)
    to_place = []
    for page in pages:
        renamed = numbered(flags_of_page[page.id])
        ids = {flag.id: own.id for flag, own in zip(flags_of_page[page.id], renamed, strict=True)}
        flags = [(replace(flag, moved=ids.get(flag.moved, "")), Origin.COLLATION) for flag in renamed]
        to_place.append((page, flags))
    at_flags = save_flags(session, to_place, OF_COLLATION)
    return SavedDifferences(sum(map(len, flags_of_page.values())) - at_flags, at_flags, on_no_page)


@dataclass(frozen=True, slots=True)
class ColumnInText:
    """A column: the code point of the text at which it begins, its page, its number on the page, and its text."""

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
        spans = ((page, number, span) for page in pages for number, span in page.spans.items())
        columns = (ColumnInText(at.start, page, number, edition.text[at.start : at.end]) for page, number, at in spans)
        self._columns = sorted(columns, key=lambda column: column.start)
        self._starts = [column.start for column in self._columns]

    def at(self, start: int) -> ColumnInText | None:
        """The column that has a code point of the text, or ends before it; None where none does."""
        number = bisect_right(self._starts, start) - 1
        column = self._columns[number] if number >= 0 else None
        return column if column is not None and start <= column.start + len(column.source) else None


@dataclass(frozen=True, slots=True)
class CarriedDecision:
    """A decision to make of `length` code points from `start` on in a text. `reading` is what is to stand there;
    `origin` names the decision about the other text that it comes from."""

    start: int
    length: int
    verdict: Verdict
    reading: str
    note: str
    authority: str
    origin: Mapping[str, str | int]


class _DryRun(Exception):  # noqa: N818 - no error: it ends a transaction that is not to be kept
    pass


class CarriedDecisions(StorePart):
    """Decisions from other texts; `Store.carried` is one."""

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
        """Make decisions about the text at `path`, which reads as `edition` does, as `person`. Those of a group are
        made together or not at all. Gives for each group why it was not made, empty where it was; with `dry_run`
        nothing of it is kept.

        Raises UsageError where the text reads otherwise than it was checked.
        """
        refused: list[str] = []
        try:
            with self._writing() as session:
                pages = pages_of_text(session, work, path, edition)
                text = ColumnsInText(pages, edition)
                batch = uuid.uuid4().hex
                refused += [_made(session, text, work, group, person, batch) for group in groups]
                if dry_run:
                    raise _DryRun
                if pages:
                    raise_revision(session, pages[0].work_id)
        except _DryRun:
            pass
        return refused


def _made(
    session: Session, text: ColumnsInText, work: str, group: Sequence[CarriedDecision], person: str, batch: str
) -> str:
    try:
        with session.begin_nested():
            for decision in group:
                _make(session, text, work, decision, person, batch)
    except PublicError as refusal:
        return str(refusal)
    return ""


def _make(session: Session, text: ColumnsInText, work: str, decision: CarriedDecision, person: str, batch: str) -> None:
    """Make a decision. Raises PublicError where it cannot be made."""
    column = text.at(decision.start)
    if column is None:
        raise NoPlaceError(ON_NO_PAGE)
    page, offset = column.page, decision.start - column.start
    _must_be_undecided(session, page, column.number, offset, decision.length)
    wanted = ManualCorrection(
        *(work, page.id, column.number, offset, decision.length, decision.reading, person, uuid.uuid4().hex),
        decision.verdict,
        decision.note,
        batch,
        authority=decision.authority,
        confirmed=True,
        origin=decision.origin,
    )
    correct_in(session, wanted, ColumnRow(number=column.number, source=column.source))


def _must_be_undecided(session: Session, page: PageRow, line: int, offset: int, length: int) -> None:
    """Raises NoPlaceError where something was decided of any of these characters."""
    query = select(FlagRow).where(FlagRow.page_id == page.id, FlagRow.line == line, ~IS_SEEDED)
    query = query.where(FlagRow.state != State.OPEN.value, FlagRow.version_id == page.version_id)
    for flag in session.scalars(query):
        same = (flag.offset, flag.length) == (offset, length)
        if same or (flag.offset < offset + length and offset < flag.offset + flag.length):
            raise NoPlaceError(DECIDED)
