"""What was decided on a page whose text was changed since: which findings are those that were there, and where
corrections by hand stand now.

A flag's id counts lines, and equal findings in equal surroundings of one line: where one of these was corrected in the
text the next would bear its id. A flag of which something was decided is found again only where its own place is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count

from sqlalchemy import select
from sqlalchemy.orm import Session

from proof.model.flags import Flag, context_of, flag_id
from proof.model.result import PageResult
from proof.store import rows
from proof.store.carried import last_event, word_of
from proof.store.carry_over import is_in_text
from proof.store.decision_records import State
from proof.store.decision_rows import carry, corrected_in
from proof.store.manual_corrections import id_by_hand
from proof.store.models import ColumnRow, CommentRow, FlagRow, PageRow, RunRow
from proof.store.page_states import note_text_changed
from proof.store.threads import go_on, thread_of
from proof.text.edit import Edit, Surroundings, contexts
from proof.text.model import Script
from proof.text.realigned import RealignedLines
from proof.text.variants import VariantPolicy, policy_of

Beside = Mapping[int, Sequence[tuple[Edit, str]]]
"""What stands corrected of a page, by line: the edits, each with what it takes the place of."""


FoundPlace = tuple[int, int, str, str]
"""Line and offset of a finding, its kind and what is transcribed there."""


@dataclass(frozen=True, slots=True)
class RealignedPage:
    """A page that is saved again, whose columns may be others than those that it had: its flags; those that were found
    before, by where they would be found now; the threads in which something was said; its columns by number, as they
    were and as they are now, and where the places of the former are in the latter; what stands corrected on it."""

    page: PageRow
    result: PageResult
    flags: Sequence[FlagRow]
    found: Mapping[FoundPlace, Sequence[FlagRow]]
    spoken: frozenset[str]
    before: Mapping[int, str]
    now: Mapping[int, str]
    places: RealignedLines
    corrected: Beside

    @property
    def changed(self) -> bool:
        """Whether its text was changed."""
        return self.before != self.now

    def reads_otherwise(self, policy: VariantPolicy) -> bool:
        """Whether a line of it was changed other than by writing into it what was decided, in whatever form."""
        decided: dict[int, list[FlagRow]] = {}
        for row in self.flags:
            if row.state == State.CORRECTED.value and row.ordinal != rows.GONE:
                decided.setdefault(row.line, []).append(row)
        lines = ((number, source, self.now.get(number, source)) for number, source in self.before.items())
        return any(
            source != now and re.fullmatch(_either(source, decided.get(number, ()), policy), now) is None
            for number, source, now in lines
        )


def _either(source: str, corrected: Iterable[FlagRow], policy: VariantPolicy) -> str:
    """A pattern of a line with what is corrected in it, written or not."""
    pattern, reached = "", 0
    for row in sorted(corrected, key=lambda row: (row.offset, row.length)):
        end = row.offset + row.length
        if row.offset < reached or source[row.offset : end] != row.transcribed:
            continue
        either = f"(?:{re.escape(row.transcribed)}|{policy.pattern(row.reading)})"
        pattern += re.escape(source[reached : row.offset]) + either
        reached = end
    return pattern + re.escape(source[reached:])


def realigned_pages(session: Session, pages: Sequence[tuple[PageRow, PageResult]]) -> list[RealignedPage]:
    """Of pages that are to be saved, those whose text was changed, and those with flags of which something was decided
    or said: of these another finding may bear the id in the text as it is. Their findings have the ids of their places
    here."""
    ids = [page.id for page, _ in pages]
    decided = select(FlagRow.page_id).where(FlagRow.page_id.in_(ids), FlagRow.version > 0)
    said = select(CommentRow.page_id, CommentRow.uid).where(CommentRow.page_id.in_(ids), CommentRow.uid != "")
    spoken: dict[int, set[str]] = {}
    for number, uid in session.execute(said):
        spoken.setdefault(number, set()).add(uid)
    known = {*session.scalars(decided), *spoken}
    before: dict[int, dict[int, str]] = {}
    columns = select(ColumnRow.page_id, ColumnRow.number, ColumnRow.source).where(ColumnRow.page_id.in_(ids))
    for number, line, source in session.execute(columns.order_by(ColumnRow.page_id, ColumnRow.ordinal)):
        before.setdefault(number, {})[line] = source
    corrected = corrected_in(session, known)
    found = []
    for page, result in pages:
        was, now = before.get(page.id, {}), {column.number: column.source for column in result.columns}
        if was and now and (was != now or page.id in known):
            flags = list(session.scalars(select(FlagRow).where(FlagRow.page_id == page.id).order_by(FlagRow.id)))
            places, threads = RealignedLines(was, now), frozenset(spoken.get(page.id, ()))
            back = _take_up_again(session, flags, was, now, places)
            beside = {line: edits for (number, line), edits in corrected.items() if number == page.id}
            there = _places(flags, places, back)
            one = RealignedPage(page, result, flags, there, threads, was, now, places, beside)
            found.append(replace(one, result=_renamed(one)))
    return found


def _renamed(changed: RealignedPage) -> PageResult:
    """What was found on a page, each finding with the id of its place."""
    known = {row.uid: row for row in changed.flags}
    ids: dict[str, str] = {}
    others = []
    for flag in changed.result.flags:
        own = next((row for row in changed.found.get(_place_of(flag), ()) if row.uid == flag.id), None)
        others += [] if own else [flag]
        ids |= {flag.id: flag.id} if own else {}
    taken = set(ids.values())
    for flag in others:
        row = known.get(flag.id)
        alike = (one for one in changed.found.get(_place_of(flag), ()) if one.uid not in taken)
        own = next((one for one in alike if (one.line, one.context) == (flag.line, flag.context)), None)
        free = flag.id not in taken and (row is None or not _is_elsewhere(changed, row, _place_of(flag)))
        ids[flag.id] = own.uid if own else flag.id if free else _free(flag, {*known, *taken})
        taken.add(ids[flag.id])
    named = (replace(flag, id=ids[flag.id], moved=ids.get(flag.moved, flag.moved)) for flag in changed.result.flags)
    return replace(changed.result, flags=tuple(named))


_NO_BRACKETS = str.maketrans("", "", "[]")


def _take_up_again(
    session: Session, flags: Iterable[FlagRow], was: Mapping[int, str], now: Mapping[int, str], places: RealignedLines
) -> dict[int, tuple[int, int]]:
    """Where the text has again what stood at a place when it was decided, in its line and between the same, as where an
    earlier text was put back: what was decided stands there again. Gives the places, by the numbers of their flags."""
    back: dict[int, tuple[int, int]] = {}
    for row in flags:
        words = row.context.translate(_NO_BRACKETS)
        line = places.became(row.line) if rows.is_changed(row) and words in was.get(row.line, "") else None
        last = last_event(session, row) if line is not None else None
        if line is None or last is None or last.offset != row.offset:
            continue
        if last.context and context_of(now[line], row.offset, row.length) == last.context:
            row.line, row.context = line, last.context
            back[row.id] = (line, row.offset)
    return back


def _places(
    flags: Iterable[FlagRow], places: RealignedLines, back: Mapping[int, tuple[int, int]]
) -> dict[FoundPlace, list[FlagRow]]:
    """Flags by where they would be found now; those of a page that was gone for a while are stale till it is saved, and
    those whose place is `back` are till they are found."""
    found: dict[FoundPlace, list[FlagRow]] = {}
    for row in flags:
        place = places.now(row.line, row.offset, row.length) if row.ordinal >= rows.CURRENT else back.get(row.id)
        if place is not None:
            found.setdefault((*place, row.kind, row.transcribed), []).append(row)
    return found


def _place_of(flag: Flag) -> FoundPlace:
    return flag.line, flag.offset, flag.kind.value, flag.transcribed


def is_alike(context: str, other: str, text: str) -> bool:
    """Whether the same stands on both sides of `text` in both contexts, or something that is the same on one."""
    (before, _, after), (was_before, _, was_after) = (one.partition(f"[{text}]") for one in (context, other))
    return context == other or (bool(before) and before == was_before) or (bool(after) and after == was_after)


def _is_in(changed: RealignedPage, row: FlagRow, context: str) -> bool:
    """Whether a flag is one of a place with that context: what stands beside it may have been corrected, and of what
    stood first or last in its line the one neighbour be another."""
    text = row.transcribed
    if is_alike(row.context, context, text) or any(one.are_of(context, text) for one in _around(changed, row)):
        return True
    stood = context_of(changed.before.get(row.line, ""), row.offset, row.length)
    place, contexts_of = f"[{text}]", (stood, context)
    first = all(one.startswith(place) for one in contexts_of)
    return stood == row.context and (first or all(one.endswith(place) for one in contexts_of))


def _around(changed: RealignedPage, row: FlagRow) -> list[Surroundings]:
    return contexts(row.context, row.transcribed, row.offset, changed.corrected.get(row.line, ()))


def _is_elsewhere(changed: RealignedPage, row: FlagRow, found: FoundPlace) -> bool:
    """Whether the place of a flag is another than that of the finding that bears its id: that it is none of those that
    are found where they were is known."""
    others = [one for at, some in changed.found.items() if at != found for one in some]
    if not row.version and thread_of(row) not in changed.spoken:
        return row in others
    return (
        row.ordinal >= rows.CURRENT
        or any(thread_of(one) == thread_of(row) for one in others)
        or rows.is_changed(row)
        or is_in_text(row, changed.now.get(row.line), changed.corrected.get(row.line, ()))
    )


def _free(flag: Flag, taken: set[str]) -> str:
    ids = (flag_id(flag.page, flag.line, flag.kind, flag.context, n) for n in count())
    return next(one for one in ids if one not in taken)


def follow_flags(session: Session, pages: Sequence[RealignedPage]) -> None:
    """Have what was decided and said of findings stand of those that are found now where they were, under other ids."""
    for changed in pages:
        flags = {flag.id: flag for flag in changed.result.flags}
        rows_now = select(FlagRow).where(FlagRow.page_id == changed.page.id, FlagRow.stale.is_(False))
        there = {row.uid: row for row in session.scalars(rows_now)}
        for uid, flag in flags.items():
            gone = (row for row in changed.found.get(_place_of(flag), ()) if row.uid not in flags)
            was, now = next(gone, None), there.get(uid)
            if was is None or now is None:
                continue
            if not _is_in(changed, was, flag.context):
                continue
            same = thread_of(was) == thread_of(now)
            go_on(session, was, now, changed.spoken)
            last = last_event(session, was) if was.version else None
            if last and (_says_more(session, was, now) if now.version and same else _is_first(was, now)):
                carry(session, was, now, last)


def _is_first(was: FlagRow, now: FlagRow) -> bool:
    """Whether something stands of a flag, and nothing was ever said of the one that stands in its place now."""
    return was.state != State.OPEN.value and not now.version


def _says_more(session: Session, was: FlagRow, now: FlagRow) -> bool:
    """Whether of a flag of the same place that comes back something else stands, or by somebody else, than of the one
    that was there till now, and that has the last word."""
    return word_of(session, was) != word_of(session, now)


def note_otherwise(session: Session, pages: Sequence[RealignedPage]) -> None:
    """Note of pages that their text is another than the one that was proofread."""
    changed = [one for one in pages if one.changed]
    scripts: dict[int, dict[str, str]] = {}
    for run in session.scalars(select(RunRow).where(RunRow.id.in_({one.page.run_id for one in changed}))):
        scripts[run.id] = {text["path"]: text.get("script", "") for text in run.texts}
    found = []
    for one in changed:
        script = scripts[one.page.run_id].get(one.page.text, "")
        policy = policy_of(Script(script) if script in set(Script) else Script.TRADITIONAL)
        found += [one.page] if one.reads_otherwise(policy) else []
    note_text_changed(session, found)


def note_changed(pages: Sequence[RealignedPage], placed: Collection[int]) -> None:
    """Note where corrections and notes of flags that are not found any more stand now, and those that somebody may
    still make who sees one of these flags; and of which the text has something else in their place, as what was
    decided: these are nowhere else any more, however alike another place is. Those with the numbers of `placed` stand
    where they are now."""
    for changed in (one for one in pages if one.changed):
        bears = {flag.id for flag in changed.result.flags}
        for row in changed.flags:
            told = row.state in (State.CORRECTED.value, State.COPY.value, State.OPEN.value)
            if told and not rows.is_changed(row) and row.uid not in bears and row.id not in placed:
                _note_changed(changed, row)


def _note_changed(changed: RealignedPage, row: FlagRow) -> None:
    place = changed.places.now(row.line, row.offset, row.length)
    if place is not None:
        context = context_of(changed.now[place[0]], place[1], row.length)
        if row.ordinal != rows.BY_HAND and _is_in(changed, row, context):
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


def follow_by_hand(session: Session, pages: Sequence[RealignedPage]) -> set[int]:
    """Have corrections by hand stand where their characters stand now, as flags do; gives the numbers of those that
    stand somewhere."""
    placed: set[int] = set()
    for changed in (one for one in pages if one.changed):
        for row in changed.flags:
            if row.ordinal != rows.BY_HAND or row.stale or rows.is_changed(row):
                continue
            place = _place_by_hand(changed, row)
            if place is None:
                continue
            context = context_of(changed.now[place[0]], place[1], row.length)
            if place == (row.line, row.offset):
                row.context = context
                placed.add(row.id)
            else:
                placed |= _carry_by_hand(session, changed, row, place, context)
    return placed


def _place_by_hand(changed: RealignedPage, row: FlagRow) -> tuple[int, int] | None:
    """Where the place of a correction by hand is now: that of its characters; where these were gone from the text, and
    are back, the only place that reads as they did."""
    source = changed.before.get(row.line, "")
    there = context_of(source, row.offset, row.length)
    if source[row.offset : row.offset + row.length] == row.transcribed and _is_in(changed, row, there):
        place = changed.places.now(row.line, row.offset, row.length)
        known = place and _is_in(changed, row, context_of(changed.now[place[0]], place[1], row.length))
        return place if known else None
    around = _around(changed, row)[:1]
    gone, back = (list(_read_as(lines, around, row.transcribed)) for lines in (changed.before, changed.now))
    return back[0] if len(back) == 1 and not gone else None


def _read_as(lines: Mapping[int, str], around: Iterable[Surroundings], text: str) -> Iterator[tuple[int, int]]:
    """The places of lines where `text` stands in those surroundings."""
    for number, source in lines.items():
        yield from ((number, at) for one in around for at in range(len(source) + 1) if one.have(source, at, text))


def _carry_by_hand(
    session: Session, changed: RealignedPage, row: FlagRow, place: tuple[int, int], context: str
) -> set[int]:
    (line, offset), page = place, changed.page
    source = changed.now[line]
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
        return set()
    last = last_event(session, row)
    if last and word_of(session, row) != word_of(session, now):  # else it is back where it began
        carry(session, row, now, last)
    go_on(session, row, now, changed.spoken)
    now.line, now.offset, now.context = line, offset, context
    now.stale, now.ordinal = False, rows.BY_HAND
    row.stale, row.ordinal = True, rows.GONE
    return {now.id}
