"""What breaks while a cluster checks: images, workers, the scheduler, the database. Nothing is lost or doubled."""

from __future__ import annotations

import signal
import subprocess
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from PIL import Image
from sqlalchemy import URL, create_engine, text

from proof.checking import cluster
from proof.checking.pipeline import CheckOutcome, Progress, check
from proof.errors import ClusterError, OutputError
from proof.settings.config import Settings
from proof.store import Store
from tests.checking.test_cluster import DIES, address, cluster_of
from tests.conftest import PATIENCE
from tests.forked_commands import FORKED
from tests.store.conftest import postgresql

__all__ = ["address", "cluster_of", "postgresql"]

pytestmark = pytest.mark.slow

PAGES = 16


@pytest.fixture
def settings(tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Pages with images that the engine reads nothing on: twice as many as are in work at once. However quick the
    cluster is, when the first is told of, others are not sent yet, and none but it is written."""
    assert cluster.MAX_PAGES_PER_THREAD < PAGES
    monkeypatch.setattr("proof.checking.writer.MAX_WAIT_SECONDS", 0.0)
    (tmp_path / "images").mkdir()
    page = tmp_path / "page.png"
    Image.new("L", (200, 300), 255).save(page)
    with (tmp_path / "text.txt").open("w", encoding="utf-8") as written:
        for number in range(PAGES):
            name = f"KR9x0001_SIM_001-{number + 1}a"
            written.write(f"<pb:{name}>¶\n射人告具于公¶\n")
            (tmp_path / "images" / f"{name}.png").hardlink_to(page)
    return Settings().replace(
        {
            "project.texts": [str(tmp_path / "text.txt")],
            "project.images": [str(tmp_path / "images")],
            "project.out": str(tmp_path / "out"),
            "store.url": f"sqlite:///{tmp_path / 'proof.sqlite'}",
            "engine.name": "null",
            "flags.language_model": False,
            "cluster.address": address,
        }
    )


def pages(settings: Settings) -> Counter[str]:
    """How often the store has each page."""
    with Store.open(settings.store_address, folder=settings.base) as store:
        run = store.latest_run()
        assert run is not None
        return Counter(result.page for result in store.results(work=run.info.work))


def complete(settings: Settings, outcome: CheckOutcome) -> bool:
    count = pages(settings)
    return len(count) == PAGES == count.total() and len(outcome.written.tally.pages) == PAGES


def run_cluster(address: Connection) -> None:
    """Run a scheduler with a worker in this process, until it is killed."""
    with cluster_of(1, processes=False) as started:
        address.send(started.scheduler_address)
        signal.pause()


def test_a_lost_scheduler_leaves_what_was_done(settings: Settings) -> None:
    def lose(done: Progress) -> None:
        if done.done == 1:
            scheduler.kill()
            scheduler.join()

    reading, writing = FORKED.Pipe(duplex=False)
    scheduler = FORKED.Process(target=run_cluster, args=(writing,), daemon=True)
    scheduler.start()
    with pytest.raises(ClusterError, match="the scheduler has stopped; the finished pages are kept"):
        check(settings.replace({"cluster.address": reading.recv()}), lose)
    with Store.open(settings.store_address) as store:
        run = store.latest_run()
        assert run is not None
        assert run.finished is None
        assert 1 <= len(list(store.results(run=run.id))) < PAGES


def test_pages_that_go_together_to_a_worker_that_dies_are_tried_one_by_one(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "proof.checking.cluster.WORKERLESS_SECONDS", PATIENCE
    )  # the next one starts late on a busy machine
    deadly, healed = (f"KR9x0001_SIM_001-{number}a" for number in (3, 6))
    victims = ((deadly, 9), (healed, 1))
    with cluster_of(2, DIES.format(victims=victims, folder=str(tmp_path))) as started:
        outcome = check(settings.replace({"cluster.address": started.scheduler_address}))
    [failed] = [page for page in outcome.written.tally.pages if page.status.value == "failed"]
    assert failed.page == deadly
    assert failed.status_text.startswith("failed: 3 workers of the cluster died")
    assert not outcome.sound
    begun = len(list(tmp_path.glob(f"{deadly}-*")))
    assert 1 <= begun <= cluster.MAX_DEATHS  # it may only have waited on a worker that died of the other page
    assert complete(settings, outcome)


@pytest.fixture
def on_server(settings: Settings, postgresql: URL) -> Settings:
    maintenance = create_engine(postgresql, isolation_level="AUTOCOMMIT")
    with maintenance.connect() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    maintenance.dispose()
    return settings.replace({"store.url": postgresql.render_as_string(hide_password=False)})


@pytest.mark.postgres
def test_a_database_that_is_restarted_loses_nothing(on_server: Settings) -> None:
    def restart(done: Progress) -> None:
        if done.done == 1:
            folder = Path(str(on_server.store.url).rpartition("host=")[2].replace("%2F", "/"))
            program = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))[-1]
            options = f"-k {folder} -c listen_addresses='' -c fsync=off"
            wait = ["-w", "-t", f"{PATIENCE:.0f}"]
            command = [program, "-D", folder / "data", "-m", "immediate", *wait, "-o", options, "-l", folder / "log"]
            subprocess.run(  # noqa: S603
                [*map(str, command), "restart"], check=True, user="postgres", cwd=folder, stdout=subprocess.DEVNULL
            )

    with pytest.raises(OutputError, match="the database cannot be used"):  # its lock on the work is gone as well
        check(on_server, restart)
    assert complete(on_server, check(on_server))
