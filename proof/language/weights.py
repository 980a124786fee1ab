"""Scoring characters at a place from the counts of the patterns around it.

For every pattern the counts of the candidate characters are compared with those expected from their shares in the
language. A small network, the same for all characters, combines these comparisons to a score. It was fitted by
`scripts/make_language.py`, with counts from which the page in question was taken off.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

FIRM_PRIOR_COUNT = 1.0
"""Weight of the shares of the characters, in occurrences, in the first comparison."""

FAINT_PRIOR_COUNT = 0.1
"""The same in the second comparison."""

MAX_NATS = 8.0
"""Nats at which comparisons are clipped."""

NOTHING = -1e9
"""The score of an empty place in a row of candidates."""

FILE = "data/weights.npz"


def compared(counts: NDArray[np.int32], shares: Floats) -> Floats:
    """Compare counts (n x patterns x k) with the shares of the k characters (n x k, 0 where there is none). For every
    character the result (n x k x f) has two logarithms of ratios for each pattern, and the number of occurrences of the
    pattern with any of the characters."""
    own = counts.astype(np.float32)
    met = own.sum(2)
    part = shares[:, None, :]
    ratios = [
        np.log((own + k * part) / (met[:, :, None] + k) + 1e-9) - np.log(part + 1e-9)
        for k in (FIRM_PRIOR_COUNT, FAINT_PRIOR_COUNT)
    ]
    often = np.broadcast_to(np.log1p(met)[:, :, None] * 0.3, own.shape)
    joined = np.concatenate([ratios[0], ratios[1] * 0.5, often], axis=1)
    return np.asarray(np.clip(joined, -MAX_NATS, MAX_NATS).transpose(0, 2, 1), np.float32)


def features(language: NDArray[np.int32], text: NDArray[np.int32], shares: Floats, terms: NDArray[np.int32]) -> Floats:
    """The input of the network for each candidate at each place (n x k x f): from the counts in the language and on the
    other pages of the text (n x patterns x k), the shares, and whether it forms a term with a neighbour."""
    share = np.clip(np.log(shares + 1e-9) * 0.5, -MAX_NATS, 0)[:, :, None]
    others = terms.sum(1, keepdims=True) - terms
    made = np.stack([np.minimum(terms, 1), np.minimum(others, 1)], axis=2)
    parts = [compared(language, shares), compared(text, shares), share, made]
    return np.concatenate(parts, axis=2, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class LanguageWeights:
    """A network with one hidden layer and a linear path from features to score: the mean of several that were fitted
    from different initial weights."""

    inner: Floats
    bias: Floats
    outer: Floats
    straight: Floats

    @classmethod
    def shipped(cls) -> LanguageWeights:
        """The weights that come with the program."""
        return _shipped()

    @classmethod
    def load(cls, path: Path) -> LanguageWeights:
        with np.load(path) as arrays:
            return cls(*(arrays[name].astype(np.float32) for name in ("inner", "bias", "outer", "straight")))

    def save(self, path: Path) -> None:
        """Write the weights in half precision."""
        names = ("inner", "bias", "outer", "straight")
        np.savez_compressed(path, **{name: getattr(self, name).astype(np.float16) for name in names})

    def scores(self, shown: Floats) -> Floats:
        """A score for each character (n x k), in nats up to a constant for each place."""
        hidden = shown @ self.inner + self.bias
        return np.asarray((np.maximum(hidden, 0.01 * hidden) @ self.outer + shown @ self.straight)[..., 0])


@cache
def _shipped() -> LanguageWeights:
    with resources.as_file(resources.files("proof.language").joinpath(FILE)) as path:
        return LanguageWeights.load(path)
