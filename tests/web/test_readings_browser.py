"""Two readers and an administrator in a real Chromium, by keys: what is read alike is taken over, the rest decided."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from proof.store import Store
from tests.web.drawn import WORK, fill, settings_in
from tests.web.served import serving
from tests.web.test_axe_browser import grave, logged_in
from tests.web.test_people import PASSWORD, PEOPLE
from tests.web.waiting import saved


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    settings = settings_in(tmp_path)
    with (tmp_path / "config.toml").open("a", encoding="utf-8") as config:
        config.write("\n[serve]\nblind = true\n")
    with Store.open(settings.store_address) as store:
        fill(store, tmp_path)
        for name, role in PEOPLE.items():
            store.accounts.add(name, role, PASSWORD)
    return tmp_path


def desk_of(browser: Browser, address: str, name: str) -> Page:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, base_url=address, locale="en-GB")
    page = logged_in(context.new_page(), name)
    page.goto(f"/works/{WORK}/desk")
    return page


def press(page: Page, keys: str) -> None:
    for number, key in enumerate(keys, 1):
        page.keyboard.press(key)
        expect(page.locator("#progress-words")).to_have_text(f"{number} of 9")
    saved(page)


def test_two_read_blind_and_a_third_decides_where_they_differ(browser: Browser, folder: Path) -> None:
    with serving(folder, "--auth") as address:
        for name, keys in (("乙", "ttk"), ("丙", "tkk")):
            page = desk_of(browser, address, name)
            press(page, keys)
            page.keyboard.press("z")
            expect(page.locator("#progress-words")).to_have_text("2 of 9")
            page.keyboard.press("y")
            expect(page.locator("#progress-words")).to_have_text("3 of 9")
        third = desk_of(browser, address, "甲")
        third.goto(f"/works/{WORK}/readings")
        assert grave(third) == []
        third.get_by_role("button", name="Take them over").click()
        expect(third.get_by_text("not taken over yet: 0 places")).to_be_visible()
        third.get_by_role("link", name="Decide at the desk").click()
        expect(third.locator("#readers li")).to_have_count(2)
        assert grave(third) == []
        third.keyboard.press("k")
        expect(third.locator("#end-words")).to_contain_text("All flags are decided")
        saved(third)
    with Store.open(folder / "proof.sqlite") as store:
        assert sorted(made.person for made in store.decisions.standing(WORK)) == ["甲"] * 3
