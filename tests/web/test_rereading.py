"""Pages are read again one at a time, each once for all who wait for it, until nobody waits any more."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import wait
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from proof.checking.recheck import CheckCancelled, Rechecker, RecheckFault, RecheckOutcome
from proof.errors import EngineError, GonePageError, StoppedError, UsageError
from proof.layout.overrides import LayoutOverrideShape
from proof.settings.config import Settings
from proof.store import Store
from proof.web.jobs import JobState, NoJobError
from proof.web.rereading import NotRequesterError, Rereading
from tests.conftest import PATIENCE
from tests.web.drawn import WORK

READ = cast(RecheckOutcome, object())
FAILURES = {
    10: EngineError("no model"),
    11: GonePageError("gone"),
    12: ZeroDivisionError(),
    13: UsageError("text.txt: page 13 is no longer there"),
}


class Slow:
    """Reads what it is let read, and notes how many it reads at once; some pages it fails to read."""

    def __init__(self) -> None:
        self.let, self.begun = threading.Semaphore(0), threading.Semaphore(0)
        self.now = self.most = 0
        self.read_pages: list[int] = []

    def read(self, work: str, page: int, check_cancelled: CheckCancelled) -> RecheckOutcome:
        self.now += 1
        self.most = max(self.most, self.now)
        self.begun.release()
        self.let.acquire()
        self.now -= 1
        check_cancelled()
        self.read_pages.append(page)
        if page in FAILURES:
            raise FAILURES[page]
        return READ


@pytest.fixture
def slow() -> Slow:
    return Slow()


@pytest.fixture
def rereading(slow: Slow) -> Iterator[Rereading]:
    """What reads with it; in the end it is let read all that it was asked for."""
    made = Rereading(cast(Rechecker, slow))
    yield made
    slow.let.release(9)
    made.close()


def test_one_page_is_read_at_a_time_and_who_asks_for_one_that_waits_waits_for_the_same(
    slow: Slow, rereading: Rereading
) -> None:
    first = rereading.begin(WORK, 1, "王")
    slow.begun.acquire()
    second, same = rereading.begin(WORK, 2, "王"), rereading.begin(WORK, 2, "王")
    assert (first.state, second.state, same.number) == (JobState.RUNNING, JobState.WAITING, second.number)
    # a page that is being read was perhaps set right since the reading began
    assert rereading.begin(WORK, 1, "王").number != first.number
    assert (first.first, second.first) == (True, False)
    slow.let.release(3)
    wait([first.future, second.future])
    assert (slow.most, slow.read_pages[:2]) == (1, [1, 2])
    assert (second.state, second.outcome, second.reason) == (JobState.DONE, READ, "")
    assert rereading.cancel(WORK, 2, second.number, "王", overrules=False).state is JobState.DONE, "done stays done"


def test_why_a_page_could_not_be_read_is_kept_for_who_asks_and_no_mistake_of_the_program_is_told(
    slow: Slow, rereading: Rereading
) -> None:
    slow.let.release(len(FAILURES))
    jobs = [rereading.begin(WORK, page, "王") for page in FAILURES]
    jobs[0].wait(PATIENCE)
    assert jobs[0].state is JobState.FAILED
    wait([job.future for job in jobs], PATIENCE)
    assert {(job.state, job.outcome) for job in jobs} == {(JobState.FAILED, None)}
    assert [job.trouble for job in jobs[:3]] == [RecheckFault.ENGINE, RecheckFault.TEXT_CHANGED, RecheckFault.MISTAKE]
    assert "ZeroDivision" not in jobs[2].reason
    assert "page 13 is no longer there" in rereading.job(jobs[3].number, WORK, 13).reason
    with pytest.raises(NoJobError):
        rereading.job(jobs[3].number, WORK, 12)


def test_a_reading_that_waits_is_taken_back_by_who_asked_and_goes_on_for_others(
    slow: Slow, rereading: Rereading
) -> None:
    first = rereading.begin(WORK, 1, "王")
    slow.begun.acquire()
    own, shared = rereading.begin(WORK, 2, "李"), rereading.begin(WORK, 3, "李")
    with pytest.raises(NotRequesterError):
        rereading.cancel(WORK, 2, own.number, "王", overrules=False)
    assert own.state is JobState.WAITING
    assert rereading.cancel(WORK, 2, own.number, "李", overrules=False).state is JobState.STOPPED
    assert (own.reason, own.trouble, own.outcome) == ("", None, None)
    assert rereading.begin(WORK, 3, "王").number == shared.number
    assert rereading.cancel(WORK, 3, shared.number, "李", overrules=False).state is JobState.WAITING
    assert shared.requested_by == ["王"]
    # an administrator who asked for nothing stops it for all
    assert rereading.cancel(WORK, 3, shared.number, "趙", overrules=True).state is JobState.STOPPED
    again = rereading.begin(WORK, 2, "李")
    assert again.number != own.number
    assert rereading.under_way(WORK, 2) is again
    slow.let.release(2)
    wait([first.future, again.future], PATIENCE)
    rereading.close()
    assert (again.state, slow.read_pages) == (JobState.DONE, [1, 2])
    assert rereading.under_way(WORK, 2) is None


def test_a_reading_that_is_taken_back_while_it_is_read_ends_at_its_next_safe_place(
    slow: Slow, rereading: Rereading
) -> None:
    job = rereading.begin(WORK, 1, "王")
    slow.begun.acquire()
    assert rereading.cancel(WORK, 1, job.number, "王", overrules=False).state is JobState.RUNNING
    assert job.requested_by == []
    slow.let.release()
    wait([job.future], PATIENCE)
    assert (job.state, job.outcome, job.reason, job.trouble) == (JobState.STOPPED, None, "", None)


def dump(folder: Path) -> list[str]:
    """All that the store of a project has."""
    with closing(sqlite3.connect(folder / "proof.sqlite")) as store:
        return list(store.iterdump())


def test_wherever_a_reading_ends_that_was_taken_back_the_store_is_as_it_was(project: Path) -> None:
    """A page set right is read by the real recogniser, and taken back at each of its safe places in turn."""
    settings = Settings.load(project)
    corners = ((100.0, 100.0), (900.0, 100.0), (900.0, 1400.0), (100.0, 1400.0))
    with Store.open(settings.store_address) as store:
        layout = LayoutOverrideShape(corners, (0.5,), ())
        store.layout_overrides.set(WORK, 1, layout, "", "", version=0, person="王", key="set-right-1")
        reader, before = Rechecker(settings, store), dump(project)
        places, stop = 0, 0

        def check_cancelled() -> None:
            nonlocal places
            places += 1
            if places == stop:
                raise StoppedError("taken back")

        for stop in range(1, 100):
            places = 0
            try:
                reader.read(WORK, 1, check_cancelled)
            except StoppedError:
                assert dump(project) == before, f"at safe place {stop}"
            else:
                break
        assert places == stop - 1 >= 4, "the last of them was let pass"
        assert dump(project) != before
