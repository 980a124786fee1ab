"""Opening a store: migrations, refusals, and the errors of an unusable database with advice."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import event

from proof.errors import OutputError, UsageError
from proof.model.result import PageResult
from proof.store import PagePlace, RunInfo, Store, database
from proof.store.database import MIGRATIONS
from proof.store.saving import CheckedResult
from tests.conftest import PATIENCE
from tests.remarks import error_notice
from tests.store.conftest import on_both, whole

pytestmark = pytest.mark.usefixtures("from_scratch")

PLACE = PagePlace(0, "KR1d0030_010.txt")


def test_a_store_opened_again_has_what_was_put_in(tmp_path: Path, info: RunInfo, page_result: PageResult) -> None:
    with Store.open(tmp_path / "a folder, 圖" / "proof.sqlite") as store:
        store.save_pages(store.begin_run(info), [CheckedResult(PLACE, "key", page_result)])
    with Store.open(f"sqlite:///{tmp_path}/a folder, 圖/proof.sqlite") as store:
        assert whole(store, "key") == page_result
        with store.engine.connect() as connection:
            assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"


def test_many_programs_may_open_a_new_store_at_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: Store.open(tmp_path / "proof.sqlite").close(), range(6)))


def test_a_store_of_a_later_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "proof.sqlite"
    Store.open(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    with pytest.raises(OutputError, match=r"proof\.sqlite: a later version of proof made this store; update proof"):
        Store.open(path)


def test_somebody_elses_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "photos.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE pages (name TEXT)")
    connection.close()
    with pytest.raises(OutputError, match="holds something else"):
        Store.open(path)
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("pages",)]
    connection.close()


def test_a_file_that_is_no_database_and_a_folder_that_cannot_be_made_are_named(tmp_path: Path) -> None:
    path = tmp_path / "proof.sqlite"
    path.write_text("道可道非常道" * 100)
    with pytest.raises(OutputError, match=r"proof\.sqlite: this is no store"):
        Store.open(path)
    with pytest.raises(OutputError, match=r"proof\.sqlite: cannot make the folder"):
        Store.open(path / "proof.sqlite")


@pytest.mark.parametrize("address", ["no address", "oracle+nothing://x/y"])
def test_an_address_that_is_none_is_wrong_usage(address: str) -> None:
    with pytest.raises(UsageError, match="store"):
        Store.open(address)


def test_a_locked_store_says_that_another_program_writes(tmp_path: Path, info: RunInfo) -> None:
    path = tmp_path / "proof.sqlite"
    with Store.open(path, wait=0.05) as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(OutputError, match=r"proof\.sqlite: another program is writing to it"):
            store.begin_run(info)
        other.execute("ROLLBACK")
        other.close()
        assert store.begin_run(info) == 1


def test_a_store_that_may_only_be_read_says_so(tmp_path: Path, info: RunInfo, page_result: PageResult) -> None:
    path = tmp_path / "proof.sqlite"
    with Store.open(path) as store:
        run = store.begin_run(info)
        store.save_pages(run, [CheckedResult(PLACE, "key", page_result)])
    with Store.open(f"sqlite:///file:{path}?mode=ro&uri=true") as store:
        assert whole(store, "key") == page_result
        with pytest.raises(OutputError, match="may only be read"):
            store.begin_run(info)


def test_a_full_disk_costs_the_page_at_hand_and_no_other(
    tmp_path: Path, info: RunInfo, page_result: PageResult
) -> None:
    store = Store.open(tmp_path / "proof.sqlite")
    run = store.begin_run(info)
    store.save_pages(run, [CheckedResult(PLACE, "fits", page_result)])
    store.close()

    @event.listens_for(store._engine, "connect")
    def no_room(connection: sqlite3.Connection, _record: object) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")

    big = replace(page_result, page="big", flags=(), message=error_notice("長" * 100_000))
    with pytest.raises(OutputError, match=r"proof\.sqlite: the disk is full; make room and run again"):
        store.save_pages(run, [CheckedResult(PagePlace(1), "does not", big)])
    store.close()
    with Store.open(tmp_path / "proof.sqlite") as again:
        assert [result.page for result in again.results(run=run)] == [page_result.page]


def test_a_disk_without_room_for_the_log_may_be_full(tmp_path: Path, info: RunInfo) -> None:
    """SQLite then speaks of input and output alone."""
    with Store.open(tmp_path / "proof.sqlite") as store:

        @event.listens_for(store._engine, "before_cursor_execute")
        def no_log(*_: object) -> None:
            raise sqlite3.OperationalError("disk I/O error")

        with pytest.raises(OutputError, match=r"proof\.sqlite: the disk cannot be read or written: it may be full"):
            store.begin_run(info)


@pytest.mark.skipif(os.name == "nt", reason="modes are of POSIX")
def test_nobody_but_its_owner_reads_a_store(tmp_path: Path) -> None:
    path = tmp_path / "proof.sqlite"
    old = os.umask(0o022)
    try:
        with Store.open(path) as store:
            store.accounts.everybody()
            assert {path.stat().st_mode & 0o777 for path in tmp_path.glob("proof.sqlite*")} == {0o600}
        path.chmod(0o644)
        with Store.open(path):
            assert path.stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(old)


def test_a_copy_is_kept_before_every_update_of_the_tables(
    tmp_path: Path, info: RunInfo, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "proof.sqlite"
    with Store.open(path) as store:
        store.begin_run(info)
    newest = database.newest_revision()
    later = shutil.copytree(MIGRATIONS, tmp_path / "migrations")
    (later / "versions" / "9999_later.py").write_text(
        f"revision, down_revision = '9999', '{newest}'\ndef upgrade() -> None: ...\n", encoding="utf-8"
    )
    monkeypatch.setattr(database, "MIGRATIONS", later)
    Store.open(path).close()
    [copy] = tmp_path.glob("proof.sqlite.as-of-*")
    assert copy.name == f"proof.sqlite.as-of-{newest}"
    assert copy.stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(newest,)]
        assert connection.execute("SELECT name FROM works").fetchall() == [(info.work,)]
    Store.open(path).close()
    assert len(list(tmp_path.glob("proof.sqlite.as-of-*"))) == 1


@on_both
def test_the_second_check_of_a_work_waits_until_the_first_is_done_and_says_so(store: Store) -> None:
    waiting, got, steps = threading.Event(), threading.Event(), list[object]()

    def second() -> None:
        with Store.open(store.engine.url) as other, other.checking("work", waiting.set) as waited:
            steps.append(("second", waited))
            got.set()

    thread = threading.Thread(target=second)
    with store.checking("work") as waited:
        assert not waited
        thread.start()
        assert waiting.wait(PATIENCE)
        assert not got.wait(0.3)
        with store.checking("another", waiting.clear) as beside:
            assert not beside
        steps.append("first is done")
    thread.join(PATIENCE)
    assert steps == ["first is done", ("second", True)]
    with store.checking("work") as waited:
        assert not waited


@on_both
def test_a_check_that_is_done_is_waited_for_by_nobody(store: Store) -> None:
    """Not even for the moment in which a database server closes the connection that had the lock."""
    waits = []
    for _ in range(100):
        with store.checking("work") as waited:
            waits.append(waited)
    assert not any(waits)
