"""Scores the characters that may stand at a place, from their counts in the patterns around it.

For every pattern the counts of the candidates are compared with those expected from their shares in the language. A
small network, the same for all characters, combines these comparisons to a score. `scripts/make_language.py` fits it,
with counts that lack those of the page in question.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

FIRM_PRIOR_COUNT = 1.0
"""Prior of the first comparison: the number of occurrences as which the shares of the characters count."""

FAINT_PRIOR_COUNT = 0.1
"""Prior of the second comparison."""

MIN_SHARE = 1e-9
"""Added to shares before their logarithm is taken."""

MAX_NATS = 8.0
"""Nats at which the features are clipped."""

NO_CANDIDATE = -1e9
"""The score of a candidate 0, with which short rows are filled up."""

FILE = "data/weights.npz"


def comparisons(counts: NDArray[np.int32], shares: Floats) -> Floats:
    """Compare the counts of k characters (n x patterns x k) with their shares (n x k, 0 for no character). For every
    character the result (n x k x f) has three numbers for each pattern: two logarithms of the ratio of its count to the
    expected one, with either prior, and the logarithm of the count of all k characters. The factors only scale the
    features."""
    occurrences = counts.astype(np.float32)
    total = occurrences.sum(2, keepdims=True)
    share = shares[:, None, :]

    def log_ratio(prior: float) -> Floats:
        smoothed = (occurrences + prior * share) / (total + prior)
        return np.asarray(np.log(smoothed + MIN_SHARE) - np.log(share + MIN_SHARE))

    log_total = np.broadcast_to(np.log1p(total) * 0.3, occurrences.shape)
    joined = np.concatenate([log_ratio(FIRM_PRIOR_COUNT), log_ratio(FAINT_PRIOR_COUNT) * 0.5, log_total], axis=1)
    return np.asarray(np.clip(joined, -MAX_NATS, MAX_NATS).transpose(0, 2, 1), np.float32)


def features(language: NDArray[np.int32], text: NDArray[np.int32], shares: Floats, terms: NDArray[np.int32]) -> Floats:
    """The input of the network for each candidate at each place (n x k x f), from its counts in the language and on the
    other pages of the text (n x patterns x k), its share, and the number of `terms` that it forms with its neighbours
    (n x k)."""
    share = np.clip(np.log(shares + MIN_SHARE) * 0.5, -MAX_NATS, 0)[:, :, None]
    terms_of_others = terms.sum(1, keepdims=True) - terms
    has_term = np.minimum(np.stack([terms, terms_of_others], axis=2), 1)
    parts = [comparisons(language, shares), comparisons(text, shares), share, has_term]
    return np.concatenate(parts, axis=2, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class LanguageWeights:
    """A network with one hidden layer (`inner` and `bias`, then `outer`) and a linear path from features to score
    (`straight`): the mean of several that were fitted from different initial weights."""

    inner: Floats
    bias: Floats
    outer: Floats
    straight: Floats

    @classmethod
    @cache
    def shipped(cls) -> LanguageWeights:
        """The weights that come with the program."""
        with resources.as_file(resources.files("proof.language").joinpath(FILE)) as path:
            return cls.load(path)

    @classmethod
    def load(cls, path: Path) -> LanguageWeights:
        """The weights that `save` wrote."""
        with np.load(path) as arrays:
            return cls(*(arrays[field.name].astype(np.float32) for field in fields(cls)))

    def save(self, path: Path) -> None:
        """Write the weights in half precision."""
        halves = {field.name: getattr(self, field.name).astype(np.float16) for field in fields(self)}
        np.savez_compressed(path, **halves)

    def scores(self, features: Floats) -> Floats:
        """A score for each character (n x k), in nats up to a constant for each place."""
        hidden = features @ self.inner + self.bias
        return np.asarray((np.maximum(hidden, 0.01 * hidden) @ self.outer + features @ self.straight)[..., 0])
