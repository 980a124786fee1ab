"""People's decisions about flags: events that are added and never changed or removed.

A flag has a `state`, the decided `reading`, and a `version`, the number of its events. A request names the version that
the person saw; if others decided since, it is refused with their decisions and nothing is written. A request repeated
under its key returns the first decision again.
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
from proof.store.authorities import CARRIED, seen_at
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
"""Decisions read in one query."""

SURPLUS_COLUMN = frozenset({"column doubled", "column moved", "column not on the page", DELETED, JOINED})
"""Reasons of findings that a column, or the end of a column, should not stand where it does."""


class Decisions(StorePart):
    """The decisions of a store, as `Store.decisions`."""

    def decide(self, demand: DecisionRequest) -> Decision:
        """Store a decision durably.

        Raises ConflictError, MissingFlagError, NotYoursError or RefusedDecisionError, and then writes nothing.
        """
        check_demand(demand)
        try:
            with self._writing() as session:
                must_be_own(session, [demand.key], FlagAct)
                return decide_in(session, demand)
        except IntegrityError:  # another request stored the same key at the same moment
            with self._writing() as session:
                return decide_in(session, demand)

    def decide_all(self, demands: Sequence[DecisionRequest]) -> list[Decision | ConflictError]:
        """Store several decisions in one transaction; gives a decision or a conflict for each request, in their order.

        Raises MissingFlagError, NotYoursError or RefusedDecisionError, and then writes nothing.
        """
        for demand in demands:
            check_demand(demand)
        outcomes: list[Decision | ConflictError] = []
        with self._writing() as session:
            must_be_own(session, [demand.key for demand in demands], FlagAct)
            for demand in sorted(
                demands, key=lambda demand: demand.flag
            ):  # one order of locks for all, against deadlocks
                try:
                    outcomes.append(decide_in(session, demand))
                except ConflictError as conflict:
                    outcomes.append(conflict)
        position = {flag: n for n, flag in enumerate(demand.flag for demand in demands)}
        return sorted(outcomes, key=lambda outcome: position[outcome.flag])

    def check(self, work: str, flag: int, reading: str) -> None:
        """Raise RefusedDecisionError if `reading` cannot be typed at a flag, UnconfirmedReadingError if it is probably
        a typing error, MissingFlagError if the work has no such flag."""
        with self._reading() as session:
            row = session.get(FlagRow, flag)
            owner = session.get(WorkRow, row.work_id) if row is not None else None
            if row is None or owner is None or owner.name != work:
                raise MissingFlagError(_("%(work)s: there is no flag %(flag)s"), work=work, flag=flag)
            check_reading(reading)
            check_typed(DecisionRequest(work, flag, Verdict.TYPED, row.version, "", "", reading), row)

    def history(self, flag: int) -> list[Decision]:
        """All decisions about a flag, oldest first, and after them the own readings of a blind reader who asks."""
        with self._reading() as session:
            rows = session.scalars(select(DecisionRow).where(DecisionRow.flag_id == flag).order_by(DecisionRow.version))
            return [*shown_decisions(session, list(rows)), *own_readings(session, flag)]

    def log(self, work: str, *, before: int | None = None, limit: int = 50) -> list[Decision]:
        """At most `limit` decisions of a work, newest first; with `before` only those older than that decision."""
        query = select(DecisionRow).join(WorkRow, DecisionRow.work_id == WorkRow.id).where(WorkRow.name == work)
        if before is not None:
            query = query.where(DecisionRow.id < before)
        with self._reading() as session:
            rows = session.scalars(query.order_by(DecisionRow.id.desc()).limit(limit))
            return shown_decisions(session, list(rows))

    def standing(self, work: str) -> Iterator[Decision]:
        """The last decision about each flag of a work, oldest first; without flags that are open again, and without
        seeded errors."""
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
        """The last decision about each flag of a work, including flags that are open again, without seeded errors."""
        of_flag = (FlagRow.id == DecisionRow.flag_id) & (FlagRow.version == DecisionRow.version)
        query = select(DecisionRow).join(FlagRow, of_flag).join(WorkRow, DecisionRow.work_id == WorkRow.id)
        with self._reading() as session:
            rows = session.scalars(query.where(WorkRow.name == work, ~IS_SEEDED).order_by(DecisionRow.id))
            return [decision_of(row) for row in rows]

    def makers(self, decisions: Iterable[Decision]) -> dict[int, str]:
        """The person whose decision holds after each of `decisions`, by its number: after an undo the maker of the
        restored decision."""
        with self._reading() as session:
            return {
                decision.id: decision.person
                if decision.about is None
                else maker_of(session, session.get_one(DecisionRow, decision.id))
                for decision in decisions
            }

    def displaced(self, work: str) -> list[DisplacedDecision]:
        """The last decisions about flags whose places are lost."""
        query = _last_decisions(work).where(is_displaced(), ~IS_SEEDED).order_by(DecisionRow.id)
        with self._reading() as session:
            return [DisplacedDecision(shown) for shown in shown_decisions(session, list(session.scalars(query)))]

    def people(self, work: str, *, seeded: bool = False) -> dict[str, dict[Verdict, int]]:
        """The number of decisions by person and verdict, without those taken back; with `seeded` including decisions
        about seeded errors."""
        with self._reading() as session:
            return by_person(session, work, seeded=seeded)

    def days(self, work: str) -> dict[str, int]:
        """The number of decisions by day (UTC, as `2026-01-31`) in order of time, without those taken back."""
        with self._reading() as session:
            return by_day(session, work)

    def answers(self, work: str) -> list[list[SeededAnswer]]:
        """For each answered seeded error the last answer of each person, in the order of the answers."""
        with self._reading() as session:
            return list(answers(session, work).values())

    def last(self) -> int:
        """The number of the newest decision in the store, 0 if there is none."""
        with self._reading() as session:
            return session.scalar(select(func.max(DecisionRow.id))) or 0


def check_demand(demand: DecisionRequest) -> None:
    """Raise RefusedDecisionError for a request that is invalid regardless of the content of the store."""
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
    """Store a decision within a transaction; raises as `Decisions.decide`."""
    flag = session.scalar(select(FlagRow).where(FlagRow.id == demand.flag).with_for_update())
    work = session.get(WorkRow, flag.work_id) if flag else None
    if flag is None or work is None or work.name != demand.work:
        raise MissingFlagError(_("%(work)s: there is no flag %(flag)s"), work=demand.work, flag=demand.flag)
    if LOOKER.get().blind:
        return _read_in(session, demand, flag)
    stored = session.scalar(select(DecisionRow).where(DecisionRow.key == demand.key))
    if stored is not None:
        _must_be_same_request(stored, demand, stored.version)
        return replace(shown_decisions(session, [stored])[0], repeated=True)
    if flag.version != demand.version:
        made_with_other_half = _decided_with_other_half(session, flag, demand)
        if made_with_other_half is not None:
            return replace(made_with_other_half, repeated=True)
        raise conflict_of(session, flag, demand.version)
    _must_be_as_seen(demand, flag)
    check_typed(demand, flag)
    state, reading = _outcome(session, demand, flag)
    undone = _undone(session, demand, flag) if demand.verdict is Verdict.UNDO else None
    other_demand = _for_other_half(session, demand, flag, undone)
    if other_demand is not None:  # one batch for both halves, so that they are taken back together
        demand = replace(demand, batch=other_demand.batch)
    made = _write(session, demand, flag, state, reading, undone)
    if other_demand is not None:
        decide_in(session, other_demand)
    return made


def _read_in(session: Session, demand: DecisionRequest, flag: FlagRow) -> Decision:
    """Store a blind reader's decision as a reading; raises as `Decisions.decide`."""
    own = readings_of(session, flag.id, demand.person)
    stored_as = next((number for number, row in enumerate(own, 1) if row.key == demand.key), 0)
    if stored_as:
        _must_be_same_request(own[stored_as - 1], demand, stored_as)
        return replace(shown_readings(session, own)[stored_as - 1], repeated=True)
    if flag.state != State.OPEN.value:
        raise NotYoursError(_("flag %(flag)s is settled: it was decided between the two readers"), flag=flag.id)
    if len(own) != demand.version:
        raise ConflictError(flag.id, len(own), shown_readings(session, own)[demand.version :])
    seen = as_read(flag, own)
    _must_be_as_seen(demand, seen)
    check_typed(demand, seen)
    undone = _undone_reading(own, demand) if demand.verdict is Verdict.UNDO else None
    both = demand.verdict in _FOR_BOTH_HALVES and not demand.key.startswith(_OTHER_HALF_KEY)
    other = _other_half_of(session, flag) if both else None
    readings_of_other = readings_of(session, other.id, demand.person) if other is not None else []
    if other is not None and not readings_of_other:  # one batch for both halves of a moved character
        key = _key_of_other(demand.key)
        demand = replace(demand, batch=demand.batch or key)
        reading = other.suggested if demand.verdict is Verdict.RETAIN else ""
        _read_in(session, replace(demand, flag=other.id, version=0, key=key, reading=reading, suggested=None), other)
    state, reading = (State(undone.was_state), undone.was) if undone else _outcome_of_verdict(demand, seen)
    return _write_reading(session, demand, seen, state, reading, undone)


def _undone_reading(own: Sequence[ReadingRow], demand: DecisionRequest) -> ReadingRow:
    """The reading that the undo `demand` takes back. Raises RefusedDecisionError if another one holds."""
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
    """Take back the valid reading `taken` of a blind reader within a transaction; the reading before it holds again."""
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
    """Raise ConflictError if the suggestion changed since the person saw it."""
    if demand.verdict is Verdict.TAKE and demand.suggested not in (None, flag.suggested):
        raise ConflictError(flag.id, flag.version, [])


def check_typed(demand: DecisionRequest, flag: FlagRow) -> None:
    """Raise RefusedDecisionError if the reading of a request would break the markup at a flag, and
    UnconfirmedReadingError if it looks like a slip and is not confirmed."""
    if demand.verdict not in (Verdict.OTHER, Verdict.TYPED, Verdict.RETAIN):
        return
    check_markup(demand.reading, flag.transcribed or (flag.suggested if flag.kind == Kind.LAYOUT.value else ""))
    if not demand.confirmed:
        seen = frozenset() if flag.origin == Origin.PERSON.value else seen_at(flag)
        check_meant(demand.reading, seen | {flag.transcribed})


def take_back_in(
    session: Session, flag: FlagRow, taken: DecisionRow, person: str, key: str, batch: str = ""
) -> Decision:
    """Take back the valid decision `taken` about `flag` within a transaction; the decision before it holds again."""
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
            row.evidence = row.evidence | {name: stands.evidence[name] for name in {CARRIED} & stands.evidence.keys()}
    session.add(row)
    flag.state, flag.reading, flag.version = state.value, reading, flag.version + 1
    session.flush()
    no_longer_ask(session, [flag])
    return shown_decisions(session, [row])[0]


def conflict_of(session: Session, flag: FlagRow, version: int) -> ConflictError:
    """The error that carries the decisions about a flag since `version`."""
    since = select(DecisionRow).where(DecisionRow.flag_id == flag.id, DecisionRow.version > version)
    rows = list(session.scalars(since.order_by(DecisionRow.version)))
    return ConflictError(flag.id, flag.version, shown_decisions(session, rows))


_OTHER_HALF_KEY = "moved-"
"""Prefix of the key of a decision that follows from deciding the other half of a moved character."""
_FOR_BOTH_HALVES = frozenset({Verdict.KEEP, Verdict.TAKE, Verdict.COPY, Verdict.RETAIN, Verdict.UNSURE, Verdict.SKIP})
"""Verdicts that apply to both halves of a moved character; a typed reading applies to its own place only."""


def _for_other_half(
    session: Session, demand: DecisionRequest, flag: FlagRow, undone: DecisionRow | None
) -> DecisionRequest | None:
    """The request that applies `demand` to the other half of a moved character as well.

    None if the flag is no such half, if the verdict applies to one half only, or if the other half, or some of its
    characters, have a decision of their own.
    """
    other = None if demand.key.startswith(_OTHER_HALF_KEY) else _other_half_of(session, flag)
    if other is None:
        return None
    key = _key_of_other(demand.key)
    demand = replace(demand, batch=demand.batch or key, reading="", suggested=None)
    if demand.verdict is Verdict.RETAIN:
        demand = replace(demand, reading=other.suggested)
    for_other = replace(demand, flag=other.id, version=other.version, key=key)
    if demand.verdict is not Verdict.UNDO:
        last = last_event(session, flag)
        decided_apart = other.state != State.OPEN.value and (last is None or _twin(session, last, other) is None)
        decided_apart = decided_apart or _is_corrected_in_part(session, other)
        return None if decided_apart or demand.verdict not in _FOR_BOTH_HALVES else for_other
    twin = _twin(session, undone, other) if undone else None
    return replace(for_other, undoes=None, undoes_version=twin.version) if twin else None


def _other_half_of(session: Session, flag: FlagRow) -> FlagRow | None:
    """The flag of the other half of a moved character, locked for the transaction; None if `flag` is no such half."""
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
    """The decision about the other half of a moved character made with `event`, if that half still has its outcome."""
    if not event.batch:
        return None
    query = select(DecisionRow).where(DecisionRow.flag_id == other.id, DecisionRow.batch == event.batch)
    query = query.where(DecisionRow.verdict == event.verdict).order_by(DecisionRow.version.desc())
    twin = session.scalars(query.limit(1)).first()
    return twin if twin is not None and (twin.state, twin.reading) == (other.state, other.reading) else None


def _decided_with_other_half(session: Session, flag: FlagRow, demand: DecisionRequest) -> Decision | None:
    """The decision about this half of a moved character that was made with the other half, if it is the only one since
    `demand.version` and has the person and verdict of `demand`."""
    since = select(DecisionRow).where(DecisionRow.flag_id == flag.id, DecisionRow.version > demand.version)
    rows = list(session.scalars(since.order_by(DecisionRow.version)))
    if [(decision.key[: len(_OTHER_HALF_KEY)], decision.person, decision.verdict) for decision in rows] != [
        (_OTHER_HALF_KEY, demand.person, demand.verdict.value)
    ]:
        return None
    return shown_decisions(session, rows)[0]


def _key_of_other(key: str) -> str:
    return _OTHER_HALF_KEY + hashlib.blake2b(key.encode(), digest_size=20).hexdigest()


def _must_be_same_request(stored: DecisionRow | ReadingRow, demand: DecisionRequest, version: int) -> None:
    """Raise RefusedDecisionError if the key belongs to another request than the one that made `version`."""
    verdict = Verdict.UNDO.value if stored.verdict in TAKING_BACK else stored.verdict
    # an undo without a note takes over the note of the restored decision
    note = stored.note if demand.verdict is Verdict.UNDO and not demand.note else demand.note
    asked = (demand.flag, demand.verdict.value, demand.version + 1, demand.person, note)
    same_request = (stored.flag_id, verdict, version, stored.person, stored.note) == asked
    if not same_request or (demand.verdict in (Verdict.OTHER, Verdict.TYPED) and stored.reading != demand.reading):
        raise key_of_another()


def _outcome(session: Session, demand: DecisionRequest, flag: FlagRow) -> tuple[State, str]:
    """The state and reading of the flag after the requested decision. Raises RefusedDecisionError, NotYoursError."""
    if demand.verdict is Verdict.UNDO:
        undone = _undone(session, demand, flag)
        if (
            undone is None
            or (demand.undoes is not None and demand.undoes != undone.id)
            or (undone.state, undone.reading) != (flag.state, flag.reading)
        ):
            raise RefusedDecisionError(_("flag %(flag)s: only its last decision can be taken back"), flag=flag.id)
        if not demand.overrules and undone.person != demand.person:
            raise NotYoursError(
                _("flag %(flag)s: %(person)s decided it; they or an administrator take it back"),
                flag=flag.id,
                person=undone.person,
            )
        return State(undone.was_state), undone.was
    return _outcome_of_verdict(demand, flag)


def _outcome_of_verdict(demand: DecisionRequest, flag: FlagRow) -> tuple[State, str]:
    """The state and reading of a flag after a decision that is no undo. Raises RefusedDecisionError."""
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
    if demand.verdict is Verdict.TAKE and flag.transcribed and not reading and not _is_surplus(flag.kind, flag.reason):
        raise RefusedDecisionError(
            _("flag %(flag)s: no reading is suggested there; to delete what stands say `delete`"), flag=flag.id
        )
    state = STATE_OF[demand.verdict]
    if state is State.CORRECTED and reading == flag.transcribed:
        state = State.KEPT
    return state, reading


def may_take(flag: Flag) -> bool:
    """Whether a flag has a suggestion that can be accepted: another reading, or a deletion."""
    if not flag.suggested:
        return bool(flag.transcribed) and _is_surplus(flag.kind.value, flag.evidence.reason)
    return flag.suggested != flag.transcribed


def _is_surplus(kind: str, reason: str) -> bool:
    """Whether a finding of this kind and reason says that the transcribed text is surplus."""
    return kind == Kind.INSERTION.value or reason in SURPLUS_COLUMN


def _undone(session: Session, demand: DecisionRequest, flag: FlagRow) -> DecisionRow | None:
    """The decision that the undo `demand` takes back; None if there is no such decision."""
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
