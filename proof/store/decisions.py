"""People's decisions on flags: events that are added and never changed or deleted.

A flag has a `state`, the decided `reading`, and a `version`, the number of its events. A request names the version that
the person saw. If others decided since, it is refused with their decisions and nothing is written. A request sent again
with the same key returns the first decision.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from proof.locale.marking import _
from proof.model.flags import Flag, Kind
from proof.store.authorities import CARRIED, seen_at
from proof.store.column_changes import DELETED, JOINED
from proof.store.decision_chains import REQUESTER, Chain, FlagDecision, chain_of, decision_of, new_row, shown_decisions
from proof.store.decision_records import (
    SETTLED,
    STATE_OF,
    TAKING_BACK,
    ConflictError,
    Decision,
    DecisionRequest,
    MissingFlagError,
    NotYoursError,
    RefusedDecisionError,
    State,
    Verdict,
)
from proof.store.events import changes_since, check_key, key_of_another, standing
from proof.store.flag_matching import mark_answered_stale
from proof.store.lookup import StorePart, work_id_subquery
from proof.store.models import ActRow, DecisionRow, FlagRow, ReadingRow, WorkRow
from proof.store.seeded_errors import IS_SEEDED, SeededAnswer, answers
from proof.store.texts import check_place, effects_in, is_displaced, share_place
from proof.store.typed_text import (
    LONGEST_COLUMN,
    LONGEST_READING,
    check_authority,
    check_column_markup,
    check_markup,
    check_meant,
    check_note,
    check_reading,
)

SURPLUS_COLUMN = frozenset({"column doubled", "column moved", "column not on the page", DELETED, JOINED})
"""Reasons of findings that a column, or the end of a column, is surplus where it stands."""


class Decisions(StorePart):
    """The decisions in a store, as `Store.decisions`."""

    def decide(self, request: DecisionRequest) -> Decision:
        """Store a decision durably.

        Raises ConflictError, MissingFlagError, NotYoursError or RefusedDecisionError, and then writes nothing.
        """
        check_request(request)
        try:
            with self._writing() as session:
                return decide_in(session, request)
        except IntegrityError:  # another request stored the same key at the same moment
            with self._writing() as session:
                return decide_in(session, request)

    def decide_all(self, requests: Sequence[DecisionRequest]) -> list[Decision | ConflictError]:
        """Store several decisions in one transaction; returns a decision or a conflict for each of them.

        Raises MissingFlagError, NotYoursError or RefusedDecisionError, and then writes nothing.
        """
        for request in requests:
            check_request(request)
        outcomes: dict[int, Decision | ConflictError] = {}
        with self._writing() as session:
            # always lock in this order: no deadlocks
            for number in sorted(range(len(requests)), key=lambda number: requests[number].flag):
                try:
                    outcomes[number] = decide_in(session, requests[number])
                except ConflictError as conflict:
                    outcomes[number] = conflict
        return [outcomes[number] for number in range(len(requests))]

    def check(self, work: str, flag: int, reading: str) -> None:
        """Raise RefusedDecisionError if `reading` cannot be typed at a flag, UnconfirmedReadingError if it is probably
        a typing error, MissingFlagError if the work has no such flag."""
        with self._reading() as session:
            row = session.get(FlagRow, flag)
            owner = session.get(WorkRow, row.work_id) if row is not None else None
            if row is None or owner is None or owner.name != work:
                raise MissingFlagError(_("%(work)s: there is no flag %(flag)s"), work=work, flag=flag)
            check_typed(DecisionRequest(work, flag, Verdict.TYPED, row.version, "", "", reading), row)

    def history(self, flag: int) -> list[Decision]:
        """All decisions on a flag, oldest first; for a blind reader, followed by their own readings."""
        with self._reading() as session:
            row, reader = session.get_one(FlagRow, flag), REQUESTER.get().reader
            decisions = chain_of(session, row).shown(session)
            if reader is not None:
                decisions += chain_of(session, row, reader).shown(session)
            return decisions

    def displaced(self, work: str) -> list[Decision]:
        """The last decisions on flags whose places were lost in a change of the text, except those of deleted lines
        and those that a later decision replaced. They are not exported until they are made again, or a change of the
        text brings their places back."""
        query = select(DecisionRow, FlagRow.text_id).join(FlagRow, FlagRow.id == DecisionRow.flag_id)
        query = query.where(DecisionRow.work_id == work_id_subquery(work), DecisionRow.version == FlagRow.version)
        query = query.where(is_displaced(), FlagRow.state != State.OPEN.value, ~IS_SEEDED).order_by(DecisionRow.id)
        with self._reading() as session:
            rows = session.execute(query).all()
            settled = set[int]()
            for text in {text for _, text in rows if text is not None}:
                effects = effects_in(session, text)
                settled |= effects.replaced | effects.deleted
            return shown_decisions(session, [row for row, _ in rows if row.flag_id not in settled])

    def answers(self, work: str) -> list[list[SeededAnswer]]:
        """The last answer of each person on each answered seeded error, as one list for each error."""
        with self._reading() as session:
            return answers(session, work)


def check_request(request: DecisionRequest) -> None:
    """Raise RefusedDecisionError for a request that is invalid regardless of the content of the store."""
    check_key(request.key)
    if request.verdict is Verdict.REDO:
        raise RefusedDecisionError(_("what was taken back is done again by taking that back: say `undo`"))
    check_reading(request.reading, LONGEST_COLUMN)
    check_note(request.note)
    check_authority(request.authority)
    if request.verdict is Verdict.COPY and request.reading:
        raise RefusedDecisionError(
            _("`copy` says that the copy reads as the text does: to keep the text where it does not say `retain`")
        )
    if request.verdict is Verdict.OTHER and not request.reading:
        raise RefusedDecisionError(_("say which alternative is taken"))
    if request.verdict is Verdict.TYPED and not request.reading:
        raise RefusedDecisionError(_("an empty reading deletes nothing: to delete what stands there say `delete`"))
    if request.verdict is Verdict.DELETE and request.reading:
        raise RefusedDecisionError(_("what is deleted leaves no reading: say `typed` to put another in its place"))


def decide_in(session: Session, request: DecisionRequest) -> Decision:
    """Store a decision within a transaction, as a blind reading if its person reads blind; raises as
    `Decisions.decide`."""
    flag = session.scalar(select(FlagRow).where(FlagRow.id == request.flag).with_for_update())
    work = session.get(WorkRow, flag.work_id) if flag else None
    if flag is None or work is None or work.name != request.work:
        raise MissingFlagError(_("%(work)s: there is no flag %(flag)s"), work=request.work, flag=request.flag)
    chain = chain_of(session, flag, REQUESTER.get().reader)
    stored = session.scalar(select(ActRow).where(ActRow.key == request.key))
    if stored is not None:
        return replace(_stored_by(session, chain, stored, request), repeated=True)
    if chain.is_settled_for_reader:
        raise NotYoursError(_("flag %(flag)s is settled: it was decided between the two readers"), flag=flag.id)
    if chain.version != request.version:
        decided = _decided_with_other_half(session, chain, request)
        if decided is not None:
            return replace(decided, repeated=True)
        raise chain.conflict(session, request.version)
    if request.verdict is Verdict.TAKE and request.suggested not in (None, flag.suggested):
        raise ConflictError(flag.id, chain.version, [])  # the suggestion changed since the person saw it
    check_typed(request, flag)
    undone = _undone(chain, request) if request.verdict is Verdict.UNDO else None
    state, reading = (State(undone.was_state), undone.was) if undone else _outcome(request, flag)
    if state is State.CORRECTED and not undone:
        check_place(session, flag, reading)
    other_request = _for_other_half(session, request, chain, undone)
    if other_request is not None:  # both halves have one batch, so that they are undone together
        request = replace(request, batch=other_request.batch)
    decision = _write(session, request, chain, state, reading, undone)
    if other_request is not None:
        decide_in(session, other_request)
    return decision


def _stored_by(session: Session, chain: Chain, stored: ActRow, request: DecisionRequest) -> Decision:
    """The decision that an earlier request with the key of `request` made. Raises RefusedDecisionError if that was
    another request."""
    if not isinstance(stored, (DecisionRow, ReadingRow)) or stored not in chain.rows:
        raise key_of_another()
    version = chain.version_of(stored)
    verdict = Verdict.UNDO.value if stored.verdict in TAKING_BACK else stored.verdict
    # an undo without a note takes over the note of the restored decision
    note = stored.note if request.verdict is Verdict.UNDO and not request.note else request.note
    requested = (request.verdict.value, request.version + 1, request.person, note)
    is_same = (verdict, version, stored.person, stored.note) == requested
    is_other_reading = request.verdict in (Verdict.OTHER, Verdict.TYPED) and stored.reading != request.reading
    if not is_same or is_other_reading:
        raise key_of_another()
    return chain.shown(session, version - 1)[0]


def check_typed(request: DecisionRequest, flag: FlagRow) -> None:
    """Raise RefusedDecisionError if the reading of a request is too long or would break the markup at a flag, and
    UnconfirmedReadingError if it looks like a slip and is not confirmed."""
    if request.verdict not in (Verdict.OTHER, Verdict.TYPED, Verdict.RETAIN):
        return
    if flag.kind == Kind.LAYOUT.value or "(" in flag.suggested:  # a column, or a missing note
        check_reading(request.reading, LONGEST_COLUMN)
        check_column_markup(request.reading)
    else:
        check_reading(request.reading, max(LONGEST_READING, len(flag.suggested)))
        check_markup(request.reading, flag.transcribed)
    if not request.confirmed:
        check_meant(request.reading, seen_at(flag) | {flag.transcribed})


def undo_in(session: Session, chain: Chain, row: FlagDecision, person: str, key: str, batch: str) -> Decision:
    """Undo the valid decision `row` of a chain within a transaction; the decision before it is valid again."""
    request = DecisionRequest("", chain.flag.id, Verdict.UNDO, chain.version, person, key, batch=batch)
    return _write(session, request, chain, State(row.was_state), row.was, row)


def _write(
    session: Session,
    request: DecisionRequest,
    chain: Chain,
    state: State,
    reading: str,
    undone: FlagDecision | None,
) -> Decision:
    """Add a decision to a chain and update its flag. `undone` is the decision that it undoes, if any."""
    row, flag = new_row(session, request, chain, state, reading), chain.flag
    if undone is not None:
        row.about = undone.id
        row.verdict = (Verdict.REDO if undone.verdict == Verdict.UNDO.value else Verdict.UNDO).value
        restored = chain.row(chain.version_of(undone) - 1)
        if restored is not None:
            row.note = row.note or restored.note
            row.authority, row.copy_reads = restored.authority, restored.copy_reads
            if CARRIED in restored.evidence:
                row.evidence = row.evidence | {CARRIED: restored.evidence[CARRIED]}
    session.add(row)
    if chain.reader is None:
        flag.state, flag.reading, flag.version = state.value, reading, chain.version + 1
    session.flush()
    if chain.reader is None:
        share_place(session, flag)
        mark_answered_stale(session, [flag])
    return replace(shown_decisions(session, [row])[0], version=chain.version + 1)


_OTHER_HALF_KEY = "moved-"
"""Prefix of the key of a decision that follows from deciding the other half of a moved character."""
_FOR_BOTH_HALVES = frozenset({Verdict.KEEP, Verdict.TAKE, Verdict.COPY, Verdict.RETAIN, Verdict.UNSURE, Verdict.SKIP})
"""Verdicts that apply to both halves of a moved character; a typed reading applies to its own place only."""


def _for_other_half(
    session: Session, request: DecisionRequest, chain: Chain, undone: FlagDecision | None
) -> DecisionRequest | None:
    """The request that applies `request` to the other half of a moved character as well.

    None if the flag is no such half, if the verdict applies to one half only (as what the copy reads does where nothing
    could be read at the other), or if the other half, or some of its characters, have a decision of their own.
    """
    other = None if request.key.startswith(_OTHER_HALF_KEY) else _other_half_of(session, chain.flag)
    if other is None:
        return None
    other_chain = chain_of(session, other, chain.reader)
    if other_chain.is_settled_for_reader:
        return None
    key = _OTHER_HALF_KEY + hashlib.blake2b(request.key.encode(), digest_size=20).hexdigest()
    other_request = replace(
        request,
        flag=other.id,
        version=other_chain.version,
        key=key,
        batch=request.batch or key,
        reading=other.suggested if request.verdict is Verdict.RETAIN else "",
        suggested=None,
    )
    if request.verdict is Verdict.UNDO:
        twin = _twin(undone, other_chain) if undone else 0
        return replace(other_request, undoes=None, undoes_version=twin) if twin else None
    says_nothing = request.verdict is Verdict.RETAIN and other.suggested == other.transcribed
    if request.verdict not in _FOR_BOTH_HALVES or says_nothing:
        return None
    was_decided_along = any(_twin(row, other_chain) for row in chain.rows)
    has_own_decision = other_chain.state is not State.OPEN and not was_decided_along
    if has_own_decision or _is_decided_in_part(session, other):
        return None
    return other_request


def _other_half_of(session: Session, flag: FlagRow) -> FlagRow | None:
    """The flag of the other half of a moved character, locked for the transaction; None if `flag` is no such half."""
    uid = flag.evidence.get("moved", "")
    query = select(FlagRow).where(FlagRow.page_id == flag.page_id, FlagRow.uid == uid)
    return session.scalar(query.with_for_update()) if uid else None


def _is_decided_in_part(session: Session, flag: FlagRow) -> bool:
    """Whether there is another decision, in the same work, on some of the characters at the place of a flag."""
    if flag.start is None or not flag.extent:
        return False
    in_text = select(FlagRow.id).where(FlagRow.text_id == flag.text_id, FlagRow.version_id == flag.version_id)
    overlaps = (FlagRow.start < flag.start + flag.extent, FlagRow.start + FlagRow.extent > flag.start)
    others = in_text.where(*overlaps, FlagRow.id != flag.id, FlagRow.work_id == flag.work_id, ~IS_SEEDED)
    return session.scalar(others.where(FlagRow.state.in_(SETTLED)).limit(1)) is not None


def _twin(row: FlagDecision, other_chain: Chain) -> int:
    """The version of the decision on the other half of a moved character that was made together with `row`, if it is
    still valid there; else 0."""
    if not row.batch:
        return 0
    twins = [other for other in other_chain.rows if (other.batch, other.verdict) == (row.batch, row.verdict)]
    if not twins or (twins[-1].state, twins[-1].reading) != (other_chain.state.value, other_chain.reading):
        return 0
    return other_chain.version_of(twins[-1])


def _decided_with_other_half(session: Session, chain: Chain, request: DecisionRequest) -> Decision | None:
    """The decision on this half of a moved character that was made with the other half, if it is the only one since
    `request.version` and has the person and verdict of `request`."""
    since = chain.rows[max(request.version, 0) :]
    if len(since) != 1 or not since[0].key.startswith(_OTHER_HALF_KEY):
        return None
    if (since[0].person, since[0].verdict) != (request.person, request.verdict.value):
        return None
    return chain.shown(session, request.version)[0]


def _undone(chain: Chain, request: DecisionRequest) -> FlagDecision:
    """The decision that the undo `request` takes back. Raises RefusedDecisionError, NotYoursError."""
    undone = chain.row(chain.version if request.undoes_version is None else request.undoes_version)
    is_other = undone is None or request.undoes not in (None, undone.id)
    if undone is None or is_other or changes_since(chain.rows, chain.version_of(undone)):
        raise RefusedDecisionError(_("flag %(flag)s: only its last decision can be taken back"), flag=chain.flag.id)
    if not request.overrules and undone.person != request.person:
        raise NotYoursError(
            _("flag %(flag)s: %(person)s decided it; they or an administrator take it back"),
            flag=chain.flag.id,
            person=undone.person,
        )
    return undone


def _outcome(request: DecisionRequest, flag: FlagRow) -> tuple[State, str]:
    """The state and reading of a flag after a decision that is no undo. Raises RefusedDecisionError."""
    readings = {
        Verdict.TAKE: flag.suggested,
        Verdict.OTHER: request.reading,
        Verdict.TYPED: request.reading,
        Verdict.DELETE: "",
    }
    reading = readings.get(request.verdict, flag.transcribed)
    if request.verdict is Verdict.RETAIN and request.reading == flag.transcribed:
        raise RefusedDecisionError(_("the text reads so itself: where the copy reads as the text does, say `copy`"))
    if request.verdict is Verdict.DELETE and not flag.transcribed:
        raise RefusedDecisionError(_("flag %(flag)s: nothing stands there that could be deleted"), flag=flag.id)
    if request.verdict is Verdict.TAKE and flag.transcribed and not reading and not _is_surplus(flag.kind, flag.reason):
        raise RefusedDecisionError(
            _("flag %(flag)s: no reading is suggested there; to delete what stands say `delete`"), flag=flag.id
        )
    state = STATE_OF[request.verdict]
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


def last_decision(session: Session, row: DecisionRow) -> Decision:
    """The last decision on a flag, which is in `row`. After an undo, its `person` is that of the restored decision."""
    if row.about is None:
        return decision_of(row)
    chain = chain_of(session, session.get_one(FlagRow, row.flag_id))
    valid = chain.row(standing(chain.rows, row.version))
    return replace(decision_of(row), person=valid.person if valid is not None else row.person)
