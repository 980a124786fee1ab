"""Which parts of two sequences belong together, in whatever order: seed and extend.

Equal stretches of a few characters (k-mers) are the seeds; those that follow one another in both are chained (as
minimap2 does, Li 2018), the best chains first, each part of the first sequence in one chain. What lies between the
seeds of a chain is aligned by edit distance (rapidfuzz). Time is near linear in the lengths.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log2

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

Ints = NDArray[np.int64]

SEED = 6
"""Characters of a seed between whole texts."""

FREQUENT = 24
"""A seed that occurs more often in the second text tells nothing (formulas, refrains)."""

REACH = 4000
"""Characters that a chain may pass over in one of the texts: a subcommentary that the other lacks."""

BOTH = 300
"""Characters that a chain may pass over in both at once."""

PASSED = 24
"""Characters of the first text that a block may have alone, in one piece."""

LOOK_BACK = 48
"""Seeds before one from which a chain may come."""

LONG = 24
"""A seed of so many characters is looked back to for longer: many short ones begin within it."""

LEAST = 9.0
"""The score of the smallest chain: about so many equal characters."""

OUTERMOST = 6
"""Characters at most before the first block and behind the last that belong to it, at an end of both texts."""

LEAST_WORDS = 6
"""Characters of the shortest saying that is looked for by itself."""

_CHUNK = 400_000
_SEPARATOR = "\U0010ffff"


@dataclass(frozen=True, slots=True)
class Op:
    """`a0:a1` of the first against `b0:b1` of the second: equal, replaced one by one, or there in one alone."""

    equal: bool
    a0: int
    a1: int
    b0: int
    b1: int


@dataclass(frozen=True, slots=True)
class Block:
    """A part of the first sequence and where it is in the second, aligned."""

    a0: int
    a1: int
    b0: int
    b1: int
    ops: tuple[Op, ...]

    @property
    def equal(self) -> int:
        """How many characters are equal."""
        return sum(op.a1 - op.a0 for op in self.ops if op.equal)


def align(a: str, b: str) -> list[Block]:
    """Blocks of `a` with their places in `b`, in the order of `a`; no part of `a` is in two."""
    chains = _chains(_seeds(a, b, SEED), LEAST)
    blocks = _extended(a, b, sorted((_block(a, b, chain) for chain in chains), key=lambda block: block.a0))
    rest = gaps([(block.a0, block.a1) for block in blocks], len(a))
    small = [_block(a, b, [seed]) for seed in _small(a, b, rest)]
    return _extended(a, b, sorted([*blocks, *small], key=lambda block: block.a0)) if small else blocks


def _small(a: str, b: str, rest: Sequence[tuple[int, int]]) -> list[Seed]:
    """Short sayings in what is left over of the first sequence, where the second has them once and nothing longer."""
    rest = [(start, end) for start, end in rest if end - start >= LEAST_WORDS]
    joined = _SEPARATOR.join(a[start:end] for start, end in rest)
    begins = [0]
    for start, end in rest:
        begins.append(begins[-1] + end - start + 1)
    found: list[Seed] = []
    seeds = sorted(_seeds(joined, b, LEAST_WORDS), key=lambda seed: (-seed[2], seed[0]))
    number = Counter(x for x, _, _ in seeds)
    taken = _Covered()
    for x, y, length in seeds:
        if number[x] > 1 or taken.free(x, x + length) != (x, x + length):
            continue
        taken.add(x, x + length)
        gap = bisect_right(begins, x) - 1
        found.append((rest[gap][0] + x - begins[gap], y, length))
    return found


def gaps(spans: Sequence[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    """What of `0:length` no span covers."""
    found, at = [], 0
    for start, end in sorted(spans):
        if start > at:
            found.append((at, start))
        at = max(at, end)
    if at < length:
        found.append((at, length))
    return found


Seed = tuple[int, int, int]
"""Where an equal stretch begins in the one and in the other, and how long it is."""


def _seeds(a: str, b: str, k: int) -> list[Seed]:
    """All maximal equal stretches of at least `k` characters, but those made of frequent seeds alone."""
    codes_a, codes_b = _codes(a), _codes(b)
    if len(codes_a) < k or len(codes_b) < k:
        return []
    hashes_b = _hashes(codes_b, k)
    order = np.argsort(hashes_b, kind="stable")
    ordered = hashes_b[order]
    found: list[Seed] = []
    hashes_a = _hashes(codes_a, k)
    for start in range(0, len(hashes_a), _CHUNK):
        part = hashes_a[start : start + _CHUNK]
        left, right = np.searchsorted(ordered, part, "left"), np.searchsorted(ordered, part, "right")
        number = np.where(right - left > FREQUENT, 0, right - left)
        at_a = np.repeat(np.arange(len(part)), number) + start
        first = np.repeat(left - np.concatenate(([0], np.cumsum(number)[:-1])), number)
        at_b = order[first + np.arange(len(first))]
        for offset in range(k):
            same = codes_a[at_a + offset] == codes_b[at_b + offset]
            at_a, at_b = at_a[same], at_b[same]
        found += _merged(at_a, at_b, k)
    return found


def _codes(text: str) -> Ints:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.int64)


def _hashes(codes: Ints, k: int) -> NDArray[np.uint64]:
    length = len(codes) - k + 1
    total = np.zeros(length, dtype=np.uint64)
    for offset in range(k):
        total = total * np.uint64(0x9E3779B97F4A7C15) + codes[offset : offset + length].astype(np.uint64)
    return total


def _merged(at_a: Ints, at_b: Ints, k: int) -> list[Seed]:
    """Seeds that follow one another on one diagonal as one."""
    if not len(at_a):
        return []
    diagonal = at_b - at_a
    order = np.lexsort((at_a, diagonal))
    at_a, at_b, diagonal = at_a[order], at_b[order], diagonal[order]
    breaks = np.flatnonzero((np.diff(diagonal) != 0) | (np.diff(at_a) != 1)) + 1
    starts = np.concatenate(([0], breaks))
    ends = np.concatenate((breaks, [len(at_a)]))
    lengths = at_a[ends - 1] - at_a[starts] + k
    return [(int(x), int(y), int(length)) for x, y, length in zip(at_a[starts], at_b[starts], lengths, strict=True)]


def _chains(seeds: list[Seed], least: float) -> list[list[Seed]]:
    """Chains of seeds, the best first, none of which takes what a better one has of the first sequence."""
    seeds = sorted(seeds)
    scores = [float(length) for _, _, length in seeds]
    before = [-1] * len(seeds)
    long: deque[int] = deque(maxlen=LOOK_BACK)
    for n, seed in enumerate(seeds):
        near = range(max(0, n - LOOK_BACK), n)
        for m in (*long, *near):
            gain = _gain(seeds[m], seed)
            if gain is not None and scores[m] + gain > scores[n]:
                scores[n], before[n] = scores[m] + gain, m
        if seed[2] >= LONG:
            long.append(n)
    taken = _Covered()
    used = [False] * len(seeds)
    chains: list[list[Seed]] = []
    for end in sorted(range(len(seeds)), key=lambda n: -scores[n]):
        if used[end] or scores[end] < least:
            continue
        chain: list[Seed] = []
        at = end
        while at >= 0 and not used[at]:
            used[at] = True
            x, y, length = seeds[at]
            free = taken.free(x, x + length)
            if free is None:
                break
            chain.append((free[0], y + free[0] - x, free[1] - free[0]))
            at = before[at]
        chain = _without_overlaps(chain[::-1])
        if sum(length for _, _, length in chain) >= min(least, 2 * SEED):
            for part in _parted(chain):
                taken.add(part[0][0], part[-1][0] + part[-1][2])
                chains.append(part)
    return chains


def _gain(one: Seed, other: Seed) -> float | None:
    """What a chain gains that goes on from one seed to another; None where it cannot."""
    dx, dy = other[0] - one[0] - one[2], other[1] - one[1] - one[2]
    overlap = max(0, -dx, -dy)
    if overlap >= min(one[2], other[2]) or max(dx, dy) > REACH or min(dx, dy) > BOTH:
        return None
    apart = abs(dx - dy)
    return other[2] - overlap - (min(4.0 + log2(1 + apart), apart * 0.5) if apart else 0.0)


class _Covered:
    """Spans that are taken, kept apart and in order."""

    def __init__(self) -> None:
        self._spans: list[tuple[int, int]] = []

    def free(self, start: int, end: int) -> tuple[int, int] | None:
        """What is left of a span at one side of what is taken; None where nothing is."""
        at = bisect_right(self._spans, (start, end))
        if at and self._spans[at - 1][1] > start:
            start = self._spans[at - 1][1]
        at = bisect_left(self._spans, (start, 0))
        if at < len(self._spans) and self._spans[at][0] < end:
            end = self._spans[at][0]
        return (start, end) if start < end else None

    def add(self, start: int, end: int) -> None:
        insort(self._spans, (start, end))


def _without_overlaps(chain: list[Seed]) -> list[Seed]:
    """Each seed cut where the one before it reaches into it."""
    clean: list[Seed] = []
    for x, y, length in chain:
        cut = 0
        if clean:
            px, py, plength = clean[-1]
            cut = max(0, px + plength - x, py + plength - y)
        if length > cut:
            clean.append((x + cut, y + cut, length - cut))
    return clean


def _parted(chain: list[Seed]) -> Iterator[list[Seed]]:
    """A chain cut where it passes over more of the first sequence than of the second: that may be elsewhere."""
    part = chain[:1]
    for seed in chain[1:]:
        x, y, length = part[-1]
        if _passes_over(seed[0] - x - length, seed[1] - y - length):
            yield part
            part = []
        part.append(seed)
    yield part


def _passes_over(da: int, db: int) -> bool:
    return da > PASSED and da > 2 * db


def _block(a: str, b: str, chain: list[Seed]) -> Block:
    ops: list[Op] = []
    x, y, _ = chain[0]
    for sx, sy, length in chain:
        ops += fill(a, b, x, sx, y, sy)
        ops.append(Op(True, sx, sx + length, sy, sy + length))
        x, y = sx + length, sy + length
    return Block(chain[0][0], x, chain[0][1], y, tuple(_joined(ops)))


def fill(a: str, b: str, a0: int, a1: int, b0: int, b1: int) -> list[Op]:
    """The alignment of a short part of both."""
    if a0 == a1 or b0 == b1:
        return [Op(False, a0, a1, b0, b1)] if a1 > a0 or b1 > b0 else []
    if max(a1 - a0, b1 - b0) > 60 and (inner := _anchored(a, b, a0, a1, b0, b1)):
        return inner
    ops = [
        Op(code.tag == "equal", a0 + code.src_start, a0 + code.src_end, b0 + code.dest_start, b0 + code.dest_end)
        for code in Levenshtein.opcodes(a[a0:a1], b[b0:b1])
    ]
    return _without_islands(ops)


def _anchored(a: str, b: str, a0: int, a1: int, b0: int, b1: int) -> list[Op]:
    """A longer part cut at its longest chain of small seeds; nothing where there is none."""
    chains = _chains(_seeds(a[a0:a1], b[b0:b1], 3), 4.0)
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
    if a0 == a1 or b0 == b1:
        return [Op(False, a0, a1, b0, b1)] if a1 > a0 or b1 > b0 else []
    ops = [
        Op(code.tag == "equal", a0 + code.src_start, a0 + code.src_end, b0 + code.dest_start, b0 + code.dest_end)
        for code in Levenshtein.opcodes(a[a0:a1], b[b0:b1])
    ]
    return _without_islands(ops)


def _without_islands(ops: list[Op]) -> list[Op]:
    """A single equal character in the middle of what only one side has is chance, no agreement."""
    clean: list[Op] = []
    for index, op in enumerate(ops):
        around = [ops[i] for i in (index - 1, index + 1) if 0 <= i < len(ops)]
        uneven = sum(abs((o.a1 - o.a0) - (o.b1 - o.b0)) for o in around if not o.equal)
        small = op.equal and op.a1 - op.a0 <= 2 and uneven >= 6 * (op.a1 - op.a0) + 2
        clean.append(Op(False, op.a0, op.a1, op.b0, op.b1) if small else op)
    return clean


def _joined(ops: list[Op]) -> Iterator[Op]:
    """Equal stretches that touch as one, and empty ones left out."""
    last: Op | None = None
    for op in ops:
        if op.a0 == op.a1 and op.b0 == op.b1:
            continue
        if last is not None and last.equal and op.equal:
            last = Op(True, last.a0, op.a1, last.b0, op.b1)
            continue
        if last is not None:
            yield last
        last = op
    if last is not None:
        yield last


def _extended(a: str, b: str, blocks: list[Block]) -> list[Block]:
    """Blocks that follow one another in both are one, the gap between them aligned; free ends reach as far as the
    two agree."""
    found: list[Block] = []
    for block in blocks:
        last = found[-1] if found else None
        if last is not None and _follows(last, block):
            between = fill(a, b, last.a1, block.a0, last.b1, block.b0)
            found[-1] = Block(last.a0, block.a1, last.b0, block.b1, tuple(_joined([*last.ops, *between, *block.ops])))
        else:
            found.append(block)
    for index, block in enumerate(found):
        left = found[index - 1].a1 if index else 0
        right = found[index + 1].a0 if index + 1 < len(found) else len(a)
        found[index] = _reaching(a, b, block, left, right)
    if found:
        found[0] = _from_the_beginning(a, b, found[0])
        found[-1] = _to_the_end(a, b, found[-1])
    return found


def _from_the_beginning(a: str, b: str, block: Block) -> Block:
    """The first block with what little both have before it: nothing stands there to agree with, but it is theirs."""
    if max(block.a0, block.b0) > OUTERMOST or not block.a0 + block.b0:
        return block
    return Block(0, block.a1, 0, block.b1, tuple(_joined([*fill(a, b, 0, block.a0, 0, block.b0), *block.ops])))


def _to_the_end(a: str, b: str, block: Block) -> Block:
    """The last block with what little both have behind it."""
    m, n = len(a), len(b)
    if max(m - block.a1, n - block.b1) > OUTERMOST or (block.a1, block.b1) == (m, n):
        return block
    return Block(block.a0, m, block.b0, n, tuple(_joined([*block.ops, *fill(a, b, block.a1, m, block.b1, n)])))


def _follows(one: Block, other: Block) -> bool:
    da, db = other.a0 - one.a1, other.b0 - one.b1
    near = 0 <= da <= REACH and 0 <= db <= REACH and (da <= BOTH or db <= BOTH)
    return near and not _passes_over(da, db)


def _reaching(a: str, b: str, block: Block, left: int, right: int) -> Block:
    """The block with its ends moved outward over at most 30 characters, within `left:right` of `a`."""
    head = min(30, block.a0 - left, block.b0)
    tail = min(30, right - block.a1, len(b) - block.b1)
    before = _agreeing(a[block.a0 - head : block.a0][::-1], b[block.b0 - head : block.b0][::-1])
    after = _agreeing(a[block.a1 : block.a1 + tail], b[block.b1 : block.b1 + tail])
    a0, b0 = block.a0 - before[0], block.b0 - before[1]
    a1, b1 = block.a1 + after[0], block.b1 + after[1]
    ops = [*fill(a, b, a0, block.a0, b0, block.b0), *block.ops, *fill(a, b, block.a1, a1, block.b1, b1)]
    return Block(a0, a1, b0, b1, tuple(_joined(ops)))


def _agreeing(one: str, other: str) -> tuple[int, int]:
    """How far two texts agree from their beginning: where equal characters outweigh the others by most."""
    best, score, place = 0.0, 0.0, (0, 0)
    for code in Levenshtein.opcodes(one, other):
        length = max(code.src_end - code.src_start, code.dest_end - code.dest_start)
        score += length if code.tag == "equal" else -1.5 * length
        if score > best:
            best, place = score, (code.src_end, code.dest_end)
        if score < best - 6:
            break
    return place
