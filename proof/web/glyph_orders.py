"""The occurrences of a character in the order in which they are looked at."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proof.quality.unlikeness import middle_of, unlikeness
from proof.store import Store
from proof.store.glyphs import Occurrences

KEPT = 6
"""Characters whose order is remembered: who pages through one asks for it again and again."""

Ordered = tuple[Occurrences, NDArray[np.float64], NDArray[np.intp]]


class GlyphOrders:
    """The occurrences of the characters asked for last, ordered."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = Lock()
        self._kept: OrderedDict[tuple[Any, ...], Ordered] = OrderedDict()

    def of(self, work: str, text: str, against: str, part: int) -> Ordered:
        """The occurrences, how unlike each is, and their numbers, the least alike first. Raises MissingError."""
        key = (*self._store.glyphs.stamp(work), text, against, part)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        found = self._store.glyphs.of(work, text, part)
        unlike = unlikeness(found.glyphs["shape"], found.glyphs["p"] / 255.0, self._middle(work, against))
        kept = (found, unlike, np.argsort(-unlike, kind="stable"))
        with self._lock:
            self._kept[key] = kept
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return kept

    def _middle(self, work: str, text: str) -> NDArray[np.float64] | None:
        found = self._store.glyphs.of(work, text) if text else None
        return middle_of(found.glyphs["shape"], found.glyphs["p"] / 255.0) if found is not None and len(found) else None
