"""Several witnesses on one place: what each of them reads, and what that says about a flag."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from proof.collate.collation import Collation
from proof.collate.differences import Class
from proof.flags import Flag, Kind
from proof.text.variants import Relation, VariantPolicy
from proof.text.witness import Address, Addresses, Edition

WEIGHT = 1.5
"""What one witness adds to the score of a flag, or takes from it."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a witness reads at a place of the base, and what that is to the base's own reading (`same` where they
    agree)."""

    witness: str
    text: str
    category: str


@dataclass(frozen=True, slots=True)
class Place:
    """A place of the base at which some witness reads otherwise: `length` code points from `start` in its file."""

    start: int
    length: int
    base: str
    readings: tuple[Reading, ...]


def places(collations: Sequence[Collation]) -> list[Place]:
    """The places where any witness differs from the base, each with the reading of every witness that has it.

    All collations have the same base. Where a witness lacks the whole passage it has no reading.
    """
    differing: dict[tuple[int, int], dict[str, Reading]] = defaultdict(dict)
    base_text: dict[tuple[int, int], str] = {}
    for collation in collations:
        name = collation.witness.edition.path.name
        for one in collation.differences:
            if one.category is not Class.PASSAGE:
                key = (one.start, one.length)
                known = differing[key].get(name)
                text = (known.text if known and not one.length else "") + one.witness
                differing[key][name] = Reading(name, text, one.category.value)
                base_text[key] = one.base
    covered = {collation.witness.edition.path.name: _covered(collation) for collation in collations}
    found = []
    for key in sorted(differing):
        start, length = key
        readings = []
        for name, spans in covered.items():
            reading = differing[key].get(name)
            if reading is None and start in spans:
                reading = Reading(name, base_text[key], "same")
            if reading is not None:
                readings.append(reading)
        found.append(Place(start, length, base_text[key], tuple(readings)))
    return found


def _covered(collation: Collation) -> frozenset[int]:
    """Code points of the base's file that begin a character which the witness has, or stand right behind one."""
    cells = collation.base.cells
    begun = {cells[at].start for at in collation.aligned()}
    return frozenset(begun | {cells[at].start + cells[at].length for at in collation.aligned()})


def weigh(
    flags: Iterable[Flag], edition: Edition, collations: Sequence[Collation], policy: VariantPolicy
) -> list[Flag]:
    """The flags of a check, with what the witnesses say at their places: one that reads what is suggested raises the
    score, one that agrees with the transcription lowers it. The evidence names each reading; a witness that it names
    already is not heard twice.

    `edition` is the checked text, and the base of every collation. Findings about a column or a page stay as they
    are. Raises UsageError where a flag is of another text.
    """
    addresses = Addresses(edition)
    lookups = [(c.witness.edition.path.name, c, c.aligned()) for c in collations]
    done = []
    for flag in flags:
        if flag.kind is Kind.LAYOUT:
            done.append(flag)
            continue
        start = addresses.start(Address(flag.page, flag.line, flag.offset), flag.length)
        told: list[str] = []
        score = flag.score
        for name, collation, aligned in lookups:
            if f"{name}: " in flag.evidence.note:
                continue
            span = _run(collation, start, flag)
            read = _read(collation, aligned, span.first, span.end)
            if read is None:
                continue
            told.append(f"{name}: {read or '∅'}")
            score += WEIGHT * _favours(read, span, policy)
        if told:
            note = "；".join([flag.evidence.note, *told] if flag.evidence.note else told)
            base = flag.score if flag.evidence.base is None else flag.evidence.base
            evidence = replace(flag.evidence, note=note, base=base)
            done.append(replace(flag, score=score, evidence=evidence))
        else:
            done.append(flag)
    return done


@dataclass(frozen=True, slots=True)
class _Span:
    """Characters `first` to `end` of the base around a flag, what they say and what they would say corrected."""

    first: int
    end: int
    transcribed: str
    suggested: str


def _run(collation: Collation, start: int, flag: Flag) -> _Span:
    """The characters that a flag is about. Where one is too many or too few among equal ones, all of these: which of
    them it is cannot be told."""
    base = collation.base
    first = base.index_before(start) + 1
    end = first
    while end < len(base) and base.cells[end].start < start + flag.length:
        end += 1
    left, right = first, end
    repeated = flag.transcribed if flag.kind is Kind.INSERTION else flag.suggested
    if flag.kind in (Kind.INSERTION, Kind.OMISSION) and len(repeated) == 1:
        while left > 0 and base.cells[left - 1].text == repeated:
            left -= 1
        while right < len(base) and base.cells[right].text == repeated:
            right += 1
    before, after = base.text(left, first), base.text(end, right)
    return _Span(left, right, base.text(left, right), before + flag.suggested + after)


def _favours(read: str, span: _Span, policy: VariantPolicy) -> int:
    """1 where a witness reads what is suggested, -1 where it reads what is transcribed, 0 where it tells neither."""
    agrees = _same(read, span.transcribed, policy)
    if span.suggested == span.transcribed:
        return -1 if agrees else 0
    return int(_same(read, span.suggested, policy)) - int(agrees)


def _read(collation: Collation, aligned: dict[int, int], first: int, end: int) -> str | None:
    """What the witness has in place of characters `first` to `end` of the base; None where it does not have the
    place."""
    before, after = aligned.get(first - 1), aligned.get(end)
    if before is None and first in aligned and end > first:
        before = aligned[first] - 1
    if after is None and end > first and end - 1 in aligned:
        after = aligned[end - 1] + 1
    if before is None and first == 0 and first in aligned:
        before = aligned[first] - 1
    if before is None or after is None or not before < after <= before + end - first + 6:
        return None
    return collation.witness.text(before + 1, after)


def _same(one: str, other: str, policy: VariantPolicy) -> bool:
    """Whether two readings are the same words."""
    if len(one) != len(other):
        return False
    return all(policy.relation(b, a).relation is not Relation.DISTINCT for a, b in zip(one, other, strict=True))
