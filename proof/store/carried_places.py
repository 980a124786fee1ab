"""Carries places of flags from one content of a text to the next, and says what decisions whose places meet make of it.

Nothing here needs the database: `texts` applies it to stored flags, `journal_replay` to acts of a journal, exports to
files that were changed since the last check.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import chain
from math import inf
from operator import attrgetter
from typing import NamedTuple

from proof.model.flags import LINE_BREAK
from proof.store.decision_records import State
from proof.text.edit import Edit, edited
from proof.text.lines import LINE_ENDING, LINE_ENDING_SIGNS, line_edit
from proof.text.model import Script
from proof.text.positions import PositionMap, Span, line_end
from proof.text.variants import VariantPolicy, policy_of


def policy_of_script(script: str) -> VariantPolicy:
    """The variant policy of a stored script; that of traditional script for an unknown one."""
    return policy_of(Script(script) if script in set(Script) else Script.TRADITIONAL)


FIRST_FORMER = 1 << 30
"""The number of the first character of a text if it is deleted: what is deleted later may precede it."""

_CHARACTERS = re.compile(f"[^{LINE_ENDING_SIGNS}]+")


@dataclass(frozen=True, slots=True)
class ExportEdits:
    """The edits that an export made to a text; `of_flags` are the indices of those that wrote the decisions on
    flags, by flag number."""

    edits: tuple[Edit, ...]
    of_flags: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a flag in the `content` of a version of its text: `extent` code points from `start`, which are
    `reads`. Later versions have larger numbers.

    `transcribed` are the characters at the time of the check, `decided_reading` those that belong there after the
    decisions. An `is_whole` place (of a seeded error, a column or a page) is lost if its characters change, even to
    another of its readings. `is_decided`: somebody decided its reading. `rank` orders what is inserted at one place as
    on the image (`rank_on_image`), 0 if unknown; `former` what was deleted at one place (`FlagRow.former`).
    """

    flag: int
    start: int
    extent: int
    reads: str
    transcribed: str
    decided_reading: str
    is_whole: bool = False
    is_decided: bool = False
    rank: float = 0
    former: int = 0
    content: str = ""
    version: int = 0

    @property
    def span(self) -> Span:
        return Span(self.start, self.extent)

    @property
    def is_corrected(self) -> bool:
        """Whether other characters than the transcribed ones belong there."""
        return self.decided_reading != self.transcribed

    @property
    def is_written(self) -> bool:
        """Whether the text has the decided reading."""
        return self.reads == self.decided_reading

    def at(self, span: Span, reads: str) -> Place:
        """The place in another content, where it is at `span` and `reads` so."""
        return replace(self, start=span.start, extent=span.length, reads=reads, former=0)

    def edit(self, content: str, reading: str) -> Edit:
        """The edit of the content that makes the place read so; a column comes and goes with its line ending."""
        if not self.is_whole:
            return Edit(*self.span, reading)
        return line_edit(content, self.start, self.reads, reading, self.start - _line_begin(content, self.start))


@dataclass(frozen=True, slots=True)
class DecidedFlag:
    """A flag with decisions; `first` and `last` are the ids of the first and the last one. `place` is in the last
    version of the text that has it, `present` in the present one; None if it is lost. `given` are all readings that
    were decided at a place without characters."""

    first: int
    last: int
    state: State
    suggested: str
    place: Place
    present: Place | None
    given: frozenset[str] = frozenset()

    @property
    def flag(self) -> int:
        """The number of the flag."""
        return self.place.flag

    @property
    def transcribed(self) -> str:
        """The characters at the time of the check."""
        return self.place.transcribed

    @property
    def now(self) -> Place:
        """The place in the present version, or else that in the last version that has it."""
        return self.present or self.place

    @property
    def is_applied(self) -> bool:
        """Whether the present content has the correction."""
        is_corrected = self.present is not None and self.state is State.CORRECTED
        return is_corrected and self.now.reads == self.place.decided_reading != self.transcribed

    @property
    def is_deleted_with_its_line(self) -> bool:
        """Whether a lost place is that of an exported deletion which left no characters on its line, so that the text
        reads as decided: the line was removed since."""
        line, _ = _in_line(self.place.content, self.place.span)
        is_deletion = bool(self.transcribed) and not self.place.reads and not self.place.decided_reading
        return is_deletion and not any(map(str.isalnum, line))

    def supersedes(self, undone: DecidedFlag) -> bool:
        """Whether the text keeps what it has at the place of the decision `undone`, which was taken back: this one is
        in the text there, or newer. Neighbours that were deleted have one place, and differ in their numbers."""
        own, place = self.now.span, undone.now.span
        if self.state is State.OPEN:  # it restores what had been there before both
            is_about_written = bool(place.length) or undone.transcribed in self.given
            is_restored = own == place and self.now.reads == self.transcribed
            return is_restored and self.first < undone.first and is_about_written
        if self.is_applied and own.meets(place) and self.now.former == undone.now.former:
            return True
        if self.state is State.SKIPPED or self.last < undone.last:
            return False
        if self.is_applied:  # it put something in where the other one had deleted something
            is_beside = place in (Span(own.start, 0), Span(own.end, 0))
            return is_beside and not self.transcribed and self.first > undone.first
        if self.state in (State.KEPT, State.UNSURE) and not self.transcribed:
            is_the_same = self.suggested != "" and self.suggested in (undone.transcribed, undone.suggested)
            return own == place and not place.length and is_the_same
        return own.meets(place)

    def starts_of(self, replaced: str) -> list[int]:
        """Where `replaced` may begin in the content, if a later decision replaced it: it has some of the characters of
        the place, or is beside an empty one or a line ending."""
        place = self.place
        overlap = int(bool(place.extent) and place.reads != LINE_BREAK)
        first, last = place.start - len(replaced) + overlap, place.span.end - overlap
        return [at for at in range(max(first, 0), last + 1) if place.content.startswith(replaced, at)]

    def may_replace(self, lost: DecidedFlag) -> bool:
        """Whether it may have decided some of the characters that an earlier decision had written, whose place is lost
        since: all of them, if it stands and the lost one was taken back. What is inserted goes between several
        characters, or where some had been deleted."""
        if self.first <= lost.first:
            return False
        takes_all = self.state is not State.OPEN and not lost.place.is_corrected
        if not self.transcribed:
            return not lost.place.extent or (lost.place.extent > 1 and not takes_all)
        spans = (Span(start, len(self.transcribed)) for start in lost.starts_of(self.transcribed))
        return any(not takes_all or lost.place.span.is_within(span) for span in spans)


@dataclass(frozen=True, slots=True)
class Effects:
    """What the decisions on a text make of it together. `restored` is what the text is to read where an exported
    correction was taken back, by flag number; `kept` are the flags taken back whose transcribed characters are not
    restored. Of those whose places are lost, a later decision `replaced` some, others `deleted` what stood on a line
    that was removed since, and `waiting` ones get their place back with what is restored. `amended` are the
    corrections of which a later one corrected a part, and `first_readings` what stood before all corrections at these
    and at those that are in the text, by flag."""

    restored: dict[int, str]
    first_readings: dict[int, str]
    amended: dict[int, Amended]
    kept: set[int]
    replaced: set[int]
    deleted: set[int]
    waiting: set[int]


def effects_of(decided: Iterable[DecidedFlag], content: str) -> Effects:
    """The effects of all decisions on a text with this present content."""
    present: list[DecidedFlag] = []
    lost: list[DecidedFlag] = []
    near: defaultdict[int, list[DecidedFlag]] = defaultdict(list)
    for each in decided:
        (lost if each.present is None else present).append(each)
        for at in _bounds(each.now.span) if each.present is not None else ():
            near[at].append(each)
    to_present = cache(lambda content_of_lost: PositionMap.of_comparison(content_of_lost, content))
    replaced = _replaced_by_later(lost, present, content, to_present)
    withdrawn = [each for each in present if each.state is State.OPEN and each.now.reads != each.transcribed]
    restored, waiting = _readings_before(withdrawn, [each for each in lost if not each.place.is_corrected], replaced)
    applied = [each for each in present if each.is_applied]
    amended = _amended([each for each in lost if each.flag in replaced], near, to_present)
    now = [*withdrawn, *applied, *(each for each in lost if each.flag in amended)]
    first_readings, _ = _readings_before(now, lost, replaced)
    kept = {
        undone.flag
        for undone in withdrawn
        if any(other.supersedes(undone) for at in _bounds(undone.now.span) for other in near[at])
    }
    deleted = {each.flag for each in lost if each.is_deleted_with_its_line}
    return Effects(restored, first_readings, amended, kept, set(replaced), deleted, waiting)


def _bounds(span: Span) -> range:
    """The code points of a span and the one behind it."""
    return range(span.start, span.end + 1)


def _replaced_by_later(
    lost: Iterable[DecidedFlag],
    present: Iterable[DecidedFlag],
    content: str,
    to_present: Callable[[str], PositionMap],
) -> dict[int, int]:
    """The lost decisions of which a later one decided what they had written: by the number of the flag, the flag of the
    later decision, newest first. In the present content, the later one stands where they stood. Of equal neighbours
    each replaced another."""
    known = []
    for each in present:
        reads = each.now.reads if each.place.is_whole else content[each.now.span.start : each.now.span.end]
        if reads != each.transcribed:
            known.append(each)
    replaced: dict[int, int] = {}
    taken: set[tuple[int, str]] = set()  # later decisions, and the characters that each of them was about
    for decision in sorted(lost, key=attrgetter("first"), reverse=True):
        place = decision.place
        if place.reads == place.transcribed or (place.is_corrected and not place.is_written):
            continue
        later = [other for other in known if other.may_replace(decision)]
        around = to_present(place.content).around(place.span) if later else None
        here = [other for other in later if around is not None and other.now.span.touches(around)]
        by = next((other for other in reversed(here) if (other.flag, place.reads) not in taken), None)
        if by is not None:
            replaced[decision.flag] = by.flag
            taken.add((by.flag, by.transcribed))
            known.append(replace(decision, present=by.present))
    return replaced


class Amended(NamedTuple):
    """A correction of which later ones corrected a part: the place of all in the present content, what stood `before`
    and `behind` the earlier one there, and the flags of the later ones."""

    span: Span
    before: str
    behind: str
    later: frozenset[int]


def _amended(
    replaced: Iterable[DecidedFlag],
    near: Mapping[int, Sequence[DecidedFlag]],
    to_present: Callable[[str], PositionMap],
) -> dict[int, Amended]:
    """The corrections that were corrected in part, by flag; `replaced` are the lost ones that a later decision
    replaced, and `near` the present decisions by the code points of their places."""
    amended: dict[int, Amended] = {}
    for each in replaced:
        place, around = each.place, to_present(each.place.content).around(each.place.span)
        if not place.is_corrected or around is None:
            continue
        old, later = place.span, list[DecidedFlag]()
        present = {other.flag: other for at in _bounds(around) for other in near.get(at, ())}
        for other in sorted(present.values(), key=attrgetter("flag")):
            is_later = other.is_applied and other.may_replace(each)
            starts = each.starts_of(other.transcribed) if is_later else []
            part = Span(starts[0], len(other.transcribed)) if len(starts) == 1 and other.transcribed else place.span
            if starts and not (other.transcribed and place.span.is_within(part)):
                old = old.union(part)
                later.append(other)
        span = to_present(place.content).between(*old) if later else None
        length = old.length + sum(len(other.now.reads) - len(other.transcribed) for other in later)
        if span is not None and span.length == length:  # else something else was changed beside it
            before, behind = place.content[old.start : place.start], place.content[place.span.end : old.end]
            amended[each.flag] = Amended(span, before, behind, frozenset(other.flag for other in later))
    return amended


def _readings_before(
    present: Iterable[DecidedFlag], lost: Iterable[DecidedFlag], replaced: Mapping[int, int]
) -> tuple[dict[int, str], set[int]]:
    """What had been at the places of the `present` decisions, by flag: before each and, where a `lost` decision had
    written a part of that, before both; and the lost flags whose part is not found in it. `replaced` is that of
    `_replaced_by_later`."""
    edits: defaultdict[int, list[Edit]] = defaultdict(list)
    waiting: set[int] = set()
    lost_of = {decision.flag: decision for decision in lost}
    readings = {decision.flag: decision.transcribed for decision in present}
    former = {flag: decision.transcribed for flag, decision in lost_of.items()} | readings
    for flag in reversed(replaced):  # the parts of a part first
        by = replaced[flag]
        if flag not in lost_of or by not in former:
            continue
        place, starts = lost_of[flag].place, lost_of[flag].starts_of(former[by])
        is_ending = LINE_BREAK in (place.reads, place.transcribed)
        if len(starts) == 1 and place.span.is_within(Span(starts[0], len(former[by]))) and not is_ending:
            edits[by].append(Edit(place.start - starts[0], place.extent, edited(former[flag], edits[flag])))
        else:
            waiting.add(flag)
    return {flag: edited(reading, edits[flag]) for flag, reading in readings.items()}, waiting


def is_decided_later(lost: Place, others: Iterable[Place]) -> bool:
    """Whether a later version has a decision on characters that may be those of a `lost` place, which then does not
    return to its span. Decisions on whole places and on characters do not replace each other."""
    return any(
        other.version > lost.version and other.is_whole == lost.is_whole and lost.span.meets(other.span)
        for other in others
    )


@dataclass(frozen=True)
class TextChange:
    """A change of a text from `before`, the content of the version number `version` (both None if unknown), to
    `content`. `written` are the edits if an export made the change. The `script` determines in which variant forms a
    reading may be written."""

    before: str | None
    content: str
    version: int | None = None
    script: str = ""
    written: ExportEdits | None = None

    def carried(self, places: Iterable[Place]) -> dict[int, Place]:
        """The places as they are in `content`, by flag number; lost places are left out. A place that was lost before
        the change may return by a change that no export made, or where an export takes a later decision back."""
        by_version: defaultdict[tuple[int, str], list[Place]] = defaultdict(list)
        for place in places:
            by_version[place.version, place.content].append(place)
        carried: dict[int, Place] = {}
        decided_of_line: defaultdict[str, list[Place]] = defaultdict(list)
        returning = self._restored(chain.from_iterable(by_version.values()))
        for (version, content), of_version in sorted(by_version.items(), reverse=True):
            was_lost = version != self.version
            if was_lost and self.written is not None and not returning:
                continue
            carrier = _Carrier(content, self, of_version, lost_in=self.before if was_lost else None)
            for place in of_version:
                new = carrier.carry(place)
                by_export = was_lost and self.written is not None
                if new and by_export and not any(new.span.touches(span) for span in returning):
                    new = None
                line, span = _in_line(self.content, new.span) if new else _in_line(content, place.span)
                decided = place.at(span, place.reads)
                if new and was_lost and is_decided_later(decided, decided_of_line[line]):
                    continue
                is_restored = new and not place.is_corrected and new.reads == place.transcribed != place.reads
                if place.is_decided and not is_restored:
                    decided_of_line[line].append(decided)
                if new:
                    carried[place.flag] = new
        return carried | _numbered(chain.from_iterable(by_version.values()), carried)

    @cached_property
    def positions(self) -> PositionMap:
        """The map from `before`, by the edits of an export if one made the change."""
        if self.written is None:
            return PositionMap.of_comparison(self.before or "", self.content)
        return PositionMap.of_edits(self.before or "", self.written.edits)

    def _restored(self, places: Iterable[Place]) -> list[Span]:
        """Where an export put the transcribed characters back, as the decision was taken back."""
        if self.written is None:
            return []
        indices = [self.written.of_flags.get(place.flag) for place in places if not place.is_corrected]
        return [self.positions.written[index] for index in indices if index is not None]


def _numbered(places: Iterable[Place], carried: Mapping[int, Place]) -> dict[int, Place]:
    """Those of the places that have lost their characters, each with the number of these (`FlagRow.former`): where they
    stood, counted from those of the same place that were deleted earlier."""
    deleted: defaultdict[Span, list[tuple[int, bool, int, int]]] = defaultdict(list)
    for place in places:
        new = carried.get(place.flag)
        if new is not None and not new.span.length and (place.extent or place.former or place.transcribed):
            deleted[new.span].append((place.start, bool(place.extent), place.former, place.flag))
    numbered = {}
    for of_place in deleted.values():
        earlier = next((former - start for start, _, former, _ in sorted(of_place) if former), FIRST_FORMER)
        number, last = 0, None
        for *key, flag in sorted(of_place):
            if key != last:
                number, last = max(key[2] or key[0] + earlier, number + 1), key
            numbered[flag] = replace(carried[flag], former=number)
    return numbered


def _line_begin(text: str, at: int) -> int:
    """The begin of the line of a code point."""
    return text.rfind("\n", 0, at) + 1


def _in_line(text: str, span: Span) -> tuple[str, Span]:
    """The line in which a span begins, and the span relative to this line."""
    begin = _line_begin(text, span.start)
    return text[begin : line_end(text, span.start)], Span(span.start - begin, span.length)


class _CorrectedPlace(NamedTuple):
    """A place found by way of a corrected old content, which has all pending decisions: its `start` in that content,
    its `span` in the new content, and the map from the one to the other. `is_pending`: the decision on this place was
    pending."""

    start: int
    span: Span
    to_new: PositionMap
    is_pending: bool

    @property
    def line(self) -> str:
        """The corrected line of the place."""
        return self.to_new.line(self.start)

    @property
    def line_stands(self) -> bool:
        """Whether the new content has the corrected line."""
        return self.to_new.line_stands(self.start)


class _Carrier:
    """Carries places from the content `old` to the new content of a change. `lost_in` is the content before the change
    if the places were lost in it: characters that it has are not those of a lost place."""

    def __init__(self, old: str, change: TextChange, places: Sequence[Place], lost_in: str | None) -> None:
        is_present = old == change.before and lost_in is None
        new, written = change.content, change.written if is_present else None
        self._old, self._new = old, new
        self._written = written
        self._policy = policy_of_script(change.script)
        self._direct = change.positions if is_present else PositionMap.of_comparison(old, new)
        of_flags = written.of_flags if written is not None else {}
        self._written_by_export = {flag: self._direct.written[index] for flag, index in of_flags.items()}
        self._inserted_at = self._insertions(places)
        self._corrected = {} if written is not None or old == new else self._as_corrected(old, places)
        self._to_lost = PositionMap.of_comparison(new, lost_in) if lost_in is not None else None

    def carry(self, place: Place) -> Place | None:
        """The place in the new content; None if it is lost."""
        carried = self._carry(place)
        if carried is None or self._was_moved(place, carried) or self._was_deleted_with_line(place):
            return None
        is_of_lost = self._to_lost is None or self._to_lost.where(*carried.span) is None
        return carried if is_of_lost else None

    def _carry(self, place: Place) -> Place | None:
        corrected = self._corrected.get(place.flag)
        written = self._written_by_export.get(place.flag)
        if corrected is not None and corrected.is_pending and place.is_whole:
            written = corrected.span
        if written is not None:
            return self._written_place(place, written)
        unchanged = self._beside_insertions(place) or self._in_moved_text(place) or self._direct.where(*place.span)
        if corrected is not None:
            line_stands = self._direct.line_stands(place.start)
            if corrected.line_stands and line_stands:
                # the new content has both lines: the line was doubled, and one of the two corrected
                if corrected.is_pending and (corrected.line not in self._old_lines or unchanged is None):
                    return None
            elif corrected.line_stands:  # somebody wrote the decisions into the line
                if corrected.is_pending or unchanged is None:
                    return place.at(corrected.span, place.decided_reading if corrected.is_pending else place.reads)
            elif corrected.is_pending and not line_stands:  # the line was changed: is it more like the corrected one?
                gain = self._direct.distance(place.start) - corrected.to_new.distance(corrected.start)
                if gain > 0 or (gain == 0 and unchanged is None):
                    return place.at(corrected.span, place.decided_reading)
        if unchanged is not None:
            return place.at(unchanged, place.reads)
        return None if place.is_whole else self._replaced_by_reading(place)

    @cached_property
    def _old_lines(self) -> set[str]:
        return set(self._old.split("\n"))

    @cached_property
    def _moved_texts(self) -> list[tuple[Span, int]]:
        """What the export deleted at one place and inserted at another, as a column that moved: its characters in the
        old content, and where they begin in the new one. A text that occurs more than once is left out."""
        deleted, inserted = defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)
        for edit, span in zip(self._written.edits if self._written else (), self._direct.written, strict=True):
            text = edit.replacement or self._old[edit.start : edit.end]
            moved = text.strip(LINE_ENDING_SIGNS)
            if not edit.replacement:
                deleted[moved].append(edit.start + text.index(moved))
            elif not edit.length:
                inserted[moved].append(span.start + text.index(moved))
        once = (text for text in deleted if len(text) > 1 and len(deleted[text]) == len(inserted[text]) == 1)
        return [(Span(deleted[text][0], len(text)), inserted[text][0]) for text in once]

    def _in_moved_text(self, place: Place) -> Span | None:
        """The place of a part of a text that the export moved, or of a gap within it; None for any other place, as
        that of the whole text, about which the move was."""
        if place.is_whole:
            return None
        for old, new in self._moved_texts:
            is_inside = old.start < place.start < old.end or place.extent or self._is_in_deleted_line(place.start)
            if is_inside and place.span.is_within(old) and place.span != old:
                return Span(new + place.start - old.start, place.extent)
        return None

    @cached_property
    def _deleted_lines(self) -> set[int]:
        """Where the lines begin in the old content that the export deleted whole."""
        edits = self._written.edits if self._written is not None else ()
        removed = [(edit.start, self._old[edit.start : edit.end]) for edit in edits if not edit.replacement]
        with_endings = [(start, lines) for start, lines in removed if LINE_ENDING.search(lines)]
        return {start + line.start() for start, lines in with_endings for line in _CHARACTERS.finditer(lines)}

    def _is_in_deleted_line(self, at: int) -> bool:
        """Whether a code point of the old content is in a line that the export deleted, which begins where the next
        line does not."""
        return _line_begin(self._old, at) in self._deleted_lines

    def _was_deleted_with_line(self, place: Place) -> bool:
        """Whether a gap was in a line that the export deleted and inserted nowhere else."""
        is_gap = not (place.extent or place.is_whole or self._in_moved_text(place))
        return is_gap and self._is_in_deleted_line(place.start)

    def _was_moved(self, place: Place, carried: Place) -> bool:
        """Whether characters that were to be deleted, and are no longer at their place, stand elsewhere in the line,
        which has more of them than all decisions would leave."""
        if self._written is not None or place.is_whole or carried.reads or not place.reads:
            return False
        corrected, (old_line, _) = self._corrected.get(place.flag), _in_line(self._old, place.span)
        left = corrected.line.count(place.reads) if corrected is not None else old_line.count(place.reads) - 1
        new_line, _ = _in_line(self._new, carried.span)
        return new_line.count(place.reads) > left

    def _insertions(self, places: Iterable[Place]) -> dict[tuple[int, bool], list[tuple[Place, Span]]]:
        """The insertions of the export, each with its span in the new content, by their start in the old content: that
        of the edit for places of characters, that of the place for whole places, which may be a line ending before."""
        insertions: defaultdict[tuple[int, bool], list[tuple[Place, Span]]] = defaultdict(list)
        for place in places:
            if self._written is None or place.flag not in self._written.of_flags:
                continue
            edit, span = self._written.edits[self._written.of_flags[place.flag]], self._written_by_export[place.flag]
            if not edit.length:
                insertions[edit.start, False].append((place, span))
                insertions[place.start, True].append((place, span))
        return insertions

    def _beside_insertions(self, place: Place) -> Span | None:
        """The place of a missing or deleted column, or of such characters, as an empty span between what the export
        inserted at its start; None for any other place, and if nothing was inserted there. Characters come after all
        columns at the beginning of a line; what was deleted comes before what was inserted instead."""
        insertions = [] if place.extent else self._inserted_at.get((place.start, place.is_whole), [])
        begins_line = self._direct.begins_line(place.start)
        if place.former:
            columns = [span for other, span in insertions if begins_line and other.is_whole and not place.is_whole]
            others = [(other.former, span) for other, span in insertions if span not in columns]
            after = [span.start for former, span in others if not former or former > place.former]
            before = [span.end for former, span in others if 0 < former < place.former]
            before += [span.end for span in columns]
        else:
            unknown = place.rank
            if place.is_whole:
                unknown = inf if begins_line else 0
            after = [span.start for other, span in insertions if (other.rank or unknown) > place.rank > 0]
            before = [span.end for other, span in insertions if (other.rank or unknown) < place.rank]
        if after:
            return Span(min(after), 0)
        return Span(max(before), 0) if before else None

    def _written_place(self, place: Place, written: Span) -> Place:
        """The place of a reading that the export wrote; that of a column is without the line ending written with it."""
        text = self._new[written.start : written.end]
        characters = LINE_ENDING.sub("", text)
        if place.is_whole and characters:
            written = Span(written.start + text.index(characters), len(characters))
        return place.at(written, place.decided_reading)

    def _replaced_by_reading(self, place: Place) -> Place | None:
        """The replacement of the characters if it is the decided reading, or else the transcribed one, in any variant
        form; None for any other replacement. What an export wrote as another decision says is no transcribed one."""
        span = self._direct.instead(*place.span)
        if span is None:
            return None
        replacement = self._new[span.start : span.end]
        readings = (place.decided_reading, place.transcribed) if self._written is None else (place.decided_reading,)
        for reading in readings:
            if reading != place.reads and re.fullmatch(self._policy.pattern(reading), replacement) is not None:
                return place.at(span, reading)
        return None

    def _as_corrected(self, old: str, places: Sequence[Place]) -> dict[int, _CorrectedPlace]:
        """The places in the new content, by flag number, as if all pending decisions had been written into `old` first:
        somebody may have corrected the text by hand in the same way."""
        unwritten = [place for place in places if not place.is_written]
        edit_of = {place.flag: place.edit(old, place.decided_reading) for place in unwritten}
        index_of: dict[Edit, int] = {}
        last = Edit(-1, 0, "")
        for place in sorted(unwritten, key=lambda place: (edit_of[place.flag].place, not place.is_whole, place.rank)):
            edit = edit_of[place.flag]
            if edit.start >= last.end and (place.is_whole or edit.place != last.place):
                index_of.setdefault(edit, len(index_of))
                last = edit
        if not index_of:
            return {}
        to_corrected = PositionMap.of_edits(old, list(index_of))
        from_corrected = PositionMap.of_comparison(to_corrected.new, self._new)
        corrected = {}
        for place in places:
            index = index_of.get(edit_of[place.flag]) if place.flag in edit_of else None
            is_pending = index is not None
            in_corrected = to_corrected.where(*place.span) if index is None else to_corrected.written[index]
            if in_corrected is None:
                continue
            if is_pending and place.is_whole:
                in_new = from_corrected.beside_neighbour(*in_corrected)
            else:
                in_new = from_corrected.where(*in_corrected)
            if in_new is not None:
                corrected[place.flag] = _CorrectedPlace(in_corrected.start, in_new, from_corrected, is_pending)
        return corrected
