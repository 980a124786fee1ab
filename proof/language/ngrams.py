"""N-grams around a place, and how often they were met.

A pattern is a set of offsets around a place: the characters there are its context, that of the place itself its
centre. Context and centre together are one key, a hash; `Counts` says how often each key was met.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proof.language.look_alikes import Codes
from proof.language.stream import MARGIN

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
"""Offsets of the characters that are looked at together: all runs of two to four characters and the longest of five
over the place, and pairs and triples with gaps."""

Keys = NDArray[np.uint64]
CutKeys = NDArray[np.uint64] | NDArray[np.uint32]
Numbers = NDArray[np.int32]
Windows = NDArray[np.uint32]

_SHIFT = np.uint64(31)
_FIRST, _SECOND = np.uint64(0x7FB5D329728EA185), np.uint64(0x81DADEF4BC2DD44D)


def mixed(values: Keys) -> Keys:
    """A hash of 64 bits (after the finalizer of MurmurHash3)."""
    values = values ^ (values >> _SHIFT)
    values = values * _FIRST
    values = values ^ (values >> np.uint64(27))
    values = values * _SECOND
    return np.asarray(values ^ (values >> np.uint64(33)))


def windows(tokens: Codes, places: NDArray[np.int64]) -> Windows:
    """The tokens around each place (n x 2 `MARGIN` + 1); the place itself is in the middle."""
    return np.asarray(tokens[places[:, None] + np.arange(-MARGIN, MARGIN + 1)])


def context_keys(around: Windows, pattern: int) -> Keys:
    """For each window a hash of its context in the pattern of that number."""
    found = np.full(len(around), mixed(np.array([pattern + 1], np.uint64))[0], np.uint64)
    for offset in PATTERNS[pattern]:
        tagged = around[:, MARGIN + offset].astype(np.uint64) + np.uint64((offset + 16) << 40)
        found = mixed(found ^ tagged)
    return found


def keys(contexts: Keys, centres: Codes) -> Keys:
    """The keys of contexts with these characters in the middle; shapes are broadcast."""
    return mixed(contexts ^ (centres.astype(np.uint64) << np.uint64(20)))


@dataclass(frozen=True, slots=True)
class Counts:
    """How often keys were met. `known` are the keys, ascending, cut to their `bits` upper bits."""

    known: CutKeys
    number: Numbers
    bits: int = 64

    @classmethod
    def of(cls, met: Keys, bits: int = 64) -> Counts:
        """Counted from the keys as they were met."""
        ordered: CutKeys = np.sort(_cut(met, bits))  # type: ignore[assignment]
        first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])[: len(ordered)])
        number: Numbers = np.diff(first, append=len(ordered)).astype(np.int32)
        return cls(ordered[first], number, bits)

    def at_least(self, number: int) -> Counts:
        """Those that were met so often."""
        chosen = self.number >= number
        return Counts(self.known[chosen], self.number[chosen], self.bits)

    @classmethod
    def merged(cls, parts: Sequence[Counts], bits: int) -> Counts:
        """Several together; of equal bits."""
        known = np.concatenate([_cut(np.zeros(0, np.uint64), bits), *(part.known for part in parts)])
        number = np.concatenate([np.zeros(0, np.int32), *(part.number for part in parts)])
        order = np.argsort(known, kind="stable")
        known, number = known[order], number[order]
        first = np.flatnonzero(np.concatenate([[True], known[1:] != known[:-1]])[: len(known)])
        return cls(known[first], np.add.reduceat(number, first) if len(first) else number, bits)

    def of_keys(self, wanted: Keys) -> Numbers:
        """How often each of these keys was met."""
        if not len(self.known):
            return np.zeros(wanted.shape, np.int32)
        cut = _cut(wanted, self.bits)
        at = np.minimum(np.searchsorted(self.known, cut), len(self.known) - 1)
        return np.where(self.known[at] == cut, self.number[at], 0).astype(np.int32)


def _cut(met: Keys, bits: int) -> CutKeys:
    """The upper bits of keys, in the narrower of two widths."""
    upper = met >> np.uint64(64 - bits)
    return upper.astype(np.uint32) if bits <= 32 else upper


EXACT, STEP = 32, 1.05
"""Counts up to the first are kept as they are, greater ones to the nearest power of the second."""


def packed(counts: Counts) -> dict[str, NDArray[np.generic]]:
    """The counts as arrays that take little room: keys in the code of Elias and Fano (their lower bits as they are,
    the upper ones as steps), numbers in one byte."""
    n = len(counts.known)
    low = max(counts.bits - max(n, 1).bit_length(), 0)
    keys_kept = counts.known.astype(np.uint64)
    lower = (keys_kept & np.uint64((1 << low) - 1))[:, None] >> np.arange(low, dtype=np.uint64) & np.uint64(1)
    steps = np.zeros((n + (1 << (counts.bits - low)) + 7) // 8 * 8, np.uint8)
    steps[(keys_kept >> np.uint64(low)).astype(np.int64) + np.arange(n)] = 1
    levels = np.log(np.maximum(counts.number, EXACT) / EXACT) / np.log(STEP)
    number = np.where(counts.number <= EXACT, counts.number, EXACT + np.minimum(np.rint(levels), 255 - EXACT))
    return {
        "lower": np.packbits(lower.astype(np.uint8).ravel()),
        "steps": np.packbits(steps),
        "number": number.astype(np.uint8),
        "shape": np.array([n, low, counts.bits]),
    }


def unpacked(arrays: Mapping[str, NDArray[np.generic]]) -> Counts:
    """What `packed` gave, as it was but for the rounding of great numbers."""
    n, low, bits = (int(value) for value in np.asarray(arrays["shape"]))
    known = np.flatnonzero(np.unpackbits(np.asarray(arrays["steps"], np.uint8)))[:n] - np.arange(n)
    known = known.astype(np.uint64) << np.uint64(low)
    lower = np.unpackbits(np.asarray(arrays["lower"], np.uint8))[: n * low].reshape(n, low)
    for bit in range(low):
        known |= lower[:, bit].astype(np.uint64) << np.uint64(bit)
    code = np.asarray(arrays["number"], np.float64)
    number = np.where(code <= EXACT, code, np.rint(EXACT * STEP ** (code - EXACT)))
    return Counts(known.astype(np.uint32) if bits <= 32 else known, number.astype(np.int32), bits)
