#!/usr/bin/env python3
"""Run commands two at a time on one project, and see that each pair leaves what one after the other would have left.

    python -m tests.soak.pairs [--offsets 20] [--pages 3] [--only check-backup]

The project is the first half-folios of the sample, checked and decided on; then a page is taken out of its text, so
that a check has something to change. Each pair is run in processes of its own, the second begun at moments spread over
the time that the first takes alone. The state afterwards (pages, flags, decisions, page states, the journal, reports,
exported texts, what a backup and a restored folder hold) must be the one that some order of the two alone leaves.
Prints a line a pair; the exit status is 1 where one was broken.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any

import click
from sqlalchemy import select
from sqlalchemy.orm import Session

from proof.checking.recheck import Rechecker
from proof.cli import main as proof
from proof.layout.overrides import LayoutOverrideShape
from proof.settings.config import Settings
from proof.store import Store
from proof.store.backup import restore
from proof.store.decision_records import DecisionRequest, Verdict
from proof.store.journal import all_lines
from proof.store.models import FlagRow, PageRow
from proof.store.page_states import PageState
from proof.store.queue_records import Order, QueueFilter
from tests.caches import prepare_fork
from tests.web.served import DeskClient, serving_process

ROOT = Path(__file__).resolve().parents[2]
WORK, PROJECT = "text", "project"
HINT = LayoutOverrideShape(((100, 100), (900, 100), (900, 750), (100, 750)), (0.5,), (None, ((0.0, 0.4),)))
FORKED = multiprocessing.get_context("forkserver")
"""Processes are forked from one that does nothing else: whoever is forked from a process with threads has their locks,
and waits without end for one that a thread held."""

State = dict[str, Any]


def make(folder: Path, pages: int, workers: int = 2) -> None:
    """The project, checked and decided on, with a backup beside it."""
    prepare_fork()
    (folder / "images").mkdir(parents=True)
    for image in sorted((ROOT / "pages").glob("WYG*.png"))[:pages]:
        shutil.copy(image, folder / "images")
    config = f'[project]\ntexts = ["text.txt"]\nimages = ["images"]\nout = "out"\n[engine]\nworkers = {workers}\n'
    (folder / "config.toml").write_text(config, encoding="utf-8")
    write_text(folder, pages)
    quietly(lambda: proof(["check", "-q", "--config", str(folder)]))
    decide(folder, "before", 1)
    quietly(lambda: proof(["backup", str(folder / "saved.zip"), "--config", str(folder)]))
    with Store.open(folder / "proof.sqlite") as store:
        numbers, _ = store.queue.find(WORK, QueueFilter(first_page=2, last_page=2), Order.PAGE)
        flags = [(flag.number, flag.version) for flag in store.queue.flags(WORK, numbers)]
        (folder / FLAGS).write_text(json.dumps(flags), encoding="utf-8")
    write_text(folder, pages - 1)


def made(scratch: Path, pages: int, workers: int = 2) -> Path:
    """The project, made at the place where copies of it are worked on, and laid aside."""
    # the recogniser's threads end with it
    making = FORKED.Process(target=make, args=(scratch / PROJECT, pages, workers))
    making.start()
    making.join()
    if making.exitcode:
        raise SystemExit(making.exitcode)
    return (scratch / PROJECT).rename(scratch / "base")


def write_text(folder: Path, pages: int) -> None:
    """The text with so many pages."""
    head, *marked = re.split(r"(?m)^(?=卷十 第)", (ROOT / "pages" / "dasheyi.txt").read_text(encoding="utf-8"))
    (folder / "text.txt").write_text(head + "".join(marked[:pages]), encoding="utf-8")


def decide(folder: Path, name: str, page: int) -> None:
    """Decide the flags of a page together, and say that it is proofread."""
    with Store.open(folder / "proof.sqlite") as store:
        numbers, _ = store.queue.find(WORK, QueueFilter(first_page=page, last_page=page), Order.PAGE)
        flags = [(flag.number, flag.version) for flag in store.queue.flags(WORK, numbers)]
        asked = [DecisionRequest(WORK, flag, Verdict.TAKE, seen, "甲", f"{name}-{flag:05}") for flag, seen in flags]
        store.decisions.decide_all(asked)
        store.page_states.set(WORK, page, PageState.PROOFREAD, 0, "甲", f"{name}-page-{page:03}")


def served(folder: Path) -> None:
    """A server is begun, somebody decides the flags of a page together and says that it is proofread, the server is
    stopped. Which of both was acknowledged is noted beside the store."""
    flags = json.loads((folder / FLAGS).read_text(encoding="utf-8"))
    asked = [
        {"flag": flag, "version": version, "verdict": "take", "key": f"beside-{flag:05}"} for flag, version in flags
    ]
    requests = {
        "decisions": {"decisions": asked, "batch": "beside-batch"},
        "pages/2/states": {"state": "proofread", "version": 0, "key": "beside-page-002"},
    }
    with serving_process(folder) as (_, address):
        desk = DeskClient(address)
        answers = [desk.post(f"/api/v1/works/{WORK}/{path}", json=body) for path, body in requests.items()]
        acknowledged = [answer.is_success for answer in answers]
        (folder / ACKNOWLEDGED).write_text(json.dumps(acknowledged), encoding="utf-8")


def reread(folder: Path) -> None:
    """Say how a page is to be read, and have it read so."""
    settings = Settings.load(folder)
    with Store.open(settings.store_address) as store:
        store.layout_overrides.set(WORK, 1, HINT, "", "", version=0, person="甲", key="layout-0001")
        Rechecker(settings, store).read(WORK, 1)


def run(*arguments: str) -> Callable[[Path], None]:
    """A command of the program on a project."""

    def job(folder: Path) -> None:
        with chdir(folder):
            status = proof(list(arguments))
        if status not in (0, 1):
            raise SystemExit(status)

    return job


JOBS: dict[str, Callable[[Path], None]] = {
    "check": run("check", "-q"),
    "restore": run("restore", "saved.zip", "restored"),
    "decide": lambda folder: decide(folder, "beside", 2),
    "reread": reread,
    "export": run("export", "text.txt", "--out", "exported"),
    "backup": run("backup", "made.zip"),
    "report": run("report", "-q", "--out", "reported"),
    "recover": run("recover"),
    "serve": served,
}
PAIRS = [
    *(("check", other) for other in ("check", "restore", "decide", "reread", "export", "backup", "report")),
    *(("decide", other) for other in ("export", "backup", "recover", "report", "reread")),
    ("restore", "restore"),
    ("backup", "backup"),
    *(("serve", other) for other in ("serve", "check", "restore", "export", "backup", "recover")),
]
EITHER_FAILS = {("restore", "restore"), ("backup", "backup")}
"""The second of two finds what the first made, and says so."""
FLAGS, ACKNOWLEDGED = "flags.json", "acknowledged.json"
"""What is decided at a server, and what of it was acknowledged."""


def state_of(folder: Path) -> State:
    """What a project holds, without numbers of rows, times and what the order of two alone decides."""
    state: dict[str, Any] = {
        "store": _store(folder / "proof.sqlite"),
        "text": (folder / "text.txt").read_text(encoding="utf-8"),
    }
    summary, flags = folder / "out" / "summary.json", folder / "out" / "flags.jsonl"
    state["pages"] = json.loads(summary.read_text(encoding="utf-8"))["pages"]
    state["flags"] = flags.read_text(encoding="utf-8")
    exported = folder / "exported" / "text.txt"
    state["exported"] = exported.read_text(encoding="utf-8") if exported.exists() else None
    if (folder / "restored").exists():
        state["restored"] = _store(folder / "restored" / "proof.sqlite")
    if (folder / "made.zip").exists():
        with tempfile.TemporaryDirectory() as scratch:
            restore(folder / "made.zip", Path(scratch) / "b")
            acts = _store(Path(scratch) / "b" / "proof.sqlite")["acts"]
            state["backup"] = [act for act in acts if act[0] == "decision"]  # these are decided together
    left = [path.name for path in folder.rglob("*") if path.name.endswith(".part") or path.name == ".proof-restoring"]
    return state | {"left": left}


def _store(path: Path) -> State:
    with Store.open(path) as store, Session(store.engine) as session:
        last = store.latest_run(WORK)
        pages = session.execute(select(PageRow).order_by(PageRow.page, PageRow.repeat)).scalars()
        return {
            "pages": [
                (p.page, p.repeat, p.absent, p.status, p.position, p.run_id == (last.id if last else 0), p.key)
                for p in pages
            ],
            "flags": sorted(
                (f.uid, f.stale, f.state, f.reading, f.version, f.score) for f in session.scalars(select(FlagRow))
            ),
            "acts": sorted(
                (line["act"], line.get("page", ""), "" if line["act"] == "rule" else line["key"])
                for line in all_lines(session)
            ),
            "finished": last is not None and last.finished is not None,
            "faults": store.faults(),
        }


def expected(base: Path, first: str, second: str) -> list[State]:
    """The states that the two orders of a pair leave."""
    orders: list[tuple[str, ...]] = [(first, second), (second, first)]
    states = []
    for jobs in orders:
        with copied(base) as folder:
            for job in jobs:
                begin(job, folder).join()
            states.append(state_of(folder) | {"lost": []})
    return states


def lost(folder: Path) -> list[str]:
    """What a server acknowledged and the store does not hold."""
    acknowledged = folder / ACKNOWLEDGED
    if not acknowledged.exists():
        return []
    decided, proofread = json.loads(acknowledged.read_text(encoding="utf-8"))
    flags = json.loads((folder / FLAGS).read_text(encoding="utf-8"))
    keys = [f"beside-{flag:05}" for flag, _ in flags if decided] + ["beside-page-002"] * proofread
    with Store.open(folder / "proof.sqlite") as store, Session(store.engine) as session:
        held = {line["key"] for line in all_lines(session)}
    return [key for key in keys if key not in held]


def at_once(base: Path, first: str, second: str, offset: float) -> tuple[State, list[int | None]]:
    """The state that the two leave, the second begun so many seconds after the first; and their exit statuses."""
    with copied(base) as folder:
        earlier = begin(first, folder)
        time.sleep(offset)
        later = begin(second, folder)
        for process in (earlier, later):
            process.join()
        return state_of(folder) | {"lost": lost(folder)}, [earlier.exitcode, later.exitcode]


def broken(pair: tuple[str, str], base: Path, offsets: int) -> Iterator[str]:
    """What a pair leaves that neither order does, each with its offset."""
    wanted = expected(base, *pair)
    with copied(base) as folder:
        began = time.monotonic()
        begin(pair[0], folder).join()
        alone = time.monotonic() - began
    statuses_wanted = [0, 2] if pair in EITHER_FAILS else [0, 0]
    for n in range(offsets):
        offset = alone * n / offsets
        state, statuses = at_once(base, *pair, offset)
        ended = sorted(int(status or 0) for status in statuses)
        if ended != statuses_wanted:
            yield f"after {offset:.2f} s: exit statuses {statuses}"
        if state not in wanted:
            differs = [name for name in state if all(state[name] != outcome.get(name) for outcome in wanted)]
            yield f"after {offset:.2f} s: {', '.join(differs) or 'a mixture of both orders'}"


def begin(job: str, folder: Path) -> Any:
    """A job in a process of its own."""
    process = FORKED.Process(target=_do, args=(job, folder))
    process.start()
    return process


def _do(job: str, folder: Path) -> None:
    quietly(lambda: JOBS[job](folder))


def load_once(*modules: str) -> None:
    """Have this script and what its processes need loaded once, by the process that they are forked from."""
    path = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, path))
    FORKED.set_forkserver_preload(["__main__", *modules])


def quietly(job: Callable[[], object]) -> None:
    """A job without what it prints."""
    with Path(os.devnull).open("w") as nowhere:
        sys.stdout = nowhere
        sys.stderr = sys.stderr if os.environ.get("TELL") else nowhere
        try:
            job()
        finally:
            sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__


@contextmanager
def copied(base: Path) -> Iterator[Path]:
    """A copy of the project to work on, always at the place where the store knows its texts to lie: pages of a work
    are in the order of the paths of their texts, and those of a text that lies elsewhere would stay beside it."""
    folder = base.parent / PROJECT
    try:
        yield Path(shutil.copytree(base, folder))
    finally:
        shutil.rmtree(folder)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--offsets", type=int, default=20)
    parser.add_argument("--pages", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2, help="of a check")
    parser.add_argument("--only", default="", help="pairs, such as check-backup,serve-check")
    given = parser.parse_args()
    wrong = 0
    load_once("alembic.command", "alembic.script")
    with tempfile.TemporaryDirectory() as scratch:
        base = made(Path(scratch), given.pages, given.workers)
        for pair in PAIRS:
            if not given.only or "-".join(pair) in given.only.split(","):
                failures = list(broken(pair, base, given.offsets))
                wrong += len(failures)
                click.echo(f"{' beside '.join(pair)}: {given.offsets} offsets, {len(failures)} broken")
                for failure in failures:
                    click.echo(f"  {failure}")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
