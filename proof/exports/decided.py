"""The decisions of a store as corrections of a text, and the decisions that do not reach the text, with the reason."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import unique
from itertools import chain

from proof.exports.corrections import Correction, Refusal
from proof.exports.source import CorrectedSource
from proof.locale.marking import _
from proof.model.flags import CORRECTED_BY_HAND, LINE_BREAK, Kind, context_of
from proof.model.notices import MessageCode
from proof.store import Store
from proof.store.authorities import copies_read, witnesses_of
from proof.store.decision_records import Decision, State, Verdict
from proof.store.text_changes import ExportEdits, TextChange, VersionedPlace, is_deleted_with_its_line
from proof.store.text_files import DecidedPlace, StoredText
from proof.text.addresses import Addresses
from proof.text.lines import LINE_ENDING
from proof.text.model import Script
from proof.text.positions import Span
from proof.text.read import in_script
from proof.text.transcription import Transcription
from proof.text.variants import VariantPolicy, policy_of


@unique
class Unused(MessageCode):
    """Why a decision does not reach the text."""

    OTHER_TEXT = _("about another file with the same pages")
    CONFLICT = _("contradicts another decision about the same place; take back one of the two")
    MOVES = _("its column moves to another place; decide it there, once the text is written and checked again")
    GONE = _("its place was changed in the text since, and what was decided is not there; decide it again")
    OTHER_HALF = Refusal.OTHER_HALF.value
    PAGE = _("about a page as a whole, and no change of its text")
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
    `noted` are corrections that get a note but change nothing: places left in doubt, and applied corrections with
    the characters they replaced.
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
    own = {known.path for known in text.own}
    pages = {page.id for page in edition.pages}
    policy = policy_of(edition.script)
    addresses = Addresses(edition)
    corrected: list[tuple[Decision, Correction]] = []
    kept: list[tuple[Decision, Span]] = []
    left_out: list[LeftOut] = []
    applied: list[tuple[Decision, Correction]] = []
    settled = 0
    rejected: set[str] = set()
    noted: list[Correction] = []
    first: dict[int, int] = {}
    restored: dict[Span, int] = {}
    for there, decision, place in decisions_of(store, edition, (*text.own, *text.others), own):
        if there.text not in own:
            if decision.page in pages and decision.state not in (State.KEPT, State.OPEN):
                left_out.append(LeftOut(decision, Unused.OTHER_TEXT, there.text))
            continue
        if decision.state in _KEEPING:
            rejected.add(decision.uid)
        settled += decision.state is State.KEPT or (decision.state is State.COPY and not decision.transcribed)
        of_page = decision.kind == Kind.LAYOUT.value and not decision.line and decision.state is State.CORRECTED
        reason = Unused.PAGE if of_page else _UNDECIDED.get(decision.state)
        is_lost = place is None and (_writes(decision) or there.place.reads != there.place.transcribed)
        if is_lost and not of_page:
            went = is_deleted_with_its_line(there.place, store.texts.content_of_version(there.version))
            settled += went
            reason = None if went else Unused.GONE
        left_out += [LeftOut(decision, reason, str(edition.path))] if reason else []
        if place is None or of_page:
            continue
        span, reads = place
        first[decision.flag] = there.first
        if decision.state is State.OPEN and reads == there.place.decided_reading:
            restored[span] = min(restored.get(span, there.first), there.first)
        correction = replace(_correction(decision, span, edition, addresses, policy), imaged=there.imaged)
        noted += [correction] * (decision.state is State.UNSURE)
        if (
            reads == there.place.decided_reading
            and decision.state is State.CORRECTED
            and reads != there.place.transcribed
        ):
            applied.append((decision, correction))
            noted.append(replace(correction, original=decision.transcribed))
        elif reads != there.place.decided_reading or _writes(decision):
            corrected.append((decision, correction))
        elif decision.state is State.KEPT:
            kept.append((decision, span))
    corrections, conflicts = _without_conflicts(_without_superseded(corrected, kept, restored, first), kept, applied)
    left_out += [LeftOut(made, reason, str(edition.path)) for reason, group in conflicts.items() for made in group]
    halves = _halves_of_refused(corrections, left_out)
    left_out += [
        LeftOut(decision, Unused.OTHER_HALF, str(edition.path)) for decision, _ in corrected if decision.uid in halves
    ]
    return Decided(
        edition,
        tuple(correction for correction in corrections if correction.flag not in halves),
        tuple(left_out),
        settled,
        tuple(correction for _, correction in applied),
        frozenset(rejected),
        tuple(noted),
    )


def _halves_of_refused(corrections: Iterable[Correction], left_out: Iterable[LeftOut]) -> set[str]:
    """The flags of corrections that move a column of which the other half cannot be written."""
    refused = [out.decision for out in left_out if out.reason in (Unused.CONFLICT, Unused.GONE)]
    refused_columns = {decision.uid for decision in refused if decision.kind == Kind.LAYOUT.value}
    return {correction.flag for correction in corrections if correction.moved in refused_columns}


def note_written(store: Store, corrected: CorrectedSource, still: Callable[[], bool]) -> None:
    """Record in the store the edits written into a text file, so that the places of its flags follow them; `still`
    says whether the file reads so."""
    edition = corrected.edition
    written = [correction for correction in corrected.placed if correction.correction.changes]
    writing = ExportEdits(
        tuple(correction.edit for correction in written),
        {correction.correction.number: correction.edit for correction in written if correction.correction.number},
    )
    for path in {text.path for text in store.texts.find(edition).own}:
        store.texts.record_export(path, edition.text, corrected.text, edition.script.value, writing, still)


_KEEPING = frozenset({State.KEPT, State.COPY, State.RETAINED})
_UNDECIDED: Mapping[State, Unused] = {State.UNSURE: Unused.UNSURE, State.SKIPPED: Unused.SKIPPED}


def decisions_of(
    store: Store, edition: Transcription, texts: Iterable[StoredText], own: Collection[str]
) -> Iterator[tuple[DecidedPlace, Decision, tuple[Span, str] | None]]:
    """The place, the last decision and the present span of every decided flag in `texts`.

    The decision names the person who made it. The span, with the characters read there, is given for flags in the
    files `own` (the paths of `edition`); it is None for other files and for lost places.
    """
    places = {work: store.texts.decided_places(work) for work in sorted({text.work for text in texts})}
    contents: dict[int, str] = {}
    standing: dict[int, list[VersionedPlace]] = defaultdict(list)
    for there in chain.from_iterable(places.values()):
        if there.text in own:
            for version in {there.version, there.present} - contents.keys():
                contents[version] = store.texts.content_of_version(version)
            standing[there.present].append(VersionedPlace(there.place, contents[there.version], there.version))
    now: dict[int, tuple[Span, str]] = {}
    for present, known in standing.items():
        now |= TextChange(contents[present], edition.text, present, edition.script.value).carried(known)
    for work, of_work in places.items():
        last = {decision.flag: decision for decision in store.decisions.last_of_flags(work)}
        for there in of_work:
            yield there, last[there.place.flag], now.get(there.place.flag)


def _writes(decision: Decision) -> bool:
    """Whether a decision changes the text or adds a note to it."""
    noted = decision.state is State.RETAINED or (decision.state is State.COPY and bool(decision.transcribed))
    return decision.state is State.CORRECTED or noted


def _correction(
    decision: Decision, span: Span, edition: Transcription, addresses: Addresses, policy: VariantPolicy
) -> Correction:
    """A decision as a correction at `span`; a decision that corrects nothing restores the transcribed characters."""
    corrected = decision.state is State.CORRECTED
    address = addresses.of(span.start)
    begin = span.start - address.offset if address is not None else span.start
    original = edition.text[span.start : span.end]
    if decision.kind == Kind.LAYOUT.value and original and not LINE_ENDING.sub("", original):
        original = LINE_BREAK
    copies = copies_read(decision.evidence)
    line = edition.text[begin : edition.text.find("\n", begin) % (len(edition.text) + 1)]
    return Correction(
        page=address.page if address is not None and edition.paged else decision.page,
        line=address.line if address is not None else decision.line,
        offset=span.start - begin,
        length=span.length,
        start=span.start,
        replacement=_as_read(decision, policy) if corrected else decision.transcribed,
        original=original,
        context=context_of(line, span.start - begin, span.length),
        witness=decision.authority,
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
        moved=decision.evidence.get("moved", "") if corrected and decision.verdict is not Verdict.TYPED else "",
        typed=_is_typed(decision),
    )


def _is_typed(decision: Decision) -> bool:
    """Whether a person typed the reading: at a place corrected by hand, or a reading that the recogniser did not
    give."""
    seen = (decision.suggested, *(text for text, _ in _seen(decision)))
    return decision.evidence.get("reason") == CORRECTED_BY_HAND or decision.reading not in seen


def _seen(decision: Decision) -> Sequence[tuple[str, float]]:
    """The recogniser's alternatives to its suggestion, each with its share."""
    seen: Sequence[tuple[str, float]] = decision.evidence.get("alternatives", [])
    return seen


def _as_read(decision: Decision, policy: VariantPolicy) -> str:
    """The reading to write. If the accepted suggestion is the most frequent of several simplified forms of a
    recognised character (着 for 著), this is the recognised character, since nobody has chosen between the forms."""
    if policy.script is Script.TRADITIONAL or decision.reading != decision.suggested:
        return decision.reading
    for character, _share in _seen(decision):
        forms = policy.written_forms(character)
        if len(forms) > 1 and forms[0] == decision.reading:
            return str(character)
    return decision.reading


def _without_superseded(
    corrected: Sequence[tuple[Decision, Correction]],
    kept: Iterable[tuple[Decision, Span]],
    restored: Mapping[Span, int],
    first: Mapping[int, int],
) -> list[tuple[Decision, Correction]]:
    """`corrected` without the restorations of withdrawn corrections whose characters have a newer decision, or are
    `restored` already: they read what they did before an older withdrawn correction, whose first decision has this id.
    `first` has the id of the first decision about each flag."""
    decided = [(made, Span(*_place(correction))) for made, correction in corrected if made.state is not State.OPEN]
    newest: dict[int, int] = {}
    for made, span in (*decided, *kept):
        for part in _parts(span):
            newest[part] = max(newest.get(part, 0), made.id)
    return [
        (made, correction)
        for made, correction in corrected
        if made.state is not State.OPEN
        or (
            restored.get(Span(*_place(correction)), first[made.flag]) >= first[made.flag]
            and all(newest.get(part, 0) <= made.id for part in _parts(Span(*_place(correction))))
        )
    ]


def _parts(span: Span) -> range:
    """The numbers of a span's characters (odd: 2n + 1) and the gaps between them (even); of an empty span, its gap."""
    return range(2 * span.start + 1, 2 * span.end) if span.length else range(2 * span.start, 2 * span.start + 1)


def _without_conflicts(
    corrected: Iterable[tuple[Decision, Correction]],
    kept: Iterable[tuple[Decision, Span]],
    applied: Iterable[tuple[Decision, Correction]],
) -> tuple[list[Correction], dict[Unused, list[Decision]]]:
    """The corrections without conflicts, in the order of their decisions, and the conflicting decisions by the reason.

    Corrections conflict if their places overlap and they differ, or if another decision keeps the same place
    (`kept`), or if the text has there already what a newer decision says (`applied`). Equal corrections count once. An
    insertion does not conflict with a change that begins at its place, nor a column with another one of the image. Of
    a column that moves and a change within it the column alone is written.
    """
    ordered = sorted(corrected, key=lambda pair: (pair[1].start or 0, pair[1].length, pair[0].id))
    refused: dict[int, Decision] = {}
    moving: dict[int, Decision] = {}
    doubled: set[int] = set()
    for at, (decision, first) in enumerate(ordered):
        for rival, second in ordered[at + 1 :]:
            if (second.start or 0) > (first.start or 0) + first.length:
                break
            if first.is_beside(second):
                continue
            if _place(first) == _place(second) and first.replacement == second.replacement:
                doubled.add(rival.id)
            elif _collide(first, second) and _moves(first) != _moves(second):
                within = rival if _moves(first) else decision
                moving[within.id] = within
            elif _collide(first, second):
                refused |= {decision.id: decision, rival.id: rival}
    by_place: dict[tuple[int, int], list[Decision]] = defaultdict(list)
    for made, correction in ordered:
        if correction.changes:
            by_place[_place(correction)].append(made)
    for made, span in kept:
        others = by_place.get((span.start, span.length), ())
        refused |= {each.id: each for each in (made, *others) if others}
    newest: dict[tuple[int, int], int] = {}
    for made, correction in applied:
        newest[_place(correction)] = max(newest.get(_place(correction), 0), made.id)
    refused |= {made.id: made for made, correction in ordered if made.id < newest.get(_place(correction), 0)}
    used = [
        (made.id, correction) for made, correction in ordered if made.id not in refused.keys() | moving.keys() | doubled
    ]
    left_out = {Unused.CONFLICT: refused, Unused.MOVES: {n: moving[n] for n in moving.keys() - refused.keys()}}
    return [correction for _, correction in sorted(used, key=lambda pair: pair[0])], {
        reason: [decisions[number] for number in sorted(decisions)] for reason, decisions in left_out.items()
    }


def _moves(correction: Correction) -> bool:
    """Whether a correction takes a whole column away that moves to another place."""
    return correction.kind is Kind.LAYOUT and bool(correction.moved and correction.length)


def _place(correction: Correction) -> tuple[int, int]:
    return correction.start or 0, correction.length


def _collide(first: Correction, second: Correction) -> bool:
    if not (first.changes or second.changes):
        return False
    first_start, second_start = first.start or 0, second.start or 0
    if first_start == second_start and not (first.length and second.length):
        return first.length == second.length
    return first_start < second_start + second.length and second_start < first_start + first.length
