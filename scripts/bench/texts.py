"""Measure what is done with texts alone: reading them, writing them back, collating them.

    python -m scripts.bench texts [--only read,collate,growth] [--pages 27000]

Read: every text of `shared/kanripo`, `shared/corpus` and `shared/seeds`, again from the first until there are --pages
pages (0: each once); each is read and written back without a decision, the bytes are compared, the page marks of
Kanripo files counted against those that were read; two processes, the memory of both together. Collate:
witnesses of one juan, of different kinds. Growth: a work against a copy of itself with slips sown in, and against
another work on the same classic, at several lengths; the exponent of a power law is fitted to the times (1 is linear,
2 would be a full matrix), and that between the two longest told besides. Other work on the machine spoils the times.
"""

from __future__ import annotations

import argparse
import math
import random
import re
import resource
import statistics
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from proof.collate.collation import collate
from proof.export.source import correct
from proof.text.edition import parse_edition, read_edition
from proof.text.encoding import Decoded
from proof.text.model import is_han
from proof.text.remarks import Code
from proof.text.witness import Edition, Format
from scripts.bench.material import TableRow

PAGE = 8 * 21
"""Characters of a half-folio: what counts as a page of a text without page marks."""

SLIPS = 0.005
"""Of the characters of a text: how many are other ones in its copy."""

LENGTHS = (50_000, 100_000, 200_000, 400_000, 800_000)
"""Characters, about, of the texts that are collated to see how the time grows."""


@dataclass(frozen=True, slots=True)
class Read:
    """What one process read: pages, characters, files that came back otherwise, and its peak memory in MB; of the page
    marks that stand in Kanripo files (`marks`) those that begin no page, and how many of these no remark names."""

    pages: int
    characters: int
    changed: int
    memory: float
    marks: int = 0
    unread: int = 0
    unnamed: int = 0


def texts(shared: Path) -> list[Path]:
    """All texts that there are, image lists and what tells of them left aside."""
    found = [path for name in ("seeds", "kanripo", "corpus") for path in sorted((shared / name).rglob("*.txt"))]
    return [path for path in found if path.parent.name != "imglist"]


def pages_of(edition: Edition) -> int:
    """Its pages; of one without page marks as many as its characters would fill."""
    if edition.paged:
        return len(edition.pages)
    return math.ceil(sum(1 for stretch in edition.stretches() for _ in stretch.cells()) / PAGE)


def read_back(paths: Sequence[Path]) -> Read:
    """Read each and write it back; runs in a process of its own."""
    pages = characters = changed = marks = unread = unnamed = 0
    for path in paths:
        edition = read_edition(path)
        pages += pages_of(edition)
        characters += len(edition.text)
        changed += correct(edition, []).data != path.read_bytes()
        standing, missed = marks_of(edition)
        told = {one.line for one in edition.remarks if one.code in (Code.MARK_MALFORMED, Code.MARK_NOT_READ)}
        marks, unread, unnamed = (
            marks + standing,
            unread + len(missed),
            unnamed + len([n for n in missed if n not in told]),
        )
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Read(pages, characters, changed, memory, marks, unread, unnamed)


def marks_of(edition: Edition) -> tuple[int, list[int]]:
    """How many page marks stand in a Kanripo file, and the lines of those that begin no page."""
    if edition.format is not Format.KANRIPO:
        return 0, []
    read = {page.start for page in edition.pages}
    places = [found.start() for found in re.finditer("<pb:", edition.text)]
    return len(places), [edition.text.count("\n", 0, at) + 1 for at in places if at not in read]


def measure_reading(shared: Path, wanted: int) -> Iterator[TableRow]:
    paths = texts(shared)
    sizes = {path: pages_of(read_edition(path)) for path in paths}
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
    pages, changed = sum(one.pages for one in done), sum(one.changed for one in done)
    memory = sum(one.memory for one in done)
    yield "distinct pages of the material", f"{distinct:,} in {len(paths)} texts"
    yield f"{pages:,} pages read and written back, 2 processes", f"{seconds:.1f} s", "60 s"
    yield "memory at its peak, both processes together", f"{memory:.0f} MB", "500 MB"
    marks, unread, unnamed = (sum(getattr(one, name) for one in done) for name in ("marks", "unread", "unnamed"))
    yield "Kanripo page marks read, of those standing in the files", f"{marks - unread:,} of {marks:,}", "all"
    yield "page marks not read that no remark names", f"{unnamed}", "0"
    yield "texts that came back with other bytes", f"{changed} of {len(chosen):,}", "0"


def measure_collation(shared: Path) -> Iterator[TableRow]:
    seeds = {path.name[:3]: path for path in (shared / "seeds").glob("*.txt")}
    kanripo = shared / "kanripo"
    pairs = [
        ("儀禮集釋 10: the mirror against Kanripo", seeds["003"], kanripo / "KR1d0030/KR1d0030_010.txt"),
        ("鄉射禮: 注疏 layout against critical edition", seeds["002"], seeds["000"]),
        ("儀禮經傳通解 8 against critical edition", kanripo / "KR1d0085/KR1d0085_008.txt", seeds["000"]),
    ]
    for name, one, other in pairs:
        base, witness = read_edition(one), read_edition(other)
        began = time.perf_counter()
        collate(base, witness)
        seconds = time.perf_counter() - began
        yield f"collated: {name} ({len(base.text):,} and {len(witness.text):,})", f"{seconds:.1f} s", "seconds"


def slipped(text: str, rng: random.Random) -> str:
    """The text with some characters replaced by others of it, left out or doubled."""
    han = [char for char in text[:5000] if is_han(char)]
    return "".join(
        rng.choice((rng.choice(han), "", char * 2)) if is_han(char) and rng.random() < SLIPS else char for char in text
    )


def whole_text(folder: Path, length: int) -> str:
    """The first `length` characters, about, of the juan of a work, one after the other; whole pages."""
    text = ""
    for path in sorted(folder.glob("*.txt")):
        text += re.sub(r"^#.*\n", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        if len(text) > length:
            return text[: text.rfind("<pb:", 0, length)]
    return text


def edition(text: str, name: str) -> Edition:
    return parse_edition(Decoded(text, "utf-8", False), Path(name))


def measure_growth(shared: Path) -> Iterator[TableRow]:
    """A work against a copy of it with slips, and against another work on the same classic, at several lengths; in
    seconds of computing, which other work on the machine spoils less."""
    kanripo = shared / "kanripo"
    rng = random.Random(7)  # noqa: S311 - a measurement that can be repeated

    def with_slips(length: int) -> tuple[str, str]:
        text = whole_text(kanripo / "KR1d0087", length)
        return slipped(text, rng), text

    def another(length: int) -> tuple[str, str]:
        return whole_text(kanripo / "KR1d0030", length), whole_text(kanripo / "KR1d0085", length)

    collate(edition(whole_text(kanripo / "KR1d0030", 5000), "base"), edition(with_slips(5000)[1], "witness"))
    for what, pair in (("五禮通考 against a copy with slips", with_slips), ("儀禮集釋 against 儀禮經傳通解", another)):
        points: list[tuple[int, float]] = []
        for length in LENGTHS:
            base, witness = (edition(text, name) for text, name in zip(pair(length), ("base", "witness"), strict=True))
            one, other = (sum(1 for part in text.stretches() for _ in part.cells()) for text in (base, witness))
            size = (one + other) // 2
            if points and size < 1.1 * points[-1][0]:
                break
            began = time.process_time()
            collate(base, witness)
            seconds = time.process_time() - began
            points.append((size, seconds))
            yield f"{what}: {one:,} and {other:,} characters", f"{seconds:.1f} s"
        logs = [(math.log(size), math.log(seconds)) for size, seconds in points]
        slope = statistics.linear_regression([x for x, _ in logs], [y for _, y in logs]).slope
        last = (logs[-1][1] - logs[-2][1]) / (logs[-1][0] - logs[-2][0])
        yield f"{what}: exponent of time against length", f"{slope:.2f}; {last:.2f} at the end", "near 1"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", default="read,collate,growth")
    parser.add_argument("--pages", type=int, default=27_000, help="0: every text once")


def measure(options: argparse.Namespace) -> Iterator[TableRow]:
    wanted = options.only.split(",")
    if "read" in wanted:
        yield from measure_reading(options.shared, options.pages)
    if "collate" in wanted:
        yield from measure_collation(options.shared)
    if "growth" in wanted:
        yield from measure_growth(options.shared)
