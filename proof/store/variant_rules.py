"""Rules of a work: pairs of characters that are variants. A rule hides open flags, it does not decide them; what was
decided of a pair stays in the lists and counts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from proof.locale.marking import _
from proof.store.decision_records import RefusedDecisionError, State
from proof.store.lookup import StorePart, find_work_id
from proof.store.models import FlagRow, RuleRow
from proof.store.seeded_errors import IS_SEEDED
from proof.store.typed_text import check_reading


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that `text` and `image`, a transcribed and a suggested text, are variants; `hides` is the number of open
    flags that it hides."""

    text: str
    image: str
    person: str
    at: datetime
    hides: int


class Rules(StorePart):
    """The rules that people set; `Store.rules` is one."""

    def of_work(self, work: str) -> list[Rule]:
        """The rules of a work, newest first, each with the number of flags that it hides. Raises NoPlaceError."""
        with self._reading() as session:
            work_id = find_work_id(session, work)
            rules = []
            for row in sorted(rules_of(session, work_id).values(), key=lambda row: row.id, reverse=True):
                hidden = select(func.count()).where(
                    FlagRow.work_id == work_id,
                    FlagRow.stale.is_(False),
                    FlagRow.raised.is_(True),
                    FlagRow.state == State.OPEN.value,
                    FlagRow.transcribed == row.transcribed,
                    FlagRow.suggested == row.suggested,
                )
                hides = session.scalar(hidden) or 0
                rules.append(Rule(row.transcribed, row.suggested, row.person, row.at, hides))
            return rules

    def set(self, work: str, transcribed: str, suggested: str, holds: bool, person: str) -> None:
        """Set the rule that two characters are variants in this work, or lift it if it no longer `holds`. A rule that
        another person sets again is recorded as theirs too, so that neither can take back what the other did. Raises
        NoPlaceError, RefusedDecisionError for an invalid or empty reading."""
        check_reading(transcribed)
        check_reading(suggested)
        if holds and not (transcribed.strip() and suggested.strip() and transcribed != suggested):
            raise RefusedDecisionError(_("a rule names two characters: what is missing or too many is no variant"))
        with self._writing() as session:
            work_id = find_work_id(session, work)
            last = _last_rule(session, work_id, transcribed, suggested)
            is_known = not holds if last is None else (last.holds, last.person) == (holds, person)
            if is_known:
                return
            session.add(
                RuleRow(
                    planted=_only_seeded(session, work_id, transcribed, suggested),
                    work_id=work_id,
                    transcribed=transcribed,
                    suggested=suggested,
                    holds=holds,
                    person=person,
                )
            )


def _last_rule(session: Session, work_id: int, transcribed: str, suggested: str) -> RuleRow | None:
    """The last change of the rule of this pair, None if there was none."""
    of_pair = select(RuleRow).where(RuleRow.work_id == work_id, RuleRow.transcribed == transcribed)
    last = of_pair.where(RuleRow.suggested == suggested).order_by(RuleRow.id.desc()).limit(1)
    return session.scalar(last)


def _only_seeded(session: Session, work_id: int, transcribed: str, suggested: str) -> bool:
    """Whether this pair is flagged, but only at seeded errors: a rule of it would hide no other flags."""
    pair = select(IS_SEEDED).where(FlagRow.transcribed == transcribed, FlagRow.suggested == suggested)
    seeded = session.scalars(pair.where(FlagRow.work_id == work_id, FlagRow.stale.is_(False)).distinct())
    return {bool(is_seeded) for is_seeded in seeded} == {True}


def rules_of(session: Session, work_id: int) -> dict[tuple[str, str], RuleRow]:
    """The last change of each rule of a work that holds, by its pair of characters."""
    last: dict[tuple[str, str], RuleRow] = {}
    for row in session.scalars(select(RuleRow).where(RuleRow.work_id == work_id).order_by(RuleRow.id)):
        last[row.transcribed, row.suggested] = row
    return {pair: row for pair, row in last.items() if row.holds}
