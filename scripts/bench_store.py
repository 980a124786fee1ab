#!/usr/bin/env python3
"""Measure the store of a large work, and print one table.

    bench_store.py [--pages 27164] [--flags 11] [--people 30] [--seconds 30] [--folder DIR]

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
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from bench_web import WORK, Browser, fill, p95, queries, start, thirty  # noqa: E402

from proof.store import Store  # noqa: E402
from tests.web.drawn import LINES  # noqa: E402

DECIDED = 1000
"""Decisions that are there when the text is exported."""

Row = tuple[str, str]


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


def proof(*words: object) -> tuple[float, float]:
    """Seconds and peak memory (MB) of a command."""
    line = [sys.executable, "-m", "proof", *map(str, words)]
    began = time.perf_counter()
    with subprocess.Popen(line, stdout=subprocess.DEVNULL, cwd=ROOT) as run:  # noqa: S603
        _, status, usage = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
    if run.returncode:
        raise SystemExit(f"proof {words[0]} ended with {run.returncode}")
    return time.perf_counter() - began, usage.ru_maxrss / 1024


def opened(store: Path) -> list[Row]:
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


def served(folder: Path, people: int, seconds: float) -> list[Row]:
    """What is asked of a server, and a backup while people decide."""
    process, address = start(folder, auth=False)
    try:
        rows = [(f"{name}, 95th percentile", p95(times)) for name, times in queries(Browser(address)).items()]
        decide(Browser(address), DECIDED)
        found: list[tuple[list[float], list[int], list[str]]] = []
        crowd = [Browser(address) for _ in range(people)]
        deciding = threading.Thread(target=lambda: found.append(thirty(crowd, seconds, 20_000)))
        deciding.start()
        took, memory = proof("backup", folder / "while.zip", "--config", folder, "--no-images")
        deciding.join()
    finally:
        process.kill()
        process.wait()
    times, acknowledged, failed = found[0]
    with Store.open(folder / "proof.sqlite") as store:
        kept = {one.id for one in store.decisions.log(WORK, limit=1_000_000)}
    lost = len(set(acknowledged) - kept)
    return [
        *rows,
        (f"backup while {people} people decide", f"{took:.1f} s, {memory:.0f} MB"),
        (f"their decisions meanwhile ({len(acknowledged)}), 95th percentile", p95(times)),
        ("of these lost, failed", f"{lost}, {len(failed)}"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=27_164)
    parser.add_argument("--flags", type=int, default=11, help="of each page")
    parser.add_argument("--people", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=30, help="that the people decide for")
    parser.add_argument("--folder", type=Path, help="a store filled earlier, or where to keep it")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="proof-bench-") as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        store, rows = folder / "proof.sqlite", []
        if not store.exists():
            text = write_text(folder, given.pages)
            took = timed(lambda: fill(folder, given.pages, given.flags, str(text)))
            rows.append(("write it", f"{given.pages / took:.0f} pages a second"))
        rows.append(("size", f"{store.stat().st_size / 1e6:.0f} MB"))
        rows += opened(store)
        rows += served(folder, given.people, given.seconds)
        for name, words in {
            f"export of {DECIDED} decisions into the text": ("export", folder / "text.txt", "--config", folder),
            "backup, nobody deciding": ("backup", folder / "alone.zip", "--config", folder, "--no-images"),
            "its restoring and comparing": ("backup", folder / "alone.zip", "--verify"),
        }.items():
            took, memory = proof(*words)
            rows.append((name, f"{took:.1f} s, {memory:.0f} MB"))
        size = (folder / "alone.zip").stat().st_size
        rows.append(("size of the backup", f"{size / 1e6:.0f} MB"))
        for path in folder.glob("*.zip"):
            path.unlink()
    rows.append(("memory of this process", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB"))
    rows.append(("load of the machine", f"{os.getloadavg()[0]:.1f}"))
    print("| figure | measured |\n| --- | --- |")  # noqa: T201
    for name, measured in rows:
        print(f"| {name} | {measured} |")  # noqa: T201


if __name__ == "__main__":
    main()
