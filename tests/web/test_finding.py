"""One box finds anything in a work; its answers are addresses."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from flask.testing import FlaskClient
from sqlalchemy import update

from proof.store.models import PageRow
from proof.store.page_states import note_text_changed
from tests.web.drawn import WORK, Served


def asked(client: FlaskClient, path: str) -> Any:
    """What the API answers."""
    return client.get(f"/api/v1/works/{WORK}/{path}").json


def test_a_page_is_at_the_address_that_reference_works_give_it_and_several_are_offered(unchanged: Served) -> None:
    client = unchanged.client
    for address in ("010-2a", "卷十 2a", "WYG0103-0193a"):
        led = client.get(f"/works/{WORK}/pages/{address}")
        assert (led.status_code, led.headers["Location"]) == (302, f"/works/{WORK}/pages/2")
        answer = client.get(f"/works/{WORK}/find", query_string={"q": address})
        assert answer.headers["Location"].endswith("/pages/2")
    assert client.get(f"/works/{WORK}/pages/099-1a").status_code == 404
    assert "Nothing was found." in client.get(f"/works/{WORK}/find?q=099-1a").text
    several = client.get(f"/works/{WORK}/pages/WYG0103", follow_redirects=True).text
    assert several.count(f"/works/{WORK}/pages/") > 3


def test_words_and_characters_are_found_where_they_stand(unchanged: Served) -> None:
    words = unchanged.client.get(f"/works/{WORK}/find?q=公公").text
    assert words.count('<mark class="found">公公</mark>') == 3
    assert f"/works/{WORK}/pages/1#1-5" in words
    by_character = unchanged.client.get(f"/works/{WORK}/find?q=告").text
    assert f"/works/{WORK}/glyphs?text=" in by_character
    assert "告 → 吿" in by_character


def test_what_is_left_of_a_work_is_said_and_listed(served: Served) -> None:
    client = served.client
    left = asked(client, "remaining")
    assert left == {"open": 9, "unsure": 0, "skipped": 0, "to_mark": 3, "to_validate": 0, "problems": 0}
    body = {"state": "proofread", "version": 0, "key": "k" * 12}
    assert client.post(f"/api/v1/works/{WORK}/pages/2/states", json=body).status_code == 201
    left = asked(client, "remaining")
    assert (left["to_mark"], left["to_validate"]) == (2, 1)
    listed = client.get(f"/works/{WORK}/pages/?state=proofread").text
    assert listed.count('class="leaf ') == 1
    assert f"/works/{WORK}/pages/2" in listed


def test_a_page_whose_text_was_changed_since_it_was_proofread_says_so(served: Served) -> None:
    client = served.client
    client.post(f"/api/v1/works/{WORK}/pages/1/states", json={"state": "proofread", "version": 0, "key": "k" * 12})
    with served.store._writing() as session:
        note_text_changed(session, [session.get_one(PageRow, 1)])
    first = client.get(f"/api/v1/works/{WORK}/pages").json["items"][0]  # type: ignore[index]
    assert (first["state"], first["changed"], first["version"]) == ("not proofread", True, 1)
    assert "changed since it was proofread" in client.get(f"/works/{WORK}/pages/1").text
    assert "text changed since proofread" in client.get(f"/works/{WORK}/pages/?state=not+proofread").text
    client.post(f"/api/v1/works/{WORK}/pages/1/states", json={"state": "proofread", "version": 1, "key": "k" * 13})
    assert "changed since" not in client.get(f"/works/{WORK}/pages/1").text


def test_a_page_without_an_image_says_so_and_how_it_gets_one(served: Served) -> None:
    with served.store._writing() as session:
        session.execute(update(PageRow).where(PageRow.id == 2).values(image=None, status="no image"))
    page = served.client.get(f"/works/{WORK}/pages/2").text
    assert "No image was found for this page." in page
    assert 'id="assign"' in page
    assert 'id="assign"' not in served.client.get(f"/works/{WORK}/pages/1").text


def test_a_work_is_overseen_by_juan_person_and_day(served: Served) -> None:
    client, days = served.client, [datetime.now(UTC)]
    body = {"verdict": "take", "version": 0, "key": "k" * 12}
    assert client.post(f"/api/v1/works/{WORK}/flags/1/decisions", json=body).status_code == 201
    days.append(datetime.now(UTC))  # another at midnight
    overseen = client.get(f"/works/{WORK}/progress").text
    cells = re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", overseen)
    assert cells[cells.index("卷十") :][:6] == ["卷十", "3", "90", "9", "1", "1"]
    assert {f"{day:%Y-%m-%d}" for day in days} & set(cells)
    assert 'data-download="text"' in overseen


def test_where_a_single_character_is_looked_for_is_said(unchanged: Served) -> None:
    assert "A single character is looked for in the text of one work." in unchanged.client.get("/search?q=乏").text
    assert "Nothing was found." in unchanged.client.get("/search?q=無此").text
