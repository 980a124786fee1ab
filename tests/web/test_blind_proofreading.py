"""Two proofreaders who do not see each other's decisions, and an administrator who decides where they differ."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proof.store import Store
from proof.store.decision_records import State
from tests.build import decision_log, standing_decisions
from tests.web.drawn import WORK, fill
from tests.web.test_people import BASE, Browser, House, house_in

API = (
    *("", "/remaining", "/flags?raised=all&detail=true&limit=20", "/facets", "/pairs", "/acts", "/displaced"),
    *("/export-preview", "/rules", "/pages", "/pages/1", "/glyphs?text=具", "/flags/1"),
    "/flags/1/history",
)
VIEWS = (
    *("/", "/desk?state=", "/pages/", "/pages/1", "/pairs", "/glyphs?text=具", "/progress", "/history", "/export"),
    *("/certificate", "/find?q=公", "/replace?old=公"),
)
"""What shows decisions, in the API and on pages."""


@pytest.fixture
def blind(tmp_path: Path) -> Iterator[House]:
    """甲 administers, 乙 and 丙 proofread blind, 丁 reads."""
    yield from house_in(tmp_path, blind=True)


def state_of(browser: Browser, flag: int) -> tuple[str, str, int]:
    answer = get(browser, f"/flags/{flag}")
    return answer["state"], answer["reading"], answer["version"]


def correct(browser: Browser, line: int, offset: int, reading: str) -> Any:
    body = {"line": line, "offset": offset, "length": 1, "reading": reading, "key": uuid.uuid4().hex}
    return browser.send(f"{BASE}/pages/1/corrections", body)


def get(browser: Browser, path: str) -> Any:
    return browser.client.get(BASE + path).get_json()


def test_nothing_that_one_decides_is_shown_to_another(blind: House) -> None:
    first, others = blind.browser("乙"), [blind.browser(name) for name in "丙丁"]
    before = [{path: get(second, path) for path in API} for second in others]
    assert first.decide(1, "typed", reading="鬼", note="魑").status_code == 201
    assert first.decide(3, "delete").status_code == 201
    assert correct(first, 2, 1, "魅").status_code == 201
    for second, seen in zip(others, before, strict=True):
        assert {path: get(second, path) for path in API} == seen
        for path in VIEWS:
            page = second.client.get(f"/works/{WORK}{path}", follow_redirects=True)
            assert page.status_code == 200, path
            assert not set("鬼魑魅") & set(page.text), path


def test_each_sees_and_takes_back_their_own(blind: House) -> None:
    first, second = blind.browser("乙"), blind.browser("丙")
    first.decide(1, "typed", reading="鬼")
    assert second.decide(1, "keep").status_code == 201
    assert state_of(first, 1) == ("corrected", "鬼", 1)
    assert state_of(second, 1) == ("kept", "告", 1)
    assert "鬼" in get(first, "/pages/1")["columns"][0]["now"]
    assert get(first, "")["states"]["corrected"] == 1
    assert [made["reading"] for made in get(first, "/flags/1/history")["items"]] == ["鬼"]
    undone = first.send(f"{BASE}/undo", {"key": uuid.uuid4().hex}).get_json()
    assert undone["decisions"][0]["state"] == "open"
    assert state_of(first, 1)[0] == "open"
    assert state_of(second, 1)[0] == "kept"
    assert first.send(f"{BASE}/redo", {"key": uuid.uuid4().hex}).status_code == 200
    assert state_of(first, 1) == ("corrected", "鬼", 3)


def test_the_third_sees_only_where_the_two_differ(blind: House) -> None:
    admin, first, second = blind.browser("甲"), blind.browser("乙"), blind.browser("丙")
    assert get(admin, "/flags")["items"] == []
    for browser, verdict in ((first, "take"), (second, "keep")):
        browser.decide(1, verdict)
    for browser in (first, second):
        browser.decide(3, "delete")
    first.decide(5, "keep")
    [flag] = get(admin, "/flags?detail=true")["items"]
    assert flag["number"] == 1
    assert [(each["person"], each["state"]) for each in flag["readings"]] == [("乙", "corrected"), ("丙", "kept")]
    assert admin.decide(1, "take").status_code == 201
    assert state_of(first, 1) == ("corrected", "吿", 1)
    assert second.decide(1, "keep", version=1).status_code == 403


def test_the_third_is_told_of_differences_alone_and_counts_all_flags(blind: House) -> None:
    admin, first = blind.browser("甲"), blind.browser("乙")
    queue, desk = (admin.client.get(f"/works/{WORK}{path}").text for path in ("/", "/desk"))
    for page in (queue, desk):
        assert f'<p><a href="/works/{WORK}/readings">Two readers</a></p>' in page
    assert "No place is left that two people read differently." in queue
    assert '"arbitrates": true' in desk
    assert '"arbitrates": false' in first.client.get(f"/works/{WORK}/desk").text
    progress = [browser.client.get(f"/works/{WORK}/progress").text for browser in (admin, first)]
    of_third, of_one = (re.findall(r'<tr><th scope="row">.*?</tr>', page) for page in progress)
    assert of_third == of_one
    assert sum(juan.flagged for juan in blind.store.queue.juans(WORK)) > 1


def test_what_both_read_alike_is_adopted_in_one_act(blind: House) -> None:
    admin, first, second = blind.browser("甲"), blind.browser("乙"), blind.browser("丙")
    for browser in (first, second):
        browser.decide(1, "take")
        browser.decide(3, "delete")
    first.decide(2, "keep")
    answer = get(admin, "/readings")
    assert (answer["read"], answer["agreed"], answer["differing"]) == ({"丙": 2, "乙": 3}, 2, [])
    whole = answer["agreements"][0]
    assert (whole["people"], whole["kind"], whole["places"], whole["same"]) == (["丙", "乙"], "", 2, 2)
    assert decision_log(blind.store, WORK) == []
    assert admin.send(f"{BASE}/readings/agreed", {"key": uuid.uuid4().hex}).get_json()["agreed"] == 0
    decided = {made.flag: (made.state, made.reading) for made in standing_decisions(blind.store, WORK)}
    assert decided == {1: (State.CORRECTED, "吿"), 3: (State.CORRECTED, "")}
    admin.send(f"{BASE}/undo", {"key": uuid.uuid4().hex})
    assert standing_decisions(blind.store, WORK) == []


def test_what_is_done_again_agrees_as_before(blind: House) -> None:
    admin, first, second = blind.browser("甲"), blind.browser("乙"), blind.browser("丙")
    for browser in (first, second):
        assert browser.decide(1, "retain", reading="鬼").status_code == 201
    for way in ("undo", "redo"):
        assert first.send(f"{BASE}/{way}", {"key": uuid.uuid4().hex}).status_code == 200
    assert get(admin, "/readings")["agreed"] == 1


def test_an_undo_that_is_sent_again_has_the_same_answer(blind: House) -> None:
    first = blind.browser("乙")
    first.decide(1, "keep")
    request = {"key": uuid.uuid4().hex}
    first, again = (first.send(f"{BASE}/undo", request).get_json() for _ in range(2))
    assert again["decisions"][0] == first["decisions"][0] | {"repeated": True}
    assert again["decisions"][0]["version"] == 2


def test_a_correction_by_hand_of_one_alone_is_where_they_differ(blind: House) -> None:
    admin, first, second = blind.browser("甲"), blind.browser("乙"), blind.browser("丙")
    flag = correct(first, 2, 1, "鬼").get_json()["flag"]
    assert [each["number"] for each in get(admin, "/flags")["items"]] == [flag]
    assert correct(second, 2, 1, "鬼").status_code == 201
    assert get(admin, "/readings")["agreed"] == 1


def test_readings_come_back_out_of_the_journal(blind: House) -> None:
    for name, verdict in (("乙", "take"), ("丙", "keep")):
        blind.browser(name).decide(1, verdict)
    read = blind.store.double_readings.of_work(WORK)
    journal = blind.store.journal
    assert journal is not None
    with Store.open(blind.folder / "anew.sqlite", complete=False) as anew:
        fill(anew, blind.folder)
        recovered = anew.recover(journal.path)
        assert (dict(recovered.rebuilt), recovered.unplaced) == ({"reading": 2}, ())
        assert anew.double_readings.of_work(WORK) == read


def test_a_blind_reader_is_told_who_decides_and_the_third_is_offered_nothing_to_adopt_where_nothing_is(
    blind: House,
) -> None:
    admin, first, second = blind.browser("甲"), blind.browser("乙"), blind.browser("丙")
    for browser in (first, second):
        browser.decide(1, "unsure")
    desk = f"/works/{WORK}/desk"
    assert '"blind": true' in first.client.get(desk).text
    assert '"blind": false' in admin.client.get(desk).text
    page = admin.client.get(f"/works/{WORK}/readings").text
    assert "Where they differ, or both are unsure" in page
    assert "Take them over" not in page
    assert (
        f"/works/{WORK}/readings" in admin.client.get(f"/works/{WORK}/progress").text.partition("Agreement between")[2]
    )
