"""Shows progress on stderr: on a terminal in one line that is rewritten, elsewhere in a new line at intervals. The
remaining time is estimated from the speed."""

from __future__ import annotations

import sys
import time
from collections import deque
from types import TracebackType
from typing import Self

import click

from proof.checking.pipeline import Progress
from proof.commands.cells import start_of, terminal_width
from proof.locale.marking import _
from proof.locale.terminal import say

SECONDS_ON_TERMINAL = 0.1
SECONDS_ELSEWHERE = 10.0
"""Interval between two lines of progress, on a terminal and elsewhere."""
CLEAR_LINE = "\r\x1b[K"
WINDOW_SECONDS = 30.0
"""Length of time over which the speed is measured; pages from the store take almost no time."""


class ProgressLine:
    """Shows progress at intervals; on a terminal the first time immediately."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._is_terminal = sys.stderr.isatty()
        self._next = time.monotonic() + (0 if self._is_terminal else SECONDS_ELSEWHERE)

    def show(self, line: str) -> None:
        """Show a line, unless the interval has not passed yet."""
        now = time.monotonic()
        if self._quiet or now < self._next:
            return
        if self._is_terminal:
            click.echo(CLEAR_LINE + start_of(line, terminal_width() - 1), nl=False, err=True)
        else:
            click.echo(line, err=True)
        self._next = now + (SECONDS_ON_TERMINAL if self._is_terminal else SECONDS_ELSEWHERE)

    def clear(self) -> None:
        """Remove the line from the terminal."""
        if self._is_terminal and not self._quiet:
            click.echo(CLEAR_LINE, nl=False, err=True)


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


class CheckProgress:
    """Shows the progress of a check within its `with` block, and the progress of an interrupted check at its end."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._line = ProgressLine(quiet=quiet)
        self._quiet = quiet
        self._last: Progress | None = None
        self._pace = Pace(time.monotonic())

    def __enter__(self) -> Self:
        self._line.show(say(_("checking")))
        return self

    def __call__(self, progress: Progress) -> None:
        if progress.second:
            self._line.show(second_in_words(progress))
            return
        self._last = progress
        self._pace.note(time.monotonic(), progress.with_image_done)
        all_done = progress.done >= progress.total
        self._line.show(say(_("writing the reports")) if all_done else in_words(progress, self._pace))

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._line.clear()
        if kind is KeyboardInterrupt:
            done, total = (self._last.done, self._last.total) if self._last else (0, 0)
            message = (
                _("stopped: %(done)s of %(total)s pages are done; the same command continues from there")
                if done
                else _("stopped: no page was done; the same command starts again")
            )
            click.echo(say(message, done=done, total=total), err=True)
        elif kind is None and self._last and not self._quiet:
            click.echo(in_words(self._last, self._pace), err=True)


def second_in_words(progress: Progress) -> str:
    """The progress of the second engine in words."""
    values = {"engine": progress.second, "done": progress.done, "total": progress.total}
    return say(_("%(engine)s, the second engine: %(done)s of %(total)s pages with flags"), **values)


def in_words(progress: Progress, pace: Pace) -> str:
    """The progress in words; the remaining time is estimated from the pages with an image."""
    parts = [say(_("%(done)s of %(total)s pages"), done=progress.done, total=progress.total)]
    if pace.per_second:
        parts.append(say(_("%(number)s pages/s"), number=f"{pace.per_second:.1f}"))
    left = pace.left(progress.with_image)
    if left is not None and progress.done < progress.total:
        parts.append(say(_("%(time)s left"), time=clock(left)))
    if progress.reused:
        parts.append(say(_("%(number)s reused"), number=progress.reused))
    return say(_(", ")).join(parts)
