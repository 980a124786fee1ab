"""Pages are read again one at a time, each once for all who wait for it, and a stop leaves none half done."""

from __future__ import annotations

import threading
from concurrent.futures import wait
from typing import cast

import pytest

from proof.again import Reader, Reread
from proof.errors import UsageError
from proof.web.rereading import NoReadingError, Rereading, Stage
from tests.conftest import PATIENCE

WORK = "dasheyi"
READ = cast(Reread, object())


class Slow:
    """Reads what it is let read, and notes how many it reads at once."""

    def __init__(self) -> None:
        self.let, self.begun = threading.Semaphore(0), threading.Semaphore(0)
        self.now = self.most = 0
        self.read_pages: list[int] = []

    def read(self, work: str, page: int) -> Reread:
        self.now += 1
        self.most = max(self.most, self.now)
        self.begun.release()
        self.let.acquire()
        self.now -= 1
        self.read_pages.append(page)
        if page == 13:
            raise UsageError("text.txt: page 13 is no longer there")
        return READ


@pytest.fixture
def slow() -> Slow:
    return Slow()


def test_one_page_is_read_at_a_time_and_who_asks_for_one_that_waits_waits_for_the_same(slow: Slow) -> None:
    rereading = Rereading(cast(Reader, slow))
    first = rereading.begin(WORK, 1)
    slow.begun.acquire()
    second, same = rereading.begin(WORK, 2), rereading.begin(WORK, 2)
    assert (first.state, second.state, same.number) == (Stage.READING, Stage.WAITING, second.number)
    # a page that is being read was perhaps set right since the reading began
    assert rereading.begin(WORK, 1).number != first.number
    assert (first.first, second.first) == (True, False)
    for _ in range(3):
        slow.let.release()
    wait([first.future, second.future])
    rereading.close()
    assert (slow.most, slow.read_pages[:2]) == (1, [1, 2])
    assert (second.state, second.outcome, second.reason) == (Stage.DONE, READ, "")


def test_why_a_page_could_not_be_read_is_kept_for_who_asks(slow: Slow) -> None:
    rereading = Rereading(cast(Reader, slow))
    job = rereading.begin(WORK, 13)
    slow.let.release()
    job.wait(PATIENCE)
    assert (job.state, job.outcome) == (Stage.FAILED, None)
    assert "page 13 is no longer there" in rereading.job(WORK, 13, job.number).reason
    with pytest.raises(NoReadingError):
        rereading.job(WORK, 12, job.number)
    rereading.close()


def test_a_stop_finishes_the_page_that_is_being_read_and_leaves_those_that_wait(slow: Slow) -> None:
    rereading = Rereading(cast(Reader, slow))
    first = rereading.begin(WORK, 1)
    slow.begun.acquire()
    waiting = rereading.begin(WORK, 2)
    left = threading.Event()
    waiting.future.add_done_callback(lambda _: left.set())
    stop = threading.Thread(target=rereading.close)
    stop.start()
    assert left.wait(PATIENCE)  # before the page at hand is done: after it the next one would be begun
    slow.let.release()
    stop.join(PATIENCE)
    assert (first.state, waiting.state, slow.read_pages) == (Stage.DONE, Stage.FAILED, [1])
    assert waiting.reason == "the server was stopped"
