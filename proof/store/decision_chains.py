"""The decisions on a flag as one chain, oldest first, and the rows of decisions.

In a project with blind proofreading (`serve.blind`), each proofreader has a chain of their own on each flag, of
`ReadingRow`s, which nobody else sees until the readings are compared. The same rules apply to both kinds of chains.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace

from sqlalchemy import select
from sqlalchemy.orm import Session

from proof.model.flags import Origin
from proof.store.authorities import CARRIED, authority_of
from proof.store.decision_records import ConflictError, Decision, DecisionRequest, State, Verdict
from proof.store.lookup import filled
from proof.store.models import DecisionRow, FlagRow, PageRow, ReadingRow
from proof.store.seeded_errors import seeded_places, shown_context
from proof.store.texts import columns_of_pages

FlagDecision = DecisionRow | ReadingRow
"""A decision that everybody sees, or a blind reading."""


@dataclass(frozen=True, slots=True)
class Requester:
    """The person who makes a request. `blind`: they see no decisions of others; `arbitrates`: they decide where two
    readers differ."""

    person: str = ""
    blind: bool = False
    arbitrates: bool = False

    @property
    def reader(self) -> str | None:
        """The person whose blind readings are shown instead of the decisions; None if the decisions are shown."""
        return self.person if self.blind else None


REQUESTER: ContextVar[Requester] = ContextVar("requester", default=Requester())  # noqa: B039 - it is frozen
"""The person who makes the present request."""


@dataclass(frozen=True, slots=True)
class Chain:
    """The decisions on a flag, or the blind readings of it by `reader`, oldest first. Versions count them from 1."""

    flag: FlagRow
    rows: Sequence[FlagDecision]
    reader: str | None = None

    @property
    def version(self) -> int:
        """The version of the flag: the number of its decisions."""
        return len(self.rows)

    @property
    def state(self) -> State:
        """The state of the flag after the last decision."""
        return State(self.rows[-1].state) if self.rows else State.OPEN

    @property
    def reading(self) -> str:
        """The reading at the place after the last decision."""
        return self.rows[-1].reading if self.rows else self.flag.transcribed

    @property
    def is_settled_for_reader(self) -> bool:
        """Whether an arbiter decided the flag, so that its blind reader can no longer change their reading."""
        return self.reader is not None and self.flag.state != State.OPEN.value

    def row(self, version: int) -> FlagDecision | None:
        """The decision that made this version, if there is one."""
        return self.rows[version - 1] if 0 < version <= len(self.rows) else None

    def version_of(self, row: FlagDecision) -> int:
        """The version that a decision of the chain made."""
        return self.rows.index(row) + 1

    def shown(self, session: Session, since: int = 0) -> list[Decision]:
        """The decisions after version `since`, as `shown_decisions` gives them, with their versions."""
        decisions = shown_decisions(session, self.rows[since:])
        return [replace(decision, version=version) for version, decision in enumerate(decisions, since + 1)]

    def conflict(self, session: Session, version: int) -> ConflictError:
        """The error that carries the decisions since `version`."""
        return ConflictError(self.flag.id, self.version, self.shown(session, version))


def chain_of(session: Session, flag: FlagRow, reader: str | None = None) -> Chain:
    """The decisions on a flag, or the blind readings of it by `reader`."""
    if reader is None:
        decisions = select(DecisionRow).where(DecisionRow.flag_id == flag.id).order_by(DecisionRow.version)
        return Chain(flag, session.scalars(decisions).all())
    readings = select(ReadingRow).where(ReadingRow.flag_id == flag.id, ReadingRow.person == reader)
    return Chain(flag, session.scalars(readings.order_by(ReadingRow.id)).all(), reader)


def chain_with(session: Session, row: FlagDecision) -> Chain:
    """The chain that a decision or a reading belongs to. Its flag is locked for the transaction."""
    flag = session.scalars(select(FlagRow).where(FlagRow.id == row.flag_id).with_for_update()).one()
    return chain_of(session, flag, row.person if isinstance(row, ReadingRow) else None)


_COPIED_FROM_FLAG = ("uid", "ref", "line", "offset", "length", "kind", "transcribed", "suggested", "context")
"""Columns of a flag that its decisions copy, since the flag may change later."""


def new_row(session: Session, request: DecisionRequest, chain: Chain, state: State, reading: str) -> FlagDecision:
    """The row of a new decision at the end of a chain, which leaves the flag in `state` with `reading`."""
    flag = chain.flag
    page = session.get_one(PageRow, flag.page_id)
    evidence = {"reason": flag.reason, "rule": flag.rule, "score": flag.score, "run": flag.last_run_id}
    evidence |= flag.evidence
    if request.origin:
        evidence[CARRIED] = dict(request.origin)
    columns = {
        "work_id": flag.work_id,
        "flag_id": flag.id,
        "key": request.key,
        "batch": request.batch,
        "verdict": request.verdict.value,
        "was_state": chain.state.value,
        "state": state.value,
        "was": chain.reading,
        "reading": reading,
        "person": request.person,
        "note": request.note,
        "authority": authority_of(request, flag, page),
        "copy_reads": request.reading if request.verdict is Verdict.RETAIN else "",
        "page": page.page,
        "evidence": evidence,
        **{name: getattr(flag, name) for name in _COPIED_FROM_FLAG},
    }
    return DecisionRow(version=chain.version + 1, **columns) if chain.reader is None else ReadingRow(**columns)


def shown_decisions(session: Session, rows: Sequence[FlagDecision]) -> list[Decision]:
    """The decisions as people see them: the context of a correction by hand shows seeded errors like the page does."""
    if not rows:
        return []
    by_hand = select(FlagRow.id, PageRow).join(PageRow, PageRow.id == FlagRow.page_id)
    by_hand = by_hand.where(FlagRow.origin == Origin.PERSON.value, FlagRow.id.in_({row.flag_id for row in rows}))
    page_of = dict(iter(session.execute(by_hand)))
    seeded_of_page = seeded_places(session, sorted({page.id for page in page_of.values()}))
    sources = columns_of_pages(session, (page for page in page_of.values() if page.id in seeded_of_page))
    decisions = []
    for row in rows:
        decision, page = decision_of(row), page_of.get(row.flag_id)
        if page is not None and page.id in seeded_of_page:
            context, source = decision.context, sources[page.id].get(decision.line, "")
            place, seeded = (decision.line, decision.offset, decision.length), seeded_of_page[page.id]
            decision = replace(decision, context=shown_context(context, source, *place, seeded))
        decisions.append(decision)
    return decisions


def decision_of(row: FlagDecision) -> Decision:
    """The decision of a row. That of a blind reading lacks its version, which only its chain knows."""
    was_state, state = State(row.was_state), State(row.state)
    return filled(Decision, row, flag=row.flag_id, verdict=Verdict(row.verdict), was_state=was_state, state=state)
