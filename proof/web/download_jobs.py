"""Downloads of a work, made in the background by one thread, since the report of a large work takes minutes and its
corrected text one minute. The browser polls for their progress."""

from __future__ import annotations

import logging
import uuid
import zipfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Lock
from typing import TypeVar

from proof.errors import ProofError, PublicError, StoppedError
from proof.locale.marking import _
from proof.web.error_messages import english_message
from proof.web.messages import REFUSALS

LOG = logging.getLogger(__name__)

MAX_KEPT_DOWNLOADS = 6
"""Number of downloads above which the oldest finished ones are removed."""

T = TypeVar("T")


class DownloadKind(StrEnum):
    """The kinds of downloads: the report with its tables, the corrected text with its diff and notes, the notes."""

    REPORT = "report"
    TEXT = "text"
    NOTES = "notes"


class DownloadState(StrEnum):
    WAITING = "waiting"
    MAKING = "making"
    DONE = "done"
    FAILED = "failed"


class NoDownloadError(PublicError):
    """No download has that number: it was removed, or the server was restarted."""

    http_status = 404


class StepCount:
    """Counts the finished steps of a download, `done` of `total`, and can stop it between two steps."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        self._stop = Event()

    def stop(self) -> None:
        """Stop before the next step."""
        self._stop.set()

    def through(self, steps: Iterable[T]) -> Iterator[T]:
        """Yield the steps and count each after it was processed. Raises StoppedError."""
        for step in steps:
            if self._stop.is_set():
                raise StoppedError(_("the download was no longer wanted"))
            yield step
            self.done += 1


Make = Callable[[Path, StepCount], None]
"""Writes the files of a download into a folder and counts its steps."""


@dataclass(frozen=True, slots=True)
class DownloadJob:
    """A download in one language: files that are made and then packed into one archive."""

    number: str
    work: str
    kind: DownloadKind
    language: str
    count: StepCount
    folder: TemporaryDirectory[str]
    future: Future[Path]

    @property
    def state(self) -> DownloadState:
        running = self.future.running()  # first, since it may finish between the two calls
        if not self.future.done():
            return DownloadState.MAKING if running else DownloadState.WAITING
        return DownloadState.FAILED if self.future.cancelled() or self.future.exception() else DownloadState.DONE

    @property
    def reason(self) -> str:
        """Why it failed; empty if it did not fail or is not done."""
        if self.state is not DownloadState.FAILED:
            return ""
        return english_message(None if self.future.cancelled() else self.future.exception())

    @property
    def file(self) -> Path | None:
        """The archive; None until it is done."""
        return self.future.result() if self.state is DownloadState.DONE else None


class DownloadJobs:
    """The queue of downloads and the last finished ones."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="making downloads")
        self._lock = Lock()
        self._jobs: dict[str, DownloadJob] = {}

    def begin(self, work: str, kind: DownloadKind, language: str, total: int, make: Make) -> DownloadJob:
        """Queue a download of `total` steps. If an equal one is still waiting, that is returned instead; one that is
        being made is not, since it may lack the latest decisions."""
        with self._lock:
            for job in self._jobs.values():
                is_equal = (job.work, job.kind, job.language) == (work, kind, language)
                if is_equal and job.state is DownloadState.WAITING:
                    return job
            count = StepCount(total)
            folder = TemporaryDirectory(prefix="proof-download-", ignore_cleanup_errors=True)
            future = self._thread.submit(_make_archive, make, Path(folder.name), count)
            job = DownloadJob(uuid.uuid4().hex, work, kind, language, count, folder, future)
            self._jobs[job.number] = job
            finished = [number for number, other in self._jobs.items() if other.future.done()]
            for number in finished[: max(len(self._jobs) - MAX_KEPT_DOWNLOADS, 0)]:
                self._jobs.pop(number).folder.cleanup()
            return job

    def job(self, work: str, number: str) -> DownloadJob:
        """The download of that number. Raises NoDownloadError."""
        job = self._jobs.get(number)
        if job is None or job.work != work:
            raise NoDownloadError(REFUSALS["no download"])
        return job

    def close(self) -> None:
        """Stop the download that is being made, and remove the finished ones."""
        with self._lock:
            for job in self._jobs.values():
                job.count.stop()
            self._thread.shutdown(cancel_futures=True)
            for job in self._jobs.values():
                job.folder.cleanup()
            self._jobs.clear()


def _make_archive(make: Make, folder: Path, count: StepCount) -> Path:
    """Make the files of a download and pack them. Gives the path of the archive."""
    path = folder / "files.zip"
    try:
        with TemporaryDirectory(dir=folder) as files:  # only the archive is kept
            make(Path(files), count)
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                for file in sorted(Path(files).rglob("*")):
                    if file.is_file():
                        archive.write(file, file.relative_to(files))
    except ProofError:
        raise
    except Exception:
        LOG.exception("a download could not be made")
        raise
    return path
