"""The list of all works in the browser, and the search over them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import event, insert

from proof.model.notices import Notice, NoticeCode
from proof.settings.config import Settings
from proof.store import Store
from proof.store.library import FolderState
from proof.store.models import FlagRow, LibraryRow, PageRow, RunRow, WorkRow
from proof.web import create_app

pytestmark = pytest.mark.slow

WORKS, PAGES = 230, 4
START = datetime(2026, 1, 1, tzinfo=UTC)
ENGINE = {"engine_name": "ppocr", "engine_version": "1", "engine_model": "", "engine_checksum": "", "version": "1"}
PAGE = {
    "repeat": 0, "juan": "1", "ref": "", "image_sha": "", "width": 0, "height": 0, "skew": 0.0,
    "characters_checked": 170, "notices": [], "seconds": 0.2,
}  # fmt: skip
FLAG = {
    "ref": "", "line": 1, "offset": 0, "length": 1, "kind": "substitution", "transcribed": "托", "suggested": "託",
    "score": 5.0, "raised": True, "context": "", "reason": "", "rule": "", "evidence": {}, "origin": "finding",
    "stale": False,
}  # fmt: skip


def fill(store: Store, works: int) -> None:
    """So many works of four pages and four flags, one in ten of them without images, two of them failed."""
    with store._writing() as session:
        for n in range(1, works + 1):
            texts = [{"path": f"{n}.txt", "script": "traditional"}]
            times = {"started": START, "finished": START + timedelta(seconds=2)}
            run = {"id": n, "work_id": n, "settings": {}, "texts": texts, "findings": [], **times, **ENGINE}
            session.execute(insert(WorkRow), [{"id": n, "name": f"KR{n:05d}", "title": f"經部之書 {n}"}])
            session.execute(insert(RunRow), [run])
            session.execute(insert(PageRow), [page_of(n, k) for k in range(PAGES)])
            if n % 10:
                session.execute(insert(FlagRow), [flag_of(n, k) for k in range(PAGES)])
        session.execute(insert(LibraryRow), [folder_of(n) for n in range(1, works + 2)])


def page_of(n: int, k: int) -> dict[str, object]:
    own = {"page": f"KR{n:05d}_WYG_001-{k + 1}a", "text": f"{n}.txt", "folio": f"{k + 1}a", "key": f"{n}-{k}"}
    status = "checked" if n % 10 else "no image"
    return {**PAGE, "work_id": n, "run_id": n, "result_run_id": n, "position": k, "status": status, **own}


def flag_of(n: int, k: int) -> dict[str, object]:
    state = ("open", "corrected", "kept", "open")[k]
    own = {"page_id": (n - 1) * PAGES + k + 1, "uid": f"{n}-{k}", "last_run_id": n, "state": state}
    return {**FLAG, "work_id": n, **own}


def folder_of(n: int) -> dict[str, object]:
    known = {"folder": f"經部/KR{n:05d}", "turn": n - 1, "trouble": None}
    if n > 2:
        return known | {"work": f"KR{n:05d}", "state": FolderState.CHECKED.value}
    notice = Notice.of(NoticeCode.AS_TOLD, text="text.txt:3: not UTF-8").as_json()
    return known | {"work": "", "state": FolderState.FAILED.value, "trouble": notice}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of many works; nobody changes it."""
    folder = tmp_path_factory.mktemp("library")
    (folder / "config.toml").write_text('[project]\ntitle = "四庫"\n', encoding="utf-8")
    with Store.open(Settings.load(folder).store_address) as store:
        fill(store, WORKS)
    return folder


@pytest.fixture(scope="module")
def app(library: Path) -> Iterator[Flask]:
    settings = Settings.load(library)
    with Store.open(settings.store_address) as store:
        yield create_app(settings, store=store)


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


def rows(html: str) -> list[list[str]]:
    """The cells of every line of the list, without their markup."""
    body = html[html.index("<tbody>") : html.index("</tbody>")]
    lines = re.findall(r"<tr>(.*?)</tr>", body, re.S)
    return [
        [" ".join(re.sub(r"<[^>]+>", " ", cell).split()) for cell in re.findall(r"<t[hd].*?</t[hd]>", line, re.S)]
        for line in lines
    ]


def test_a_library_is_listed_by_few_questions_that_count_no_flag_again(app: Flask, client: FlaskClient) -> None:
    client.get("/")  # counted as the server starts
    store: Store = app.extensions["proof"].store
    asked: list[str] = []

    def note(*given: Any) -> None:
        asked.append(given[2])

    event.listen(store.engine, "before_cursor_execute", note)
    for query in ("", "?sort=left", f"?start={WORKS - 100}", "?title=經部&state=checked"):
        asked.clear()
        assert client.get(f"/{query}").status_code == 200
        assert len(asked) < 15, asked
        assert not [statement for statement in asked if "FROM flags" in statement]
    event.remove(store.engine, "before_cursor_execute", note)


def test_each_work_stands_there_in_numbers(client: FlaskClient) -> None:
    listed = rows(client.get("/").text)
    assert len(listed) == 100
    assert listed[0][1:3] == ["經部/KR00001", "failed why text.txt:3: not UTF-8"]
    assert listed[2] == [
        "3",
        "經部之書 3 KR00003 · 經部/KR00003",
        "checked",
        "4",
        "4",
        "0",
        "0",
        "4",
        "2",
        "1.0",
        "2.0",
    ]
    assert listed[9][3:7] == ["4", "0", "4", "0"]


def test_the_list_is_put_in_order_narrowed_and_turned(client: FlaskClient) -> None:
    assert [row[2].split()[0] for row in rows(client.get("/?state=failed").text)] == ["failed", "failed"]
    assert [row[0] for row in rows(client.get("/?title=KR00042").text)] == ["42"]
    assert rows(client.get("/?sort=missing").text)[0][5] == "4"
    assert rows(client.get("/?sort=turn&up=1").text)[0][0] == str(WORKS + 3)  # two are in no folder
    last = client.get("/?start=200").text
    assert len(rows(last)) == WORKS + 3 - 200
    assert "start=100" in last
    assert client.get("/?sort=nothing&start=-5").status_code == 200
