"""What is kept in memory since it may be asked for again: as much of it as there is room for."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Bounded(Generic[K, V]):
    """What was used last, up to a size of all together; the last one stays however large it is. Any thread may ask."""

    def __init__(self, limit: int, size: Callable[[V], int] = lambda _: 1) -> None:
        self._limit, self._size = limit, size
        self._held: OrderedDict[K, V] = OrderedDict()
        self._total = 0
        self._lock = Lock()

    def get(self, key: K) -> V | None:
        """What was put under `key`, if it is still there."""
        with self._lock:
            if key not in self._held:
                return None
            self._held.move_to_end(key)
            return self._held[key]

    def put(self, key: K, value: V) -> V:
        """Keep `value` in place of what was under `key`; gives it back."""
        with self._lock:
            if key in self._held:
                self._total -= self._size(self._held.pop(key))
            self._held[key] = value
            self._total += self._size(value)
            while self._total > self._limit and len(self._held) > 1:
                _, gone = self._held.popitem(last=False)
                self._total -= self._size(gone)
        return value
