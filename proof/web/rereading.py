"""Reading pages again in the background. A page takes a second or more; one thread reads all pages, since the engine
needs much memory. The browser polls for the result, or cancels the reading."""

from __future__ import annotations

from concurrent.futures import wait
from dataclasses import dataclass
from threading import Event

from proof.checking.recheck import Rechecker, RecheckFault, RecheckOutcome
from proof.errors import PublicError, StoppedError
from proof.locale.marking import _
from proof.web.jobs import Job, Jobs, JobState
from proof.web.messages import REFUSALS

MAX_KEPT_READINGS = 100
"""Number of readings above which the oldest finished ones are removed."""


class NotRequesterError(PublicError):
    """A person without the right to overrule others cancels a reading that only others requested."""

    http_status = 403


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingJob(Job[RecheckOutcome]):
    """A page that is read again; its subject is the work and the number of the page. `first`: the queue was empty when
    it was requested; `requesters` are the people who wait for it, the last of whom cancels it."""

    first: bool
    requesters: set[str]

    @property
    def requested_by(self) -> list[str]:
        """The names of the people who wait for it; none after it was cancelled."""
        return sorted(self.requesters.copy())

    @property
    def trouble(self) -> RecheckFault | None:
        """The kind of failure; None if it did not fail, or is not done, or failed because the server was stopped."""
        return RecheckFault.of(self.error) if self.error and self.state is JobState.FAILED else None

    def wait(self, seconds: float) -> None:
        """Wait for the result, at most that long; not at all if other pages were ahead in the queue."""
        if self.first:
            wait([self.future], seconds)


class Rereading(Jobs[ReadingJob]):
    """The queue of pages to be read again."""

    def __init__(self, reader: Rechecker) -> None:
        super().__init__("reading again", MAX_KEPT_READINGS, missing="no reading")
        self._reader = reader

    def begin(self, work: str, page: int, person: str) -> ReadingJob:
        """Queue a page for `person`; if it is queued already, `person` joins those who wait for it."""
        with self._lock:
            job = self._waiting(work, page)
            if job is None:
                stop, first = Event(), not any(job.under_way for job in self._jobs.values())
                future = self._submit(self._read, work, page, stop)
                job = ReadingJob(subject=(work, page), stop=stop, future=future, first=first, requesters=set())
                self._keep(job)
            job.requesters.add(person)
            return job

    def cancel(self, work: str, page: int, number: str, person: str, *, overrules: bool) -> ReadingJob:
        """Cancel a reading for `person`, or for everybody if `person` did not request it but may overrule others
        (`overrules`). When nobody waits for it any more, it is removed from the queue or ends before its result is
        saved; a finished reading is not undone. Raises NoJobError, NotRequesterError."""
        job = self.job(number, work, page)
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

    def _read(self, work: str, page: int, stop: Event) -> RecheckOutcome:
        def check_cancelled() -> None:
            if stop.is_set():
                raise StoppedError(_("%(work)s: reading page %(page)s again was taken back"), work=work, page=page)

        return self._reader.read(work, page, check_cancelled)
