"""What two aligned witnesses differ in, place by place, and whether it is a variant, mere script or an error."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby

from proof.collate.apparatus import ApparatusNote
from proof.collate.blocks import AlignedPart, Op
from proof.collate.classes import NO_CODE_POINT, Class, Sorter, borrowed
from proof.collate.tokens import WitnessTokens
from proof.model.flags import Kind
from proof.text.witness import Edition

PASSAGE = 9
"""Characters; what only one of the two has in this length is a passage, not a slip."""

CERTAIN_PLACES = 3
"""Places at least of a pair that is called systematic: twice may be the same slip twice."""

PHRASE = 4
"""Characters of the longest phrase that is another reading of one; what is longer, and unlike, is no reading."""

ONE_TEXT = 0.75
"""Share of equal characters below which two parts are parallels, not one text."""

AROUND = 30
"""Characters on either side of a difference among which that share is counted."""


WORDS = frozenset({Class.ERROR, Class.READING})
"""Classes of differences in the words."""

RECURRING = WORDS | {Class.UNENCODED}
"""Classes of which one character for another may be so all over."""


class Side(StrEnum):
    """Which of the two."""

    BASE = "base"
    WITNESS = "witness"


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference of the base (`a`) from the witness (`b`).

    `a0:a1` and `b0:b1` are numbers of characters in the two sequences (equal ones: nothing stands there); `start` and
    `length` are code points in the base's file. `rule` names what made it a variant; `notes` are what the apparatus of
    either says about the place.
    """

    kind: Kind
    category: Class
    rule: str
    a0: int
    a1: int
    b0: int
    b1: int
    base: str
    witness: str
    start: int
    length: int
    notes: tuple[ApparatusNote, ...] = ()


@dataclass(frozen=True, slots=True)
class SystematicPair:
    """A character of one of the two that stands for another one all over: damage of an encoding, or a habit.

    `side` is whose character that is: wherever it stands there, the other has the other character. `places` are the
    code points in the base's file of all occurrences of `base`, in every layer, compared or not, `witness_places`
    those of `witness` in the witness's; `confirmed` is at how many of them the two answer one another.
    """

    base: str
    witness: str
    side: Side
    places: tuple[int, ...]
    witness_places: tuple[int, ...]
    confirmed: int


def differences(a: WitnessTokens, b: WitnessTokens, blocks: Iterable[AlignedPart], sorter: Sorter) -> list[Difference]:
    """All differences within the blocks, in the order of the base."""
    found: list[Difference] = []
    for block in blocks:
        within: list[Difference] = []
        for op, one_text in zip(block.ops, _one_text(block), strict=True):
            of_op = _of_op(a, b, op, sorter)
            within += of_op if one_text else map(_parallel, of_op)
        found += _transposed(within, a)
    return found


def _parallel(one: Difference) -> Difference:
    return replace(one, category=Class.PARALLEL) if one.category in WORDS else one


def _one_text(block: AlignedPart) -> list[bool]:
    """Of each stretch of a block, whether the two are one text, around it and in the whole block."""
    equal, total = [0], [0]
    for op in block.ops:
        size = _size(op)
        equal.append(equal[-1] + (size if op.equal else 0))
        total.append(total[-1] + size)
    if equal[-1] < ONE_TEXT * total[-1]:
        return [False] * len(block.ops)
    found = []
    for number in range(len(block.ops)):
        low, high = max(0, total[number] - AROUND), min(total[-1], total[number + 1] + AROUND)
        first, last = bisect_right(total, low) - 1, bisect_left(total, high)
        # a stretch that goes beyond the reach is counted as far as it is within
        beyond = (low - total[first]) * block.ops[first].equal if first < len(block.ops) else 0
        beyond += (total[last] - high) * block.ops[last - 1].equal if last else 0
        found.append(equal[last] - equal[first] - beyond >= ONE_TEXT * (high - low))
    return found


def _size(op: Op) -> int:
    """The characters of a stretch, what is a passage of one of the two left aside."""
    shorter, longer = sorted((op.a1 - op.a0, op.b1 - op.b0))
    return longer if longer - shorter < PASSAGE else shorter


def _of_op(a: WitnessTokens, b: WitnessTokens, op: Op, sorter: Sorter) -> Iterator[Difference]:
    """The differences of one stretch: of an equal one, the characters that are written otherwise."""
    m, n = op.a1 - op.a0, op.b1 - op.b0
    if not op.equal and (max(m, n) >= PASSAGE or (m and n and max(m, n) > PHRASE)):
        category = Class.UNLIKE if m and n else Class.PASSAGE
        yield _made(a, b, (op.a0, op.a1, op.b0, op.b1), category, "")
    elif m and n and m != n and a.blocks[op.a0] == a.blocks[op.a1 - 1] and b.blocks[op.b0] == b.blocks[op.b1 - 1]:
        yield _made(a, b, (op.a0, op.a1, op.b0, op.b1), *sorter.phrase(op.a0, op.b0))
    else:
        shared = min(m, n)
        for offset in range(shared):
            at, to = op.a0 + offset, op.b0 + offset
            if a.cells[at].text != b.cells[to].text:
                yield _made(a, b, (at, at + 1, to, to + 1), *sorter.pair(at, to))
        for start, end in _lines(a, op.a0 + shared, op.a1):
            yield _made(a, b, (start, end, op.b1, op.b1), *sorter.alone(a, start, end))
        for start, end in _lines(b, op.b0 + shared, op.b1):
            yield _made(a, b, (op.a1, op.a1, start, end), *sorter.alone(b, start, end))


def _lines(of: WitnessTokens, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Some characters of a text, cut where a column or a paragraph ends: a finding has one address."""
    for _, group in groupby(range(start, end), key=lambda at: of.blocks[at]):
        numbers = list(group)
        yield numbers[0], numbers[-1] + 1


def _made(
    a: WitnessTokens, b: WitnessTokens, span: tuple[int, int, int, int], category: Class, rule: str
) -> Difference:
    a0, a1, b0, b1 = span
    kind = Kind.SUBSTITUTION if a1 > a0 and b1 > b0 else Kind.INSERTION if a1 > a0 else Kind.OMISSION
    if category in (Class.SCRIPT, Class.TABOO) or (category is Class.ORTHOGRAPHY and not borrowed(rule)):
        kind = Kind.VARIANT
    if rule == NO_CODE_POINT and a.text(a0, a1)[:1] != b.text(b0, b1)[:1]:
        # what has no code point may well be a form of what the other has; two of them are two characters
        kind = Kind.VARIANT
    if a1 > a0:
        start = a.cells[a0].start
        length = a.cells[a1 - 1].start + a.cells[a1 - 1].length - start
    else:
        start, length = _hole(a, a0), 0
    return Difference(kind, category, rule, a0, a1, b0, b1, a.text(a0, a1), b.text(b0, b1), start, length)


def _hole(a: WitnessTokens, at: int) -> int:
    """Where in the file what is missing before character `at` belongs: an empty column between it and the one
    before, else right behind the one before."""
    if not a.cells:
        return 0
    if at == 0:
        return a.cells[0].start
    before = a.cells[at - 1]
    last = a.blocks[at - 1]
    first = a.blocks[at] if at < len(a) else len(a.edition.blocks)
    for block in a.edition.blocks[last + 1 : first]:
        if block.start == block.end:
            return block.start
    if at < len(a) and last == a.blocks[at] and a.layers[at - 1] is not a.layers[at]:
        return before.start + before.length
    return a.cells[at].start if at < len(a) and last == a.blocks[at] else before.start + before.length


def _transposed(found: list[Difference], a: WitnessTokens) -> list[Difference]:
    """Two characters that stand the other way round as one difference."""
    done: list[Difference] = []
    index = 0
    while index < len(found):
        one = found[index]
        other = found[index + 1] if index + 1 < len(found) else None
        merged = _swapped(one, other, a) if other is not None else None
        if merged is None:
            done.append(one)
        else:
            done.append(merged)
            index += 1
        index += 1
    return done


def _swapped(one: Difference, other: Difference, a: WitnessTokens) -> Difference | None:
    if not WORDS & {one.category, other.category} or other.a0 - one.a1 > 1:
        return None
    both = (one.base + other.base, other.witness + one.witness)
    if one.kind is other.kind is Kind.SUBSTITUTION and one.a1 == other.a0 and both[0] == both[1]:
        base, witness = both[0], one.witness + other.witness
        a0, a1 = one.a0, other.a1
    elif {one.kind, other.kind} == {Kind.INSERTION, Kind.OMISSION} and other.a0 - one.a1 == 1:
        moved, gone = one.base + one.witness, other.base + other.witness
        if moved != gone or len(moved) != 1:
            return None
        a0, a1 = min(one.a0, other.a0), max(one.a1, other.a1)
        base = a.text(a0, a1)
        witness = base[::-1] if len(base) == 2 else ""
        if not witness:
            return None
    else:
        return None
    start = a.cells[a0].start
    length = a.cells[a1 - 1].start + a.cells[a1 - 1].length - start
    return replace(
        one,
        kind=Kind.TRANSPOSITION,
        category=Class.ERROR,
        a0=a0,
        a1=a1,
        b0=min(one.b0, other.b0),
        b1=max(one.b1, other.b1),
        base=base,
        witness=witness,
        start=start,
        length=length,
    )


def systematic(
    a: WitnessTokens, b: WitnessTokens, blocks: Iterable[AlignedPart], found: list[Difference]
) -> tuple[list[Difference], list[SystematicPair]]:
    """The differences with those of systematic pairs marked so, and the pairs, the most frequent first."""
    met: Counter[tuple[str, str]] = Counter()
    for block in blocks:
        for op in block.ops:
            if op.a1 - op.a0 == op.b1 - op.b0:
                met.update(
                    (a.cells[op.a0 + offset].text, b.cells[op.b0 + offset].text) for offset in range(op.a1 - op.a0)
                )
    of_base, of_witness = _Answers(met), _Answers({(theirs, mine): number for (mine, theirs), number in met.items()})
    here, there = _everywhere(a.edition), _everywhere(b.edition)
    pairs: dict[tuple[str, str], SystematicPair] = {}
    for mine, theirs in {
        (one.base, one.witness) for one in found if one.category in RECURRING and one.rule != NO_CODE_POINT
    }:
        places = tuple(here.get(mine, ())), tuple(there.get(theirs, ()))
        for side, answers, pair, number in (
            (Side.BASE, of_base, (mine, theirs), len(places[0])),
            (Side.WITNESS, of_witness, (theirs, mine), len(places[1])),
        ):
            if number >= CERTAIN_PLACES and answers.all_over(*pair):
                pairs[mine, theirs] = SystematicPair(mine, theirs, side, *places, met[mine, theirs])
                break
    marked = [
        replace(one, category=Class.SYSTEMATIC)
        if one.kind is Kind.SUBSTITUTION and (one.base, one.witness) in pairs
        else one
        for one in found
    ]
    return marked, sorted(pairs.values(), key=lambda pair: (-pair.confirmed, *sorted((pair.base, pair.witness))))


class _Answers:
    """How often a character of one text is answered by each of the other."""

    def __init__(self, met: Mapping[tuple[str, str], int]) -> None:
        self._met = met
        self._total: Counter[str] = Counter()
        self._written: Counter[str] = Counter()
        for (one, other), number in met.items():
            self._total[one] += number
            self._written[other] += number

    def all_over(self, one: str, other: str) -> bool:
        """Whether `one` is answered by nothing but `other`, which is mostly so written where the other text has it."""
        number = self._met.get((one, other), 0)
        return bool(number) and number == self._total[one] and 2 * number > self._written[other]


def _everywhere(edition: Edition) -> dict[str, list[int]]:
    """The places of each character in the whole file, compared or not."""
    places: dict[str, list[int]] = defaultdict(list)
    for stretch in edition.stretches():
        for cell in stretch.cells():
            places[cell.text].append(cell.start)
    return places
