"""Undo and redo of people's acts: decisions, rules, page states and layout overrides.

Undoing an act is itself an act, whose `about` is the id of the act that it undoes; undoing an undo is a redo. So the
number of steps from an act along `about` tells what it is: none is a new act, an odd number an undo, an even one a
redo. Decisions of one batch are undone together, as are all that one person made in a time (`Acts.withdraw`).

A layout override takes effect when its page is read again. Undoing one has the page read again too: the flags found
then have the ids that they had before, and with them their decisions.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from itertools import takewhile
from typing import Any, NamedTuple

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from proof.errors import PublicError
from proof.locale.marking import Sentence, _
from proof.store.decision_chains import Chain, FlagDecision, chain_of, chain_with, shown_decisions
from proof.store.decision_records import Decision, NotYoursError
from proof.store.decisions import undo_in
from proof.store.events import Event, changes_since, check_key, key_of_another, standing
from proof.store.lookup import StorePart, find_work_id
from proof.store.models import (
    ActRow,
    AssignmentRow,
    CommentRow,
    DecisionRow,
    FlagAct,
    FlagRow,
    LayoutOverrideRow,
    PageEventRow,
    PageRow,
    ReadingRow,
    ReportRow,
    RuleRow,
)
from proof.store.page_states import PageEvent, PageState, page_event

ACTS_PER_QUERY = 200

SubjectAct = PageEventRow | LayoutOverrideRow | RuleRow
"""Acts on a page or on the rule of a pair; the last one is valid."""

NEVER_UNDONE = [kind.__mapper_args__["polymorphic_identity"] for kind in (CommentRow, AssignmentRow, ReportRow)]
"""Kinds of acts that are not undone: comments are answered, pages given back, reports of readers settled."""


class ActKind(StrEnum):
    """The kinds of acts that the history shows. All but comments can be undone."""

    DECISIONS = "decisions"
    RULE = "rule"
    PAGE = "page"
    LAYOUT = "layout"
    COMMENT = "comment"


@dataclass(frozen=True, slots=True)
class RuleChange:
    """The rule on a pair, what the text has and what the image shows, was set (`holds`) or lifted."""

    text: str
    image: str
    holds: bool


@dataclass(frozen=True, slots=True)
class Undone:
    """The result of an undo or, if `is_redo`, of a redo.

    `decisions` are the events that it added. For a page state, `page` is the event that it added, `name` the id of the
    page and `was` its state before. `page_to_read` is the number of a page whose layout changed, to be read again.
    `repeated`: the request was sent before, and this is its first result.
    """

    what: ActKind
    is_redo: bool
    decisions: tuple[Decision, ...] = ()
    rule: RuleChange | None = None
    page: PageEvent | None = None
    name: str = ""
    was: PageState = PageState.NOT_PROOFREAD
    page_to_read: int | None = None
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class DecisionsOfPerson:
    """The decisions that the person of that `name` made from `since` on and before `until`."""

    name: str
    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """The number of `places` whose decisions were taken back, and of those that were `left` since others decided them
    afterwards."""

    places: int
    left: int


class NothingLeftError(PublicError):
    """The person has no act left to undo or to redo."""

    http_status = 404

    def __init__(self, is_redo: bool) -> None:
        super().__init__(_("Nothing is left to do again.") if is_redo else _("Nothing of yours is left to take back."))


PAGE_AND_COLUMN = _("%(page)s, column %(column)s")


class ChangedError(PublicError):
    """The `people` changed what was to be undone."""

    http_status = 409

    def __init__(self, people: Sequence[str], place: str) -> None:
        self.people = tuple(dict.fromkeys(people))
        message = _("%(place)s: changed by %(person)s in the meantime. Nothing was taken back.")
        super().__init__(message, place=place, person=", ".join(self.people))


class _UndoRequest(NamedTuple):
    """The arguments of `Acts.undo` or, if `is_redo`, of `Acts.redo`."""

    key: str
    is_redo: bool
    leave: bool
    rules: bool


class Acts(StorePart):
    """Undo and redo in a store, as `Store.acts`."""

    def undo(self, work: str, person: str, key: str, *, leave: bool = False, rules: bool = True) -> Undone:
        """Undo the last act of `person` in a work that is not undone yet.

        With `leave`, what others have changed since stays: the rest of the act is undone or, if nothing is left of it,
        the act before. `rules`: whether the person may set rules.

        Raises NothingLeftError, ChangedError if others changed the same thing since, NotYoursError, and
        RefusedDecisionError if the key was used for something else; then nothing is written.
        """
        return self._undo(work, person, _UndoRequest(key, False, leave, rules))

    def redo(self, work: str, person: str, key: str, *, leave: bool = False, rules: bool = True) -> Undone:
        """Redo what `person` undid last, unless they made a new act since. Raises as `undo` does."""
        return self._undo(work, person, _UndoRequest(key, True, leave, rules))

    def _undo(self, work: str, person: str, request: _UndoRequest) -> Undone:
        check_key(request.key)
        with self._writing() as session:
            work_id = find_work_id(session, work)
            earlier = _earlier_result(session, person, request)
            if earlier is not None:
                return earlier
            acts = _ActsOfPerson(session, work_id, person)
            for act in acts.to_redo() if request.is_redo else acts.to_undo():
                undone = _undo_act(session, acts, act, request)
                if undone is not None:
                    return undone
            raise NothingLeftError(request.is_redo)

    def withdraw(self, work: str, made: DecisionsOfPerson, person: str, key: str) -> Withdrawn:
        """Take back the decisions `made` in a work, as one act of `person`; what stood before them holds again.

        Raises NoPlaceError, and RefusedDecisionError if the key is invalid."""
        check_key(key)
        query = select(DecisionRow.id, DecisionRow.flag_id).where(
            DecisionRow.person == made.name, DecisionRow.at >= made.since, DecisionRow.at < made.until
        )
        with self._writing() as session:
            earlier = session.scalars(select(DecisionRow.id).where(DecisionRow.batch == key)).all()
            if earlier:  # the request was sent before
                return Withdrawn(len(earlier), 0)
            rows = session.execute(query.where(DecisionRow.work_id == find_work_id(session, work))).all()
            decisions, flags = {row.id for row in rows}, sorted({row.flag_id for row in rows})
            places = left = 0
            for number in flags:  # always lock in this order: no deadlocks
                flag = session.scalars(select(FlagRow).where(FlagRow.id == number).with_for_update()).one()
                chain = chain_of(session, flag)
                valid = list(_valid(chain.rows))
                withdrawn = list(takewhile(lambda row: row.id in decisions, valid))
                if withdrawn:
                    undo_in(session, chain, withdrawn[-1], person, uuid.uuid4().hex if places else key, key)
                    places += 1
                else:
                    left += any(row.id in decisions for row in valid)
            return Withdrawn(places, left)


def _valid(rows: Sequence[FlagDecision]) -> Iterator[FlagDecision]:
    """The decisions on a flag that were not taken back, the last one first."""
    number = standing(rows)
    while number:
        yield rows[number - 1]
        number = standing(rows, number - 1)


class _ActsOfPerson:
    """A person's acts in a work, newest first. `undone`: the ids of acts, of those met so far, that others undid."""

    def __init__(self, session: Session, work_id: int, person: str) -> None:
        self.session, self.work_id, self.person = session, work_id, person
        self.undone: set[int] = set()

    def to_undo(self) -> Iterator[ActRow]:
        """The new and redone acts that are not undone, newest first."""
        for act in self._newest_first():
            if act.id in self.undone:
                continue
            if self.is_undo(act):
                self._mark_undone(act)
            else:
                yield act

    def to_redo(self) -> Iterator[ActRow]:
        """The undos that are not redone, newest first, back to the last new act."""
        for act in self._newest_first():
            if act.id in self.undone:
                continue
            steps = self.steps(act)
            if steps == 0:
                return
            if steps % 2:
                yield act
            else:
                self._mark_undone(act)

    def is_undo(self, act: ActRow) -> bool:
        """Whether an act undoes another, rather than being new or a redo."""
        return self.steps(act) % 2 == 1

    def steps(self, act: ActRow) -> int:
        """The number of steps from an act along `about` to a new act. Taking back another person's decision is a new
        act too."""
        steps = 0
        while act.about is not None:
            earlier = self.session.get_one(ActRow, act.about)
            if isinstance(act, FlagAct) and earlier.person != self.person:
                break
            act, steps = earlier, steps + 1
        return steps

    def _mark_undone(self, act: ActRow) -> None:
        """Note that `act` undid the act that it is about."""
        if act.about is not None:
            self.undone.add(act.about)

    def _newest_first(self) -> Iterator[ActRow]:
        query = select(ActRow).where(ActRow.work_id == self.work_id, ActRow.person == self.person)
        query = query.where(ActRow.act.not_in(NEVER_UNDONE)).order_by(ActRow.id.desc()).limit(ACTS_PER_QUERY)
        rows = self.session.scalars(query).all()
        while rows:
            yield from rows
            rows = self.session.scalars(query.where(ActRow.id < rows[-1].id)).all()


def _undo_act(session: Session, acts: _ActsOfPerson, act: ActRow, request: _UndoRequest) -> Undone | None:
    """Undo an act; None if nothing of it can be undone. Raises ChangedError if others changed it since, unless the
    request leaves that alone."""
    try:
        if isinstance(act, (DecisionRow, ReadingRow)):
            return _undo_decisions(session, acts, act, request)
        assert isinstance(act, SubjectAct), "acts of other kinds are never undone"
        undo = _add_undo(session, act, request)
    except ChangedError:
        if request.leave:
            return None
        raise
    return _undone(session, undo, request.is_redo) if undo is not None else None


def _undo_decisions(session: Session, acts: _ActsOfPerson, act: FlagDecision, request: _UndoRequest) -> Undone | None:
    """Undo a decision or a reading and, if it has a batch, all of that batch that are still to undo."""
    to_undo: list[tuple[Chain, FlagDecision]] = []
    changed_by: list[str] = []
    changed_place = ""
    for decision in _with_batch(session, acts, act):
        chain = chain_with(session, decision)
        others = _changed_by(chain.rows, chain.version_of(decision), acts.person)
        if others is None:
            to_undo.append((chain, decision))
        elif others:
            changed_by += others
            changed_place = changed_place or Sentence(PAGE_AND_COLUMN, page=decision.page, column=decision.line)
    if changed_by and not request.leave:
        raise ChangedError(changed_by, changed_place)
    decisions: list[Decision] = []
    for chain, decision in to_undo:
        key = uuid.uuid4().hex if decisions else request.key  # the first bears the key by which a repeat is known
        decisions.append(undo_in(session, chain, decision, acts.person, key, request.key))
    return Undone(ActKind.DECISIONS, request.is_redo, tuple(decisions)) if decisions else None


def _with_batch(session: Session, acts: _ActsOfPerson, act: FlagDecision) -> Sequence[FlagDecision]:
    """A decision, or those of its batch that are undone together with it: the undos, or those that are none."""
    if not act.batch:
        return [act]
    table = type(act)
    query: Select[Any] = select(table).where(table.batch == act.batch, table.person == acts.person)
    rows = session.scalars(query.where(table.work_id == acts.work_id).order_by(table.id))
    is_undo = acts.is_undo(act)
    return [row for row in rows if row.id not in acts.undone and acts.is_undo(row) == is_undo]


def _changed_by(events: Sequence[Event], number: int, person: str) -> list[str] | None:
    """The people other than `person` who changed a subject after its event of that number (from 1), without changes
    that were undone. None if the subject stands as that event left it."""
    if standing(events) == standing(events, number):
        return None
    return [event.person for event in changes_since(events, number) if event.person != person]


_INITIAL: Mapping[type[SubjectAct], Mapping[str, Any]] = {
    RuleRow: {"holds": False, "planted": False},
    LayoutOverrideRow: {"layout": None, "image": "", "quadrant": ""},
    PageEventRow: {"state": PageState.NOT_PROOFREAD.value, "note": ""},
}
"""What each kind of act sets, with its values before the first act."""


def _add_undo(session: Session, act: SubjectAct, request: _UndoRequest) -> SubjectAct | None:
    """Add the act that undoes an act on a page or a rule; None where that no longer stands. Raises NotYoursError, and
    ChangedError if others changed the page or the rule."""
    table = type(act)
    if isinstance(act, RuleRow):
        if not request.rules:
            raise NotYoursError(
                _("your last act is about a rule of the project, and that takes the right to set rules")
            )
        place = f"{act.transcribed} → {act.suggested}"
        subject = {"work_id": act.work_id, "transcribed": act.transcribed, "suggested": act.suggested}
    else:
        page = session.scalars(select(PageRow).where(PageRow.id == act.page_id).with_for_update()).one()
        place, subject = page.page, {"work_id": page.work_id, "page_id": page.id}
    rows = session.scalars(select(table).filter_by(**subject).order_by(table.id)).all()
    number = rows.index(act) + 1
    others = _changed_by(rows, number, act.person)
    if others:
        raise ChangedError(others, place)
    if others is not None:
        return None
    before = standing(rows, number - 1)
    restored = {name: getattr(rows[before - 1], name) if before else value for name, value in _INITIAL[table].items()}
    version = {} if isinstance(act, RuleRow) else {"version": len(rows) + 1}
    undo = table(**subject, **restored, **version, key=request.key, person=act.person, about=act.id)
    session.add(undo)
    session.flush()
    return undo


def _undone(session: Session, undo: ActRow, is_redo: bool) -> Undone:
    """The result of an act that undid one on a rule or a page. Raises RefusedDecisionError for one of another kind."""
    match undo:
        case RuleRow():
            rule = RuleChange(undo.transcribed, undo.suggested, undo.holds)
            return Undone(ActKind.RULE, is_redo, rule=rule)
        case LayoutOverrideRow():
            page = session.get_one(PageRow, undo.page_id)
            return Undone(ActKind.LAYOUT, is_redo, name=page.page, page_to_read=page.id)
        case PageEventRow():
            page = session.get_one(PageRow, undo.page_id)
            was = PageState(session.get_one(PageEventRow, undo.about).state)
            return Undone(ActKind.PAGE, is_redo, page=page_event(undo), name=page.page, was=was)
    raise key_of_another()


def _earlier_result(session: Session, person: str, request: _UndoRequest) -> Undone | None:
    """The result of an earlier request with the same key, if any. Raises RefusedDecisionError if that was another
    request."""
    act = session.scalar(select(ActRow).where(ActRow.key == request.key))
    if act is None:
        return None
    was_redo = not _ActsOfPerson(session, act.work_id, person).is_undo(act)
    if act.person != person or act.about is None or was_redo != request.is_redo:
        raise key_of_another()
    if not isinstance(act, (DecisionRow, ReadingRow)):
        return replace(_undone(session, act, request.is_redo), repeated=True)
    table = type(act)
    query: Select[Any] = select(table).where(table.batch == request.key, table.work_id == act.work_id)
    rows: Sequence[FlagDecision] = session.scalars(query.order_by(ActRow.id)).all() or [act]
    decisions: list[Decision] = []
    for row, decision in zip(rows, shown_decisions(session, rows), strict=True):
        version = decision.version or chain_with(session, row).version_of(row)
        decisions.append(replace(decision, version=version, repeated=True))
    return Undone(ActKind.DECISIONS, request.is_redo, tuple(decisions), repeated=True)
