"""Measure the time of a half-folio, and where it goes, beside RapidOCR's page pipeline.

    python -m scripts.bench speed [--rounds 3] [--runtime onnxruntime] [--processes N]
    python -m scripts.bench speed --device gpu

Every core is kept busy by a process of its own with one thread, ours and RapidOCR's in turns, and by RapidOCR as it
comes, one process with threads of its own. Told are pages a second by the clock, and the processor time of a page,
which other work on the machine spoils less. A page of ours goes from its image file to its flags, what is kept of it
and the shapes of its glyphs; a page of RapidOCR's from its file to its text. With `--device gpu` ours computes on a
GPU, and the measurement is left out with the reason where there is none.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from proof.errors import EngineError
from proof.ocr.models import ModelTask, packaged_model
from proof.ocr.network import gpu_of, open_network
from scripts.bench.material import TableRow

OWN, SINGLE, PLAIN = "ours", "RapidOCR, a process a core, one thread each", "RapidOCR as it comes, one process"


@dataclass(frozen=True)
class Turn:
    """What a number of processes did: pages, seconds by the clock, seconds of processor time."""

    pages: int
    clock: float
    processor: float

    @property
    def page(self) -> float:
        """Seconds by the clock from one page to the next, all processes together."""
        return self.clock / self.pages


class NoPages:
    """A store without any page."""

    @property
    def cache(self) -> NoPages:
        return self

    @property
    def glyphs(self) -> NoPages:
        return self

    def get(self, _key: str) -> None:
        return None

    cached_page = get

    def shown(self, _image_sha: str) -> bool:
        return False


def own_pages(shared: Path, runtime: str, device: str = "cpu") -> Iterator[Callable[[], object]]:
    """What checks each half-folio of the JMML texts, warm."""
    # in the processes that measure alone
    from proof.checking.executor import ImageLoader, check_page, checker_for, engine_settings  # noqa: PLC0415
    from proof.checking.plan import CheckPlan  # noqa: PLC0415
    from proof.images.find import ImageIndex  # noqa: PLC0415
    from proof.ocr.registry import open_engine  # noqa: PLC0415
    from proof.settings.config import Settings  # noqa: PLC0415
    from proof.store import Store  # noqa: PLC0415
    from proof.text.read import read_transcription  # noqa: PLC0415

    folder = shared / "facsimile"
    lists = [folder / f"JMML/imglist/JMML_00{n}.txt" for n in (0, 1)]
    for number, imglist in enumerate(lists):
        text = read_transcription(folder / f"JMML/JMML_00{number}.txt")
        settings = Settings().replace(
            {
                "project.images": [folder],
                "project.imglist": imglist,
                "engine.runtime": runtime,
                "engine.threads": 1,
                "engine.device": device,
            }
        )
        engine = open_engine(engine_settings(settings))
        with tempfile.TemporaryDirectory() as name, Store.open(f"sqlite:///{name}/store.sqlite") as store:
            plan = CheckPlan(settings, [text], ImageIndex([folder]), engine.identity, store)
        checker = checker_for(settings, engine, text.script)
        for task in plan.tasks:
            assert task.image is not None, task.page.id
            yield partial(check_page, task, plan.keys, NoPages(), checker, ImageLoader(plan.max_megapixels))  # type: ignore[arg-type]


def their_pages(shared: Path, one_thread: bool) -> Iterator[Callable[[], object]]:
    """What reads each half-folio with RapidOCR's page pipeline, warm: with one thread, or with as many as it takes of
    itself."""
    import cv2  # noqa: PLC0415
    from rapidocr import RapidOCR  # noqa: PLC0415

    threads = (
        {f"EngineConfig.onnxruntime.{part}_op_num_threads": 1 for part in ("intra", "inter")} if one_thread else {}
    )
    pipeline = RapidOCR(params={**threads, "Global.log_level": "critical"})
    cv2.setNumThreads(1 if one_thread else -1)
    for file in sorted((shared / "facsimile/JMML/images").glob("JMML_*")):
        yield partial(pipeline, str(file))


def work(kind: str, shared: Path, computes: tuple[str, str], rounds: int, ready: Any, outcome_queue: Any) -> None:
    """One process: everything once to be warm, then `rounds` times as soon as all are ready."""
    pages = list(own_pages(shared, *computes) if kind == OWN else their_pages(shared, kind == SINGLE))
    for page in pages:
        page()
    ready.wait()
    begun, used = time.time(), time.process_time()
    for _ in range(rounds):
        for page in pages:
            page()
    outcome_queue.put((len(pages) * rounds, begun, time.time(), time.process_time() - used))


def turn(kind: str, options: argparse.Namespace) -> Turn:
    """As many processes as there are cores, or the one whose threads keep them all busy, each reading all pages
    `rounds` times."""
    context = multiprocessing.get_context("spawn")
    count = 1 if kind == PLAIN else options.processes
    ready, outcome_queue = context.Barrier(count), context.Queue()
    words = (kind, options.shared, (options.runtime, options.device), options.rounds, ready, outcome_queue)
    started = [context.Process(target=work, args=words) for _ in range(count)]
    for process in started:
        process.start()
    outcomes = [outcome_queue.get() for _ in started]
    for process in started:
        process.join()
    pages = sum(pages for pages, *_ in outcomes)
    clock = max(end for *_, end, _ in outcomes) - min(begun for _, begun, *_ in outcomes)
    return Turn(pages, clock, sum(used for *_, used in outcomes))


def compared(options: argparse.Namespace) -> dict[str, Turn]:
    """The quickest of some turns of each kind, one after the other."""
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    turns_of: dict[str, list[Turn]] = {OWN: [], SINGLE: [], PLAIN: []}
    for _ in range(options.turns):
        for kind, turns in turns_of.items():
            turns.append(turn(kind, options))
    return {kind: min(turns, key=lambda one: one.page) for kind, turns in turns_of.items()}


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=2, help="how often a process reads all pages in a turn")
    parser.add_argument("--turns", type=int, default=3, help="how often ours and RapidOCR's are measured")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--runtime", default="onnxruntime", help="engine.runtime")
    parser.add_argument("--device", default="cpu", help="engine.device")


def measure(options: argparse.Namespace) -> Iterator[TableRow]:
    try:
        gpu = gpu_of(options.device)
        if gpu is not None:
            # only then it is known whether it can be used
            open_network(packaged_model(ModelTask.RECOGNITION), options.runtime, 1, 1, gpu)
    except EngineError as error:
        yield "not measured", str(error)
        return
    speeds = compared(options)
    own = speeds[OWN]
    yield "cores kept busy; load", f"{options.processes}; {os.getloadavg()[0]:.1f}"
    for kind, speed in speeds.items():
        yield f"{kind}: pages a second", f"{1 / speed.page:.2f}", "", f"ours against it 1/{speed.page / own.page:.1f}"
        share = speed.processor / speed.pages / (own.processor / own.pages)
        milliseconds = f"{1000 * speed.processor / speed.pages:.1f}"
        yield f"{kind}: processor ms a page", milliseconds, "", f"ours against it 1/{share:.1f}"
