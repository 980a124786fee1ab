"""Pages read again while people work on: one thread reads, since the engine is large and a page takes a second or
more; who asked looks in for what came of it, or takes it back."""

from __future__ import annotations

import logging
import uuid
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from enum import StrEnum
from threading import Event, Lock

from proof.checking.recheck import Rechecker, RecheckFault, Reread
from proof.errors import ProofError, StoppedError, ToldError
from proof.web.messages import REFUSALS

LOG = logging.getLogger(__name__)
KEPT = 100
"""Readings that are remembered after they are done."""
STOPPED = "the server was stopped"


class Stage(StrEnum):
    """Where a reading stands."""

    WAITING = "waiting"
    READING = "reading"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"


class NoReadingError(ToldError):
    """No reading of that page has that number: it is long done, or the server was started anew since."""

    http_status = 404


class NotAskedError(ToldError):
    """Who takes a reading back has not asked for it, and is not entitled to take back what others asked for."""

    http_status = 403


@dataclass(frozen=True, slots=True)
class Job:
    """A page that is to be read again. `first`: nothing was ahead of it when it was asked for; `askers`: who waits
    for it; `stop` is set once nobody does."""

    number: str
    work: str
    page: int
    first: bool
    askers: set[str]
    stop: Event
    future: Future[Reread]

    @property
    def state(self) -> Stage:
        """Where it stands now."""
        running = self.future.running()  # asked first: it may be done a moment later, and never before
        if not self.future.done():
            return Stage.READING if running else Stage.WAITING
        error = self._error()
        if error is None:
            return Stage.DONE
        taken_back = isinstance(error, StoppedError) or (isinstance(error, CancelledError) and self.stop.is_set())
        return Stage.STOPPED if taken_back else Stage.FAILED

    @property
    def waited_for_by(self) -> list[str]:
        """Who waits for it; nobody, once it was taken back."""
        return sorted(self.askers.copy())

    @property
    def under_way(self) -> bool:
        """Whether something is still to come of it."""
        return not self.future.done()

    @property
    def trouble(self) -> RecheckFault | None:
        """What kind of failure it was; None where it did not fail, is not done, or the server was stopped."""
        error = self._error()
        return RecheckFault.of(error) if error and self.state is Stage.FAILED and self.reason != STOPPED else None

    @property
    def reason(self) -> str:
        """Why it failed; empty where it did not, or is not done."""
        error = self._error()
        if error is None or self.state is not Stage.FAILED:
            return ""
        if isinstance(error, CancelledError):
            return STOPPED
        return str(error) if isinstance(error, ProofError) else "the server made a mistake; its log says which"

    @property
    def outcome(self) -> Reread | None:
        """What came of it; None where nothing did, or has not yet."""
        return self.future.result() if self.state is Stage.DONE else None

    def wait(self, seconds: float) -> None:
        """Wait for it so long, unless another is ahead: then nobody can say how long it takes."""
        if self.first:
            wait([self.future], seconds)

    def _error(self) -> BaseException | None:
        if not self.future.done():
            return None
        try:
            return self.future.exception()
        except CancelledError as error:
            return error


class Rereading:
    """The pages that are to be read again, in the order in which they were asked for."""

    def __init__(self, reader: Rechecker) -> None:
        self._reader = reader
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="reading again")
        self._lock = Lock()
        self._jobs: dict[str, Job] = {}

    def begin(self, work: str, page: int, person: str) -> Job:
        """Have a page read again for `person`; one that waits for it already is waited for once."""
        with self._lock:
            pending = [job for job in self._jobs.values() if job.under_way]
            for job in pending:
                if (job.work, job.page, job.state) == (work, page, Stage.WAITING) and not job.stop.is_set():
                    job.askers.add(person)
                    return job
            number, stop = uuid.uuid4().hex, Event()
            future = self._thread.submit(self._read, work, page, stop)
            made = Job(number, work, page, not pending, {person}, stop, future)
            self._jobs[number] = made
            done = [number for number, job in self._jobs.items() if not job.under_way]
            for old in done[: max(len(self._jobs) - KEPT, 0)]:
                del self._jobs[old]
            return made

    def take_back(self, work: str, page: int, number: str, person: str, *, overrules: bool) -> Job:
        """Read a page for nobody any longer, or for others than `person` alone: while it waits it is let go, while
        it is read it ends at the next place where nothing of it is kept; what is done stays done.

        Raises NoReadingError, NotAskedError.
        """
        job = self.job(work, page, number)
        with self._lock:
            if person not in job.askers and not overrules:
                raise NotAskedError(REFUSALS["not asked"])
            others = job.askers - {person} if person in job.askers else set()
            job.askers.intersection_update(others)
            if not others:
                job.stop.set()
                job.future.cancel()
        return job

    def under_way(self, work: str, page: int) -> Job | None:
        """The reading of a page that was asked for last and of which something is still to come."""
        with self._lock:
            pending = [job for job in self._jobs.values() if (job.work, job.page) == (work, page) and job.under_way]
        return pending[-1] if pending else None

    def job(self, work: str, page: int, number: str) -> Job:
        """A reading that was begun. Raises NoReadingError."""
        job = self._jobs.get(number)
        if job is None or (job.work, job.page) != (work, page):
            raise NoReadingError(REFUSALS["no reading"])
        return job

    def close(self) -> None:
        """Finish the page that is being read; those that wait are left to be asked for again."""
        self._thread.shutdown(cancel_futures=True)

    def _read(self, work: str, page: int, stop: Event) -> Reread:
        def check_cancelled() -> None:
            if stop.is_set():
                raise StoppedError(f"{work}: reading page {page} again was taken back")

        try:
            return self._reader.read(work, page, check_cancelled)
        except ProofError:
            raise
        except Exception:
            LOG.exception("page %s of %s could not be read again", page, work)
            raise
