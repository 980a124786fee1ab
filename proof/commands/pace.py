"""Measures the speed of a check, and estimates the remaining time."""

from __future__ import annotations

from collections import deque

WINDOW_SECONDS = 30.0
"""Length of time over which the speed is measured; pages from the store take almost no time."""


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
        """Pages per second; None if no time has passed or no page was finished."""
        (first_time, first_done), (last_time, last_done) = self._noted[0], self._noted[-1]
        if last_time <= first_time or last_done <= first_done:
            return None
        return (last_done - first_done) / (last_time - first_time)

    def left(self, total: int) -> float | None:
        """The estimated seconds until `total` pages are finished; None if the speed is unknown."""
        pace = self.per_second
        return (total - self._noted[-1][1]) / pace if pace else None


def clock(seconds: float) -> str:
    """A duration as `1:05` or `2:00:00`."""
    total_minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(total_minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
