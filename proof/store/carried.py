"""Decisions about another edition or format of a text, made again at the places of this one that answer theirs."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from proof.errors import ToldError
from proof.locale.marking import _
from proof.store.collated import ColumnsInText, columns_of_text, pages_of_text
from proof.store.decision_records import DecisionRequest, State, Verdict
from proof.store.decisions import decide_in
from proof.store.lookup import NoPlaceError, StorePart, changed
from proof.store.manual_corrections import ManualCorrection, correct_in, flag_there
from proof.store.models import ColumnRow, FlagRow, PageRow
from proof.store.seeded import IS_SEEDED
from proof.text.transcription import Transcription

NOTHING_ASKED = _("nothing is asked there")
DECIDED = _("something was decided there already")
ON_NO_PAGE = _("stands on no page that was checked")


@dataclass(frozen=True, slots=True)
class CarriedDecision:
    """A decision to make of `length` code points from `start` on in a text. `reading` is what is to stand there;
    `origin` names the decision about the other text that it comes from."""

    start: int
    length: int
    verdict: Verdict
    reading: str
    note: str
    authority: str
    origin: Mapping[str, str | int]


class _DryRun(Exception):  # noqa: N818 - no error: it ends a transaction that is not to be kept
    pass


class CarriedDecisions(StorePart):
    """Decisions from other texts; `Store.carried` is one."""

    def make(
        self,
        work: str,
        path: str,
        edition: Transcription,
        groups: Sequence[Sequence[CarriedDecision]],
        person: str,
        *,
        dry_run: bool,
    ) -> list[str]:
        """Make decisions about the text at `path`, which reads as `edition` does, as `person`. Those of a group are
        made together or not at all. Gives for each group why it was not made, empty where it was; with `dry_run`
        nothing of it is kept.

        Raises UsageError where the text reads otherwise than it was checked.
        """
        refused: list[str] = []
        try:
            with self._writing() as session:
                pages = pages_of_text(session, work, path, edition)
                text = columns_of_text(session, pages, edition)
                batch = uuid.uuid4().hex
                refused += [_made(session, text, work, group, person, batch) for group in groups]
                if dry_run:
                    raise _DryRun
                if pages:
                    changed(session, pages[0].work_id)
        except _DryRun:
            pass
        return refused


def _made(
    session: Session, text: ColumnsInText, work: str, group: Sequence[CarriedDecision], person: str, batch: str
) -> str:
    try:
        with session.begin_nested():
            for decision in group:
                _make(session, text, work, decision, person, batch)
    except ToldError as refusal:
        return str(refusal)
    return ""


def _make(session: Session, text: ColumnsInText, work: str, decision: CarriedDecision, person: str, batch: str) -> None:
    """Make a decision. Raises ToldError where it cannot be made."""
    column = text.at(decision.start)
    if column is None:
        raise NoPlaceError(ON_NO_PAGE)
    page, offset = column.page, decision.start - column.start
    _must_be_undecided(session, page, column.number, offset, decision.length)
    flag = flag_there(session, page.id, column.number, offset, decision.length)
    key, reading = uuid.uuid4().hex, decision.reading
    as_carried: dict[str, Any] = {"note": decision.note, "authority": decision.authority, "origin": decision.origin}
    as_carried |= {"batch": batch, "confirmed": True}
    retain, delete = decision.verdict is Verdict.RETAIN and flag is None, decision.verdict is Verdict.DELETE
    if retain or delete or decision.verdict is Verdict.TYPED:
        place = (page.id, column.number, offset, decision.length)
        wanted = ManualCorrection(work, *place, reading, person, key, delete=delete, retain=retain, **as_carried)
        begins = column.start - page.start
        row = ColumnRow(page_id=page.id, number=column.number, source=column.source, begins=begins)
        correct_in(session, wanted, row)
    elif flag is None:
        raise NoPlaceError(NOTHING_ASKED)
    else:
        demand = DecisionRequest(work, flag.id, decision.verdict, flag.version, person, key, reading, **as_carried)
        decide_in(session, demand)


def _must_be_undecided(session: Session, page: PageRow, line: int, offset: int, length: int) -> None:
    """Raises NoPlaceError where something was decided of any of these characters."""
    query = select(FlagRow).where(FlagRow.page_id == page.id, FlagRow.line == line, ~IS_SEEDED)
    query = query.where(FlagRow.state != State.OPEN.value, FlagRow.version_id == page.version_id)
    for flag in session.scalars(query):
        same = (flag.offset, flag.length) == (offset, length)
        if same or (flag.offset < offset + length and offset < flag.offset + flag.length):
            raise NoPlaceError(DECIDED)
