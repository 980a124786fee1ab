"""The differences of a base from its witnesses as findings: one for each place, with the readings of all witnesses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from proof.collation.classes import RANK, Class
from proof.collation.collation import SAID_AGAIN, Collation
from proof.collation.differences import MOVED, Difference
from proof.collation.quality import quality_by_block
from proof.collation.tokens import WitnessTokens
from proof.collation.witness_evidence import IMAGE, TEXT
from proof.collation.witnesses import covered, full_names, witness_names
from proof.model.flags import COLLATION, Evidence, Flag, Kind, WitnessReading, context_of, numbered
from proof.text.addresses import Addresses

RAISED = frozenset({Class.ERROR, Class.READING, Class.ORTHOGRAPHY, Class.SYSTEMATIC})
"""Classes of differences for which a flag is raised, except those between forms of one word."""

MAX_FLAGGED_CHARACTERS = 40
"""Maximum length of a passage for which a flag is raised: a lost sentence, not a commentary."""

_OTHER_KIND = {Kind.INSERTION: Kind.OMISSION, Kind.OMISSION: Kind.INSERTION}

ERROR_SCORE = 4.0
"""Score in nats of a reading that all witnesses support."""

SUPPORTED_GAIN_NATS = 2.0
"""Nats added to the score for an apparatus note at the place."""


@dataclass(frozen=True, slots=True)
class PlacedFlag:
    """A finding, and the code point of the base's file at which it begins."""

    start: int
    flag: Flag


@dataclass(frozen=True, slots=True)
class _Reading:
    """What a witness reads at a place of the base, and the share of its weight that it has in this juan."""

    siglum: str
    weight: float
    difference: Difference

    @property
    def text(self) -> str:
        """The characters that the witness has there."""
        return self.difference.witness

    @property
    def raised(self) -> bool:
        """Whether its difference is shown to the proofreader."""
        difference = self.difference
        if difference.category in (Class.PASSAGE, Class.UNLIKE):
            return difference.rule != SAID_AGAIN and difference.size <= MAX_FLAGGED_CHARACTERS
        return difference.category in RAISED and difference.kind is not Kind.VARIANT


def findings(collations: Sequence[Collation]) -> list[PlacedFlag]:
    """The differences of all witnesses as flags, in the order of the base, which all collations share.

    Errors, other readings, borrowings, systematic pairs and passages of up to `MAX_FLAGGED_CHARACTERS` characters are
    raised. A difference over several columns is a flag in each, since a flag has one address. The reading with most of
    the witnesses' weight is suggested, others are alternatives. `page` and `ref` are empty if the base has no pages.
    """
    edition = collations[0].base.edition
    addresses = Addresses(edition)
    refs = {page.id: str(page.ref or "") for page in edition.pages}
    agreeing = list(zip(witness_names(collations), map(covered, collations), strict=True))
    full = full_names(collations)
    starts: list[int] = []
    flags: list[Flag] = []
    for (start, length), readings in sorted(_by_place(collations).items()):
        address = addresses.of(start)
        if address is None:
            continue
        begin, end = addresses.line(address.page, address.line)
        differing = {reading.siglum for reading in readings}
        same = [name for name, covers in agreeing if name not in differing and covers[start]]
        starts.append(start)
        flags.append(
            replace(
                _flag(readings, same, full),
                page=address.page,
                ref=refs.get(address.page, ""),
                line=address.line,
                offset=address.offset,
                context=context_of(edition.text[begin:end], address.offset, length),
            )
        )
    linked = _linked(collations, starts, numbered(flags))
    return [PlacedFlag(start, flag) for start, flag in zip(starts, linked, strict=True)]


def flags(*collations: Collation) -> list[Flag]:
    """The findings without their places in the base's file."""
    return [placed.flag for placed in findings(collations)]


def _linked(collations: Sequence[Collation], starts: Sequence[int], flags: Sequence[Flag]) -> list[Flag]:
    """The flags; those of words that stand at another place of the page in a witness are linked in pairs, an insertion
    with an omission of the same words, each with the last one before it."""
    linked = list(flags)
    at = {(start, flag.length): number for number, (start, flag) in enumerate(zip(starts, flags, strict=True))}
    for collation in collations:
        waiting: dict[tuple[Kind, str], int] = {}
        for difference in collation.differences:
            number = at.get((difference.start, difference.length)) if difference.rule == MOVED else None
            flag = linked[number] if number is not None else None
            if number is None or flag is None or flag.kind not in _OTHER_KIND or flag.moved or not flag.raised:
                continue
            words = flag.transcribed or flag.suggested
            other = waiting.pop((_OTHER_KIND[flag.kind], words), None)
            if other is None:
                waiting[flag.kind, words] = number
            elif linked[other].page == flag.page:
                linked[number] = replace(flag, moved=linked[other].id)
                linked[other] = replace(linked[other], moved=flag.id)
    return linked


def _by_place(collations: Sequence[Collation]) -> dict[tuple[int, int], list[_Reading]]:
    """The readings that differ, by the start and length of their places in the base's file."""
    by_place: dict[tuple[int, int], list[_Reading]] = defaultdict(list)
    for collation, name in zip(collations, witness_names(collations), strict=True):
        weights = quality_by_block(collation.base.edition, collation.quality)
        for whole in collation.differences:
            block = collation.base.blocks[min(whole.a0, len(collation.base) - 1)]
            weight = weights[block]
            for part in _in_columns(collation.base, whole):
                there = by_place[part.start, part.length]
                last = there[-1] if there and there[-1].siglum == name else None
                if last is not None:  # the witness has the reading in two of its own columns
                    before = last.difference
                    heaviest = max(before, part, key=lambda candidate: RANK.index(candidate.category))
                    both = replace(heaviest, witness=before.witness + part.witness, b0=before.b0, b1=part.b1)
                    there[-1] = replace(last, difference=both)
                else:
                    there.append(_Reading(name, weight, part))
    return by_place


def _in_columns(base: WitnessTokens, difference: Difference) -> Iterator[Difference]:
    """A difference divided where a column of the base ends or markup follows, since a flag is about adjacent
    characters. The reading of the witness is divided character by character, or else belongs to the first part. A block
    that moved is not divided."""
    inner = range(difference.a0 + 1, difference.a1) if difference.category is not Class.MOVED else ()
    cuts = [at for at in inner if not _beside(base, at)]
    if not cuts:
        yield difference
        return
    as_many = difference.b1 - difference.b0 == difference.a1 - difference.a0 == len(difference.witness)
    for first, end in zip([difference.a0, *cuts], [*cuts, difference.a1], strict=True):
        witness = difference.witness if first == difference.a0 else ""
        if as_many:
            witness = difference.witness[first - difference.a0 : end - difference.a0]
        text = base.text(first, end)
        if witness == text:
            continue
        kind = difference.kind if witness else Kind.INSERTION
        start, length = base.starts[first], base.ends[end - 1] - base.starts[first]
        yield replace(difference, kind=kind, base=text, witness=witness, start=start, length=length)


def _beside(base: WitnessTokens, at: int) -> bool:
    """Whether a character of the base follows the one before it in the same column, with nothing between."""
    return base.blocks[at - 1] == base.blocks[at] and base.ends[at - 1] == base.starts[at]


def _flag(readings: Sequence[_Reading], same: Sequence[str], full: Mapping[str, str]) -> Flag:
    """The readings of one place as a flag without its address; `full` are names of witnesses by their sigla."""
    shown = [reading for reading in readings if reading.raised] or readings
    weights: dict[str, float] = defaultdict(float)
    for reading in shown:
        weights[reading.text] += reading.weight
    suggested = max(weights, key=lambda text: weights[text])  # of equal ones, that of the first witness
    chosen = next(reading for reading in shown if reading.text == suggested)
    total = sum(weights.values())
    notes = dict.fromkeys(note for reading in readings for note in reading.difference.notes)
    raised = chosen.raised
    score = (ERROR_SCORE * min(1.0, weights[suggested]) + SUPPORTED_GAIN_NATS * bool(notes)) if raised else 0.0
    difference = chosen.difference
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
        raised=raised,
        bbox=None,
        evidence=Evidence(
            reason=COLLATION,
            rule=difference.category.value if raised else difference.rule,
            alternatives=tuple((text, round(weight / total, 3)) for text, weight in weights.items() if text),
            note="；".join(note.text for note in notes),
            witnesses=(
                *(
                    WitnessReading(
                        reading.siglum,
                        reading.text,
                        IMAGE * (reading.text == suggested),
                        name=full.get(reading.siglum, ""),
                    )
                    for reading in readings
                ),
                *(WitnessReading(name, difference.base, TEXT, name=full.get(name, "")) for name in same),
            ),
        ),
    )
