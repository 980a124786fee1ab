"""What was decided on a page whose text was changed since: which findings are those that were there, and where
corrections by hand stand now.

A flag's id counts lines, and equal findings in equal surroundings of one line: where one of these was corrected in the
text the next would bear its id. A flag of which something was decided is found again only where its own place is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count

from sqlalchemy import select
from sqlalchemy.orm import Session

from proof.model.flags import Flag, context_of, flag_id
from proof.model.result import PageResult
from proof.store import rows
from proof.store.carry_over import carry, is_in_text
from proof.store.decision_records import State
from proof.store.decision_rows import carried_from
from proof.store.decisions import corrected_in
from proof.store.manual_corrections import id_by_hand
from proof.store.models import ColumnRow, DecisionRow, FlagRow, PageRow
from proof.text.edit import Edit
from proof.text.realigned import RealignedLines

Beside = Mapping[tuple[int, int], Sequence[tuple[Edit, str]]]
"""What stands corrected, by page and line: the edits, each with what it takes the place of."""


FoundPlace = tuple[int, int, str, str]
"""Line and offset of a finding, its kind and what is transcribed there."""


@dataclass(frozen=True, slots=True)
class ChangedPage:
    """A page with decisions whose columns are not those that it had: its flags; those that were found before, by where
    they would be found now; its columns by number, as they were and as they are now, and where the places of the former
    are in the latter."""

    page: PageRow
    result: PageResult
    flags: Sequence[FlagRow]
    found: Mapping[FoundPlace, FlagRow]
    before: Mapping[int, str]
    now: Mapping[int, str]
    places: RealignedLines


def changed_pages(session: Session, pages: Sequence[tuple[PageRow, PageResult]]) -> list[ChangedPage]:
    """Of pages that are to be saved, those with decisions whose text was changed."""
    ids = [page.id for page, _ in pages]
    query = select(FlagRow).where(FlagRow.page_id.in_(ids))
    decided = set(session.scalars(query.where(FlagRow.version > 0).with_only_columns(FlagRow.page_id)))
    if not decided:
        return []
    before: dict[int, dict[int, str]] = {}
    columns = select(ColumnRow).where(ColumnRow.page_id.in_(decided)).order_by(ColumnRow.page_id, ColumnRow.ordinal)
    for column in session.scalars(columns):
        before.setdefault(column.page_id, {})[column.number] = column.source
    found = []
    for page, result in pages:
        was, now = before.get(page.id, {}), {column.number: column.source for column in result.columns}
        if page.id in decided and was and now and was != now:
            flags = list(session.scalars(query.where(FlagRow.page_id == page.id).order_by(FlagRow.id)))
            places = RealignedLines(was, now)
            found.append(ChangedPage(page, result, flags, _places(flags, places), was, now, places))
    return found


def ids_of_places(session: Session, pages: Sequence[ChangedPage]) -> dict[tuple[int, str], str]:
    """By page and id the ids of findings that would bear that of another place of which something was decided."""
    beside: Beside = corrected_in(session, [one.page.id for one in pages]) if pages else {}
    return {(one.page.id, was): now for one in pages for was, now in _renamed(one, beside).items()}


def _renamed(changed: ChangedPage, beside: Beside) -> dict[str, str]:
    known = {row.uid: row for row in changed.flags}
    ids: dict[str, str] = {}
    others = []
    for flag in changed.result.flags:
        own = changed.found.get(_place_of(flag))
        if own is not None and (own.line, own.context) == (flag.line, flag.context):
            ids[flag.id] = own.uid
        else:
            others.append(flag)
    taken = set(ids.values())
    for flag in others:
        row = known.get(flag.id)
        free = flag.id not in taken and (row is None or not _is_elsewhere(changed, row, beside))
        ids[flag.id] = flag.id if free else _free(flag, {*known, *taken})
        taken.add(ids[flag.id])
    return {was: now for was, now in ids.items() if was != now}


def _places(flags: Iterable[FlagRow], places: RealignedLines) -> dict[FoundPlace, FlagRow]:
    found = {}
    for row in flags:
        place = places.now(row.line, row.offset, row.length)
        if place is not None and not row.stale and row.ordinal >= rows.CURRENT:
            found[*place, row.kind, row.transcribed] = row
    return found


def _place_of(flag: Flag) -> FoundPlace:
    return flag.line, flag.offset, flag.kind.value, flag.transcribed


def is_alike(context: str, other: str, text: str) -> bool:
    """Whether the same stands on both sides of `text` in both contexts, or something that is the same on one."""
    (before, _, after), (was_before, _, was_after) = (one.partition(f"[{text}]") for one in (context, other))
    return context == other or (bool(before) and before == was_before) or (bool(after) and after == was_after)


def _is_elsewhere(changed: ChangedPage, row: FlagRow, beside: Beside) -> bool:
    """Whether the place of a flag that was decided is another than where a finding bears its id: that it is none of
    those that are found where they were is known."""
    if not row.version:
        return False
    return (
        not row.stale
        or rows.is_changed(row)
        or is_in_text(row, changed.now.get(row.line), beside.get((row.page_id, row.line), ()))
    )


def _free(flag: Flag, taken: set[str]) -> str:
    ids = (flag_id(flag.page, flag.line, flag.kind, flag.context, n) for n in count())
    return next(one for one in ids if one not in taken)


def follow_flags(session: Session, pages: Sequence[ChangedPage], ids: Mapping[tuple[int, str], str]) -> None:
    """Have what was decided of findings stand of those that are found now where they were, under other ids."""
    for changed in pages:
        flags = {ids.get((changed.page.id, flag.id), flag.id): flag for flag in changed.result.flags}
        for uid, flag in flags.items():
            was = changed.found.get(_place_of(flag))
            if was is None or was.uid in flags or was.state == State.OPEN.value or not was.version:
                continue
            now = session.scalar(select(FlagRow).where(FlagRow.page_id == changed.page.id, FlagRow.uid == uid))
            if now is not None and not now.version and is_alike(was.context, flag.context, flag.transcribed):
                carry(session, was, now, _last(session, was))


def note_changed(pages: Sequence[ChangedPage], ids: Mapping[tuple[int, str], str]) -> None:
    """Note where corrections and notes of flags that are not found any more stand now, and of which the text has
    something else in their place, as what was decided: these are nowhere else any more, however alike another place
    is."""
    for changed in pages:
        bears = {ids.get((changed.page.id, flag.id), flag.id) for flag in changed.result.flags}
        for row in changed.flags:
            told = row.state in (State.CORRECTED.value, State.COPY.value) and not rows.is_changed(row)
            if told and row.uid not in bears:
                _note_changed(changed, row)


def _note_changed(changed: ChangedPage, row: FlagRow) -> None:
    place = changed.places.now(row.line, row.offset, row.length)
    if place is not None:
        context = context_of(changed.now[place[0]], place[1], row.length)
        if row.ordinal != rows.BY_HAND and is_alike(row.context, context, row.transcribed):
            row.line, row.offset, row.context = *place, context
        return
    found = changed.places.instead(row.line, row.offset, row.length, row.reading)
    if found is not None:
        (line, offset), there = found
        row.context = context_of(changed.now[line], offset, len(there))
    elif row.line in changed.before:
        source = changed.now.get(row.line, "")
        if context_of(source, row.offset, row.length) == row.context:  # that of another line, which stands there now
            row.context = rows.GONE_CONTEXT


def follow_by_hand(session: Session, pages: Sequence[ChangedPage]) -> None:
    """Have corrections by hand stand where their characters stand now, as flags do."""
    for changed in pages:
        for row in changed.flags:
            if row.ordinal != rows.BY_HAND or row.stale or row.state == State.OPEN.value or rows.is_changed(row):
                continue
            reads = changed.before.get(row.line, "")[row.offset : row.offset + row.length]
            place = changed.places.now(row.line, row.offset, row.length)
            if reads != row.transcribed or place is None:
                continue
            source = changed.now[place[0]]
            context = context_of(source, place[1], row.length)
            if not is_alike(row.context, context, row.transcribed):
                continue
            if place == (row.line, row.offset):
                row.context = context
            else:
                _carry_by_hand(session, changed.page, row, place, source, context)


def _carry_by_hand(
    session: Session, page: PageRow, row: FlagRow, place: tuple[int, int], source: str, context: str
) -> None:
    line, offset = place
    flag = replace(rows.flag_of(page.page, row), line=line, offset=offset, context=context)
    flag = replace(flag, id=id_by_hand(flag, source))
    now = session.scalar(select(FlagRow).where(FlagRow.page_id == page.id, FlagRow.uid == flag.id))
    if now is None:
        runs = {"first_run_id": page.run_id, "last_run_id": page.run_id}
        values = rows.flag_values(rows.BY_HAND, flag)
        now = FlagRow(work_id=page.work_id, page_id=page.id, stale=False, **runs, **values)
        session.add(now)
        session.flush()
    elif now.state != State.OPEN.value and not now.stale:  # somebody corrected it there, too
        return
    last = _last(session, row)
    if not now.version or carried_from(session, last).id != _last(session, now).id:  # else it is back where it began
        carry(session, row, now, last)
    now.stale, now.ordinal = False, rows.BY_HAND
    row.stale, row.ordinal = True, rows.GONE


def _last(session: Session, flag: FlagRow) -> DecisionRow:
    """What was decided last of a flag of which something was."""
    here = (DecisionRow.flag_id == flag.id, DecisionRow.version == flag.version)
    return session.scalars(select(DecisionRow).where(*here)).one()
