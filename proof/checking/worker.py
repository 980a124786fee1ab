"""Checking pages on a worker of a cluster: the data that it gets, and its answers."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import proof
from proof.checking.executor import ImageLoader, check_or_fail, checker_for, engine_settings, failed_result
from proof.checking.plan import METHOD_VERSION, PageKeys, PageTask
from proof.errors import ClusterError, ImageError
from proof.images.remote import FetchedImages, ImageLocations
from proof.locale.marking import _
from proof.model.notices import Notice, Value
from proof.model.result import PageResult
from proof.ocr.drawn import DrawnReadings
from proof.ocr.engine import Engine
from proof.ocr.registry import EngineSettings, open_engine
from proof.settings.config import Settings
from proof.store import KeptResult, PackedCharacters
from proof.text.authorities import lists_fingerprint
from proof.text.encoding import Decoded
from proof.text.model import Script
from proof.text.transcription import Transcription
from proof.verify.page import Checker
from proof.verify.pairing import REACH_PAGES

if TYPE_CHECKING:
    from distributed import Worker

_LOCK = Lock()
"""Held while a checker is looked up or made, so that the threads of a worker load a model only once."""


@dataclass(frozen=True, slots=True)
class Release:
    """The parts of the program on which results depend: machines with different releases give different results."""

    version: str
    method: int
    lists: str

    @classmethod
    def installed(cls) -> Release:
        """The release that is installed on this machine."""
        return cls(proof.__version__, METHOD_VERSION, lists_fingerprint())


@dataclass(frozen=True, slots=True)
class ClusterJob:
    """The data that all pages of a run share. `drawn` are the packed `DrawnReadings`, empty if no font is set."""

    settings: Settings
    keys: PageKeys
    images: ImageLocations
    release: Release
    drawn: bytes = b""


@dataclass(frozen=True, slots=True)
class SentPage:
    """A page as it is sent: its task, cut out of the text (`cut_out`); the `key` of its result in the store, which is
    valid if the image has not changed; the stored readings of that image, with their key; and whether the store has
    its glyphs (`glyphs_known`). `check_page` uses it in place of the store."""

    task: PageTask
    key: str = ""
    readings: tuple[str, bytes] | None = None
    glyphs_known: bool = False

    @property
    def cache(self) -> SentPage:
        """In place of `Store.cache`."""
        return self

    def cached_page(self, key: str) -> KeptResult | None:
        """None, since results are not sent, only the key of the page's own result."""
        return None

    @property
    def glyphs(self) -> SentPage:
        """In place of `Store.glyphs`."""
        return self

    def known_on(self, image_sha: str) -> bool:
        """Whether the store has the glyphs; called only for the image of the stored readings."""
        return self.glyphs_known

    def get(self, key: str) -> bytes | None:
        """The stored readings, if they have this key."""
        return self.readings[1] if self.readings and self.readings[0] == key else None


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer for a page: the `key` of its result; the result without characters, None if the store's result with
    that key is valid; its characters as the store packs them; and the readings to keep, with their key."""

    key: str
    result: PageResult | None
    readings: tuple[str, bytes] | None = None
    packed: PackedCharacters | None = None


def cut_out(task: PageTask) -> PageTask:
    """A task with only the neighbouring pages of its text."""
    text = task.text
    first = max(task.number - REACH_PAGES, 0)
    neighbours = text.pages[first : task.number + REACH_PAGES + 1]
    pages = tuple(
        replace(page, cut=page.columns) for page in neighbours
    )  # not the function that cuts them from the text
    empty = Transcription(text.path, text.format, text.script, Decoded("", "utf-8", False), text.title, text.work)
    return replace(task, text=replace(empty, pages=pages), number=task.number - first)


def check_sent(sent: Sequence[SentPage], job: bytes) -> list[Answer]:
    """Check pages on this worker, one after the other, with the data of the (pickled) `job`. Raises ClusterError if the
    release of this worker differs from that of the machine that started the check; errors of pages are in the
    answers."""
    unpacked = _unpacked(job)
    return [_check(unpacked, page) for page in sent]


def _check(job: ClusterJob, sent: SentPage) -> Answer:
    checker = _checker(job, job.keys.script(sent.task.text))
    task = sent.task
    given_path = task.image.path if task.image else Path()
    try:
        if task.image is not None:
            task = replace(task, image=replace(task.image, path=_images(_scratch()).file(given_path, job.images)))
        if sent.key and job.keys.key(task) == sent.key:
            return Answer(sent.key, None)
    except ImageError as error:
        return Answer("", failed_result(sent.task, error))
    page = check_or_fail(task, job.keys, sent, checker, ImageLoader(job.settings.images.max_megapixels))
    worker_path = task.image.path if task.image else Path()
    result = _with_path(page.result, worker_path, given_path)
    packed = PackedCharacters.of(result.characters, page.shapes) if result.characters else None
    return Answer(page.key, replace(result, characters=()), page.readings, packed)


def _with_path(result: PageResult, worker_path: Path, given_path: Path) -> PageResult:
    """A result with the image's path on the machine that started the check instead of its path on the worker."""
    if worker_path == given_path:
        return result

    def with_given_path(notice: Notice) -> Notice:
        values: dict[str, Value] = {}
        for name, value in notice.values:
            if isinstance(value, Notice):
                values[name] = with_given_path(value)
            else:
                values[name] = str(given_path) if value == str(worker_path) else value
        return Notice.of(notice.code, **values)

    message = with_given_path(result.message) if result.message else None
    notices = tuple(map(with_given_path, result.notices))
    return replace(result, image=given_path if result.image else None, message=message, notices=notices)


@lru_cache(maxsize=8)
def _unpacked(job: bytes) -> ClusterJob:
    """The unpickled job, cached, since many pages share it."""
    unpacked = pickle.loads(job)  # noqa: S301 - Dask unpickles what its scheduler sends anyway
    assert isinstance(unpacked, ClusterJob)
    return unpacked


@lru_cache(maxsize=8)
def _images(folder: Path | None) -> FetchedImages:
    """The images that this process fetched into a folder."""
    return FetchedImages(folder)


def _scratch() -> Path | None:
    """A folder of this worker, which Dask removes when the worker ends, or, if it was killed, when the next one starts
    on its machine."""
    worker = _worker()
    return Path(worker.local_directory) / "images" if worker else None


def _checker(job: ClusterJob, script: Script) -> Checker:
    with _LOCK:
        return _checker_of(job, script, _threads())


@lru_cache(maxsize=8)
def _checker_of(job: ClusterJob, script: Script, threads: int) -> Checker:
    """The checker for pages in one script. Raises ClusterError if this worker would give other results than the machine
    that started the check."""
    own = Release.installed()
    if own != job.release:
        raise ClusterError(
            _(
                "a worker has proof %(version)s, this machine %(here)s, or other lists of characters: install"
                " the same release on all machines"
            ),
            version=own.version,
            here=job.release.version,
        )
    engine = _engine(replace(engine_settings(job.settings), readers=threads))
    if engine.identity != job.keys.engine:
        raise ClusterError(
            _(
                "a worker reads with %(identity)s, this machine with %(engine)s: their results would differ; "
                "install the same packages and model on all machines"
            ),
            identity=engine.identity,
            engine=job.keys.engine,
        )
    return checker_for(job.settings, engine, script, DrawnReadings.unpacked(job.drawn) if job.drawn else None)


@lru_cache(maxsize=2)
def _engine(settings: EngineSettings) -> Engine:
    return open_engine(settings)


def _threads() -> int:
    """Threads of this worker."""
    worker = _worker()
    return int(worker.state.nthreads) if worker else 1


def _worker() -> Worker | None:
    """The Dask worker that this thread belongs to; None if it belongs to none."""
    from distributed import get_worker  # noqa: PLC0415 - importing it takes a tenth of a second

    try:
        return get_worker()
    except ValueError:
        return None
