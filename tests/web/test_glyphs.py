"""All occurrences of a character, the least alike first; many corrected at once, and taken back as one act."""

from __future__ import annotations

import base64
import io
import uuid
from typing import Any

import pytest
from flask.testing import FlaskClient
from PIL import Image

from tests.web.drawn import WORK, Served

BASE = f"/api/v1/works/{WORK}"


def asked(client: FlaskClient, **query: Any) -> Any:
    return client.get(f"{BASE}/glyphs", query_string=query).json


def correction(items: list[Any], reading: str, text: str) -> dict[str, Any]:
    """The body of a request that sets glyphs of `text` to a reading."""
    places = [
        {**{name: one[name] for name in ("page", "line", "offset")}, "transcribed": text, "key": uuid.uuid4().hex}
        for one in items
    ]
    return {"places": places, "reading": reading, "batch": uuid.uuid4().hex}


def correct(client: FlaskClient, items: list[Any], reading: str, text: str = "公") -> Any:
    return client.post(f"{BASE}/glyphs/corrections", json=correction(items, reading, text))


def test_the_glyph_least_like_the_others_stands_first_and_last_where_the_most_alike_are_asked_for(
    unchanged: Served,
) -> None:
    found = asked(unchanged.client, text="公")
    assert (found["total"], found["looked"], found["parts"]) == (6, 6, 1)
    first, second = found["items"][:2]
    assert (first["name"], first["line"], first["offset"]) == ("WYG0103-0194a", 1, 6)
    assert first["unlike"] > second["unlike"]
    items = asked(unchanged.client, text="公", order="alike")["items"]
    assert (items[-1]["name"], items[-1]["offset"]) == ("WYG0103-0194a", 6)
    part = asked(unchanged.client, text="公", limit=4)
    rest = asked(unchanged.client, text="公", limit=4, cursor=part["next"])
    assert rest["next"] is None
    places = [(one["page"], one["line"], one["offset"]) for one in part["items"] + rest["items"]]
    assert len(set(places)) == 6


def test_a_list_with_its_tiles_holds_what_each_tile_has_by_itself(unchanged: Served) -> None:
    client = unchanged.client
    for one in asked(client, text="公", tiles=True)["items"]:
        kind, data = one["tile"].split(",")
        alone = client.get(f"/works/{WORK}/pages/{one['page']}/glyphs/{one['line']}-{one['offset']}.webp")
        assert (kind, base64.b64decode(data)) == ("data:image/webp;base64", alone.data)
    assert asked(client, text="公", tiles=True) == asked(client, text="公", tiles=True)
    assert all(one["tile"] is None for one in asked(client, text="公")["items"])


def test_a_character_that_the_work_lacks_has_no_occurrences(unchanged: Served) -> None:
    none: dict[str, Any] = {"items": [], "next": None, "total": 0, "looked": 0, "part": 0, "parts": 1}
    assert asked(unchanged.client, text="某") == none
    assert unchanged.client.get("/api/v1/works/none/glyphs?text=公").status_code == 404
    assert unchanged.client.get(f"/works/{WORK}/pages/1/glyphs/1-99.webp").status_code == 404
    assert unchanged.client.get(f"/works/{WORK}/flags/99/glyph.webp").status_code == 404


def test_many_are_corrected_at_once_and_taken_back_as_one_act(served: Served) -> None:
    client = served.client
    items = asked(client, text="公")["items"][:3]
    said: Any = correct(client, items, "松").json
    assert [one["decision"]["reading"] for one in said["items"]] == ["松"] * 3
    now = {(one["page"], one["line"], one["offset"]): one for one in asked(client, text="公")["items"]}
    assert [now[one["page"], one["line"], one["offset"]]["state"] for one in items] == ["corrected"] * 3
    undone: Any = client.post(f"{BASE}/undo", json={"key": uuid.uuid4().hex}).json
    assert len(undone["decisions"]) == 3
    assert all(one["state"] is None for one in asked(client, text="公")["items"])


def test_a_flagged_place_is_decided_as_its_flag(served: Served) -> None:
    """告 is flagged on every page: what is set there decides the flag, and makes no second finding."""
    client = served.client
    items = asked(client, text="告")["items"]
    assert [one["state"] for one in items] == ["open"] * 3
    correct(client, items[:1], "吿", "告")
    flag: Any = client.get(f"{BASE}/flags/{items[0]['flag']}").json
    assert (flag["state"], flag["reading"]) == ("corrected", "吿")


@pytest.mark.parametrize("text", ["告", "公"])
def test_a_request_sent_again_is_answered_as_before(served: Served, text: str) -> None:
    """Of flagged places, and of others."""
    body = correction(asked(served.client, text=text)["items"][:2], "吿", text)
    answers: list[Any] = [served.client.post(f"{BASE}/glyphs/corrections", json=body).json for _ in range(2)]
    first, again = ([one["decision"]["id"] for one in answer["items"]] for answer in answers)
    assert first == again


def test_what_somebody_decided_of_a_flag_meanwhile_is_a_conflict_and_stands_alone(served: Served) -> None:
    client = served.client
    one = asked(client, text="告")["items"][0]
    said = {"verdict": "keep", "version": 0, "key": uuid.uuid4().hex}
    made: Any = client.post(f"{BASE}/flags/{one['flag']}/decisions", json=said).json
    answered = correct(client, [one], "誥", "告").json["items"][0]
    assert (answered["decision"], [each["id"] for each in answered["conflict"]]) == (None, [made["id"]])
    history: Any = client.get(f"{BASE}/acts").json
    assert [each["id"] for each in history["items"]] == [made["id"]]


def test_a_place_that_somebody_corrected_has_its_conflict(served: Served) -> None:
    client = served.client
    items = asked(client, text="公")["items"][:2]
    correct(client, items[:1], "松")
    said = correct(client, items, "翁").json
    assert said["items"][0]["decision"] is None
    assert said["items"][0]["conflict"][-1]["reading"] == "松"
    assert said["items"][1]["decision"]["reading"] == "翁"


def test_a_place_that_no_longer_reads_so_is_refused(unchanged: Served) -> None:
    client = unchanged.client
    answer = correct(client, asked(client, text="公")["items"][:1], "松", text="某")
    assert answer.status_code == 404
    assert all(one["state"] is None for one in asked(client, text="公")["items"])


@pytest.mark.parametrize("path", ["flags/1/glyph.webp", "pages/1/glyphs/1-4.webp"])
def test_a_tile_shows_the_whole_glyph_in_its_middle(unchanged: Served, path: str) -> None:
    answer = unchanged.client.get(f"/works/{WORK}/{path}")
    picture = Image.open(io.BytesIO(answer.data)).convert("L").point(lambda value: 255 * (value < 128))
    box = picture.getbbox()
    assert box is not None
    assert box[2] - box[0] == pytest.approx(44, abs=2)
    assert (box[0] + box[2]) / 2 == pytest.approx(picture.width / 2, abs=2)
    again = unchanged.client.get(f"/works/{WORK}/{path}", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")


def test_a_character_that_hardly_occurs_is_known_by_what_is_flagged_as_it(unchanged: Served) -> None:
    """吿 stands nowhere in the text; 告 is flagged as it on every page."""
    found = asked(unchanged.client, text="告", against="吿")
    assert [one["state"] for one in found["items"]] == ["open"] * 3
    plain = asked(unchanged.client, text="告")
    assert [one["unlike"] for one in found["items"]] != [one["unlike"] for one in plain["items"]]
