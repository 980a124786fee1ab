#!/usr/bin/env python3
"""Let every call to the file system and the database fail once, and see what is left.

    bench_faults.py [--every 1] [--only decide] [--seconds 600]

A check, a decision, an export, a backup, a restoration and an update of the tables are each run many times on a copy of
one project: the first time to count their calls (opening, writing, syncing, renaming, linking and removing files; SQL
statements and commits), then once for every call with that call failing, and, with --lasting, all calls after it too,
as on a full disk. Afterwards the store must be sound and hold every decision that was acknowledged, its journal all
that it holds, and a file under its own name must be whole; run again without a fault, the command must leave what it
leaves where nothing ever failed. Prints a line a command; the exit status is 1 where something was broken.
"""

from __future__ import annotations

import argparse
import builtins
import errno
import io
import json
import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import click
from bench_pairs import FORKED, JOBS, copied, made, quietly, state_of
from sqlalchemy import Engine, event
from sqlalchemy.orm import Session

from proof.errors import ProofError
from proof.store import Store
from proof.store.backup import verify
from proof.store.journal import all_lines, identity, journal_of, read_journal

WRITES = frozenset("wax+")
CALLS = ("write", "fsync", "replace", "rename", "link", "unlink", "mkdir", "ftruncate")
COMMANDS = ("decide", "backup", "export", "migrate", "restore", "check")
WORKED = 0
TOLD = 2


class Faults:
    """Counts calls from the moment that it is set up, and lets the one of that number fail (0: none)."""

    def __init__(self, failing: int, *, lasting: bool, folder: Path) -> None:
        self.failing, self.lasting, self.folder, self.seen, self.places = failing, lasting, str(folder), 0, set[str]()

    def set_up(self) -> None:
        """Put the counting before the calls of this process."""
        for name in CALLS:
            setattr(os, name, self._before(getattr(os, name), name))
        opened = self._before(builtins.open, "open")
        plain = builtins.open

        def open_(file: Any, mode: str = "r", *rest: Any, **named: Any) -> Any:
            ours = str(file).startswith(self.folder) and WRITES & set(mode)
            return (opened if ours else plain)(file, mode, *rest, **named)

        builtins.open = io.open = open_  # type: ignore[assignment]
        event.listen(Engine, "before_cursor_execute", lambda *given: self._sql(str(given[2])))
        event.listen(Engine, "commit", lambda _: self._sql("COMMIT"))

    def _before(self, real: Callable[..., Any], name: str) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            if self._due(name):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(*arguments, **named)

        return call

    def _sql(self, statement: str) -> None:
        if self._due(statement.split(maxsplit=1)[0]):
            raise sqlite3.OperationalError("disk I/O error")

    def _due(self, name: str) -> bool:
        self.seen += 1
        self.places.add(name)
        return self.seen == self.failing or (self.lasting and 0 < self.failing < self.seen)


def run(job: str, folder: Path, failing: int, *, lasting: bool) -> tuple[int, int]:
    """Run a command in a process of its own with a fault; gives its exit status and how many calls it made."""
    process = FORKED.Process(target=_run, args=(job, folder, failing, lasting))
    process.start()
    process.join()
    said = folder / ".calls"
    calls = int(said.read_text()) if said.exists() else 0
    said.unlink(missing_ok=True)
    return process.exitcode or 0, calls


def _run(job: str, folder: Path, failing: int, lasting: bool) -> NoReturn:
    faults = Faults(failing, lasting=lasting, folder=folder)
    number, plain = os.open(folder / ".calls", os.O_CREAT | os.O_WRONLY), os.write
    status = WORKED
    try:
        faults.set_up()
        quietly(lambda: JOBS[job](folder))
    except (ProofError, SystemExit) as error:
        status = int(error.code or 0) if isinstance(error, SystemExit) else TOLD
    except BaseException as error:
        status = 3
        sys.stderr.write(f"{job}, call {failing}: {type(error).__name__}: {error}\n" if os.environ.get("TELL") else "")
    plain(number, str(faults.seen).encode())
    os._exit(status)


def wrong_after(folder: Path, before: set[Any], status: int, job: str, complete: Any) -> list[str]:
    """What is wrong with a project in which a command met a fault."""
    found = []
    if status not in (WORKED, 1, TOLD):
        found.append(f"ended with {status}, without a word of what to do")
    with Store.open(folder / "proof.sqlite") as store, Session(store.engine) as session:
        held = {identity(line) for line in all_lines(session)}
        found += store.faults()
    noted = {identity(line) for line in read_journal(journal_of(folder / "proof.sqlite")).lines}
    found += ["decisions of before are lost"] if before - held else []
    if job == "decide" and status == WORKED:
        added = {one for one in held if str(one[-1]).startswith("beside")}
        found += [] if added and added <= noted else ["an acknowledged decision is lost"]
    if (folder / "made.zip").exists():
        try:
            verify(folder / "made.zip")
        except ProofError as error:
            found.append(f"a backup that is not whole: {error}")
    if (folder / "restored" / "config.toml").exists():
        with Store.open(folder / "restored" / "proof.sqlite") as store:
            found += [f"restored: {fault}" for fault in store.faults()]
    for name in ("out/summary.json", "out/flags.jsonl", "exported/text.txt"):
        file = folder / name
        if file.exists() and name.endswith(".json"):
            json.loads(file.read_text(encoding="utf-8"))
        if file.exists() and name.startswith("exported") and file.read_text(encoding="utf-8") != complete["exported"]:
            found.append(f"{name} is not whole")
    if job in ("check", "migrate", "export"):
        run(job, folder, 0, lasting=False)
        state = state_of(folder)
        found += [f"{name} is otherwise when run again" for name in state if state[name] != complete[name]]
    return found


def tried(job: str, base: Path, every: int, seconds: float, *, lasting: bool) -> tuple[int, int, list[str]]:
    """How many calls a command makes, how many were made to fail, and what was wrong after any of them."""
    end, found, done = time.monotonic() + seconds, [], 0
    with copied(base) as folder, Store.open(folder / "proof.sqlite") as store, Session(store.engine) as session:
        before = {identity(line) for line in all_lines(session)}
    with copied(base) as folder:
        _, calls = run(job, folder, 0, lasting=False)
        complete = state_of(folder)
    for failing in range(1, calls + 1, every):
        if time.monotonic() > end:
            break
        with copied(base) as folder:
            status, _ = run(job, folder, failing, lasting=lasting)
            try:
                wrong = wrong_after(folder, before, status, job, complete)
            except (ProofError, ValueError) as error:
                wrong = [f"{type(error).__name__}: {error}"]
            found += [f"call {failing}: {one}" for one in wrong]
            done += 1
    return calls, done, found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, help="let each so-manieth call fail")
    parser.add_argument("--only", default="", choices=["", *COMMANDS])
    parser.add_argument("--seconds", type=float, default=3600, help="at most, for each command")
    given = parser.parse_args()
    broken = 0
    with tempfile.TemporaryDirectory() as scratch:
        base = made(Path(scratch), 2)
        for job in [given.only] if given.only else COMMANDS:
            for lasting in (False, True):
                calls, done, found = tried(job, base, given.every, given.seconds, lasting=lasting)
                broken += len(found)
                kind = "from there on" if lasting else "once"
                click.echo(f"{job}: {done} of {calls} calls made to fail {kind}, {len(found)} broken")
                for one in found:
                    click.echo(f"  {one}")
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
