#!/usr/bin/env python3
"""Let every call to the file system and the database fail once, and check what is left.

    python -m tests.soak.faults [--only decide,check] [--ways once,torn] [--every 1]

Commands and acts of people are each run many times on a copy of one project, in a forked process: the first time to
count their calls (`failing_calls`), then once for every call with that call failing. Afterwards
- the store is sound, and has every earlier decision and every acknowledged one,
- so has its journal, except for decisions that were not acknowledged,
- every file is whole: as it was before, or as it is without a failure,
- the command has succeeded or has printed a message, and no traceback,
- a second run without failures, with the same keys, leaves what a run without any failure leaves.
Prints a line for each command and way of failing; the exit status is 1 if a check failed.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import json
import os
import pkgutil
import re
import shutil
import sys
import tempfile
import traceback
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import click
from sqlalchemy.orm import Session

import proof
from proof.errors import ProofError
from proof.exports.files import form_names
from proof.store import Store
from proof.store.accounts import Role
from proof.store.backup import verify
from proof.store.decision_records import DecisionRequest, Verdict
from proof.store.journal import all_lines, identity, journal_of, read_journal, standing_lines
from proof.store.manual_corrections import ManualCorrection
from proof.store.page_states import PageState
from proof.store.queue_records import Order, QueueFilter
from tests.soak.failing_calls import Calls, Way
from tests.soak.pairs import (
    FORKED,
    HINT,
    JOBS,
    WORK,
    State,
    copied,
    load_once,
    made,
    quietly,
    run,
    state_of,
    write_text,
)

WORKED, SAID, UNSAID, KILLED = 0, 2, 3, -9
ACKNOWLEDGED = ".acknowledged"
UNNAMED = re.compile(r"\.(lock|part|sqlite|sqlite-(wal|shm)|jsonl\.lock)$|^\.|as-of|\.zip$")
"""Files that are not told by their bytes: those at work, and those that are looked into instead."""
VARYING = re.compile(
    rb"\d{4}-\d\d-\d\d(T[\d:.+Z]*| \d\d:\d\d(:\d\d)?)?|\d+(\.\d+)? s\b"
    rb"|\"(pages_per_second|seconds_of_pages|seconds)\": [\d.]+|\bt\d{9,}\b"
)
"""Times, in what is written."""

Job = Callable[[Path], None]


def acts(folder: Path) -> None:
    """What a person does at the desk, each under a key of its own, acknowledged as soon as it returns."""
    with Store.open(folder / "proof.sqlite") as store:
        numbers, _ = store.queue.find(WORK, QueueFilter(first_page=2, last_page=2), Order.PAGE)
        taken = DecisionRequest(WORK, min(numbers), Verdict.TAKE, 0, "甲", "act-taken-1")
        store.decisions.decide(taken)
        acknowledge(folder, "act-taken-1")
        store.manual_corrections.correct(ManualCorrection(WORK, 2, 3, 1, 1, "某", "甲", "act-by-hand"))
        acknowledge(folder, "act-by-hand")
        store.page_states.set(WORK, 2, PageState.PROOFREAD, 0, "甲", "act-page-1")
        acknowledge(folder, "act-page-1")
        store.acts.undo(WORK, "甲", "act-undo-1")
        acknowledge(folder, "act-undo-1")
        store.acts.redo(WORK, "甲", "act-redo-1")
        acknowledge(folder, "act-redo-1")
        store.layout_overrides.set(WORK, 1, HINT, "", "", version=0, person="甲", key="act-layout")
        acknowledge(folder, "act-layout")
        store.rules.set(WORK, "告", "吿", True, "甲")


def people(folder: Path) -> None:
    """Accounts are made and changed; where one is there, it was made before."""
    with Store.open(folder / "proof.sqlite") as store:
        store.accounts.hasher = type(store.accounts.hasher)(time_cost=1, memory_cost=64, parallelism=1)
        there = {account.name for account in store.accounts.everybody()}
        for name, role in (("甲", Role.ADMINISTRATOR), ("乙", Role.READER)):
            if name not in there:
                store.accounts.add(name, role, "四庫 full of 書")
        store.accounts.set_role(store.accounts.named("乙").number, Role.PROOFREADER)
        store.accounts.set_disabled(store.accounts.named("乙").number, True)


def decided(folder: Path) -> None:
    """The flags of a page are decided together, as they stood before anybody did."""
    with Store.open(folder / "proof.sqlite") as store:
        numbers, _ = store.queue.find(WORK, QueueFilter(first_page=2, last_page=2), Order.PAGE)
        asked = [DecisionRequest(WORK, flag, Verdict.KEEP, 0, "甲", f"together-{flag:05}") for flag in numbers]
        store.decisions.decide_all(asked)
        for call in asked:
            acknowledge(folder, call.key)


def acknowledge(folder: Path, key: str) -> None:
    """Note that somebody was told that an act is kept: outside of what fails."""
    with PLAIN_OPEN(folder / ACKNOWLEDGED, "a", encoding="utf-8") as file:
        file.write(f"{key}\n")


PLAIN_OPEN = open
EXPORT = ("export", "text.txt", "--out", "exported")
FAULTY: dict[str, Job] = {
    "decide": decided,
    "acts": acts,
    "people": people,
    "check": JOBS["check"],
    "first-check": JOBS["check"],
    "check-back": JOBS["check"],
    "reread": JOBS["reread"],
    "export": JOBS["export"],
    "export-all": run(
        *EXPORT, "--base", "https://iiif.example/", *(word for form in form_names() for word in ("--form", form))
    ),
    "export-in-place": run(*EXPORT, "--in-place"),
    "report": JOBS["report"],
    "backup": JOBS["backup"],
    "backup-cache": run("backup", "made.zip", "--with-cache"),
    "verify": run("backup", "--verify", "saved.zip"),
    "restore": JOBS["restore"],
    "restore-store": run("restore", "saved.zip", "restored", "--store", "sqlite:///other.sqlite"),
    "recover": JOBS["recover"],
}


def prepared(job: str, folder: Path) -> None:
    """What a project must be like before a command is tried."""
    if job == "check-back":  # a page of which a run before this one knew comes back into the text
        quietly(lambda: JOBS["check"](folder))
        write_text(folder, 2)
        return None
    if job in ("first-check", "recover"):
        for file in (*folder.glob("proof.sqlite*"), *folder.glob(".proof.sqlite*")):
            file.unlink()
    if job == "recover":
        quietly(lambda: JOBS["check"](folder))
    else:
        Store.open(folder / "proof.sqlite").close()
    return None


@dataclass(frozen=True)
class Outcome:
    """How a command in a process of its own ended, what it called, and on which lines of the program."""

    status: int
    calls: int
    lines: frozenset[str]


def begun(job: str, folder: Path, failing: int = 0, way: Way = Way.ONCE) -> Outcome:
    """Run a command in a forked process, with a fault."""
    output = folder.parent / "calls.txt"
    process = FORKED.Process(target=_run, args=(job, folder, output, Calls(folder, failing, way)))
    process.start()
    process.join()
    lines = output.read_text(encoding="utf-8").splitlines() if output.exists() else ["0"]
    output.unlink(missing_ok=True)
    return Outcome(process.exitcode or 0, int(lines[0]), frozenset(lines[1:]))


def _run(job: str, folder: Path, output: Path, calls: Calls) -> NoReturn:
    status, message = WORKED, ""
    try:
        os.chdir(folder)
        calls.set_up()
        quietly(lambda: FAULTY[job](folder))
    except (ProofError, SystemExit) as error:
        status = int(error.code or 0) if isinstance(error, SystemExit) else SAID
        message = repr(error)
    except BaseException as error:
        status, message = UNSAID, "".join(traceback.format_exception(error))
    if status and os.environ.get("TELL"):
        sys.stderr.write(f"{job}, call {calls.failing} {calls.way}: {message}\n")
    with PLAIN_OPEN(output, "w", encoding="utf-8") as file:
        file.write("\n".join([str(calls.seen), *calls.lines]))
    os._exit(status)


def files_of(folder: Path) -> dict[str, bytes]:
    """The files of a project by their names, without times, and without those that are at work."""
    files = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not UNNAMED.search(path.name) and ".proof-restoring" not in name:
            files[name] = VARYING.sub(b"", path.read_bytes())
    return files


@dataclass
class Trial:
    """A command on one project: what was there before it, and what it leaves where nothing fails."""

    job: str
    base: Path
    held: set[str] = field(init=False)
    before: dict[str, bytes] = field(init=False)
    complete: State = field(init=False)
    files: dict[str, bytes] = field(init=False)
    calls: Outcome = field(init=False)

    def __post_init__(self) -> None:
        with copied(self.base) as folder:
            self.before = files_of(folder)
            journal = read_journal(journal_of(folder / "proof.sqlite")).lines
            self.held = {identity(line) for line in journal} if self.job in ("first-check", "recover") else set()
            with Store.open(folder / "proof.sqlite") as store, Session(store.engine) as session:
                self.held |= {identity(line) for line in all_lines(session)}
        with copied(self.base) as folder:
            self.calls = begun(self.job, folder)
            if self.calls.status not in (WORKED, 1) or not self.calls.calls:
                raise SystemExit(f"{self.job} does not work where no call fails; with TELL=1 it says why")
            self.files, self.complete = files_of(folder), state_of(folder)

    def wrong(self, failing: int, way: Way) -> list[str]:
        """What is wrong after the call of that number failed."""
        with copied(self.base) as folder:
            outcome = begun(self.job, folder, failing, way)
            failures = [] if outcome.status in (WORKED, 1, SAID, KILLED) else ["ended without a word of what to do"]
            try:
                failures += [*self.lost(folder), *self.halves(folder, killed=way is Way.KILLED)]
                failures += self.again(folder)
            except (ProofError, ValueError, OSError) as error:
                failures.append(f"{type(error).__name__}: {error}")
            return failures

    def lost(self, folder: Path) -> Iterator[str]:
        """What was decided and is not there any more."""
        keys = folder / ACKNOWLEDGED
        acknowledged = set(keys.read_text(encoding="utf-8").split()) if keys.exists() else set()
        # as it lies there: whoever opens it otherwise has its journal completed
        with Store.open(folder / "proof.sqlite", complete=False) as store, Session(store.engine) as session:
            lines = list(all_lines(session))
            yield from (fault for fault in store.faults() if "journal" not in fault)
        journal = standing_lines(read_journal(journal_of(folder / "proof.sqlite")).lines)
        for where, there in (("the store", lines), ("the journal", journal)):
            here = {identity(line) for line in there}
            if where == "the journal" or self.job not in ("first-check", "recover"):
                yield from [f"decisions of before are lost in {where}"] if self.held - here else []
            missing = acknowledged - {str(line["key"]) for line in there}
            yield from [f"acknowledged and not in {where}: {missing}"] if missing else []

    def halves(self, folder: Path, *, killed: bool) -> Iterator[str]:
        """Files that are neither as they were nor as they are where nothing fails."""
        for name, data in files_of(folder).items():
            if name.endswith(".decisions.jsonl") or data in (self.before.get(name), self.files.get(name)):
                continue
            if name.startswith(".proof-"):  # in a folder named as unfinished, which nobody takes for whole
                continue
            if name.startswith("out/") and is_whole_report(folder / name):  # of a check in which a page failed
                continue
            if name.startswith("exported/") and is_whole_export(folder / name):
                continue
            yield f"{name} is not whole ({len(data)} bytes)"
        if (folder / "made.zip").exists():
            verify(folder / "made.zip")
        for copy in folder.glob("*.as-of-*"):
            with Store.open(copy) as store:
                yield from (fault for fault in store.faults() if "journal" not in fault)
        if (folder / "restored" / "config.toml").exists() and self.job == "restore":
            with Store.open(folder / "restored" / "proof.sqlite") as store:
                yield from (f"restored: {fault}" for fault in store.faults())
        left = [path.name for path in folder.rglob("*") if path.name.endswith(".part")]
        yield from [f"left behind: {left}"] if left and not killed else []

    def again(self, folder: Path) -> Iterator[str]:
        """What is otherwise once the command was run again and nothing failed."""
        (folder / "made.zip").unlink(missing_ok=True)
        (folder / "other.sqlite").unlink(missing_ok=True)
        shutil.rmtree(folder / "restored", ignore_errors=True)
        for part in (*folder.rglob("*.part"), *folder.glob(".proof-*")):
            shutil.rmtree(part) if part.is_dir() else part.unlink()
        if begun(self.job, folder).status not in (WORKED, 1):
            yield "cannot be run again"
        state = state_of(folder)
        yield from (f"{name} is otherwise when run again" for name in state if state[name] != self.complete[name])


def is_whole_report(file: Path) -> bool:
    """Whether a report can be read to its end."""
    text = file.read_text(encoding="utf-8-sig")
    match file.suffix:
        case ".html":
            return text.rstrip().endswith("</html>")
        case ".json":
            return bool(json.loads(text)["pages"])
        case ".jsonl":
            return all("id" in json.loads(line) for line in text.splitlines()) and (not text or text.endswith("\n"))
    rows = list(csv.reader(io.StringIO(text)))
    return text.endswith("\n") and "page" in rows[0] and len({len(row) for row in rows}) == 1


def is_whole_export(file: Path) -> bool:
    """Whether an exported file is whole of those that are otherwise each time, with the moment in them."""
    if file.suffix == ".docx":
        return zipfile.is_zipfile(file) and zipfile.ZipFile(file).testzip() is None
    if file.suffix == ".pdf":
        return file.read_bytes().rstrip().endswith(b"%%EOF")
    if file.name not in ("manifest-sha256.txt", "tagmanifest-sha256.txt"):
        return False
    listed = (line.split(maxsplit=1) for line in file.read_text(encoding="utf-8").splitlines())
    return all(hashlib.sha256((file.parent / name).read_bytes()).hexdigest() == digest for digest, name in listed)


def tried(job: str, base: Path, ways: list[Way], every: int) -> Iterator[tuple[Way, Outcome, int, list[str]]]:
    """For each way of failing: what a command calls, how many calls were made to fail, what was wrong after any."""
    folder = base.parent / f"base-{job}"
    with copied(base) as made_ready:
        prepared(job, made_ready)
        shutil.copytree(made_ready, folder)
    trial = Trial(job, folder)
    for way in ways:
        # every call alone; of those that fail otherwise a share, unlike from one way to the next
        numbers = range(1 + ways.index(way) % every, trial.calls.calls + 1, every)
        failures = [f"call {number}: {failure}" for number in numbers for failure in trial.wrong(number, way)]
        yield way, trial.calls, len(numbers), failures
    shutil.rmtree(folder)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, help="let each so-manieth call fail")
    parser.add_argument("--only", default=",".join(FAULTY), help="commands, with commas between")
    parser.add_argument("--ways", default=Way.ONCE.value, help="of " + ", ".join(Way))
    given = parser.parse_args()
    broken, places, trials, lines = 0, 0, 0, set[str]()
    load_once(*_modules(proof), "alembic.command", "alembic.script")
    with tempfile.TemporaryDirectory(dir=_memory()) as scratch:
        base = made(Path(scratch), 2, workers=1)
        for job in given.only.split(","):
            for way, calls, done, failures in tried(
                job, base, [Way(part) for part in given.ways.split(",")], given.every
            ):
                broken, trials, lines = broken + len(failures), trials + done, lines | calls.lines
                places += done if way is Way.ONCE else 0
                click.echo(f"{job}: {done} of {calls.calls} calls made to fail, {way}: {len(failures)} broken")
                for failure in failures:
                    click.echo(f"  {failure}")
    click.echo(f"{trials} trials, {places} calls alone, on {len(lines)} lines of the program; {broken} broken")
    return 1 if broken else 0


def _modules(package: ModuleType) -> Iterator[str]:
    """All modules of a package but the recognisers: these begin threads, which no fork takes along."""
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if (
            not module.name.startswith("proof.ocr.p")
            and "migrations" not in module.name
            and "__main__" not in module.name
        ):
            yield module.name


def _memory() -> Path | None:
    """Where files lie in memory: nothing is ever asked of the disk there, and much of the time would go to that."""
    place = Path("/dev/shm")  # noqa: S108
    return place if place.is_dir() else None


if __name__ == "__main__":
    raise SystemExit(main())
