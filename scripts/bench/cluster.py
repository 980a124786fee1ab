"""Measure a check on many machines, with workers that only take time, and print one table.

    python -m scripts.bench cluster efficiency [--workers 64] [--seconds 0.3] [--pages 6000]
    python -m scripts.bench cluster memory [--workers 64] [--seconds 0.3] [--pages 200000] [--characters 168]
    python -m scripts.bench cluster kill [--times 20] [--pages 400]

Scheduler, workers and writer are processes of their own and speak by sockets, as on several machines. Simulated workers
sleep for the time that a page is said to take and give a result of the size of a dense half-folio's (168 characters of
some 120 kinds with the shapes of their glyphs, 8 columns, 6 flags); all else is the program's own: plan, sending,
gathering, writing, settling, reports. At the end every page is looked for in the store and compared with what the
worker gave; `--characters` makes pages shorter, and the store of many of them smaller.
"""
# ruff: noqa: PLC0415 - each process loads what it needs

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import multiprocessing
import os
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click

from scripts.bench.material import TableRow

FOLIOS = 100
"""Folios of a simulated juan."""


# the processes


def scheduler(port: int) -> None:
    """A scheduler with the settings of `proof cluster`."""
    import dask
    from distributed import Scheduler

    from proof.commands.cluster import DASK_SETTINGS

    async def run() -> None:
        async with Scheduler(host="127.0.0.1", port=port, dashboard_address="127.0.0.1:0") as running:
            click.echo(running.address)
            await running.finished()

    with dask.config.set(DASK_SETTINGS):
        asyncio.run(run())


def workers(address: str, count: int, seconds: float, characters: int) -> None:
    """So many simulated workers in one process; they end with their scheduler."""
    import dask
    from distributed import Worker

    import proof.checking.worker as real
    from proof.checking.executor import CheckedPage
    from proof.commands.cluster import DASK_SETTINGS
    from proof.store import PackedCharacters

    def take_time(task: Any, keys: Any, *_: Any) -> CheckedPage:
        time.sleep(seconds)
        return CheckedPage(task, made_up(task.page.id, characters), keys.key(task))

    packed = PackedCharacters.of(made_up("", characters).characters, made_up_shapes(characters))
    real.check_or_fail = take_time  # type: ignore[assignment, attr-defined]
    # packing is a part of the time that a page is said to take, and costs another machine
    real.PackedCharacters = SimpleNamespace(of=lambda *_: packed)  # type: ignore[assignment, attr-defined]

    async def run() -> None:
        them = [
            Worker(address, nthreads=1, name=f"{os.getpid()}-{n}", memory_limit=0, dashboard_address="127.0.0.1:0")
            for n in range(count)
        ]
        await asyncio.gather(*them)
        click.echo(count)
        await asyncio.gather(*(worker.finished() for worker in them))

    with dask.config.set(DASK_SETTINGS):
        asyncio.run(run())


@cache
def made_up_shapes(characters: int) -> Any:
    """The shapes of the glyphs of a simulated page, which deflate no better than real ones."""
    import numpy as np

    return np.random.default_rng(0).integers(0, 60, (characters, 200)).astype(np.int8)


DENSE = 168
"""Characters of a dense half-folio."""
KINDS = 120
"""Different characters on a simulated page at most."""


@cache
def made_up_columns(characters: int) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Columns and characters of every simulated page."""
    from proof.model.geometry import Box
    from proof.model.result import CheckedCharacter, CheckedColumn
    from proof.text.model import Row

    rnd = random.Random(characters)  # noqa: S311
    boxes = [Box(100.0 * (8 - n), 100, 100, 1200) for n in range(8)]
    columns = tuple(CheckedColumn(n, box, "射人告具于公" * 4) for n, box in enumerate(boxes, 1))
    return columns, tuple(
        CheckedCharacter(
            n // 21 + 1,
            n % 21,
            1,
            Row.MAIN,
            chr(0x4E00 + 7 * (n % KINDS)),
            Box(100.0 * (8 - n // 21), 100.0 + 55 * (n % 21), 60.0, 55.0),
            "射",
            rnd.random(),
            (("謝", 0.01),),
        )
        for n in range(characters)
    )


def made_up(page: str, characters: int = DENSE) -> Any:
    """A result that depends on the page's id alone."""
    from proof.model.flags import Evidence, Flag, Kind, flag_id
    from proof.model.geometry import Box
    from proof.model.result import PageResult, Status

    rnd = random.Random(page)  # noqa: S311
    columns, glyphs = made_up_columns(characters)
    flags = []
    for n in range(6):
        kind = Kind.SUBSTITUTION if n < 2 else Kind.VARIANT
        score, chance = rnd.uniform(1, 9), rnd.random() / 100
        evidence = Evidence("posterior", p_text=chance, p_best=0.98)
        name = flag_id(page, 1 + n, kind, str(n), 0)
        flags.append(
            Flag(
                page,
                "",
                n + 1,
                n,
                1,
                kind,
                rnd.choice("告于公"),
                "吿",
                score,
                n < 2,
                Box(1, 2, 3, 4),
                evidence,
                id=name,
            )
        )
    sizes = ((1160, 1559), None, 0.1, characters)
    return PageResult(page, "", Status.CHECKED, None, None, "ab" * 32, *sizes, columns, glyphs, tuple(flags))


def write(folder: Path, address: str) -> None:
    """The writer: a whole check; prints a line of JSON a second and one at the end."""
    from proof.checking.pipeline import Progress, check
    from proof.errors import ProofError

    start, first, last = time.monotonic(), 0.0, 0.0
    told = start

    def watch(done: Progress) -> None:
        nonlocal first, last, told
        last = time.monotonic()
        first = first or last
        if last - told >= 1 or done.done == done.total:
            told = last
            paging = last - first or 1e-9
            record = {"done": done.done, "reused": done.reused, "seconds": round(paging, 2), "rss": rss(os.getpid())}
            click.echo(json.dumps(record))

    try:
        outcome = check(settings_of(folder, address), watch)
    except ProofError as error:
        click.echo(json.dumps({"ended": str(error)}))
        sys.exit(error.exit_code)
    whole = round(time.monotonic() - start, 1)
    click.echo(json.dumps({"whole": whole, "sound": outcome.sound, "rss": rss(os.getpid())}))


def settings_of(folder: Path, address: str) -> Any:
    from proof.settings.config import Settings

    given = {
        "project.texts": [str(folder / "text.txt")],
        "project.images": [str(folder / "images")],
        "project.out": str(folder / "out"),
        "store.url": f"sqlite:///{folder / 'proof.sqlite'}",
        "cluster.address": address,
    }
    return Settings().replace(given | {"engine.name": "null", "flags.language_model": False})


# what they are started with


def lay_out(folder: Path, pages: int) -> Path:
    """A text of so many short pages, each with an image file that is never decoded."""
    (folder / "images").mkdir(parents=True)
    with (folder / "text.txt").open("w", encoding="utf-8") as text:
        for name in map(name_of, range(pages)):
            text.write(f"<pb:{name}>¶\n射人告具于公¶\n")
            (folder / "images" / f"{name}.png").write_text(name)
    return folder


def name_of(number: int) -> str:
    """The id of a page, counted from 0."""
    juan, side = divmod(number, 2 * FOLIOS)
    return f"KR9x0001_SIM_{juan + 1:04d}-{side // 2 + 1}{'ab'[side % 2]}"


FORKED = multiprocessing.get_context("forkserver")
"""What all processes load is loaded once: a trial starts half a dozen of them."""
FORKED.set_forkserver_preload(
    [
        "distributed",
        "proof.checking.pipeline",
        "proof.checking.cluster",
        "proof.checking.worker",
        "proof.commands.cluster",
    ]
)


class Started:
    """One of the processes, as `subprocess.Popen` has it."""

    def __init__(self, words: tuple[str, ...]) -> None:
        reading, writing = FORKED.Pipe(duplex=False)
        self._process = FORKED.Process(target=_run, args=(words, writing), daemon=True)
        self._process.start()
        writing.close()
        self.stdout = os.fdopen(os.dup(reading.fileno()))
        reading.close()
        self.pid = self._process.pid or 0

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self) -> int:
        self._process.join()
        return self._process.exitcode or 0

    def kill(self) -> None:
        self._process.kill()


def _run(words: tuple[str, ...], writing: Any) -> None:
    os.environ["OMP_NUM_THREADS"] = "1"
    logging.disable(logging.CRITICAL)
    sys.stdout = os.fdopen(os.dup(writing.fileno()), "w", buffering=1)
    writing.close()
    PROCESSES[words[0]](*words[1:])


def start(*words: object) -> Started:
    return Started(tuple(map(str, words)))


def first_line(process: Started) -> str:
    return process.stdout.readline().strip()


@contextmanager
def processes(*running: Started) -> Iterator[None]:
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def cpu(pid: int) -> float:
    """Seconds of processor time that a process took."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return 0.0


def rss(pid: int) -> float:
    """Megabytes that a process holds; 0 where it has ended."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return round(int(line.split()[1]) / 1000, 1)
    except OSError:
        pass
    return 0.0


# the measurements


def simulate(pages: int, count: int, seconds: float, characters: int = DENSE) -> dict[str, Any]:
    """A check of so many pages by so many simulated workers."""
    with tempfile.TemporaryDirectory(prefix="bench-cluster-") as name:
        folder = lay_out(Path(name), pages)
        one = start("scheduler", 0)
        address = first_line(one)
        them = start("workers", address, count, seconds, characters)
        first_line(them)
        writer = start("write", folder, address)
        click.echo(json.dumps({"processes": [one.pid, writer.pid, them.pid]}), err=True)
        samples: list[dict[str, Any]] = []
        with processes(one, them, writer):
            for line in writer.stdout:
                samples.append(json.loads(line) | {"scheduler": rss(one.pid), "workers": rss(them.pid)})
                samples[-1]["cpu"] = [cpu(each.pid) for each in (one, writer, them)]
                if len(samples) % 10 == 0 or "done" not in samples[-1]:
                    click.echo(json.dumps(samples[-1]), err=True)
        size = sum(path.stat().st_size for path in folder.glob("proof.sqlite*"))
        kept = compared(folder, pages, characters)
    paged = [sample for sample in samples if "done" in sample]
    middle = [sample for sample in paged if sample["done"] > pages * 0.05]
    rate = (middle[-1]["done"] - middle[0]["done"]) / max(middle[-1]["seconds"] - middle[0]["seconds"], 1e-9)
    return {
        "pages": pages,
        "workers": count,
        "seconds a page": seconds,
        "pages a second": round(rate, 1),
        "efficiency": round(rate * seconds / count, 3) if seconds else None,
        "writer MB at 10 %, 50 %, 100 %, after the reports": [at(paged, pages, x, "rss") for x in (0.1, 0.5, 1.0)]
        + [samples[-1]["rss"]],
        "scheduler MB at 10 %, 50 %, 100 %": [at(paged, pages, x, "scheduler") for x in (0.1, 0.5, 1.0)],
        "processor ms a page: scheduler, writer, simulated workers": [
            round(1000 * (b - a) / (middle[-1]["done"] - middle[0]["done"]), 2)
            for a, b in zip(middle[0]["cpu"], middle[-1]["cpu"], strict=True)
        ],
        "store MB": round(size / 1e6, 1),
        "characters a page": characters,
        "pages lost, doubled, other than the worker gave them": kept,
        "check in all, seconds": samples[-1].get("whole"),
        "load": os.getloadavg()[0],
    }


def compared(folder: Path, pages: int, characters: int) -> list[int]:
    """How many pages the store lacks, has more than once, and has otherwise than the simulated worker gave them; what
    the whole work taught about a flag, its score, is left out."""
    from proof.store import Store

    def told(result: Any) -> Any:
        glyphs = [(character.line, character.offset, character.text, character.box) for character in result.characters]
        return glyphs, sorted(
            (flag.id, flag.kind, flag.transcribed, flag.suggested, flag.offset) for flag in result.flags
        )

    seen: Counter[str] = Counter()
    other = 0
    with Store.open(f"sqlite:///{folder / 'proof.sqlite'}") as store:
        for result in store.results(work="KR9x0001"):
            seen[result.page] += 1
            other += told(result) != told(made_up(result.page, characters))
    wanted = {name_of(number) for number in range(pages)}
    return [len(wanted - seen.keys()), sum(count > 1 for count in seen.values()), other + len(seen.keys() - wanted)]


def at(samples: list[dict[str, Any]], pages: int, share: float, what: str) -> Any:
    return next(sample[what] for sample in samples if sample["done"] >= pages * share)


def kill(times: int, pages: int) -> dict[str, Any]:
    """Checks in which a worker, the scheduler or the writer is killed at a random moment, against one undisturbed."""
    losses: dict[str, Any] = {}
    rnd = random.Random(14)  # noqa: S311
    with tempfile.TemporaryDirectory(prefix="bench-cluster-") as name:
        whole = lay_out(Path(name) / "whole", pages)
        disturbed(whole, "", 0.0)
        expected = outcome(whole)
        for victim in ("worker", "scheduler", "writer"):
            lost = doubled = other = fired = 0
            for number in range(times):
                folder = lay_out(Path(name) / f"{victim}-{number}", pages)
                fired += disturbed(folder, victim, rnd.uniform(0.05, 0.9))
                got = outcome(folder)
                lost += len(expected[1].keys() - got[1].keys())
                doubled += sum(count > 1 for count in got[1].values())
                other += got[0] != expected[0]
            losses[victim] = {"killed": fired, "pages lost": lost, "pages doubled": doubled, "runs that differ": other}
            click.echo(f"{victim} {losses[victim]}", err=True)
    return losses


def disturbed(folder: Path, victim: str, share: float) -> bool:
    """A check that is run again until it ends well; `victim` is killed once when this share of the pages is done. Gives
    whether it was."""
    killed = False
    running: dict[str, Started] = {}

    def begin_cluster() -> str:
        running["scheduler"] = start("scheduler", 0)
        address = first_line(running["scheduler"])
        for n in range(2):
            running[f"worker {n}"] = start("workers", address, 4, 0.05, DENSE)
        [first_line(running[f"worker {n}"]) for n in range(2)]
        return address

    address = begin_cluster()
    try:
        for _ in range(5):
            writer = running["writer"] = start("write", folder, address)
            ended = threading.Event()
            if victim and not killed:
                killed = when_done(folder, share, ended, writer)
                if killed and writer.poll() is None:
                    target = {"worker": "worker 0", "scheduler": "scheduler", "writer": "writer"}[victim]
                    running[target].kill()
                    running[target].wait()
                    if victim == "worker":
                        running["worker 0"] = start("workers", address, 4, 0.05, DENSE)
            writer.stdout.read()
            if writer.wait() == 0:
                return killed
            if victim == "scheduler":
                for process in running.values():
                    process.kill()
                    process.wait()
                address = begin_cluster()
        raise AssertionError(f"{folder}: five checks did not end")
    finally:
        for process in running.values():
            process.kill()
            process.wait()


def when_done(folder: Path, share: float, ended: threading.Event, writer: Started) -> bool:
    """Waits until that share of the pages is in the store; False where the writer ended before."""
    import sqlite3

    pages = len(list((folder / "images").iterdir()))
    while writer.poll() is None:
        try:
            with sqlite3.connect(f"file:{folder / 'proof.sqlite'}?mode=ro", uri=True) as store:
                if store.execute("SELECT count(*) FROM pages").fetchone()[0] >= share * pages:
                    return True
        except sqlite3.Error:
            pass
        ended.wait(0.02)
    return False


def outcome(folder: Path) -> tuple[bytes, dict[str, int]]:
    """The flags as written, and how often the store has each page."""
    import sqlite3

    with sqlite3.connect(folder / "proof.sqlite") as store:
        rows = store.execute("SELECT page, count(*) FROM pages WHERE status = 'checked' GROUP BY page").fetchall()
    return (folder / "out" / "flags.jsonl").read_bytes(), dict(rows)


PROCESSES: dict[str, Callable[..., None]] = {
    "scheduler": lambda port: scheduler(int(port)),
    "workers": lambda address, count, *of: workers(address, int(count), float(of[0]), int(of[1])),
    "write": lambda folder, address: write(Path(folder), address),
}
"""What a process of a measurement does, by its name; all that it is given are words."""

PAGES = {"efficiency": 6000, "memory": 200_000, "kill": 400}


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=tuple(PAGES))
    parser.add_argument("--workers", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=0.3, help="that a page takes")
    parser.add_argument("--pages", type=int)
    parser.add_argument("--characters", type=int, default=DENSE)
    parser.add_argument("--times", type=int, default=20, help="that each process is killed")


def measure(options: argparse.Namespace) -> Iterator[TableRow]:
    pages = options.pages or PAGES.get(options.what, 0)
    match options.what:
        case "kill":
            figures = kill(options.times, pages)
        case _:
            figures = simulate(pages, options.workers, options.seconds, options.characters)
    yield from ((name, str(figure)) for name, figure in figures.items())
