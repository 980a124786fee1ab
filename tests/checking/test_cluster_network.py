"""A network that is slow or cuts while a cluster checks: it costs time, or another start of the check, and no page."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from proof.checking.cluster import TOGETHER
from proof.checking.pipeline import Progress, check
from proof.errors import ClusterError
from proof.model.result import PageResult
from proof.settings.config import Settings
from proof.text.model import Page
from proof.verify.page import Checker
from tests.checking.test_cluster import cluster_of, distributed
from tests.checking.test_cluster_faults import complete, pages, settings
from tests.conftest import PATIENCE, ROOT

__all__ = ["settings"]

pytestmark = pytest.mark.slow


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A scheduler with a worker in this very process."""
    with cluster_of(1, processes=False) as started:
        yield started


@pytest.fixture
def address(cluster: Any) -> str:
    return str(cluster.scheduler_address)


class Link:
    """A network between whoever asks at `address` and a scheduler; what it carries is so many seconds `late`."""

    def __init__(self, scheduler: str, late: float = 0.0) -> None:
        host, _, port = scheduler.removeprefix("tcp://").rpartition(":")
        self._there, self._late = (host, int(port)), late
        self._asked = socket.create_server(("127.0.0.1", 0))
        self._ends: list[socket.socket] = []
        self.address = f"tcp://127.0.0.1:{self._asked.getsockname()[1]}"
        self.carried = 0
        threading.Thread(target=self._connect, daemon=True).start()

    def cut(self) -> int:
        """Ends all connections that there are; gives how many ends they had. Who asks again is connected again."""
        ends, self._ends = self._ends, []
        for end in ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        return len(ends)

    def close(self) -> None:
        """Cuts, and connects nobody again."""
        with suppress(OSError):
            self._asked.shutdown(socket.SHUT_RDWR)
        self._asked.close()
        self.cut()

    def _connect(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._asked.accept()
                far = socket.create_connection(self._there)
                self._ends += [near, far]
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=self._carry, args=(one, other), daemon=True).start()

    def _carry(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while piece := one.recv(1 << 16):
                time.sleep(self._late)
                other.sendall(piece)
                self.carried += len(piece)
        with suppress(OSError):
            other.shutdown(socket.SHUT_RDWR)


@contextmanager
def link(scheduler: str, late: float = 0.0) -> Iterator[Link]:
    made = Link(scheduler, late)
    try:
        yield made
    finally:
        made.close()


def test_a_network_that_cuts_the_check_off_keeps_what_was_done(
    settings: Settings, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the middle of a page: of whoever waits for nothing just then, nobody notices a cut that is over soon."""
    gone, judge = threading.Event(), Checker.judge

    def held(self: Checker, page: Page, *rest: Any) -> PageResult:
        assert not page.id.endswith(f"-{TOGETHER + 1}a") or gone.wait(PATIENCE)
        return judge(self, page, *rest)

    monkeypatch.setattr(Checker, "judge", held)
    with link(address) as cut:

        def part(done: Progress) -> None:
            if done.done == 1:
                cut.close()
                gone.set()

        with pytest.raises(ClusterError, match="the scheduler is gone; the pages that came back are kept"):
            check(settings.replace({"cluster.address": cut.address}), part)
    kept = pages(settings)
    assert 1 <= len(kept) == kept.total() <= TOGETHER
    seen: list[Progress] = []
    assert complete(settings, check(settings, seen.append))
    assert seen[-1].reused == len(kept)


def test_a_network_that_cuts_a_worker_off_costs_its_pages_another_try(settings: Settings, cluster: Any) -> None:
    with link(cluster.scheduler_address) as cut:
        line = [sys.executable, "-m", "proof", "cluster", "--workers", "1", "--join", cut.address]
        joined = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603
        try:
            with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
                client.wait_for_workers(2, timeout=PATIENCE)
            outcome = check(settings, lambda done: None if done.done != 1 or cut.cut() else pytest.fail("none cut"))
        finally:
            joined.send_signal(signal.SIGINT)
            joined.wait(PATIENCE)
    assert outcome.sound
    assert complete(settings, outcome)


DIES_AT_ITS_START = """
import os, sys
from pathlib import Path
died = Path(os.environ["DIED"])
if "spawn_main" in " ".join(sys.orig_argv) and not died.exists():
    died.touch()
    os._exit(1)
"""
"""What Python runs before anything else, in the first worker that is started."""


@pytest.mark.parametrize("joined", [False, True], ids=["of the cluster", "that joins"])
def test_a_worker_that_dies_at_its_start_is_started_again(tmp_path: Path, cluster: Any, joined: bool) -> None:
    (tmp_path / "sitecustomize.py").write_text(DIES_AT_ITS_START)
    surroundings = {**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}", "DIED": str(tmp_path / "died")}
    line = [sys.executable, "-m", "proof", "cluster", "--workers", "1", "--port", "0"]
    line += ["--join", cluster.scheduler_address] if joined else []
    with subprocess.Popen(  # noqa: S603
        line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=surroundings
    ) as started:
        try:
            assert started.stdout is not None
            address = started.stdout.readline().split()[-1]
            with distributed.Client(address, set_as_default=False) as client:
                client.wait_for_workers(2 if joined else 1, timeout=PATIENCE)
            assert (tmp_path / "died").exists()
        finally:
            started.send_signal(signal.SIGINT)
            started.wait(PATIENCE)
