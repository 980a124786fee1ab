"""Decisions that a check carries over, from flags that it no longer finds to those that now say the same."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from sqlalchemy import select, true
from sqlalchemy.orm import Session, aliased

from proof.store import rows
from proof.store.carried import origins, word_of
from proof.store.decision_records import TAKING_BACK, State
from proof.store.decision_rows import carried_from, carry, corrected_in
from proof.store.models import ColumnRow, DecisionRow, FlagRow
from proof.store.quality import is_seeded
from proof.store.threads import go_on, take_up_lost, thread_of
from proof.text.edit import Edit, contexts, is_written

Candidate = tuple[FlagRow, FlagRow, DecisionRow]
"""A flag that is gone, the one that now stands in its place, and what was said of the former last."""


def carry_over(
    session: Session, work_id: int, *, page: int | None = None, known: Collection[int] | None = None
) -> None:
    """Carry decisions whose flag was not found again to the flag that now says the same of the same place: a line put
    in above makes another flag of it, since a flag's id counts lines. Where the line is taken out again the earlier
    flag is there again, with what was said of it then: what was said since comes back to it, taking back too. A place
    stays the same where what stands beside it was corrected in the text. A flag that was there beside the other is
    another place: those whose numbers are `known`, or, where that is not given, that earlier runs have found. On one
    `page` alone, where that is given."""
    old, new, last, further = aliased(FlagRow), aliased(FlagRow), aliased(DecisionRow), aliased(DecisionRow)
    query = (
        select(old, new, last)
        .join(new, new.page_id == old.page_id)
        .join(last, (last.flag_id == old.id) & (last.version == old.version))
        .where(old.work_id == work_id, old.stale.is_(True))
        .where(new.stale.is_(False), new.kind == old.kind)
        .where((new.context == old.context) | ((new.line == old.line) & (new.version == 0)))
        .where(new.transcribed == old.transcribed, new.ordinal >= rows.CURRENT, is_seeded(old.id) == is_seeded(new.id))
        .where(~select(further.id).where(further.about == last.id).exists())
        .where(new.first_run_id > old.last_run_id if known is None else new.id.not_in(known))
        .where(true() if page is None else old.page_id == page)
        .order_by(old.id, new.id)
    )
    pairs = [(was, now, said) for was, now, said in session.execute(query)]
    found = _with_last_word(session, _of_one_place(session, _not_in_text(session, pairs)))
    for was, now, decision in _in_order(session, found):
        if now.version or was.state != State.OPEN.value:
            carry(session, was, now, decision)
        else:  # all was taken back, and may be done again
            go_on(session, was, now)
    session.flush()
    take_up_lost(session, work_id, page)


def _not_in_text(session: Session, found: Sequence[Candidate]) -> list[Candidate]:
    """Those whose flag is not gone because the text now reads what was decided of it."""
    corrected = {was.page_id for was, *_ in found if was.state == State.CORRECTED.value}
    if not corrected:
        return list(found)
    beside = corrected_in(session, corrected)
    columns = select(ColumnRow.page_id, ColumnRow.number, ColumnRow.source).where(ColumnRow.page_id.in_(corrected))
    lines = {(page, number): source for page, number, source in session.execute(columns)}

    places = [(was.page_id, was.line) for was, *_ in found]
    return [
        one
        for one, place in zip(found, places, strict=True)
        if not is_in_text(one[0], lines.get(place), beside.get(place, ()))
    ]


def is_in_text(row: FlagRow, line: str | None, beside: Sequence[tuple[Edit, str]]) -> bool:
    """Whether the line of a flag reads at its place what was decided of it."""
    if line is None or row.state != State.CORRECTED.value:
        return False
    edit = Edit(row.offset, row.length, row.reading)
    return is_written(line, edit, row.transcribed, row.context, beside)


def _in_order(session: Session, found: Iterable[Candidate]) -> Iterator[Candidate]:
    """Of places that are alike those that are told apart by their order: as many are gone as are new. Else which of
    them is meant cannot be said."""
    alike: dict[tuple[int, str, str], list[Candidate]] = {}
    for one in found:
        alike.setdefault((one[1].page_id, one[1].kind, one[1].context), []).append(one)
    for some in alike.values():
        last = {was.id: (was, said) for was, _, said in some}
        new = {now.id: now for _, now, _ in some}
        was = some[0][0]
        same = select(FlagRow).where(FlagRow.page_id == was.page_id, FlagRow.kind == was.kind)
        same = same.where(FlagRow.context == was.context, FlagRow.stale.is_(True), FlagRow.version == 0)
        undecided = session.scalars(same.where(FlagRow.last_run_id == was.last_run_id)).all()
        gone = sorted([*(one for one, _ in last.values()), *undecided], key=_place)
        if len(gone) == len(new):
            pairs = zip(gone, sorted(new.values(), key=_place), strict=True)
            yield from ((one, now, last[one.id][1]) for one, now in pairs if one.id in last)


def _place(flag: FlagRow) -> tuple[int, int]:
    return flag.line, flag.offset


def _of_one_place(session: Session, pairs: Iterable[Candidate]) -> list[Candidate]:
    """Those whose two flags stand in the same surroundings, as these were or as they were corrected."""
    known = list(pairs)
    found = [one for one in known if one[0].context == one[1].context]
    others = [one for one in known if one[0].context != one[1].context]
    corrected = corrected_in(session, {was.page_id for was, *_ in others}) if others else {}
    for was, now, last in others:
        around = contexts(was.context, was.transcribed, was.offset, corrected.get((was.page_id, was.line), ()))
        if any(one.are_of(now.context, was.transcribed) for one in around):
            found.append((was, now, last))
    return found


def _with_last_word(session: Session, found: Iterable[Candidate]) -> list[Candidate]:
    """Of flags that are gone, with the one that stands in their place and what was said of them last, those of which
    something was said after all that was said of the others, and of the one that stands there."""
    of_place: dict[int, list[Candidate]] = {}
    for one in found:
        of_place.setdefault(one[1].id, []).append(one)
    kept: list[Candidate] = []
    for alike in of_place.values():
        now = alike[0][1]
        if not now.version and len(alike) == 1:
            kept += alike
            continue
        before = {was.id: _said_before(session, was) for was, *_ in alike}
        stands = select(DecisionRow).where(DecisionRow.flag_id == now.id, DecisionRow.version == now.version)
        here = session.scalar(stands)
        of_thread = {thread_of(one[0]): one for one in sorted(alike, key=lambda one: one[2].id)}
        for one in of_thread.values():  # of several flags of one place, of which something was said last
            said = carried_from(session, one[2]).id
            known = here is None or bool(_led_to(session, here) & (before[one[0].id] - {said}))
            known = known or _said_after_all_was_taken_back(one, here)
            known = known and (here is None or _says_more(session, one, here))
            if known and not any(said in others for others in before.values()):
                kept.append(one)
    return kept


def _led_to(session: Session, said: DecisionRow) -> set[int]:
    """What was said, by number, of which a decision says anew, restores or takes back what it does."""
    taken = [session.get_one(DecisionRow, said.about)] if said.verdict in TAKING_BACK else []
    return {one.id for event in (said, *taken) for one in origins(session, event)}


def _says_more(session: Session, one: Candidate, here: DecisionRow) -> bool:
    """Whether the flag that is gone stands otherwise than the one at its place, by what was said of it later; or at
    once, where that left nothing of the other."""
    was, now, last = one
    at_once = bool(last.batch) and last.batch == here.batch
    later = now.state == State.OPEN.value != was.state if at_once else last.id > here.id
    return later and word_of(session, was) != word_of(session, now)


def _said_after_all_was_taken_back(one: Candidate, here: DecisionRow | None) -> bool:
    """Whether all that was said of a flag had been taken back before something was said of the other flag that stood at
    its place meanwhile."""
    was, now, _ = one
    alone = here is not None and now.state == State.OPEN.value != was.state
    return alone and thread_of(was) == thread_of(now)


def _said_before(session: Session, flag: FlagRow) -> set[int]:
    """What was decided of a place before the last decision of a flag of it, by number, as it was before checks carried
    it over: of this flag, and of those from which they did."""
    found: set[int] = set()
    seen: set[tuple[int, int]] = set()
    open_ = [(flag.id, flag.version)]
    while open_:
        number, version = open_.pop()
        if (number, version) in seen:
            continue
        seen.add((number, version))
        events = select(DecisionRow).where(DecisionRow.flag_id == number, DecisionRow.version <= version)
        for one in session.scalars(events):
            source = carried_from(session, one)
            found |= {source.id} if one.version < version else set()
            open_ += [(source.flag_id, source.version)] if source is not one else []
    return found
