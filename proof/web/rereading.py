"""Reading pages again in the background. A page takes a second or more; one thread reads all pages, since the engine
needs much memory. The browser polls for the result, or cancels the reading."""

from __future__ import annotations

import logging
import uuid
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from enum import StrEnum
from threading import Event, Lock

from proof.checking.recheck import Rechecker, RecheckFault, Reread
from proof.errors import ProofError, PublicError, StoppedError
from proof.locale.marking import _
from proof.web.error_messages import english_message
from proof.web.messages import REFUSALS

LOG = logging.getLogger(__name__)
MAX_KEPT_READINGS = 100
"""Number of readings above which the oldest finished ones are removed."""
STOPPED = "the server was stopped"
"""The reason of the failure of readings that were still waiting when the server was stopped."""


class Stage(StrEnum):
    """The state of a job that reads a page again; `stopped` means cancelled."""

    WAITING = "waiting"
    READING = "reading"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"


class NoReadingError(PublicError):
    """No reading of that page has that number: it was removed, or the server was restarted."""

    http_status = 404


class NotRequesterError(PublicError):
    """A person without the right to overrule others cancels a reading that only others requested."""

    http_status = 403


@dataclass(frozen=True, slots=True)
class Job:
    """A page that is read again. `first`: the queue was empty when it was requested; `requesters` are the people who
    wait for it; `stop` is set when the last of them cancels it."""

    number: str
    work: str
    page: int
    first: bool
    requesters: set[str]
    stop: Event
    future: Future[Reread]

    @property
    def state(self) -> Stage:
        running = self.future.running()  # first, since it may finish between the two calls
        if not self.future.done():
            return Stage.READING if running else Stage.WAITING
        error = self._error()
        if error is None:
            return Stage.DONE
        # a reading that waits when the server stops ends with CancelledError too
        cancelled = isinstance(error, StoppedError) or (isinstance(error, CancelledError) and self.stop.is_set())
        return Stage.STOPPED if cancelled else Stage.FAILED

    @property
    def requested_by(self) -> list[str]:
        """The names of the people who wait for it; none after it was cancelled."""
        return sorted(self.requesters.copy())

    @property
    def under_way(self) -> bool:
        """Whether it is waiting or being read."""
        return not self.future.done()

    @property
    def trouble(self) -> RecheckFault | None:
        """The kind of failure; None if it did not fail, or is not done, or failed because the server was stopped."""
        error = self._error()
        return RecheckFault.of(error) if error and self.state is Stage.FAILED and self.reason != STOPPED else None

    @property
    def reason(self) -> str:
        """Why it failed; empty if it did not fail or is not done."""
        error = self._error()
        if error is None or self.state is not Stage.FAILED:
            return ""
        if isinstance(error, CancelledError):
            return STOPPED
        return english_message(error)

    @property
    def outcome(self) -> Reread | None:
        """The result; None if it failed or is not done."""
        return self.future.result() if self.state is Stage.DONE else None

    def wait(self, seconds: float) -> None:
        """Wait for the result, at most that long; not at all if other pages were ahead in the queue."""
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
    """The queue of pages to be read again."""

    def __init__(self, reader: Rechecker) -> None:
        self._reader = reader
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="reading again")
        self._lock = Lock()
        self._jobs: dict[str, Job] = {}

    def begin(self, work: str, page: int, person: str) -> Job:
        """Queue a page for `person`; if it is queued already, `person` joins those who wait for it."""
        with self._lock:
            pending = [job for job in self._jobs.values() if job.under_way]
            for job in pending:
                if (job.work, job.page, job.state) == (work, page, Stage.WAITING) and not job.stop.is_set():
                    job.requesters.add(person)
                    return job
            number, stop = uuid.uuid4().hex, Event()
            future = self._thread.submit(self._read, work, page, stop)
            job = Job(number, work, page, not pending, {person}, stop, future)
            self._jobs[number] = job
            finished = [number for number, other in self._jobs.items() if not other.under_way]
            for number in finished[: max(len(self._jobs) - MAX_KEPT_READINGS, 0)]:
                del self._jobs[number]
            return job

    def cancel(self, work: str, page: int, number: str, person: str, *, overrules: bool) -> Job:
        """Cancel a reading for `person`, or for everybody if `person` did not request it but may overrule others
        (`overrules`). When nobody waits for it any more, it is removed from the queue or ends before its result is
        saved; a finished reading is not undone. Raises NoReadingError, NotRequesterError."""
        job = self.job(work, page, number)
        with self._lock:
            if person not in job.requesters and not overrules:
                raise NotRequesterError(REFUSALS["not requested"])
            if person in job.requesters:
                job.requesters.remove(person)
            else:
                job.requesters.clear()
            if not job.requesters:
                job.stop.set()
                job.future.cancel()
        return job

    def under_way(self, work: str, page: int) -> Job | None:
        """The last requested reading of a page that is not finished; None if there is none."""
        with self._lock:
            pending = [job for job in self._jobs.values() if (job.work, job.page) == (work, page) and job.under_way]
        return pending[-1] if pending else None

    def job(self, work: str, page: int, number: str) -> Job:
        """The reading of a page with that number. Raises NoReadingError."""
        job = self._jobs.get(number)
        if job is None or (job.work, job.page) != (work, page):
            raise NoReadingError(REFUSALS["no reading"])
        return job

    def close(self) -> None:
        """Finish the page that is being read, and cancel the waiting ones."""
        self._thread.shutdown(cancel_futures=True)

    def _read(self, work: str, page: int, stop: Event) -> Reread:
        def check_cancelled() -> None:
            if stop.is_set():
                raise StoppedError(_("%(work)s: reading page %(page)s again was taken back"), work=work, page=page)

        try:
            return self._reader.read(work, page, check_cancelled)
        except ProofError:
            raise
        except Exception:
            LOG.exception("page %s of %s could not be read again", page, work)
            raise
