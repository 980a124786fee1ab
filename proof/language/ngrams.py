"""Counts of n-grams around a place.

A pattern is a set of offsets around a place: the characters there are its context, the character at the place is its
centre. Context and centre together give a key, a hash; `Counts` has the count of each key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proof.language.look_alikes import Codes
from proof.language.stream import MARGIN_TOKENS

PATTERNS: tuple[tuple[int, ...], ...] = (
    (-1,),
    (1,),
    (-2, -1),
    (-1, 1),
    (1, 2),
    (-3, -2, -1),
    (-2, -1, 1),
    (-1, 1, 2),
    (1, 2, 3),
    (-4, -3, -2, -1),
    (-3, -2, -1, 1),
    (-2, -1, 1, 2),
    (-1, 1, 2, 3),
    (1, 2, 3, 4),
    (-2,),
    (2,),
    (-2, 1),
    (-1, 2),
    (-3,),
    (3,),
    (-2, 2),
    (-3, -1),
    (1, 3),
    (-3, -2),
    (2, 3),
)
"""Offsets of the context characters: all runs of two to four characters that include the place, the longest of five,
and pairs and triples with gaps."""

WIDE = len(PATTERNS)
"""The number of the pattern by which copies of a passage are recognised. The language has no counts of it."""

WIDE_OFFSETS = (*range(-6, 0), *range(1, 7))
"""The offsets of the pattern `WIDE`: six characters on either side."""

BEFORE = 0
"""The pattern of a character with the one before it."""

AFTER = 1
"""The pattern of a character with the one after it."""

Keys = NDArray[np.uint64]
CutKeys = NDArray[np.uint64] | NDArray[np.uint32]
Numbers = NDArray[np.int32]
Windows = NDArray[np.uint32]

SIEVE_BITS = 3
"""A sieve has up to 2 ** `SIEVE_BITS` slots for every key, and at least half as many."""

_SHIFT = np.uint64(31)
_FIRST_FACTOR = np.uint64(0x7FB5D329728EA185)
_SECOND_FACTOR = np.uint64(0x81DADEF4BC2DD44D)


def hashed(values: Keys) -> Keys:
    """A hash of 64 bits (after the finalizer of MurmurHash3)."""
    values = values ^ (values >> _SHIFT)
    values = values * _FIRST_FACTOR
    values = values ^ (values >> np.uint64(27))
    values = values * _SECOND_FACTOR
    return np.asarray(values ^ (values >> np.uint64(33)))


def windows(tokens: Codes, places: NDArray[np.int64]) -> Windows:
    """The tokens around each place (n x 2 `MARGIN_TOKENS` + 1), with the place itself in the middle."""
    return np.asarray(tokens[places[:, None] + np.arange(-MARGIN_TOKENS, MARGIN_TOKENS + 1)])


def contexts_at(tokens: Codes, places: NDArray[np.int64], pattern: int) -> Keys:
    """A hash of the context of each of these places, in the pattern of that number."""
    offsets = PATTERNS[pattern] if pattern < WIDE else WIDE_OFFSETS
    return contexts([tokens[places + offset] for offset in offsets], offsets, pattern)


def pair_keys(first: Codes, second: Codes, pattern: int = BEFORE) -> Keys:
    """The keys of characters with the one before each, or, in the pattern `AFTER`, with the one after it; `first` is
    the neighbour, folded."""
    return keys(contexts([first], PATTERNS[pattern], pattern), second)


def contexts(beside: Sequence[Codes], offsets: Sequence[int], pattern: int) -> Keys:
    """A hash of each context. `beside` has the characters beside the places, an array for each of the `offsets`."""
    hashes = np.full(len(beside[0]), hashed(np.array([pattern + 1], np.uint64))[0], np.uint64)
    for offset, codes in zip(offsets, beside, strict=True):
        hashes = hashed(hashes ^ (codes.astype(np.uint64) + np.uint64((offset + 16) << 40)))
    return hashes


def keys(contexts: Keys, centres: Codes) -> Keys:
    """The keys of contexts with these centres; shapes are broadcast."""
    return hashed(contexts ^ (centres.astype(np.uint64) << np.uint64(20)))


@dataclass(frozen=True)
class Counts:
    """Counts of keys. `keys` are the keys, ascending, cut to their upper `bits` bits; `counts` are their counts, in the
    smallest integer type that holds them."""

    keys: CutKeys
    counts: NDArray[np.integer[Any]]
    bits: int = 64

    @classmethod
    def of(cls, occurrences: Keys, bits: int = 64) -> Counts:
        """The counts of keys, given once for each occurrence."""
        ordered: CutKeys = np.sort(_cut(occurrences, bits))  # type: ignore[assignment]
        first = _first_of_each(ordered)
        counts = np.diff(first, append=len(ordered))
        return cls(ordered[first], counts.astype(np.min_scalar_type(counts.max(initial=0))), bits)

    def where(self, chosen: NDArray[np.bool_]) -> Counts:
        """The chosen keys."""
        return Counts(self.keys[chosen], self.counts[chosen], self.bits)

    @classmethod
    def merged(cls, parts: Sequence[Counts], bits: int) -> Counts:
        """The sum of several counts of equal bits."""
        joined = np.concatenate([_cut(np.zeros(0, np.uint64), bits), *(part.keys for part in parts)])
        counts = np.concatenate([np.zeros(0, np.int32), *(part.counts for part in parts)])
        order = np.argsort(joined, kind="stable")
        joined, counts = joined[order], counts[order]
        first = _first_of_each(joined)
        return cls(joined[first], np.add.reduceat(counts, first) if len(first) else counts, bits)

    def of_keys(self, sought: Keys) -> Numbers:
        """The count of each of these keys."""
        counts = np.zeros(sought.shape, np.int32)
        if not len(self.keys):
            return counts
        cut = _cut(sought.ravel(), self.bits)
        slots = self._slots(cut)
        likely = np.flatnonzero(self._sieve[slots >> np.uint32(3)] >> (slots & np.uint32(7)).astype(np.uint8) & 1)
        cut = cut[likely]
        index = self._last_up_to(cut)
        counts.reshape(-1)[likely] = np.where(self.keys[index] == cut, self.counts[index], 0)
        return counts

    def _last_up_to(self, cut: CutKeys) -> NDArray[np.int32]:
        """For each cut key the index of the last of `keys` that is not greater, or 0. Keys are hashes, so their first
        bits give the index up to a few places, which takes a quarter of the time of a binary search."""
        first, shift, steps = self._beginnings
        index = first[cut >> cut.dtype.type(shift)]
        last = np.int32(len(self.keys) - 1)
        for step in steps:
            next_index = np.minimum(index + np.int32(step), last)
            index = np.where(self.keys[next_index] <= cut, next_index, index)
        return np.asarray(index, np.int32)

    @cached_property
    def _beginnings(self) -> tuple[NDArray[np.int32], int, list[int]]:
        """The first index in `keys` for every value of a key's first bits; the number of bits by which a key is shifted
        to get these; and the steps of the search among keys with equal first bits."""
        bits = max(len(self.keys).bit_length() - 2, 0)
        shift = self.bits - bits
        starts = (np.arange(1 << bits, dtype=np.uint64) << np.uint64(shift)).astype(self.keys.dtype)
        first = np.searchsorted(self.keys, starts).astype(np.int32)
        most = int(np.diff(first, append=np.int32(len(self.keys))).max())
        steps = [1 << power for power in reversed(range(most.bit_length()))]
        return np.minimum(first, len(self.keys) - 1), shift, steps

    @cached_property
    def _sieve(self) -> NDArray[np.uint8]:
        """A bit for every value of a key's first bits, set if one of `keys` begins with it. It excludes most unknown
        keys without a search. It is made in pieces, since a byte for every bit would take most of the memory of the
        counts."""
        size = 1 << self._sieve_bits
        sieve = np.zeros(size >> 3, np.uint8)
        for start in range(0, len(self.keys), PIECE_LENGTH):
            slots = self._slots(self.keys[start : start + PIECE_LENGTH])
            begin = int(slots[0]) & ~7
            piece = np.zeros((int(slots[-1]) | 7) + 1 - begin, np.bool_)
            piece[slots - np.uint32(begin)] = True
            sieve[begin >> 3 : (begin + len(piece)) >> 3] |= np.packbits(piece, bitorder="little")
        return sieve

    @property
    def _sieve_bits(self) -> int:
        return min(max(len(self.keys).bit_length() + SIEVE_BITS, 3), self.bits)

    def _slots(self, cut: CutKeys) -> NDArray[np.uint32]:
        return np.asarray(cut >> cut.dtype.type(self.bits - self._sieve_bits), np.uint32)


def _first_of_each(ordered: CutKeys) -> NDArray[np.int64]:
    """The index of the first occurrence of each key among ordered keys."""
    is_first = np.concatenate([[True], ordered[1:] != ordered[:-1]])[: len(ordered)]
    return np.flatnonzero(is_first)


def _cut(keys: Keys, bits: int) -> CutKeys:
    """The upper bits of keys, as 32-bit integers if there are at most 32 of them."""
    upper = keys >> np.uint64(64 - bits)
    return upper.astype(np.uint32) if bits <= 32 else upper


PIECE_LENGTH = 1 << 17
"""Number of keys, or of bytes of steps, that are processed at a time: unpacked to one byte per bit, all keys together
would take many times their memory."""

MAX_EXACT_COUNT = 32
"""Count above which the nearest power of `COUNT_BASE` is stored."""

COUNT_BASE = 1.05


def packed(counts: Counts) -> dict[str, NDArray[np.generic]]:
    """The counts as compact arrays: keys in Elias-Fano coding (lower bits unchanged, upper bits as steps), counts in
    one byte."""
    size = len(counts.keys)
    low = max(counts.bits - max(size, 1).bit_length(), 0)
    full_keys = counts.keys.astype(np.uint64)
    bit_values = np.left_shift(np.uint64(1), np.arange(low, dtype=np.uint64))
    starts = range(0, size if low else 0, PIECE_LENGTH)
    lower = [np.packbits((full_keys[start : start + PIECE_LENGTH, None] & bit_values > 0).ravel()) for start in starts]
    steps = np.zeros((size + (1 << (counts.bits - low)) + 7) // 8 * 8, np.uint8)
    steps[(full_keys >> np.uint64(low)).astype(np.int64) + np.arange(size)] = 1
    levels = np.log(np.maximum(counts.counts, MAX_EXACT_COUNT) / MAX_EXACT_COUNT) / np.log(COUNT_BASE)
    number = np.where(
        counts.counts <= MAX_EXACT_COUNT,
        counts.counts,
        MAX_EXACT_COUNT + np.minimum(np.rint(levels), 255 - MAX_EXACT_COUNT),
    )
    return {
        "lower": np.concatenate([np.empty(0, np.uint8), *lower]),
        "steps": np.packbits(steps),
        "number": number.astype(np.uint8),
        "shape": np.array([size, low, counts.bits]),
    }


def unpacked(arrays: Mapping[str, NDArray[np.generic]]) -> Counts:
    """The counts from `packed`, with large numbers rounded."""
    size, low, bits = map(int, np.asarray(arrays["shape"]))
    cut: CutKeys = np.empty(size, np.uint32) if bits <= 32 else np.empty(size, np.uint64)
    steps, lower = np.asarray(arrays["steps"], np.uint8), np.asarray(arrays["lower"], np.uint8)
    first = 0
    for start in range(0, len(steps), PIECE_LENGTH):
        upper = np.flatnonzero(np.unpackbits(steps[start : start + PIECE_LENGTH]))[: size - first] + 8 * start
        cut[first : first + len(upper)] = (upper - np.arange(first, first + len(upper))) << low
        first += len(upper)
    bit_values = np.left_shift(1, np.arange(low), dtype=np.int64)
    for start in range(0, size if low else 0, PIECE_LENGTH):  # pieces are whole bytes: a multiple of eight keys
        count = min(PIECE_LENGTH, size - start)
        bits_of_keys = np.unpackbits(lower[start * low // 8 : (start + PIECE_LENGTH) * low // 8])[: count * low]
        cut[start : start + count] |= (bits_of_keys.reshape(count, low) @ bit_values).astype(cut.dtype)
    stored = np.asarray(arrays["number"], np.uint8)
    levels = np.arange(int(stored.max(initial=0)) + 1)
    numbers = np.where(
        levels <= MAX_EXACT_COUNT, levels, np.rint(MAX_EXACT_COUNT * COUNT_BASE ** (levels - MAX_EXACT_COUNT))
    )
    return Counts(cut, numbers.astype(np.min_scalar_type(int(numbers[-1])))[stored], bits)
