"""Equal stretches of two sequences (seeds), and chains of seeds that have the same order in both.

Equal k-mers are merged to seeds, and seeds are chained as in minimap2 (Li 2018), the best chains first. Each part of a
sequence belongs to at most one chain. The time is nearly linear in the lengths."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import deque
from collections.abc import Iterator
from math import log2
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proof.text.positions import code_points

Ints = NDArray[np.int64]

Span = tuple[int, int]
"""First character and end (exclusive)."""

SEED_CHARACTERS = 6
"""Minimum length of a seed between whole texts."""

MAX_OCCURRENCES = 24
"""Occurrences in the second text above which a seed is ignored (formulas, refrains)."""

MAX_ONE_SIDED_SKIP = 4000
"""Characters that a chain may skip in one of the texts, such as a subcommentary that the other lacks."""

MAX_TWO_SIDED_SKIP = 300
"""Characters that a chain may skip in both texts at once."""

MAX_UNDIVIDED_SKIP = 24
"""Characters that a chain may skip in one of the texts without being divided: longer passages may belong elsewhere."""

TRIED_PREDECESSORS = 48
"""Number of seeds directly before a seed that are tried as its predecessor in a chain."""

MIN_LONG_SEED_CHARACTERS = 24
"""Length from which on a seed is tried as predecessor even if it is not among the last `TRIED_PREDECESSORS`: many short
seeds may begin within a long one."""

_CHUNK = 400_000
"""Number of k-mers of the first text that are looked up at once."""


class Seed(NamedTuple):
    """`length` equal characters that start at `x` in the first sequence and at `y` in the second."""

    x: int
    y: int
    length: int

    @property
    def x_end(self) -> int:
        return self.x + self.length

    @property
    def y_end(self) -> int:
        return self.y + self.length


def seeds_of(a: str, b: str, k: int) -> list[Seed]:
    """All maximal equal stretches of at least `k` characters, without those that consist of frequent k-mers only."""
    codes_a, codes_b = (code_points(text).astype(np.int64) for text in (a, b))
    if len(codes_a) < k or len(codes_b) < k:
        return []
    hashes_a, hashes_b = _hashes(codes_a, k), _hashes(codes_b, k)
    order = np.argsort(hashes_b, kind="stable")
    sorted_hashes = hashes_b[order]
    seeds: list[Seed] = []
    for start in range(0, len(hashes_a), _CHUNK):
        chunk = hashes_a[start : start + _CHUNK]
        left, right = np.searchsorted(sorted_hashes, chunk, "left"), np.searchsorted(sorted_hashes, chunk, "right")
        counts = np.where(right - left > MAX_OCCURRENCES, 0, right - left)
        at_a = np.repeat(np.arange(len(chunk)), counts) + start
        first = np.repeat(left - np.concatenate(([0], np.cumsum(counts)[:-1])), counts)
        at_b = order[first + np.arange(len(first))]
        for offset in range(k):  # drop pairs whose hashes are equal by chance
            same = codes_a[at_a + offset] == codes_b[at_b + offset]
            at_a, at_b = at_a[same], at_b[same]
        seeds += _merged(at_a, at_b, k)
    return seeds


def _hashes(codes: Ints, k: int) -> NDArray[np.uint64]:
    """A hash of the k-mer at each place."""
    length = len(codes) - k + 1
    total = np.zeros(length, dtype=np.uint64)
    for offset in range(k):
        total = total * np.uint64(0x9E3779B97F4A7C15) + codes[offset : offset + length].astype(np.uint64)
    return total


def _merged(at_a: Ints, at_b: Ints, k: int) -> list[Seed]:
    """Pairs of places with equal k-mers as seeds: consecutive pairs on one diagonal are one seed."""
    if not len(at_a):
        return []
    diagonal = at_b - at_a
    order = np.lexsort((at_a, diagonal))
    at_a, at_b, diagonal = at_a[order], at_b[order], diagonal[order]
    breaks = np.flatnonzero((np.diff(diagonal) != 0) | (np.diff(at_a) != 1)) + 1
    starts = np.concatenate(([0], breaks))
    ends = np.concatenate((breaks, [len(at_a)]))
    lengths = at_a[ends - 1] - at_a[starts] + k
    return list(map(Seed, at_a[starts].tolist(), at_b[starts].tolist(), lengths.tolist()))


def chains_of(seeds: list[Seed], min_score: float) -> list[list[Seed]]:
    """Chains of seeds, best first; no chain uses parts of a sequence that a better one uses."""
    seeds = sorted(seeds)
    scores, predecessors = _best_scores(seeds)
    taken_a, taken_b = Covered(), Covered()
    used = [False] * len(seeds)
    chains: list[list[Seed]] = []
    for last in sorted(range(len(seeds)), key=lambda number: -scores[number]):
        if used[last] or scores[last] < min_score:
            continue
        backwards: list[Seed] = []
        number = last
        while number >= 0 and not used[number]:
            used[number] = True
            free = _free_part(seeds[number], taken_a, taken_b)
            if free is None:
                break
            backwards.append(free)
            number = predecessors[number]
        chain = _without_overlaps(backwards[::-1])
        if sum(seed.length for seed in chain) >= min(min_score, 2 * SEED_CHARACTERS):
            for part in _divided(chain, taken_a, taken_b):
                taken_a.add(part[0].x, part[-1].x_end)
                taken_b.add(part[0].y, part[-1].y_end)
                chains.append(part)
    return chains


def _best_scores(seeds: list[Seed]) -> tuple[list[float], list[int]]:
    """For each seed the score of the best chain that ends with it, and the number of its predecessor in that chain, -1
    for none."""
    scores = [float(seed.length) for seed in seeds]
    predecessors = [-1] * len(seeds)
    highest = [0.0]  # highest[i] is the highest score of the first i seeds
    long: deque[int] = deque(maxlen=TRIED_PREDECESSORS)
    for number, seed in enumerate(seeds):
        length = seed.length
        recent = range(number - 1, max(0, number - TRIED_PREDECESSORS) - 1, -1)
        for candidates in (recent, reversed(long)):
            for before in candidates:
                if highest[before + 1] + length < scores[number]:
                    break  # no earlier seed can do better: a seed adds at most its length
                gain = _gain(seeds[before], seed)
                if gain is not None and scores[before] + gain >= scores[number]:
                    scores[number], predecessors[number] = scores[before] + gain, before
        highest.append(max(highest[-1], scores[number]))
        if length >= MIN_LONG_SEED_CHARACTERS:
            long.append(number)
    return scores, predecessors


def _free_part(seed: Seed, taken_a: Covered, taken_b: Covered) -> Seed | None:
    """The part of a seed that is free in both sequences, at one of its ends; None if there is none."""
    free_a = taken_a.free_part(seed.x, seed.x_end)
    if free_a is None:
        return None
    diagonal = seed.y - seed.x
    free_b = taken_b.free_part(free_a[0] + diagonal, free_a[1] + diagonal)
    return None if free_b is None else Seed(free_b[0] - diagonal, free_b[0], free_b[1] - free_b[0])


def _gain(first: Seed, second: Seed) -> float | None:
    """The gain of continuing a chain from one seed to another; None if that is not possible."""
    (x, y, length), (next_x, next_y, next_length) = first, second
    skipped_a, skipped_b = next_x - x - length, next_y - y - length
    shorter, longer = (skipped_a, skipped_b) if skipped_a < skipped_b else (skipped_b, skipped_a)
    overlap = max(0, -shorter)
    if overlap >= min(length, next_length) or longer > MAX_ONE_SIDED_SKIP or shorter > MAX_TWO_SIDED_SKIP:
        return None
    shift = longer - shorter
    return next_length - overlap - (min(4.0 + log2(1 + shift), shift * 0.5) if shift else 0.0)


class Covered:
    """A sorted set of disjoint spans that are in use."""

    def __init__(self) -> None:
        self._spans: list[Span] = []

    def free_part(self, start: int, end: int) -> Span | None:
        """The free part of a span, at one of its ends; None if there is none."""
        at = bisect_right(self._spans, (start, end))
        if at and self._spans[at - 1][1] > start:
            start = self._spans[at - 1][1]
        at = bisect_left(self._spans, (start, 0))
        if at < len(self._spans) and self._spans[at][0] < end:
            end = self._spans[at][0]
        return (start, end) if start < end else None

    def overlaps(self, start: int, end: int) -> bool:
        """Whether a span overlaps one that is in use."""
        return start < end and self.free_part(start, end) != (start, end)

    def add(self, start: int, end: int) -> None:
        insort(self._spans, (start, end))


def _without_overlaps(chain: list[Seed]) -> list[Seed]:
    """The chain with each seed shortened where it overlaps the one before."""
    clean: list[Seed] = []
    for seed in chain:
        overlap = max(0, clean[-1].x_end - seed.x, clean[-1].y_end - seed.y) if clean else 0
        if seed.length > overlap:
            clean.append(Seed(seed.x + overlap, seed.y + overlap, seed.length - overlap))
    return clean


def _divided(chain: list[Seed], taken_a: Covered, taken_b: Covered) -> Iterator[list[Seed]]:
    """The parts of a chain: it is divided where it skips much more of one sequence than of the other, since what it
    skips may belong elsewhere, and where it skips a part of a better chain."""
    part = chain[:1]
    for seed in chain[1:]:
        last = part[-1]
        shorter, longer = sorted((seed.x - last.x_end, seed.y - last.y_end))
        is_one_sided = longer > MAX_UNDIVIDED_SKIP and longer > 2 * shorter
        if is_one_sided or taken_a.overlaps(last.x_end, seed.x) or taken_b.overlaps(last.y_end, seed.y):
            yield part
            part = []
        part.append(seed)
    yield part
