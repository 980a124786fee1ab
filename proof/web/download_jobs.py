"""What is taken home of a work, made while people work on: one thread makes it, since the report of a large work takes
minutes and its corrected text one; who asked looks in for how far it has come."""

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

from proof.errors import ProofError, StoppedError, ToldError
from proof.web.messages import REFUSALS
from proof.web.scratch import ScratchFolder, remove_abandoned

LOG = logging.getLogger(__name__)

KEPT = 6
"""Files that are kept to be taken home; an older one is made anew."""

T = TypeVar("T")


class DownloadKind(StrEnum):
    """What can be taken home: the report with its tables, the corrected text with its diff and notes, the notes."""

    REPORT = "report"
    TEXT = "text"
    NOTES = "notes"


class DownloadState(StrEnum):
    """Where a download stands."""

    WAITING = "waiting"
    MAKING = "making"
    DONE = "done"
    FAILED = "failed"


class NoDownloadError(ToldError):
    """No download has that number: it is long gone, or the server was started anew since."""

    http_status = 404


class StepCount:
    """How many steps were made, of so many in all, and whether they are still wanted."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        self._stop = Event()

    def stop(self) -> None:
        """Make nothing more of it."""
        self._stop.set()

    def through(self, steps: Iterable[T]) -> Iterator[T]:
        """The steps, each counted once it was made. Raises StoppedError."""
        for step in steps:
            if self._stop.is_set():
                raise StoppedError("the download was no longer wanted")
            yield step
            self.done += 1


Make = Callable[[Path, StepCount], None]
"""Writes the files of a download into a folder, its steps counted."""


@dataclass(frozen=True, slots=True)
class DownloadJob:
    """Files that are to be made for one language; one archive once they are there."""

    number: str
    work: str
    kind: DownloadKind
    language: str
    count: StepCount
    folder: TemporaryDirectory[str]
    future: Future[Path]

    @property
    def state(self) -> DownloadState:
        """Where it stands now."""
        running = self.future.running()  # asked first: it may be done a moment later, and never before
        if not self.future.done():
            return DownloadState.MAKING if running else DownloadState.WAITING
        return DownloadState.FAILED if self.future.cancelled() or self.future.exception() else DownloadState.DONE

    @property
    def reason(self) -> str:
        """Why it failed; empty where it did not, or is not done."""
        if self.state is not DownloadState.FAILED:
            return ""
        error = None if self.future.cancelled() else self.future.exception()
        return str(error) if isinstance(error, ProofError) else "the server made a mistake; its log says which"

    @property
    def file(self) -> Path | None:
        """The archive, once it is there."""
        return self.future.result() if self.state is DownloadState.DONE else None


class DownloadJobs:
    """The downloads that are to be made, in the order in which they were asked for, and those that were made last.
    What servers left of theirs that were killed outright is removed."""

    def __init__(self) -> None:
        remove_abandoned()
        self._scratch = ScratchFolder()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="making downloads")
        self._lock = Lock()
        self._jobs: dict[str, DownloadJob] = {}

    def begin(self, work: str, kind: DownloadKind, language: str, total: int, make: Make) -> DownloadJob:
        """Have a download made in `total` steps; one of the same that is not begun yet is waited for. What is being
        made is of an earlier moment, without what was decided since."""
        with self._lock:
            for job in self._jobs.values():
                same = (job.work, job.kind, job.language) == (work, kind, language)
                if same and job.state is DownloadState.WAITING:
                    return job
            count = StepCount(total)
            folder = TemporaryDirectory(dir=self._scratch.path(), ignore_cleanup_errors=True)
            made = self._thread.submit(_made, make, Path(folder.name), count)
            job = DownloadJob(uuid.uuid4().hex, work, kind, language, count, folder, made)
            self._jobs[job.number] = job
            over = [number for number, other in self._jobs.items() if other.future.done()]
            for old in over[: max(len(self._jobs) - KEPT, 0)]:
                self._jobs.pop(old).folder.cleanup()
            return job

    def job(self, work: str, number: str) -> DownloadJob:
        """A download that was asked for. Raises NoDownloadError."""
        job = self._jobs.get(number)
        if job is None or job.work != work:
            raise NoDownloadError(REFUSALS["no download"])
        return job

    def close(self) -> None:
        """Leave what is being made, and throw away what was made."""
        with self._lock:
            for job in self._jobs.values():
                job.count.stop()
            self._thread.shutdown(cancel_futures=True)
            for job in self._jobs.values():
                job.folder.cleanup()
            self._jobs.clear()
            self._scratch.close()


def _made(make: Make, folder: Path, count: StepCount) -> Path:
    packed = folder / "files.zip"
    try:
        with TemporaryDirectory(dir=folder) as files:  # only what is packed is kept
            make(Path(files), count)
            with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
                for file in sorted(Path(files).rglob("*")):
                    if file.is_file():
                        archive.write(file, file.relative_to(files))
    except ProofError:
        raise
    except Exception:
        LOG.exception("a download could not be made")
        raise
    return packed
