"""Equal stretches of two sequences (seeds), and chains of seeds in the same order in both.

Seeds are equal stretches of a few characters (k-mers). Those in the same order are chained (as in minimap2, Li 2018),
the best chains first; each part of a sequence belongs to one chain. Time is nearly linear."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import deque
from collections.abc import Iterator
from math import log2

import numpy as np
from numpy.typing import NDArray

from proof.text.positions import code_points

Ints = NDArray[np.int64]

Span = tuple[int, int]
"""First character and end (exclusive)."""

Seed = tuple[int, int, int]
"""Start of an equal stretch in the first and in the second sequence, and its length."""

SEED_CHARACTERS = 6
"""Characters of a seed between whole texts."""

MAX_OCCURRENCES = 24
"""Occurrences in the second text above which a seed is ignored (formulas, refrains)."""

MAX_ONE_SIDED_SKIP = 4000
"""Characters that a chain may skip in one of the texts, such as a subcommentary that the other lacks."""

MAX_TWO_SIDED_SKIP = 300
"""Characters that a chain may skip in both texts at once."""

MAX_UNDIVIDED_SKIP = 24
"""Characters that a chain may skip in one of the texts without being divided: longer passages may belong elsewhere."""

TRIED_PREDECESSORS = 48
"""Number of preceding seeds that are tried as predecessors in a chain."""

MIN_LONG_SEED_CHARACTERS = 24
"""Characters from which on a seed is tried as predecessor beyond `TRIED_PREDECESSORS`, since many short ones begin
within it."""

_CHUNK = 400_000


def seeds_of(a: str, b: str, k: int) -> list[Seed]:
    """All maximal equal stretches of at least `k` characters, without those that consist of frequent seeds only."""
    codes_a, codes_b = (code_points(text).astype(np.int64) for text in (a, b))
    if len(codes_a) < k or len(codes_b) < k:
        return []
    hashes_b = _hashes(codes_b, k)
    order = np.argsort(hashes_b, kind="stable")
    ordered = hashes_b[order]
    seeds: list[Seed] = []
    hashes_a = _hashes(codes_a, k)
    for start in range(0, len(hashes_a), _CHUNK):
        part = hashes_a[start : start + _CHUNK]
        left, right = np.searchsorted(ordered, part, "left"), np.searchsorted(ordered, part, "right")
        number = np.where(right - left > MAX_OCCURRENCES, 0, right - left)
        at_a = np.repeat(np.arange(len(part)), number) + start
        first = np.repeat(left - np.concatenate(([0], np.cumsum(number)[:-1])), number)
        at_b = order[first + np.arange(len(first))]
        for offset in range(k):
            same = codes_a[at_a + offset] == codes_b[at_b + offset]
            at_a, at_b = at_a[same], at_b[same]
        seeds += _merged(at_a, at_b, k)
    return seeds


def _hashes(codes: Ints, k: int) -> NDArray[np.uint64]:
    length = len(codes) - k + 1
    total = np.zeros(length, dtype=np.uint64)
    for offset in range(k):
        total = total * np.uint64(0x9E3779B97F4A7C15) + codes[offset : offset + length].astype(np.uint64)
    return total


def _merged(at_a: Ints, at_b: Ints, k: int) -> list[Seed]:
    """The seeds, with adjacent ones on one diagonal merged."""
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


def chains_of(seeds: list[Seed], least: float) -> list[list[Seed]]:
    """Chains of seeds, best first; none uses parts of a sequence that a better one uses."""
    seeds = sorted(seeds)
    scores = [float(length) for _, _, length in seeds]
    highest = [0.0]  # the highest score among the first seeds, by the number of these
    before = [-1] * len(seeds)
    long: deque[int] = deque(maxlen=TRIED_PREDECESSORS)
    for n, seed in enumerate(seeds):
        for earlier in (range(n - 1, max(0, n - TRIED_PREDECESSORS) - 1, -1), reversed(long)):
            for m in earlier:
                if highest[m + 1] + seed[2] < scores[n]:
                    break  # a seed gains its length at most
                gain = _gain(seeds[m], seed)
                if gain is not None and scores[m] + gain >= scores[n]:
                    scores[n], before[n] = scores[m] + gain, m
        highest.append(max(highest[-1], scores[n]))
        if seed[2] >= MIN_LONG_SEED_CHARACTERS:
            long.append(n)
    taken_a, taken_b = Covered(), Covered()
    used = [False] * len(seeds)
    chains: list[list[Seed]] = []
    for end in sorted(range(len(seeds)), key=lambda n: -scores[n]):
        if used[end] or scores[end] < least:
            continue
        chain: list[Seed] = []
        at = end
        while at >= 0 and not used[at]:
            used[at] = True
            free = _free(seeds[at], taken_a, taken_b)
            if free is None:
                break
            chain.append(free)
            at = before[at]
        chain = _without_overlaps(chain[::-1])
        if sum(length for _, _, length in chain) >= min(least, 2 * SEED_CHARACTERS):
            for part in _parted(chain, taken_a, taken_b):
                taken_a.add(part[0][0], part[-1][0] + part[-1][2])
                taken_b.add(part[0][1], part[-1][1] + part[-1][2])
                chains.append(part)
    return chains


def _free(seed: Seed, taken_a: Covered, taken_b: Covered) -> Seed | None:
    """The part of a seed that is free in both sequences, at one of its sides."""
    x, y, length = seed
    free = taken_a.free(x, x + length)
    if free is None:
        return None
    x, y, length = free[0], y + free[0] - x, free[1] - free[0]
    free = taken_b.free(y, y + length)
    return None if free is None else (x + free[0] - y, free[0], free[1] - free[0])


def _gain(first: Seed, second: Seed) -> float | None:
    """The gain of continuing a chain from one seed to another; None if that is not possible."""
    dx, dy = second[0] - first[0] - first[2], second[1] - first[1] - first[2]
    overlap = max(0, -dx, -dy)
    if overlap >= min(first[2], second[2]) or max(dx, dy) > MAX_ONE_SIDED_SKIP or min(dx, dy) > MAX_TWO_SIDED_SKIP:
        return None
    apart = abs(dx - dy)
    return second[2] - overlap - (min(4.0 + log2(1 + apart), apart * 0.5) if apart else 0.0)


class Covered:
    """A sorted set of disjoint spans that are in use."""

    def __init__(self) -> None:
        self._spans: list[tuple[int, int]] = []

    def free(self, start: int, end: int) -> tuple[int, int] | None:
        """The free part of a span, at one of its sides; None if there is none."""
        at = bisect_right(self._spans, (start, end))
        if at and self._spans[at - 1][1] > start:
            start = self._spans[at - 1][1]
        at = bisect_left(self._spans, (start, 0))
        if at < len(self._spans) and self._spans[at][0] < end:
            end = self._spans[at][0]
        return (start, end) if start < end else None

    def meets(self, start: int, end: int) -> bool:
        """Whether a part of a span is in use."""
        return start < end and self.free(start, end) != (start, end)

    def add(self, start: int, end: int) -> None:
        insort(self._spans, (start, end))


def _without_overlaps(chain: list[Seed]) -> list[Seed]:
    """The chain with each seed shortened where the one before overlaps it."""
    clean: list[Seed] = []
    for x, y, length in chain:
        cut = 0
        if clean:
            px, py, plength = clean[-1]
            cut = max(0, px + plength - x, py + plength - y)
        if length > cut:
            clean.append((x + cut, y + cut, length - cut))
    return clean


def _parted(chain: list[Seed], taken_a: Covered, taken_b: Covered) -> Iterator[list[Seed]]:
    """A chain divided where it skips much more of one sequence than of the other, which may belong elsewhere, and where
    it skips what a better chain has."""
    part = chain[:1]
    for seed in chain[1:]:
        x, y, length = part[-1]
        skipped = (x + length, seed[0]), (y + length, seed[1])
        if (
            _passes_over(*(end - start for start, end in skipped))
            or taken_a.meets(*skipped[0])
            or taken_b.meets(*skipped[1])
        ):
            yield part
            part = []
        part.append(seed)
    yield part


def _passes_over(da: int, db: int) -> bool:
    return max(da, db) > MAX_UNDIVIDED_SKIP and max(da, db) > 2 * min(da, db)
