"""The differences of a base from its witnesses as flags: one for each place, with the readings of all witnesses."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from proof.collation.classes import LACUNA, RANK, Class
from proof.collation.collation import REPETITION, Collation
from proof.collation.differences import MAX_PHRASE_CHARACTERS, MOVED, Difference
from proof.collation.quality import quality_by_block
from proof.collation.tokens import WitnessTokens
from proof.collation.witness_evidence import IMAGE, TEXT
from proof.collation.witnesses import covered, full_names, witness_names
from proof.model.flags import COLLATION, Evidence, Flag, Kind, WitnessReading, with_ids
from proof.text.addresses import Addresses
from proof.text.contexts import context_of
from proof.text.layers import LACUNAE

RAISED = frozenset({Class.ERROR, Class.READING, Class.ORTHOGRAPHY, Class.SYSTEMATIC})
"""Classes of differences for which a flag is raised, unless they are between forms of one word."""

MAX_FLAGGED_CHARACTERS = 40
"""Maximum length of a passage for which a flag is raised: a lost sentence, not a commentary."""

_START = attrgetter("start")

_OTHER_KIND = {Kind.INSERTION: Kind.OMISSION, Kind.OMISSION: Kind.INSERTION}

ERROR_SCORE = 4.0
"""Score in nats of a reading that all witnesses support."""

SUPPORTED_GAIN_NATS = 2.0
"""Nats added to the score for an apparatus note at the place."""


@dataclass(frozen=True, slots=True)
class PlacedFlag:
    """A flag, and the code point of the base's file at which it begins."""

    start: int
    flag: Flag


@dataclass(frozen=True, slots=True)
class _Reading:
    """The reading of a witness at a place of the base, and the weight of the witness in this juan, from 0 to 1."""

    siglum: str
    weight: float
    difference: Difference

    @property
    def text(self) -> str:
        return self.difference.witness

    @property
    def raised(self) -> bool:
        """Whether its difference is shown to the proofreader."""
        difference = self.difference
        if difference.category in (Class.PASSAGE, Class.UNLIKE):
            return difference.rule != REPETITION and difference.size <= MAX_FLAGGED_CHARACTERS
        if difference.rule == LACUNA:  # only a lacuna of the base can be filled
            return LACUNAE.issuperset(difference.base) and bool(difference.base and difference.witness)
        return difference.category in RAISED and difference.kind is not Kind.VARIANT


def findings(collations: Sequence[Collation]) -> list[PlacedFlag]:
    """The differences of all witnesses as flags, in the order of the base, which all collations share.

    Errors, other readings, borrowings, systematic pairs and passages of up to `MAX_FLAGGED_CHARACTERS` characters are
    raised. A difference over several columns becomes a flag in each, since a flag has one address. The reading with the
    greatest weight of witnesses is suggested, others are alternatives. `page` and `ref` are empty if the base has no
    pages.
    """
    edition = collations[0].base.edition
    addresses = Addresses(edition)
    refs = {page.id: str(page.ref or "") for page in edition.pages}
    witnesses = list(map(_Witness.of, collations, witness_names(collations)))
    full = full_names(collations)
    starts: list[int] = []
    flags: list[Flag] = []
    for (start, length), readings in sorted(_readings_by_place(edition.text, witnesses).items()):
        address = addresses.of(start)
        if address is None:
            continue
        line_start, line_end = addresses.line(address.page, address.line)
        differing = {reading.siglum for reading in readings}
        others = {
            witness.name: reading
            for witness in witnesses
            if witness.name not in differing
            and (reading := witness.reading(edition.text, start, start + length)) is not None
        }
        starts.append(start)
        flags.append(
            replace(
                _flag(readings, others, full),
                page=address.page,
                ref=refs.get(address.page, ""),
                line=address.line,
                offset=address.offset,
                context=context_of(edition.text[line_start:line_end], address.offset, length),
            )
        )
    linked = _with_moves_linked(collations, starts, with_ids(flags))
    return [PlacedFlag(start, flag) for start, flag in zip(starts, linked, strict=True)]


def flags(*collations: Collation) -> list[Flag]:
    """The findings without their places in the base's file."""
    return [placed.flag for placed in findings(collations)]


def _with_moves_linked(collations: Sequence[Collation], starts: Sequence[int], flags: Sequence[Flag]) -> list[Flag]:
    """The flags, with those of words that a witness has at another place of the page linked in pairs: an insertion and
    the last omission of the same words before it, or the other way round."""
    linked = list(flags)
    number_at = {(start, flag.length): number for number, (start, flag) in enumerate(zip(starts, flags, strict=True))}
    for collation in collations:
        unpaired: dict[tuple[Kind, str], int] = {}
        for difference in collation.differences:
            number = number_at.get((difference.start, difference.length)) if difference.rule == MOVED else None
            if number is None:
                continue
            flag = linked[number]
            if flag.kind not in _OTHER_KIND or flag.moved or not flag.raised:
                continue
            words = flag.transcribed or flag.suggested
            other = unpaired.pop((_OTHER_KIND[flag.kind], words), None)
            if other is None:
                unpaired[flag.kind, words] = number
            elif linked[other].page == flag.page:
                linked[number] = replace(flag, moved=linked[other].id)
                linked[other] = replace(linked[other], moved=flag.id)
    return linked


@dataclass(frozen=True, slots=True)
class _Witness:
    """The `differences` of a witness by their places, divided by columns of the base, each with the weight of the
    witness in its juan. `words` are those that are no mere forms and no blocks that moved: elsewhere the witness reads
    as the base where it `is_covered`."""

    name: str
    differences: Sequence[tuple[Difference, float]]
    words: Sequence[Difference]
    is_covered: NDArray[np.bool_]

    @classmethod
    def of(cls, collation: Collation, name: str) -> _Witness:
        base = collation.base
        quality = quality_by_block(base.edition, collation.quality)
        differences = [
            (part, quality[base.blocks[min(difference.a0, len(base) - 1)]])
            for difference in collation.differences
            for part in _in_columns(base, difference)
        ]
        differences.sort(key=lambda weighed: _place(weighed[0]))
        words = [part for part, _ in differences if part.category is not Class.MOVED and part.kind is not Kind.VARIANT]
        return cls(name, differences, words, covered(collation))

    def reading(self, text: str, start: int, end: int) -> str | None:
        """What it has for `start:end` of the base, which has the `text`; None if it does not have the place, or a
        difference goes beyond it."""
        if not self.is_covered[start]:
            return None
        first = last = bisect_left(self.words, end, key=_START)
        while first and _end(self.words[first - 1]) > start:
            first -= 1
        inside = self.words[first:last]
        if inside and (inside[0].start < start or _end(inside[-1]) > end):
            return None
        return _with_readings(text, start, end, inside)


def _place(difference: Difference) -> tuple[int, int]:
    """Start and length in the base's file."""
    return difference.start, difference.length


def _end(difference: Difference) -> int:
    return difference.start + difference.length


def _with_readings(text: str, start: int, end: int, differences: Iterable[Difference]) -> str:
    """The `text` of the base from `start` to `end` with the readings of a witness in it."""
    pieces, at = [], start
    for difference in differences:
        pieces += [text[at : difference.start], difference.witness]
        at = _end(difference)
    return "".join([*pieces, text[at:end]])


def _readings_by_place(text: str, witnesses: Sequence[_Witness]) -> dict[tuple[int, int], list[_Reading]]:
    """The readings that differ, by the start and length of their places in the base's file. Short differences of
    several witnesses that overlap have one place: 在黄 and 者黄 for 在皇."""
    common = _common_places([part for witness in witnesses for part, _ in witness.differences if _is_short(part)])
    by_place: dict[tuple[int, int], list[_Reading]] = defaultdict(list)
    for witness in witnesses:
        own: dict[tuple[int, int], list[tuple[Difference, float]]] = defaultdict(list)
        for part, weight in witness.differences:
            place = common.get(_place(part), _place(part)) if _is_short(part) else _place(part)
            own[place].append((part, weight))
        for place, weighed in own.items():
            difference = _as_one([part for part, _ in weighed], place, text)
            by_place[place].append(_Reading(witness.name, weighed[0][1], difference))
    return by_place


def _is_short(difference: Difference) -> bool:
    """Whether a difference is one in words, and so short that those of other witnesses that overlap it are readings of
    the same place."""
    is_word = difference.category in RAISED and difference.kind is not Kind.VARIANT
    is_in_words = is_word or difference.rule == LACUNA
    return is_in_words and difference.rule != MOVED and difference.size <= MAX_PHRASE_CHARACTERS


def _common_places(differences: Iterable[Difference]) -> dict[tuple[int, int], tuple[int, int]]:
    """For the place of each difference, that of all which overlap: they share a character, or one of them is between
    two characters of another."""
    groups: list[list[tuple[int, int]]] = []
    for place in sorted(set(map(_place, differences))):
        start, end = place[0], sum(place)
        if groups and groups[-1][0][0] < end and start < max(map(sum, groups[-1])):
            groups[-1].append(place)
        else:
            groups.append([place])
    return {place: (group[0][0], max(map(sum, group)) - group[0][0]) for group in groups for place in group}


def _as_one(differences: Sequence[Difference], place: tuple[int, int], text: str) -> Difference:
    """The differences of a witness at one place of the base as one, with the heaviest class: its columns divide a
    reading, or it has several where another witness has one."""
    heaviest = max(differences, key=lambda difference: RANK.index(difference.category))
    first, last = differences[0], differences[-1]
    if all(_place(difference) == place for difference in differences):
        witness = "".join(difference.witness for difference in differences)
        return replace(heaviest, witness=witness, b0=first.b0, b1=last.b1)
    start, length = place
    witness = _with_readings(text, start, start + length, differences)
    return replace(
        heaviest,
        kind=Kind.SUBSTITUTION if witness else Kind.INSERTION,
        base=text[start : start + length],
        witness=witness,
        start=start,
        length=length,
        b0=first.b0,
        b1=last.b1,
    )


def _in_columns(base: WitnessTokens, difference: Difference) -> Iterator[Difference]:
    """A difference divided where a column of the base ends or markup follows, since a flag is about adjacent
    characters. The reading of the witness is divided too if it has as many characters, else it belongs to the first
    part. A block that moved is not divided."""
    inner = range(difference.a0 + 1, difference.a1) if difference.category is not Class.MOVED else ()
    cuts = [at for at in inner if not _is_adjacent(base, at)]
    if not cuts:
        yield difference
        return
    is_divisible = difference.b1 - difference.b0 == difference.a1 - difference.a0 == len(difference.witness)
    for first, end in pairwise([difference.a0, *cuts, difference.a1]):
        witness = difference.witness if first == difference.a0 else ""
        if is_divisible:
            witness = difference.witness[first - difference.a0 : end - difference.a0]
        text = base.text(first, end)
        if witness == text:
            continue
        kind = difference.kind if witness else Kind.INSERTION
        start, length = base.starts[first], base.ends[end - 1] - base.starts[first]
        yield replace(difference, kind=kind, base=text, witness=witness, start=start, length=length)


def _is_adjacent(base: WitnessTokens, at: int) -> bool:
    """Whether a character of the base directly follows the one before it in the same column."""
    return base.blocks[at - 1] == base.blocks[at] and base.ends[at - 1] == base.starts[at]


def _flag(readings: Sequence[_Reading], others: Mapping[str, str], full: Mapping[str, str]) -> Flag:
    """The readings of one place as a flag without its address. `others` are the readings of the witnesses that have no
    difference of just this place, mostly that of the base, `full` the full names of witnesses, both by their names."""
    considered = [reading for reading in readings if reading.raised] or readings
    weights: dict[str, float] = defaultdict(float)
    for reading in considered:
        weights[reading.text] += reading.weight
    suggested = max(weights, key=lambda text: weights[text])  # the first one of equal weight
    chosen = next(reading for reading in considered if reading.text == suggested)
    total = sum(weights.values())
    notes = dict.fromkeys(note for reading in readings for note in reading.difference.notes)
    score = 0.0
    if chosen.raised:
        score = ERROR_SCORE * min(1.0, weights[suggested]) + SUPPORTED_GAIN_NATS * bool(notes)
    difference = chosen.difference
    witnesses = [
        WitnessReading(
            reading.siglum,
            reading.text,
            IMAGE if reading.text == suggested else "",
            name=full.get(reading.siglum, ""),
        )
        for reading in readings
    ]
    sides = {suggested: IMAGE, difference.base: TEXT}
    witnesses += [
        WitnessReading(name, reading, sides.get(reading, ""), name=full.get(name, ""))
        for name, reading in others.items()
    ]
    return Flag(
        page="",
        ref="",
        line=0,
        offset=0,
        length=difference.length,
        kind=difference.kind,
        transcribed=difference.base,
        suggested=suggested,
        score=score,
        raised=chosen.raised,
        bbox=None,
        evidence=Evidence(
            reason=COLLATION,
            rule=difference.category.value if chosen.raised else difference.rule,
            alternatives=tuple((text, round(weight / total, 3)) for text, weight in weights.items() if text),
            note="；".join(note.text for note in notes),
            witnesses=tuple(witnesses),
        ),
    )
