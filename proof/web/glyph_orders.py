"""The occurrences of a character ordered by how unusual their shapes are."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proof.quality.unlikeness import likeness_to, mean_shape, unlikeness
from proof.store import Store
from proof.store.cache import Bounded
from proof.store.glyphs import Occurrences

MAX_CACHED_OCCURRENCES = 200_000
"""Number of occurrences, of some 220 bytes each, whose order is cached: people page through them and return to them."""

MIN_OCCURRENCES = 3
"""With fewer occurrences, the mean shape of a character includes places whose flags suggest that character."""

Place = tuple[int, int, int]
"""A page, a line, and the offset in it."""


@dataclass(frozen=True, slots=True)
class OrderedOccurrences:
    """The occurrences of a character; the distance of each from the usual shape (`unlike`); their indices in descending
    order of that distance (`order`); and the tiles that were already cut, by place."""

    occurrences: Occurrences
    unlike: NDArray[np.float64]
    order: NDArray[np.intp]
    tiles: dict[Place, str | None] = field(default_factory=dict)
    cutting: Lock = field(default_factory=Lock)
    """Held while tiles are cut, so that concurrent requests share them."""


class GlyphOrders:
    """A cache of the orders of the occurrences of characters."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._ordering = Lock()
        self._order_cache = Bounded[tuple[Any, ...], OrderedOccurrences](
            MAX_CACHED_OCCURRENCES, lambda order: len(order.occurrences)
        )

    def of(self, work: str, text: str, against: str, part: int) -> OrderedOccurrences:
        """One `part` of the occurrences of the character `text`, ordered by their distance from its mean shape or from
        that of the character `against`, if there is one. Raises NoPlaceError."""
        key = (*self._store.glyphs.stamp(work), text, against, part)
        ordered = self._order_cache.get(key)
        if ordered is None:
            with self._ordering:  # concurrent requests compute an order once
                ordered = self._order_cache.get(key) or self._order_cache.put(
                    key, self._ordered(work, text, against, part)
                )
        return ordered

    def _ordered(self, work: str, text: str, against: str, part: int) -> OrderedOccurrences:
        occurrences = self._store.glyphs.of(work, text, part)
        shapes, posteriors = occurrences.glyphs["shape"], occurrences.glyphs["posterior"] / 255.0
        other = self._mean_shape(work, occurrences, text, against)
        unlike = unlikeness(shapes, posteriors) if other is None else likeness_to(other, shapes, posteriors)
        return OrderedOccurrences(occurrences, unlike, np.argsort(-unlike, kind="stable"))

    def _mean_shape(self, work: str, occurrences: Occurrences, text: str, against: str) -> NDArray[np.float64] | None:
        """The mean shape of the character `against`, from its occurrences; if there are fewer than `MIN_OCCURRENCES`,
        also from the occurrences of `text` that are flagged as `against`. None if there are none, or without
        `against`."""
        if not against:
            return None
        other = self._store.glyphs.of(work, against)
        if len(other) >= MIN_OCCURRENCES:
            return mean_shape(other.glyphs["shape"], other.glyphs["posterior"] / 255.0)
        flagged = self._store.glyphs.flagged(work, text, against)
        places = zip(
            occurrences.pages.tolist(),
            occurrences.glyphs["line"].tolist(),
            occurrences.glyphs["offset"].tolist(),
            strict=True,
        )
        is_flagged = np.array([place in flagged for place in places], dtype=bool)
        shapes = np.concatenate([other.glyphs["shape"], occurrences.glyphs["shape"][is_flagged]])
        return mean_shape(shapes, np.ones(len(shapes))) if len(shapes) else None
