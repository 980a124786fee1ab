"""The decisions of a store as corrections of a text, and the decisions that do not reach the text, with the reason."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import unique
from typing import NamedTuple

from proof.exports.corrections import Correction, Refusal
from proof.exports.source import CorrectedSource
from proof.locale.marking import _
from proof.model.flags import CORRECTED_BY_HAND, LINE_BREAK, Kind
from proof.model.notices import MessageCode
from proof.store import Store
from proof.store.authorities import copies_read, witnesses_of
from proof.store.carried_places import Effects, ExportEdits, Place, effects_of
from proof.store.decision_records import Decision, State, Verdict
from proof.store.text_files import DecidedPlace
from proof.text.addresses import Addresses
from proof.text.contexts import context_of
from proof.text.lines import LINE_ENDING
from proof.text.positions import Span, line_end
from proof.text.read import in_script
from proof.text.transcription import Transcription


@unique
class Unused(MessageCode):
    """Why a decision does not reach the text."""

    OTHER_TEXT = _("about another file with the same pages")
    CONFLICT = _("contradicts another decision about the same place; take back one of the two")
    MOVES = _("its column moves; the next export writes it at the new place")
    SIDE = _(
        "its line is split here, and the image does not show to which part it belongs; decide it again, after"
        " an export and another check"
    )
    WAITS = _("what was decided there later is taken back first; export again")
    GONE = _("its place in the text was changed, and does not have what was decided; decide it again")
    OTHER_HALF = Refusal.OTHER_HALF.value
    PAGE = _("about a whole page, and changes no text")
    UNSURE = _("left unsure")
    SKIPPED = _("skipped")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A decision that does not reach the text; `text` is the path of the file it was made for."""

    decision: Decision
    reason: Unused
    text: str


@dataclass(frozen=True, slots=True)
class Decided:
    """The decisions about a text.

    `edition` is the text in the script in which it was checked. `corrections` are still to be written, `applied` are
    in the text already. `settled` counts the decisions that keep the text; `rejected` are the ids of their flags.
    `noted` are corrections that get a note but change nothing: places left in doubt, and applied corrections as the
    text has them, with the characters they replaced.
    """

    edition: Transcription
    corrections: tuple[Correction, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    settled: int = 0
    applied: tuple[Correction, ...] = ()
    rejected: frozenset[str] = frozenset()
    noted: tuple[Correction, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nobody decided anything for this text."""
        return not (self.corrections or self.settled or self.applied or self.left_out_here)

    @property
    def left_out_here(self) -> tuple[LeftOut, ...]:
        """The decisions about this text itself that do not reach it."""
        return tuple(decision for decision in self.left_out if decision.reason is not Unused.OTHER_TEXT)


def decided_in(store: Store, edition: Transcription) -> Decided:
    """The decisions about the text of `edition` in all works, at their places in its present content.

    A correction that was written and later taken back becomes a correction back to the transcribed characters.
    Raises UsageError if the store does not know the text.
    """
    text = store.texts.find(edition)
    edition = in_script(edition, text.latest.script)
    page_ids = {page.id for page in edition.pages}
    decisions = _DecisionsByEffect(edition)
    for decided in store.texts.decided_places(text.paths, edition.text, edition.script.value):
        decisions.add(decided)
    for decision, path in store.texts.decided_elsewhere(text.paths):
        if decision.page in page_ids:
            decisions.left_out.append(LeftOut(decision, Unused.OTHER_TEXT, path))
    return decisions.decided()


def note_written(store: Store, corrected: CorrectedSource, is_current: Callable[[], bool]) -> None:
    """Record in the store the edits written into a text file, so that the places of its flags follow them. `is_current`
    says whether the file still has the corrected text."""
    edition = corrected.edition
    written = [change for change in corrected.placed if change.correction.changes]
    numbers = [(change.correction.number, *change.correction.also) for change in written]
    of_flags = {number: index for index, of_edit in enumerate(numbers) for number in of_edit}
    edits = ExportEdits(tuple(change.edit for change in written), of_flags)
    for path in store.texts.find(edition).paths:
        store.texts.record_export(path, edition.text, corrected.text, edition.script.value, edits, is_current)


class _DecidedCorrection(NamedTuple):
    """A correction and the decision that it was made of; `first` is the id of the first decision on its flag."""

    decision: Decision
    correction: Correction
    first: int

    @property
    def span(self) -> Span:
        return Span(self.correction.start or 0, self.correction.length)

    @property
    def characters(self) -> _Characters:
        return self.span, self.correction.former


_Characters = tuple[Span, int]
"""A place, and the number of the characters that were deleted there (`FlagRow.former`)."""


_KEEPING = frozenset({State.KEPT, State.COPY, State.RETAINED})
_ABOUT_BOTH_HALVES = frozenset({State.CORRECTED, State.RETAINED, State.UNSURE, State.OPEN})
_UNDECIDED: Mapping[State, Unused] = {State.UNSURE: Unused.UNSURE, State.SKIPPED: Unused.SKIPPED}


class _DecisionsByEffect:
    """Collects the decisions about a text, sorted by their effect on it."""

    def __init__(self, edition: Transcription) -> None:
        self._edition = edition
        self._addresses = Addresses(edition)
        self._corrected: list[_DecidedCorrection] = []
        self._applied: list[_DecidedCorrection] = []
        self._kept: list[_DecidedCorrection] = []
        self.left_out: list[LeftOut] = []
        self._settled = 0
        self._rejected: set[str] = set()
        self._noted: list[Correction] = []
        self._decided: list[DecidedPlace] = []

    def add(self, decided: DecidedPlace) -> None:
        """Add the decision on a flag of this text."""
        decision, present = decided.decision, decided.flag.present
        if decision.kind == Kind.LAYOUT.value and not decision.line and decision.state is State.CORRECTED:
            self._leave_out(decision, Unused.PAGE)
            return
        self._decided.append(decided)
        if decision.state in _KEEPING:
            self._rejected.add(decision.uid)
        is_answered_copy = decision.state is State.COPY and not decision.transcribed
        self._settled += decision.state is State.KEPT or is_answered_copy
        if present is not None:
            if decision.state in _UNDECIDED:
                self._leave_out(decision, _UNDECIDED[decision.state])
            self._add_present(decided, present)

    def _add_present(self, decided: DecidedPlace, present: Place) -> None:
        """Add a decision whose place the text still has."""
        decision, place = decided.decision, decided.flag.place
        correction = _correction(decision, present.span, self._edition, self._addresses)
        correction = replace(correction, has_image=decided.has_image, former=present.former, checked=decided.checked)
        made = _DecidedCorrection(decision, correction, decided.flag.first)
        if decision.state is State.UNSURE:
            self._noted.append(correction)
        if decided.flag.is_applied:
            self._applied.append(made)
        elif present.reads != place.decided_reading or _writes(decision):
            self._corrected.append(made)
        elif decision.state is State.KEPT:
            self._kept.append(made._replace(correction=replace(correction, replacement=decision.suggested)))

    def _add_effects(self) -> None:
        """Add corrections that restore the text from before decisions that were taken back, unless it was replaced
        since, and leave out decisions whose places are lost, except those with nothing left to write."""
        effects = effects_of((decided.flag for decided in self._decided), self._edition.text)
        self._note_written(effects)
        self._corrected = [
            made._replace(
                correction=replace(
                    made.correction,
                    replacement=effects.restored[made.decision.flag],
                    first_reading=effects.first_readings[made.decision.flag],
                )
            )
            if made.decision.flag in effects.restored
            else made
            for made in self._corrected
            if made.decision.flag not in effects.kept
        ]
        for decision, flag in ((each.decision, each.flag) for each in self._decided if each.flag.present is None):
            if decision.flag in effects.waiting:
                self._leave_out(decision, Unused.WAITS)
            elif decision.flag in effects.deleted:
                self._settled += 1
            elif decision.flag not in effects.replaced and (_writes(decision) or flag.place.reads != flag.transcribed):
                self._leave_out(decision, Unused.GONE)

    def _note_written(self, effects: Effects) -> None:
        """Add the notes on corrections that the text has, each with what stood there before all corrections."""
        parts = frozenset[int]().union(*(amended.later for amended in effects.amended.values()))
        for made in self._applied:
            first, now = effects.first_readings[made.decision.flag], made.correction.original
            if first != now:
                is_part = made.decision.flag in parts
                self._noted.append(replace(made.correction, original=first, replacement=now, is_part=is_part))
        for decided in self._decided:
            amended = effects.amended.get(decided.decision.flag)
            if amended is not None:
                correction = _correction(decided.decision, amended.span, self._edition, self._addresses)
                first = amended.before + effects.first_readings[decided.decision.flag] + amended.behind
                correction = replace(correction, replacement=correction.original, has_image=decided.has_image)
                self._noted.append(replace(correction, original=first))

    def _halves_of_refused(self, corrections: Iterable[Correction]) -> set[str]:
        """The flags of corrections whose other half cannot be written: of a column that moves, or of text that is to
        move back and has lost its place there."""
        refused = [out.decision for out in self.left_out if out.reason in (Unused.CONFLICT, Unused.GONE)]
        refused_columns = {decision.uid for decision in refused if decision.kind == Kind.LAYOUT.value}
        lost = {decided.decision.uid for decided in self._decided if decided.flag.present is None}
        withdrawn = {made.decision.uid for made in self._corrected if made.decision.state is State.OPEN}
        return {
            correction.flag
            for correction in corrections
            if correction.moved in refused_columns or (correction.moved in lost and correction.flag in withdrawn)
        }

    def _leave_out(self, decision: Decision, reason: Unused) -> None:
        self.left_out.append(LeftOut(decision, reason, str(self._edition.path)))

    def decided(self) -> Decided:
        """All that was added, without corrections that contradict each other."""
        self._add_effects()
        corrections, conflicts = _without_conflicts(self._corrected, self._kept, self._applied)
        for reason, decisions in conflicts.items():
            for decision in decisions:
                self._leave_out(decision, reason)
        halves = self._halves_of_refused(corrections)
        for made in self._corrected:
            if made.decision.uid in halves:
                self._leave_out(made.decision, Unused.OTHER_HALF)
        return Decided(
            self._edition,
            tuple(correction for correction in corrections if correction.flag not in halves),
            tuple(self.left_out),
            self._settled,
            tuple(applied.correction for applied in self._applied),
            frozenset(self._rejected),
            tuple(self._noted),
        )


def _writes(decision: Decision) -> bool:
    """Whether a decision changes the text or adds a note to it."""
    noted = decision.state is State.RETAINED or (decision.state is State.COPY and bool(decision.transcribed))
    return decision.state is State.CORRECTED or noted


def _correction(decision: Decision, span: Span, edition: Transcription, addresses: Addresses) -> Correction:
    """A decision as a correction at `span`; a decision that corrects nothing restores the transcribed characters."""
    corrected = decision.state is State.CORRECTED
    address = addresses.of(span.start)
    begin = span.start - address.offset if address is not None else span.start
    original = edition.text[span.start : span.end]
    if decision.kind == Kind.LAYOUT.value and original and not LINE_ENDING.sub("", original):
        original = LINE_BREAK
    copies = copies_read(decision.evidence)
    line = edition.text[begin : line_end(edition.text, begin)]
    return Correction(
        page=address.page if address is not None and edition.paged else decision.page,
        line=address.line if address is not None else decision.line,
        offset=span.start - begin,
        length=span.length,
        start=span.start,
        replacement=decision.reading if corrected else decision.transcribed,
        original=original,
        context=context_of(line, span.start - begin, span.length),
        authority=decision.authority,
        copy_reads=decision.copy_reads if decision.state is State.RETAINED else None,
        readings=tuple((reading["siglum"], reading["reading"]) for reading in copies),
        names=tuple(witnesses_of(decision).items()),
        doubt=decision.suggested if decision.state is State.UNSURE else None,
        note=decision.note,
        kind=Kind(decision.kind),
        ref=decision.ref,
        flag=decision.uid,
        number=decision.flag,
        person=decision.person,
        column=decision.evidence.get("column", 0),
        moved=_other_half(decision),
        is_typed=_is_typed(decision),
    )


def _other_half(decision: Decision) -> str:
    """The flag of the other half of what moved, if the decision is about both halves; a typed reading is not."""
    is_about_both = decision.state in _ABOUT_BOTH_HALVES and decision.verdict is not Verdict.TYPED
    return str(decision.evidence.get("moved", "")) if is_about_both else ""


def _is_typed(decision: Decision) -> bool:
    """Whether a person typed the reading: at a place corrected by hand, or a reading that the recogniser did not
    give."""
    recognised = (decision.suggested, *(text for text, _share in decision.evidence.get("alternatives", ())))
    return decision.evidence.get("reason") == CORRECTED_BY_HAND or decision.reading not in recognised


def _without_conflicts(
    corrected: Iterable[_DecidedCorrection], kept: Iterable[_DecidedCorrection], applied: Iterable[_DecidedCorrection]
) -> tuple[list[Correction], dict[Unused, list[Decision]]]:
    """The corrections without conflicts, in the order of their decisions, and the conflicting decisions by the reason.

    Corrections conflict if they differ and their places overlap, if another decision keeps the same place (`kept`, the
    corrections that were rejected), or if the text already has what a newer decision says (`applied`). Equal
    corrections count once. An insertion does not conflict with a change that begins at its place, nor a column with
    another one of the image. If a column moves, a change within it waits until the move is written; if a line is split
    where characters of an unknown column are missing, these wait until the line ending is written.
    """
    ordered = sorted(corrected, key=lambda made: (*made.span, made.decision.id))
    overlaps = _overlaps(ordered)
    conflicting = overlaps.conflicting | _conflicting_with_kept(ordered, kept)
    newest: dict[_Characters, int] = {}
    for made in applied:
        newest[made.characters] = max(newest.get(made.characters, 0), made.decision.id)
    conflicting |= {
        made.decision.id: made.decision for made in ordered if made.decision.id < newest.get(made.characters, 0)
    }
    unused = conflicting.keys() | overlaps.waiting.keys() | overlaps.repeated.keys()
    used = sorted((made for made in ordered if made.decision.id not in unused), key=lambda made: made.decision.id)
    unused_for: dict[Unused, list[Decision]] = defaultdict(list)
    unused_for[Unused.CONFLICT] = [conflicting[number] for number in sorted(conflicting)]
    for number in sorted(overlaps.waiting.keys() - conflicting):
        decision, reason = overlaps.waiting[number]
        unused_for[reason].append(decision)
    equal: defaultdict[int, list[int]] = defaultdict(list)
    for made in ordered:
        if made.decision.id in overlaps.repeated:
            equal[overlaps.repeated[made.decision.id]].append(made.decision.flag)
    return [replace(made.correction, also=tuple(equal[made.decision.id])) for made in used], unused_for


class _Overlaps(NamedTuple):
    """What overlapping corrections lead to, by the ids of decisions: those in conflict, those that wait until another
    is written, with the reason, and those that repeat another, with its id."""

    conflicting: dict[int, Decision]
    waiting: dict[int, tuple[Decision, Unused]]
    repeated: dict[int, int]


def _overlaps(ordered: Sequence[_DecidedCorrection]) -> _Overlaps:
    """The overlaps of corrections, which are given in the order of their places."""
    overlaps = _Overlaps({}, {}, {})
    for at, made in enumerate(ordered):
        for other in ordered[at + 1 :]:
            if other.span.start > made.span.end:
                break
            if made.correction.is_beside(other.correction):
                continue
            if made.span == other.span and made.correction.replacement == other.correction.replacement:
                overlaps.repeated.setdefault(other.decision.id, made.decision.id)
            elif _collide(made, other):
                waiting = _waiting(made, other) or _waiting(other, made)
                if waiting is not None:
                    overlaps.waiting[waiting[0].id] = waiting
                else:
                    overlaps.conflicting.update({pair.decision.id: pair.decision for pair in (made, other)})
    return overlaps


def _conflicting_with_kept(
    corrected: Iterable[_DecidedCorrection], kept: Iterable[_DecidedCorrection]
) -> dict[int, Decision]:
    """The decisions, by id, on places that one decision keeps and another one changes; `kept` are the corrections that
    were rejected. That no characters are missing does not contradict a line ending at the place."""
    changing: dict[_Characters, list[_DecidedCorrection]] = defaultdict(list)
    for made in corrected:
        if made.correction.changes:
            changing[made.characters].append(made)
    conflicting: dict[int, Decision] = {}
    for rejected in kept:
        for made in changing.get((rejected.span, 0), ()):
            is_one_question = made.correction.is_of_line_ending == rejected.correction.is_of_line_ending
            if is_one_question and not made.correction.is_beside(rejected.correction):
                conflicting |= {each.decision.id: each.decision for each in (rejected, made)}
    return conflicting


def _waiting(first: _DecidedCorrection, second: _DecidedCorrection) -> tuple[Decision, Unused] | None:
    """The decision of `second`, if it waits until the colliding `first` is written, and why. Of two that were taken
    back, the one that was made first waits."""
    if first.decision.state is second.decision.state is State.OPEN and first.first > second.first:
        return second.decision, Unused.WAITS
    if _moves_column(first.correction) and not _moves_column(second.correction):
        return second.decision, Unused.MOVES
    divides = first.correction.replacement == LINE_BREAK
    if divides and first.span == second.span and second.correction.kind is not Kind.LAYOUT:
        return second.decision, Unused.SIDE
    return None


def _moves_column(correction: Correction) -> bool:
    """Whether a correction takes a whole column away that moves to another place."""
    return correction.deletes_column and bool(correction.moved)


def _collide(first: _DecidedCorrection, second: _DecidedCorrection) -> bool:
    """Whether two corrections, of which one changes the text, claim the same characters or the same empty place. A
    column is deleted with its line ending and whatever else is in it: it is not joined to the column before or behind
    it as well, and nothing is inserted at its beginning or end."""
    if not (first.correction.changes or second.correction.changes):
        return False
    is_adjacent = first.span.end == second.span.start
    for column, other in ((first, second), (second, first)):
        if not column.correction.deletes_column:
            continue
        if is_adjacent and other.correction.joins_lines:
            return True
        if column.span.touches(other.span) and other.correction.kind is not Kind.LAYOUT:
            return True
    return first.span.meets(second.span)
