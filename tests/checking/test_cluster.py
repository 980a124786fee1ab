"""A check by the workers of a cluster finds what one machine finds, whatever dies on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import forkserver
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from proof.checking.pipeline import check
from proof.checking.worker import Release
from proof.commands.cluster import DASK_SETTINGS
from proof.errors import ClusterError, UsageError
from proof.images.remote import ImageLocations
from proof.model.flags import Origin
from proof.store import Store
from tests.checking.test_pipeline import Material, again, checked, outcome_folder, raw
from tests.conftest import PATIENCE, ROOT
from tests.forked_commands import FORKED

dask = pytest.importorskip("dask", reason="hanproof[cluster] is not installed")
distributed = pytest.importorskip("distributed", reason="hanproof[cluster] is not installed")

__all__ = ["again", "checked"]

DIES = """
import asyncio, os, time
from contextlib import suppress
from pathlib import Path
from distributed import get_worker
from distributed.protocol.pickle import dumps
from tests.checking.watched import is_watched
from proof.verify.page import Checker

judge = getattr(Checker, "mild", Checker.judge)  # dask may run this twice
Checker.mild = judge

async def die(worker):
    watched = False
    while not watched:
        with suppress(Exception):  # where nobody answers it is asked again
            nanny = worker.rpc(worker.nanny)
            watched = (await asyncio.wait_for(nanny.run(function=dumps(is_watched)), 5))["result"]
        await asyncio.sleep(0.02)
    os._exit(1)

def deadly(self, page, *rest):
    for victim, deaths in {victims!r}:
        here = [Path({folder!r}) / f"{{victim}}-{{number}}" for number in range(deaths)]
        if page.id == victim and not all(one.exists() for one in here):
            next(one for one in here if not one.exists()).touch()
            # whoever looks after the worker has heard that it started: dask starts none anew that died before
            get_worker().loop.add_callback(die, get_worker())
            time.sleep(600)
    return judge(self, page, *rest)

Checker.judge = deadly
"""


@contextmanager
def cluster_of(workers: int, preload: str = "", *, processes: bool = True) -> Iterator[Any]:
    """A cluster on this machine; `preload` is what its workers run as they start. They are forked as commands are."""
    method = FORKED.get_start_method()
    if processes and method == "forkserver":
        forkserver.ensure_running()  # with what commands need, before dask says what it needs alone
    with (
        dask.config.set({**DASK_SETTINGS, "distributed.worker.multiprocessing-method": method}),
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=processes,
            protocol="tcp",
            dashboard_address="127.0.0.1:0",
            **({"preload": [preload]} if preload else {}),
        ) as started,
    ):
        yield started


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A scheduler with a worker in this very process, reached by a socket: what crosses it is pickled."""
    with cluster_of(1, processes=False) as started:
        yield started.scheduler_address


def summary(folder: Path) -> dict[str, Any]:
    whole = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    return dict(whole["pages"])


@pytest.mark.engine
def test_a_cluster_finds_what_one_machine_finds_samples_and_planted_errors_too(
    checked: tuple[Material, Any], tmp_path: Path, address: str
) -> None:
    """And the characters of every page are kept."""
    outcomes = []
    for name, where in (("alone", {}), ("cluster", {"cluster__address": address})):
        settings = checked[0].settings(str(tmp_path / name), audit__rate=200.0, audit__planted_rate=200.0, **where)
        settings = settings.replace({"store.url": f"sqlite:///{tmp_path / name}.sqlite"})
        outcome = check(settings)
        with Store.open(settings.store_address) as store:
            flags = [flag.id for flag in store.flags(store.run(outcome.run_id).info.work, (Origin.SEEDED,))]
            characters = [result.characters for result in store.results(run=outcome.run_id)]
        outcomes.append((flags, characters, raw(outcome), summary(outcome_folder(outcome))))
    assert outcomes[0] == outcomes[1]
    assert all(outcomes[0])


@pytest.mark.engine
def test_what_one_machine_did_no_worker_does_again(again: Material, address: str) -> None:
    seen: list[int] = []
    check(again.settings(cluster__address=address), lambda done: seen.append(done.reused))
    assert seen[-1] == 3


def test_where_no_scheduler_answers_the_command_says_so(
    tmp_path: Path, run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proof.checking.cluster.CONNECT_SECONDS", 0.5)
    (tmp_path / "text.txt").write_text("<pb:KR1d0030_WYG_010-1a>¶\n射人¶\n", encoding="utf-8")
    (tmp_path / "images").mkdir()
    completed = run("check", "text.txt", "--images", "images", "--cluster", "tcp://127.0.0.1:9", "--engine", "null")
    assert completed.returncode == 2
    assert "tcp://127.0.0.1:9: no scheduler answers there" in completed.stderr


@pytest.mark.engine
def test_a_worker_of_another_release_is_refused(
    checked: tuple[Material, Any], tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = checked[0].settings(str(tmp_path / "out"), cluster__address=address, engine__name="null")
    settings = settings.replace({"store.url": f"sqlite:///{tmp_path / 'own.sqlite'}"})
    own = replace(Release.installed(), version="0.0.1")
    monkeypatch.setattr("proof.checking.cluster.Release", SimpleNamespace(installed=lambda: own))
    with pytest.raises(ClusterError, match=r"this machine 0\.0\.1"):
        check(settings)


@pytest.mark.engine
def test_workers_fetch_images_by_address(checked: tuple[Material, Any], tmp_path: Path, address: str) -> None:
    images = checked[0].folder / "images"
    own = tmp_path / "elsewhere"
    own.symlink_to(images)
    settings = checked[0].settings(
        str(tmp_path / "out"), store="fetched", cluster__address=address, cluster__images=f"file://{own}"
    )
    outcome = check(settings)
    assert raw(outcome) == raw(checked[1])
    with Store.open(settings.store_address) as store:
        assert {result.image for result in store.results(run=outcome.run_id)} == set(images.iterdir())


def test_images_are_fetched_by_nothing_but_what_was_named(tmp_path: Path) -> None:
    folders = [tmp_path / "a", tmp_path / "b"]
    with pytest.raises(UsageError, match="2 folders"):
        ImageLocations.of(folders, "s3://scans")
    with pytest.raises(UsageError, match="fetched by s3://"):
        ImageLocations.of(folders, "ftp://a ftp://b")
    with pytest.raises(UsageError, match="whole path"):
        ImageLocations.of(folders, "scans more")
    named = ImageLocations.of(folders, "s3://scans https://host/圖")
    assert named.place_of(folders[0] / "x" / "1a.png") == "s3://scans/x/1a.png"
    assert named.place_of(folders[1] / "圖 1a.png") == "https://host/圖/%E5%9C%96%201a.png"
    assert ImageLocations.of(folders, "").place_of(folders[1] / "1a.png") == str(folders[1] / "1a.png")


def test_a_cluster_on_this_machine_starts_and_ends_quietly_with_ctrl_c() -> None:
    """Ctrl-C goes to the workers, too: all processes of a terminal are sent it."""
    line = [sys.executable, "-m", "proof", "cluster", "--workers", "2", "--port", "0"]
    pipe = subprocess.PIPE
    with subprocess.Popen(line, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as started:  # noqa: S603
        assert started.stdout is not None
        assert started.stdout.readline().startswith("2 workers at tcp://127.0.0.1:")
        os.killpg(started.pid, signal.SIGINT)
        _, output = started.communicate(timeout=PATIENCE)
    assert (started.returncode, output) == (0, "")


DIES_AT_ITS_START = """
import os, sys
from pathlib import Path
died = Path(os.environ["DIED"])
if "spawn_main" in " ".join(sys.orig_argv) and not died.exists():
    died.touch()
    os._exit(1)
"""
"""What Python runs before anything else, in the first worker that is started."""


def test_a_worker_that_dies_at_its_start_is_started_again(tmp_path: Path, address: str) -> None:
    (tmp_path / "sitecustomize.py").write_text(DIES_AT_ITS_START)
    surroundings = {**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}", "DIED": str(tmp_path / "died")}
    line = [sys.executable, "-m", "proof", "cluster", "--workers", "1", "--join", address]
    with subprocess.Popen(  # noqa: S603
        line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=surroundings
    ) as started:
        try:
            assert started.stdout is not None
            there = started.stdout.readline().split()[-1]
            with distributed.Client(there, set_as_default=False) as client:
                client.wait_for_workers(2, timeout=PATIENCE)
            assert (tmp_path / "died").exists()
        finally:
            started.send_signal(signal.SIGINT)
            started.wait(PATIENCE)
