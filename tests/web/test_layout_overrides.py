"""How a page is read is set right over the API: kept with who and when, and never out of the project's folders."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from proof.settings.config import Settings
from proof.store import Store
from proof.web import create_app
from tests.conftest import PATIENCE
from tests.web.drawn import Served

WORK = "dasheyi"
BASE = f"/api/v1/works/{WORK}"
LAYOUT = {"corners": [[100, 100], [900, 100], [900, 750], [100, 750]], "rules": [0.5], "notes": [None, [[0, 1]]]}


def body(**more: Any) -> dict[str, Any]:
    return {"layout": LAYOUT, "image": "", "quadrant": "", "version": 0, "key": "request-0001"} | more


def told(response: TestResponse) -> dict[str, Any]:
    return dict(response.get_json())


def test_a_layout_is_set_and_taken_back_and_the_second_of_two_is_told(served: Served) -> None:
    client = served.client
    made = client.post(f"{BASE}/pages/1/layout-overrides", json=body())
    assert (made.status_code, told(made)["version"], told(made)["layout"]) == (201, 1, {**LAYOUT, "more": []})
    assert client.post(f"{BASE}/pages/1/layout-overrides", json=body(key="request-0002")).status_code == 409
    back = client.post(f"{BASE}/pages/1/layout-overrides", json=body(layout=None, version=1, key="request-0003"))
    assert (back.status_code, told(back)["layout"]) == (201, None)
    listed = told(client.get(f"{BASE}/pages/1/layout-overrides"))["items"]
    assert [one["version"] for one in listed] == [1, 2]
    assert all(one["person"] and one["at"] for one in listed)


@pytest.mark.parametrize(
    "name", ["../config.toml", "/etc/passwd", "..\\x.png", "a/../../x.png", "%2e%2e/x.png", "page.png\0", "."]
)
def test_no_name_leads_out_of_the_image_folders(unchanged: Served, name: str) -> None:
    client = unchanged.client
    assert client.post(f"{BASE}/pages/1/layout-overrides", json=body(image=name)).status_code == 404
    assert client.get(f"{BASE}/images/preview", query_string={"name": name}).status_code == 404
    assert told(client.get(f"{BASE}/pages/1/layout-overrides"))["items"] == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"layout": LAYOUT | {"corners": [[0, 0]] * 4}},
        {"layout": LAYOUT | {"rules": [0.6, 0.5]}},
        {"layout": LAYOUT | {"notes": [None]}},
        {"layout": LAYOUT | {"extra": 1}},
        {"quadrant": "e"},
        {"key": "x"},
    ],
)
def test_what_no_page_can_be_is_refused(unchanged: Served, wrong: dict[str, Any]) -> None:
    assert unchanged.client.post(f"{BASE}/pages/1/layout-overrides", json=body(**wrong)).status_code in {400, 422}


def test_images_are_found_by_part_of_their_name_and_shown_small(unchanged: Served) -> None:
    client = unchanged.client
    names = told(client.get(f"{BASE}/images"))["items"]
    assert names
    assert told(client.get(f"{BASE}/images", query_string={"sought": names[0][:4].upper()}))["items"]
    assert told(client.get(f"{BASE}/images", query_string={"sought": "no such name"}))["items"] == []
    shown = client.get(f"{BASE}/images/preview", query_string={"name": names[0]})
    assert (shown.status_code, shown.mimetype) == (200, "image/webp")


def token(client: FlaskClient, work: str) -> dict[str, str]:
    page = client.get(f"/works/{work}/").text
    return {"X-CSRFToken": page.split('name="csrf" content="')[1].split('"')[0]}


def test_a_page_is_read_again_and_says_what_came_of_it(sample: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(sample, tmp_path / "project")
    settings = Settings.load(folder)
    with Store.open(settings.store_address) as store:
        client = create_app(settings, store=store).test_client()
        [work] = store.queue.works()
        headers = token(client, work.name)
        base = f"/api/v1/works/{work.name}/pages/1/read-again"
        said = told(client.post(base, headers=headers))
        settled = come(client, base, said)
        assert (settled["state"], settled["reason"]) == ("done", "")
        outcome = settled["outcome"]
        assert outcome["status"] == "checked"
        assert (outcome["fresh"], outcome["gone"], outcome["lost"]) == (0, 0, [])


def test_an_image_that_was_set_is_taken_back_by_the_undo_of_who_set_it_and_the_page_is_read_again(
    sample: Path, tmp_path: Path
) -> None:
    """As Z does on any view: what was decided before stays, the page comes back with its flags and their decisions."""
    folder = shutil.copytree(sample, tmp_path / "project")
    settings = Settings.load(folder)
    with Store.open(settings.store_address) as store:
        client = create_app(settings, store=store).test_client()
        [work] = store.queue.works()
        headers, base = token(client, work.name), f"/api/v1/works/{work.name}"
        flag = told(client.get(f"{base}/flags?limit=1"))["items"][0]
        decided = {"verdict": "keep", "version": flag["version"], "key": "decided-0001"}
        assert client.post(f"{base}/flags/{flag['number']}/decisions", json=decided, headers=headers).status_code == 201
        names = told(client.get(f"{base}/images"))["items"]
        page = flag["page"]["number"]
        wrong = next(name for name in names if "0194" in name)
        set_ = {"layout": None, "image": wrong, "quadrant": "", "version": 0, "key": "request-0001"}
        assert client.post(f"{base}/pages/{page}/layout-overrides", json=set_, headers=headers).status_code == 201
        come(
            client,
            f"{base}/pages/{page}/read-again",
            told(client.post(f"{base}/pages/{page}/read-again", headers=headers)),
        )
        undone = told(client.post(f"{base}/undo", json={"key": "undo-00001"}, headers=headers))
        assert (undone["what"], undone["laid_out"], undone["decisions"]) == ("layout", page, [])
        assert undone["told"].endswith("the page is read again")
        assert store.layout_overrides.of_work(work.name) == {}
        deadline = time.monotonic() + PATIENCE
        while store.queue.page(work.name, page)[0].status != "checked":
            assert time.monotonic() < deadline
            time.sleep(0.05)
        again = told(client.get(f"{base}/flags/{flag['number']}"))
        assert (again["state"], again["version"]) == ("kept", 1)


def come(client: FlaskClient, base: str, said: dict[str, Any]) -> dict[str, Any]:
    """What came of a reading that is asked after until it is there."""
    deadline = time.monotonic() + PATIENCE
    while said["state"] in {"waiting", "reading"}:
        assert time.monotonic() < deadline
        time.sleep(0.05)
        said = told(client.get(f"{base}/{said['job']}"))
    return said


def test_why_a_page_cannot_be_read_again_is_said(served: Served) -> None:
    """The text of the drawn pages was never there."""
    client = served.client
    base = f"{BASE}/pages/1/read-again"
    said = come(client, base, told(client.post(base)))
    assert (said["state"], said["outcome"]) == ("failed", None)
    assert "text.txt" in said["reason"]
    assert (said["trouble"], said["told"]) == ("text", "The text cannot be read.")
    client.set_cookie("lang", "zh-Hant")
    spoken = told(client.get(f"{base}/{said['job']}"))
    assert (spoken["reason"], spoken["told"]) == (said["reason"], "文本無法讀取。")
    client.set_cookie("lang", "en")
    assert told(client.get(f"{base}/{said['job']}")) == said
    assert client.get(f"{BASE}/pages/2/read-again/{said['job']}").status_code == 404
    assert client.get(f"{base}/none").status_code == 404
    assert client.post(f"{BASE}/pages/99/read-again").status_code == 404


@pytest.mark.parametrize(
    ("harm", "trouble", "message"),
    [
        (lambda image: image.write_bytes(image.read_bytes()[:2000]), "image", "書影損壞，或不是可讀的圖檔。"),
        (lambda image: image.unlink(), "no image", "此葉沒有書影。"),
        (lambda image: shutil.copy(image.with_name("WYG0103-0194c.png"), image), "other page", "書影是另一葉。"),
    ],
    ids=["damaged", "gone", "of another page"],
)
def test_what_is_wrong_with_an_image_is_told_in_the_language_of_who_asks(
    sample: Path, tmp_path: Path, harm: Callable[[Path], object], trouble: str, message: str
) -> None:
    folder = shutil.copytree(sample, tmp_path / "project")
    harm(folder / "pages" / "WYG0103-0192c.png")
    settings = Settings.load(folder)
    with Store.open(settings.store_address) as store:
        client = create_app(settings, store=store).test_client()
        client.set_cookie("lang", "zh-Hant")
        [work] = store.queue.works()
        headers = token(client, work.name)
        base = f"/api/v1/works/{work.name}/pages/1/read-again"
        outcome = come(client, base, told(client.post(base, headers=headers)))["outcome"]
        assert (outcome["trouble"], outcome["told"]) == (trouble, message)


def test_a_text_that_no_longer_has_the_page_is_told_of(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = served.settings.folder
    assert folder is not None
    monkeypatch.chdir(folder)
    (folder / "text.txt").write_text("卷十 第 9a 页 WYG0103-0999a.png\n射人告具于公\n", encoding="utf-8")
    client, base = served.client, f"{BASE}/pages/1/read-again"
    said = come(client, base, told(client.post(base)))
    assert (said["state"], said["trouble"]) == ("failed", "text changed")
    assert "check it anew" in said["told"]


def test_what_is_done_is_not_taken_back_and_what_was_never_asked_for_is_not_there(served: Served) -> None:
    client = served.client
    base = f"{BASE}/pages/1/read-again"
    said = come(client, base, told(client.post(base)))
    stopped = client.post(f"{base}/{said['job']}/stop")
    assert (stopped.status_code, told(stopped)["state"]) == (200, "failed")
    assert client.post(f"{base}/none/stop").status_code == 404
    assert client.post(f"{BASE}/pages/2/read-again/{said['job']}/stop").status_code == 404
