"""The differences of a base from its witnesses as flags: one for each place, with the readings of all witnesses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from proof.collation.classes import RANK, Class
from proof.collation.collation import REPETITION, Collation
from proof.collation.differences import MOVED, Difference
from proof.collation.quality import quality_by_block
from proof.collation.tokens import WitnessTokens
from proof.collation.witness_evidence import IMAGE, TEXT
from proof.collation.witnesses import covered, full_names, witness_names
from proof.model.flags import COLLATION, Evidence, Flag, Kind, WitnessReading, context_of, with_ids
from proof.text.addresses import Addresses

RAISED = frozenset({Class.ERROR, Class.READING, Class.ORTHOGRAPHY, Class.SYSTEMATIC})
"""Classes of differences for which a flag is raised, unless they are between forms of one word."""

MAX_FLAGGED_CHARACTERS = 40
"""Maximum length of a passage for which a flag is raised: a lost sentence, not a commentary."""

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
    names = witness_names(collations)
    coverage = list(zip(names, map(covered, collations), strict=True))
    full = full_names(collations)
    starts: list[int] = []
    flags: list[Flag] = []
    for (start, length), readings in sorted(_readings_by_place(collations, names).items()):
        address = addresses.of(start)
        if address is None:
            continue
        line_start, line_end = addresses.line(address.page, address.line)
        differing = {reading.siglum for reading in readings}
        agreeing = [name for name, is_covered in coverage if name not in differing and is_covered[start]]
        starts.append(start)
        flags.append(
            replace(
                _flag(readings, agreeing, full),
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


def _readings_by_place(collations: Sequence[Collation], names: Sequence[str]) -> dict[tuple[int, int], list[_Reading]]:
    """The readings that differ, by the start and length of their places in the base's file. `names` are those of the
    witnesses."""
    by_place: dict[tuple[int, int], list[_Reading]] = defaultdict(list)
    for collation, name in zip(collations, names, strict=True):
        weights = quality_by_block(collation.base.edition, collation.quality)
        for difference in collation.differences:
            weight = weights[collation.base.blocks[min(difference.a0, len(collation.base) - 1)]]
            for part in _in_columns(collation.base, difference):
                readings = by_place[part.start, part.length]
                if readings and readings[-1].siglum == name:  # the reading is divided by a column of the witness
                    readings[-1] = replace(readings[-1], difference=_joined(readings[-1].difference, part))
                else:
                    readings.append(_Reading(name, weight, part))
    return by_place


def _joined(first: Difference, second: Difference) -> Difference:
    """Two adjacent differences of a witness at one place of the base, with the heavier class."""
    heavier = max(first, second, key=lambda difference: RANK.index(difference.category))
    return replace(heavier, witness=first.witness + second.witness, b0=first.b0, b1=second.b1)


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


def _flag(readings: Sequence[_Reading], agreeing: Sequence[str], full: Mapping[str, str]) -> Flag:
    """The readings of one place as a flag without its address. `agreeing` are the names of the witnesses that read as
    the base, `full` the full names of witnesses by their names."""
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
    witnesses += [WitnessReading(name, difference.base, TEXT, name=full.get(name, "")) for name in agreeing]
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
