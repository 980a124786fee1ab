"""A store on a PostgreSQL server: the first process creates the tables."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlalchemy import URL, create_engine, inspect, text

from proof.model.result import PageResult
from proof.store import CheckedResult, PagePlace, RunInfo, Store

pytestmark = pytest.mark.postgres


@pytest.fixture
def server(postgresql: URL) -> URL:
    """A server with an empty database."""
    maintenance = create_engine(postgresql, isolation_level="AUTOCOMMIT")
    with maintenance.connect() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    maintenance.dispose()
    return postgresql


def test_several_processes_may_open_a_new_store_on_a_server_at_once(server: URL) -> None:
    def look(_: int) -> bool:
        with Store.open(server) as store:
            return inspect(store.engine).has_table("library")

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(look, range(4))) == [True] * 4


def test_several_works_are_saved_to_a_server_at_once(server: URL, info: RunInfo, page_result: PageResult) -> None:
    """Four checks of four works at once, each in a store object of its own."""

    def check(number: int) -> int:
        with Store.open(server) as store:
            run = store.begin_run(replace(info, work=f"work {number}"))
            for part in range(5):
                places = [PagePlace(part * 10 + n, info.texts[0].path) for n in range(10)]
                results = [replace(page_result, page=f"{number}-{place.position}", flags=()) for place in places]
                keys = [f"{number} {place.position}" for place in places]
                store.save_pages(run, [CheckedResult(*match) for match in zip(places, keys, results, strict=True)])
            store.finish_run(run, whole=True)
            return sum(1 for _ in store.results(run=run))

    Store.open(server).close()
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(check, range(4))) == [50] * 4
    with Store.open(server) as store:
        assert [work.counts.all_pages for work in store.library.works()] == [50] * 4
