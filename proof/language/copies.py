"""Whether a passage was among what the model learned, or stands in the text again: then it, or a copy of it, would be
its own witness.

Of the runs of `LENGTH` characters in what was learned one in `SPARSE` is kept, by its hash. A stretch of a text in
which several are found again was learned: what it brought to the counts is taken off before they are asked.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proof.language.look_alikes import Codes
from proof.language.ngrams import Keys, mixed

LENGTH = 12
SPARSE = 64
BITS = 26

REACH = 400
"""Tokens on either side within which runs are counted."""

SHARE = 0.4
"""Of the runs kept so near, the share from which a place was learned; what one text quotes from another is less."""


def runs(tokens: Codes) -> tuple[Keys, NDArray[np.int64]]:
    """Those runs of the tokens that are kept, as hashes of `BITS` bits, and where each begins."""
    if len(tokens) < LENGTH:
        return np.zeros(0, np.uint64), np.zeros(0, np.int64)
    keys = np.zeros(len(tokens) - LENGTH + 1, np.uint64)
    for offset in range(LENGTH):
        keys = mixed(keys ^ (tokens[offset : offset + len(keys)].astype(np.uint64) + np.uint64(offset << 40)))
    kept = np.flatnonzero(keys % np.uint64(SPARSE) == 0)
    return keys[kept] >> np.uint64(64 - BITS), kept


def learned_places(tokens: Codes, learned: Keys) -> NDArray[np.bool_]:
    """For every token whether it stands in a passage that is among `learned` (ascending hashes of runs)."""
    return _places_of(*runs(tokens), learned, len(tokens))


def repeated_places(tokens: Codes) -> NDArray[np.bool_]:
    """For every token whether it stands in a passage that the tokens have again, as texts in several copies do."""
    keys, starts = runs(tokens)
    met, times = np.unique(keys, return_counts=True)
    return _places_of(keys, starts, met[times > 1], len(tokens))


def _places_of(keys: Keys, starts: NDArray[np.int64], learned: Keys, size: int) -> NDArray[np.bool_]:
    if not len(learned) or not len(keys):
        return np.zeros(size, np.bool_)
    at = np.minimum(np.searchsorted(learned, keys), len(learned) - 1)
    known = learned[at] == keys
    known_before = np.concatenate([[0], np.cumsum(known)])
    middles = np.arange(size)
    first = np.searchsorted(starts, middles - REACH)
    last = np.searchsorted(starts, middles + REACH)
    hits = known_before[last] - known_before[first]
    return np.asarray((hits > SHARE * np.maximum(last - first, 1)) & (hits >= 2), np.bool_)
