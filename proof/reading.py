"""Pages read and checked by a few threads, each out of the store where nothing changed."""

from __future__ import annotations

import hashlib
import json
import logging
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path
from threading import Lock

import cv2

from proof.audit import sampled
from proof.config import Settings
from proof.errors import EngineError, ImageError, TextError
from proof.images.find import ImageIndex, PageImage
from proof.images.imglist import find_image_lists
from proof.images.load import LoadedImage, load_image, sha256_of
from proof.leaves import ReadImage, paged
from proof.ocr.engine import Engine
from proof.ocr.page import PageEngine
from proof.ocr.registry import EngineSettings, open_page_engine
from proof.planting import Judge, planted
from proof.result import PageResult, Status
from proof.store import Store
from proof.store.mends import Mend
from proof.text.model import Script, Transcription
from proof.text.variants import VariantPolicy
from proof.text.witness import Edition
from proof.verify.page import Checker
from proof.verify.pairing import neighbours_of
from proof.work import METHOD, Task, Work

LOG = logging.getLogger(__name__)

AHEAD = 4
"""Pages in work or waiting for each worker: enough to keep it busy, few enough to keep memory flat."""


def engine_settings(settings: Settings) -> EngineSettings:
    """The engine's part of the settings, as the registry takes it."""
    engine = settings.engine
    return EngineSettings(
        name=engine.name,
        model=engine.model,
        detection_model=engine.detection_model,
        threads=engine.threads,
        device=engine.device,
        recording=engine.recording,
        runtime=engine.runtime,
        readers=settings.workers,
    )


def checker_for(settings: Settings, engine: Engine, script: Script) -> Checker:
    """What the pages of one script are checked with."""

    @cache
    def pages() -> PageEngine:
        return open_page_engine(replace(engine_settings(settings), name="paddleocr", model=""))

    policy = VariantPolicy(script, settings.variants.file)
    page = settings.page
    return Checker.of(engine, policy, page.columns, page.rows, settings.flags.threshold, pages)


def mixed_in(result: PageResult, settings: Settings, checker: Checker) -> PageResult:
    """What was found on a page, with the samples and planted errors that the project asks for."""
    audit, threshold = settings.audit, settings.flags.threshold
    judge = Judge(checker.policy, checker.engine.familiarity, threshold)
    return planted(sampled(result, audit.rate, threshold), audit.planted_rate, judge)


def results(
    work: Work, store: Store, checkers: dict[Script, Checker], workers: int
) -> Iterator[tuple[Task, PageResult, str]]:
    """Every page with its result, in order; pages are read by `workers` threads, a few ahead."""
    plates = Plates(work)
    cv2.setNumThreads(1)  # the workers keep every core busy; OpenCV's own threads would only get in their way
    waiting: deque[Future[tuple[Task, PageResult, str]]] = deque()
    pool = ThreadPoolExecutor(workers, thread_name_prefix="page")

    def one(task: Task) -> tuple[Task, PageResult, str]:
        return check_task(task, work, store, checkers, plates)

    try:
        for task in work.tasks:
            waiting.append(pool.submit(one, task))
            if len(waiting) >= AHEAD * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def check_again(
    task: Task, mend: Mend | None, work: Work, store: Store, checker: Checker
) -> tuple[Task, PageResult, str]:
    """The result of one page where a person set, while it was read, that it is read as `mend` says."""
    return check_task(work.read_as(task, mend), work, store, {work.script(task.text): checker}, Plates(work))


def check_task(
    task: Task, work: Work, store: Store, checkers: dict[Script, Checker], plates: Plates
) -> tuple[Task, PageResult, str]:
    """The result of one page, out of the store or fresh; whatever is wrong with it costs this page alone."""
    try:
        return checked(task, work, store, checkers, plates)
    except Exception as error:
        return task, failed(task, error), ""


def checked(
    task: Task, work: Work, store: Store, checkers: dict[Script, Checker], plates: Plates
) -> tuple[Task, PageResult, str]:
    """The same, but that what is wrong with the page is raised."""
    if task.trouble:
        return task, PageResult(task.page.id, task.ref, Status.FAILED, task.trouble), ""
    if task.found is None:
        return task, PageResult(task.page.id, task.ref, Status.NO_IMAGE), ""
    key = work.key(task)
    known = store.cached_page(key)
    if known is not None:
        work.reused += 1
        return task, replace(known, image=task.found.path), key
    near = neighbours_of(task.text.pages, task.number)
    image = plates.load(task.found)
    hint = task.mend.layout if task.mend else None
    return task, checkers[work.script(task.text)].check(task.page, task.ref, task.found, image, near, hint), key


def failed(task: Task, error: Exception) -> PageResult:
    """What is kept of a page that could not be checked."""
    path = task.found.path if task.found else None
    if isinstance(error, ImageError | EngineError | MemoryError):
        why = str(error).strip() or "there is not enough memory for this page"
    else:
        # a mistake of ours that one page brings to light must not cost the other 27,000
        LOG.error("page %s failed", task.page.id, exc_info=error)
        why = f"{path}: the check broke on this page ({type(error).__name__}: {error}); please report it"
    return PageResult(task.page.id, task.ref, Status.FAILED, why, image=path)


class Plates:
    """Page images as they are needed; a plate is decoded once for its four quadrants."""

    def __init__(self, work: Work) -> None:
        self._limit = work._settings.images.max_megapixels
        self._lock = Lock()
        self._last: tuple[Path, LoadedImage] | None = None

    def load(self, found: PageImage) -> LoadedImage:
        if not found.quadrant:
            return load_image(found.path, max_megapixels=self._limit)
        with self._lock:
            if self._last is None or self._last[0] != found.path:
                self._last = (found.path, load_image(found.path, max_megapixels=self._limit))
            return self._last[1]


def all_on_pages(
    texts: Sequence[Transcription | Edition], settings: Settings, index: ImageIndex, engine: Engine, store: Store
) -> tuple[list[Transcription | Edition], list[Transcription], tuple[str, ...]]:
    """The texts that images show, as given and each with its pages; and why others have none. Raises TextError where
    no text has pages."""
    given, laid, troubles = [], [], []
    for text in texts:
        try:
            laid.append(on_pages(text, settings, index, engine, store))
            given.append(text)
        except TextError as error:
            troubles.append(error)
    if troubles and not laid:
        raise troubles[0]
    return given, laid, tuple(str(error) for error in troubles)


def on_pages(
    text: Transcription | Edition, settings: Settings, index: ImageIndex, engine: Engine, store: Store
) -> Transcription:
    """A text with its pages. An edition without page marks is laid on what its images show: all of them are read
    once, and what was read is kept in the store. Raises TextError where no image shows it."""
    if isinstance(text, Transcription):
        return text
    script = text.script if settings.page.script == "auto" else Script(settings.page.script)
    checker = checker_for(settings, engine, script)
    own = index.with_lists(find_image_lists(text.path, (), settings.project.imglist))
    identity = engine.identity
    parts = (str(METHOD), identity.name, identity.version, identity.checksum, settings.fingerprint(), script.value)

    def one(entry: tuple[str, PageImage]) -> ReadImage:
        name, found = entry
        key = hashlib.sha256("\x1f".join((*parts, sha256_of(found.path), found.quadrant)).encode()).hexdigest()
        known = store.readings.get(f"alone {key}")
        if known is not None:
            return ReadImage(name, tuple(json.loads(known)))
        try:
            image = load_image(found.path, max_megapixels=settings.images.max_megapixels)
            columns = checker.read_alone(found, image)
        except (ImageError, EngineError) as error:
            LOG.warning("%s could not be read: %s", found.path, error)
            return ReadImage(name, ())  # its page will fail with the same words
        store.readings.put(f"alone {key}", json.dumps(columns, ensure_ascii=False).encode())
        return ReadImage(name, columns)

    cv2.setNumThreads(1)
    with ThreadPoolExecutor(settings.workers, thread_name_prefix="image") as pool:
        return paged(text, list(pool.map(one, own.sequence())), VariantPolicy(Script.SIMPLIFIED).fold)
