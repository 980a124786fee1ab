"""Jobs are done one after another; each says how it stands, and why it failed, as long as it is kept."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import wait

import pytest

from proof.errors import StoppedError, UsageError
from proof.web.jobs import Job, Jobs, JobState, NoJobError
from tests.conftest import PATIENCE

MAX_KEPT = 3


class Errands(Jobs[Job[str]]):
    """A queue of jobs that are done when they are `let`; those named after a mistake make it."""

    def __init__(self) -> None:
        super().__init__("errands", MAX_KEPT, missing="no reading")
        self.let, self.begun = threading.Semaphore(0), threading.Semaphore(0)

    def begin(self, name: str) -> Job[str]:
        with self._lock:
            job = self._waiting("work", name)
            if job is None:
                job = Job(subject=("work", name), stop=threading.Event(), future=self._submit(self._run, name))
                self._keep(job)
            return job

    def _run(self, name: str) -> str:
        self.begun.release()
        self.let.acquire()
        mistakes = {"refused": UsageError("no such text"), "broken": ZeroDivisionError(), "stopped": StoppedError("x")}
        if name in mistakes:
            raise mistakes[name]
        return name.upper()


@pytest.fixture
def errands() -> Iterator[Errands]:
    errands = Errands()
    yield errands
    errands.let.release(9)
    errands.close()


def test_a_job_waits_runs_and_has_an_outcome(errands: Errands) -> None:
    first, second = errands.begin("a"), errands.begin("b")
    errands.begun.acquire()
    assert (first.state, second.state) == (JobState.RUNNING, JobState.WAITING)
    assert errands.begin("b") is second
    assert errands.begin("a") is not first, "what runs may lack the latest changes"
    assert (first.outcome, first.error, first.reason) == (None, None, "")
    errands.let.release(2)
    wait([first.future, second.future], PATIENCE)
    assert [(job.state, job.outcome, job.under_way) for job in (first, second)] == [
        (JobState.DONE, "A", False),
        (JobState.DONE, "B", False),
    ]


def test_why_a_job_failed_is_said_and_only_a_mistake_of_the_program_is_logged(
    errands: Errands, caplog: pytest.LogCaptureFixture
) -> None:
    jobs = [errands.begin(name) for name in ("refused", "broken", "stopped")]
    errands.let.release(3)
    wait([job.future for job in jobs], PATIENCE)
    assert [job.state for job in jobs] == [JobState.FAILED, JobState.FAILED, JobState.STOPPED]
    assert [job.reason for job in jobs] == ["no such text", "the server made a mistake; its log says which", ""]
    assert [record.message for record in caplog.records] == ["errands: a job failed"]


def test_a_job_that_waits_is_cancelled_or_left_when_the_server_stops(errands: Errands) -> None:
    errands.begin("a")
    errands.begun.acquire()
    cancelled, left = errands.begin("b"), errands.begin("c")
    cancelled.stop.set()
    cancelled.future.cancel()
    assert errands.under_way("work", "b") is None
    assert errands.under_way("work", "c") is left
    is_left = threading.Event()
    left.future.add_done_callback(lambda _: is_left.set())
    closing = threading.Thread(target=errands.close)
    closing.start()
    assert is_left.wait(PATIENCE)  # before the running one ends
    errands.let.release()
    closing.join(PATIENCE)
    assert (cancelled.state, cancelled.reason) == (JobState.STOPPED, "")
    assert (left.state, left.reason) == (JobState.FAILED, "the server was stopped")


def test_a_job_is_known_by_its_number_and_its_subject_until_newer_ones_are_finished(errands: Errands) -> None:
    errands.let.release(9)
    jobs = []
    for name in "abcd":
        jobs.append(errands.begin(name))
        wait([jobs[-1].future], PATIENCE)
    assert errands.job(jobs[3].number, "work") is errands.job(jobs[3].number, "work", "d") is jobs[3]
    for number, *subject in ((jobs[3].number, "work", "a"), (jobs[3].number, "other"), ("none",), (jobs[0].number,)):
        with pytest.raises(NoJobError):
            errands.job(number, *subject)
