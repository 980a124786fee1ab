"""How a page is read is set right over the API: kept with who and when, and never out of the project's folders."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from proof.settings.config import Settings
from proof.store import Store
from proof.web import create_app
from tests.conftest import PATIENCE
from tests.web.drawn import WORK, Served

BASE = f"/api/v1/works/{WORK}"
OVERRIDES = f"{BASE}/pages/1/layout-overrides"
AGAIN = f"{BASE}/pages/1/read-again"
LAYOUT = {"corners": [[100, 100], [900, 100], [900, 750], [100, 750]], "rules": [0.5], "notes": [None, [[0, 1]]]}


def body(**more: Any) -> dict[str, Any]:
    return {"layout": LAYOUT, "image": "", "quadrant": "", "version": 0, "key": "request-0001"} | more


def comes(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def read_again(client: FlaskClient, page: int = 1) -> Any:
    """What came of a reading, once it is there."""
    path = f"{BASE}/pages/{page}/read-again"
    job: Any = client.post(path).json

    def settled() -> bool:
        nonlocal job
        job = client.get(f"{path}/{job['id']}").json
        return job["state"] not in {"waiting", "running"}

    comes(settled)
    return job


@pytest.fixture
def reading(project: Path) -> Iterator[Served]:
    """The sample, whose pages the real recogniser reads."""
    settings = Settings.load(project)
    with Store.open(settings.store_address) as store:
        yield Served(settings, store, create_app(settings, store=store), "")


def test_a_layout_is_set_and_taken_back_and_the_second_of_two_is_told(served: Served) -> None:
    client = served.client
    made = client.post(OVERRIDES, json=body())
    answer: Any = made.json
    assert (made.status_code, answer["version"], answer["layout"]) == (201, 1, {**LAYOUT, "more": []})
    assert client.post(OVERRIDES, json=body(key="request-0002")).status_code == 409
    back = client.post(OVERRIDES, json=body(layout=None, version=1, key="request-0003"))
    assert (back.status_code, back.json["layout"]) == (201, None)  # type: ignore[index]
    listed: Any = client.get(OVERRIDES).json
    assert [item["version"] for item in listed["items"]] == [1, 2]
    assert all(item["person"] and item["at"] for item in listed["items"])


@pytest.mark.parametrize("name", ["../config.toml", "..\\x.png", "%2e%2e/x.png", "."])
def test_no_name_leads_out_of_the_image_folders(unchanged: Served, name: str) -> None:
    client = unchanged.client
    assert client.post(OVERRIDES, json=body(image=name)).status_code == 404
    assert client.get(f"{BASE}/images/preview", query_string={"name": name}).status_code == 404
    assert client.get(OVERRIDES).json == {"items": []}


@pytest.mark.parametrize(
    "wrong",
    [
        {"layout": LAYOUT | {"corners": [[0, 0]] * 4}},
        {"layout": LAYOUT | {"notes": [None]}},
        {"quadrant": "e"},
    ],
)
def test_what_no_page_can_be_is_refused(unchanged: Served, wrong: dict[str, Any]) -> None:
    assert unchanged.client.post(OVERRIDES, json=body(**wrong)).status_code in {400, 422}


def test_images_are_found_by_part_of_their_name_and_shown_small(unchanged: Served) -> None:
    client = unchanged.client

    def found(sought: str) -> list[str]:
        answer: Any = client.get(f"{BASE}/images", query_string={"search": sought}).json
        return list(answer["items"])

    assert found("PAGE") == found("") == ["page.png"]
    assert found("no such name") == []
    shown = client.get(f"{BASE}/images/preview", query_string={"name": "page.png"})
    assert (shown.status_code, shown.mimetype) == (200, "image/webp")


def test_an_image_that_was_set_is_taken_back_by_the_undo_of_who_set_it_and_the_page_is_read_again(
    reading: Served,
) -> None:
    """As Z does on any view: what was decided before stays, the page comes back with its flags and their decisions."""
    client, store = reading.client, reading.store
    flag: Any = client.get(f"{BASE}/flags?limit=1").json["items"][0]  # type: ignore[index]
    page, wanted = flag["page"]["number"], f"{BASE}/flags/{flag['number']}"
    decided = {"verdict": "keep", "version": flag["version"], "key": "decided-0001"}
    assert client.post(f"{wanted}/decisions", json=decided).status_code == 201
    names: Any = client.get(f"{BASE}/images").json
    wrong = next(name for name in names["items"] if "0194" in name)
    set_ = body(layout=None, image=wrong)
    assert client.post(f"{BASE}/pages/{page}/layout-overrides", json=set_).status_code == 201
    assert read_again(client, page)["outcome"]["status"] != "checked"
    undone: Any = client.post(f"{BASE}/undo", json={"key": "undo-00001"}).json
    assert (undone["what"], undone["reread_page"], undone["decisions"]) == ("layout", page, [])
    assert undone["message"].endswith("the page is read again")
    assert store.layout_overrides.of_work(WORK) == {}
    comes(lambda: store.queue.page(WORK, page)[0].status == "checked")
    again: Any = client.get(wanted).json
    assert (again["state"], again["version"]) == ("kept", 1)


def test_why_a_page_cannot_be_read_again_is_said_and_what_was_never_asked_for_is_not_there(served: Served) -> None:
    client = served.client
    answer = read_again(client)
    assert (answer["state"], answer["outcome"]) == ("failed", None)
    assert "text.txt" in answer["reason"]
    assert (answer["trouble"], answer["message"]) == ("text", "The text cannot be read.")
    client.set_cookie("lang", "zh-Hant")
    assert client.get(f"{AGAIN}/{answer['id']}").json == answer | {"message": "文本無法讀取。"}
    client.set_cookie("lang", "en")
    stopped = client.post(f"{AGAIN}/{answer['id']}/stop")
    assert (stopped.status_code, stopped.json) == (200, answer | {"requested_by": []}), "what is done is not taken back"
    for path in (f"{BASE}/pages/2/read-again/{answer['id']}", f"{AGAIN}/none"):
        assert client.get(path).status_code == 404
        assert client.post(f"{path}/stop").status_code == 404
    assert client.post(f"{BASE}/pages/99/read-again").status_code == 404


def test_a_text_that_no_longer_has_the_page_is_told_of(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = served.settings.folder
    assert folder is not None
    monkeypatch.chdir(folder)
    (folder / "text.txt").write_text("卷十 第 9a 页 WYG0103-0999a.png\n射人告具于公\n", encoding="utf-8")
    answer = read_again(served.client)
    assert (answer["state"], answer["trouble"]) == ("failed", "text changed")
    assert "check it anew" in answer["message"]
