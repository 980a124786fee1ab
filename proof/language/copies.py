"""Recognising passages that are in the training texts of the model, or twice in a text: they would be evidence for
themselves.

Of the runs of `LENGTH` characters in the training texts one in `SPARSE` is kept, as a hash. A passage that contains
several of them was in the training texts: its own contribution is subtracted from the counts before they are used.
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
"""Share of the kept runs nearby that must be known for a place to be in the training texts; quotations have less."""


def runs(tokens: Codes) -> tuple[Keys, NDArray[np.int64]]:
    """The runs of the tokens that are kept, as hashes of `BITS` bits, and their starts."""
    if len(tokens) < LENGTH:
        return np.zeros(0, np.uint64), np.zeros(0, np.int64)
    keys = np.zeros(len(tokens) - LENGTH + 1, np.uint64)
    for offset in range(LENGTH):
        keys = mixed(keys ^ (tokens[offset : offset + len(keys)].astype(np.uint64) + np.uint64(offset << 40)))
    kept = np.flatnonzero(keys % np.uint64(SPARSE) == 0)
    return keys[kept] >> np.uint64(64 - BITS), kept


def learned_places(tokens: Codes, learned: Keys) -> NDArray[np.bool_]:
    """Whether each token is in a passage that is among `learned` (ascending hashes of runs)."""
    return _places_of(*runs(tokens), learned, len(tokens))


def repeated_places(tokens: Codes) -> NDArray[np.bool_]:
    """Whether each token is in a passage that occurs again in the tokens, as in texts with several copies."""
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
