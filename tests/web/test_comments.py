"""Comments by the API and in the pages: who may write, to whom a problem can be given, who finds it."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.web.drawn import SCRIPT, WORK
from tests.web.test_people import BASE, Browser, House, house_in


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    yield from house_in(tmp_path_factory.mktemp("comments"))


def say(browser: Browser, place: str, text: str, **more: Any) -> TestResponse:
    return browser.send(f"{BASE}/{place}/comments", {"text": text, "key": uuid.uuid4().hex, **more})


def get(client: FlaskClient, path: str) -> Any:
    return client.get(f"{BASE}/{path}").json


def test_a_problem_is_given_to_somebody_who_finds_it_in_the_head_of_every_page_and_answers(house: House) -> None:
    first, second, reader = (house.browser(name) for name in "乙丙丁")
    assert 'id="for-me"' not in second.client.get(f"/works/{WORK}/").text
    given = say(first, "flags/1", "是吿還是告？", state="problem", assigned="丙")
    assert (given.status_code, given.json["person"], given.json["assigned"]) == (201, "乙", "丙")  # type: ignore[index]
    for path in ("/", f"/works/{WORK}/", f"/works/{WORK}/desk", f"/works/{WORK}/pages/1", "/account", "/for-me"):
        page = second.client.get(path, follow_redirects=True).text
        assert 'href="/for-me"' in page, path
        assert '<b class="badge">1</b>' in page, path
    assert "是吿還是告？" in second.client.get("/for-me").text
    assert "是吿還是告？" not in first.client.get("/for-me").text
    assert [problem["assigned"] for problem in get(reader.client, "problems")["items"]] == ["丙"]
    assert say(second, "flags/1", "告", state="resolved", seen=given.json["id"]).status_code == 201  # type: ignore[index]
    assert second.client.get("/api/v1/for-me").json == {"items": []}
    texts = [comment["text"] for comment in get(reader.client, "flags/1/comments")["items"]]
    assert texts == ["是吿還是告？", "告"]
    assert [comment["text"] for comment in get(reader.client, "flags/1")["comments"]] == texts


def test_who_may_not_decide_says_nothing_and_nobody_forges_a_comment(house: House) -> None:
    writer, nobody = house.browser("乙"), house.somebody()
    assert say(house.browser("丁"), "flags/2", "x").status_code == 403
    path, body = f"{BASE}/flags/2/comments", {"text": "x", "key": uuid.uuid4().hex}
    assert nobody.client.post(path, json=body, headers={"X-CSRFToken": nobody.token("/login")}).status_code == 401
    assert writer.client.post(path, json=body).status_code == 403, "without the token of a page"
    assert get(writer.client, "flags/2/comments") == {"items": []}


def test_a_problem_is_given_to_nobody_who_could_not_see_to_it_and_what_no_export_can_carry_is_refused(
    house: House,
) -> None:
    browser = house.browser("乙")
    for name in ("丁", "nobody", SCRIPT):
        refused = say(browser, "flags/3", "x", state="problem", assigned=name)
        assert refused.status_code == 422
        assert name in refused.json["message"]  # type: ignore[index]
    assert set(browser.client.get("/api/v1/assignees").json["items"]) == {"甲", "乙", "丙"}  # type: ignore[index]
    for body in (
        *({"key": "0123456789"}, {"text": "x", "key": "short"}, {"text": "x", "state": "gone"}, {"text": "\x07"}),
        *({"text": "x" * 2001}, {"text": "x", "version": 1}, {"text": ""}, {"text": "\ud800"}),
    ):
        refused = browser.send(f"{BASE}/flags/3/comments", {"key": uuid.uuid4().hex, **body})
        assert refused.status_code == 422, body
    assert get(browser.client, "flags/3/comments") == {"items": []}
