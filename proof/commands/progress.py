"""The progress of a check on stderr: a bar on a terminal, elsewhere a line every so often."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from proof.checking.pipeline import Progress as Done
from proof.commands.pace import Pace, clock
from proof.locale.marking import _
from proof.locale.terminal import say

EVERY = 10.0
"""Seconds from one line to the next where there is no terminal."""


class CheckProgress:
    """Watches a check, in a `with` block around it. An interrupted one is told how far it came."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._console = Console(stderr=True, highlight=False, markup=False)
        self._bar: Progress | None = None
        if self._console.is_terminal and not quiet:
            columns = (TextColumn("{task.description}"), BarColumn(bar_width=None), TextColumn("{task.fields[told]}"))
            self._bar = Progress(*columns, console=self._console, transient=True, expand=True)
        self._task: TaskID | None = None
        self._quiet = quiet
        self._last: Done | None = None
        self._pace = Pace(time.monotonic())
        self._next = time.monotonic() + EVERY

    def __enter__(self) -> Self:
        if self._bar:
            self._task = self._bar.add_task(say(_("checking")), total=None, told="")
            self._bar.start()
        return self

    def __call__(self, done: Done) -> None:
        now = time.monotonic()
        first, self._last = self._last is None, done
        self._pace.note(now, done.seen)
        if self._bar and self._task is not None:
            step = say(_("checking") if done.done < done.total else _("writing the reports"))
            line = told(done, self._pace)
            # the first page is told at once, what follows ten times a second: few pages may be done by then
            self._bar.update(
                self._task, total=done.total, completed=done.done, description=step, told=line, refresh=first
            )
        elif not self._quiet and now >= self._next:
            click.echo(told(done, self._pace), err=True)
            self._next = now + EVERY

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._bar:
            self._bar.stop()
        if kind is KeyboardInterrupt:
            done, total = (self._last.done, self._last.total) if self._last else (0, 0)
            message = (
                _("stopped: %(done)s of %(total)s pages are done; the same command goes on from there")
                if done
                else _("stopped: no page was done; the same command begins anew")
            )
            click.echo(say(message, done=done, total=total), err=True)
        elif kind is None and self._last and not self._quiet:
            click.echo(told(self._last, self._pace), err=True)


def told(done: Done, pace: Pace) -> str:
    """The progress in words; the time left is counted from the pages that have an image."""
    parts = [say(_("%(done)s of %(total)s pages"), done=done.done, total=done.total)]
    if pace.per_second:
        parts.append(say(_("%(number)s pages/s"), number=f"{pace.per_second:.1f}"))
    left = pace.left(done.shown)
    if left is not None and done.done < done.total:
        parts.append(say(_("%(time)s left"), time=clock(left)))
    if done.reused:
        parts.append(say(_("%(number)s reused"), number=done.reused))
    return say(_(", ")).join(parts)
