"""What two people read blind, side by side: for whoever decides between them, and to be taken over where they agree."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from sqlalchemy import func, select

from proof.store.decision_records import Decision, DecisionRequest, State
from proof.store.decisions import decide_in
from proof.store.lookup import StorePart, work_of
from proof.store.models import FlagRow, ReadingRow
from proof.store.readings import Compared, compared


class DoubleReadings(StorePart):
    """The readings of a store beside each other; `Store.double_readings` is one."""

    def of_work(self, work: str) -> list[Compared]:
        """The flags of a work that two people read, in the order of their numbers. Raises NoPlaceError."""
        with self._reading() as session:
            return compared(session, FlagRow.work_id == work_of(session, work))

    def of_flags(self, flags: Sequence[int]) -> dict[int, Compared]:
        """Those of these flags that two people read."""
        with self._reading() as session:
            return {comparison.flag: comparison for comparison in compared(session, FlagRow.id.in_(flags))}

    def readers(self, work: str) -> dict[str, int]:
        """How many flags of a work each person read."""
        read = select(ReadingRow.person, func.count(ReadingRow.flag_id.distinct())).group_by(ReadingRow.person)
        with self._reading() as session:
            rows = session.execute(read.where(ReadingRow.work_id == work_of(session, work)).order_by(ReadingRow.person))
            return dict(rows.all())

    def waiting(self, work: str) -> list[Compared]:
        """Those that nobody decided yet: to be taken over where their readers agree, else to be decided."""
        with self._reading() as session:
            return compared(session, FlagRow.work_id == work_of(session, work), FlagRow.state == State.OPEN.value)

    def take_over(self, work: str, person: str, key: str) -> list[Decision]:
        """Decide as their readers did what these read alike: one act of `person`, taken back as one. What was taken
        over already is left alone, so that a request may be sent again. Raises NoPlaceError."""
        made: list[Decision] = []
        with self._writing() as session:
            open_flags = (FlagRow.work_id == work_of(session, work), FlagRow.state == State.OPEN.value)
            for comparison in compared(session, *open_flags):
                if not comparison.agreed or session.get_one(FlagRow, comparison.flag).state != State.OPEN.value:
                    continue  # the other half of a moved character was decided along with the first
                last = comparison.readings[-1]
                note = next((reading.note for reading in comparison.readings if reading.note), "")
                demand = DecisionRequest(
                    *(work, comparison.flag, last.verdict, session.get_one(FlagRow, comparison.flag).version, person),
                    uuid.uuid4().hex if made else key,
                    last.copy_reads if last.state is State.RETAINED else last.reading,
                    note,
                    batch=key,
                    authority=last.authority,
                    confirmed=True,
                )
                made.append(decide_in(session, demand))
        return made
