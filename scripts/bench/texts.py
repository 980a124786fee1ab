"""Measure what reading texts and writing them back costs, and that it gives the same bytes.

    python -m scripts.bench texts [--pages 27000]

Every text of `shared/kanripo`, `shared/corpus` and `shared/seeds` is read, again from the first until there are --pages
pages (0: each once); each is written back without a decision, and the bytes are compared; two processes, the memory of
both together.
"""

from __future__ import annotations

import argparse
import math
import resource
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from proof.exports.source import correct
from proof.text.read import read_transcription
from proof.text.transcription import Transcription
from scripts.bench.material import TableRow

PAGE = 8 * 21
"""Characters of a half-folio: what counts as a page of a text without page marks."""


@dataclass(frozen=True, slots=True)
class Read:
    """What one process read: pages, files that came back otherwise, and its peak memory in MB."""

    pages: int
    changed: int
    memory: float


def texts(shared: Path) -> list[Path]:
    """All texts that there are, image lists and what tells of them left aside."""
    paths = [path for name in ("seeds", "kanripo", "corpus") for path in sorted((shared / name).rglob("*.txt"))]
    return [path for path in paths if path.parent.name != "imglist"]


def pages_of(edition: Transcription) -> int:
    """Its pages; of one without page marks as many as its characters would fill."""
    if edition.paged:
        return len(edition.pages)
    return math.ceil(sum(1 for stretch in edition.stretches() for _ in stretch.cells()) / PAGE)


def read_back(paths: Sequence[Path]) -> Read:
    """Read each and write it back; runs in a process of its own."""
    pages = changed = 0
    for path in paths:
        edition = read_transcription(path)
        pages += pages_of(edition)
        changed += correct(edition, []).data != path.read_bytes()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Read(pages, changed, memory)


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pages", type=int, default=27_000, help="0: every text once")


def measure(options: argparse.Namespace) -> Iterator[TableRow]:
    paths, wanted = texts(options.shared), options.pages
    sizes = {path: pages_of(read_transcription(path)) for path in paths}
    distinct = sum(sizes.values())
    chosen: list[Path] = []
    count = 0
    chosen += paths if not wanted else ()
    while count < wanted:
        for path in paths:
            if count >= wanted:
                break
            chosen.append(path)
            count += sizes[path]
    # the longest first, each to the process that has less to do
    halves: tuple[list[Path], list[Path]] = ([], [])
    load = [0, 0]
    for path in sorted(chosen, key=lambda one: -one.stat().st_size):
        lighter = load.index(min(load))
        halves[lighter].append(path)
        load[lighter] += path.stat().st_size
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        list(pool.map(read_back, ([], [])))  # processes stand, modules are there
        began = time.perf_counter()
        done = list(pool.map(read_back, halves))
        seconds = time.perf_counter() - began
    pages, changed = sum(outcome.pages for outcome in done), sum(outcome.changed for outcome in done)
    memory = sum(outcome.memory for outcome in done)
    yield "distinct pages of the material", f"{distinct:,} in {len(paths)} texts"
    yield f"{pages:,} pages read and written back, 2 processes", f"{seconds:.1f} s", "60 s"
    yield "memory at its peak, both processes together", f"{memory:.0f} MB", "500 MB"
    yield "texts that came back with other bytes", f"{changed} of {len(chosen):,}", "0"
