"""Blind readings of the same flags, compared: an arbiter decides where they differ, and takes over where they agree."""

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
    """The compared readings of a store; `Store.double_readings` is one."""

    def of_work(self, work: str) -> list[Compared]:
        """The compared readings of a work, in the order of the flags' numbers: of flags that several people read, and
        of corrections by hand, which one reader alone may have made. Raises NoPlaceError."""
        with self._reading() as session:
            return compared(session, FlagRow.work_id == work_of(session, work))

    def of_flags(self, flags: Sequence[int]) -> dict[int, Compared]:
        """The compared readings of these flags by flag number; flags without any are left out."""
        with self._reading() as session:
            return {comparison.flag: comparison for comparison in compared(session, FlagRow.id.in_(flags))}

    def readers(self, work: str) -> dict[str, int]:
        """How many flags of a work each person read, by name. Raises NoPlaceError."""
        read = select(ReadingRow.person, func.count(ReadingRow.flag_id.distinct())).group_by(ReadingRow.person)
        with self._reading() as session:
            rows = session.execute(read.where(ReadingRow.work_id == work_of(session, work)).order_by(ReadingRow.person))
            return dict(rows.all())

    def waiting(self, work: str) -> list[Compared]:
        """The compared readings of flags that no decision has settled yet. Raises NoPlaceError."""
        with self._reading() as session:
            return compared(session, FlagRow.work_id == work_of(session, work), FlagRow.state == State.OPEN.value)

    def take_over(self, work: str, person: str, key: str) -> list[Decision]:
        """Decide each open flag whose readers agree as they did; the decisions are one act of `person`, taken back as
        one. Decided flags are left alone, so that a request may be sent again. Raises NoPlaceError."""
        decisions: list[Decision] = []
        with self._writing() as session:
            open_flags = (FlagRow.work_id == work_of(session, work), FlagRow.state == State.OPEN.value)
            for comparison in compared(session, *open_flags):
                if not comparison.agreed or session.get_one(FlagRow, comparison.flag).state != State.OPEN.value:
                    continue  # readers differ; or the flag was decided along with the other half of a moved character
                last = comparison.readings[-1]
                note = next((reading.note for reading in comparison.readings if reading.note), "")
                request = DecisionRequest(
                    *(work, comparison.flag, last.verdict, session.get_one(FlagRow, comparison.flag).version, person),
                    uuid.uuid4().hex if decisions else key,
                    last.copy_reads if last.state is State.RETAINED else last.reading,
                    note,
                    batch=key,
                    authority=last.authority,
                    confirmed=True,
                )
                decisions.append(decide_in(session, request))
        return decisions
