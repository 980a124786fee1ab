"""How unlike a glyph is to the other glyphs of its character. It finds errors that were not flagged.

A glyph is compared with the mean of those glyphs that the image confirms, so that equal errors in many places do not
confirm one another. The posterior of the transcribed character counts beside the shape (`proof.layout.glyph_shapes`):
the recogniser knows characters, the shape knows the hand.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MIN_CONFIRMED_POSTERIOR = 0.5
"""Minimum posterior of the transcribed character for a glyph that the image confirms."""

MIN_CONFIRMED = 5
"""Minimum number of confirmed glyphs. With fewer the mean is taken over all glyphs of the character."""

KEPT_SHARE = 0.8
"""Share of the glyphs over which the final mean is taken: those most like the first mean."""

DOUBT_WEIGHT = 0.3
"""The unlikeness that a posterior of 0 adds; the unlikeness of shapes is 1 less a cosine."""


def unlikeness(shapes: NDArray[np.int8], p_text: NDArray[np.float64]) -> NDArray[np.float64]:
    """How unlike each glyph is to its character; 0 is not at all. `shapes` is (glyphs, features), `p_text` the
    posterior of the character for each glyph."""
    if not len(shapes):
        return np.zeros(0)
    glyphs = _unit(shapes.astype(np.float32))
    likeness = glyphs @ _mean_shape(glyphs, p_text)
    return np.asarray(1.0 - likeness + DOUBT_WEIGHT * (1.0 - p_text), dtype=np.float64)


def likeness_to(
    other: NDArray[np.float64], shapes: NDArray[np.int8], p_text: NDArray[np.float64]
) -> NDArray[np.float64]:
    """How like each glyph is to an `other` character, given by its mean shape, less half of its likeness to its own;
    `shapes` and `p_text` as in `unlikeness`."""
    if not len(shapes):
        return np.zeros(0)
    glyphs = _unit(shapes.astype(np.float32))
    likeness = glyphs @ _mean_shape(glyphs, p_text)
    return np.asarray(glyphs @ other - likeness / 2 + DOUBT_WEIGHT * (1.0 - p_text) / 2, dtype=np.float64)


def mean_shape(shapes: NDArray[np.int8], p_text: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean shape of a character, of unit length: over its confirmed glyphs, without the fifth of them that is least
    like their mean."""
    return _mean_shape(_unit(shapes.astype(np.float32)), p_text)


def _mean_shape(glyphs: NDArray[np.float32], p_text: NDArray[np.float64]) -> NDArray[np.float64]:
    confirmed = p_text >= MIN_CONFIRMED_POSTERIOR
    if MIN_CONFIRMED <= np.count_nonzero(confirmed) < len(glyphs):
        glyphs = glyphs[confirmed]
    mean = _unit(glyphs.mean(axis=0, keepdims=True))[0]
    cosines = glyphs @ mean
    usual = glyphs[cosines >= np.quantile(cosines, 1 - KEPT_SHARE)]
    return np.asarray(_unit(usual.mean(axis=0, keepdims=True))[0], np.float64)


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return np.asarray(vectors / np.maximum(lengths, 1e-6)[:, None])
