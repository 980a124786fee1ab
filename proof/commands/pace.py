"""How fast pages go by, and how long the rest will take."""

from __future__ import annotations

from collections import deque

WINDOW = 30.0
"""Seconds that the pace is taken over: pages out of the store go by in no time and tell nothing of the rest."""


class Pace:
    """Takes note of pages as they are done; times are seconds of one clock, rising."""

    def __init__(self, start: float) -> None:
        self._noted: deque[tuple[float, int]] = deque([(start, 0)])

    def note(self, now: float, done: int) -> None:
        """`done` pages are done at the time `now`."""
        self._noted.append((now, done))
        while len(self._noted) > 2 and self._noted[1][0] <= now - WINDOW:
            self._noted.popleft()

    @property
    def per_second(self) -> float | None:
        """Pages a second; None where no time has passed."""
        (since, before), (now, done) = self._noted[0], self._noted[-1]
        return (done - before) / (now - since) if now > since and done > before else None

    def left(self, total: int) -> float | None:
        """Seconds until `total` pages are done; None where no pace is known."""
        pace = self.per_second
        return (total - self._noted[-1][1]) / pace if pace else None


def clock(seconds: float) -> str:
    """A time as `1:05` or `2:00:00`."""
    whole = round(seconds)
    hours, minutes = whole // 3600, whole % 3600 // 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"
