"""Copied passages: those that are in the training texts of the model, or several times in a text. Without these checks
such a passage would be evidence for itself.

A run is `RUN_TOKENS` consecutive tokens. Of the runs in the training texts one in `RUNS_PER_KEPT` is kept, as a hash. A
passage with enough of these is in the training texts; its contribution is subtracted from their counts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proof.language.look_alikes import Codes
from proof.language.ngrams import Keys, hashed

RUN_TOKENS = 12

RUNS_PER_KEPT = 64
"""One of so many runs is kept: those whose hash this number divides."""

RUN_BITS = 26
"""Bits of a run's hash that are kept."""

REACH_TOKENS = 400
"""Tokens on either side of a token within which kept runs are counted."""

MIN_COPIED_RUNS = 2
"""Minimum number of copied runs around a token in a copied passage."""

MIN_COPIED_SHARE = 0.4
"""Share of the kept runs around such a token that the copied ones must exceed; quotations have less."""


def runs(tokens: Codes) -> tuple[Keys, NDArray[np.int64]]:
    """The kept runs of the tokens, as hashes of `RUN_BITS` bits, and the index of the first token of each."""
    if len(tokens) < RUN_TOKENS:
        return np.zeros(0, np.uint64), np.zeros(0, np.int64)
    keys = np.zeros(len(tokens) - RUN_TOKENS + 1, np.uint64)
    for offset in range(RUN_TOKENS):
        keys = hashed(keys ^ (tokens[offset : offset + len(keys)].astype(np.uint64) + np.uint64(offset << 40)))
    kept = np.flatnonzero(keys % np.uint64(RUNS_PER_KEPT) == 0)
    return keys[kept] >> np.uint64(64 - RUN_BITS), kept


def learned_places(tokens: Codes, learned: Keys) -> NDArray[np.bool_]:
    """Whether each token is in a passage of the training texts, whose kept runs are `learned` (ascending hashes)."""
    return _in_copies(*runs(tokens), learned, len(tokens))


def repeated_places(tokens: Codes) -> NDArray[np.bool_]:
    """Whether each token is in a passage that occurs again in the tokens, as in texts with several copies."""
    keys, starts = runs(tokens)
    distinct, counts = np.unique(keys, return_counts=True)
    return _in_copies(keys, starts, distinct[counts > 1], len(tokens))


def _in_copies(keys: Keys, starts: NDArray[np.int64], copied_keys: Keys, size: int) -> NDArray[np.bool_]:
    """Whether enough of the kept runs around each of `size` tokens are among `copied_keys` (ascending)."""
    if not len(copied_keys):
        return np.zeros(size, np.bool_)
    # a binary search: np.isin would sort the many `copied_keys` again
    nearest = copied_keys[np.minimum(np.searchsorted(copied_keys, keys), len(copied_keys) - 1)]
    copied_before = np.concatenate([[0], np.cumsum(nearest == keys)])
    tokens = np.arange(size)
    first = np.searchsorted(starts, tokens - REACH_TOKENS)
    end = np.searchsorted(starts, tokens + REACH_TOKENS)
    copied = copied_before[end] - copied_before[first]
    has_share = copied > MIN_COPIED_SHARE * np.maximum(end - first, 1)
    return np.asarray(has_share & (copied >= MIN_COPIED_RUNS), np.bool_)
