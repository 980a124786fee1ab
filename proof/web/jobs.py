"""Jobs in the background, done one after another by one thread. The browser polls for their state."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum
from threading import Event, RLock
from typing import Any, Generic, TypeVar

from proof.errors import ProofError, PublicError, StoppedError
from proof.web.language import english_message
from proof.web.messages import REFUSALS

LOG = logging.getLogger(__name__)
CLOSED = "the server was stopped"
"""The reason of the failure of jobs that were still waiting when the server was stopped."""

Result = TypeVar("Result")


class JobState(StrEnum):
    """The state of a job; `stopped` means cancelled."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"


class NoJobError(PublicError):
    """No such job has that number: it was removed, or the server was restarted."""

    http_status = 404


@dataclass(frozen=True, slots=True, kw_only=True)
class Job(Generic[Result]):
    """A job. `subject` begins with the name of a work; waiting jobs with the same subject are the same job. `stop` is
    set when it is cancelled."""

    subject: tuple[Any, ...]
    stop: Event
    future: Future[Result]
    number: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def under_way(self) -> bool:
        """Whether it is waiting or running."""
        return not self.future.done()

    @property
    def state(self) -> JobState:
        running = self.future.running()  # first, since it may finish between the two calls
        if self.under_way:
            return JobState.RUNNING if running else JobState.WAITING
        if self.future.cancelled():  # by a person, or with all that waited when the server was stopped
            return JobState.STOPPED if self.stop.is_set() else JobState.FAILED
        if self.error is None:
            return JobState.DONE
        return JobState.STOPPED if isinstance(self.error, StoppedError) else JobState.FAILED

    @property
    def error(self) -> BaseException | None:
        """The exception with which it ended; None if it ended without one or is under way."""
        return None if self.under_way or self.future.cancelled() else self.future.exception()

    @property
    def reason(self) -> str:
        """Why it failed; empty if it did not fail or is under way."""
        if self.state is not JobState.FAILED:
            return ""
        return english_message(self.error) if self.error else CLOSED

    @property
    def outcome(self) -> Result | None:
        """The result; None if it failed or is under way."""
        return self.future.result() if self.state is JobState.DONE else None


AnyJob = TypeVar("AnyJob", bound=Job[Any])


class Jobs(Generic[AnyJob]):
    """A queue of jobs, with the last finished ones: if there are more than `max_kept` jobs, the oldest finished ones
    are removed. `missing` is the key in `REFUSALS` of the message about an unknown job."""

    def __init__(self, name: str, max_kept: int, missing: str) -> None:
        self._name, self._max_kept, self._missing = name, max_kept, missing
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._lock = RLock()
        self._jobs: dict[str, AnyJob] = {}

    def job(self, number: str, *subject: object) -> AnyJob:
        """The job of that number, whose subject begins with `subject`. Raises NoJobError."""
        job = self._jobs.get(number)
        if job is None or job.subject[: len(subject)] != subject:
            raise NoJobError(REFUSALS[self._missing])
        return job

    def under_way(self, *subject: object) -> AnyJob | None:
        """The last job on a subject that is waiting or running; None if there is none."""
        with self._lock:
            jobs = [job for job in self._jobs.values() if job.under_way and job.subject == subject]
        return jobs[-1] if jobs else None

    def close(self) -> None:
        """Finish the running job and cancel the waiting ones."""
        self._thread.shutdown(cancel_futures=True)

    def _waiting(self, *subject: object) -> AnyJob | None:
        """The waiting job on a subject. A running one does not count, since it may lack the latest changes."""
        job = self.under_way(*subject)
        return job if job and job.state is JobState.WAITING and not job.stop.is_set() else None

    def _submit(self, run: Callable[..., Result], *arguments: object) -> Future[Result]:
        def logged() -> Result:
            try:
                return run(*arguments)
            except ProofError:
                raise
            except Exception:
                LOG.exception("%s: a job failed", self._name)
                raise

        return self._thread.submit(logged)

    def _keep(self, job: AnyJob) -> list[AnyJob]:
        """Keep a new job. Returns the old ones that are removed for it."""
        self._jobs[job.number] = job
        finished = [number for number, other in self._jobs.items() if not other.under_way]
        return [self._jobs.pop(number) for number in finished[: max(len(self._jobs) - self._max_kept, 0)]]
