"""Pages taken by people, given to them, and given back; and what others changed of one's own decisions."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proof.store import Store
from tests.web.drawn import WORK, fill
from tests.web.test_people import BASE, Browser, House, house_in


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    yield from house_in(tmp_path)


def give(browser: Browser, to: str, **pages: Any) -> int:
    return browser.send(f"{BASE}/assignments", {"to": to, "key": uuid.uuid4().hex, **pages}).status_code


def holders(browser: Browser) -> dict[str, str]:
    return dict(browser.client.get(f"{BASE}/assignments").get_json()["pages"])


def test_a_proofreader_takes_pages_and_gives_them_back(house: House) -> None:
    person = house.browser("乙")
    assert give(person, "乙", first_page=2) == 200
    assert holders(person) == {"2": "乙", "3": "乙"}
    assert person.client.get(f"/works/{WORK}/pages/?state=mine").text.count('class="leaf') == 2
    assert "大射儀" in person.client.get("/for-me").text
    assert give(person, "", last_page=2) == 200
    assert holders(person) == {"3": "乙"}


def test_pages_are_taken_as_the_list_calls_them(house: House) -> None:
    person = house.browser("乙")

    def send(**pages: str) -> int:
        return person.submit(f"/works/{WORK}/assignments", key=uuid.uuid4().hex, to="乙", **pages).status_code

    [second, third] = [page.page for page in house.store.queue.pages(WORK)[1:]]
    assert send(first_page=third, last_page=" 3") == 302
    assert holders(person) == {"3": "乙"}
    assert send(first_page=second.lower(), last_page=third) == 302
    assert holders(person) == {"2": "乙", "3": "乙"}
    assert send(first_page="99z") == 404
    assert give(person, "", first_page=second, last_page="0193a") == 200
    assert holders(person) == {"3": "乙"}


def test_pages_that_the_work_does_not_have_are_not_taken(house: House) -> None:
    person = house.browser("乙")
    assert give(person, "乙", first_page=3, last_page=1) == 404
    assert give(person, "乙", first_page=99) == 404
    assert give(person, "乙", juan="卷百") == 404
    assert holders(person) == {}


def test_another_persons_pages_are_given_on_by_an_administrator_alone(house: House) -> None:
    person, colleague, third = house.browser("乙"), house.browser("丙"), house.browser("甲")
    assert give(person, "乙", juan="卷十") == 200
    assert give(colleague, "丙", first_page=1, last_page=1) == 403
    assert give(colleague, "乙", first_page=1) == 403
    assert give(colleague, "") == 200  # of which they have none
    assert give(third, "丙", first_page=1, last_page=1) == 200
    assert holders(third) == {"1": "丙", "2": "乙", "3": "乙"}
    assert give(third, "丁") == 422  # a reader decides nothing


def test_what_others_changed_is_shown_to_who_decided_it(house: House) -> None:
    person, colleague = house.browser("乙"), house.browser("丙")
    person.decide(1, "take")
    person.decide(3, "delete")
    colleague.decide(1, "keep", version=1, note="據影像")
    changed = person.client.get(f"/works/{WORK}/changed").text
    assert changed.count("<li>") == 1
    assert "據影像" in changed
    assert "<li>" not in colleague.client.get(f"/works/{WORK}/changed").text


def test_who_has_which_pages_comes_back_out_of_the_journal(house: House) -> None:
    person = house.browser("乙")
    give(person, "乙")
    give(person, "", last_page=1)
    assert house.store.journal is not None
    with Store.open(house.folder / "anew.sqlite", complete=False) as anew:
        fill(anew, house.folder)
        assert dict(anew.recover(house.store.journal.path).rebuilt) == {"assignment": 4}
        assert anew.assignments.of_work(WORK) == house.store.assignments.of_work(WORK)
