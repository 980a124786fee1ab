"""A copy of a store, on any database, has the same rows and continues their numbers."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from proof.errors import UsageError
from proof.model.result import PageResult
from proof.store import PagePlace, RunInfo, Store
from proof.store.copying import copy_file, copy_store, count_rows
from proof.store.decision_records import DecisionRequest, Verdict
from proof.store.saving import CheckedResult
from tests.store.conftest import on_both


@on_both
def test_a_copy_holds_the_same_and_goes_on(
    store: Store, tmp_path: Path, info: RunInfo, page_result: PageResult
) -> None:
    with Store.open(tmp_path / "source.sqlite") as source:
        run = source.begin_run(info)
        source.save_pages(run, [CheckedResult(PagePlace(0, "KR1d0030_010.txt", "010", "1a"), "key", page_result)])
        source.finish_run(run)
        made = source.decisions.decide(DecisionRequest("KR1d0030", 1, Verdict.TAKE, 0, "甲", "request-0001"))
        assert copy_store(source, store) == count_rows(source) == count_rows(store)
        assert list(store.results(work="KR1d0030")) == list(source.results(work="KR1d0030"))
        with pytest.raises(UsageError, match="holds something already"):
            copy_store(source, store)
    assert store.decisions.history(1) == [made]
    assert store.decisions.decide(DecisionRequest("KR1d0030", 1, Verdict.UNDO, 1, "甲", "request-0002")).id > made.id
    assert store.begin_run(info) > run


@on_both
def test_what_can_be_made_again_is_copied_only_where_it_is_asked_for(store: Store, tmp_path: Path) -> None:
    with Store.open(tmp_path / "source.sqlite") as source:
        source.cache.put("page 1", b"readings")
        copy_store(source, store)
        assert store.cache.size() == 0
        with Store.open(tmp_path / "whole.sqlite") as whole:
            copy_store(source, whole, cache=True)
            assert whole.cache.get("page 1") == b"readings"


def made_of(file: Path) -> set[tuple[str, str]]:
    with closing(sqlite3.connect(file)) as connection:
        return set(connection.execute("SELECT name, sql FROM sqlite_master"))


def test_a_file_is_copied_with_all_that_guards_it_and_is_its_owners_alone(
    tmp_path: Path, info: RunInfo, page_result: PageResult
) -> None:
    with Store.open(tmp_path / "source.sqlite") as source:
        run = source.begin_run(info)
        source.save_pages(run, [CheckedResult(PagePlace(0, "KR1d0030_010.txt", "010", "1a"), "key", page_result)])
        source.decisions.decide(DecisionRequest("KR1d0030", 1, Verdict.TAKE, 0, "甲", "request-0001"))
        source.cache.put("page 1", b"readings")
        copied = copy_file(tmp_path / "source.sqlite", tmp_path / "copy.sqlite")
        whole = copy_file(tmp_path / "source.sqlite", tmp_path / "whole.sqlite", cache=True)
        assert (copied, whole) == (count_rows(source) - 1, count_rows(source))
        assert (tmp_path / "copy.sqlite").stat().st_mode & 0o777 == 0o600
        assert made_of(tmp_path / "copy.sqlite") == made_of(tmp_path / "source.sqlite")
        with Store.open(tmp_path / "copy.sqlite") as copy, Store.open(tmp_path / "whole.sqlite") as other:
            assert copy.faults() == []
            assert list(copy.results(work="KR1d0030")) == list(source.results(work="KR1d0030"))
            assert copy.decisions.history(1) == source.decisions.history(1)
            assert (copy.cache.size(), other.cache.get("page 1")) == (0, b"readings")
            with pytest.raises(IntegrityError, match="never altered"), copy._writing(journaling=False) as session:
                session.execute(text("DELETE FROM acts"))


def test_a_file_is_copied_as_it_was_committed_while_somebody_writes(tmp_path: Path, info: RunInfo) -> None:
    with Store.open(tmp_path / "source.sqlite") as source:
        source.begin_run(info)
        with source._writing(journaling=False) as session:
            session.execute(text("UPDATE works SET title = 'half-way'"))
            copy_file(tmp_path / "source.sqlite", tmp_path / "copy.sqlite")
    with Store.open(tmp_path / "copy.sqlite") as copy:
        assert [run.info.title for run in [copy.latest_run()] if run] == ["儀禮註疏"]
