"""Readers without an account report errors from a page; who may decide settles them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from proof.store import Store
from tests.build import page
from tests.web.drawn import LINES, WORK, add_page, csrf_token, fill
from tests.web.test_people import BASE, House, house_in

PAGE = f"/read/{WORK}/1"


@pytest.fixture
def open_house(tmp_path: Path) -> Iterator[House]:
    yield from house_in(tmp_path, reports=3)


def sent(client: FlaskClient, key: str = "key-of-one", **fields: str) -> int:
    token = csrf_token(client.get(PAGE).text)
    return client.post(PAGE, data={"csrf_token": token, "key": key, **fields}).status_code


def test_without_the_setting_nobody_reads_or_reports(tmp_path: Path) -> None:
    for house in house_in(tmp_path):
        client = house.app.test_client()
        assert client.get(PAGE).status_code == 404
        token = csrf_token(client.get("/login").text)
        assert client.post(PAGE, data={"csrf_token": token, "key": "key-of-one", "note": "誤"}).status_code == 404


def test_anybody_reads_a_page_as_it_stands_and_nothing_else(open_house: House) -> None:
    open_house.browser("乙").decide(1, "take")
    client = open_house.app.test_client()
    shown = client.get(PAGE).text
    assert LINES[0].replace("告", "吿") in shown
    assert 'src="data:image/webp;base64,' in shown
    assert client.get(f"{BASE}/reports").status_code == 401
    assert client.get(f"/works/{WORK}/reports").status_code == 302


def test_a_note_stands_in_two_rows_as_on_the_page(open_house: House) -> None:
    add_page(open_house.store, page("射人(告具于/公公升)即", "位(小臣", "師)納卿", name="WYG0103-0192a"))
    shown = open_house.app.test_client().get(PAGE).text
    rows = re.findall(r"<span>(.*?)</span><span>(.*?)</span></span>", shown)
    assert rows[0] == ("告具于", "公公升")
    assert "射人<span" in shown
    assert "(" not in "".join(map("".join, rows))
    assert ")納" not in shown


def test_a_line_that_several_columns_of_the_image_show_is_read_once(open_house: House) -> None:
    line = page("射人告具于公升即位", name="WYG0103-0192a")
    add_page(open_house.store, replace(line, columns=line.columns * 2))
    assert open_house.app.test_client().get(PAGE).text.count("射人告具于公升即位") == 1


def test_a_report_waits_for_who_may_decide_and_changes_nothing(open_house: House) -> None:
    client, person = open_house.app.test_client(), open_house.browser("乙")
    before = person.client.get(f"{BASE}/flags?raised=all").get_json()
    for _ in range(2):
        assert sent(client, line="2", text="師", reading="帥", note="<b>形近</b>") == 200
    [report] = person.client.get(f"{BASE}/reports").get_json()["items"]
    assert (report["line"], report["text"], report["reading"]) == (2, "師", "帥")
    assert "&lt;b&gt;形近" in person.client.get(f"/works/{WORK}/reports").text
    assert f"/works/{WORK}/reports" in person.client.get(f"/works/{WORK}/progress").text
    assert person.client.get(f"{BASE}/flags?raised=all").get_json() == before
    reader = open_house.browser("丁")
    assert reader.send(f"{BASE}/reports/{report['id']}", {"state": "settled"}).status_code == 403
    assert person.submit(f"/works/{WORK}/reports/{report['id']}", state="settled").status_code == 302
    assert person.client.get(f"{BASE}/reports").get_json()["items"] == []


def test_too_many_reports_and_empty_ones_are_refused(open_house: House) -> None:
    client = open_house.app.test_client()
    assert sent(client) == 422
    assert [sent(client, key=f"key-of-{n}-report", note="誤") for n in range(3)] == [200, 200, 429]


def test_reports_come_back_out_of_the_journal(open_house: House) -> None:
    for n in range(2):
        sent(open_house.app.test_client(), key=f"key-of-{n}-report", note="誤")
    person = open_house.browser("乙")
    person.send(
        f"{BASE}/reports/{person.client.get(f'{BASE}/reports').get_json()['items'][0]['id']}", {"state": "dismissed"}
    )
    assert open_house.store.journal is not None
    with Store.open(open_house.folder / "anew.sqlite", complete=False) as anew:
        fill(anew, open_house.folder)
        assert dict(anew.recover(open_house.store.journal.path).rebuilt) == {"report": 3}
        assert anew.reports.count(WORK) == 1
