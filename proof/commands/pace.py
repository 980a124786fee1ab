"""The speed of a check, and the time that is left."""

from __future__ import annotations

from collections import deque

WINDOW_SECONDS = 30.0
"""Seconds over which the speed is measured, since pages from the store take hardly any time."""


class Pace:
    """Records finished pages; times are seconds of a monotonic clock."""

    def __init__(self, start: float) -> None:
        self._noted: deque[tuple[float, int]] = deque([(start, 0)])

    def note(self, now: float, done: int) -> None:
        """Record that `done` pages are finished at the time `now`."""
        self._noted.append((now, done))
        while len(self._noted) > 2 and self._noted[1][0] <= now - WINDOW_SECONDS:
            self._noted.popleft()

    @property
    def per_second(self) -> float | None:
        """Pages per second; None if no time has passed."""
        (since, before), (now, done) = self._noted[0], self._noted[-1]
        return (done - before) / (now - since) if now > since and done > before else None

    def left(self, total: int) -> float | None:
        """Seconds until `total` pages are finished; None if the speed is not known."""
        pace = self.per_second
        return (total - self._noted[-1][1]) / pace if pace else None


def clock(seconds: float) -> str:
    """A time as `1:05` or `2:00:00`."""
    whole = round(seconds)
    hours, minutes = whole // 3600, whole % 3600 // 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"
