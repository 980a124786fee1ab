"""Measure the store of a large work, and print one table.

    python -m scripts.bench store [--pages 27164] [--flags 11] [--people 30] [--seconds 30]

A store is filled with what a check leaves of so many pages (one drawn image serves all of them), with its text beside
it. Then: opening it, the queue and the counts as the server of the desk answers them, writing decisions into the text
(`proof export`), and `proof backup`, alone and while people decide once a second each. Figures are seconds by the
clock; the load of the machine is told with them.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from proof.store import Store
from scripts.bench.material import ROOT, TableRow
from scripts.bench.web import Browser, fill, lost, p95, queries, thirty
from tests.web.drawn import LINES
from tests.web.served import serving_process

DECIDED = 1000
"""Decisions that are there when the text is exported."""


def timed(what: Callable[[], object]) -> float:
    began = time.perf_counter()
    what()
    return time.perf_counter() - began


def write_text(folder: Path, pages: int) -> Path:
    """The text that the store was filled as the check of."""
    path = folder / "text.txt"
    with path.open("w", encoding="utf-8") as text:
        for number in range(pages):
            text.write(f"<pb:KR1d0030_WYG_{number // 100:03d}-{number % 100}a>¶\n")
            text.writelines(f"{line}¶\n" for line in LINES)
    return path


_MEASURED = """
import os, subprocess, sys
run = subprocess.Popen([sys.executable, *sys.argv[1:]], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(run.pid, 0)
print(usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""
"""Runs a command and prints its peak memory. Linux gives a process at least the peak of the one that starts it, so a
small one starts it."""


def proof(*words: object) -> tuple[float, float]:
    """Seconds and peak memory (MB) of a command."""
    line = [sys.executable, "-c", _MEASURED, "-m", "proof", *map(str, words)]
    began = time.perf_counter()
    run = subprocess.run(line, stdout=subprocess.PIPE, cwd=ROOT, check=False)  # noqa: S603
    if run.returncode:
        raise SystemExit(f"proof {words[0]} ended with {run.returncode}")
    return time.perf_counter() - began, int(run.stdout) / 1024


def opened(store: Path) -> list[TableRow]:
    def counted() -> None:
        with Store.open(store) as here:
            here.library.works()

    return [
        ("open the store", f"{1000 * timed(lambda: Store.open(store).close()):.0f} ms"),
        ("open it and count everything", f"{1000 * timed(counted):.0f} ms"),
    ]


def decide(browser: Browser, number: int) -> None:
    """The first flags of the store, which are numbered from 1."""
    for flag in range(1, number + 1):
        browser.decide(flag, f"bench-{flag:06}")


def served(folder: Path, people: int, seconds: float) -> list[TableRow]:
    """What is asked of a server, and a backup while people decide."""
    with serving_process(folder) as (_, address):
        rows = [(f"{name}, 95th percentile", p95(times)) for name, times in queries(Browser(address)).items()]
        decide(Browser(address), DECIDED)
        outcomes: list[tuple[list[float], list[int], list[str]]] = []
        crowd = [Browser(address) for _ in range(people)]
        deciding = threading.Thread(target=lambda: outcomes.append(thirty(crowd, seconds, 20_000)))
        deciding.start()
        took, memory = proof("backup", folder / "while.zip", "--config", folder, "--no-images")
        deciding.join()
    times, acknowledged, failed = outcomes[0]
    return [
        *rows,
        (f"backup while {people} people decide", f"{took:.1f} s, {memory:.0f} MB"),
        (f"their decisions meanwhile ({len(acknowledged)}), 95th percentile", p95(times)),
        ("of these lost, failed", f"{lost(folder, acknowledged)}, {len(failed)}"),
    ]


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pages", type=int, default=27_164)
    parser.add_argument("--flags", type=int, default=11, help="of each page")
    parser.add_argument("--people", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=30, help="that the people decide for")


def measure(options: argparse.Namespace) -> Iterator[TableRow]:
    folder = options.folder
    store = folder / "proof.sqlite"
    if not store.exists():
        text = write_text(folder, options.pages)
        took = timed(lambda: fill(folder, options.pages, options.flags, str(text)))
        yield "write it", f"{options.pages / took:.0f} pages a second"
    yield "size", f"{store.stat().st_size / 1e6:.0f} MB"
    yield from opened(store)
    yield from served(folder, options.people, options.seconds)
    for name, words in {
        f"export of {DECIDED} decisions into the text": ("export", folder / "text.txt", "--config", folder),
        "backup, nobody deciding": ("backup", folder / "alone.zip", "--config", folder, "--no-images"),
        "its restoring and comparing": ("backup", folder / "alone.zip", "--verify"),
    }.items():
        took, memory = proof(*words)
        yield name, f"{took:.1f} s, {memory:.0f} MB"
    yield "size of the backup", f"{(folder / 'alone.zip').stat().st_size / 1e6:.0f} MB"
    for path in folder.glob("*.zip"):
        path.unlink()
    yield "memory of this process", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB"
    yield "load of the machine", f"{os.getloadavg()[0]:.1f}"
