"""What a worker on another machine is sent, what it does with it, and what it sends back."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import proof
from proof.checking.executor import Plates, check_or_fail, checker_for, engine_settings, failed_result
from proof.checking.plan import METHOD, PageKeys, PageTask
from proof.errors import ClusterError, ImageError
from proof.images.remote import FetchedImages, ImageLocations
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


@dataclass(frozen=True, slots=True)
class Release:
    """What of the program decides how a page is judged: two machines that differ in it would find different things."""

    version: str
    method: int
    lists: str

    @classmethod
    def here(cls) -> Release:
        """That of this machine."""
        return cls(proof.__version__, METHOD, lists_fingerprint())


@dataclass(frozen=True, slots=True)
class ClusterJob:
    """What all pages of a run are judged by; `drawn` is packed, empty where no font is set."""

    settings: Settings
    keys: PageKeys
    images: ImageLocations
    release: Release
    drawn: bytes = b""


@dataclass(frozen=True, slots=True)
class SentPage:
    """A page as it is sent: its task with no more of the text than its neighbours; the `key` of the result that the
    store has of it, if that holds while its image is unchanged; what was read on that image before, and whether its
    glyphs are known."""

    task: PageTask
    key: str = ""
    readings: tuple[str, bytes] | None = None
    glyphs_known: bool = False

    @property
    def cache(self) -> SentPage:
        return self

    def cached_page(self, key: str) -> KeptResult | None:
        """None: a result that still holds is not sent, it stays in the store (`Answer`)."""
        return None

    @property
    def glyphs(self) -> SentPage:
        return self

    def shown(self, image_sha: str) -> bool:
        """Of the image that what was read comes from: no other is asked for."""
        return self.glyphs_known

    def get(self, key: str) -> bytes | None:
        """What was read before, if it was on this very image."""
        return self.readings[1] if self.readings and self.readings[0] == key else None


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a page: its `key`, its result (None: what the store has under that key still holds) without its
    characters, these as the store keeps them, and what is to be kept of what was read."""

    key: str
    result: PageResult | None
    readings: tuple[str, bytes] | None = None
    packed: PackedCharacters | None = None


def cut_out(task: PageTask) -> PageTask:
    """A task without what its page is not judged by: the text but for the neighbouring pages."""
    first = max(task.number - REACH_PAGES, 0)
    near = task.text.pages[first : task.number + REACH_PAGES + 1]
    pages = tuple(replace(page, cut=page.columns) for page in near)  # without the text that they are cut out of
    text = task.text
    sent = Transcription(text.path, text.format, text.script, Decoded("", "utf-8", False), text.title, text.work)
    return replace(task, text=replace(sent, pages=pages), number=task.number - first)


def check_sent(sent: Sequence[SentPage], job: bytes) -> list[Answer]:
    """Check pages on this worker, one after the other, as any page of the (pickled) `job` is checked. Raises
    ClusterError where this worker is not the same as the machine that began the check: whatever is wrong with a page
    itself is in its answer."""
    own = _unpacked(job)
    return [_check(own, page) for page in sent]


def _check(job: ClusterJob, sent: SentPage) -> Answer:
    checker = _checker(job, job.keys.script(sent.task.text))
    task = sent.task
    there = task.image.path if task.image else Path()
    try:
        if task.image is not None:
            task = replace(task, image=replace(task.image, path=_images(_scratch()).file(there, job.images)))
        if sent.key and job.keys.key(task) == sent.key:
            return Answer(sent.key, None)
    except ImageError as error:
        return Answer("", failed_result(sent.task, error))
    page = check_or_fail(task, job.keys, sent, checker, Plates(job.settings.images.max_megapixels))
    here = task.image.path if task.image else Path()
    result = _called(page.result, here, there)
    packed = PackedCharacters.of(result.characters, page.shapes) if result.characters else None
    return Answer(page.key, replace(result, characters=()), page.readings, packed)


def _called(result: PageResult, here: Path, there: Path) -> PageResult:
    """A result in which its image is called as it is where the check began."""
    if here == there:
        return result

    def renamed(notice: Notice) -> Notice:
        values: dict[str, Value] = {
            name: renamed(value) if isinstance(value, Notice) else str(there) if value == str(here) else value
            for name, value in notice.values
        }
        return Notice.of(notice.code, **values)

    message = renamed(result.message) if result.message else None
    notices = tuple(map(renamed, result.notices))
    return replace(result, image=there if result.image else None, message=message, notices=notices)


@lru_cache(maxsize=8)
def _unpacked(job: bytes) -> ClusterJob:
    """A job is the same for many pages, and unpacked once."""
    unpacked = pickle.loads(job)  # noqa: S301 - from who sends the pages, as the pages themselves
    assert isinstance(unpacked, ClusterJob)
    return unpacked


@lru_cache(maxsize=8)
def _images(inside: Path | None) -> FetchedImages:
    return FetchedImages(inside)


def _scratch() -> Path | None:
    """A folder of this worker, which Dask removes when the worker ends, or, where it was killed, when the next one
    starts on its machine."""
    own = _worker()
    return Path(own.local_directory) / "images" if own else None


def _checker(job: ClusterJob, script: Script) -> Checker:
    with _LOCK:  # threads of one worker load a model once
        return _checker_of(job, script, _threads())


@lru_cache(maxsize=8)
def _checker_of(job: ClusterJob, script: Script, threads: int) -> Checker:
    own = Release.here()
    if own != job.release:
        raise ClusterError(
            f"a worker has proof {own.version}, this machine {job.release.version}, or other lists of characters: "
            "install the same release on all"
        )
    engine = _engine(replace(engine_settings(job.settings), readers=threads))
    if engine.identity != job.keys.engine:
        raise ClusterError(
            f"a worker reads with {engine.identity}, this machine with {job.keys.engine}: they would find different "
            "things; install the same packages and model on all"
        )
    return checker_for(job.settings, engine, script, DrawnReadings.unpacked(job.drawn) if job.drawn else None)


@lru_cache(maxsize=2)
def _engine(settings: EngineSettings) -> Engine:
    return open_engine(settings)


def _threads() -> int:
    own = _worker()
    return int(own.state.nthreads) if own else 1


def _worker() -> Worker | None:
    """The worker that this runs on; None where it runs on none."""
    from distributed import get_worker  # noqa: PLC0415 - a tenth of a second, which who only imports this need not pay

    try:
        return get_worker()
    except ValueError:
        return None
