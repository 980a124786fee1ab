#!/usr/bin/env python3
"""Measure what a second check costs after a change of judgement, and print one table.

    bench_stages.py [--pages 200] [--only NAMES] [--shared DIR] [--keep DIR]

Half-folios are drawn and checked once. Then nothing changes, or something of how they are judged: the threshold, the
list of variants, the witnesses, the release; or one wrong character on every page is corrected. For each of these:
strips shown to the recogniser, seconds and seconds of processor time against the first check, and whether the flags are
those of a check from nothing. Every check is a process of its own, which knows nothing of the one before; its start is
not counted. Other work on the machine spoils the seconds, and less so those of the processor.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import shutil
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import ROOT, Bench
from rich.console import Console
from rich.table import Table

import proof
from proof.check.pipeline import check
from proof.ocr.engine import Pixels, Reading
from proof.ocr.ppocr import PPOCR
from proof.settings.config import Settings
from proof.store import Store
from proof.text.model import is_han


@dataclass(frozen=True)
class Cost:
    """What a check took: seconds by the clock and of the processor, strips that the recogniser was shown; its flags."""

    seconds: float
    processor: float
    strips: int
    flags: bytes


def checked(settings: dict[str, Any], version: str) -> Cost:
    """A check as the release `version` would do it."""
    proof.__version__ = version
    shown = 0
    real = PPOCR.read

    def read(engine: PPOCR, strips: Sequence[Pixels], sought: Sequence[str] = ()) -> list[Reading]:
        nonlocal shown
        shown += len(strips)
        return real(engine, strips, sought)

    PPOCR.read = read  # type: ignore[method-assign]
    started, busy = time.perf_counter(), time.process_time()
    outcome = check(Settings().replace(settings))
    taken, busy = time.perf_counter() - started, time.process_time() - busy
    return Cost(taken, busy, shown, outcome.written.flags.read_bytes())


def with_errors(text: str, seed: int) -> str:
    """The text with one character of every page put in the place of another one of that page."""
    rng = random.Random(seed)  # noqa: S311
    head, *pages = text.split("<pb:")
    found = []
    for page in pages:
        mark, body = page.split("\n", 1)
        places = [at for at, one in enumerate(body) if is_han(one)]
        first, other = rng.sample(places, 2) if len(places) > 1 else (0, 0)
        found.append(f"{mark}\n{body[:first]}{body[other]}{body[first + 1 :]}")
    return "<pb:".join([head, *found])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--only", help="names of changes, with commas between")
    parser.add_argument("--keep", type=Path, help="work in this folder and leave everything there")
    options = parser.parse_args(arguments)
    folder = options.keep or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    pages = Bench(options.shared, folder, False).render(options.pages)
    text = (pages / "text.txt").read_text(encoding="utf-8")
    (folder / "text.txt").write_text(with_errors(text, 1), encoding="utf-8")
    (folder / "variants.tsv").write_text("比\t北\tform\n之\t乏\tdistinct\n", encoding="utf-8")
    version = proof.__version__

    def run(name: str, kept: bool, **given: Any) -> Cost:
        """A check after the first one or from nothing."""
        store = folder / f"{name}.sqlite"
        if kept:
            shutil.copy(folder / "first.sqlite", store)
        own = {"project.texts": [str(folder / "text.txt")], "project.images": [str(pages)]}
        own |= {"project.out": str(folder / f"out-{name}"), "store.url": f"sqlite:///{store}"}
        own |= {key.replace("__", "."): value for key, value in given.items()}
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
            return process.submit(checked, own, version).result()

    first = run("first", kept=False)
    with Store.open(f"sqlite:///{folder / 'first.sqlite'}") as store:
        size = store.cache.size() / options.pages
    share = "of the first"
    table = Table("after", "strips", share, "seconds", share, "processor", share, "as from nothing")
    table.add_row("(first check)", str(first.strips), "", f"{first.seconds:.1f}", "", f"{first.processor:.1f}", "", "")
    changes: dict[str, dict[str, Any]] = {
        "nothing": {},
        "threshold": {"flags__threshold": 2.0},
        "variants": {"variants__file": str(folder / "variants.tsv")},
        "witnesses": {"project__witnesses": [str(pages / "text.txt")]},
        "release": {},
        "corrected": {},
    }
    for name, given in changes.items():
        if options.only and name not in options.only.split(","):
            continue
        if name == "release":
            version = "another"
        if name == "corrected":
            shutil.copy(pages / "text.txt", folder / "text.txt")
        again, anew = run(name, kept=True, **given), run(f"{name}-anew", kept=False, **given)
        times = (f"{again.seconds:.1f}", f"1/{first.seconds / again.seconds:.1f}")
        times += (f"{again.processor:.1f}", f"1/{first.processor / again.processor:.1f}")
        same = str(again.flags == anew.flags)
        table.add_row(name, str(again.strips), f"{again.strips / first.strips:.3f}", *times, same)
    Console(width=100).print(table, f"kept of a half-folio: {size / 1000:.1f} KB", sep="\n")


if __name__ == "__main__":
    main()
