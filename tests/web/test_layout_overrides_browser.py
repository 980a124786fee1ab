"""A page set right in a real Chromium: a rule dragged, the page read again, and back to what was found."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from proof.settings.config import Settings
from proof.store import Store
from tests.web.served import serving
from tests.web.waiting import still


@pytest.fixture
def page(project: Path, browser: Browser) -> Iterator[Page]:
    """The first page of the sample in a browser."""
    with serving(project) as address, Store.open(Settings.load(project).store_address) as store:
        [work] = store.queue.works()
        opened = browser.new_page(viewport={"width": 1300, "height": 900}, locale="en")
        opened.goto(f"{address}/works/{work.name}/pages/1")
        expect(opened.locator("body")).to_have_attribute("data-ready", "1")
        yield opened
        opened.close()


def test_a_rule_is_dragged_and_the_page_read_again_and_it_is_taken_back(page: Page, project: Path) -> None:
    page.locator("#layout-open").click()
    rule = page.locator('[data-handle="rule-3"]')
    expect(rule).to_be_attached()
    expect(page.locator("#layout-image option")).not_to_have_count(0)
    before = float(rule.get_attribute("x1") or "nan")
    still(rule)
    box = rule.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 15, y, steps=4)
    page.mouse.up()
    dragged = float(rule.get_attribute("x1") or "nan")
    assert dragged > before
    rule.press("ArrowRight")
    assert float(rule.get_attribute("x1") or "nan") > dragged
    page.locator("#layout-read-again").click()
    expect(page.locator("#read-again-said")).to_contain_text("Page read again")
    with Store.open(Settings.load(project).store_address) as store:
        [work] = store.queue.works()
        [override] = store.layout_overrides.history(work.name, 1)
        assert override.layout is not None
        assert len(override.layout.rules) == 7

    expect(page.locator("body")).to_have_attribute("data-ready", "1")
    page.locator("#layout-open").click()
    expect(page.locator('[data-handle="rule-3"]')).to_be_attached()
    with page.expect_navigation():  # what the first reading said is still there
        page.locator("#layout-back").click()
    expect(page.locator("#read-again-said")).to_contain_text("0 without a place")
    with Store.open(Settings.load(project).store_address) as store:
        assert [one.layout is None for one in store.layout_overrides.history(work.name, 1)] == [False, True]
        assert store.layout_overrides.of_work(work.name) == {}


def test_the_second_of_two_who_mend_a_page_is_told_and_overwrites_nothing(page: Page, project: Path) -> None:
    """Both look at the page as it was found; one is quicker."""
    other = page.context.browser.new_context(locale="en").new_page()  # type: ignore[union-attr]
    other.goto(page.url)
    for one in (page, other):
        expect(one.locator("body")).to_have_attribute("data-ready", "1")
        one.locator("#layout-open").click()
        one.locator('[data-handle="rule-3"]').press("ArrowRight")
        expect(one.locator("#layout-image option")).not_to_have_count(0)
    page.locator("#layout-read-again").click()
    expect(page.locator("#read-again-said")).to_contain_text("Page read again")
    other.locator("#layout-read-again").click()
    expect(other.locator("#layout-said")).to_contain_text("set this page right meanwhile. Yours was not written.")
    with Store.open(Settings.load(project).store_address) as store:
        [work] = store.queue.works()
        assert len(store.layout_overrides.history(work.name, 1)) == 1
    other.get_by_role("button", name="Reload the page").click()
    expect(other.locator("#layout-said")).to_be_empty()
    other.context.close()


def test_a_reading_that_a_server_started_anew_knows_nothing_of_is_asked_for_again(page: Page, project: Path) -> None:
    """As after a stop in the middle: the answer to the first request names a reading that is gone."""
    begun: list[str] = []
    person = page.locator("body").get_attribute("data-person")

    def gone(route: Route) -> None:
        begun.append(route.request.url)
        if len(begun) > 1:
            route.continue_()
            return
        said = {"job": "0" * 32, "state": "reading", "askers": [person], "reason": "", "told": "", "outcome": None}
        route.fulfill(status=202, json=said)

    page.route("**/read-again", gone)
    page.locator("#layout-open").click()
    page.locator('[data-handle="rule-3"]').press("ArrowRight")
    with page.expect_response(lambda answer: answer.url.endswith("0" * 32)) as asked:
        page.locator("#layout-read-again").click()
    assert asked.value.status == 404
    expect(page.locator("#read-again-said")).to_contain_text("Page read again")
    assert len(begun) == 2
    with Store.open(Settings.load(project).store_address) as store:
        [work] = store.queue.works()
        assert len(store.layout_overrides.history(work.name, 1)) == 1
