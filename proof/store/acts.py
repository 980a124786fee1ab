"""What a person did, act by act: the last is taken back, and what was taken back is done again.

An act is a decision, a stroke (the decisions of one batch), a rule set or lifted, what was said of a page, or how a
page is to be read, its layout or image set right. Nothing is kept of acts but the rows that they left in the tables of
decisions, rules, page events and layout overrides. Taking an act back leaves rows too, each `about` the one that it
takes back; doing it again leaves rows about those. So the kind of a row is the number of steps from it along `about` to
an act of the person: none is an act, an odd number takes it back, an even one does it again. Rows of one table are in
the order of their ids; between the tables the clock decides.

How a page is laid out holds from its next reading on: who takes that back has the page read again, which finds the
flags that it had before, by their ids, with their decisions.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from heapq import merge
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from proof.errors import ProofError
from proof.locale.marking import _
from proof.store.decision_records import TAKING_BACK, Decision, NotYoursError, RefusedDecisionError
from proof.store.decision_rows import events_of_flag, shown_decisions
from proof.store.decisions import take_back_in
from proof.store.lookup import work_of
from proof.store.models import DecisionRow, FlagRow, LayoutOverrideRow, PageEventRow, PageRow, RuleRow
from proof.store.page_states import PageEvent, PageState, page_event
from proof.store.request_keys import key_of_another
from proof.store.sessions import StorePart
from proof.store.standing import Event, changes_since, standing

AT_ONCE = 200
OfPage = TypeVar("OfPage", PageEventRow, LayoutOverrideRow)
"""What was said of a page, or how it is read; each page has its own, numbered by version."""


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


class NothingLeftError(ProofError):
    """There is nothing of this person's to take back, or to do again."""

    http_status = 404

    def __init__(self, again: bool) -> None:
        super().__init__(f"nothing of yours is left to {'do again' if again else 'take back'}")
        self.again = again


class ChangedError(ProofError):
    """Somebody else changed what was to be taken back; `people` did."""

    http_status = 409

    def __init__(self, people: Sequence[str], place: str) -> None:
        self.people = tuple(dict.fromkeys(people))
        self.place = place
        super().__init__(f"{place}: changed by {', '.join(self.people)} in the meantime; nothing was taken back")


class ActStep(NamedTuple):
    """A row that a person left, by the act that it belongs to."""

    what: What
    id: int
    about: int | None
    batch: str
    at: datetime


Places = set[tuple[What, int]]


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
        if not 8 <= len(key) <= 64:
            raise RefusedDecisionError(_("the key of a request has 8 to 64 letters"))
        with self._writing() as session:
            number = work_of(session, work)
            said = _answered(session, person, key, again)
            if said is not None:
                return said
            steps = _Steps(session, number, person)
            for step in steps.undone() if again else steps.done():
                made = _take_back(session, steps, step, key, again=again, leave=leave, rules=rules)
                if made is not None:
                    return made
            raise NothingLeftError(again)


class _Steps:
    """The rows that a person left in a work, newest first. `settled` are those that later ones took back."""

    def __init__(self, session: Session, work_id: int, person: str) -> None:
        self.session, self.work_id, self.person = session, work_id, person
        self.settled: Places = set()

    def done(self) -> Iterator[ActStep]:
        """Acts that stand, the last first."""
        for step in self._newest_first():
            if (step.what, step.id) in self.settled:
                continue
            if self.distance(step.what, step.id) % 2:
                self._settle(step)
            else:
                yield step

    def undone(self) -> Iterator[ActStep]:
        """What took an act back and was not itself taken back, the last first, until something else was done."""
        for step in self._newest_first():
            if (step.what, step.id) in self.settled:
                continue
            distance = self.distance(step.what, step.id)
            if distance == 0:
                return
            if distance % 2:
                yield step
            else:
                self._settle(step)

    def distance(self, what: What, number: int) -> int:
        """Steps from a row along `about` to an act of the person."""
        steps = 0
        while True:
            about = self._about(what, number)
            if about is None:
                return steps
            number, steps = about, steps + 1

    def _about(self, what: What, number: int) -> int | None:
        """What of the person's own a row takes back."""
        if what is not What.DECISIONS:
            tables: dict[What, Any] = {What.RULE: RuleRow, What.PAGE: PageEventRow, What.LAYOUT: LayoutOverrideRow}
            about: int | None = self.session.scalar(select(tables[what].about).where(tables[what].id == number))
            return about
        row = self.session.get_one(DecisionRow, number)
        if row.about is None:
            return None
        taken = self.session.get_one(DecisionRow, row.about)
        return taken.id if taken.person == self.person else None

    def _settle(self, step: ActStep) -> None:
        if step.about is not None:
            self.settled.add((step.what, step.about))

    def _newest_first(self) -> Iterator[ActStep]:
        query = select(DecisionRow.id, DecisionRow.about, DecisionRow.batch, DecisionRow.at)
        decided = query.where(DecisionRow.work_id == self.work_id, DecisionRow.person == self.person)
        ruled = select(RuleRow.id, RuleRow.about, RuleRow.at)
        ruled = ruled.where(RuleRow.work_id == self.work_id, RuleRow.person == self.person)
        said, laid = (
            select(table.id, table.about, table.at)
            .join(PageRow, PageRow.id == table.page_id)
            .where(PageRow.work_id == self.work_id, table.person == self.person)
            for table in (PageEventRow, LayoutOverrideRow)
        )
        streams = (
            (ActStep(What.DECISIONS, *row) for row in self._rows(decided, DecisionRow)),
            (ActStep(What.RULE, number, about, "", at) for number, about, at in self._rows(ruled, RuleRow)),
            (ActStep(What.PAGE, number, about, "", at) for number, about, at in self._rows(said, PageEventRow)),
            (ActStep(What.LAYOUT, number, about, "", at) for number, about, at in self._rows(laid, LayoutOverrideRow)),
        )
        return merge(*streams, key=lambda step: step.at, reverse=True)

    def _rows(self, query: Any, table: type[DecisionRow | RuleRow | PageEventRow | LayoutOverrideRow]) -> Iterator[Any]:
        after: int | None = None
        while True:
            part = query if after is None else query.where(table.id < after)
            found = self.session.execute(part.order_by(table.id.desc()).limit(AT_ONCE)).all()
            yield from found
            if len(found) < AT_ONCE:
                return
            after = found[-1].id


def _take_back(
    session: Session, steps: _Steps, step: ActStep, key: str, *, again: bool, leave: bool, rules: bool
) -> Undone | None:
    """Take back what `step` is a row of; None where nothing of it is left that others have not changed."""
    try:
        if step.what is What.DECISIONS:
            return _take_decisions_back(session, steps, step, key, again=again, leave=leave)
        if step.what is What.RULE:
            if not rules:
                raise NotYoursError(
                    _("your last act is about a rule of the project, and that takes the right to set rules")
                )
            return _take_rule_back(session, steps.person, step.id, key, again=again)
        if step.what is What.LAYOUT:
            return _take_layout_back(session, steps.person, step.id, key, again=again)
        return _take_page_back(session, steps.person, step.id, key, again=again)
    except ChangedError:
        if not leave:
            raise
        return None


def _take_decisions_back(
    session: Session, steps: _Steps, step: ActStep, key: str, *, again: bool, leave: bool
) -> Undone | None:
    """Take back a decision, or those of its stroke that stand."""
    rows = [session.get_one(DecisionRow, step.id)]
    if step.batch:
        same = select(DecisionRow).where(DecisionRow.batch == step.batch, DecisionRow.person == steps.person)
        found = session.scalars(same.where(DecisionRow.work_id == steps.work_id).order_by(DecisionRow.id))
        kind = steps.distance(What.DECISIONS, step.id) % 2
        rows = [
            row
            for row in found
            if (What.DECISIONS, row.id) not in steps.settled
            and (row.verdict not in TAKING_BACK or steps.distance(What.DECISIONS, row.id) % 2 == kind)
        ]
    taken: list[tuple[DecisionRow, FlagRow]] = []
    changed: list[str] = []
    place = ""
    for row in rows:
        flag = session.scalars(select(FlagRow).where(FlagRow.id == row.flag_id).with_for_update()).one()
        others = _others(events_of_flag(session, flag.id), row.version, steps.person)
        if others is None:
            taken.append((row, flag))
        elif others:
            changed += others
            place = place or f"{row.page}, column {row.line}"
    if changed and not leave:
        raise ChangedError(changed, place)
    made = [
        take_back_in(session, flag, row, steps.person, key if n == 0 else uuid.uuid4().hex, batch=key)
        for n, (row, flag) in enumerate(taken)
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


def _take_rule_back(session: Session, person: str, number: int, key: str, *, again: bool) -> Undone | None:
    row = session.get_one(RuleRow, number)
    of_pair = select(RuleRow).where(RuleRow.work_id == row.work_id, RuleRow.transcribed == row.transcribed)
    found = session.scalars(of_pair.where(RuleRow.suggested == row.suggested).order_by(RuleRow.id)).all()
    events = [Event(one.id, one.about, one.person) for one in found]
    at = [one.id for one in found].index(number) + 1
    if not _stands(events, at, person, f"{row.transcribed} → {row.suggested}"):
        return None
    before = standing(events, at - 1)
    was = found[before - 1] if before else None
    made = RuleRow(
        work_id=row.work_id,
        transcribed=row.transcribed,
        suggested=row.suggested,
        holds=was.holds if was else False,
        planted=was.planted if was else False,
        person=person,
        at=datetime.now(UTC),
        about=number,
        key=key,
    )
    session.add(made)
    session.flush()
    return Undone(What.RULE, again, rule=RuleChange(made.transcribed, made.suggested, made.holds))


def _take_page_back(session: Session, person: str, number: int, key: str, *, again: bool) -> Undone | None:
    taken = _take_said_of_page_back(
        session, PageEventRow, person, number, key, state=PageState.NOT_PROOFREAD.value, note=""
    )
    return taken and _undone_page(*taken, again)


def _take_layout_back(session: Session, person: str, number: int, key: str, *, again: bool) -> Undone | None:
    taken = _take_said_of_page_back(session, LayoutOverrideRow, person, number, key, layout=None, image="", quadrant="")
    return taken and _undone_layout(taken[1], again)


def _take_said_of_page_back(
    session: Session, table: type[OfPage], person: str, number: int, key: str, **nothing: Any
) -> tuple[OfPage, PageRow, OfPage] | None:
    """The row that takes the one of that number back, their page, and that one; None where it does not stand any more.
    `nothing` is what holds of a page of which nothing was said before, by column."""
    row = session.get_one(table, number)
    page = session.scalars(select(PageRow).where(PageRow.id == row.page_id).with_for_update()).one()
    found = session.scalars(select(table).where(table.page_id == page.id).order_by(table.version)).all()
    events = [Event(one.id, one.about, one.person) for one in found]
    if not _stands(events, row.version, person, page.page):
        return None
    before = standing(events, row.version - 1)
    was = {name: getattr(found[before - 1], name) for name in nothing} if before else nothing
    own = {"page_id": page.id, "version": len(found) + 1, "key": key, "person": person, "about": number}
    made = table(**own, **was, at=datetime.now(UTC))
    session.add(made)
    session.flush()
    return made, page, row


def _undone_page(made: PageEventRow, page: PageRow, taken: PageEventRow, again: bool) -> Undone:
    return Undone(What.PAGE, again, page=page_event(made), name=page.page, was=PageState(taken.state))


def _undone_layout(page: PageRow, again: bool) -> Undone:
    return Undone(What.LAYOUT, again, name=page.page, laid_out=page.id)


def _answered(session: Session, person: str, key: str, again: bool) -> Undone | None:
    """What a request with this key was answered before. Raises RefusedDecisionError where it was used otherwise."""
    decided = session.scalar(select(DecisionRow).where(DecisionRow.key == key))
    ruled = session.scalar(select(RuleRow).where(RuleRow.key == key))
    said = session.scalar(select(PageEventRow).where(PageEventRow.key == key))
    laid = session.scalar(select(LayoutOverrideRow).where(LayoutOverrideRow.key == key))
    row = decided or ruled or said or laid
    if row is None:
        return None
    work_id = decided.work_id if decided else ruled.work_id if ruled else None
    what = What.DECISIONS if decided else What.RULE if ruled else What.LAYOUT if laid else What.PAGE
    takes_back = row.about is not None and not (decided and decided.verdict not in TAKING_BACK)
    done_again = takes_back and _Steps(session, 0, person).distance(what, row.id) % 2 == 0
    if row.person != person or not takes_back or done_again != again:
        raise key_of_another()
    undone = Undone(What.DECISIONS, again, repeated=True)
    if decided:
        query = select(DecisionRow).where(DecisionRow.batch == key, DecisionRow.work_id == work_id)
        found = session.scalars(query.order_by(DecisionRow.id)).all() or [decided]
        return replace(undone, decisions=tuple(replace(one, repeated=True) for one in shown_decisions(session, found)))
    if ruled:
        return replace(undone, what=What.RULE, rule=RuleChange(ruled.transcribed, ruled.suggested, ruled.holds))
    if laid:
        return replace(_undone_layout(session.get_one(PageRow, laid.page_id), again), repeated=True)
    assert said is not None
    taken = session.get_one(PageEventRow, row.about)
    page = session.get_one(PageRow, said.page_id)
    return replace(_undone_page(said, page, taken, again), repeated=True)
