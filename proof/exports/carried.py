"""Carrying decisions from one edition or format of a text to another.

A decision is carried if the alignment of the two texts is certain at its place: the characters beside it are aligned,
so are most of those around it, and it is the same passage in both. For all other decisions the reason is given."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from proof.collation.blocks import align
from proof.collation.differences import aligned_in
from proof.collation.sigla import names_of
from proof.collation.tokens import Keys, WitnessTokens, sequence_of, shared_layers
from proof.exports.decided import decisions_of
from proof.model.flags import Kind, context_of
from proof.store import Store
from proof.store.authorities import IMAGE
from proof.store.carried import CarriedDecision
from proof.store.decision_records import Decision, State, Verdict
from proof.store.text_pages import find_text
from proof.text.addresses import Address, Addresses
from proof.text.model import Script
from proof.text.positions import Span
from proof.text.transcription import Transcription
from proof.text.variants import policy_of

REACH = 12
"""Characters on either side of a place by which its passage is recognised."""

LEAST_SHARE = 0.75
"""Share of these characters that must be aligned, at least."""

_VERDICTS = {State.KEPT: Verdict.KEEP, State.COPY: Verdict.COPY, State.RETAINED: Verdict.RETAIN}
"""The verdicts for states without a correction; corrections are carried as typed readings or deletions."""
_OF_COPY = frozenset({State.COPY, State.RETAINED})
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
    """A decision about the first text and its result in the other: `made` is the new decision, at `address` in the
    `context` of its column, or `reason` says why there is none."""

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
    """Carry the decisions in the store `decided` on the text `source` to `target`, as decisions of `person` in `store`;
    with `dry_run` nothing is written. Both texts must have been checked; the stores may be the same. `pairs` is a
    project's file of pairs of characters.

    Raises UsageError if one of the two was not checked, or has changed since.
    """
    source, target = _in_its_script(decided, source), _in_its_script(store, target)
    to_places = _Places(source, target, pairs)
    planned = _with_halves([_planned(to_places, *decision, same_copy) for decision in _decided(decided, source)])
    groups: dict[str, list[Carried]] = {}
    for carried in planned:
        if carried.made is not None:
            groups.setdefault(_move_of(carried.decision) or str(carried.decision.id), []).append(carried)
    wanted = [[carried.made for carried in group if carried.made] for group in groups.values()]
    refused: dict[int, str] = {}
    for text in find_text(store, target).own:
        reasons = store.carried.make(text.work, text.path, target, wanted, person, dry_run=dry_run)
        for group, reason in zip(groups.values(), reasons, strict=True):
            refused |= {carried.decision.id: reason for carried in group}
    return [replace(carried, reason=refused.get(carried.decision.id, carried.reason)) for carried in planned]


def _in_its_script(store: Store, edition: Transcription) -> Transcription:
    script = find_text(store, edition).latest.script
    return replace(edition, script=Script(script)) if script in set(Script) else edition


def _decided(store: Store, edition: Transcription) -> Iterable[tuple[Decision, Span | None]]:
    """The decisions on a text, each with its present place in it."""
    text = find_text(store, edition)
    own = {known.path for known in text.own}
    seen: set[tuple[Span | None, str, str]] = set()
    for there, decision, place in decisions_of(store, edition, text.own, own):
        span = place[0] if place else None
        if there.text not in own or decision.state is State.OPEN or (span, decision.state, decision.reading) in seen:
            continue
        seen |= {(span, decision.state, decision.reading)} if span else set()
        yield decision, span


def _with_halves(planned: Sequence[Carried]) -> list[Carried]:
    """The plan without decisions on one half of a moved character if the other half is not carried."""
    of_move: dict[str, int] = {}
    for each in planned:
        of_move[_move_of(each.decision)] = of_move.get(_move_of(each.decision), 0) + (each.made is not None)
    return [
        replace(each, made=None, reason=NotCarried.HALF)
        if each.made and _move_of(each.decision) and of_move[_move_of(each.decision)] < 2
        else each
        for each in planned
    ]


def _move_of(decision: Decision) -> str:
    """A key of the move of which a decision is one half; empty if it is none."""
    moved = decision.evidence.get("moved", "")
    return "+".join(sorted((decision.uid, moved))) if moved and decision.verdict is not Verdict.TYPED else ""


def _planned(places: _Places, decision: Decision, span: Span | None, same_copy: bool) -> Carried:
    reason = _reason_in_itself(decision, span, same_copy)
    place = reason or places.answer(span or Span(0, 0))
    if isinstance(place, NotCarried):
        return Carried(decision, None, None, "", place)
    reads = places.other.text[place.start : place.end]
    address, context = places.shown(place)
    wanted = places.reading(decision)
    reason = _reason_there(places, decision, reads, wanted)
    if reason is not None:
        return Carried(decision, None, address, context, reason)
    verdict = _VERDICTS.get(decision.state) or (Verdict.TYPED if wanted else Verdict.DELETE)
    authority = decision.authority if same_copy else places.authority(decision)
    made = CarriedDecision(*place, verdict, wanted or "", decision.note, authority, places.origin(decision))
    return Carried(decision, made, address, context)


def _reason_there(places: _Places, decision: Decision, reads: str, wanted: str | None) -> NotCarried | None:
    """Why a decision is not carried to a place with the text `reads`; `wanted` is the text after it."""
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
    """Maps places of one text to the corresponding places of another."""

    def __init__(self, source: Transcription, target: Transcription, pairs: Path | None) -> None:
        self.one, self.other = source, target
        self._policy = policy_of(target.script, pairs)
        self._keys = Keys(policy_of(Script.SIMPLIFIED, pairs).fold)
        mine, theirs = shared_layers(source, target)
        self._a, self._b = sequence_of(source, self._keys, mine), sequence_of(target, self._keys, theirs)
        answers = aligned_in(align(self._a.keys, self._b.keys)) if len(self._a) and len(self._b) else {}
        self._answers = {i: j for i, j in answers.items() if self._a.keys[i] == self._b.keys[j]}
        self._addresses = Addresses(target)
        self._name = names_of([source, target], ending=True)[0]

    def answer(self, place: Span) -> Span | NotCarried:
        """The place of the other text that corresponds to one of the first, or why none does for certain."""
        first, end = bisect_left(self._a.starts, place.start), bisect_left(self._a.starts, place.end)
        if not _covers(self._a, first, end, place):
            return NotCarried.NO_TEXT
        begin = 0 if first == 0 else self._answers.get(first - 1, -2) + 1
        stop = len(self._b) if end == len(self._a) else self._answers.get(end, -1)
        if begin < 0 or stop < begin or stop - begin > max(end - first, 1) + REACH:
            return NotCarried.NO_ANSWER
        if self._share((first, end), (begin, stop)) < LEAST_SHARE:
            return NotCarried.UNLIKE
        if not self._one_passage((first, end), (begin, stop)):
            return NotCarried.SEVERAL
        return self._span(begin, stop)

    def _one_passage(self, here: tuple[int, int], there: tuple[int, int]) -> bool:
        """Whether the passage before or after two places occurs once in each text, or equally often and here with the
        same number."""
        before, behind = (
            [
                _occurrence(tokens.keys, low, tokens.keys[low:high])
                for tokens, (first, end) in ((self._a, here), (self._b, there))
                for low, high in [(max(0, first - REACH), first) if side < 0 else (end, end + REACH)]
            ]
            for side in (-1, 1)
        )
        return any(side[0] is not None and side[0] == side[1] for side in (before, behind))

    def _share(self, here: tuple[int, int], there: tuple[int, int]) -> float:
        """The share of characters around two places that are aligned with one another."""
        around = [*range(max(0, here[0] - REACH), here[0]), *range(here[1], min(len(self._a), here[1] + REACH))]
        low, high = there[0] - REACH - 2, there[1] + REACH + 2
        answered = sum(low <= self._answers.get(at, -1_000_000) < high for at in around)
        return answered / len(around) if around else 0.0

    def _span(self, begin: int, stop: int) -> Span | NotCarried:
        """The code points of characters of the other text; of no characters, the place between two of one column."""
        cells, blocks = self._b.cells, self._b.blocks
        beside = range(max(0, begin - 1), min(len(self._b), stop + 1))
        if begin == stop:
            beside = beside[-2:] if len(beside) > 1 else beside
        whole = list(range(begin, stop)) or list(beside)
        joined = all(cells[at].start + cells[at].length == cells[at + 1].start for at in whole[:-1])
        if len({blocks[at] for at in whole}) != 1 or not joined:
            return NotCarried.TWO_COLUMNS
        if begin == stop:
            start = cells[stop].start if stop < len(self._b) else cells[stop - 1].start + cells[stop - 1].length
            return Span(start, 0)
        start, last = cells[begin].start, cells[stop - 1]
        return Span(start, last.start + last.length - start)

    def same(self, reads: str, text: str) -> bool:
        """Whether two readings are the same words in any script and forms."""
        return len(reads) == len(text) and all(map(self._same_character, reads, text))

    def _same_character(self, first: str, second: str) -> bool:
        return first == second or self._keys.key(first) == self._keys.key(second)

    def reading(self, decision: Decision) -> str | None:
        """The reading of a decision in the script of the other text; None if that has several forms of it."""
        reading = decision.copy_reads if decision.state is State.RETAINED else decision.reading
        if decision.state not in (State.CORRECTED, State.RETAINED):
            return ""
        forms = [self._policy.written_forms(char, kin=False) for char in reading]
        return None if any(len(written) > 1 for written in forms) else "".join(written[0] for written in forms)

    def shown(self, place: Span) -> tuple[Address | None, str]:
        """The address of a place of the other text, and the text around it."""
        address = self._addresses.of(place.start)
        if address is None:
            return None, ""
        begin, end = self._addresses.line(address.page, address.line)
        return address, context_of(self.other.text[begin:end], place.start - begin, place.length)

    def authority(self, decision: Decision) -> str:
        """The authority of a carried decision: an image is an authority only for the first text."""
        return self._name if decision.authority == IMAGE else decision.authority

    def origin(self, decision: Decision) -> Mapping[str, str | int]:
        """The origin of a decision, to be recorded with the carried one."""
        return {
            "text": str(self.one.path),
            "page": decision.page,
            "line": decision.line,
            "offset": decision.offset,
            "person": decision.person,
            "at": decision.at.isoformat(),
            "decision": decision.id,
        }


def _covers(tokens: WitnessTokens, first: int, end: int, place: Span) -> bool:
    """Whether characters `first:end` of a text are exactly those at a place of it."""
    if not place.length:
        return True
    if first == end:
        return False
    cells = tokens.cells[first:end]
    return sum(cell.length for cell in cells) == place.length and cells[0].start == place.start


def _occurrence(keys: str, at: int, passage: str) -> tuple[int, int] | None:
    """The number of the occurrence of a passage that begins at a place, and the number of occurrences; None for an
    empty passage."""
    return (keys.count(passage, 0, at), keys.count(passage)) if passage else None
