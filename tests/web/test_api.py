"""The JSON API: what it gives, what it refuses, and that the second of two is told."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

import proof
from proof.errors import EngineError, OutputError, ProofError, TextError
from proof.model.flags import WitnessReading
from proof.ocr.engine import EngineIdentity
from proof.store import RunInfo, TextInfo
from proof.store.texts import sha_of
from tests.build import decision_log
from tests.web.drawn import WORK, Served

BASE = f"/api/v1/works/{WORK}"


def get(client: FlaskClient, path: str) -> Any:
    """What is found at a path of the work."""
    return client.get(f"{BASE}{path}").json


def flags(client: FlaskClient, query: str = "") -> Any:
    return get(client, f"/flags?{query}")["items"]


def numbers(client: FlaskClient, query: str = "") -> list[int]:
    return [item["number"] for item in flags(client, query)]


def decide(client: FlaskClient, flag: int, verdict: str, version: int = 0, **more: Any) -> TestResponse:
    body = {"verdict": verdict, "version": version, "key": uuid.uuid4().hex, **more}
    return client.post(f"{BASE}/flags/{flag}/decisions", json=body)


def test_a_reading_is_refused_where_it_breaks_the_text_and_asked_about_where_it_looks_like_a_slip(
    served: Served,
) -> None:
    client = served.client
    flag = numbers(client)[0]
    for reading in ("告(", "甲/乙", "&KR12", "<pb:1>"):
        for refused in (
            decide(client, flag, "typed", reading=reading),
            client.get(f"{BASE}/flags/{flag}/reading", query_string={"reading": reading}),
        ):
            assert refused.status_code == 422
            assert "markup" in refused.json["detail"]  # type: ignore[index]
    for reading, reason in (("gao", "latin letters"), ("\ue000", "private use"), ("⿰金", "incomplete description")):
        asked = decide(client, flag, "typed", reading=reading)
        assert (asked.status_code, asked.json["reason"]) == (428, reason)  # type: ignore[index]
        assert client.get(f"{BASE}/flags/{flag}/reading", query_string={"reading": reading}).status_code == 428
    assert get(client, f"/flags/{flag}/reading?reading=吉") == {"reading": "吉"}
    assert decide(client, flag, "typed", reading="gao", confirmed=True).status_code == 201
    page = {"line": 1, "offset": 0, "length": 0, "reading": "x", "key": uuid.uuid4().hex}
    assert client.post(f"{BASE}/pages/1/corrections", json=page).status_code == 428
    assert client.post(f"{BASE}/pages/1/corrections", json=page | {"confirmed": True}).status_code == 201


def test_flags_come_most_suspicious_first_or_as_the_pages_run(unchanged: Served) -> None:
    scores = [item["score"] for item in flags(unchanged.client)]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == 9
    items = flags(unchanged.client, "order=page")
    places = [(item["page"]["position"], item["line"], item["offset"]) for item in items]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("kind=insertion", 3),
        ("kind=insertion&kind=variant&raised=all", 6),
        ("raised=hidden", 3),
        ("first_page=2&last_page=2", 3),
        ("first_page=0193a&last_page=WYG0103-0193a", 3),
        ("first_page=2a", 6),
        ("juan=卷十&last_page=010-2a", 6),
        ("least_score=8.5", 1),
        ("least_score=4.5&most_score=8.5", 5),
        ("text=告&image=吿", 3),
        ("text=告&image=無", 0),
        ("state=kept", 0),
        ("juan=卷十", 9),
        ("juan=卷九", 0),
    ],
)
def test_every_filter_takes_what_it_says_and_is_counted(unchanged: Served, query: str, count: int) -> None:
    assert len(numbers(unchanged.client, query)) == count
    assert get(unchanged.client, f"/facets?{query}")["total"] == count


@pytest.mark.parametrize("page", ["0199", "WYG0103", "0"])
def test_a_page_that_no_page_or_several_are_called_is_asked_again(unchanged: Served, page: str) -> None:
    answered = unchanged.client.get(f"{BASE}/flags?first_page={page}")
    assert (answered.status_code, answered.get_json()["detail"].startswith(("there is no page", page))) == (404, True)


def test_counts_say_what_each_choice_would_give(served: Served) -> None:
    client = served.client
    decide(client, numbers(client, "kind=insertion")[0], "copy")
    facets = get(client, "/facets?kind=insertion&state=open")
    assert facets["total"] == 2
    assert {kind: count for kind, count in facets["kinds"].items() if count} == {"substitution": 6, "insertion": 2}
    assert facets["juans"] == [{"juan": "卷十", "count": 2}]
    assert facets["states"]["open"] == 2
    assert facets["states"]["copy"] == 1
    assert [(pair["text"], pair["image"], pair["count"]) for pair in facets["pairs"]] == [("侯", "", 2)]
    assert {"text": "侯", "image": "", "count": 3, "open": 2} in get(client, "/pairs")["items"]
    places = [point["places"] for point in facets["dial"]]
    left = [point["left"] for point in facets["dial"]]
    assert places == sorted(places, reverse=True)
    assert left == sorted(left)
    assert left[0] == 0
    for point in facets["dial"]:  # the dial keeps what it says: flags of one score come together
        answer = get(client, f"/facets?kind=insertion&state=open&least_score={point['score']}")
        assert answer["total"] == point["places"]
    [work] = client.get("/api/v1/works").json["items"]  # type: ignore[index]
    assert (work["name"], work["pages"]) == (WORK, 3)
    assert {state: count for state, count in work["states"].items() if count} == {"open": 8, "copy": 1}


def test_a_cursor_goes_through_all_once_whatever_is_decided_meanwhile(served: Served) -> None:
    client, seen, cursor = served.client, [], ""
    while True:
        answer = get(client, f"/flags?limit=2&state=open&order=page{cursor}")
        seen += [item["number"] for item in answer["items"]]
        decide(client, answer["items"][0]["number"], "keep")
        if answer["next"] is None:
            break
        cursor = f"&cursor={answer['next']}"
    assert len(seen) == len(set(seen)) == 9


def test_the_desk_gets_the_column_its_neighbours_and_the_text_at_its_glyphs(unchanged: Served) -> None:
    [flag] = flags(unchanged.client, "limit=1&detail=true")
    view = flag["view"]
    x, y, w, h = view["area"]
    column, focus = view["column"], view["focus"]
    assert x <= column[0] - 95
    assert x + w >= column[0] + column[2]
    assert y <= focus[1]
    assert y + h >= focus[1] + focus[3]
    [marked] = [character for character in view["characters"] if character["marked"]]
    assert marked["text"] == flag["transcribed"] == "告"
    assert abs(marked["y"] - focus[1] - focus[3] / 2) < 2
    assert (flag["before"], flag["after"]) == ("射人", "具于公公升即位")
    assert "95%" in flag["why"]
    assert flag["alternatives"][0] == {"text": "吿", "p": 0.95}
    assert flag["witnesses"] == []


def test_what_witnesses_read_comes_with_the_flag(served: Served) -> None:
    reading = WitnessReading("唐石經", "吿", "image", "告：石經作吿", 4.0)
    flag = max(served.store.flags(WORK), key=lambda flag: flag.score)
    served.store.rescore(WORK, [replace(flag, evidence=replace(flag.evidence, witnesses=(reading,)))])
    [shown] = flags(served.client, "limit=1&detail=true&order=score")
    assert shown["witnesses"] == [
        {"siglum": "唐石經", "reading": "吿", "side": "image", "note": "告：石經作吿", "weight": 4.0, "name": ""}
    ]


def test_a_decision_whose_place_is_gone_from_the_text_is_listed_as_the_flag_has_it(served: Served) -> None:
    number = numbers(served.client)[0]
    made = decide(served.client, number, "take").json
    assert get(served.client, "/displaced")["items"] == []
    text = TextInfo("text.txt", sha_of("某"), "mirror", "traditional", "某")
    served.store.begin_run(RunInfo(WORK, "大射儀", (text,), EngineIdentity("null", "1", "", "")))
    assert get(served.client, "/displaced")["items"] == [made]


def test_a_decision_is_an_event_that_the_flag_and_the_history_show(served: Served) -> None:
    client = served.client
    number = numbers(client)[0]
    made = decide(client, number, "typed", reading="𠮷", note="二本同")
    assert made.status_code == 201
    flag = get(client, f"/flags/{number}")
    assert (flag["state"], flag["reading"], flag["version"], flag["last"]) == ("corrected", "𠮷", 1, made.json)
    assert get(client, f"/flags/{number}/history")["items"] == [made.json]
    undone = decide(client, number, "undo", 1, undoes=made.json["id"])  # type: ignore[index]
    assert undone.json["state"] == "open"  # type: ignore[index]
    acts = get(client, "/acts?limit=1")
    assert [item["decision"] for item in acts["items"]] == [undone.json]
    older = get(client, f"/acts?cursor={acts['next']}")
    assert [item["decision"] for item in older["items"]] == [made.json]


def test_many_are_decided_in_one_stroke(served: Served) -> None:
    client = served.client
    decide(client, 1, "keep")
    some = [{"flag": flag, "verdict": "take", "version": 0, "key": f"stroke-{flag:04d}"} for flag in (1, 2, 3)]
    outcomes: Any = client.post(f"{BASE}/decisions", json={"batch": "stroke-one", "decisions": some}).json["items"]  # type: ignore[index]
    assert [outcome["conflict"] is not None for outcome in outcomes] == [True, False, False]
    twice = client.post(f"{BASE}/decisions", json={"batch": "stroke-two", "decisions": some[:1] * 2})
    assert twice.status_code == 422


def test_pages_columns_and_characters_are_given_with_their_places(unchanged: Served) -> None:
    client = unchanged.client
    listed = get(client, "/pages?limit=2")
    assert [page["page"] for page in listed["items"]] == ["WYG0103-0192a", "WYG0103-0193a"]
    assert (listed["items"][0]["flags"], listed["items"][0]["open"]) == (3, 3)
    rest = get(client, f"/pages?cursor={listed['next']}")
    assert (len(rest["items"]), rest["next"]) == (1, None)
    page = get(client, f"/pages/{listed['items'][0]['number']}")
    assert [column["number"] for column in page["columns"]] == [1, 2, 3]
    assert (
        "".join(character["text"] for character in page["characters_found"] if character["line"] == 2)
        == "小臣師納卿大夫卿大夫"
    )
    assert len(page["flags_found"]) == 4


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/v1/works/KR1d0031", 404),
        ("/api/v1/works/KR1d0031/flags", 404),
        ("/api/v1/works/..%2f..%2fetc/flags", 404),
        (f"{BASE}/flags/999", 404),
        (f"{BASE}/flags/0", 422),
        (f"{BASE}/flags/99999999999999999999", 422),
        (f"{BASE}/pages/999", 404),
        (f"{BASE}/flags?limit=0", 422),
        (f"{BASE}/flags?order=random", 422),
        (f"{BASE}/flags?sort=score", 422),
        (f"{BASE}/flags?cursor=-1", 422),
        (f"{BASE}/flags?cursor=%2e%2e", 422),
        (f"{BASE}/flags?cursor=999", 400),
        (f"{BASE}/flags?least_score=nan", 422),
        (f"{BASE}/flags?text=a", 400),
        ("/api/v1/nothing", 404),
    ],
)
def test_what_is_wrong_is_answered_with_problem_details(unchanged: Served, path: str, status: int) -> None:
    answer = unchanged.client.get(path)
    assert answer.status_code == status
    assert answer.mimetype == "application/problem+json"
    assert answer.json["status"] == status  # type: ignore[index]
    assert {"type", "title", "detail", "instance"} <= set(answer.json)  # type: ignore[arg-type]


KEYED = {"version": 0, "key": "0123456789"}


@pytest.mark.parametrize(
    ("method", "path", "body", "advice"),
    [
        ("GET", "/api/v1/nothing", None, "/api/v1/openapi.json"),
        ("GET", f"{BASE}/flags/adca46284aea793eb23d", None, "flags by their `number`"),
        ("GET", f"{BASE}/flags/1/decisions", None, "send POST"),
        ("POST", f"{BASE}/flags/1/decisions", "{bad", "send a JSON object"),
        ("POST", f"{BASE}/flags/1/decisions", "[1]", "send a JSON object"),
        ("POST", f"{BASE}/flags/1/decisions", '{"verdict": "keep"}', "key: Field required"),
        (
            "POST",
            f"{BASE}/flags/1/decisions",
            json.dumps({"verdict": "typed", "reading": "gao", **KEYED}),
            "send it again with `confirmed`",
        ),
    ],
)
def test_a_program_that_knows_the_description_alone_is_told_what_to_do(
    unchanged: Served, method: str, path: str, body: str | None, advice: str
) -> None:
    answer = unchanged.client.open(path, method=method, data=body, content_type="application/json")
    assert advice in answer.json["detail"]  # type: ignore[index]
    assert not answer.json["detail"].startswith(":")  # type: ignore[index]


def test_what_cannot_be_done_at_an_address_is_told_in_the_language_of_the_request(unchanged: Served) -> None:
    answer = unchanged.client.get("/api/v1/nothing", headers={"Accept-Language": "zh-Hant"})
    assert answer.json["message"] == "此位址並無內容。"  # type: ignore[index]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"verdict": "carried", **KEYED},
        {"verdict": "keep", **KEYED, "version": -1},
        {"verdict": "keep", **KEYED, "key": "short"},
        {"verdict": "keep", **KEYED, "person": "乙"},
        {"verdict": "keep", **KEYED, "note": "\u0001"},
        {"verdict": "typed", **KEYED, "reading": "一\n二"},
        {"verdict": "typed", **KEYED, "reading": "一" * 65},
        {"verdict": "typed", **KEYED},
        {"verdict": "typed", **KEYED, "reading": ""},
        {"verdict": "delete", **KEYED, "reading": "吿"},
        {"verdict": "undo", **KEYED},
        {"verdict": "redo", **KEYED},
    ],
)
def test_a_decision_that_makes_no_sense_is_refused_and_nothing_is_deleted_that_is_not_said_to_be(
    unchanged: Served, body: dict[str, Any]
) -> None:
    client = unchanged.client
    stroke = {"batch": "stroke-0001", "decisions": [{**body, "flag": 1}]}
    assert client.post(f"{BASE}/flags/1/decisions", json=body).status_code == 422
    assert client.post(f"{BASE}/flags/1/decisions", json=[body]).status_code == 422
    assert client.post(f"{BASE}/decisions", json=stroke).status_code == 422
    by_hand = {"line": 1, "offset": 5, "length": 1, "reading": "", "key": "0123456789"}
    assert client.post(f"{BASE}/pages/1/corrections", json=by_hand).status_code == 422
    assert decision_log(unchanged.store, WORK) == []


def test_a_body_that_is_too_long_or_too_deep_is_refused(unchanged: Served, caplog: pytest.LogCaptureFixture) -> None:
    long = json.dumps({"verdict": "keep", **KEYED, "note": "x" * (1 << 21)})
    for body, status in ((long, 413), (b"[" * 200_000, 422)):
        answer = unchanged.client.post(f"{BASE}/flags/1/decisions", data=body, content_type="application/json")
        assert answer.status_code == status
    assert not caplog.records


def test_a_request_from_elsewhere_is_refused(unchanged: Served) -> None:
    """Without the token of a page of ours, and with that of another session."""
    bare, token = unchanged.app.test_client(), unchanged.client.environ_base["HTTP_X_CSRFTOKEN"]
    for headers in ({}, {"X-CSRFToken": token}):
        refused = bare.post(f"{BASE}/flags/1/decisions", json={"verdict": "take", **KEYED}, headers=headers)
        assert refused.status_code == 403
    assert decision_log(unchanged.store, WORK) == []


@pytest.mark.parametrize(
    ("page", "status"),
    [
        ("https://localhost/works", 404),
        ("https://localhost:8443/works", 404),  # a proxy at another port, which passes on the name alone
        ("https://evil.example/", 403),
        ("https://localhost.evil.example/", 403),
        ("http://localhost/", 403),
        ("https://[", 403),
        ("", 403),
    ],
)
def test_over_https_it_counts_which_host_a_page_is_of(
    unchanged: Served, caplog: pytest.LogCaptureFixture, page: str, status: int
) -> None:
    headers = {"Referer": page} if page else {}
    address = f"{BASE}/flags/999999/decisions"
    body = {"verdict": "take", **KEYED}
    answer = unchanged.client.post(address, json=body, headers=headers, base_url="https://localhost")
    assert answer.status_code == status
    refused = [record.getMessage() for record in caplog.records if "refused" in record.getMessage()]
    assert len(refused) == (status == 403)
    assert all(
        f"POST {address} refused: the request does not come from a page of this server" in refusal
        for refusal in refused
    )


@pytest.mark.parametrize(
    ("hosts", "status"),
    [
        (["localhost", "LOCALHOST:8642", "[::1]:8642", "[0:0:0:0:0:0:0:1]", "127.0.0.1:1"], 200),
        (["[::2]", "localhost.evil.example", "127.0.0.2", "::1", "[::1", "1", "evil.localhost", "evil.example"], 400),
    ],
)
def test_it_answers_to_its_names_however_they_are_written_and_to_no_other(
    unchanged: Served, hosts: list[str], status: int
) -> None:
    assert [unchanged.client.get(BASE, headers={"Host": host}).status_code for host in hosts] == [status] * len(hosts)


def test_it_says_that_it_is_well(served: Served) -> None:
    client = served.client
    before: Any = client.get("/healthz").json
    assert (before["status"], before["version"]) == ("ok", proof.__version__)
    client.get("/nowhere")
    after: Any = client.get("/healthz").json
    assert after["answers"] - before["answers"] == 2
    assert after["client_errors"] - before["client_errors"] == 1
    assert after["server_errors"] == before["server_errors"]


def undo(client: FlaskClient, key: str = "", **more: Any) -> Any:
    return client.post(f"{BASE}/undo", json={"key": key or uuid.uuid4().hex, **more}).json


@pytest.mark.parametrize(
    ("language", "message"),
    [("en", "an empty reading deletes nothing"), ("zh-Hant", "讀法留空並不刪字"), ("zh-Hans", "读法留空并不删字")],
)
def test_a_refusal_is_told_in_the_language_of_the_reader(unchanged: Served, language: str, message: str) -> None:
    body = {"verdict": "typed", "reading": "", **KEYED}
    answer = unchanged.client.post(f"{BASE}/flags/1/decisions", json=body, headers={"Accept-Language": language})
    assert answer.status_code == 422
    assert answer.json["message"].startswith(message)  # type: ignore[index]
    assert answer.json["detail"].startswith("an empty reading deletes nothing")  # type: ignore[index]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (EngineError("/models/rec.onnx: cannot be loaded"), "辨識引擎"),
        (OutputError("/data/proof.sqlite: the disk is full"), "寫"),
        (TextError("/data/text.txt", 3, "has no page"), "文本"),
    ],
)
def test_what_is_wrong_with_the_machine_is_told_in_words_of_the_page_and_in_full_for_programs(
    unchanged: Served, error: ProofError, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise error

    monkeypatch.setattr(unchanged.store.queue, "works", fails)
    document: Any = unchanged.client.get("/api/v1/works", headers={"Accept-Language": "zh-Hant"}).json
    assert document["detail"] == str(error)
    assert message in document["message"]
    assert "/data" not in document["message"]
