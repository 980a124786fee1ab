"""How unlike the other glyphs of its character a glyph is: what finds errors that no flag found.

A glyph is held against the mean of those whose character the image confirms: where the same error stands in many
places, these do not speak for one another. The posterior of what is transcribed is evidence of its own beside the
shape (`proof.layout.glyph_shapes`), since the recogniser knows characters, and the shape knows this hand.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

CONFIRMED = 0.5
"""Posterior from which the image confirms what is transcribed."""

FEW = 5
"""With fewer confirmed occurrences all of them tell what the character looks like."""

ODD = 0.8
"""Of the confirmed occurrences so many, the most alike, tell it in the end."""

DOUBT = 0.3
"""What a posterior of nothing counts for, against the cosine between shapes."""


def unlikeness(
    shapes: NDArray[np.int8], p_text: NDArray[np.float64], other: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """How unlike its own character each of the glyphs is (0: not at all); with the middle of an `other` character, how
    like that one it is, and the less like its own."""
    if not len(shapes):
        return np.zeros(0)
    found = _unit(shapes.astype(np.float32))
    own = found @ middle_of(shapes, p_text)
    doubt = DOUBT * (1.0 - p_text)
    if other is None:
        return np.asarray(1.0 - own + doubt, dtype=np.float64)
    return np.asarray(found @ other - own / 2 + doubt / 2, dtype=np.float64)


def middle_of(shapes: NDArray[np.int8], p_text: NDArray[np.float64]) -> NDArray[np.float64]:
    """What a character looks like: the middle of the confirmed ones of its glyphs, without the oddest of them."""
    sure = p_text >= CONFIRMED
    found = _unit(shapes[sure if np.count_nonzero(sure) >= FEW else slice(None)].astype(np.float32))
    middle = _unit(found.mean(axis=0, keepdims=True))[0]
    alike = found @ middle
    return np.asarray(_unit(found[alike >= np.quantile(alike, 1 - ODD)].mean(axis=0, keepdims=True))[0], np.float64)


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6))
