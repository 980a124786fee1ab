"""What a person did, act by act: the last is taken back, and what was taken back is done again.

An act is a decision, a stroke (the decisions of one batch), a rule set or lifted, what was said of a page, or how a
page is to be read, its layout or image set right. Taking an act back is an act, too, `about` the one that it takes
back; doing it again is one about that. So the number of steps from an act along `about` says what it is: none is
something new, an odd number takes it back, an even one does it again.

How a page is laid out holds from its next reading on: who takes that back has the page read again, which finds the
flags that it had before, by their ids, with their decisions.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeVar

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from proof.errors import PublicError
from proof.locale.marking import _
from proof.store.chains import Chain, FlagDecision, chain_with, shown_decisions
from proof.store.decision_records import Decision, NotYoursError
from proof.store.decisions import take_back_in
from proof.store.events import Event, changes_since, check_key, key_of_another, standing
from proof.store.lookup import StorePart, find_work_id
from proof.store.models import (
    ActRow,
    AssignmentRow,
    CommentRow,
    DecisionRow,
    FlagAct,
    LayoutOverrideRow,
    PageEventRow,
    PageRow,
    ReadingRow,
    ReportRow,
    RuleRow,
)
from proof.store.page_states import PageEvent, PageState, page_event

AT_ONCE = 200
OfPage = PageEventRow | LayoutOverrideRow
"""What was said of a page, or how it is read; each page has its own, numbered by version."""
OfSubject = TypeVar("OfSubject", PageEventRow, LayoutOverrideRow, RuleRow)

NOT_TAKEN_BACK = [kind.__mapper_args__["polymorphic_identity"] for kind in (CommentRow, AssignmentRow, ReportRow)]
"""Comments are answered, pages given back, reports of readers settled."""


class What(StrEnum):
    """What an act was about. A comment is answered, and never taken back."""

    DECISIONS = "decisions"
    RULE = "rule"
    PAGE = "page"
    LAYOUT = "layout"
    COMMENT = "comment"


@dataclass(frozen=True, slots=True)
class RuleChange:
    """What the text has and what the image shows, and whether it is a rule now that the two are variants."""

    text: str
    image: str
    holds: bool


@dataclass(frozen=True, slots=True)
class Undone:
    """An act that was taken back or, `again`, done once more: of `decisions` the events that say so. `page` is the
    last thing said of the page `name`, `was` what stood there before; `laid_out` the number of the page that is read
    otherwise from now on. `repeated`: it answers a request that was sent again."""

    what: What
    again: bool
    decisions: tuple[Decision, ...] = ()
    rule: RuleChange | None = None
    page: PageEvent | None = None
    name: str = ""
    was: PageState = PageState.NOT_PROOFREAD
    laid_out: int | None = None
    repeated: bool = False


class NothingLeftError(PublicError):
    """There is nothing of this person's to take back, or to do again."""

    http_status = 404

    def __init__(self, again: bool) -> None:
        super().__init__(_("Nothing is left to do again.") if again else _("Nothing of yours is left to take back."))


class ChangedError(PublicError):
    """Somebody else changed what was to be taken back; `people` did."""

    http_status = 409

    def __init__(self, people: Sequence[str], place: str) -> None:
        self.people = tuple(dict.fromkeys(people))
        message = _("%(place)s: changed by %(person)s in the meantime. Nothing was taken back.")
        super().__init__(message, place=place, person=", ".join(self.people))


class Acts(StorePart):
    """What people did in a store, for taking it back; `Store.acts` is one."""

    def undo(self, work: str, person: str, key: str, *, leave: bool = False, rules: bool = True) -> Undone:
        """Take back the last act of `person` that stands, exactly. `leave` leaves alone what others have changed since:
        what is left of the act is taken back, or the one before it. `rules`: whether they may set rules.

        Raises NothingLeftError, ChangedError where another has changed the same thing since, NotYoursError,
        RefusedDecisionError where the key was used for something else; then nothing was written.
        """
        return self._act(work, person, key, again=False, leave=leave, rules=rules)

    def redo(self, work: str, person: str, key: str, *, leave: bool = False, rules: bool = True) -> Undone:
        """Do again what `person` took back last, unless they did something else since. Raises as `undo` does."""
        return self._act(work, person, key, again=True, leave=leave, rules=rules)

    def _act(self, work: str, person: str, key: str, *, again: bool, leave: bool, rules: bool) -> Undone:
        check_key(key)
        with self._writing() as session:
            number = find_work_id(session, work)
            answered = _answered(session, person, key, again)
            if answered is not None:
                return answered
            steps = _Steps(session, number, person)
            for act in steps.undone() if again else steps.done():
                made = _take_back(session, steps, act, key, again=again, leave=leave, rules=rules)
                if made is not None:
                    return made
            raise NothingLeftError(again)


class _Steps:
    """What a person did in a work, newest first. `settled` are the acts that later ones took back."""

    def __init__(self, session: Session, work_id: int, person: str) -> None:
        self.session, self.work_id, self.person = session, work_id, person
        self.settled: set[int] = set()

    def done(self) -> Iterator[ActRow]:
        """Acts that stand, the last first."""
        for act in self._newest_first():
            if act.id in self.settled:
                continue
            if self.distance(act) % 2:
                self._settle(act)
            else:
                yield act

    def undone(self) -> Iterator[ActRow]:
        """What took an act back and was not itself taken back, the last first, until something else was done."""
        for act in self._newest_first():
            if act.id in self.settled:
                continue
            distance = self.distance(act)
            if distance == 0:
                return
            if distance % 2:
                yield act
            else:
                self._settle(act)

    def distance(self, act: ActRow) -> int:
        """Steps from an act along `about` to something new; what takes back another's decision is new, too."""
        steps = 0
        while act.about is not None:
            taken = self.session.get_one(ActRow, act.about)
            if isinstance(act, FlagAct) and taken.person != self.person:
                break
            act, steps = taken, steps + 1
        return steps

    def _settle(self, act: ActRow) -> None:
        if act.about is not None:
            self.settled.add(act.about)

    def _newest_first(self) -> Iterator[ActRow]:
        own = select(ActRow).where(ActRow.work_id == self.work_id, ActRow.person == self.person)
        own = own.where(ActRow.act.not_in(NOT_TAKEN_BACK))
        after: int | None = None
        while True:
            part = own if after is None else own.where(ActRow.id < after)
            rows = self.session.scalars(part.order_by(ActRow.id.desc()).limit(AT_ONCE)).all()
            yield from rows
            if len(rows) < AT_ONCE:
                return
            after = rows[-1].id


def _take_back(
    session: Session, steps: _Steps, act: ActRow, key: str, *, again: bool, leave: bool, rules: bool
) -> Undone | None:
    """Take back an act; None where nothing of it is left that others have not changed."""
    made: PageEventRow | LayoutOverrideRow | RuleRow | None
    try:
        match act:
            case DecisionRow() | ReadingRow():
                return _take_decisions_back(session, steps, act, key, again=again, leave=leave)
            case RuleRow():
                if not rules:
                    raise NotYoursError(
                        _("your last act is about a rule of the project, and that takes the right to set rules")
                    )
                of_pair = {name: getattr(act, name) for name in ("work_id", "transcribed", "suggested")}
                place = f"{act.transcribed} → {act.suggested}"
                made = _take_last_back(session, act, key, place, of_pair, holds=False, planted=False)
            case LayoutOverrideRow():
                made = _take_last_back(session, act, key, *_page_of(session, act), layout=None, image="", quadrant="")
            case PageEventRow():
                place, of_page = _page_of(session, act)
                state = PageState.NOT_PROOFREAD.value
                made = _take_last_back(session, act, key, place, of_page, state=state, note="")
            case _:
                return None
        return _undone(session, made, again) if made is not None else None
    except ChangedError:
        if not leave:
            raise
    return None


def _take_decisions_back(
    session: Session, steps: _Steps, act: FlagDecision, key: str, *, again: bool, leave: bool
) -> Undone | None:
    """Take back a decision or a reading, or those of its stroke that stand."""
    table = type(act)
    decisions: Sequence[FlagDecision] = [act]
    if act.batch:
        same: Select[Any] = select(table).where(table.batch == act.batch, table.person == steps.person)
        rows = session.scalars(same.where(table.work_id == steps.work_id).order_by(table.id))
        kind = steps.distance(act) % 2
        decisions = [row for row in rows if row.id not in steps.settled and steps.distance(row) % 2 == kind]
    taken: list[tuple[Chain, FlagDecision]] = []
    changed: list[str] = []
    place = ""
    for decision in decisions:
        chain = chain_with(session, decision)
        others = _others(chain.rows, chain.version_of(decision), steps.person)
        if others is None:
            taken.append((chain, decision))
        elif others:
            changed += others
            place = place or f"{decision.page}, column {decision.line}"
    if changed and not leave:
        raise ChangedError(changed, place)
    made = [
        take_back_in(session, chain, decision, steps.person, key if n == 0 else uuid.uuid4().hex, key)
        for n, (chain, decision) in enumerate(taken)
    ]
    return Undone(What.DECISIONS, again, tuple(made)) if made else None


def _others(events: Sequence[Event], number: int, person: str) -> list[str] | None:
    """None where all stands as the event of that `number` left it; else who but `person` has changed it since, and has
    not taken that back."""
    if standing(events) == standing(events, number):
        return None
    return [event.person for event in changes_since(events, number) if event.person != person]


def _stands(events: Sequence[Event], number: int, person: str, place: str) -> bool:
    """Whether all stands as the event of that `number` left it. Raises ChangedError where others changed it since."""
    others = _others(events, number, person)
    if others:
        raise ChangedError(others, place)
    return others is None


def _page_of(session: Session, act: OfPage) -> tuple[str, dict[str, int]]:
    """The id of the page of an act, which is held, and what the acts about it have in common, by column."""
    page = session.scalars(select(PageRow).where(PageRow.id == act.page_id).with_for_update()).one()
    return page.page, {"work_id": page.work_id, "page_id": page.id}


def _take_last_back(
    session: Session, act: OfSubject, key: str, place: str, subject: Mapping[str, Any], **nothing: Any
) -> OfSubject | None:
    """The act that takes this one back; None where it does not stand any more. `subject` is what all acts about its
    subject have in common, `nothing` what holds of a subject of which nothing was said before, by column."""
    table = type(act)
    rows = session.scalars(select(table).filter_by(**subject).order_by(table.id)).all()
    number = rows.index(act) + 1
    if not _stands(rows, number, act.person, place):
        return None
    before = standing(rows, number - 1)
    was = {name: getattr(rows[before - 1], name) for name in nothing} if before else nothing
    version: dict[str, int] = {} if isinstance(act, RuleRow) else {"version": len(rows) + 1}
    made = table(**subject, **was, **version, key=key, person=act.person, about=act.id)
    session.add(made)
    session.flush()
    return made


def _undone(session: Session, made: ActRow, again: bool) -> Undone:
    """What an act about a rule or a page took back. Raises RefusedDecisionError for one of another kind."""
    match made:
        case RuleRow():
            return Undone(What.RULE, again, rule=RuleChange(made.transcribed, made.suggested, made.holds))
        case LayoutOverrideRow():
            page = session.get_one(PageRow, made.page_id)
            return Undone(What.LAYOUT, again, name=page.page, laid_out=page.id)
        case PageEventRow():
            page, taken = session.get_one(PageRow, made.page_id), session.get_one(PageEventRow, made.about)
            return Undone(What.PAGE, again, page=page_event(made), name=page.page, was=PageState(taken.state))
    raise key_of_another()


def _answered(session: Session, person: str, key: str, again: bool) -> Undone | None:
    """What a request with this key was answered before. Raises RefusedDecisionError where it was used otherwise."""
    act = session.scalar(select(ActRow).where(ActRow.key == key))
    if act is None:
        return None
    done_again = _Steps(session, act.work_id, person).distance(act) % 2 == 0
    if act.person != person or act.about is None or done_again != again:
        raise key_of_another()
    if isinstance(act, (DecisionRow, ReadingRow)):
        query: Select[Any] = select(type(act)).where(type(act).batch == key, type(act).work_id == act.work_id)
        acts: Sequence[FlagDecision] = session.scalars(query.order_by(ActRow.id)).all() or [act]
        decisions = tuple(
            replace(decision, version=decision.version or chain_with(session, row).version_of(row), repeated=True)
            for decision, row in zip(shown_decisions(session, acts), acts, strict=True)
        )
        return Undone(What.DECISIONS, again, decisions, repeated=True)
    return replace(_undone(session, act, again), repeated=True)
