"""Pages are read again one at a time, each once for all who wait for it, and a stop leaves none half done."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from concurrent.futures import wait
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from proof.checking.recheck import CheckCancelled, Rechecker, RecheckFault, Reread
from proof.errors import EngineError, GonePageError, StoppedError, UsageError
from proof.layout.overrides import LayoutOverrideShape
from proof.settings.config import Settings
from proof.store import Store
from proof.web.rereading import NoReadingError, NotAskedError, Rereading, Stage
from tests.conftest import PATIENCE

WORK = "dasheyi"
READ = cast(Reread, object())


class Slow:
    """Reads what it is let read, and notes how many it reads at once."""

    def __init__(self) -> None:
        self.let, self.begun = threading.Semaphore(0), threading.Semaphore(0)
        self.now = self.most = 0
        self.read_pages: list[int] = []

    def read(self, work: str, page: int, check_cancelled: CheckCancelled) -> Reread:
        self.now += 1
        self.most = max(self.most, self.now)
        self.begun.release()
        self.let.acquire()
        self.now -= 1
        check_cancelled()
        self.read_pages.append(page)
        if page == 13:
            raise UsageError("text.txt: page 13 is no longer there")
        return READ


@pytest.fixture
def slow() -> Slow:
    return Slow()


def test_one_page_is_read_at_a_time_and_who_asks_for_one_that_waits_waits_for_the_same(slow: Slow) -> None:
    rereading = Rereading(cast(Rechecker, slow))
    first = rereading.begin(WORK, 1, "王")
    slow.begun.acquire()
    second, same = rereading.begin(WORK, 2, "王"), rereading.begin(WORK, 2, "王")
    assert (first.state, second.state, same.number) == (Stage.READING, Stage.WAITING, second.number)
    # a page that is being read was perhaps set right since the reading began
    assert rereading.begin(WORK, 1, "王").number != first.number
    assert (first.first, second.first) == (True, False)
    for _ in range(3):
        slow.let.release()
    wait([first.future, second.future])
    rereading.close()
    assert (slow.most, slow.read_pages[:2]) == (1, [1, 2])
    assert (second.state, second.outcome, second.reason) == (Stage.DONE, READ, "")


def test_why_a_page_could_not_be_read_is_kept_for_who_asks(slow: Slow) -> None:
    rereading = Rereading(cast(Rechecker, slow))
    job = rereading.begin(WORK, 13, "王")
    slow.let.release()
    job.wait(PATIENCE)
    assert (job.state, job.outcome) == (Stage.FAILED, None)
    assert "page 13 is no longer there" in rereading.job(WORK, 13, job.number).reason
    with pytest.raises(NoReadingError):
        rereading.job(WORK, 12, job.number)
    rereading.close()


def test_a_stop_finishes_the_page_that_is_being_read_and_leaves_those_that_wait(slow: Slow) -> None:
    rereading = Rereading(cast(Rechecker, slow))
    first = rereading.begin(WORK, 1, "王")
    slow.begun.acquire()
    waiting = rereading.begin(WORK, 2, "王")
    left = threading.Event()
    waiting.future.add_done_callback(lambda _: left.set())
    stop = threading.Thread(target=rereading.close)
    stop.start()
    assert left.wait(PATIENCE)  # before the page at hand is done: after it the next one would be begun
    slow.let.release()
    stop.join(PATIENCE)
    assert (first.state, waiting.state, slow.read_pages) == (Stage.DONE, Stage.FAILED, [1])
    assert waiting.reason == "the server was stopped"


def test_a_reading_that_waits_is_taken_back_by_who_asked_and_never_begun(slow: Slow) -> None:
    rereading = Rereading(cast(Rechecker, slow))
    first = rereading.begin(WORK, 1, "王")
    slow.begun.acquire()
    waiting = rereading.begin(WORK, 2, "李")
    with pytest.raises(NotAskedError):
        rereading.take_back(WORK, 2, waiting.number, "王", overrules=False)
    assert waiting.state is Stage.WAITING
    assert rereading.take_back(WORK, 2, waiting.number, "李", overrules=False).state is Stage.STOPPED
    assert (waiting.reason, waiting.trouble, waiting.outcome) == ("", None, None)
    slow.let.release()
    wait([first.future], PATIENCE)
    rereading.close()
    assert slow.read_pages == [1]


def test_a_reading_that_others_asked_for_too_goes_on_without_who_took_it_back(slow: Slow) -> None:
    rereading = Rereading(cast(Rechecker, slow))
    rereading.begin(WORK, 1, "王")
    slow.begun.acquire()
    shared = rereading.begin(WORK, 2, "李")
    assert rereading.begin(WORK, 2, "王").number == shared.number
    assert rereading.take_back(WORK, 2, shared.number, "李", overrules=False).state is Stage.WAITING
    assert shared.waited_for_by == ["王"]
    # an administrator who asked for nothing stops it for all
    assert rereading.take_back(WORK, 2, shared.number, "趙", overrules=True).state is Stage.STOPPED
    slow.let.release()
    rereading.close()
    assert slow.read_pages == [1]


def test_a_page_asked_for_again_after_it_was_taken_back_is_read(slow: Slow) -> None:
    rereading = Rereading(cast(Rechecker, slow))
    rereading.begin(WORK, 1, "王")
    slow.begun.acquire()
    waiting = rereading.begin(WORK, 2, "王")
    rereading.take_back(WORK, 2, waiting.number, "王", overrules=False)
    again = rereading.begin(WORK, 2, "王")
    assert again.number != waiting.number
    assert rereading.under_way(WORK, 2) is again
    for _ in range(2):
        slow.let.release()
    wait([again.future], PATIENCE)
    rereading.close()
    assert (again.state, slow.read_pages) == (Stage.DONE, [1, 2])
    assert rereading.under_way(WORK, 2) is None


def test_a_reading_that_is_taken_back_while_it_is_read_ends_at_its_next_safe_place(slow: Slow) -> None:
    rereading = Rereading(cast(Rechecker, slow))
    job = rereading.begin(WORK, 1, "王")
    slow.begun.acquire()
    assert rereading.take_back(WORK, 1, job.number, "王", overrules=False).state is Stage.READING
    assert job.waited_for_by == []
    slow.let.release()
    wait([job.future], PATIENCE)
    assert (job.state, job.outcome, job.reason, job.trouble) == (Stage.STOPPED, None, "", None)
    rereading.close()


def dump(folder: Path) -> list[str]:
    """All that the store of a project has."""
    with closing(sqlite3.connect(folder / "proof.sqlite")) as store:
        return list(store.iterdump())


def test_wherever_a_reading_ends_that_was_taken_back_the_store_is_as_it_was(sample: Path, tmp_path: Path) -> None:
    """A page set right is read by the real recogniser, and taken back at each of its safe places in turn."""
    folder = shutil.copytree(sample, tmp_path / "project")
    settings = Settings.load(folder)
    corners = ((100.0, 100.0), (900.0, 100.0), (900.0, 1400.0), (100.0, 1400.0))
    with Store.open(settings.store_address) as store:
        [work] = store.queue.works()
        layout = LayoutOverrideShape(corners, (0.5,), ())
        store.layout_overrides.set(work.name, 1, layout, "", "", version=0, person="王", key="set-right-1")
        reader, before = Rechecker(settings, store), dump(folder)
        places, stop = 0, 0

        def check_cancelled() -> None:
            nonlocal places
            places += 1
            if places == stop:
                raise StoppedError("taken back")

        for stop in range(1, 100):
            places = 0
            try:
                reader.read(work.name, 1, check_cancelled)
            except StoppedError:
                assert dump(folder) == before, f"at safe place {stop}"
            else:
                break
        assert places == stop - 1 >= 4, "the last of them was let pass"
        assert dump(folder) != before


def test_what_is_done_stays_done_though_it_is_taken_back(slow: Slow) -> None:
    rereading = Rereading(cast(Rechecker, slow))
    job = rereading.begin(WORK, 1, "王")
    slow.let.release()
    wait([job.future], PATIENCE)
    assert rereading.take_back(WORK, 1, job.number, "王", overrules=False).state is Stage.DONE
    rereading.close()


def test_the_kind_of_failure_is_told_from_mistakes_of_the_program(slow: Slow) -> None:
    class Broken:
        def read(self, work: str, page: int, check_cancelled: CheckCancelled) -> Reread:
            raise [EngineError("no model"), GonePageError("gone"), ZeroDivisionError()][page]

    rereading = Rereading(cast(Rechecker, Broken()))
    jobs = [rereading.begin(WORK, page, "王") for page in range(3)]
    wait([job.future for job in jobs], PATIENCE)
    rereading.close()
    assert [job.trouble for job in jobs] == [RecheckFault.ENGINE, RecheckFault.TEXT_CHANGED, RecheckFault.MISTAKE]
    assert "ZeroDivision" not in jobs[2].reason
