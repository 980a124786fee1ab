"""Corrections by hand: decisions of people at places that no check flagged. Each is stored as a flag of the person and
a decision on this flag."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from proof.locale.marking import _
from proof.model.flags import CORRECTED_BY_HAND, LINE_BREAK, Evidence, Flag, Kind, Origin, flag_id
from proof.model.geometry import Box
from proof.model.result import box_at
from proof.store import codec, rows
from proof.store.column_changes import DELETED, TORN, ColumnChange, check_column, flag_of_change
from proof.store.decision_chains import REQUESTER, chain_of
from proof.store.decision_records import ConflictError, Decision, DecisionRequest, RefusedDecisionError, State, Verdict
from proof.store.decisions import check_request, decide_in
from proof.store.events import key_of_another
from proof.store.flag_matching import unused_id
from proof.store.lookup import NoPlaceError, StorePart, filled, find_page
from proof.store.models import ActRow, CharactersRow, ColumnRow, FlagAct, FlagRow, PageRow
from proof.store.seeded_errors import seeded_places, shown_text
from proof.store.texts import carry_to_present, columns_of_pages, of_column, pages_with_columns_of
from proof.store.typed_text import LONGEST_READING
from proof.store.work_text import columns_of
from proof.text.column import faults_of
from proof.text.contexts import context_of
from proof.text.positions import Span
from proof.text.remarks import RemarkCode

BY_HAND_VERDICTS = frozenset({Verdict.TYPED, Verdict.DELETE, Verdict.RETAIN, Verdict.UNSURE})
"""Verdicts that can be given on places without a flag."""


@dataclass(frozen=True, slots=True)
class ManualCorrection:
    """A request for the `verdict` of a person on a place: `length` code points from `offset` of column `line`. `TYPED`
    replaces them by `reading`; with length 0 it inserts a missing character.

    `key` is that of the request; corrections with the same `batch` are undone together. `transcribed` is the text that
    the person saw at the place, and `source` that of the column; None skips the check that it is unchanged. `change`
    changes the column as a whole: `offset` is then the place of a split, `reading` the column to add. `authority`,
    `confirmed` and `origin` are those of a `DecisionRequest`."""

    work: str
    page: int
    line: int
    offset: int
    length: int
    reading: str
    person: str
    key: str
    verdict: Verdict = Verdict.TYPED
    note: str = ""
    batch: str = ""
    transcribed: str | None = None
    source: str | None = None
    authority: str = ""
    confirmed: bool = False
    origin: Mapping[str, Any] = field(default_factory=dict)
    change: ColumnChange | None = None

    @property
    def place(self) -> tuple[int, int, int]:
        """The place as a sort key: page, line and offset."""
        return self.page, self.line, self.offset


class ManualCorrections(StorePart):
    """Corrections by hand; `Store.manual_corrections` is one."""

    def correct(self, correction: ManualCorrection) -> Decision:
        """Correct any place of a page: decides the open flag of a check at this place, or else a new flag of the
        person. Raises NoPlaceError, RefusedDecisionError; ConflictError if the place was corrected by hand already."""
        _check(correction)
        with self._writing() as session, _notes_kept(session, [correction]):
            return correct_in(session, correction)

    def correct_glyphs(self, corrections: Sequence[ManualCorrection]) -> list[Decision | ConflictError]:
        """Correct several characters in one transaction, as `correct` does, but a decided flag at a place is a
        conflict. Returns a decision or a conflict for each correction. Raises as `correct`; then nothing is
        corrected."""
        for correction in corrections:
            _check(correction)
        outcomes: dict[int, Decision | ConflictError] = {}
        with self._writing() as session, _notes_kept(session, corrections):
            # every transaction locks flags in the order of their places
            for number in sorted(range(len(corrections)), key=lambda number: corrections[number].place):
                try:
                    with session.begin_nested():
                        outcomes[number] = correct_in(session, corrections[number], decided_conflicts=True)
                except ConflictError as conflict:
                    outcomes[number] = conflict
        return [outcomes[number] for number in range(len(corrections))]


@contextmanager
def _notes_kept(session: Session, corrections: Sequence[ManualCorrection]) -> Iterator[None]:
    """Raise RefusedDecisionError if corrections that are made within the context tear a note or a mark of the text."""
    pages = {correction.page: find_page(session, correction.work, correction.page) for correction in corrections}
    before = _faults(session, pages)
    yield
    if _faults(session, pages) - before:
        raise RefusedDecisionError(TORN)


def _faults(session: Session, pages: Mapping[int, PageRow]) -> Counter[tuple[int, RemarkCode | bool]]:
    """The faults in the notes and marks of pages after decisions, by page and code, and whether a note is open at the
    end of each page; without incomplete descriptions, which a person may mean."""
    faults: Counter[tuple[int, RemarkCode | bool]] = Counter()
    note_open = dict.fromkeys(pages, False)
    for work in {page.work_id for page in pages.values()}:
        for column in chain.from_iterable(columns_of(session, work, pages, personal=True)):
            for source in column.source.split(LINE_BREAK):
                problems, note_open[column.page] = faults_of(source, note_open[column.page])
                codes = {problem.code for problem in problems} - {RemarkCode.DESCRIPTION_INCOMPLETE}
                faults.update((column.page, code) for code in codes)
    faults.update(note_open.items())
    return faults


def _check(correction: ManualCorrection) -> None:
    """Raise RefusedDecisionError for a correction that no page allows."""
    check_request(_request(correction, 1, 0))
    if correction.change is not None:
        check_column(correction.change, correction.reading, confirmed=correction.confirmed)
        return
    if not 0 <= correction.length <= LONGEST_READING:
        raise RefusedDecisionError(_("at most %(most)s characters are corrected at once"), most=LONGEST_READING)
    if correction.verdict is Verdict.DELETE and not correction.length:
        raise RefusedDecisionError(_("nothing stands there that could be deleted"))
    if correction.verdict is Verdict.UNSURE and (correction.reading or not correction.length):
        raise RefusedDecisionError(_("what is doubtful is a character of the text, and gets no reading"))


def correct_in(session: Session, correction: ManualCorrection, *, decided_conflicts: bool = False) -> Decision:
    """Correct a place within a transaction; raises as `ManualCorrections.correct`. With `decided_conflicts`, a decided
    flag at the place is a conflict as well."""
    page = find_page(session, correction.work, correction.page)
    pages = pages_with_columns_of(session, [page])
    earlier = session.scalar(select(ActRow).where(ActRow.key == correction.key))
    if isinstance(earlier, FlagAct):
        return _repeat(session, pages, correction, earlier)
    showing = rows.page_showing_place(session, [each.id for each in pages], correction.line, correction.offset)
    page = next(each for each in pages if each.id == showing)
    column = _column(session, page, correction.line)
    start, end = correction.offset, correction.offset + correction.length
    if column is None or start < 0 or end > len(column.source):
        raise NoPlaceError(_("%(page)s: column %(column)s has no such place"), page=page.page, column=correction.line)
    transcribed = column.source[start:end]
    seeded = seeded_places(session, [page.id]).get(page.id, {})
    seen_sources = (None, column.source, shown_text(column.source, correction.line, seeded))
    if correction.transcribed not in (None, transcribed) or correction.source not in seen_sources:
        reason = _("%(page)s: column %(column)s no longer reads so; load the page anew")
        raise NoPlaceError(reason, page=page.page, column=correction.line)
    packed = session.get(CharactersRow, page.id)
    characters = codec.unpack(packed.data) if packed else ()
    if correction.change is not None:
        change, offset, text = correction.change, correction.offset, correction.reading
        row = _row_by_hand(session, page, flag_of_change(session, page, column, change, offset, text, characters))
        return _decide(session, correction, row)
    is_seeded = correction.length == 1 and (correction.line, correction.offset) in seeded
    in_column = select(FlagRow).where(of_column(pages, correction.line)).order_by(FlagRow.id).with_for_update()
    flags = session.scalars(in_column).all()
    flag_row = _flag_at(flags, correction, seeded=is_seeded)
    is_open = flag_row is not None and flag_row.state == State.OPEN.value and flag_row.transcribed == transcribed
    if flag_row is not None and (is_seeded or is_open):
        return _decide(session, correction, flag_row)
    if flag_row is not None and decided_conflicts and flag_row.transcribed == transcribed:
        raise chain_of(session, flag_row).conflict(session, 0)
    if correction.verdict not in BY_HAND_VERDICTS:
        raise NoPlaceError(_("nothing is asked there"))
    _check_unflagged(flags, correction)
    box = box_at(characters, column.number, correction.offset, correction.length)
    flag = _new_flag(page, column.source, correction, box)
    row = _row_by_hand(session, page, flag)
    overlapping = _overlapping_correction(flags, column.source, flag)
    if overlapping is not None:
        raise chain_of(session, overlapping).conflict(session, 0)
    return _decide(session, correction, row)


def _repeat(session: Session, pages: Sequence[PageRow], correction: ManualCorrection, earlier: FlagAct) -> Decision:
    """The decision that an earlier request with the same key made; the text may have changed since. Raises
    RefusedDecisionError if that request was about another place than one of these pages."""
    is_same_place = earlier.page in {page.page for page in pages} and earlier.line == correction.line
    if correction.change is None:
        is_same_place &= (earlier.offset, earlier.length) == (correction.offset, correction.length)
    if not is_same_place:
        raise key_of_another()
    return decide_in(session, _request(correction, earlier.flag_id, (earlier.version or 1) - 1))


def _column(session: Session, page: PageRow, number: int) -> ColumnRow | None:
    """A column of a page: as it was found on the image, or else that of the text."""
    columns = select(ColumnRow).where(ColumnRow.page_id == page.id, ColumnRow.number == number)
    stored = session.scalars(columns.order_by(ColumnRow.ordinal)).first()
    if stored is not None:
        return stored
    source = columns_of_pages(session, [page])[page.id].get(number)
    return ColumnRow(number=number, x=0, y=0, w=0, h=0, source=source) if source is not None else None


def _flag_at(flags: Iterable[FlagRow], correction: ManualCorrection, *, seeded: bool) -> FlagRow | None:
    """The flag of a check or of a collation at exactly this place, or the `seeded` error there."""
    asked = [row for row in flags if not row.stale and row.kind != Kind.LAYOUT.value and not _is_by_hand(row)]
    at_place = [row for row in asked if (row.offset, row.length) == (correction.offset, correction.length)]
    of_origin = [row for row in at_place if (row.origin == Origin.SEEDED.value) == seeded]
    return max(of_origin, key=lambda row: (row.raised, row.id), default=None)


def _check_unflagged(flags: Iterable[FlagRow], correction: ManualCorrection) -> None:
    """Raise RefusedDecisionError if several characters are corrected at once and one of them is flagged."""
    place = Span(correction.offset, correction.length)
    raised = (Span(row.offset, row.length) for row in flags if row.raised and not row.stale and not _is_by_hand(row))
    if place.length > 1 and any(place.overlaps(span) for span in raised):
        raise RefusedDecisionError(
            _("one of these characters is flagged: decide it, and correct the others one by one")
        )


def _is_by_hand(row: FlagRow) -> bool:
    return row.origin == Origin.PERSON.value


def _decide(session: Session, correction: ManualCorrection, flag: FlagRow) -> Decision:
    """Decide a flag at the version that the person who makes the request sees."""
    return decide_in(session, _request(correction, flag.id, chain_of(session, flag, REQUESTER.get().reader).version))


def _request(correction: ManualCorrection, flag: int, version: int) -> DecisionRequest:
    """The request to decide a flag that was seen at `version`. For a change of a column it takes the suggestion of the
    flag."""
    of_change = {} if correction.change is None else {"verdict": Verdict.TAKE, "reading": ""}
    return filled(DecisionRequest, correction, flag=flag, version=version, **of_change)


def _row_by_hand(session: Session, page: PageRow, flag: Flag) -> FlagRow:
    """The row of the flag of a correction by hand: a new row, or that of the same correction if it was undone or has
    lost its place. The row of an exported correction stays: the same may be added beside it."""
    row = session.scalar(select(FlagRow).where(FlagRow.page_id == page.id, FlagRow.uid == flag.id))
    if row is None or row.reads != row.transcribed:
        uids = set(session.scalars(select(FlagRow.uid).where(FlagRow.page_id == page.id)))
        values = rows.flag_values(flag) | {"origin": Origin.PERSON.value, "uid": unused_id(flag.id, uids)}
        row = FlagRow(work_id=page.work_id, page_id=page.id, last_run_id=page.result_run_id, stale=False, **values)
        session.add(row)
        session.flush()
    if row.state == State.OPEN.value or row.stale:
        row.suggested, row.stale = flag.suggested, False
        row.extent, row.reads = flag.length, flag.transcribed
        column = page.spans.get(flag.line)
        if column is not None:
            row.text_id, row.version_id, row.start = page.text_id, page.version_id, column.start + flag.offset
            carry_to_present(session, [row])
    return row


def _overlapping_correction(flags: Iterable[FlagRow], source: str, flag: Flag) -> FlagRow | None:
    """A correction by hand that is in force at the place of `flag` or overlaps it, or deletes its column, and whose
    context in the column has not changed; None if there is none."""
    for row in flags:
        is_in_force = _is_by_hand(row) and not row.stale and row.state != State.OPEN.value
        meets = Span(row.offset, row.length).meets(Span(flag.offset, flag.length))
        is_unchanged = row.uid == flag.id or context_of(source, row.offset, row.length) == row.context
        if is_in_force and (meets or row.reason == DELETED) and is_unchanged:
            return row
    return None


def _new_flag(page: PageRow, source: str, correction: ManualCorrection, box: Box | None) -> Flag:
    """The flag of a correction by hand in a column with this `source`."""
    is_unsure = correction.verdict is Verdict.UNSURE
    if not correction.length:
        kind = Kind.OMISSION
    else:
        kind = Kind.SUBSTITUTION if correction.reading or is_unsure else Kind.INSERTION
    transcribed = source[correction.offset : correction.offset + correction.length]
    flag = Flag(
        page=page.page,
        ref=page.ref,
        line=correction.line,
        offset=correction.offset,
        length=correction.length,
        kind=kind,
        transcribed=transcribed,
        suggested=transcribed if is_unsure else correction.reading,
        score=0.0,
        raised=True,
        bbox=box,
        evidence=Evidence(CORRECTED_BY_HAND),
        context=context_of(source, correction.offset, correction.length),
    )
    return replace(flag, id=id_by_hand(flag, source))


def id_by_hand(flag: Flag, source: str) -> str:
    """The id of the flag of a correction by hand in a column with this `source`."""
    occurrence = source[: flag.offset].count(source[flag.offset : flag.offset + flag.length] or " ")
    return "hand-" + flag_id(flag.page, flag.line, flag.kind, f"{flag.context}{flag.offset}", occurrence)
