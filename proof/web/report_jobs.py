"""Reports made while people work on: one thread makes them, since that of a large work takes minutes; who asked looks
in for how far it has come, and takes it home when it is there."""

from __future__ import annotations

import logging
import uuid
import zipfile
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Lock
from typing import BinaryIO

from proof.errors import ProofError, StoppedError, ToldError
from proof.model.result import PageResult
from proof.report import StoredRun, write_reports
from proof.store import Store
from proof.web.messages import REFUSALS

LOG = logging.getLogger(__name__)

KEPT = 4
"""Reports that are kept to be taken home; an older one is made anew."""


class ReportState(StrEnum):
    """Where a report stands."""

    WAITING = "waiting"
    MAKING = "making"
    DONE = "done"
    FAILED = "failed"


class NoReportError(ToldError):
    """No report has that number: it is long gone, or the server was started anew since."""

    http_status = 404


class PageCount:
    """How many pages of a report were gone through, of so many in all, and whether it is still wanted."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        self._stop = Event()

    def stop(self) -> None:
        """Make nothing more of it."""
        self._stop.set()

    def through(self, pages: Iterator[PageResult]) -> Iterator[PageResult]:
        """The pages, each counted once it was gone through. Raises StoppedError."""
        for page in pages:
            if self._stop.is_set():
                raise StoppedError("the report was no longer wanted")
            yield page
            self.done += 1


@dataclass(frozen=True, slots=True)
class CountedRun(StoredRun):
    """A run in the store whose pages are counted as a report goes through them."""

    count: PageCount

    def outlines(self) -> Iterator[PageResult]:
        return self.count.through(StoredRun.outlines(self))

    def raised(self) -> Iterator[PageResult]:
        return self.count.through(StoredRun.raised(self))


@dataclass(frozen=True, slots=True)
class ReportJob:
    """A report that is to be made, in one language: its file once it is there."""

    number: str
    work: str
    language: str
    count: PageCount
    folder: TemporaryDirectory[str]
    future: Future[Path]

    @property
    def state(self) -> ReportState:
        """Where it stands now."""
        running = self.future.running()  # asked first: it may be done a moment later, and never before
        if not self.future.done():
            return ReportState.MAKING if running else ReportState.WAITING
        return ReportState.FAILED if self.future.cancelled() or self.future.exception() else ReportState.DONE

    @property
    def reason(self) -> str:
        """Why it failed; empty where it did not, or is not done."""
        if self.state is not ReportState.FAILED:
            return ""
        error = None if self.future.cancelled() else self.future.exception()
        return str(error) if isinstance(error, ProofError) else "the server made a mistake; its log says which"

    @property
    def file(self) -> Path | None:
        """The report with the tables beside it, packed, once it is there."""
        return self.future.result() if self.state is ReportState.DONE else None


class ReportJobs:
    """The reports that are to be made, in the order in which they were asked for, and those that were made last."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="making reports")
        self._lock = Lock()
        self._jobs: dict[str, ReportJob] = {}

    def begin(self, work: str, run: int, language: str) -> ReportJob:
        """Have the report of a run made, as things stand now; one that is under way is waited for."""
        with self._lock:
            for job in self._jobs.values():
                if (job.work, job.language) == (work, language) and not job.future.done():
                    return job
            pages = self._store.queue.pages(work)
            count = PageCount(len(pages) + sum(page.flags > 0 for page in pages))
            folder = TemporaryDirectory(prefix="proof-report-", ignore_cleanup_errors=True)
            source = CountedRun(self._store, run, count)
            made = self._thread.submit(_made, source, Path(folder.name), work, language)
            job = ReportJob(uuid.uuid4().hex, work, language, count, folder, made)
            self._jobs[job.number] = job
            over = [number for number, one in self._jobs.items() if one.future.done()]
            for old in over[: max(len(self._jobs) - KEPT, 0)]:
                self._jobs.pop(old).folder.cleanup()
            return job

    def job(self, work: str, number: str) -> ReportJob:
        """A report that was asked for. Raises NoReportError."""
        found = self._jobs.get(number)
        if found is None or found.work != work:
            raise NoReportError(REFUSALS["no report"])
        return found

    def close(self) -> None:
        """Leave what is being made, and throw away what was made."""
        with self._lock:
            for job in self._jobs.values():
                job.count.stop()
            self._thread.shutdown(cancel_futures=True)
            for job in self._jobs.values():
                job.folder.cleanup()
            self._jobs.clear()


def _made(source: CountedRun, folder: Path, work: str, language: str) -> Path:
    try:
        write_reports(source, folder / "report", language=language)
        pack(folder / "report", folder / "report.zip")
        return folder / "report.zip"
    except ProofError:
        raise
    except Exception:
        LOG.exception("the report of %s could not be made", work)
        raise


def pack(folder: Path, packed: Path | BinaryIO) -> None:
    """Write the files of a folder as one archive."""
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(folder))
