"""Where a decision stands by what checks carried over of it, and whose word a place has.

A place whose text was changed has had several flags, of which the last is seen. A check has what stood of one stand of
the next; taking something back and doing it again are events of each flag by itself. What stands now of a flag is
therefore traced back through what was carried over and what was restored.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sqlalchemy import select
from sqlalchemy.orm import Session

from proof.store.decision_records import TAKING_BACK, State, Verdict
from proof.store.decision_rows import decided_by
from proof.store.models import DecisionRow, FlagRow
from proof.store.standing import Event, standing
from proof.store.threads import gone_beside, successor


def last_event(session: Session, flag: FlagRow) -> DecisionRow | None:
    """What was said of a flag last."""
    here = (DecisionRow.flag_id == flag.id, DecisionRow.version == flag.version)
    return session.scalar(select(DecisionRow).where(*here))


def events_of_flag(session: Session, flag: int) -> list[Event]:
    """All that was said of a flag, oldest first, what a check carried over by who had said it."""
    found = session.scalars(select(DecisionRow).where(DecisionRow.flag_id == flag).order_by(DecisionRow.version))
    return [Event(row.id, row.about if row.verdict in TAKING_BACK else None, decided_by(session, row)) for row in found]


def left_by(session: Session, event: DecisionRow, act: Collection[int]) -> int:
    """The version of its flag that an event of an act left, each of whose events has its number in `act`: what stood
    elsewhere before came back to where nothing stood any more."""
    later = select(DecisionRow).where(DecisionRow.flag_id == event.flag_id, DecisionRow.version > event.version)
    version = event.version
    for one in session.scalars(later.order_by(DecisionRow.version)):
        if one.verdict != Verdict.CARRIED.value or one.about not in act:
            break
        version = one.version
    return version


def standing_event(session: Session, flag: int, version: int | None = None) -> DecisionRow | None:
    """What stands of a flag, or stood at a version of it; None where nothing did."""
    events = events_of_flag(session, flag)
    number = standing(events, version)
    return session.get_one(DecisionRow, events[number - 1].id) if number else None


def origins(session: Session, decision: DecisionRow) -> Iterator[DecisionRow]:
    """A decision, what it carried over or restored, and so on, back to what somebody said."""
    one: DecisionRow | None = decision
    while one is not None:
        yield one
        if one.verdict == Verdict.CARRIED.value and one.about is not None:
            one = session.get_one(DecisionRow, one.about)
        elif one.verdict in TAKING_BACK:
            one = standing_event(session, one.flag_id, one.version)
        else:
            return


def word_of(session: Session, flag: FlagRow) -> int:
    """The number of the decision of a person by which a flag stands as it does; 0 where nothing stands of it."""
    stands = standing_event(session, flag.id)
    *_, said = (0, *(one.id for one in origins(session, stands))) if stands is not None else (0,)
    return said if flag.state != State.OPEN.value else 0


def follows(session: Session, here: FlagRow, flag: FlagRow) -> bool:
    """Whether what stands of a flag was carried over from that other one, or nothing was decided of it."""
    last = last_event(session, here)
    return last is None or any(one.flag_id == flag.id for one in origins(session, last))


def beaten_by(session: Session, flag: FlagRow) -> FlagRow | None:
    """The flag that stands at the place of one that is gone, where something else was decided of it; where none does,
    as the text reads what was decided, one that stood there and of which something was said after all that was said of
    the flag."""
    here = successor(session, flag)
    if here is not None:
        return None if follows(session, here, flag) else here
    last = last_event(session, flag)
    words = {word_of(session, one): one for one in gone_beside(session, flag)}
    latest = max(words, default=0)
    return words[latest] if latest > (last.id if last is not None else 0) else None


def is_copy(session: Session, decision: DecisionRow) -> bool:
    """Whether a decision is what a check carried over, or takes that back, or does it again."""
    while decision.verdict in TAKING_BACK and decision.about is not None:
        decision = session.get_one(DecisionRow, decision.about)
    return decision.verdict == Verdict.CARRIED.value


def carried_on(session: Session, decision: DecisionRow) -> list[DecisionRow]:
    """By what a decision stands at other flags than its own."""
    found: dict[int, DecisionRow] = {}
    carried = select(DecisionRow).where(DecisionRow.about == decision.id, DecisionRow.verdict == Verdict.CARRIED.value)
    for one in session.scalars(carried.order_by(DecisionRow.id)).all():
        found |= {each.id: each for each in (one, *carried_on(session, one))}
    here = successor(session, session.get_one(FlagRow, decision.flag_id))
    stands = standing_event(session, here.id) if here is not None else None
    if stands is not None:
        own = standing_event(session, decision.flag_id, decision.version)
        if own is not None and any(one.id == own.id for one in origins(session, stands)):
            found[stands.id] = stands
    return list(found.values())


def overruled_by(session: Session, flag: FlagRow) -> str:
    """Who decided what stands at the place of a flag that is gone, where that is another word than what stands of the
    flag; empty where nothing stands there, or the same."""
    here = successor(session, flag)
    stands = standing_event(session, here.id) if here is not None else None
    if here is None or stands is None or word_of(session, here) in (0, word_of(session, flag)):
        return ""
    return decided_by(session, stands)
