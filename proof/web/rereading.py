"""Pages read again while people work on: one thread reads, since the engine is large and a page takes a second or
more; who asked looks in for what came of it."""

from __future__ import annotations

import logging
import uuid
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from enum import StrEnum
from threading import Lock

from proof.again import Reader, Reread
from proof.errors import ProofError

LOG = logging.getLogger(__name__)
KEPT = 100
"""Readings that are remembered after they are done."""


class Stage(StrEnum):
    """Where a reading stands."""

    WAITING = "waiting"
    READING = "reading"
    DONE = "done"
    FAILED = "failed"


class NoReadingError(ProofError):
    """No reading of that page has that number: it is long done, or the server was started anew since."""

    http_status = 404


@dataclass(frozen=True, slots=True)
class Job:
    """A page that is to be read again. `first`: nothing was ahead of it when it was asked for."""

    number: str
    work: str
    page: int
    first: bool
    future: Future[Reread]

    @property
    def state(self) -> Stage:
        """Where it stands now."""
        if not self.future.done():
            return Stage.READING if self.future.running() else Stage.WAITING
        return Stage.FAILED if self.reason else Stage.DONE

    @property
    def under_way(self) -> bool:
        """Whether something is still to come of it."""
        return not self.future.done()

    @property
    def reason(self) -> str:
        """Why it failed; empty where it did not, or is not done."""
        if not self.future.done():
            return ""
        try:
            error = self.future.exception()
        except CancelledError:
            return "the server was stopped"
        if error is None:
            return ""
        return str(error) if isinstance(error, ProofError) else "the server made a mistake; its log says which"

    @property
    def outcome(self) -> Reread | None:
        """What came of it; None where nothing did, or has not yet."""
        return self.future.result() if self.future.done() and not self.reason else None

    def wait(self, seconds: float) -> None:
        """Wait for it so long, unless another is ahead: then nobody can say how long it takes."""
        if self.first:
            wait([self.future], seconds)


class Rereading:
    """The pages that are to be read again, in the order in which they were asked for."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="reading again")
        self._lock = Lock()
        self._jobs: dict[str, Job] = {}

    def begin(self, work: str, page: int) -> Job:
        """Have a page read again; one that waits for it already is waited for once."""
        with self._lock:
            pending = [job for job in self._jobs.values() if job.under_way]
            for job in pending:
                if (job.work, job.page, job.state) == (work, page, Stage.WAITING):
                    return job
            number = uuid.uuid4().hex
            made = Job(number, work, page, not pending, self._thread.submit(self._read, work, page))
            self._jobs[number] = made
            done = [number for number, job in self._jobs.items() if not job.under_way]
            for old in done[: max(len(self._jobs) - KEPT, 0)]:
                del self._jobs[old]
            return made

    def job(self, work: str, page: int, number: str) -> Job:
        """A reading that was begun. Raises NoReadingError."""
        found = self._jobs.get(number)
        if found is None or (found.work, found.page) != (work, page):
            raise NoReadingError("nothing is known of that reading; have the page read again")
        return found

    def close(self) -> None:
        """Finish the page that is being read; those that wait are left to be asked for again."""
        self._thread.shutdown(cancel_futures=True)

    def _read(self, work: str, page: int) -> Reread:
        try:
            return self._reader.read(work, page)
        except ProofError:
            raise
        except Exception:
            LOG.exception("page %s of %s could not be read again", page, work)
            raise
