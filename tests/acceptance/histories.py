"""Random histories by the hundred: `python -m tests.acceptance.histories --histories 100 --first-seed 1 --steps 30`."""

from __future__ import annotations

import argparse
import gc
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from tests.acceptance.caches import computed_once
from tests.acceptance.column_edits import ColumnEdits
from tests.acceptance.history import History, base_project
from tests.acceptance.killed import KilledHistory

TOLD = 100
"""After so many histories it is told how many are broken."""


def _collect_rarely() -> None:
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)


def history(base: Path, steps: int, kind: type[History], seed: int) -> tuple[int, str]:
    """A history; gives its seed, and what broke it, empty where nothing did."""
    with tempfile.TemporaryDirectory(prefix="history-") as folder:
        try:
            with computed_once():
                kind(Path(folder), seed, base).run(steps)
        except AssertionError as error:
            return seed, str(error)
    return seed, ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--killed", action="store_true", help="the server is killed at random moments")
    parser.add_argument("--columns", action="store_true", help="columns are edited, in as many rounds as steps")
    asked = parser.parse_args()
    began, broken = time.monotonic(), 0
    with tempfile.TemporaryDirectory(prefix="history-base-") as folder:
        base = Path(folder) / "base"
        base_project(base)
        seeds = range(asked.first_seed, asked.first_seed + asked.histories)
        kind = KilledHistory if asked.killed else ColumnEdits if asked.columns else History
        play = partial(history, base, asked.steps, kind)
        with ProcessPoolExecutor(asked.processes, initializer=_collect_rarely) as pool:
            for done, (seed, error) in enumerate(pool.map(play, seeds), 1):
                broken += bool(error)
                if error:
                    sys.stdout.write(f"seed {seed}: {error}\n\n")
                if error or not done % TOLD or done == asked.histories:
                    seconds = time.monotonic() - began
                    sys.stdout.write(f"{broken} of {done} histories of {asked.steps} steps broken, {seconds:.0f} s\n")
                    sys.stdout.flush()
    return int(bool(broken))


if __name__ == "__main__":
    raise SystemExit(main())
