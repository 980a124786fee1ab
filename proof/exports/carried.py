"""Carrying decisions from one edition or format of a text to another.

A decision is carried if the alignment of the two texts is certain at its place: the characters beside the place are
aligned, most characters around it are aligned, and the passage is the same in both texts. All other decisions are given
with the reason why they are not carried."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from operator import sub
from pathlib import Path

from proof.collation.blocks import align
from proof.collation.differences import aligned_in
from proof.collation.sigla import names_of
from proof.collation.tokens import Keys, WitnessTokens, sequence_of, shared_layers
from proof.exports.decided import decisions_of
from proof.model.flags import Kind, context_of
from proof.store import Store
from proof.store.authorities import IMAGE, witnesses_of
from proof.store.decision_records import Decision, State, Verdict
from proof.store.editions import CarriedDecision
from proof.text.addresses import Address, Addresses
from proof.text.model import Script
from proof.text.positions import Span
from proof.text.read import in_script
from proof.text.transcription import Transcription
from proof.text.variants import policy_of

CONTEXT_CHARACTERS = 12
"""Characters on either side of a place by which its passage is recognised."""

MAX_SHIFT = 2
"""Characters by which such a passage may be longer in the other text, on either side."""

MIN_ALIGNED_SHARE = 0.75
"""Minimum share of the characters of such a passage that must be aligned."""

_VERDICTS = {State.KEPT: Verdict.KEEP, State.COPY: Verdict.COPY, State.RETAINED: Verdict.RETAIN}
"""The verdicts for states without a correction; corrections are carried as typed readings or deletions."""

_OF_COPY = frozenset({State.COPY, State.RETAINED})
"""States that say what the copy of a text reads: they hold for texts of the same copy only."""

_UNDECIDED = frozenset({State.UNSURE, State.SKIPPED})


class NotCarried(StrEnum):
    """Why a decision is not carried."""

    LOST = "its place in the first text is lost; decide it again there"
    PAGE = "is about a page or a column, and no characters"
    UNDECIDED = "was left open"
    OF_COPY = "says what the copy of the first text reads; --same-copy says that both are of one copy"
    NO_TEXT = "stands in a layer that the other text lacks, or is no character"
    NO_ANSWER = "the other text has nothing that answers what stands beside it"
    UNLIKE = "the other text reads otherwise around it"
    SEVERAL = "the passage stands more often in one of the two than in the other"
    TWO_COLUMNS = "the other text has it in two columns, or with markup between"
    OTHERWISE = "the other text reads neither what was corrected nor what was decided"
    FORMS = "the reading has several forms in the script of the other text"
    ALREADY = "the other text reads so already"
    HALF = "the other half of the moved character is not carried"


@dataclass(frozen=True, slots=True)
class Carried:
    """A `decision` about the first text, and `made`, the new decision about the other text, with its `address` and the
    `context` around it; `made` is None if the decision is not carried, for the `reason`."""

    decision: Decision
    made: CarriedDecision | None
    address: Address | None
    context: str
    reason: str = ""

    @property
    def refused(self) -> bool:
        """Whether the decision was not carried and has to be made again for the other text."""
        return bool(self.reason) and self.reason != NotCarried.ALREADY


def carry(
    decided: Store,
    source: Transcription,
    store: Store,
    target: Transcription,
    person: str,
    *,
    same_copy: bool,
    pairs: Path | None,
    dry_run: bool,
) -> list[Carried]:
    """Carry the decisions about the text `source`, which are in the store `decided`, to the text `target`, as decisions
    of `person` in `store`; with `dry_run` nothing is written. The stores may be the same. `same_copy` says that both
    texts transcribe one copy. `pairs` is a project's file of pairs of characters.

    Raises UsageError if one of the texts was not checked, or has changed since.
    """
    source = in_script(source, decided.texts.find(source).latest.script)
    target = in_script(target, store.texts.find(target).latest.script)
    places = _Places(source, target, pairs)
    planned = _with_halves([_planned(places, *decision, same_copy) for decision in _decided(decided, source)])
    groups: dict[str, list[Carried]] = {}
    for carried in planned:
        if carried.made is not None:
            groups.setdefault(_move_of(carried.decision) or str(carried.decision.id), []).append(carried)
    wanted = [[carried.made for carried in group if carried.made] for group in groups.values()]
    refused: dict[int, str] = {}
    for text in store.texts.find(target).own:
        reasons = store.carried.make(text.work, text.path, target, wanted, person, dry_run=dry_run)
        for group, reason in zip(groups.values(), reasons, strict=True):
            refused |= {carried.decision.id: reason for carried in group}
    return [replace(carried, reason=refused.get(carried.decision.id, carried.reason)) for carried in planned]


def _decided(store: Store, edition: Transcription) -> Iterable[tuple[Decision, Span | None]]:
    """The decisions about a text, each with its present place; None for a lost place. Of equal decisions at one place,
    as several works with the text may have them, only the first is given."""
    text = store.texts.find(edition)
    paths = {known.path for known in text.own}
    seen: set[tuple[Span | None, State, str]] = set()
    for decided_place, decision, present in decisions_of(store, edition, text.own, paths):
        span = present[0] if present else None
        key = (span, decision.state, decision.reading)
        if decided_place.text not in paths or decision.state is State.OPEN or key in seen:
            continue
        if span is not None:
            seen.add(key)
        yield decision, span


def _with_halves(planned: Sequence[Carried]) -> list[Carried]:
    """The plan, in which a decision about one half of a moved character is not carried without that about the other."""
    halves = Counter(_move_of(carried.decision) for carried in planned if carried.made)
    return [
        replace(carried, made=None, reason=NotCarried.HALF)
        if carried.made and (move := _move_of(carried.decision)) and halves[move] < 2
        else carried
        for carried in planned
    ]


def _move_of(decision: Decision) -> str:
    """A key that the decisions about the two halves of a moved character share; empty for any other decision."""
    moved = decision.evidence.get("moved", "")
    return "+".join(sorted((decision.uid, moved))) if moved and decision.verdict is not Verdict.TYPED else ""


def _planned(places: _Places, decision: Decision, span: Span | None, same_copy: bool) -> Carried:
    """The decision as it will be made about the other text, or the reason against that; `span` is its place."""
    reason = _reason_in_itself(decision, span, same_copy)
    place = reason or places.answer(span or Span(0, 0))
    if isinstance(place, NotCarried):
        return Carried(decision, None, None, "", place)
    reads = places.target.text[place.start : place.end]
    address, context = places.shown(place)
    wanted = places.reading(decision)
    reason = _reason_there(places, decision, reads, wanted)
    if reason is not None:
        return Carried(decision, None, address, context, reason)
    verdict = _VERDICTS.get(decision.state) or (Verdict.TYPED if wanted else Verdict.DELETE)
    authority, witness = places.authority(decision, same_copy=same_copy)
    origin = {**places.origin(decision), **witness}
    made = CarriedDecision(*place, verdict, wanted or "", decision.note, authority, origin)
    return Carried(decision, made, address, context)


def _reason_there(places: _Places, decision: Decision, reads: str, wanted: str | None) -> NotCarried | None:
    """Why a decision is not carried to a place of the other text; that text `reads` so there. `wanted` is the reading
    of the decision in the script of that text."""
    if wanted is None:
        return NotCarried.FORMS
    before, after = (places.same(reads, text) for text in (decision.transcribed, decision.reading))
    if decision.state is State.CORRECTED and (reads == wanted or (after and not before)):
        return NotCarried.ALREADY
    return None if before else NotCarried.OTHERWISE


def _reason_in_itself(decision: Decision, span: Span | None, same_copy: bool) -> NotCarried | None:
    """Why a decision cannot be carried to any text."""
    if decision.kind == Kind.LAYOUT.value:
        return NotCarried.PAGE
    if decision.state in _UNDECIDED:
        return NotCarried.UNDECIDED
    if decision.state in _OF_COPY and not same_copy:
        return NotCarried.OF_COPY
    return NotCarried.LOST if span is None else None


class _Places:
    """Maps places of the text `source` to those of the text `target`; in attributes, `a` is the first and `b` the
    second."""

    def __init__(self, source: Transcription, target: Transcription, pairs: Path | None) -> None:
        self.source, self.target = source, target
        self._policy = policy_of(target.script, pairs)
        self._keys = Keys(policy_of(Script.SIMPLIFIED, pairs).fold)
        mine, theirs = shared_layers(source, target)
        self._a, self._b = sequence_of(source, self._keys, mine), sequence_of(target, self._keys, theirs)
        answers = aligned_in(align(self._a.keys, self._b.keys)) if len(self._a) and len(self._b) else {}
        self._answers = {i: j for i, j in answers.items() if self._a.keys[i] == self._b.keys[j]}
        self._addresses = Addresses(target)
        self._name = names_of([source, target], ending=True)[0]

    def answer(self, place: Span) -> Span | NotCarried:
        """The place of the other text that corresponds to a place of the first, or why none certainly does."""
        first, end = bisect_left(self._a.starts, place.start), bisect_left(self._a.starts, place.end)
        if not _covers(self._a, first, end, place):
            return NotCarried.NO_TEXT
        before = -1 if first == 0 else self._answers.get(first - 1)
        stop = len(self._b) if end == len(self._a) else self._answers.get(end)
        if before is None or stop is None:
            return NotCarried.NO_ANSWER
        begin = before + 1
        if not 0 <= stop - begin <= max(end - first, 1) + CONTEXT_CHARACTERS:
            return NotCarried.NO_ANSWER
        if self._aligned_share((first, end), (begin, stop)) < MIN_ALIGNED_SHARE:
            return NotCarried.UNLIKE
        if not self._one_passage((first, end), (begin, stop)):
            return NotCarried.SEVERAL
        return self._span(begin, stop, None if place.length else _beside(self._a, first, place.start))

    def _one_passage(self, here: tuple[int, int], there: tuple[int, int]) -> bool:
        """Whether the passage before or after the two places occurs equally often in both texts, and these are the
        same of its occurrences."""
        (first, end), (begin, stop) = here, there
        before = [
            _occurrence(self._a.keys, first - CONTEXT_CHARACTERS, first),
            _occurrence(self._b.keys, begin - CONTEXT_CHARACTERS, begin),
        ]
        behind = [
            _occurrence(self._a.keys, end, end + CONTEXT_CHARACTERS),
            _occurrence(self._b.keys, stop, stop + CONTEXT_CHARACTERS),
        ]
        return any(a is not None and a == b for a, b in (before, behind))

    def _aligned_share(self, here: tuple[int, int], there: tuple[int, int]) -> float:
        """The share of the characters around the first place that are aligned with characters around the second."""
        (first, end), (begin, stop) = here, there
        around = [
            *range(max(0, first - CONTEXT_CHARACTERS), first),
            *range(end, min(len(self._a), end + CONTEXT_CHARACTERS)),
        ]
        there_around = range(begin - CONTEXT_CHARACTERS - MAX_SHIFT, stop + CONTEXT_CHARACTERS + MAX_SHIFT)
        aligned = sum(self._answers.get(at) in there_around for at in around)
        return aligned / len(around) if around else 0.0

    def _span(self, begin: int, stop: int, beside: int | None) -> Span | NotCarried:
        """The place of the characters `begin:stop` of the other text; of none, the place `beside` one of the two next
        to it, or between them. These characters must stand in one column without markup between."""
        if begin == stop and beside is not None:
            return Span(self._b.starts[begin] if beside == 0 else self._b.ends[begin - 1], 0)
        joined = slice(begin, stop) if begin < stop else slice(max(0, begin - 1), begin + 1)
        starts, ends = self._b.starts[joined], self._b.ends[joined]
        if len(set(self._b.blocks[joined])) != 1 or ends[:-1] != starts[1:]:
            return NotCarried.TWO_COLUMNS
        if begin == stop:
            return Span(starts[-1] if stop < len(self._b) else ends[-1], 0)
        return Span(starts[0], ends[-1] - starts[0])

    def same(self, reads: str, text: str) -> bool:
        """Whether two readings are the same words, in whatever script and variant forms."""
        return len(reads) == len(text) and all(map(self._same_character, reads, text))

    def _same_character(self, first: str, second: str) -> bool:
        return first == second or self._keys.key(first) == self._keys.key(second)

    def reading(self, decision: Decision) -> str | None:
        """The reading of a decision in the script of the other text, '' if a decision of its state has none; None if
        that script has several forms of a character."""
        if decision.state not in (State.CORRECTED, State.RETAINED):
            return ""
        reading = decision.copy_reads if decision.state is State.RETAINED else decision.reading
        forms = [self._policy.written_forms(char, kin=False) for char in reading]
        return None if any(len(written) > 1 for written in forms) else "".join(written[0] for written in forms)

    def shown(self, place: Span) -> tuple[Address | None, str]:
        """The address of a place of the other text, and the text around it."""
        address = self._addresses.of(place.start)
        if address is None:
            return None, ""
        begin, end = self._addresses.line(address.page, address.line)
        return address, context_of(self.target.text[begin:end], place.start - begin, place.length)

    def authority(self, decision: Decision, *, same_copy: bool) -> tuple[str, Mapping[str, str]]:
        """The authority of a carried decision, and, if that is a witness, its full name: the first text itself where
        its authority is the image of another copy."""
        if decision.authority == IMAGE and not same_copy:
            return self._name, {"witness": self.source.full_name}
        known = witnesses_of(decision)
        named = decision.authority in known
        return decision.authority, {"witness": known[decision.authority]} if named else {}

    def origin(self, decision: Decision) -> Mapping[str, str | int]:
        """The decision about the first text, as it is recorded with the carried one."""
        return {
            "text": str(self.source.path),
            "page": decision.page,
            "line": decision.line,
            "offset": decision.offset,
            "person": decision.person,
            "at": decision.at.isoformat(),
            "decision": decision.id,
        }


def _covers(tokens: WitnessTokens, first: int, end: int, place: Span) -> bool:
    """Whether the characters `first:end` of a text fill a place of it exactly."""
    if not place.length:
        return True
    if first == end:
        return False
    lengths = map(sub, tokens.ends[first:end], tokens.starts[first:end])
    return sum(lengths) == place.length and tokens.starts[first] == place.start


def _beside(tokens: WitnessTokens, at: int, start: int) -> int | None:
    """The one character that touches an empty place between two others: -1 for that before it, 0 for character `at`
    behind it; None where both do, or neither does. What stands at the end of a column, or before a note, does so in
    the other text too."""
    touching = [
        side
        for side, place in (
            (-1, tokens.ends[at - 1] if at else -1),
            (0, tokens.starts[at] if at < len(tokens) else -1),
        )
        if place == start
    ]
    return touching[0] if len(touching) == 1 else None


def _occurrence(keys: str, first: int, end: int) -> tuple[int, int] | None:
    """How often the passage `first:end` of a text occurs before it, and how often in the text; None if it is empty."""
    first = max(0, first)
    passage = keys[first:end]
    return (keys.count(passage, 0, first), keys.count(passage)) if passage else None
