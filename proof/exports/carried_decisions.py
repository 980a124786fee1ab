"""Carrying decisions from one edition or format of a text to another.

A decision is carried if the alignment of the two texts is certain at its place: the characters beside the place are
aligned, most characters around it are aligned, and the passage is the same in both texts. For
every other decision the reason is given why it is not carried."""

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
from proof.collation.tokens import CharacterTable, WitnessTokens, shared_tokens
from proof.locale.marking import _
from proof.model.flags import Kind
from proof.store import Store
from proof.store.authorities import IMAGE, witnesses_of
from proof.store.decision_records import Decision, State, Verdict
from proof.store.double_readings import UNCHANGING_VERDICTS
from proof.store.editions import CarriedDecision
from proof.text.addresses import Address, Addresses
from proof.text.contexts import context_of
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

_OF_COPY = frozenset({State.COPY, State.RETAINED})
"""States that say what the copy of a text reads: they hold for texts of the same copy only."""

_UNDECIDED = frozenset({State.UNSURE, State.SKIPPED})


class NotCarried(StrEnum):
    """Why a decision is not carried."""

    LOST = _("its place in the first text is lost; decide it again there")
    PAGE = _("is about a page or a column, not about characters")
    UNDECIDED = _("was left open")
    OF_COPY = _("says what the copy of the first text reads; --same-copy says that both are of one copy")
    NO_TEXT = _("is in a layer that the other text lacks, or is not a character")
    NO_ANSWER = _("the characters beside it have no counterpart in the other text")
    UNLIKE = _("the text around it is different in the other text")
    SEVERAL = _("the passage does not occur equally often in the two texts")
    TWO_COLUMNS = _("in the other text it is divided between two columns, or by markup")
    OTHERWISE = _("the other text has neither the original nor the decided reading")
    FORMS = _("the reading has several forms in the script of the other text")
    ALREADY = _("the other text already reads so")
    HALF = _("the other half of the moved character is not carried")


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
    planned = [_planned(places, decision, span, same_copy) for decision, span in _decided(decided, source)]
    planned = _without_lone_halves(planned)
    groups: dict[str, list[Carried]] = {}
    for carried in planned:
        if carried.made is not None:
            groups.setdefault(_move_of(carried.decision) or str(carried.decision.id), []).append(carried)
    new_decisions = [[carried.made for carried in group if carried.made] for group in groups.values()]
    refused: dict[int, str] = {}
    for text in store.texts.find(target).own:
        reasons = store.carried.make(text.work, text.path, target, new_decisions, person, dry_run=dry_run)
        for group, reason in zip(groups.values(), reasons, strict=True):
            refused |= {carried.decision.id: reason for carried in group}
    return [replace(carried, reason=refused.get(carried.decision.id, carried.reason)) for carried in planned]


def _decided(store: Store, edition: Transcription) -> Iterable[tuple[Decision, Span | None]]:
    """The decisions about a text, each with its present place; None for a lost place. Of equal decisions at one place,
    as several works with the text may have them, only the first is given."""
    text = store.texts.find(edition)
    yielded: set[tuple[Span, State, str]] = set()
    for decided in store.texts.decided_places(text.paths, edition.text, edition.script.value):
        decision = decided.decision
        if decision.state is State.OPEN:
            continue
        if decided.flag.present is None:
            yield decision, None
            continue
        key = (decided.flag.present.span, decision.state, decision.reading)
        if key not in yielded:
            yielded.add(key)
            yield decision, decided.flag.present.span


def _without_lone_halves(planned: Sequence[Carried]) -> list[Carried]:
    """The plan, in which a decision about one half of a moved character is not carried without that about the other."""
    halves = Counter(_move_of(carried.decision) for carried in planned if carried.made)

    def is_lone(carried: Carried) -> bool:
        move = _move_of(carried.decision) if carried.made else ""
        return bool(move) and halves[move] < 2

    return [replace(carried, made=None, reason=NotCarried.HALF) if is_lone(carried) else carried for carried in planned]


def _move_of(decision: Decision) -> str:
    """A key that the decisions about the two halves of a moved character share; empty for any other decision."""
    moved = decision.evidence.get("moved", "")
    return "+".join(sorted((decision.uid, moved))) if moved and decision.verdict is not Verdict.TYPED else ""


def _planned(places: _Places, decision: Decision, span: Span | None, same_copy: bool) -> Carried:
    """The decision as it will be made about the other text, or the reason against that; `span` is its place."""
    reason = _reason_in_itself(decision, same_copy)
    if reason is not None:
        return Carried(decision, None, None, "", reason)
    if span is None:
        return Carried(decision, None, None, "", NotCarried.LOST)
    target_span = places.counterpart(span)
    if isinstance(target_span, NotCarried):
        return Carried(decision, None, None, "", target_span)
    reads = places.target.text[target_span.start : target_span.end]
    address, context = places.shown(target_span)
    reading = places.reading(decision)
    if reading is None:
        return Carried(decision, None, address, context, NotCarried.FORMS)
    reason = _reason_at_place(places, decision, reads, reading)
    if reason is not None:
        return Carried(decision, None, address, context, reason)
    verdict = UNCHANGING_VERDICTS.get(decision.state) or (Verdict.TYPED if reading else Verdict.DELETE)
    authority, witness = places.authority(decision, same_copy=same_copy)
    origin = {**places.origin(decision), **witness}
    made = CarriedDecision(*target_span, verdict, reading, decision.note, authority, origin)
    return Carried(decision, made, address, context)


def _reason_at_place(places: _Places, decision: Decision, reads: str, reading: str) -> NotCarried | None:
    """Why a decision is not carried to a place of the other text; that text `reads` so there. `reading` is the reading
    of the decision in the script of that text."""
    is_transcribed = places.is_same(reads, decision.transcribed)
    is_decided = reads == reading or (places.is_same(reads, decision.reading) and not is_transcribed)
    if decision.state is State.CORRECTED and is_decided:
        return NotCarried.ALREADY
    return None if is_transcribed else NotCarried.OTHERWISE


def _reason_in_itself(decision: Decision, same_copy: bool) -> NotCarried | None:
    """Why a decision cannot be carried to any text."""
    if decision.kind == Kind.LAYOUT.value:
        return NotCarried.PAGE
    if decision.state in _UNDECIDED:
        return NotCarried.UNDECIDED
    if decision.state in _OF_COPY and not same_copy:
        return NotCarried.OF_COPY
    return None


class _Places:
    """Maps places of the text `source` to those of the text `target`."""

    def __init__(self, source: Transcription, target: Transcription, pairs: Path | None) -> None:
        self.source, self.target = source, target
        self._policy = policy_of(target.script, pairs)
        self._table = CharacterTable(policy_of(Script.SIMPLIFIED, pairs).fold)
        self._source_tokens, self._target_tokens = shared_tokens(source, target, self._table)
        self._aligned = self._aligned_characters()
        self._addresses = Addresses(target)
        self._name = names_of([source, target], ending=True)[0]

    def _aligned_characters(self) -> dict[int, int]:
        """For each character of the source that is aligned with an equal one of the target: the number of that."""
        source, target = self._source_tokens.keys, self._target_tokens.keys
        if not source or not target:
            return {}
        return {i: j for i, j in aligned_in(align(source, target)).items() if source[i] == target[j]}

    def counterpart(self, place: Span) -> Span | NotCarried:
        """The place of the target that corresponds to a place of the source, or why none certainly does."""
        source, target = self._source_tokens, self._target_tokens
        first, end = bisect_left(source.starts, place.start), bisect_left(source.starts, place.end)
        if not _covers(source, first, end, place):
            return NotCarried.NO_TEXT
        before = -1 if first == 0 else self._aligned.get(first - 1)
        target_end = len(target) if end == len(source) else self._aligned.get(end)
        if before is None or target_end is None:
            return NotCarried.NO_ANSWER
        target_first = before + 1
        if not 0 <= target_end - target_first <= max(end - first, 1) + CONTEXT_CHARACTERS:
            return NotCarried.NO_ANSWER
        characters, target_characters = range(first, end), range(target_first, target_end)
        if self._aligned_share(characters, target_characters) < MIN_ALIGNED_SHARE:
            return NotCarried.UNLIKE
        if not self._is_same_passage(characters, target_characters):
            return NotCarried.SEVERAL
        return self._span(target_characters, None if place.length else _neighbour(source, first, place.start))

    def _is_same_passage(self, characters: range, target_characters: range) -> bool:
        """Whether the passage before or after the two places occurs equally often in both texts, and these are the
        same of its occurrences."""
        source, target = self._source_tokens.keys, self._target_tokens.keys
        before = _occurrence(source, characters.start - CONTEXT_CHARACTERS, characters.start)
        if before is not None and before == _occurrence(
            target, target_characters.start - CONTEXT_CHARACTERS, target_characters.start
        ):
            return True
        after = _occurrence(source, characters.stop, characters.stop + CONTEXT_CHARACTERS)
        return after is not None and after == _occurrence(
            target, target_characters.stop, target_characters.stop + CONTEXT_CHARACTERS
        )

    def _aligned_share(self, characters: range, target_characters: range) -> float:
        """The share of the characters around the place in the source that are aligned with characters around the place
        in the target."""
        around = [
            *range(max(0, characters.start - CONTEXT_CHARACTERS), characters.start),
            *range(characters.stop, min(len(self._source_tokens), characters.stop + CONTEXT_CHARACTERS)),
        ]
        reach = CONTEXT_CHARACTERS + MAX_SHIFT
        target_around = range(target_characters.start - reach, target_characters.stop + reach)
        aligned = sum(self._aligned.get(at) in target_around for at in around)
        return aligned / len(around) if around else 0.0

    def _span(self, characters: range, neighbour: int | None) -> Span | NotCarried:
        """The place of these characters of the target, which must be in one column and without markup between them.

        If there are none, it is an empty place: after the character before them if `neighbour` is -1, before the
        character after them if it is 0, between these two if it is None.
        """
        tokens, first, end = self._target_tokens, characters.start, characters.stop
        if not characters and neighbour is not None:
            return Span(tokens.starts[first] if neighbour == 0 else tokens.ends[first - 1], 0)
        joined = slice(first, end) if characters else slice(max(0, first - 1), first + 1)
        starts, ends = tokens.starts[joined], tokens.ends[joined]
        if len(set(tokens.blocks[joined])) != 1 or ends[:-1] != starts[1:]:
            return NotCarried.TWO_COLUMNS
        if not characters:
            return Span(starts[-1] if end < len(tokens) else ends[-1], 0)
        return Span(starts[0], ends[-1] - starts[0])

    def is_same(self, reads: str, text: str) -> bool:
        """Whether two readings are the same words, in whatever script and variant forms."""
        return len(reads) == len(text) and all(map(self._is_same_character, reads, text))

    def _is_same_character(self, first: str, second: str) -> bool:
        return first == second or self._table.key(first) == self._table.key(second)

    def reading(self, decision: Decision) -> str | None:
        """The reading of a decision in the script of the other text, '' if a decision of its state has none; None if
        that script has several forms of a character."""
        if decision.state not in (State.CORRECTED, State.RETAINED):
            return ""
        reading = decision.copy_reads if decision.state is State.RETAINED else decision.reading
        forms = [self._policy.forms_in(self.target.text, char, kin=False) for char in reading]
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
        full_names = witnesses_of(decision)
        if decision.authority not in full_names:
            return decision.authority, {}
        return decision.authority, {"witness": full_names[decision.authority]}

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


def _neighbour(tokens: WitnessTokens, following: int, start: int) -> int | None:
    """Which of its neighbours the empty place at `start` adjoins: -1 for the character before it, 0 for the one after
    it, which has the number `following`; None if it adjoins both or neither.

    In the other text the place stays beside that neighbour, for example at the end of a column.
    """
    touches_before = following > 0 and tokens.ends[following - 1] == start
    touches_following = following < len(tokens) and tokens.starts[following] == start
    if touches_before == touches_following:
        return None
    return -1 if touches_before else 0


def _occurrence(keys: str, first: int, end: int) -> tuple[int, int] | None:
    """How often the passage `first:end` of a text occurs before it, and how often in the text; None if it is empty."""
    first = max(0, first)
    passage = keys[first:end]
    return (keys.count(passage, 0, first), keys.count(passage)) if passage else None
