"""Aligning two sequences whose parts may be in another order: seed and extend.

Chains of equal stretches (`proof.collation.seeds`) are the blocks; the parts between the seeds of a chain are aligned
by edit distance (rapidfuzz). Time is nearly linear in the lengths."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

from proof.collation.seeds import (
    MAX_ONE_SIDED_SKIP,
    MAX_TWO_SIDED_SKIP,
    SEED_CHARACTERS,
    Covered,
    Seed,
    Span,
    chains_of,
    seeds_of,
)

MIN_CHAIN_SCORE = 9.0
"""Minimum score of a chain, about its number of equal characters."""

MAX_OUTER_CHARACTERS = 16
"""Maximum number of characters before the first block, or behind the last, that are added to it at the ends of the
texts."""

MIN_LONG_GAP_CHARACTERS = 60
"""Characters between two seeds from which smaller seeds are looked for, before every character is compared."""

MAX_CHANCE_CHARACTERS = 2
"""Number of characters in a row that may be equal by chance amid different ones."""

MIN_SAYING_CHARACTERS = 6
"""Minimum length of a short passage that is looked for by itself, outside the blocks."""

SMALL_SEED_CHARACTERS = 3
"""Characters of a seed in a long gap."""

MIN_SMALL_CHAIN_SCORE = 4.0
"""Minimum score of a chain of such seeds."""

EXTENSION_CHARACTERS = 30
"""Maximum number of characters by which an end of a block is moved outward at once."""

DIFFERENCE_SCORE = -1.5
"""Score of a character that differs where a block is extended; one that is equal scores 1."""

MAX_SCORE_DROP = 6.0
"""Loss of score at which extending stops."""

_ENDS = ("\U0010ffff", "\U0010fffe")
"""The character behind each uncovered part, different in the two texts, so that no seed reaches over it."""


@dataclass(frozen=True, slots=True)
class Op:
    """`a0:a1` of the first against `b0:b1` of the second: equal, replaced one by one, or there in one alone."""

    equal: bool
    a0: int
    a1: int
    b0: int
    b1: int


@dataclass(frozen=True, slots=True)
class AlignedPart:
    """A part of the first sequence and where it is in the second, aligned."""

    a0: int
    a1: int
    b0: int
    b1: int
    ops: tuple[Op, ...]

    def turned(self) -> AlignedPart:
        """The same seen from the second sequence."""
        ops = tuple(Op(op.equal, op.b0, op.b1, op.a0, op.a1) for op in self.ops)
        return AlignedPart(self.b0, self.b1, self.a0, self.a1, ops)

    @property
    def equal(self) -> int:
        """How many characters are equal."""
        return sum(op.a1 - op.a0 for op in self.ops if op.equal)


def align(a: str, b: str) -> list[AlignedPart]:
    """Blocks of `a` with their places in `b`, in the order of `a`; no part of either is in two.

    What is found does not depend on which of the two is called the first: `align(b, a)` gives the same pairs.
    """
    return turned(_aligned(b, a)) if _is_shorter(b, a) else _aligned(a, b)


def _is_shorter(a: str, b: str) -> bool:
    """Whether `a` is the shorter sequence, along which blocks are searched; of equally long ones the lesser."""
    return (len(a), a) < (len(b), b)


def turned(blocks: Iterable[AlignedPart]) -> list[AlignedPart]:
    """The blocks seen from the second sequence, in its order."""
    return sorted((block.turned() for block in blocks), key=lambda block: block.a0)


def _aligned(a: str, b: str) -> list[AlignedPart]:
    chains = chains_of(seeds_of(a, b, SEED_CHARACTERS), MIN_CHAIN_SCORE)
    blocks = _extended(a, b, [_block(a, b, chain) for chain in chains])
    rest_a = gaps([(block.a0, block.a1) for block in blocks], len(a))
    rest_b = gaps([(block.b0, block.b1) for block in blocks], len(b))
    small = [_block(a, b, [seed]) for seed in _single_sayings(a, b, rest_a, rest_b)]
    return _extended(a, b, [*blocks, *small]) if small else blocks


def _single_sayings(a: str, b: str, rest_a: Sequence[Span], rest_b: Sequence[Span]) -> list[Seed]:
    """The seeds of short sayings in the uncovered parts of both sequences that each has once, and that are in no longer
    one."""
    rest_of_a, rest_of_b = _Uncovered(a, rest_a, _ENDS[0]), _Uncovered(b, rest_b, _ENDS[1])
    kept: list[Seed] = []
    seeds = sorted(
        seeds_of(rest_of_a.text, rest_of_b.text, MIN_SAYING_CHARACTERS), key=lambda seed: (-seed[2], seed[0], seed[1])
    )
    of_a, of_b = Counter(x for x, _, _ in seeds), Counter(y for _, y, _ in seeds)
    taken_a, taken_b = Covered(), Covered()
    for x, y, length in seeds:
        whole = taken_a.free(x, x + length) == (x, x + length) and taken_b.free(y, y + length) == (y, y + length)
        if of_a[x] > 1 or of_b[y] > 1 or not whole:
            continue
        taken_a.add(x, x + length)
        taken_b.add(y, y + length)
        kept.append((rest_of_a.place(x), rest_of_b.place(y), length))
    return kept


def repeated(a: str, b: str, blocks: Sequence[AlignedPart]) -> list[AlignedPart]:
    """The repetitions in `a`: parts that no block aligns with equal characters, and that `b` has at a place which a
    block or another part is aligned with already (a subcommentary that quotes its text, a passage written twice).

    `blocks` are those of `align(a, b)`. Each part is as long in `a` as in `b`. The parts do not overlap in `a`; in `b`
    they may.
    """
    parts: list[AlignedPart] = []
    answered = [(op.a0, op.a1) for block in blocks for op in block.ops if op.equal]
    while True:
        more = _repeated_parts(_Uncovered(a, gaps(answered, len(a)), _ENDS[0]), b)
        if not more:
            return sorted(parts, key=lambda part: part.a0)
        parts += more
        answered += [(part.a0, part.a1) for part in more]


def _repeated_parts(rest: _Uncovered, b: str) -> list[AlignedPart]:
    """The uncovered parts that `b` has, each place of `b` once."""
    parts = []
    for block in align(rest.text, b):
        for op in block.ops:
            length = op.a1 - op.a0
            if length == op.b1 - op.b0 and _ENDS[0] not in rest.text[op.a0 : op.a1]:
                start = rest.place(op.a0)
                in_whole = Op(op.equal, start, start + length, op.b0, op.b1)
                parts.append(AlignedPart(start, start + length, op.b0, op.b1, (in_whole,)))
    return parts


class _Uncovered:
    """The uncovered parts of a sequence as one text, and where each stood in the whole."""

    def __init__(self, whole: str, spans: Sequence[Span], end_of_part: str) -> None:
        self._spans = [(start, end) for start, end in spans if end - start >= MIN_SAYING_CHARACTERS]
        self.text = "".join(whole[start:end] + end_of_part for start, end in self._spans)
        self._begins: list[int] = []
        at = 0
        for start, end in self._spans:
            self._begins.append(at)
            at += end - start + 1

    def place(self, at: int) -> int:
        """Where in the whole sequence a character of `text` stands."""
        number = bisect_right(self._begins, at) - 1
        return self._spans[number][0] + at - self._begins[number]


def moved(a: str, b: str, blocks: Sequence[AlignedPart]) -> list[AlignedPart]:
    """The blocks of `align(a, b)` that stand in another order in `b`: those beside the heaviest ones in one order."""
    return turned(_out_of_order(turned(blocks))) if _is_shorter(b, a) else _out_of_order(blocks)


def _out_of_order(blocks: Sequence[AlignedPart]) -> list[AlignedPart]:
    kept = set(map(id, in_order(blocks)))
    return [block for block in blocks if id(block) not in kept]


def in_order(blocks: Sequence[AlignedPart]) -> list[AlignedPart]:
    """The blocks, given in the order of the first sequence, that have the same order in the second: the series with the
    most equal characters."""
    ends: list[int] = []
    best: list[tuple[int, int]] = []  # for each end the greatest weight of a series, and its last block
    before: list[int] = []
    for number, block in enumerate(blocks):
        at = bisect_right(ends, block.b0) - 1
        weight = (best[at][0] if at >= 0 else 0) + block.equal
        before.append(best[at][1] if at >= 0 else -1)
        at = bisect_left(ends, block.b1)
        if (at < len(ends) and ends[at] == block.b1 and best[at][0] >= weight) or (at and best[at - 1][0] >= weight):
            continue
        stop = at
        while stop < len(ends) and best[stop][0] <= weight:
            stop += 1
        ends[at:stop], best[at:stop] = [block.b1], [(weight, number)]
    series: list[AlignedPart] = []
    number = best[-1][1] if best else -1
    while number >= 0:
        series.append(blocks[number])
        number = before[number]
    return series[::-1]


def gaps(spans: Sequence[Span], length: int) -> list[Span]:
    """The spans of `0:length` that none of `spans` covers."""
    uncovered, at = [], 0
    for start, end in sorted(spans):
        if start > at:
            uncovered.append((at, start))
        at = max(at, end)
    if at < length:
        uncovered.append((at, length))
    return uncovered


def _block(a: str, b: str, chain: list[Seed]) -> AlignedPart:
    ops: list[Op] = []
    x, y, _ = chain[0]
    for sx, sy, length in chain:
        ops += fill(a, b, x, sx, y, sy)
        ops.append(Op(True, sx, sx + length, sy, sy + length))
        x, y = sx + length, sy + length
    return AlignedPart(chain[0][0], x, chain[0][1], y, tuple(_joined(ops)))


def fill(a: str, b: str, a0: int, a1: int, b0: int, b1: int) -> list[Op]:
    """The alignment of a short part of both."""
    if a0 == a1 or b0 == b1:
        return [Op(False, a0, a1, b0, b1)] if a1 > a0 or b1 > b0 else []
    ops = _anchored(a, b, a0, a1, b0, b1) if max(a1 - a0, b1 - b0) > MIN_LONG_GAP_CHARACTERS else []
    return ops or _edited(a, b, a0, a1, b0, b1)


def _anchored(a: str, b: str, a0: int, a1: int, b0: int, b1: int) -> list[Op]:
    """A longer part cut at its longest chain of small seeds; nothing where there is none."""
    chains = chains_of(seeds_of(a[a0:a1], b[b0:b1], SMALL_SEED_CHARACTERS), MIN_SMALL_CHAIN_SCORE)
    if not chains:
        return []
    ops: list[Op] = []
    x, y = a0, b0
    for sx, sy, length in chains[0]:
        ops += _edited(a, b, x, a0 + sx, y, b0 + sy)
        x, y = a0 + sx + length, b0 + sy + length
        ops.append(Op(True, x - length, x, y - length, y))
    return ops + _edited(a, b, x, a1, y, b1)


def _edited(a: str, b: str, a0: int, a1: int, b0: int, b1: int) -> list[Op]:
    """The alignment with the fewest edits; what is equal at the ends continues what is equal around them."""
    longest = min(a1 - a0, b1 - b0)
    head = next((n for n in range(longest) if a[a0 + n] != b[b0 + n]), longest)
    tail = next((n for n in range(longest - head) if a[a1 - 1 - n] != b[b1 - 1 - n]), longest - head)
    around = Op(True, a0, a0 + head, b0, b0 + head), Op(True, a1 - tail, a1, b1 - tail, b1)
    a0, a1, b0, b1 = a0 + head, a1 - tail, b0 + head, b1 - tail
    return list(_joined([around[0], *_fewest_edits(a, b, a0, a1, b0, b1), around[1]]))


def _fewest_edits(a: str, b: str, a0: int, a1: int, b0: int, b1: int) -> list[Op]:
    if a0 == a1 or b0 == b1:
        return [Op(False, a0, a1, b0, b1)] if a1 > a0 or b1 > b0 else []
    ops = [
        Op(code.tag == "equal", a0 + code.src_start, a0 + code.src_end, b0 + code.dest_start, b0 + code.dest_end)
        for code in Levenshtein.opcodes(a[a0:a1], b[b0:b1])
    ]
    return _without_islands(list(_joined(ops)))


def _without_islands(ops: list[Op]) -> list[Op]:
    """The operations, with one or two equal characters amid characters that differ, or that only one side has, as
    different: an edit distance finds such chance pairs between any two sentences."""
    clean: list[Op] = []
    for index, edit in enumerate(ops):
        last = clean[-1] if clean else None
        beside = (last, ops[index + 1] if index + 1 < len(ops) else None)
        neighbours = [neighbour for neighbour in beside if neighbour and not neighbour.equal]
        length = edit.a1 - edit.a0
        uneven = sum(abs((neighbour.a1 - neighbour.a0) - (neighbour.b1 - neighbour.b0)) for neighbour in neighbours)
        unlike = sum(min(neighbour.a1 - neighbour.a0, neighbour.b1 - neighbour.b0) for neighbour in neighbours)
        chance = length <= MAX_CHANCE_CHARACTERS and (uneven >= 6 * length + 2 or unlike >= 3 * length + 1)
        op = Op(edit.equal and not chance, edit.a0, edit.a1, edit.b0, edit.b1)
        if last is not None and not last.equal and not op.equal:
            clean[-1] = Op(False, last.a0, op.a1, last.b0, op.b1)
        else:
            clean.append(op)
    return clean


def _joined(ops: list[Op]) -> Iterator[Op]:
    """The operations, adjacent ones of one kind joined and empty ones left out."""
    last: Op | None = None
    for op in ops:
        if op.a0 == op.a1 and op.b0 == op.b1:
            continue
        if last is not None and last.equal is op.equal:
            last = Op(op.equal, last.a0, op.a1, last.b0, op.b1)
            continue
        if last is not None:
            yield last
        last = op
    if last is not None:
        yield last


def _extended(a: str, b: str, blocks: list[AlignedPart]) -> list[AlignedPart]:
    """The blocks, joined where they are neighbours in both sequences, with what is between them aligned, and with free
    ends extended as far as the two agree."""
    merged: list[AlignedPart] = []
    ends = _Neighbours(blocks, len(b))
    for block in sorted(blocks, key=lambda block: block.a0):
        last = merged[-1] if merged else None
        if last is not None and ends.before(block) == last.b1 and _follows(last, block):
            between = fill(a, b, last.a1, block.a0, last.b1, block.b0)
            merged[-1] = AlignedPart(
                last.a0, block.a1, last.b0, block.b1, tuple(_joined([*last.ops, *between, *block.ops]))
            )
        else:
            merged.append(block)
    ends = _Neighbours(merged, len(b))
    for index, block in enumerate(merged):
        left = merged[index - 1].a1 if index else 0
        right = merged[index + 1].a0 if index + 1 < len(merged) else len(a)
        merged[index] = _reaching(a, b, block, (left, right), (ends.before(block), ends.behind(block)))
        ends.replace(block, merged[index])
    if merged and ends.before(merged[0]) == 0:
        merged[0] = _from_the_beginning(a, b, merged[0])
    if merged and ends.behind(merged[-1]) == len(b):
        merged[-1] = _to_the_end(a, b, merged[-1])
    return merged


class _Neighbours:
    """Where in the second sequence the blocks before and behind a block end and begin."""

    def __init__(self, blocks: Sequence[AlignedPart], length: int) -> None:
        self._ends = sorted((0, *(block.b1 for block in blocks)))
        self._begins = sorted((*(block.b0 for block in blocks), length))

    def before(self, block: AlignedPart) -> int:
        return self._ends[bisect_right(self._ends, block.b0) - 1]

    def behind(self, block: AlignedPart) -> int:
        return self._begins[bisect_left(self._begins, block.b1)]

    def replace(self, block: AlignedPart, other: AlignedPart) -> None:
        """Put the ends of `other` in place of those of `block`."""
        del self._ends[bisect_left(self._ends, block.b1)], self._begins[bisect_left(self._begins, block.b0)]
        insort(self._ends, other.b1)
        insort(self._begins, other.b0)


def _from_the_beginning(a: str, b: str, block: AlignedPart) -> AlignedPart:
    """The first block, extended to the beginning of both texts if little stands before it."""
    if max(block.a0, block.b0) > MAX_OUTER_CHARACTERS or not block.a0 + block.b0:
        return block
    return AlignedPart(0, block.a1, 0, block.b1, tuple(_joined([*fill(a, b, 0, block.a0, 0, block.b0), *block.ops])))


def _to_the_end(a: str, b: str, block: AlignedPart) -> AlignedPart:
    """The last block, extended to the end of both texts if little stands behind it."""
    m, n = len(a), len(b)
    if max(m - block.a1, n - block.b1) > MAX_OUTER_CHARACTERS or (block.a1, block.b1) == (m, n):
        return block
    return AlignedPart(block.a0, m, block.b0, n, tuple(_joined([*block.ops, *fill(a, b, block.a1, m, block.b1, n)])))


def _follows(first: AlignedPart, second: AlignedPart) -> bool:
    da, db = second.a0 - first.a1, second.b0 - first.b1
    return (
        0 <= da <= MAX_ONE_SIDED_SKIP
        and 0 <= db <= MAX_ONE_SIDED_SKIP
        and (da <= MAX_TWO_SIDED_SKIP or db <= MAX_TWO_SIDED_SKIP)
    )


def _reaching(a: str, b: str, block: AlignedPart, in_a: Span, in_b: Span) -> AlignedPart:
    """The block with its ends moved outward as far as the two agree, within `in_a` and `in_b`."""
    while (further := _reaching_once(a, b, block, in_a, in_b)) != block:
        block = further
    return block


def _reaching_once(a: str, b: str, block: AlignedPart, in_a: Span, in_b: Span) -> AlignedPart:
    """The block with its ends moved outward over at most `EXTENSION_CHARACTERS`."""
    head = min(EXTENSION_CHARACTERS, block.a0 - in_a[0], block.b0 - in_b[0])
    tail = min(EXTENSION_CHARACTERS, in_a[1] - block.a1, in_b[1] - block.b1)
    before = _agreeing(a[block.a0 - head : block.a0][::-1], b[block.b0 - head : block.b0][::-1])
    after = _agreeing(a[block.a1 : block.a1 + tail], b[block.b1 : block.b1 + tail])
    a0, b0 = block.a0 - before[0], block.b0 - before[1]
    a1, b1 = block.a1 + after[0], block.b1 + after[1]
    ops = [*fill(a, b, a0, block.a0, b0, block.b0), *block.ops, *fill(a, b, block.a1, a1, block.b1, b1)]
    return AlignedPart(a0, a1, b0, b1, tuple(_joined(ops)))


def _agreeing(first: str, second: str) -> tuple[int, int]:
    """How far two texts agree from their beginning: up to the place of the highest score, where an equal character
    scores 1 and another `DIFFERENCE_SCORE`."""
    best, score, place = 0.0, 0.0, (0, 0)
    for code in Levenshtein.opcodes(first, second):
        length = max(code.src_end - code.src_start, code.dest_end - code.dest_start)
        score += length if code.tag == "equal" else DIFFERENCE_SCORE * length
        if score > best:
            best, place = score, (code.src_end, code.dest_end)
        if score < best - MAX_SCORE_DROP:
            break
    return place
