"""Measure what a second check costs after a change of judgement, and print one table.

    python -m scripts.bench stages [--pages 200] [--only NAMES]

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
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import proof
from proof.checking.pipeline import check
from proof.ocr.engine import Pixels, Reading
from proof.ocr.ppocr import PPOCR
from proof.settings.config import Settings
from proof.store import Store
from proof.text.model import is_han
from scripts.bench.material import TableRow, tell
from scripts.bench.pool import Bench


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

    PPOCR.read = read  # type: ignore[method-assign, assignment]
    started, busy = time.perf_counter(), time.process_time()
    outcome = check(Settings().replace(settings))
    taken, busy = time.perf_counter() - started, time.process_time() - busy
    return Cost(taken, busy, shown, outcome.written.flags.read_bytes())


def with_errors(text: str, seed: int) -> str:
    """The text with one character of every page put in the place of another one of that page."""
    rng = random.Random(seed)  # noqa: S311
    head, *pages = text.split("<pb:")
    planted = []
    for page in pages:
        mark, body = page.split("\n", 1)
        places = [at for at, char in enumerate(body) if is_han(char)]
        first, other = rng.sample(places, 2) if len(places) > 1 else (0, 0)
        planted.append(f"{mark}\n{body[:first]}{body[other]}{body[first + 1 :]}")
    return "<pb:".join([head, *planted])


SHARE = "of the first"
HEADINGS = ("after", "strips", SHARE, "seconds", SHARE, "processor", SHARE, "as from nothing")


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("--only", help="names of changes, with commas between")


def measure(options: argparse.Namespace) -> Iterator[TableRow]:
    folder = options.folder
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
        own: dict[str, Any] = {"project.texts": [str(folder / "text.txt")], "project.images": [str(pages)]}
        own |= {"project.out": str(folder / f"out-{name}"), "store.url": f"sqlite:///{store}"}
        own |= {key.replace("__", "."): value for key, value in given.items()}
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
            return process.submit(checked, own, version).result()

    first = run("first", kept=False)
    with Store.open(f"sqlite:///{folder / 'first.sqlite'}") as store:
        tell(f"kept of a half-folio: {store.cache.size() / options.pages / 1000:.1f} KB")
    yield "(first check)", str(first.strips), "", f"{first.seconds:.1f}", "", f"{first.processor:.1f}", "", ""
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
        times = [f"{again.seconds:.1f}", f"1/{first.seconds / again.seconds:.1f}"]
        times += [f"{again.processor:.1f}", f"1/{first.processor / again.processor:.1f}"]
        yield name, str(again.strips), f"{again.strips / first.strips:.3f}", *times, str(again.flags == anew.flags)
