"""All occurrences of a character, the least alike first; many corrected at once, and taken back as one act."""

from __future__ import annotations

import uuid
from typing import Any

from flask.testing import FlaskClient

from tests.web.drawn import WORK, Served

BASE = f"/api/v1/works/{WORK}"


def asked(client: FlaskClient, **query: Any) -> Any:
    return client.get(f"{BASE}/glyphs", query_string=query).json


def correction(items: list[Any], reading: str, text: str) -> dict[str, Any]:
    """The body of a request that sets glyphs of `text` to a reading."""
    places = [
        {**{name: item[name] for name in ("page", "line", "offset")}, "transcribed": text, "key": uuid.uuid4().hex}
        for item in items
    ]
    return {"places": places, "reading": reading, "batch": uuid.uuid4().hex}


def correct(client: FlaskClient, items: list[Any], reading: str, text: str = "公") -> Any:
    return client.post(f"{BASE}/glyphs/corrections", json=correction(items, reading, text))


def test_the_glyph_least_like_the_others_stands_first_and_last_where_the_most_alike_are_asked_for(
    unchanged: Served,
) -> None:
    answer = asked(unchanged.client, text="公")
    assert (answer["total"], answer["compared"], answer["parts"]) == (6, 6, 1)
    first, second = answer["items"][:2]
    assert (first["name"], first["line"], first["offset"]) == ("WYG0103-0194a", 1, 6)
    assert first["unlike"] > second["unlike"]
    items = asked(unchanged.client, text="公", order="alike")["items"]
    assert (items[-1]["name"], items[-1]["offset"]) == ("WYG0103-0194a", 6)
    part = asked(unchanged.client, text="公", limit=4)
    rest = asked(unchanged.client, text="公", limit=4, cursor=part["next"])
    assert rest["next"] is None
    places = [(glyph["page"], glyph["line"], glyph["offset"]) for glyph in part["items"] + rest["items"]]
    assert len(set(places)) == 6


def test_what_somebody_decided_of_a_flag_meanwhile_is_a_conflict_and_stands_alone(served: Served) -> None:
    client = served.client
    shown = asked(client, text="告")["items"][0]
    body = {"verdict": "keep", "version": 0, "key": uuid.uuid4().hex}
    made: Any = client.post(f"{BASE}/flags/{shown['flag']}/decisions", json=body).json
    answered = correct(client, [shown], "誥", "告").json["items"][0]
    assert (answered["decision"], [each["id"] for each in answered["conflict"]]) == (None, [made["id"]])
    history: Any = client.get(f"{BASE}/acts").json
    assert [each["id"] for each in history["items"]] == [made["id"]]


def test_a_place_that_somebody_corrected_has_its_conflict(served: Served) -> None:
    client = served.client
    items = asked(client, text="公")["items"][:2]
    correct(client, items[:1], "松")
    answer = correct(client, items, "翁").json
    assert answer["items"][0]["decision"] is None
    assert answer["items"][0]["conflict"][-1]["reading"] == "松"
    assert answer["items"][1]["decision"]["reading"] == "翁"


def test_a_place_that_no_longer_reads_so_is_refused(unchanged: Served) -> None:
    client = unchanged.client
    answer = correct(client, asked(client, text="公")["items"][:1], "松", text="某")
    assert answer.status_code == 404
    assert all(item["state"] is None for item in asked(client, text="公")["items"])
