"""Taking back all that one person decided in a time, as one act."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile

from sqlalchemy import select

from proof.store.decision_chains import FlagDecision, chain_of
from proof.store.decisions import undo_in
from proof.store.events import check_key, standing
from proof.store.lookup import StorePart, find_work_id
from proof.store.models import DecisionRow, FlagRow


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


class Withdrawals(StorePart):
    """Withdrawals in a store, as `Store.withdrawals`."""

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
