"""The whole data flow of a check: transcriptions and images in, findings in the store and in files out."""

from __future__ import annotations

import hashlib
import json
import logging
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from threading import Lock

import cv2

import proof
from proof.collate.testimony import Hearing, beside, unheard
from proof.config import Settings
from proof.errors import EngineError, ImageError, ImageListError, TextError, UsageError
from proof.habits import Habits
from proof.images.find import ImageIndex, PageImage
from proof.images.imglist import find_image_lists
from proof.images.load import LoadedImage, load_image, sha256_of
from proof.leaves import ReadImage, paged
from proof.ocr.engine import Engine, EngineIdentity
from proof.ocr.page import PageEngine
from proof.ocr.registry import EngineSettings, open_engine, open_page_engine
from proof.page import Checker
from proof.pairing import neighbours_of
from proof.refs import ImageRef, sequence_findings
from proof.report.source import StoredRun
from proof.report.write import Written, write_reports
from proof.result import PageResult, Status
from proof.store import FlagFilter, PagePlace, RunInfo, Store, TextInfo
from proof.store.mends import Mend
from proof.text.authorities import lists_fingerprint
from proof.text.edition import edition_of, read_edition, read_text
from proof.text.model import Page, Script, Transcription
from proof.text.variants import VariantPolicy
from proof.text.witness import Addresses, Edition

LOG = logging.getLogger(__name__)

METHOD = 6
"""Raised whenever a page would be judged otherwise than before: earlier results are then not reused."""

AHEAD = 4
"""Pages in work or waiting for each worker: enough to keep it busy, few enough to keep memory flat."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a check has come; `reused` pages came out of the store unchanged."""

    done: int
    total: int
    reused: int
    page: str


Watch = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a check left behind: its run in the store, its reports, the sequence findings, and the texts that
    could not be read."""

    run_id: int
    written: Written
    findings: tuple[str, ...]
    notices: tuple[str, ...]
    unread: tuple[str, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether every text could be read, no page failed and none carries the wrong image."""
        counts = self.written.tally.by_status()
        return not self.unread and not counts[Status.FAILED] and not counts[Status.MISMATCH]


def check(settings: Settings, watch: Watch | None = None) -> Outcome:
    """Check the transcriptions of `settings` against their images, and write store and reports.

    A page that fails costs that page, a text that cannot be read that text. Pages whose image, text, engine
    and settings did not change come out of the store; an interrupted check goes on where it was. Raises
    ProofError for what stops it altogether.
    """
    editions, unread = read_texts(settings.text_files())
    index = ImageIndex(settings.project.images)
    engine = open_engine(engine_settings(settings))
    with Store.open(settings.store_address) as store:
        texts = [on_pages(text, settings, index, engine, store) for text in editions]
        work = Work(settings, texts, index, engine.identity, store.mends.of_work(work_of(texts)))
        run_id = store.begin_run(work.info())
        checkers = {script: checker_for(settings, engine, script) for script in {work.script(t) for t in texts}}
        habits = Habits()
        for number, (task, result, key) in enumerate(results(work, store, checkers, settings.workers), 1):
            store.save_page(run_id, task.place, key, result)
            habits.add(result)
            if watch:
                watch(Progress(number, len(work.tasks), work.reused, result.page))
        hearings = hearings_of(settings, editions, texts, store)
        own = {task.page.id for task in work.tasks}
        for other in store.results(work=work.name, outline=True):
            if other.page not in own:  # a check of some texts of a work learns from the others, and leaves them be
                habits.add(other)
        settle(store, work.name, habits, settings.flags.threshold, hearings, own)

        leaves = ((task.page.folio, task.image_ref) for task in work.tasks)
        findings = tuple(finding.message for finding in sequence_findings(leaves))
        store.finish_run(run_id, findings=(*unread, *findings), whole=True)
        written = write_reports(StoredRun(store, run_id), settings.project.out, language=settings.report.lang)
    warnings = tuple(warning for text in texts for warning in text.warnings)
    return Outcome(run_id, written, findings, (*warnings, *index.notices), unread)


def read_texts(paths: Sequence[Path]) -> tuple[list[Transcription | Edition], tuple[str, ...]]:
    """The texts that can be read, those without pages as editions, and why others cannot. Raises TextError where
    none can."""
    texts: list[Transcription | Edition] = []
    troubles = []
    for path in paths:
        try:
            texts.append(read_text(path))
        except TextError as error:
            troubles.append(error)
    if troubles and not texts:
        raise troubles[0]
    return texts, tuple(str(error) for error in troubles)


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


@dataclass(frozen=True, slots=True)
class Task:
    """One page to be checked: its text, where it stands, and its image if there is one; `trouble` says what
    kept its image from being looked for, `mend` what a person set right about how it is read."""

    text: Transcription
    number: int
    place: PagePlace
    found: PageImage | None
    image_ref: ImageRef | None
    trouble: str = ""
    mend: Mend | None = None

    @property
    def page(self) -> Page:
        return self.text.pages[self.number]

    @property
    def ref(self) -> str:
        return str(self.image_ref) if self.image_ref else ""


def work_of(texts: Sequence[Transcription]) -> str:
    """A work's id in the store: as its texts give it, or the first file's name. Raises UsageError without texts."""
    if not texts:
        raise UsageError("no transcription was named: give one, or set project.texts in config.toml")
    return texts[0].work or texts[0].path.stem


class Work:
    """What a run is about: its texts paired with their images, and what a page's result depends on."""

    def __init__(
        self,
        settings: Settings,
        texts: Sequence[Transcription],
        index: ImageIndex,
        engine: EngineIdentity,
        mends: Mapping[tuple[str, int], Mend] | None = None,
    ) -> None:
        self.name = work_of(texts)
        self._settings = settings
        self._texts = texts
        self._engine = engine
        self._fingerprint = settings.fingerprint()
        self.reused = 0
        self.tasks: list[Task] = []
        for text in texts:
            own = index.with_lists(image_lists(settings, text))
            self.tasks += [_task(text, n, len(self.tasks) + n, own) for n in range(len(text.pages))]
        self.tasks = _mended(self.tasks, mends or {}, index)

    def info(self) -> RunInfo:
        return RunInfo(
            work=self.name,
            title=self._settings.project.title or self._texts[0].title or self.name,
            texts=tuple(
                TextInfo(str(t.path), hashlib.sha256(t.text.encode()).hexdigest(), t.format, self.script(t).value)
                for t in self._texts
            ),
            engine=self._engine,
            settings={"fingerprint": self._fingerprint, "threshold": self._settings.flags.threshold},
        )

    def script(self, text: Transcription) -> Script:
        """The script of a text: as set, or as the text shows."""
        named = self._settings.page.script
        return text.script if named == "auto" else Script(named)

    def key(self, task: Task) -> str:
        """A hash of all that the result of a page depends on. Raises ImageError where the image cannot be read."""
        image = task.found
        parts = [
            str(METHOD),
            proof.__version__,
            *(self._engine.name, self._engine.version, self._engine.checksum),
            self._fingerprint,
            lists_fingerprint(),
            self.script(task.text).value,
            sha256_of(image.path) if image else "",
            image.quadrant if image else "",
            *([json.dumps(task.mend.layout.as_json())] if task.mend and task.mend.layout else []),
            task.ref,
            task.page.id,
            *(column.source for column in task.page.columns),
        ]
        return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


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


def check_task(
    task: Task, work: Work, store: Store, checkers: dict[Script, Checker], plates: Plates
) -> tuple[Task, PageResult, str]:
    """The result of one page, out of the store or fresh; whatever is wrong with it costs this page alone."""
    if task.trouble:
        return task, PageResult(task.page.id, task.ref, Status.FAILED, task.trouble), ""
    if task.found is None:
        return task, PageResult(task.page.id, task.ref, Status.NO_IMAGE), ""
    try:
        key = work.key(task)
        known = store.cached_page(key)
        if known is not None:
            work.reused += 1
            return task, replace(known, image=task.found.path), key
        near = neighbours_of(task.text.pages, task.number)
        image = plates.load(task.found)
        hint = task.mend.layout if task.mend else None
        return task, checkers[work.script(task.text)].check(task.page, task.ref, task.found, image, near, hint), key
    except (ImageError, EngineError, MemoryError) as error:
        why = str(error).strip() or "there is not enough memory for this page"
    except Exception as error:
        # a mistake of ours that one page brings to light must not cost the other 27,000
        LOG.exception("page %s failed", task.page.id)
        why = f"{task.found.path}: the check broke on this page ({type(error).__name__}: {error}); please report it"
    return task, PageResult(task.page.id, task.ref, Status.FAILED, why, image=task.found.path), ""


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


def settle(
    store: Store,
    work: str,
    habits: Habits,
    threshold: float,
    hearings: Mapping[str, Hearing] | None = None,
    pages: Set[str] | None = None,
) -> None:
    """Weigh the flags of the run again by what the whole text taught, and by what the witnesses of each page's text
    read (`hearings`, by page). Of `pages` alone, where they are given."""
    changed = []
    for stored in store.flags(FlagFilter(work=work)):
        if pages is not None and stored.flag.page not in pages:
            continue
        settled = habits.settled(unheard(stored.flag, threshold), threshold)
        hearing = hearings.get(settled.page) if hearings else None
        if hearing is not None and not stored.stale:
            settled = hearing.heard(settled)
        if settled != stored.flag:
            changed.append(settled)
    store.rescore(work, changed)


def hearings_of(
    settings: Settings, editions: Sequence[Transcription | Edition], texts: Sequence[Transcription], store: Store
) -> dict[str, Hearing]:
    """For every page its text beside the witnesses that have something of it; the text itself is none of them.

    An alignment is kept in the store while neither of the two changes. Raises TextError, ConfigError.
    """
    witnesses = [read_edition(path) for path in settings.witness_files()]
    if not witnesses:
        return {}
    found: dict[str, Hearing] = {}
    for given, text in zip(editions, texts, strict=True):
        edition = edition_of(given) if isinstance(given, Transcription) else given
        parallels = []
        for witness in witnesses:
            if witness.path.resolve() == edition.path.resolve() or witness.text == edition.text:
                continue
            parts = (str(METHOD), proof.__version__, lists_fingerprint(), edition.text, witness.text)
            key = f"beside {hashlib.sha256(chr(31).join(parts).encode('utf-8', 'surrogatepass')).hexdigest()}"
            known = store.readings.get(key)
            parallel, alignment = beside(edition, witness, known)
            if known is None:
                store.readings.put(key, alignment)
            if parallel.aligned:
                parallels.append(parallel)
        script = text.script if settings.page.script == "auto" else Script(settings.page.script)
        policy = VariantPolicy(script, settings.variants.file)
        hearing = Hearing(Addresses(edition), tuple(parallels), policy, settings.flags.threshold)
        found |= {page.id: hearing for page in text.pages}
    return found


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


def image_lists(settings: Settings, text: Transcription) -> tuple[Path, ...]:
    """The image list that is set (in a folder of them, the one named as the text), or the one beside the
    text, as Kanripo has them."""
    return find_image_lists(text.path, text.pages, settings.project.imglist)


def _task(text: Transcription, number: int, position: int, index: ImageIndex) -> Task:
    page = text.pages[number]
    place = PagePlace(position, str(text.path), page.juan, str(page.folio) if page.folio else "")
    ref = index.reference(page)
    try:
        return Task(text, number, place, index.find(page), ref)
    except ImageListError as error:
        return Task(text, number, place, None, ref, str(error))


def _mended(tasks: Sequence[Task], mends: Mapping[tuple[str, int], Mend], index: ImageIndex) -> list[Task]:
    """The tasks with what people set right: layouts, and images given to pages."""
    repeats: Counter[str] = Counter()
    mended = []
    for task in tasks:
        mend = mends.get((task.page.id, repeats[task.page.id]))
        repeats[task.page.id] += 1
        mended.append(with_mend(task, mend, index) if mend else task)
    return mended


def with_mend(task: Task, mend: Mend, index: ImageIndex) -> Task:
    """A task as a person set it right. An image that is gone from the folders costs this page."""
    if not mend.image:
        return replace(task, mend=mend)
    found = index.assigned(mend.image, mend.quadrant)
    gone = f"{mend.image}: this image was assigned by {mend.person} and is in no image folder now; assign another"
    return replace(task, mend=mend, found=found, trouble="" if found else gone)
