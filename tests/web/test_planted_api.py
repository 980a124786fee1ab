"""The API and the pages give no planted error away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from proof.store import Store
from proof.web import create_app
from tests.planted_page import COLUMNS, WORK, seeded_ids, store_in
from tests.web.drawn import Served, settings_in

BASE = f"/api/v1/works/{WORK}"
Items = list[dict[str, Any]]


@pytest.fixture
def desk(tmp_path: Path) -> Served:
    settings = settings_in(tmp_path)
    store: Store = store_in(tmp_path, 800)
    return Served(settings, store, create_app(settings, store=store), "5eed")


def get(served: Served, address: str) -> Any:
    answer = served.app.test_client().get(address)
    assert answer.status_code == 200, (address, answer.text)
    return answer.get_json()


def of_either_sort(served: Served) -> tuple[Items, Items]:
    """Flags that were found and flags that were planted, as the API shows them."""
    items = get(served, f"{BASE}/flags?detail=true&limit=20&raised=all&order=page")["items"]
    numbers = [item["number"] for item in items]
    false = {
        flag.number for flag in served.store.queue.flags(WORK, numbers) if flag.flag.id in seeded_ids(served.store)
    }
    chosen_items = [item for item in items if item["number"] not in false]
    planted = [item for item in items if item["number"] in false]
    assert chosen_items
    assert len(planted) > 3
    return chosen_items, planted


def form(value: Any) -> Any:
    """What a JSON value is made of."""
    if isinstance(value, dict):
        return {name: form(item) for name, item in value.items()}
    return type(value).__name__


def test_flags_of_either_sort_have_the_same_fields_kinds_and_words(desk: Served) -> None:
    real, planted = of_either_sort(desk)
    for error in planted:
        assert form(error) == form(real[0])
        assert (error["kind"], error["reason"], error["rule"]) == (
            real[0]["kind"],
            real[0]["reason"],
            real[0]["rule"],
        )
        assert error["why"].split()[:3] == real[0]["why"].split()[:3]
        assert len(error["id"]) == len(real[0]["id"])
        columns = get(desk, f"{BASE}/pages/{error['page']['number']}")["columns"]
        [source] = [column["source"] for column in columns if column["number"] == error["line"]]
        assert error["before"] + error["transcribed"] + error["after"] in source
        assert [placed["text"] for placed in error["view"]["characters"] if placed["marked"]] == [error["transcribed"]]


@pytest.mark.parametrize("verdict", ["take", "unsure"])
def test_a_decision_is_answered_and_remembered_like_any_other(desk: Served, verdict: str) -> None:
    client = desk.client
    answers = []
    for sort in of_either_sort(desk):
        body = {"verdict": verdict, "version": 0, "key": f"request-{sort[0]['number']:04d}"}
        made = client.post(f"{BASE}/flags/{sort[0]['number']}/decisions", json=body)
        assert made.status_code == 201
        answers.append(made.get_json())
    real, planted = answers
    assert form(real) == form(planted)
    assert (real["kind"], real["evidence"]["reason"]) == (planted["kind"], planted["evidence"]["reason"])
    acts = get(desk, f"{BASE}/acts")["items"]
    assert [act["decision"]["flag"] for act in acts] == [planted["flag"], real["flag"]]
    again = get(desk, f"{BASE}/flags/{planted['flag']}")
    assert (again["transcribed"], again["last"]["verdict"]) == (planted["transcribed"], verdict)
    page = get(desk, f"{BASE}/pages/{again['page']['number']}")
    [shown] = [c for c in page["characters_found"] if (c["line"], c["offset"]) == (again["line"], again["offset"])]
    assert shown["text"] == again["transcribed"]


def test_no_answer_and_no_page_has_the_word_or_the_text_as_it_is(desk: Served) -> None:
    _, planted = of_either_sort(desk)
    page = planted[0]["page"]["number"]
    addresses = [f"{BASE}/{tail}" for tail in ("flags", "facets", "pairs", "pages", "acts", f"pages/{page}")]
    addresses += ["/api/v1/openapi.json", "/api/v1/works"]
    addresses += [f"/works/{WORK}/{tail}" for tail in ("", "desk", "pairs", "history", "pages/", f"pages/{page}")]
    client = desk.client
    for address in addresses:
        answer = client.get(address)
        assert answer.status_code == 200, address
        assert "planted" not in answer.text.lower(), address
        for error in planted:
            source = COLUMNS[error["line"] - 1]
            around = source[max(error["offset"] - 2, 0) : error["offset"] + 2]
            assert around not in answer.text, address
            assert json.dumps(around)[1:-1] not in answer.text, address
    assert client.get(f"{BASE}/flags?kind=planted").status_code == 422


def test_counts_agree_with_what_is_listed(desk: Served) -> None:
    real, planted = of_either_sort(desk)
    every = len(real) + len(planted)
    facets = get(desk, f"{BASE}/facets")
    assert facets["total"] == facets["kinds"]["substitution"] == sum(facets["scores"]) == every
    assert facets["dial"][0]["places"] == every
    assert sum(pair["count"] for pair in get(desk, f"{BASE}/pairs")["items"]) == every
    assert sum(get(desk, BASE)["states"].values()) == every
