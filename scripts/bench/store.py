"""Measure the store of a large work, and print one table.

    python -m scripts.bench store [--pages 27164] [--flags 11]

A store is filled with what a check leaves of so many pages (one drawn image serves all of them), with its text beside
it. Then: the queue and the counts as the server of the desk answers them, writing decisions into the text (`proof
export`), and `proof backup`. Figures are seconds by the clock; the load of the machine is told with them.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from scripts.bench.material import ROOT, TableRow
from scripts.bench.web import Browser, fill, p95, queries
from tests.web.drawn import LINES
from tests.web.served import serving_process

DECIDED = 1000
"""Decisions that are there when the text is exported."""


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


def served(folder: Path) -> Iterator[TableRow]:
    """What is asked of a server; the first flags of the store, which are numbered from 1, are decided."""
    with serving_process(folder) as (_, address):
        browser = Browser(address)
        for name, times in queries(browser).items():
            yield f"{name}, 95th percentile", p95(times)
        for flag in range(1, DECIDED + 1):
            browser.decide(flag, f"bench-{flag:06}")


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pages", type=int, default=27_164)
    parser.add_argument("--flags", type=int, default=11, help="of each page")


def measure(options: argparse.Namespace) -> Iterator[TableRow]:
    folder = options.folder
    store = folder / "proof.sqlite"
    if not store.exists():
        fill(folder, options.pages, options.flags, str(write_text(folder, options.pages)))
    yield "size", f"{store.stat().st_size / 1e6:.0f} MB"
    yield from served(folder)
    for name, words in {
        f"export of {DECIDED} decisions into the text": ("export", folder / "text.txt", "--config", folder),
        "backup": ("backup", folder / "alone.zip", "--config", folder, "--no-images"),
        "its restoring and comparing": ("backup", folder / "alone.zip", "--verify"),
    }.items():
        took, memory = proof(*words)
        yield name, f"{took:.1f} s, {memory:.0f} MB"
    (folder / "alone.zip").unlink()
    yield "load of the machine", f"{os.getloadavg()[0]:.1f}"
