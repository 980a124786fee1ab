"""A project of version 0.1.0, made by that version (scripts/make_store_0_1_0.py), in this one."""

from __future__ import annotations

import json
import shutil
import sqlite3
import tarfile
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from proof.cli import main
from proof.store import FlagFilter, Store
from proof.store.decision_records import Verdict
from proof.store.models import Base

pytestmark = pytest.mark.usefixtures("from_scratch")

ARCHIVE = Path(__file__).parent / "data" / "store-0.1.0.tar.xz"
PAGES = Path(__file__).resolve().parents[2] / "pages"
WORK = "dasheyi"
LATER = {"delete", "redo"}
"""What people could not say in 0.1.0."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The project, unpacked into another folder than the one that it was made in, with its images."""
    folder = tmp_path / "project"
    with tarfile.open(ARCHIVE) as tar:
        tar.extractall(folder, filter="data")
    for image in sorted(PAGES.glob("WYG0103-019[23]*.png")):
        shutil.copy(image, folder / "pages")
    return folder


@pytest.fixture
def told(project: Path) -> dict[str, Any]:
    """What version 0.1.0 said of it."""
    found: dict[str, Any] = json.loads((project / "told.json").read_text(encoding="utf-8"))
    return found


def plain(value: object) -> Any:
    return json.loads(json.dumps(value, default=str))


def count(store: Path, table: str) -> int:
    with closing(sqlite3.connect(store)) as connection:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608 - a name of ours


def test_every_verdict_was_given_in_it(told: dict[str, Any]) -> None:
    assert {one["verdict"] for one in told["decisions"]} == {str(verdict) for verdict in Verdict} - LATER


def test_every_decision_is_told_as_it_was(project: Path, told: dict[str, Any]) -> None:
    with Store.open(project / "proof.sqlite") as store:
        log = [plain(asdict(one)) for one in store.decisions.log(WORK, limit=1000)]
        flags = [one.flag.id for one in store.flags(FlagFilter(WORK))]
    assert [{name: one[name] for name in was} for one, was in zip(log, told["decisions"], strict=True)] == told[
        "decisions"
    ]
    assert flags == told["flags"]


def test_pages_rules_layouts_and_accounts_are_what_they_were(project: Path, told: dict[str, Any]) -> None:
    with Store.open(project / "proof.sqlite") as store:
        pages = store.queue.pages(WORK)
        said = {page.page: store.page_states.history(WORK, page.number) for page in pages}
        set_right = {page.page: store.layout_overrides.history(WORK, page.number) for page in pages}
        rules = [(rule.transcribed, rule.suggested, rule.person) for rule in store.rules.of_work(WORK)]
        accounts = [(one.name, one.role, one.disabled) for one in store.accounts.everybody()]
        assert store.accounts.log_in("王", "the passphrase of 王") is not None
        assert store.accounts.log_in("客", "the passphrase of 客") is None
    assert (
        plain({page: [(e.state, e.person, e.note) for e in events] for page, events in said.items()}) == told["pages"]
    )
    assert (
        plain({page: [(m.person, m.layout is None) for m in found] for page, found in set_right.items()})
        == told["layouts"]
    )
    assert plain(rules) == told["rules"]
    assert plain(accounts) == told["accounts"]


def test_no_row_of_what_people_said_is_lost_and_the_old_store_is_kept(project: Path) -> None:
    store = project / "proof.sqlite"
    tables = ["decisions", "page_events", "mends", "accounts", "account_events", "flags", "pages"]
    before = {table: count(store, table) for table in tables}
    Store.open(store).close()
    assert {table: count(store, table) for table in tables} == before
    assert set(tables) <= set(Base.metadata.tables)
    assert [kept.name for kept in project.glob("proof.sqlite.as-of-*")] == ["proof.sqlite.as-of-0009"]
    assert count(project / "proof.sqlite.as-of-0009", "decisions") == before["decisions"]


def test_what_is_exported_is_what_0_1_0_exported(project: Path, tmp_path: Path) -> None:
    text = project / "pages" / "dasheyi.txt"
    assert main(["export", str(text), "--config", str(project), "--out", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "dasheyi.txt").read_bytes() == (project / "exported" / "dasheyi.txt").read_bytes()


@pytest.mark.slow
def test_another_check_keeps_what_was_decided(project: Path, told: dict[str, Any], tmp_path: Path) -> None:
    assert main(["check", "-q", "--config", str(project)]) == 0
    with Store.open(project / "proof.sqlite") as store:
        log = [plain(asdict(one)) for one in store.decisions.log(WORK, limit=1000)]
        standing = {(one.page, one.line, one.offset, one.reading) for one in store.decisions.standing(WORK)}
    kept = {one["id"]: one for one in log}
    assert all(kept[was["id"]]["reading"] == was["reading"] for was in told["decisions"])
    assert ("WYG0103-0192d", 6, 9, "比") in standing
    text = project / "pages" / "dasheyi.txt"
    assert main(["export", str(text), "--config", str(project), "--out", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "dasheyi.txt").read_bytes() == (project / "exported" / "dasheyi.txt").read_bytes()
