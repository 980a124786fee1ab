"""Alignment of two sequences whose parts may have another order: seed and extend.

Chains of equal stretches (`proof.collation.seeds`) become blocks; between the seeds of a chain the sequences are
aligned by edit distance (rapidfuzz). The time is nearly linear in the lengths."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from proof.collation.gap_alignment import Op, gap_ops, joined_ops
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
"""Minimum score of a chain of seeds that becomes a block; the score is about the number of equal characters."""

MAX_OUTER_CHARACTERS = 16
"""Maximum number of characters before the first block, or after the last, that are aligned as a part of it."""

MIN_SHORT_PASSAGE_CHARACTERS = 6
"""Minimum length of a passage outside the blocks that is a block of its own."""

EXTENSION_CHARACTERS = 30
"""Maximum number of characters by which an end of a block is moved outward in one step."""

DIFFERENCE_SCORE = -1.5
"""Score of a different character in the extension of a block; an equal one scores 1."""

MAX_SCORE_DROP = 6.0
"""Loss of score at which the extension stops."""

_SEPARATORS = ("\U0010ffff", "\U0010fffe")
"""The character after each uncovered part, different in the two sequences, so that no seed reaches across it."""


@dataclass(frozen=True, slots=True)
class AlignedPart:
    """A part of the first sequence that is aligned with a part of the second."""

    a0: int
    a1: int
    b0: int
    b1: int
    ops: tuple[Op, ...]

    def swapped(self) -> AlignedPart:
        """The part with the two sequences exchanged."""
        ops = tuple(Op(op.equal, op.b0, op.b1, op.a0, op.a1) for op in self.ops)
        return AlignedPart(self.b0, self.b1, self.a0, self.a1, ops)

    @property
    def equal_count(self) -> int:
        """The number of equal characters."""
        return sum(op.a_length for op in self.ops if op.equal)


def align(a: str, b: str) -> list[AlignedPart]:
    """Blocks of `a` with their places in `b`, in the order of `a`. Blocks overlap in neither sequence.

    The result is symmetric: `align(b, a)` aligns the same pairs of characters.
    """
    return swapped(_align(b, a)) if _is_shorter(b, a) else _align(a, b)


def _is_shorter(a: str, b: str) -> bool:
    """Whether `a` is the shorter sequence, along which blocks are searched. Sequences of equal length are compared as
    strings."""
    return (len(a), a) < (len(b), b)


def swapped(blocks: Iterable[AlignedPart]) -> list[AlignedPart]:
    """The blocks with the two sequences exchanged, in the order of the new first one."""
    return sorted((block.swapped() for block in blocks), key=lambda block: block.a0)


def _align(a: str, b: str) -> list[AlignedPart]:
    """The blocks of long chains of seeds, then those of short passages that occur once in what the others leave."""
    chains = chains_of(seeds_of(a, b, SEED_CHARACTERS), MIN_CHAIN_SCORE)
    blocks = _extended(a, b, [_block_of(a, b, chain) for chain in chains])
    rest_of_a = _Uncovered(a, gaps([(block.a0, block.a1) for block in blocks], len(a)), _SEPARATORS[0])
    rest_of_b = _Uncovered(b, gaps([(block.b0, block.b1) for block in blocks], len(b)), _SEPARATORS[1])
    short_blocks = [_block_of(a, b, [seed]) for seed in _unique_seeds(rest_of_a, rest_of_b)]
    return _extended(a, b, [*blocks, *short_blocks]) if short_blocks else blocks


def _unique_seeds(rest_of_a: _Uncovered, rest_of_b: _Uncovered) -> list[Seed]:
    """The seeds that occur once in the uncovered parts of each sequence, longest first, without those that overlap a
    longer one."""
    seeds = seeds_of(rest_of_a.text, rest_of_b.text, MIN_SHORT_PASSAGE_CHARACTERS)
    seeds.sort(key=lambda seed: (-seed.length, seed.x, seed.y))
    occurrences_a, occurrences_b = Counter(seed.x for seed in seeds), Counter(seed.y for seed in seeds)
    taken_a, taken_b = Covered(), Covered()
    unique: list[Seed] = []
    for seed in seeds:
        is_repeated = occurrences_a[seed.x] > 1 or occurrences_b[seed.y] > 1
        if is_repeated or taken_a.overlaps(seed.x, seed.x_end) or taken_b.overlaps(seed.y, seed.y_end):
            continue
        taken_a.add(seed.x, seed.x_end)
        taken_b.add(seed.y, seed.y_end)
        unique.append(Seed(rest_of_a.place(seed.x), rest_of_b.place(seed.y), seed.length))
    return unique


def repeated(a: str, b: str, blocks: Sequence[AlignedPart]) -> list[AlignedPart]:
    """The repetitions in `a`: parts that no block aligns with equal characters, and that `b` has only at places that a
    block or another repetition is aligned with (a subcommentary that quotes its text, a passage written twice).

    `blocks` are those of `align(a, b)`. Each part has the same length in both sequences. The parts do not overlap in
    `a`, but may overlap in `b`.
    """
    parts: list[AlignedPart] = []
    aligned = [(op.a0, op.a1) for block in blocks for op in block.ops if op.equal]
    while True:
        new_parts = _repeated_parts(_Uncovered(a, gaps(aligned, len(a)), _SEPARATORS[0]), b)
        if not new_parts:
            return sorted(parts, key=lambda part: part.a0)
        parts += new_parts
        aligned += [(part.a0, part.a1) for part in new_parts]


def _repeated_parts(rest: _Uncovered, b: str) -> list[AlignedPart]:
    """The uncovered parts that `b` has, without overlaps in `b`."""
    parts = []
    for block in align(rest.text, b):
        for op in block.ops:
            if op.a_length == op.b_length and _SEPARATORS[0] not in rest.text[op.a0 : op.a1]:
                start = rest.place(op.a0)
                in_whole = Op(op.equal, start, start + op.a_length, op.b0, op.b1)
                parts.append(AlignedPart(in_whole.a0, in_whole.a1, op.b0, op.b1, (in_whole,)))
    return parts


class _Uncovered:
    """The parts `spans` of a sequence joined to one `text`, each followed by a separator, and their places in the
    whole. Parts shorter than `MIN_SHORT_PASSAGE_CHARACTERS` are left out."""

    def __init__(self, whole: str, spans: Sequence[Span], separator: str) -> None:
        self._spans = [(start, end) for start, end in spans if end - start >= MIN_SHORT_PASSAGE_CHARACTERS]
        self.text = "".join(whole[start:end] + separator for start, end in self._spans)
        self._starts: list[int] = []
        at = 0
        for start, end in self._spans:
            self._starts.append(at)
            at += end - start + 1

    def place(self, at: int) -> int:
        """The place in the whole sequence of a character of `text`."""
        number = bisect_right(self._starts, at) - 1
        return self._spans[number][0] + at - self._starts[number]


def moved(a: str, b: str, blocks: Sequence[AlignedPart]) -> list[AlignedPart]:
    """The blocks of `align(a, b)` that have another order in `b`: all those outside the heaviest series of blocks in
    the same order."""
    return swapped(_out_of_order(swapped(blocks))) if _is_shorter(b, a) else _out_of_order(blocks)


def _out_of_order(blocks: Sequence[AlignedPart]) -> list[AlignedPart]:
    ordered = set(map(id, in_same_order(blocks)))
    return [block for block in blocks if id(block) not in ordered]


class _Series(NamedTuple):
    """Blocks in the same order in both sequences: how many characters are equal, and the number of the last block."""

    weight: int
    last: int


_NO_SERIES = _Series(0, -1)


def in_same_order(blocks: Sequence[AlignedPart]) -> list[AlignedPart]:
    """The heaviest series of blocks that have the same order in both sequences: the one with the most equal characters.
    `blocks` are in the order of the first sequence."""
    # `heaviest[i]` ends at `ends[i]` of the second sequence. Both rise: a lighter series with a later end is dropped.
    ends: list[int] = []
    heaviest: list[_Series] = []
    predecessors: list[int] = []
    for number, block in enumerate(blocks):
        before = bisect_right(ends, block.b0) - 1
        continued = heaviest[before] if before >= 0 else _NO_SERIES
        series = _Series(continued.weight + block.equal_count, number)
        predecessors.append(continued.last)
        up_to_end = bisect_right(ends, block.b1)
        if up_to_end and heaviest[up_to_end - 1].weight >= series.weight:
            continue
        first = stop = bisect_left(ends, block.b1)
        while stop < len(ends) and heaviest[stop].weight <= series.weight:
            stop += 1
        ends[first:stop], heaviest[first:stop] = [block.b1], [series]
    ordered: list[AlignedPart] = []
    number = heaviest[-1].last if heaviest else -1
    while number >= 0:
        ordered.append(blocks[number])
        number = predecessors[number]
    return ordered[::-1]


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


def _block_of(a: str, b: str, chain: list[Seed]) -> AlignedPart:
    """The block from the first seed of a chain to its last; between the seeds the sequences are aligned."""
    ops: list[Op] = []
    x, y = chain[0].x, chain[0].y
    for seed in chain:
        ops += gap_ops(a, b, x, seed.x, y, seed.y)
        x, y = seed.x_end, seed.y_end
        ops.append(Op(True, seed.x, x, seed.y, y))
    return AlignedPart(chain[0].x, x, chain[0].y, y, joined_ops(ops))


def _extended(a: str, b: str, blocks: list[AlignedPart]) -> list[AlignedPart]:
    """The blocks in the order of `a`: neighbours in both sequences are joined and what is between them is aligned, and
    free ends are extended as long as the two sequences agree."""
    extended = _with_neighbours_joined(a, b, blocks)
    neighbours = _NeighboursInSecond(extended, len(b))
    for index, block in enumerate(extended):
        limits_a = (
            extended[index - 1].a1 if index else 0,
            extended[index + 1].a0 if index + 1 < len(extended) else len(a),
        )
        limits_b = neighbours.end_before(block), neighbours.start_after(block)
        extended[index] = _with_ends_extended(a, b, block, limits_a, limits_b)
        neighbours.replace(block, extended[index])
    if extended and neighbours.end_before(extended[0]) == 0:
        extended[0] = _from_text_start(a, b, extended[0])
    if extended and neighbours.start_after(extended[-1]) == len(b):
        extended[-1] = _to_text_end(a, b, extended[-1])
    return extended


def _with_neighbours_joined(a: str, b: str, blocks: Sequence[AlignedPart]) -> list[AlignedPart]:
    """The blocks in the order of `a`; those with little between them, in both sequences, are joined to one."""
    joined: list[AlignedPart] = []
    neighbours = _NeighboursInSecond(blocks, len(b))
    for block in sorted(blocks, key=lambda block: block.a0):
        last = joined[-1] if joined else None
        if last is not None and neighbours.end_before(block) == last.b1 and _can_be_joined(last, block):
            between = gap_ops(a, b, last.a1, block.a0, last.b1, block.b0)
            ops = joined_ops([*last.ops, *between, *block.ops])
            joined[-1] = AlignedPart(last.a0, block.a1, last.b0, block.b1, ops)
        else:
            joined.append(block)
    return joined


def _can_be_joined(first: AlignedPart, second: AlignedPart) -> bool:
    skipped_a, skipped_b = second.a0 - first.a1, second.b0 - first.b1
    shorter, longer = sorted((skipped_a, skipped_b))
    return 0 <= shorter <= MAX_TWO_SIDED_SKIP and longer <= MAX_ONE_SIDED_SKIP


class _NeighboursInSecond:
    """The neighbours of each block in the second sequence, which has `length` characters."""

    def __init__(self, blocks: Sequence[AlignedPart], length: int) -> None:
        self._ends = sorted((0, *(block.b1 for block in blocks)))
        self._starts = sorted((*(block.b0 for block in blocks), length))

    def end_before(self, block: AlignedPart) -> int:
        """The end of the block before this one; 0 if there is none."""
        return self._ends[bisect_right(self._ends, block.b0) - 1]

    def start_after(self, block: AlignedPart) -> int:
        """The start of the block after this one; the end of the sequence if there is none."""
        return self._starts[bisect_left(self._starts, block.b1)]

    def replace(self, block: AlignedPart, other: AlignedPart) -> None:
        """Replace a block by another."""
        del self._ends[bisect_left(self._ends, block.b1)], self._starts[bisect_left(self._starts, block.b0)]
        insort(self._ends, other.b1)
        insort(self._starts, other.b0)


def _from_text_start(a: str, b: str, block: AlignedPart) -> AlignedPart:
    """The first block, extended to the start of both texts if little is before it."""
    if max(block.a0, block.b0) > MAX_OUTER_CHARACTERS:
        return block
    return _extended_to(a, b, block, (0, block.a1), (0, block.b1))


def _to_text_end(a: str, b: str, block: AlignedPart) -> AlignedPart:
    """The last block, extended to the end of both texts if little is after it."""
    if max(len(a) - block.a1, len(b) - block.b1) > MAX_OUTER_CHARACTERS:
        return block
    return _extended_to(a, b, block, (block.a0, len(a)), (block.b0, len(b)))


def _extended_to(a: str, b: str, block: AlignedPart, span_a: Span, span_b: Span) -> AlignedPart:
    """The block extended to these spans, which include it."""
    ops = [
        *gap_ops(a, b, span_a[0], block.a0, span_b[0], block.b0),
        *block.ops,
        *gap_ops(a, b, block.a1, span_a[1], block.b1, span_b[1]),
    ]
    return AlignedPart(*span_a, *span_b, joined_ops(ops))


def _with_ends_extended(a: str, b: str, block: AlignedPart, limits_a: Span, limits_b: Span) -> AlignedPart:
    """The block with its ends moved outward, within these limits, as long as the two sequences agree. Each step moves
    an end by at most `EXTENSION_CHARACTERS`."""
    while True:
        head = min(EXTENSION_CHARACTERS, block.a0 - limits_a[0], block.b0 - limits_b[0])
        tail = min(EXTENSION_CHARACTERS, limits_a[1] - block.a1, limits_b[1] - block.b1)
        head_a, head_b = _agreeing(a[block.a0 - head : block.a0][::-1], b[block.b0 - head : block.b0][::-1])
        tail_a, tail_b = _agreeing(a[block.a1 : block.a1 + tail], b[block.b1 : block.b1 + tail])
        span_a, span_b = (block.a0 - head_a, block.a1 + tail_a), (block.b0 - head_b, block.b1 + tail_b)
        extended = _extended_to(a, b, block, span_a, span_b)
        if extended == block:
            return block
        block = extended


def _agreeing(first: str, second: str) -> tuple[int, int]:
    """How many characters of each text agree from the start: up to the place of the highest score, where an equal
    character scores 1 and a different one `DIFFERENCE_SCORE`."""
    best, score, place = 0.0, 0.0, (0, 0)
    for code in Levenshtein.opcodes(first, second):
        length = max(code.src_end - code.src_start, code.dest_end - code.dest_start)
        score += length if code.tag == "equal" else DIFFERENCE_SCORE * length
        if score > best:
            best, place = score, (code.src_end, code.dest_end)
        if score < best - MAX_SCORE_DROP:
            break
    return place
