"""Checking pages on several threads. The results of pages that did not change come from the store."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING, TypeVar

from proof.checking.language_alone import with_language
from proof.checking.pagination import ReadImage, paginate, without_images
from proof.checking.plan import CheckPlan, PageKeys, PageTask
from proof.errors import EngineError, ImageError, TextError
from proof.images.find import ImageIndex, PageImage
from proof.images.imglist import find_image_lists
from proof.images.load import LoadedImage, load_image
from proof.layout.glyph_shapes import Shapes, glyph_shapes
from proof.layout.overrides import LayoutOverrideShape
from proof.locale.marking import _
from proof.model.notices import Notice, NoticeCode
from proof.model.quality import QualityFlags
from proof.model.result import PageResult, Status
from proof.ocr.drawn import DrawnReadings
from proof.ocr.engine import Engine
from proof.ocr.page import PageEngine
from proof.ocr.page_record import PageRecord
from proof.ocr.readings import HalfFolioReadings
from proof.ocr.registry import EngineSettings, open_page_engine
from proof.quality.sampling import samples_of
from proof.quality.seeded_errors import ErrorPolicy, seeded_errors_of
from proof.settings.config import Settings
from proof.store import KeptResult, PackedCharacters, Store
from proof.text.model import Script
from proof.text.read import PAGE_MARK_EXAMPLES
from proof.text.transcription import Transcription
from proof.text.variants import policy_of
from proof.verify.page import Checker
from proof.verify.pairing import neighbours_of

if TYPE_CHECKING:
    from proof.checking.worker import SentPage

LOG = logging.getLogger(__name__)

MAX_PAGES_PER_THREAD = 4
"""Pages in progress or waiting for each thread: enough to keep it busy, few enough to limit memory."""

Source = TypeVar("Source")
"""The source of a text: its path, or the text without pages."""


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


def checker_for(settings: Settings, engine: Engine, script: Script, drawn: DrawnReadings | None = None) -> Checker:
    """The checker for pages in one script; `drawn` are the readings of drawn forms (`drawn_forms`)."""

    @cache
    def page_engine() -> PageEngine:
        return open_page_engine(replace(engine_settings(settings), name="paddleocr", model=""))

    policy = policy_of(script, settings.variants.file)
    page = settings.page
    return Checker.of(engine, policy, page.columns, page.column_length, settings.flags.threshold, page_engine, drawn)


def quality_flags(result: PageResult, settings: Settings, checker: Checker) -> QualityFlags:
    """The samples and seeded errors of a page, at the rates that the settings give."""
    audit, threshold = settings.audit, settings.flags.threshold
    judge = ErrorPolicy(checker.policy, checker.engine.knows, threshold)
    samples = samples_of(result, audit.rate, threshold)
    return QualityFlags(samples, seeded_errors_of(result, audit.planted_rate, judge, samples))


@dataclass(frozen=True, slots=True)
class CheckedPage:
    """A page with its result. `key` is a hash of everything that the result depends on; it is empty if the page must be
    checked again next time.

    `reused`: the result came from the store. `readings` are the key and the bytes of a new record of readings, to be
    stored; None if nothing new was read. `shapes` are those of the page's glyphs, None if the store has them. If the
    page was checked on another machine or came from the store, its characters are `packed` and not in the result.
    """

    task: PageTask
    result: PageResult
    key: str
    reused: bool = False
    readings: tuple[str, bytes] | None = None
    shapes: Shapes | None = None
    packed: PackedCharacters | None = None

    @classmethod
    def of_stored(cls, task: PageTask, image: PageImage, key: str, stored: KeptResult) -> CheckedPage:
        """A page that did not change: its result is the one `stored` under `key`, with the present path of its image,
        which may have been moved."""
        return cls(task, replace(stored.result, image=image.path), key, reused=True, packed=stored.packed)

    def whole(self) -> PageResult:
        """The result with its characters."""
        return KeptResult(self.result, self.packed).whole()


def results(
    plan: CheckPlan, store: Store, checkers: dict[Script, Checker], workers: int
) -> Generator[CheckedPage, None, None]:
    """Every page with its result, in order; `workers` threads check them, a few pages ahead. If the generator is closed
    early, it does not wait for the pages in progress, and drops their results."""
    loader = ImageLoader(plan.max_megapixels)
    waiting: deque[Future[CheckedPage]] = deque()
    stopped = Event()

    def on_thread(task: PageTask) -> CheckedPage:
        return check_or_fail(task, plan.keys, store, checkers[plan.keys.script(task.text)], loader, stopped)

    with reading_threads(workers, "page", stopped) as pool:
        for task in plan.tasks:
            waiting.append(pool.submit(on_thread, task))
            if len(waiting) >= MAX_PAGES_PER_THREAD * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


@contextmanager
def reading_threads(count: int, name: str, stopped: Event) -> Iterator[ThreadPoolExecutor]:
    """A pool of threads. If the block raises, `stopped` is set, and the pool drops the tasks that have not begun."""
    pool = ThreadPoolExecutor(count, thread_name_prefix=name)
    try:
        yield pool
    except BaseException:
        stopped.set()
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


def check_or_fail(
    task: PageTask,
    keys: PageKeys,
    store: Store | SentPage,
    checker: Checker,
    loader: ImageLoader,
    stopped: Event | None = None,
) -> CheckedPage:
    """Check one page as `check_page` does, but give a failed result if that raises, so that other pages are checked.
    Once the check is `stopped`, the error is raised, since the store may be closed."""
    try:
        return check_page(task, keys, store, checker, loader)
    except Exception as error:
        if stopped is not None and stopped.is_set():
            raise
        return CheckedPage(task, failed_result(task, error), "")


def check_page(
    task: PageTask, keys: PageKeys, store: Store | SentPage, checker: Checker, loader: ImageLoader
) -> CheckedPage:
    """Check one page, as far as possible from the store.

    If text, image, engine and settings did not change, the result is the stored one. Otherwise the page is judged again
    from the stored readings of its image, and the engine reads only what they lack. Raises every error of the page.
    """
    threshold = checker.threshold
    page_without_image = without_image(task, threshold)
    if page_without_image is not None:
        return page_without_image
    assert task.image is not None
    key = keys.key(task)
    stored = store.cached_page(key)
    if stored is not None:
        return CheckedPage.of_stored(task, task.image, key, stored)
    layout_override = task.override.layout if task.override else None
    readings_key = keys.readings_key(task.image)
    readings, pack = open_readings(
        readings_key, task.image, store.cache.get(readings_key), checker, loader, layout_override
    )
    neighbours = neighbours_of(task.text.pages, task.number)
    result = checker.judge(task.page, task.ref, task.image, readings, neighbours)
    result = with_language(result, task.page, task.language, threshold)
    are_shapes_stored = readings.are_all_stored and store.glyphs.known_on(result.image_sha)
    shapes = None if are_shapes_stored or not result.characters else glyph_shapes(readings.layout, result.characters)
    return CheckedPage(task, result, key, readings=pack(), shapes=shapes)


def without_image(task: PageTask, threshold: float) -> CheckedPage | None:
    """The checked page if it has no image: failed if its image list cannot be used or its assigned image is gone, else
    with the flags of the language model; None if it has an image."""
    if task.trouble:
        return CheckedPage(task, failed(task, task.trouble), "")
    if task.image is None:
        result = PageResult(task.page.id, task.ref, Status.NO_IMAGE)
        return CheckedPage(task, with_language(result, task.page, task.language, threshold), "")
    return None


def open_readings(
    key: str,
    image: PageImage,
    stored: bytes | None,
    checker: Checker,
    loader: ImageLoader,
    layout_override: LayoutOverrideShape | None = None,
) -> tuple[HalfFolioReadings, Callable[[], tuple[str, bytes] | None]]:
    """The readings of a half-folio, from the record that is `stored` under its key; and a function to be called when
    they are no longer needed, which gives the key and the bytes of the new record, None if nothing new was read."""
    record = PageRecord.unpacked(stored)
    readings = checker.readings(image, lambda: loader.load(image), layout_override, record)
    return readings, lambda: None if readings.are_all_stored else (key, readings.used.packed())


def read_image(
    image: PageImage,
    keys: PageKeys,
    store: Store,
    checker: Checker,
    loader: ImageLoader,
    layout_override: LayoutOverrideShape | None = None,
) -> tuple[str, ...]:
    """The columns of an image as read without its transcription; new readings are stored. An image that cannot be read
    is logged and has no columns."""
    try:
        key = keys.readings_key(image)
        readings, pack = open_readings(key, image, store.cache.get(key), checker, loader, layout_override)
        columns = checker.read_alone(image, readings)
    except (ImageError, EngineError) as error:
        LOG.warning("%s could not be read: %s", image.path, error)
        return ()
    if (record := pack()) is not None:
        store.cache.put(*record)
    return columns


def failed_result(task: PageTask, error: Exception) -> PageResult:
    """The result of a page whose check raised `error`."""
    if isinstance(error, ImageError | EngineError | MemoryError):
        why = Notice.of_error(error) if str(error).strip() else Notice.of(NoticeCode.NO_MEMORY)
    else:
        # a bug that shows on one page must not prevent the check of the other pages of a large work
        LOG.error("page %s failed", task.page.id, exc_info=error)
        message = f"{type(error).__name__}: {error}"
        path = str(task.image.path if task.image else task.page.id)
        why = Notice.of(NoticeCode.CHECK_BROKE, path=path, error=message)
    return failed(task, why)


def failed(task: PageTask, why: Notice) -> PageResult:
    """The result of a page that could not be checked."""
    path = task.image.path if task.image else None
    return PageResult(task.page.id, task.ref, Status.FAILED, why, image=path)


class ImageLoader:
    """Loads page images. Keeps the last plate in memory, so that it is decoded once for its four quadrants."""

    def __init__(self, max_megapixels: float) -> None:
        self._limit = max_megapixels
        self._lock = Lock()
        self._last: tuple[Path, LoadedImage] | None = None

    def load(self, image: PageImage) -> LoadedImage:
        if not image.quadrant:
            return load_image(image.path, max_megapixels=self._limit)
        with self._lock:
            if self._last is None or self._last[0] != image.path:
                self._last = (image.path, load_image(image.path, max_megapixels=self._limit))
            return self._last[1]


def usable_texts(
    text_of: Callable[[Source], Transcription], sources: Iterable[Source]
) -> tuple[list[Transcription], tuple[Notice, ...]]:
    """The text that `text_of` gives for each source, and a notice for each source for which it raises TextError. If it
    raises for all, the first of these errors is raised."""
    texts, errors = [], []
    for source in sources:
        try:
            texts.append(text_of(source))
        except TextError as error:
            errors.append(error)
    if errors and not texts:
        raise errors[0]
    return texts, tuple(map(Notice.of_error, errors))


def on_pages(text: Transcription, settings: Settings, index: ImageIndex, engine: Engine, store: Store) -> Transcription:
    """A text with its pages. A text without page marks is divided by its images: all of them are read once, and the
    readings are stored. Raises TextError if it has neither marks nor text, or if no image shows it."""
    if text.pages:
        return text
    if not text.blocks:
        raise TextError(text.path, None, _("no page mark found: %(examples)s"), examples=PAGE_MARK_EXAMPLES)
    if not len(index):
        return without_images(text)
    script = text.script if settings.page.script == "auto" else Script(settings.page.script)
    checker = checker_for(settings, engine, script)
    keys = PageKeys.of(settings, engine.identity)
    images = index.with_lists(find_image_lists(text.path, (), settings.project.imglist)).sequence()
    loader = ImageLoader(settings.images.max_megapixels)

    def read(named_image: tuple[str, PageImage]) -> ReadImage:
        name, image = named_image
        return ReadImage(name, read_image(image, keys, store, checker, loader))  # if it fails, its page fails, too

    with reading_threads(settings.workers, "image", Event()) as pool:
        return paginate(text, list(pool.map(read, images)), policy_of(Script.SIMPLIFIED).fold)
