"""What people decided about flags: events that are added and never changed or taken away.

A flag carries where it stands (`state`), what is to be read there (`reading`), and how many events made it
so (`version`). Who decides says which version they saw; if another was quicker they are told what happened
and nothing is written. A request that is sent again under its key is answered as the first time, not doubled.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from proof.locale.marking import _
from proof.model.flags import Flag, Kind, Origin
from proof.store.authorities import seen_at
from proof.store.column_changes import DELETED, JOINED
from proof.store.decision_records import (
    STATE_OF,
    TAKING_BACK,
    ConflictError,
    Decision,
    DecisionRequest,
    DisplacedDecision,
    MissingFlagError,
    NotYoursError,
    RefusedDecisionError,
    State,
    Verdict,
)
from proof.store.decision_rows import (
    decision_of,
    last_event,
    maker_of,
    restored,
    shown_decisions,
    values_of,
)
from proof.store.events import key_of_another, must_be_own
from proof.store.judgements import by_day, by_person
from proof.store.lookup import StorePart
from proof.store.models import DecisionRow, FlagAct, FlagRow, ReadingRow, WorkRow
from proof.store.places import no_longer_ask
from proof.store.readings import LOOKER, as_read, own_readings, readings_of, shown_readings
from proof.store.seeded import IS_SEEDED, SeededAnswer, answers
from proof.store.texts import is_displaced
from proof.store.typed_text import check_authority, check_markup, check_meant, check_note, check_reading

AT_ONCE = 500

SURPLUS_COLUMN = frozenset({"column doubled", "column moved", "column not on the page", DELETED, JOINED})
"""Reasons of findings about a column, or the end of one, that should not be where it is."""


class Decisions(StorePart):
    """The events of a store; `Store.decisions` is one."""

    def decide(self, demand: DecisionRequest) -> Decision:
        """Write a decision down. When this returns, it outlives the process.

        Raises ConflictError, MissingFlagError, NotYoursError, RefusedDecisionError; then nothing was written.
        """
        check_demand(demand)
        try:
            with self._writing() as session:
                must_be_own(session, [demand.key], FlagAct)
                return decide_in(session, demand)
        except IntegrityError:  # the same key came twice at the same moment: now the first one is there
            with self._writing() as session:
                return decide_in(session, demand)

    def decide_all(self, demands: Sequence[DecisionRequest]) -> list[Decision | ConflictError]:
        """Write several down in one transaction: each is decided, or has its conflict in its place.

        Raises MissingFlagError, NotYoursError, RefusedDecisionError; then none was written.
        """
        for demand in demands:
            check_demand(demand)
        outcomes: list[Decision | ConflictError] = []
        with self._writing() as session:
            must_be_own(session, [demand.key for demand in demands], FlagAct)
            for demand in sorted(demands, key=lambda demand: demand.flag):  # all take their locks in one order
                try:
                    outcomes.append(decide_in(session, demand))
                except ConflictError as conflict:
                    outcomes.append(conflict)
        at = {flag: n for n, flag in enumerate(demand.flag for demand in demands)}
        return sorted(outcomes, key=lambda outcome: at[outcome.flag])

    def check(self, work: str, flag: int, reading: str) -> None:
        """Raises RefusedDecisionError where a reading cannot be typed at a flag, UnconfirmedReadingError where it is
        likely to be a slip, and MissingFlagError."""
        with self._reading() as session:
            row = session.get(FlagRow, flag)
            owner = session.get(WorkRow, row.work_id) if row is not None else None
            if row is None or owner is None or owner.name != work:
                raise MissingFlagError(_("%(work)s: there is no flag %(flag)s"), work=work, flag=flag)
            check_reading(reading)
            check_typed(DecisionRequest(work, flag, Verdict.TYPED, row.version, "", "", reading), row)

    def history(self, flag: int) -> list[Decision]:
        """All that was decided about a flag, oldest first."""
        with self._reading() as session:
            rows = session.scalars(select(DecisionRow).where(DecisionRow.flag_id == flag).order_by(DecisionRow.version))
            return [*shown_decisions(session, list(rows)), *own_readings(session, flag)]

    def log(self, work: str, *, before: int | None = None, limit: int = 50) -> list[Decision]:
        """What was decided in a work, newest first, from the one before the decision `before` on."""
        query = select(DecisionRow).join(WorkRow, DecisionRow.work_id == WorkRow.id).where(WorkRow.name == work)
        if before is not None:
            query = query.where(DecisionRow.id < before)
        with self._reading() as session:
            rows = session.scalars(query.order_by(DecisionRow.id.desc()).limit(limit))
            return shown_decisions(session, list(rows))

    def standing(self, work: str) -> Iterator[Decision]:
        """The last decision about each decided flag of a work, in the order in which they were made; what was
        taken back altogether is not among them, nor what was said of seeded errors."""
        after = 0
        while True:
            query = (
                _last_decisions(work).where(DecisionRow.id > after, ~IS_SEEDED).order_by(DecisionRow.id).limit(AT_ONCE)
            )
            with self._reading() as session:
                decisions = [decision_of(row) for row in session.scalars(query)]
            if not decisions:
                return
            after = decisions[-1].id
            yield from decisions

    def last_of_flags(self, work: str) -> list[Decision]:
        """The last decision about each flag of a work, also where all was taken back, but for seeded errors."""
        of_flag = (FlagRow.id == DecisionRow.flag_id) & (FlagRow.version == DecisionRow.version)
        query = select(DecisionRow).join(FlagRow, of_flag).join(WorkRow, DecisionRow.work_id == WorkRow.id)
        with self._reading() as session:
            rows = session.scalars(query.where(WorkRow.name == work, ~IS_SEEDED).order_by(DecisionRow.id))
            return [decision_of(row) for row in rows]

    def makers(self, decisions: Iterable[Decision]) -> dict[int, str]:
        """Who made what stands by each of these decisions, by its number: that person took no other back."""
        with self._reading() as session:
            return {
                decision.id: decision.person
                if decision.about is None
                else maker_of(session, session.get_one(DecisionRow, decision.id))
                for decision in decisions
            }

    def displaced(self, work: str) -> list[DisplacedDecision]:
        """The decisions whose places are lost."""
        query = _last_decisions(work).where(is_displaced(), ~IS_SEEDED).order_by(DecisionRow.id)
        with self._reading() as session:
            return [DisplacedDecision(shown) for shown in shown_decisions(session, list(session.scalars(query)))]

    def people(self, work: str, *, seeded: bool = False) -> dict[str, dict[Verdict, int]]:
        """How often each person said what, but for what was taken back; of `seeded` errors too, if these are counted
        as people see them."""
        with self._reading() as session:
            return by_person(session, work, seeded=seeded)

    def days(self, work: str) -> dict[str, int]:
        """How much was decided on each day (UTC, as `2026-01-31`), in their order, but for what was taken back."""
        with self._reading() as session:
            return by_day(session, work)

    def answers(self, work: str) -> list[list[SeededAnswer]]:
        """For each seeded error that anybody answered: the last answer of each person, in the order given."""
        with self._reading() as session:
            return list(answers(session, work).values())

    def last(self) -> int:
        """The number of the newest decision in the store, 0 where there is none."""
        with self._reading() as session:
            return session.scalar(select(func.max(DecisionRow.id))) or 0


def check_demand(demand: DecisionRequest) -> None:
    """Raises RefusedDecisionError for a decision that cannot be, whatever the store holds."""
    if not 8 <= len(demand.key) <= 64:
        raise RefusedDecisionError(_("the key of a request has 8 to 64 letters"))
    if demand.verdict is Verdict.REDO:
        raise RefusedDecisionError(_("what was taken back is done again by taking that back: say `undo`"))
    check_reading(demand.reading)
    check_note(demand.note)
    check_authority(demand.authority)
    if demand.verdict is Verdict.COPY and demand.reading:
        raise RefusedDecisionError(
            _("`copy` says that the copy reads as the text does: to keep the text where it does not say `retain`")
        )
    if demand.verdict is Verdict.OTHER and not demand.reading:
        raise RefusedDecisionError(_("say which alternative is taken"))
    if demand.verdict is Verdict.TYPED and not demand.reading:
        raise RefusedDecisionError(_("an empty reading deletes nothing: to delete what stands there say `delete`"))
    if demand.verdict is Verdict.DELETE and demand.reading:
        raise RefusedDecisionError(_("what is deleted leaves no reading: say `typed` to put another in its place"))


def decide_in(session: Session, demand: DecisionRequest) -> Decision:
    """Write a decision down within a transaction; raises as `Decisions.decide`."""
    flag = session.scalar(select(FlagRow).where(FlagRow.id == demand.flag).with_for_update())
    work = session.get(WorkRow, flag.work_id) if flag else None
    if flag is None or work is None or work.name != demand.work:
        raise MissingFlagError(_("%(work)s: there is no flag %(flag)s"), work=demand.work, flag=demand.flag)
    if LOOKER.get().blind:
        return _read_in(session, demand, flag)
    there = session.scalar(select(DecisionRow).where(DecisionRow.key == demand.key))
    if there is not None:
        _again(there, demand, there.version)
        return replace(shown_decisions(session, [there])[0], repeated=True)
    if flag.version != demand.version:
        same = _decided_with_other_half(session, flag, demand)
        if same is not None:
            return replace(same, repeated=True)
        raise conflict_of(session, flag, demand.version)
    _must_be_as_seen(demand, flag)
    check_typed(demand, flag)
    state, reading = _after(session, demand, flag)
    undone = _undone(session, demand, flag) if demand.verdict is Verdict.UNDO else None
    along = _of_other_half(session, demand, flag, undone)
    if along is not None:  # both are one stroke, and taken back as one
        demand = replace(demand, batch=along.batch)
    made = _write(session, demand, flag, state, reading, undone)
    if along is not None:
        decide_in(session, along)
    return made


def _read_in(session: Session, demand: DecisionRequest, flag: FlagRow) -> Decision:
    """Write down what is decided blind; raises as `Decisions.decide`."""
    own = readings_of(session, flag.id, demand.person)
    there = next((number for number, row in enumerate(own, 1) if row.key == demand.key), 0)
    if there:
        _again(own[there - 1], demand, there)
        return replace(shown_readings(session, own)[there - 1], repeated=True)
    if flag.state != State.OPEN.value:
        raise NotYoursError(_("flag %(flag)s is settled: it was decided between the two readers"), flag=flag.id)
    if len(own) != demand.version:
        raise ConflictError(flag.id, len(own), shown_readings(session, own)[demand.version :])
    seen = as_read(flag, own)
    _must_be_as_seen(demand, seen)
    check_typed(demand, seen)
    undone = _undone_reading(own, demand) if demand.verdict is Verdict.UNDO else None
    other = _half_of(session, flag) if demand.verdict in _OF_BOTH and not demand.key.startswith(_MOVED) else None
    also = readings_of(session, other.id, demand.person) if other is not None else []
    if other is not None and not also:  # one stroke for both halves of a moved character
        key = _key_of_other(demand.key)
        demand = replace(demand, batch=demand.batch or key)
        reading = other.suggested if demand.verdict is Verdict.RETAIN else ""
        _read_in(session, replace(demand, flag=other.id, version=0, key=key, reading=reading, suggested=None), other)
    state, reading = (State(undone.was_state), undone.was) if undone else _left_by(demand, seen)
    return _write_reading(session, demand, seen, state, reading, undone)


def _undone_reading(own: Sequence[ReadingRow], demand: DecisionRequest) -> ReadingRow:
    number = len(own) if demand.undoes_version is None else demand.undoes_version
    if not 0 < number <= len(own) or (own[number - 1].state, own[number - 1].reading) != (
        own[-1].state,
        own[-1].reading,
    ):
        raise RefusedDecisionError(_("flag %(flag)s: only its last decision can be taken back"), flag=demand.flag)
    return own[number - 1]


def take_reading_back(
    session: Session, flag: FlagRow, taken: ReadingRow, person: str, key: str, batch: str = ""
) -> Decision:
    """Take back, within a transaction, a reading that stands: all is as it was before it."""
    seen = as_read(flag, readings_of(session, flag.id, person))
    demand = DecisionRequest("", flag.id, Verdict.UNDO, seen.version, person, key, batch=batch)
    return _write_reading(session, demand, seen, State(taken.was_state), taken.was, taken)


def _write_reading(
    session: Session, demand: DecisionRequest, seen: FlagRow, state: State, reading: str, undone: ReadingRow | None
) -> Decision:
    row = ReadingRow(**values_of(session, demand, seen, state, reading))
    if undone is not None:
        row.about = undone.id
        row.verdict = (Verdict.REDO if undone.verdict == Verdict.UNDO.value else Verdict.UNDO).value
    session.add(row)
    session.flush()
    return replace(shown_decisions(session, [row])[0], version=seen.version + 1)


def _must_be_as_seen(demand: DecisionRequest, flag: FlagRow) -> None:
    """Raises ConflictError where something else is suggested by now."""
    if demand.verdict is Verdict.TAKE and demand.suggested not in (None, flag.suggested):
        raise ConflictError(flag.id, flag.version, [])


def check_typed(demand: DecisionRequest, flag: FlagRow) -> None:
    """Raises RefusedDecisionError where the reading of a request would break the text at a flag, and
    UnconfirmedReadingError where it looks like a slip."""
    if demand.verdict not in (Verdict.OTHER, Verdict.TYPED, Verdict.RETAIN):
        return
    check_markup(demand.reading, flag.transcribed or (flag.suggested if flag.kind == Kind.LAYOUT.value else ""))
    if not demand.confirmed:
        seen = frozenset() if flag.origin == Origin.PERSON.value else seen_at(flag)
        check_meant(demand.reading, seen | {flag.transcribed})


def take_back_in(
    session: Session, flag: FlagRow, taken: DecisionRow, person: str, key: str, batch: str = ""
) -> Decision:
    """Take back, within a transaction, an event that stands on `flag`: all is as it was before it."""
    demand = DecisionRequest("", flag.id, Verdict.UNDO, flag.version, person, key, batch=batch)
    return _write(session, demand, flag, State(taken.was_state), taken.was, taken)


def _write(
    session: Session, demand: DecisionRequest, flag: FlagRow, state: State, reading: str, undone: DecisionRow | None
) -> Decision:
    row = DecisionRow(version=flag.version + 1, **values_of(session, demand, flag, state, reading))
    if undone is not None:
        row.about = undone.id
        row.verdict = (Verdict.REDO if undone.verdict == Verdict.UNDO.value else Verdict.UNDO).value
        stands = restored(session, row)
        if stands is not None:
            row.note = row.note or stands.note
            row.authority, row.copy_reads = stands.authority, stands.copy_reads
    session.add(row)
    flag.state, flag.reading, flag.version = state.value, reading, flag.version + 1
    session.flush()
    no_longer_ask(session, [flag])
    return shown_decisions(session, [row])[0]


def conflict_of(session: Session, flag: FlagRow, version: int) -> ConflictError:
    """What was decided about a flag since `version`, as a refusal."""
    since = select(DecisionRow).where(DecisionRow.flag_id == flag.id, DecisionRow.version > version)
    rows = list(session.scalars(since.order_by(DecisionRow.version)))
    return ConflictError(flag.id, flag.version, shown_decisions(session, rows))


_MOVED = "moved-"
"""With what the key of a decision begins that was made by deciding the other half of a moved character."""
_OF_BOTH = frozenset({Verdict.KEEP, Verdict.TAKE, Verdict.COPY, Verdict.RETAIN, Verdict.UNSURE, Verdict.SKIP})
"""What is said of both halves of a moved character at once; a reading that was typed is of its own place alone."""


def _of_other_half(
    session: Session, demand: DecisionRequest, flag: FlagRow, undone: DecisionRow | None
) -> DecisionRequest | None:
    """What is said of the other half of a moved character along with this one: what is said of one half is said of
    the other, and taken back with it, unless somebody said something of that one, or of some of its characters, by
    itself."""
    other = None if demand.key.startswith(_MOVED) else _half_of(session, flag)
    if other is None:
        return None
    key = _key_of_other(demand.key)
    demand = replace(demand, batch=demand.batch or key, reading="", suggested=None)
    if demand.verdict is Verdict.RETAIN:
        demand = replace(demand, reading=other.suggested)
    both = replace(demand, flag=other.id, version=other.version, key=key)
    if demand.verdict is not Verdict.UNDO:
        last = last_event(session, flag)
        alone = other.state != State.OPEN.value and (last is None or _twin(session, last, other) is None)
        alone = alone or _is_corrected_in_part(session, other)
        return None if alone or demand.verdict not in _OF_BOTH else both
    twin = _twin(session, undone, other) if undone else None
    return replace(both, undoes=None, undoes_version=twin.version) if twin else None


def _half_of(session: Session, flag: FlagRow) -> FlagRow | None:
    """The other half of a moved character, held."""
    uid = flag.evidence.get("moved", "")
    query = select(FlagRow).where(FlagRow.page_id == flag.page_id, FlagRow.uid == uid, FlagRow.stale.is_(False))
    return session.scalar(query.with_for_update()) if uid else None


def _is_corrected_in_part(session: Session, flag: FlagRow) -> bool:
    """Whether some of the characters at the place of a flag are corrected by another decision."""
    if flag.start is None or not flag.extent:
        return False
    there = select(FlagRow.id).where(FlagRow.text_id == flag.text_id, FlagRow.version_id == flag.version_id)
    meets = (FlagRow.start < flag.start + flag.extent, FlagRow.start + FlagRow.extent > flag.start)
    others = there.where(*meets, FlagRow.id != flag.id, ~IS_SEEDED, FlagRow.state == State.CORRECTED.value)
    return session.scalar(others.limit(1)) is not None


def _twin(session: Session, event: DecisionRow, other: FlagRow) -> DecisionRow | None:
    """What was said of the other half of a moved character by the stroke of `event`, where that half stands so."""
    if not event.batch:
        return None
    query = select(DecisionRow).where(DecisionRow.flag_id == other.id, DecisionRow.batch == event.batch)
    query = query.where(DecisionRow.verdict == event.verdict).order_by(DecisionRow.version.desc())
    twin = session.scalars(query.limit(1)).first()
    return twin if twin is not None and (twin.state, twin.reading) == (other.state, other.reading) else None


def _decided_with_other_half(session: Session, flag: FlagRow, demand: DecisionRequest) -> Decision | None:
    """The decision about this half of a moved character that was made with the other one, where it is the same and
    nothing was said of this half since."""
    since = select(DecisionRow).where(DecisionRow.flag_id == flag.id, DecisionRow.version > demand.version)
    rows = list(session.scalars(since.order_by(DecisionRow.version)))
    if [(decision.key[: len(_MOVED)], decision.person, decision.verdict) for decision in rows] != [
        (_MOVED, demand.person, demand.verdict.value)
    ]:
        return None
    return shown_decisions(session, rows)[0]


def _key_of_other(key: str) -> str:
    return _MOVED + hashlib.blake2b(key.encode(), digest_size=20).hexdigest()


def _again(there: DecisionRow | ReadingRow, demand: DecisionRequest, version: int) -> None:
    """Raises RefusedDecisionError where the key was used for something else than what made that version."""
    verdict = Verdict.UNDO.value if there.verdict in TAKING_BACK else there.verdict
    note = (
        there.note if demand.verdict is Verdict.UNDO and not demand.note else demand.note
    )  # that of what stands again
    asked = (demand.flag, demand.verdict.value, demand.version + 1, demand.person, note)
    same = (there.flag_id, verdict, version, there.person, there.note) == asked
    if not same or (demand.verdict in (Verdict.OTHER, Verdict.TYPED) and there.reading != demand.reading):
        raise key_of_another()


def _after(session: Session, demand: DecisionRequest, flag: FlagRow) -> tuple[State, str]:
    """Where the flag stands after the decision, and what is then to be read there."""
    if demand.verdict is Verdict.UNDO:
        last = _undone(session, demand, flag)
        if (
            last is None
            or (demand.undoes is not None and demand.undoes != last.id)
            or (last.state, last.reading) != (flag.state, flag.reading)
        ):
            raise RefusedDecisionError(_("flag %(flag)s: only its last decision can be taken back"), flag=flag.id)
        if not demand.overrules and last.person != demand.person:
            raise NotYoursError(
                _("flag %(flag)s: %(person)s decided it; they or an administrator take it back"),
                flag=flag.id,
                person=last.person,
            )
        return State(last.was_state), last.was
    return _left_by(demand, flag)


def _left_by(demand: DecisionRequest, flag: FlagRow) -> tuple[State, str]:
    """Where a flag stands after a decision that takes nothing back, and what is then to be read there."""
    readings = {
        Verdict.TAKE: flag.suggested,
        Verdict.OTHER: demand.reading,
        Verdict.TYPED: demand.reading,
        Verdict.DELETE: "",
    }
    reading = readings.get(demand.verdict, flag.transcribed)
    if demand.verdict is Verdict.RETAIN and demand.reading == flag.transcribed:
        raise RefusedDecisionError(_("the text reads so itself: where the copy reads as the text does, say `copy`"))
    if demand.verdict is Verdict.DELETE and not flag.transcribed:
        raise RefusedDecisionError(_("flag %(flag)s: nothing stands there that could be deleted"), flag=flag.id)
    if (
        demand.verdict is Verdict.TAKE
        and flag.transcribed
        and not reading
        and not _says_too_much(flag.kind, flag.reason)
    ):
        raise RefusedDecisionError(
            _("flag %(flag)s: no reading is suggested there; to delete what stands say `delete`"), flag=flag.id
        )
    state = STATE_OF[demand.verdict]
    if state is State.CORRECTED and reading == flag.transcribed:
        state = State.KEPT
    return state, reading


def may_take(flag: Flag) -> bool:
    """Whether a flag has something to take: another reading, or that nothing is to stand there."""
    if not flag.suggested:
        return bool(flag.transcribed) and _says_too_much(flag.kind.value, flag.evidence.reason)
    return flag.suggested != flag.transcribed


def _says_too_much(kind: str, reason: str) -> bool:
    """Whether the finding itself says that something stands there that should not."""
    return kind == Kind.INSERTION.value or reason in SURPLUS_COLUMN


def _undone(session: Session, demand: DecisionRequest, flag: FlagRow) -> DecisionRow | None:
    """The decision that an undo takes back."""
    version = flag.version if demand.undoes_version is None else demand.undoes_version
    wanted = DecisionRow.flag_id == flag.id, DecisionRow.version == version
    return session.scalar(select(DecisionRow).where(*wanted))


def _last_decisions(work: str) -> Any:
    return (
        select(DecisionRow)
        .join(FlagRow, (FlagRow.id == DecisionRow.flag_id) & (FlagRow.version == DecisionRow.version))
        .join(WorkRow, DecisionRow.work_id == WorkRow.id)
        .where(WorkRow.name == work, DecisionRow.state != State.OPEN.value)
    )
