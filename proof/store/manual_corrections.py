"""Characters that a person corrected by hand, where no check had flagged anything: flags of a person's own, decided at
once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from proof.locale.marking import _
from proof.model.flags import CORRECTED_BY_HAND, Evidence, Flag, Kind, Origin, context_of, flag_id
from proof.model.geometry import Box
from proof.model.result import box_at
from proof.store import codec, rows
from proof.store.chains import LOOKER, chain_of
from proof.store.column_changes import ColumnChange, check_column, flag_of_change
from proof.store.decision_records import ConflictError, Decision, DecisionRequest, RefusedDecisionError, State, Verdict
from proof.store.decisions import check_demand, decide_in
from proof.store.events import key_of_another
from proof.store.lookup import NoPlaceError, StorePart, find_page
from proof.store.models import ActRow, CharactersRow, ColumnRow, FlagAct, FlagRow, PageRow
from proof.store.seeded import BY_HAND, IS_SEEDED, seeded_places, shown_text
from proof.store.texts import carry_to_present
from proof.store.typed_text import LONGEST_READING

BY_HAND_VERDICTS = frozenset({Verdict.TYPED, Verdict.DELETE, Verdict.RETAIN, Verdict.UNSURE})
"""Verdicts that can be given where nothing is flagged."""


@dataclass(frozen=True, slots=True)
class ManualCorrection:
    """The `verdict` of a person on a place of a page, `length` code points from `offset` of column `line`: `TYPED` has
    them read `reading`, or inserts a missed character where the length is 0.

    `key` is the request's; corrections of one `batch` are one act, taken back together. `transcribed` is what was seen
    to stand there, and `source` in the whole column, where it matters that it still does. `change` is what becomes of
    the column as a whole: `offset` is then where it is split, `reading` the column that is added. `authority`,
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


class ManualCorrections(StorePart):
    """What people correct beside the flags of a check; `Store.manual_corrections` is one."""

    def correct(self, wanted: ManualCorrection) -> Decision:
        """Correct any place of a page: the open flag of a check that is about it is decided, else one by hand is made.
        Raises NoPlaceError, RefusedDecisionError, and ConflictError where the place was corrected by hand already."""
        _check(wanted)
        with self._writing() as session:
            return correct_in(session, wanted)

    def correct_glyphs(self, corrections: Sequence[ManualCorrection]) -> list[Decision | ConflictError]:
        """Correct several characters in one transaction: of one that a check flagged that flag is decided, any other is
        corrected by hand. Each is corrected, or has its conflict in its place, as where something was decided of its
        flag. Raises as `correct`; then nothing was corrected."""
        for correction in corrections:
            _check(correction)
        outcomes: dict[int, Decision | ConflictError] = {}
        with self._writing() as session:
            places = [
                (correction.page, correction.line, correction.offset, n) for n, correction in enumerate(corrections)
            ]
            for *_place, n in sorted(places):  # all take their locks in one order
                try:
                    with session.begin_nested():
                        outcomes[n] = _correct_glyph_in(session, corrections[n])
                except ConflictError as conflict:
                    outcomes[n] = conflict
        return [outcomes[n] for n in range(len(corrections))]


def _check(wanted: ManualCorrection) -> None:
    """Raises RefusedDecisionError where no page could be corrected so."""
    check_demand(_demand(wanted, 1, 0))
    if wanted.change is not None:
        check_column(wanted.change, wanted.reading, confirmed=wanted.confirmed)
        return
    if not 0 <= wanted.length <= LONGEST_READING:
        raise RefusedDecisionError(_("at most %(most)s characters are corrected at once"), most=LONGEST_READING)
    if wanted.verdict is Verdict.DELETE and not wanted.length:
        raise RefusedDecisionError(_("nothing stands there that could be deleted"))
    if wanted.verdict is Verdict.UNSURE and (wanted.reading or not wanted.length):
        raise RefusedDecisionError(_("what is doubtful is a character of the text, and gets no reading"))


def correct_in(session: Session, wanted: ManualCorrection, column: ColumnRow | None = None) -> Decision:
    """Correct a place within a transaction; raises as `ManualCorrections.correct`. `column` is that of a page without
    an image, of which the store keeps none."""
    page = find_page(session, wanted.work, wanted.page)
    earlier = session.scalar(select(ActRow).where(ActRow.key == wanted.key))
    if isinstance(earlier, FlagAct):  # sent again; the text may be another by now
        there = (earlier.page, earlier.line, *((earlier.offset, earlier.length) if wanted.change is None else ()))
        asked = (page.page, wanted.line, *((wanted.offset, wanted.length) if wanted.change is None else ()))
        if there != asked:
            raise key_of_another()
        return decide_in(session, _demand(wanted, earlier.flag_id, (earlier.version or 1) - 1))
    if column is None:
        there_now = select(ColumnRow).where(ColumnRow.page_id == page.id, ColumnRow.number == wanted.line)
        column = session.scalars(there_now.order_by(ColumnRow.ordinal)).first()
    if column is None or wanted.offset < 0 or wanted.offset + wanted.length > len(column.source):
        raise NoPlaceError(_("%(page)s: column %(column)s has no such place"), page=page.page, column=wanted.line)
    stands = column.source[wanted.offset : wanted.offset + wanted.length]
    places = seeded_places(session, [page.id]).get(page.id, {})
    seen = (None, column.source, shown_text(column.source, wanted.line, places))
    if wanted.transcribed not in (None, stands) or wanted.source not in seen:
        reason = _("%(page)s: column %(column)s no longer reads so; load the page anew")
        raise NoPlaceError(reason, page=page.page, column=wanted.line)
    packed = session.get(CharactersRow, page.id)
    characters = codec.unpack(packed.data) if packed else ()
    if wanted.change is not None:
        change = wanted.change, wanted.offset, wanted.reading
        row = _row_by_hand(session, page, flag_of_change(session, page, column, *change, characters))
        return _decide(session, wanted, row)
    answered = wanted.length == 1 and (wanted.line, wanted.offset) in places  # what people see there was seeded
    there = (wanted.page, wanted.line, wanted.offset, wanted.length)
    flagged = flag_at(session, *there, seeded=answered)
    if flagged is not None and (answered or (flagged.state == State.OPEN.value and flagged.transcribed == stands)):
        return _decide(session, wanted, flagged)
    if wanted.verdict not in BY_HAND_VERDICTS:
        raise NoPlaceError(_("nothing is asked there"))
    _check_alone(session, page, wanted)
    box = box_at(characters, column.number, wanted.offset, wanted.length)
    flag = _flag(page, column.source, wanted, box)
    row = _row_by_hand(session, page, flag)
    taken = _corrected_there(session, page, column.source, flag)
    if taken is not None:
        raise chain_of(session, taken).conflict(session, 0)
    return _decide(session, wanted, row)


def _correct_glyph_in(session: Session, wanted: ManualCorrection) -> Decision:
    """Correct a character within a transaction; raises as `ManualCorrections.correct`."""
    earlier = session.scalar(select(ActRow.id).where(ActRow.key == wanted.key))
    there = (wanted.page, wanted.line, wanted.offset, wanted.length)
    flag = flag_at(session, *there) if earlier is None else None
    if flag is not None and flag.transcribed == wanted.transcribed and flag.state != State.OPEN.value:
        raise chain_of(session, flag).conflict(session, 0)
    return correct_in(session, wanted)


def flag_at(
    session: Session, page: int, line: int, offset: int, length: int, *, seeded: bool = False
) -> FlagRow | None:
    """The flag of a check, or of a collation, that is about this very place; or the `seeded` error there."""
    query = select(FlagRow).where(FlagRow.page_id == page, FlagRow.line == line)
    query = query.where(FlagRow.offset == offset, FlagRow.length == length, IS_SEEDED if seeded else ~IS_SEEDED)
    query = query.where(FlagRow.stale.is_(False), FlagRow.kind != Kind.LAYOUT.value, ~BY_HAND)
    return session.scalars(query.order_by(FlagRow.raised.desc(), FlagRow.id.desc()).with_for_update()).first()


def _check_alone(session: Session, page: PageRow, wanted: ManualCorrection) -> None:
    """Raises RefusedDecisionError where several characters are corrected at once and one of them is flagged: what is
    flagged is decided by itself."""
    if wanted.length < 2:
        return
    flagged = select(FlagRow.id).where(
        FlagRow.page_id == page.id,
        FlagRow.stale.is_(False),
        FlagRow.raised.is_(True),
        ~BY_HAND,
        FlagRow.line == wanted.line,
        FlagRow.offset >= wanted.offset,
        FlagRow.offset < wanted.offset + wanted.length,
    )
    if session.scalar(flagged.limit(1)) is not None:
        raise RefusedDecisionError(
            _("one of these characters is flagged: decide it, and correct the others one by one")
        )


def _decide(session: Session, wanted: ManualCorrection, flag: FlagRow) -> Decision:
    """Decide a flag as it stands for the person who asks."""
    return decide_in(session, _demand(wanted, flag.id, chain_of(session, flag, LOOKER.get().reader).version))


def _demand(wanted: ManualCorrection, flag: int, version: int) -> DecisionRequest:
    return DecisionRequest(
        wanted.work,
        flag,
        wanted.verdict if wanted.change is None else Verdict.TAKE,
        version,
        wanted.person,
        wanted.key,
        wanted.reading if wanted.change is None else "",
        wanted.note,
        batch=wanted.batch,
        authority=wanted.authority,
        confirmed=wanted.confirmed,
        origin=wanted.origin,
    )


def _row_by_hand(session: Session, page: PageRow, flag: Flag) -> FlagRow:
    """The row of a correction by hand; of one that was taken back, as it is corrected now."""
    values = rows.flag_values(flag) | {"origin": Origin.PERSON.value}
    row = session.scalar(select(FlagRow).where(FlagRow.page_id == page.id, FlagRow.uid == flag.id))
    if row is None:
        runs = {"last_run_id": page.result_run_id}
        row = FlagRow(work_id=page.work_id, page_id=page.id, stale=False, **runs, **values)
        session.add(row)
        session.flush()
    elif row.state == State.OPEN.value or row.stale:  # it stood elsewhere meanwhile
        row.suggested, row.stale = flag.suggested, False
    if row.state == State.OPEN.value:
        row.extent, row.reads = flag.length, flag.transcribed
        column = page.spans.get(flag.line)
        if column is not None:
            row.text_id, row.version_id, row.start = page.text_id, page.version_id, column.start + flag.offset
            carry_to_present(session, [row])
    return row


def _corrected_there(session: Session, page: PageRow, source: str, flag: Flag) -> FlagRow | None:
    """What stands corrected by hand at the place of `flag` already, in whole or in part, in a column that still reads
    as it did then."""
    end = flag.offset + flag.length
    query = select(FlagRow).where(
        FlagRow.page_id == page.id,
        BY_HAND,
        FlagRow.stale.is_(False),
        FlagRow.state != State.OPEN.value,
        FlagRow.line == flag.line,
    )
    for row in session.scalars(query.order_by(FlagRow.id)):
        same = (row.offset, row.length) == (flag.offset, flag.length)
        meets = row.offset < end and flag.offset < row.offset + row.length
        if (same or meets) and (row.uid == flag.id or context_of(source, row.offset, row.length) == row.context):
            return row
    return None


def _flag(page: PageRow, source: str, wanted: ManualCorrection, box: Box | None) -> Flag:
    """The flag of a correction by hand in a column that reads `source`."""
    doubtful = wanted.verdict is Verdict.UNSURE
    reads = wanted.reading or doubtful
    kind = Kind.OMISSION if not wanted.length else Kind.SUBSTITUTION if reads else Kind.INSERTION
    transcribed = source[wanted.offset : wanted.offset + wanted.length]
    flag = Flag(
        page=page.page,
        ref=page.ref,
        line=wanted.line,
        offset=wanted.offset,
        length=wanted.length,
        kind=kind,
        transcribed=transcribed,
        suggested=transcribed if doubtful else wanted.reading,
        score=0.0,
        raised=True,
        bbox=box,
        evidence=Evidence(CORRECTED_BY_HAND),
        context=context_of(source, wanted.offset, wanted.length),
    )
    return replace(flag, id=id_by_hand(flag, source))


def id_by_hand(flag: Flag, source: str) -> str:
    """The id of a correction by hand in a column that reads `source`."""
    occurrence = source[: flag.offset].count(source[flag.offset : flag.offset + flag.length] or " ")
    return "hand-" + flag_id(flag.page, flag.line, flag.kind, f"{flag.context}{flag.offset}", occurrence)
