"""A rate limiter in memory."""

from __future__ import annotations

import time
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import takewhile
from threading import Lock


@dataclass(slots=True)
class _Window:
    """The number of hits of a key since its first one; `end` is the time at which they are forgotten."""

    end: float
    hits: int = 0


class RateLimiter:
    """Counts the hits of each key in windows of `seconds`. A window begins with the first hit. Thread-safe."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._windows: dict[Hashable, _Window] = {}
        """The windows in the order of their ends."""
        self._lock = Lock()

    def hit(self, key: Hashable, limit: int) -> bool:
        """Count a hit. Returns False if the window already had `limit` hits; refused hits are counted, too."""
        with self._lock:
            window = self._current().setdefault(key, _Window(time.monotonic() + self._seconds))
            window.hits += 1
            return window.hits <= limit

    def take_out(self, key: Hashable) -> None:
        """Uncount a hit."""
        with self._lock:
            if window := self._current().get(key):
                window.hits = max(window.hits - 1, 0)

    def clear(self, key: Hashable) -> None:
        """Forget the hits of a key."""
        with self._lock:
            self._windows.pop(key, None)

    def seconds_left(self, key: Hashable) -> float:
        """Time until the window of a key ends, in seconds."""
        with self._lock:
            window = self._current().get(key)
            return window.end - time.monotonic() if window else 0.0

    def _current(self) -> dict[Hashable, _Window]:
        """The windows that have not ended; those that have are removed."""
        now = time.monotonic()
        for key, _ in list(takewhile(lambda entry: entry[1].end <= now, self._windows.items())):
            del self._windows[key]
        return self._windows
