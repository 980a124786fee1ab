"""What two aligned witnesses differ in, place by place, and whether it is a variant, mere script or an error."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

from proof.collate.apparatus import ApparatusNote
from proof.collate.blocks import Block, Op
from proof.collate.tokens import Sequence
from proof.model.flags import Kind
from proof.text.model import Script
from proof.text.variants import Relation, VariantPolicy, Verdict, unified

PASSAGE = 9
"""Characters; what only one of the two has in this length is a passage, not a slip."""

CERTAIN_PLACES = 3
"""Places at least of a pair that is called systematic: twice may be the same slip twice."""

ONE_TEXT = 0.75
"""Share of equal characters below which two parts are parallels, not one text."""


class Class(StrEnum):
    """What a difference is.

    `SYSTEMATIC`: wherever the one has this character, the other has that one. `PASSAGE`: one of the two has a passage
    that the other lacks here. `UNKNOWN`: a character put together of parts, which an old encoding could not write,
    or two characters without code points. `PARALLEL`: it lies in a part where the two are no one text, only alike.
    """

    ERROR = "error"
    VARIANT = "variant"
    SCRIPT = "script"
    SYSTEMATIC = "systematic"
    PASSAGE = "passage"
    UNKNOWN = "unknown"
    PARALLEL = "parallel"


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference of the base (`a`) from the witness (`b`).

    `a0:a1` and `b0:b1` are numbers of characters in the two sequences (equal ones: nothing stands there); `start` and
    `length` are code points in the base's file, `witness_start` one in the witness's. `rule` names what made it a
    variant; `notes` are what the apparatus of either says about the place.
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
    witness_start: int
    notes: tuple[ApparatusNote, ...] = ()


@dataclass(frozen=True, slots=True)
class SystematicPair:
    """A character of the base that stands for another one all over: damage of an encoding, or a habit.

    `places` are the code points in the base's file of all its occurrences, in every layer, compared or not;
    `confirmed` is at how many of them the witness has `witness`.
    """

    base: str
    witness: str
    places: tuple[int, ...]
    confirmed: int


@dataclass(slots=True)
class Judge:
    """Says what two characters are to each other. `policies` are those of a traditional and of a simplified text."""

    base: Script
    other: Script
    policies: dict[Script, VariantPolicy] = field(default_factory=dict)

    def relation(self, base: str, other: str) -> Verdict:
        """The verdict, asked from the side of the simplified one of the two where they differ in script."""
        if self.base is Script.TRADITIONAL and self.other is Script.SIMPLIFIED:
            return self.policy(Script.SIMPLIFIED).relation(other, base)
        verdict = self.policy(self.base).relation(base, other)
        if self.base is self.other is Script.SIMPLIFIED and verdict.relation is Relation.DISTINCT:
            return self.policy(self.other).relation(other, base)
        return verdict

    def policy(self, script: Script) -> VariantPolicy:
        if script not in self.policies:
            self.policies[script] = VariantPolicy(script)
        return self.policies[script]


def differences(a: Sequence, b: Sequence, blocks: Iterable[Block], judge: Judge) -> list[Difference]:
    """All differences within the blocks, in the order of the base."""
    found: list[Difference] = []
    for block in blocks:
        within = [one for op in block.ops for one in _of_op(a, b, op, judge)]
        within = _transposed(within, a)
        if _likeness(block) < ONE_TEXT:
            within = [replace(one, category=Class.PARALLEL) if one.category is Class.ERROR else one for one in within]
        found += within
    return found


def _likeness(block: Block) -> float:
    """The share of equal characters, what is a passage of one of the two left aside."""
    length = sum(
        max(op.a1 - op.a0, op.b1 - op.b0)
        for op in block.ops
        if op.equal or abs((op.a1 - op.a0) - (op.b1 - op.b0)) < PASSAGE
    )
    return block.equal / length if length else 0.0


def _of_op(a: Sequence, b: Sequence, op: Op, judge: Judge) -> Iterator[Difference]:
    """The differences of one stretch: of an equal one, the characters that are written otherwise."""
    shared = min(op.a1 - op.a0, op.b1 - op.b0)
    if not op.equal and max(op.a1 - op.a0, op.b1 - op.b0) - shared >= PASSAGE:
        yield _made(a, b, (op.a0, op.a1, op.b0, op.b1), Class.PASSAGE, "")
        return
    for offset in range(shared):
        at, to = op.a0 + offset, op.b0 + offset
        mine, theirs = a.cells[at].text, b.cells[to].text
        if mine != theirs:
            category, rule = _judged(mine, theirs, judge)
            yield _made(a, b, (at, at + 1, to, to + 1), category, rule)
    for at in range(op.a0 + shared, op.a1):
        yield _made(a, b, (at, at + 1, op.b1, op.b1), Class.ERROR, "")
    for to in range(op.b0 + shared, op.b1):
        yield _made(a, b, (op.a1, op.a1, to, to + 1), Class.ERROR, "")


def _judged(mine: str, theirs: str, judge: Judge) -> tuple[Class, str]:
    if mine.startswith("&") or theirs.startswith("&"):
        # what has no code point may well be another form; two of them are two characters
        return (Class.UNKNOWN if mine[0] == theirs[0] else Class.VARIANT), "no-code-point"
    if len(unified(mine)) > 1 or len(unified(theirs)) > 1:
        return Class.UNKNOWN, "composed"
    verdict = judge.relation(mine, theirs)
    match verdict.relation:
        case Relation.SCRIPT:
            return Class.SCRIPT, verdict.rule
        case Relation.DISTINCT:
            return Class.ERROR, verdict.rule
        case _:
            return Class.VARIANT, verdict.rule


def _made(a: Sequence, b: Sequence, span: tuple[int, int, int, int], category: Class, rule: str) -> Difference:
    a0, a1, b0, b1 = span
    kind = Kind.SUBSTITUTION if a1 > a0 and b1 > b0 else Kind.INSERTION if a1 > a0 else Kind.OMISSION
    if category in (Class.VARIANT, Class.SCRIPT):
        kind = Kind.VARIANT
    if a1 > a0:
        start = a.cells[a0].start
        length = a.cells[a1 - 1].start + a.cells[a1 - 1].length - start
    else:
        start, length = _hole(a, a0), 0
    there = b.cells[min(b0, len(b.cells) - 1)].start if b.cells else 0
    return Difference(kind, category, rule, a0, a1, b0, b1, a.text(a0, a1), b.text(b0, b1), start, length, there)


def _hole(a: Sequence, at: int) -> int:
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


def _transposed(found: list[Difference], a: Sequence) -> list[Difference]:
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


def _swapped(one: Difference, other: Difference, a: Sequence) -> Difference | None:
    if Class.ERROR not in (one.category, other.category) or other.a0 - one.a1 > 1:
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
    a: Sequence, b: Sequence, blocks: Iterable[Block], found: list[Difference], everywhere: dict[str, list[int]]
) -> tuple[list[Difference], list[SystematicPair]]:
    """The differences with those of systematic pairs marked so, and the pairs, the most frequent first.

    A pair is systematic where the base's character is answered by nothing but that one other character, stands at
    three places at least (`everywhere`: the places of each character in the whole base), and the other character,
    where the witness has it, is mostly written so.
    """
    answers: dict[str, Counter[str]] = defaultdict(Counter)
    written: dict[str, Counter[str]] = defaultdict(Counter)
    for block in blocks:
        for op in block.ops:
            if op.a1 - op.a0 == op.b1 - op.b0:
                for offset in range(op.a1 - op.a0):
                    mine, theirs = a.cells[op.a0 + offset].text, b.cells[op.b0 + offset].text
                    answers[mine][theirs] += 1
                    written[theirs][mine] += 1
    pairs: dict[tuple[str, str], SystematicPair] = {}
    for pair in {(one.base, one.witness) for one in found if one.category in (Class.ERROR, Class.UNKNOWN)}:
        mine, theirs = pair
        confirmed = answers[mine][theirs]
        places = everywhere.get(mine, [])
        if not mine or not theirs or len(places) < CERTAIN_PLACES or confirmed < answers[mine].total():
            continue
        if 2 * confirmed > written[theirs].total() and confirmed:
            pairs[pair] = SystematicPair(mine, theirs, tuple(places), confirmed)
    marked = [
        replace(one, category=Class.SYSTEMATIC)
        if one.kind is Kind.SUBSTITUTION and (one.base, one.witness) in pairs
        else one
        for one in found
    ]
    return marked, sorted(pairs.values(), key=lambda pair: (-len(pair.places), pair.base))
