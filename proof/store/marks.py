"""What people say beside the flags of a check: characters corrected by hand, states of pages, rules of the project."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from proof.errors import ToldError
from proof.model.flags import Evidence, Flag, Kind, context_of, flag_id
from proof.model.geometry import Box
from proof.store import codec, rows
from proof.store.decision_records import (
    ConflictError,
    Decision,
    DecisionRequest,
    NotYoursError,
    RefusedDecisionError,
    State,
    Verdict,
    _,
)
from proof.store.decisions import check_demand, conflict_of, decide_in
from proof.store.models import CharactersRow, ColumnRow, DecisionRow, FlagRow, PageEventRow, PageRow, RuleRow, WorkRow
from proof.store.quality import is_finding, note_seeded, seeded_places, shown_text
from proof.store.request_keys import key_of_another, must_be_own
from proof.store.standing import Event, standing
from proof.store.typed_text import LONGEST_READING, check_note, check_reading

Sessions = Callable[[], AbstractContextManager[Session]]
AT_ONCE = 500


NO_PAGE = _("%(work)s: there is no page %(page)s")
NO_WORK = _("there is no work %(work)s in the store")


class PageState(StrEnum):
    """Page states as proofreaders know them; a page is validated by another person than who proofread it."""

    NOT_PROOFREAD = "not proofread"
    PROOFREAD = "proofread"
    VALIDATED = "validated"
    PROBLEM = "problem"


class NoPlaceError(ToldError):
    """No such page, column or place in a column."""

    http_status = 404


class PageConflictError(ToldError):
    """Somebody was quicker to say something of the page."""

    http_status = 409


@dataclass(frozen=True, slots=True)
class PageEvent:
    """What somebody said of a page as a whole; `back`: by taking something back, or doing it again."""

    page: int
    version: int
    state: PageState
    person: str
    at: datetime
    note: str
    back: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """These two are variants in this work: `hides` is how many raised flags it hides."""

    transcribed: str
    suggested: str
    person: str
    at: datetime
    hides: int


@dataclass(frozen=True, slots=True)
class Mark:
    """A place of a page that a person corrects: `length` code points from `offset` of column `line` are to read
    `reading`, or are deleted where `delete` says so; `doubt` marks them as doubtful, without a reading. Length 0
    inserts a missed character. `key` is the request's; corrections of one `batch` are one act, taken back together.
    `transcribed` is what was seen to stand there, where it matters that it still does."""

    work: str
    page: int
    line: int
    offset: int
    length: int
    reading: str
    person: str
    key: str
    note: str = ""
    delete: bool = False
    doubt: bool = False
    batch: str = ""
    transcribed: str | None = None


class Marks:
    """What people say beside the flags; `Store.marks` is one."""

    def __init__(self, reading: Sessions, writing: Sessions) -> None:
        self._reading = reading
        self._writing = writing

    def correct(self, mark: Mark) -> Decision:
        """Correct any place of a page: a flag by hand, decided at once. Raises NoPlaceError,
        RefusedDecisionError, and ConflictError where the place was corrected by hand already."""
        _check_mark(mark)
        with self._writing() as session:
            must_be_own(session, [mark.key], DecisionRow)
            return _correct_in(session, mark)

    def correct_all(self, marks: Sequence[Mark]) -> list[Decision | ConflictError]:
        """Correct several places in one transaction: each is corrected, or has its conflict in its place. Raises as
        `correct`; then nothing was corrected."""
        for mark in marks:
            _check_mark(mark)
        outcomes: list[Decision | ConflictError] = []
        with self._writing() as session:
            must_be_own(session, [mark.key for mark in marks], DecisionRow)
            for mark in marks:
                try:
                    with session.begin_nested():
                        outcomes.append(_correct_in(session, mark))
                except ConflictError as conflict:
                    outcomes.append(conflict)
        return outcomes

    def page_history(self, work: str, page: int) -> list[PageEvent]:
        """What was said of a page, oldest first."""
        with self._reading() as session:
            row = _page(session, work, page)
            query = select(PageEventRow).where(PageEventRow.page_id == row.id).order_by(PageEventRow.version)
            return [page_event(one) for one in session.scalars(query)]

    def set_page(
        self,
        work: str,
        page: int,
        state: PageState,
        version: int,
        person: str,
        key: str,
        note: str = "",
        *,
        overrules: bool = True,
    ) -> PageEvent:
        """Say where a page stands, seen at `version`. Raises PageConflictError where somebody was quicker,
        RefusedDecisionError where who proofread a page would validate it too, NotYoursError for taking back what
        somebody else said where `person` does not overrule others."""
        check_note(note)
        with self._writing() as session:
            row = session.scalar(select(PageRow).where(PageRow.id == page).with_for_update())
            if row is None or row.absent or session.get_one(WorkRow, row.work_id).name != work:
                raise NoPlaceError(NO_PAGE, work=work, page=page)
            must_be_own(session, [key], PageEventRow)
            again = session.scalar(select(PageEventRow).where(PageEventRow.key == key))
            if again is not None:
                if (again.page_id, again.state, again.person, again.about) != (page, state.value, person, None):
                    raise key_of_another()
                return page_event(again)
            events = select(PageEventRow).where(PageEventRow.page_id == page).order_by(PageEventRow.version)
            last = session.scalars(events.order_by(None).order_by(PageEventRow.version.desc())).first()
            _must_be_seen(row, last, version)
            stands = _standing_event(session, page)
            if state is PageState.VALIDATED and (
                stands is None or stands.state != PageState.PROOFREAD.value or stands.person == person
            ):
                raise RefusedDecisionError(
                    _("%(page)s: a second person validates a page that was proofread"), page=row.page
                )
            if not overrules and stands is not None and stands.person != person and _takes_back(stands, state):
                raise NotYoursError(
                    _("%(page)s: %(person)s said it is %(state)s; they or an administrator take it back"),
                    page=row.page,
                    person=stands.person,
                    state=PageState(stands.state),
                )
            event = PageEventRow(
                page_id=page,
                version=version + 1,
                key=key,
                state=state.value,
                person=person,
                at=datetime.now(UTC),
                note=note,
            )
            session.add(event)
            session.flush()
            return page_event(event)

    def rules(self, work: str) -> list[Rule]:
        """The rules that hold in a work, newest first, with what each hides."""
        with self._reading() as session:
            work_id = session.scalar(select(WorkRow.id).where(WorkRow.name == work)) or 0
            found = []
            for row in rules_of(session, work_id).values():
                hidden = select(func.count()).where(
                    FlagRow.work_id == work_id,
                    FlagRow.stale.is_(False),
                    FlagRow.raised.is_(True),
                    FlagRow.transcribed == row.transcribed,
                    FlagRow.suggested == row.suggested,
                )
                hides = session.scalar(hidden) or 0
                found.append((row.id, Rule(row.transcribed, row.suggested, row.person, row.at, hides)))
            return [rule for _, rule in sorted(found, key=lambda one: -one[0])]

    def set_rule(self, work: str, transcribed: str, suggested: str, holds: bool, person: str) -> None:
        """Make it a rule that these two are variants in this work, or lift the rule. Raises NoPlaceError,
        RefusedDecisionError for what stands in no text."""
        check_reading(transcribed)
        check_reading(suggested)
        with self._writing() as session:
            work_id = session.scalar(select(WorkRow.id).where(WorkRow.name == work))
            if work_id is None:
                raise NoPlaceError(NO_WORK, work=work)
            if ((transcribed, suggested) in rules_of(session, work_id)) == holds:
                return
            session.add(
                RuleRow(
                    planted=_only_seeded(session, work_id, transcribed, suggested),
                    work_id=work_id,
                    transcribed=transcribed,
                    suggested=suggested,
                    holds=holds,
                    person=person,
                    at=datetime.now(UTC),
                )
            )


def _check_mark(mark: Mark) -> None:
    """Raises RefusedDecisionError where no page could be corrected so."""
    check_demand(_demand(mark, 1, 0))
    if not 0 <= mark.length <= LONGEST_READING:
        raise RefusedDecisionError(_("at most %(most)s characters are corrected at once"), most=LONGEST_READING)
    if mark.delete and not mark.length:
        raise RefusedDecisionError(_("nothing stands there that could be deleted"))
    if mark.doubt and (mark.delete or mark.reading or not mark.length):
        raise RefusedDecisionError(_("what is doubtful is a character of the text, and gets no reading"))


def _correct_in(session: Session, mark: Mark) -> Decision:
    """Correct a place within a transaction; raises as `Marks.correct`."""
    page = _page(session, mark.work, mark.page)
    found = select(ColumnRow).where(ColumnRow.page_id == page.id, ColumnRow.number == mark.line)
    column = session.scalars(found.order_by(ColumnRow.ordinal)).first()
    if column is None or mark.offset < 0 or mark.offset + mark.length > len(column.source):
        raise NoPlaceError(_("%(page)s: column %(column)s has no such place"), page=page.page, column=mark.line)
    if mark.transcribed is not None and column.source[mark.offset : mark.offset + mark.length] != mark.transcribed:
        told = _("%(page)s: column %(column)s no longer reads so; load the page anew")
        raise NoPlaceError(told, page=page.page, column=mark.line)
    places = seeded_places(session, [page.id]).get(page.id, {})
    _check_alone(session, page, mark)
    box = _box(session, page, column, mark)
    answered = mark.length == 1 and (mark.line, mark.offset) in places
    source = shown_text(column.source, mark.line, places) if answered else column.source
    flag = _flag(page, source, mark, box)
    row = _row_by_hand(session, page, flag)
    if answered:  # what stands there was seeded
        note_seeded(session, row)
    said = session.scalar(select(DecisionRow).where(DecisionRow.key == mark.key))
    if said is not None:  # sent again
        return decide_in(session, _demand(mark, row.id, said.version - 1))
    taken = _corrected_there(session, page, column.source, flag)
    if taken is not None:
        raise conflict_of(session, taken, 0)
    return decide_in(session, _demand(mark, row.id, row.version))


def _only_seeded(session: Session, work_id: int, transcribed: str, suggested: str) -> bool:
    """Whether a pair is met in seeded errors alone: a rule that is made of it hides these and nothing else."""
    pair = select(is_finding()).where(FlagRow.transcribed == transcribed, FlagRow.suggested == suggested)
    found = session.scalars(pair.where(FlagRow.work_id == work_id, FlagRow.stale.is_(False)).distinct())
    return {bool(one) for one in found} == {False}


def rules_of(session: Session, work_id: int) -> dict[tuple[str, str], RuleRow]:
    """The pairs that are variants by a rule that holds."""
    last: dict[tuple[str, str], RuleRow] = {}
    for row in session.scalars(select(RuleRow).where(RuleRow.work_id == work_id).order_by(RuleRow.id)):
        last[row.transcribed, row.suggested] = row
    return {pair: row for pair, row in last.items() if row.holds}


def page_states(session: Session, pages: Sequence[int]) -> dict[int, tuple[PageState, int]]:
    """Where pages stand, and how often something was said of each."""
    states = dict.fromkeys(pages, (PageState.NOT_PROOFREAD, 0))
    for start in range(0, len(pages), AT_ONCE):
        query = select(PageEventRow).where(PageEventRow.page_id.in_(pages[start : start + AT_ONCE]))
        for row in session.scalars(query.order_by(PageEventRow.version)):
            states[row.page_id] = (PageState(row.state), row.version)
    return states


def _page(session: Session, work: str, page: int) -> PageRow:
    row = session.get(PageRow, page)
    if row is None or row.absent or session.get_one(WorkRow, row.work_id).name != work:
        raise NoPlaceError(NO_PAGE, work=work, page=page)
    return row


def _check_alone(session: Session, page: PageRow, mark: Mark) -> None:
    """Raises RefusedDecisionError where several characters are corrected at once and one of them is flagged: what is
    flagged is decided by itself."""
    if mark.length < 2:
        return
    flagged = select(FlagRow.id).where(
        FlagRow.page_id == page.id,
        FlagRow.stale.is_(False),
        FlagRow.raised.is_(True),
        FlagRow.ordinal >= rows.CURRENT,
        FlagRow.line == mark.line,
        FlagRow.offset >= mark.offset,
        FlagRow.offset < mark.offset + mark.length,
    )
    if session.scalar(flagged.limit(1)) is not None:
        raise RefusedDecisionError(
            _("one of these characters is flagged: decide it, and correct the others one by one")
        )


def _demand(mark: Mark, flag: int, version: int) -> DecisionRequest:
    verdict = Verdict.DELETE if mark.delete else Verdict.UNSURE if mark.doubt else Verdict.TYPED
    said = (mark.person, mark.key, mark.reading, mark.note)
    return DecisionRequest(mark.work, flag, verdict, version, *said, batch=mark.batch)


def _row_by_hand(session: Session, page: PageRow, flag: Flag) -> FlagRow:
    """The row of a correction by hand; of one that was taken back, as it is corrected now."""
    values = rows.flag_values(rows.BY_HAND, flag)
    row = session.scalar(select(FlagRow).where(FlagRow.page_id == page.id, FlagRow.uid == flag.id))
    if row is None:
        runs = {"first_run_id": page.result_run_id, "last_run_id": page.result_run_id}
        row = FlagRow(work_id=page.work_id, page_id=page.id, stale=False, **runs, **values)
        session.add(row)
        session.flush()
    elif row.state == State.OPEN.value:
        row.suggested = flag.suggested
    return row


def _corrected_there(session: Session, page: PageRow, source: str, flag: Flag) -> FlagRow | None:
    """What stands corrected by hand at the place of `flag` already, in whole or in part, in a column that still reads
    as it did then."""
    end = flag.offset + flag.length
    query = select(FlagRow).where(
        FlagRow.page_id == page.id,
        FlagRow.ordinal == rows.BY_HAND,
        FlagRow.state != State.OPEN.value,
        FlagRow.line == flag.line,
    )
    for row in session.scalars(query.order_by(FlagRow.id)):
        same = (row.offset, row.length) == (flag.offset, flag.length)
        meets = row.offset < end and flag.offset < row.offset + row.length
        if (same or meets) and (row.uid == flag.id or context_of(source, row.offset, row.length) == row.context):
            return row
    return None


def _flag(page: PageRow, source: str, mark: Mark, box: Box | None) -> Flag:
    """The flag of a correction by hand in a column that reads `source`."""
    reads = mark.reading or mark.doubt
    kind = Kind.OMISSION if not mark.length else Kind.SUBSTITUTION if reads else Kind.INSERTION
    transcribed = source[mark.offset : mark.offset + mark.length]
    context = context_of(source, mark.offset, mark.length)
    occurrence = source[: mark.offset].count(source[mark.offset : mark.offset + mark.length] or " ")
    return Flag(
        page=page.page,
        ref=page.ref,
        line=mark.line,
        offset=mark.offset,
        length=mark.length,
        kind=kind,
        transcribed=transcribed,
        suggested=transcribed if mark.doubt else mark.reading,
        score=0.0,
        raised=True,
        bbox=box,
        evidence=Evidence("by hand"),
        context=context,
        id="hand-" + flag_id(page.page, mark.line, kind, f"{context}{mark.offset}", occurrence),
    )


def _box(session: Session, page: PageRow, column: ColumnRow, mark: Mark) -> Box | None:
    """Where the characters in question stand on the image, or the one after which a character is missing."""
    packed = session.get(CharactersRow, page.id)
    line = [one for one in codec.unpack(packed.data) if one.line == column.number] if packed else []
    inside = [one.box for one in line if mark.offset <= one.offset < mark.offset + mark.length]
    inside = inside or [one.box for one in line if one.offset < max(mark.offset, 1)][-1:]
    box: Box | None = None
    for one in inside:
        box = one if box is None else box.union(one)
    return box


def _standing_event(session: Session, page: int) -> PageEventRow | None:
    """What was said of a page and stands: the last that nobody took back."""
    query = select(PageEventRow).where(PageEventRow.page_id == page).order_by(PageEventRow.version)
    found = session.scalars(query).all()
    number = standing([Event(one.id, one.about, one.person) for one in found])
    return found[number - 1] if number else None


def _must_be_seen(page: PageRow, last: PageEventRow | None, version: int) -> None:
    """Raises PageConflictError where something was said of the page after the `version` that was seen."""
    if (last.version if last else 0) != version:
        if last is None:
            raise PageConflictError(_("%(page)s: nothing was said of it yet; look at the page again"), page=page.page)
        raise PageConflictError(
            _("%(page)s: changed in the meantime (%(person)s said: %(state)s); look at the page again"),
            page=page.page,
            person=last.person,
            state=PageState(last.state),
        )


def _takes_back(last: PageEventRow, state: PageState) -> bool:
    """Whether `state` says less of a page than what was said last; that there is a problem can always be said."""
    ways = (PageState.NOT_PROOFREAD, PageState.PROOFREAD, PageState.VALIDATED)
    return state in ways and last.state in ways and ways.index(state) < ways.index(PageState(last.state))


def page_event(row: PageEventRow) -> PageEvent:
    """What was said of a page, from its row."""
    return PageEvent(
        row.page_id, row.version, PageState(row.state), row.person, row.at, row.note, row.about is not None
    )
