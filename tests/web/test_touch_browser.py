"""Fingers on a page: a character smaller than a finger is hit all the same, and a layout is set right close up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect

from proof.settings.config import Settings
from proof.store import Store
from tests.web.served import serving
from tests.web.waiting import photographed, still

FINGER = 44
LYING: ViewportSize = {"width": 1024, "height": 768}


@pytest.fixture
def tablet(project: Path, browser: Browser) -> Iterator[Page]:
    """A tablet that shows the sample's first page."""
    with serving(project) as address, Store.open(Settings.load(project).store_address) as store:
        [work] = store.queue.works()
        context = browser.new_context(viewport=LYING, has_touch=True, is_mobile=True, locale="en", base_url=address)
        page = context.new_page()
        said: list[str] = []
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(f"/works/{work.name}/pages/1")
        expect(page.locator("body")).to_have_attribute("data-ready", "1")
        yield page
        context.close()
        assert said == []


def middle(place: Locator) -> tuple[float, float]:
    box = place.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def pinch(page: Page, x: float, y: float) -> None:
    """Two fingers go apart, slowly enough to be no flick."""
    hand = page.context.new_cdp_session(page)
    for step in range(9):
        points = [{"x": x + way * (40 + 8 * step), "y": y, "id": n} for n, way in enumerate((-1, 1))]
        hand.send("Input.dispatchTouchEvent", {"type": "touchMove" if step else "touchStart", "touchPoints": points})
        page.wait_for_timeout(20)
    hand.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    hand.detach()


def test_a_finger_beside_a_character_takes_the_nearest_and_is_offered_those_around(tablet: Page) -> None:
    cell = tablet.locator(".cell").nth(30)
    text = cell.inner_text()
    still(cell)  # it moves with the image, which is brought to its place
    box = cell.bounding_box()
    assert box is not None
    assert box["width"] < FINGER
    tablet.touchscreen.tap(box["x"] - 4, box["y"] + box["height"] / 2)  # between two columns
    expect(tablet.locator("#correct-char")).to_have_text(text)
    offered = tablet.locator("#correct-near button")
    expect(offered).not_to_have_count(0)
    expect(tablet.locator("#correct-near [aria-pressed=true]")).to_have_text(text)
    for one in offered.all():
        size = one.bounding_box()
        assert size is not None
        assert min(size["width"], size["height"]) >= FINGER
    found = Axe().run(tablet).response["violations"]
    assert [one["id"] for one in found if one["impact"] in {"serious", "critical"}] == []
    photographed(tablet, "layout-tablet")
    other = tablet.locator("#correct-near [aria-pressed=false]").first
    meant = other.inner_text()
    other.tap()
    expect(tablet.locator("#correct-char")).to_have_text(meant)
    expect(tablet.locator("#correct-near [aria-pressed=true]")).to_have_text(meant)


def test_two_fingers_on_the_lines_of_a_layout_zoom_and_move_no_line(tablet: Page) -> None:
    tablet.locator("#layout-open").tap()
    rule = tablet.locator('[data-handle="rule-3"]')
    expect(rule).to_be_attached()
    still(rule)
    drawn = [one.get_attribute("x1") for one in tablet.locator(".layout-rule").all()]
    x, y = middle(rule)
    tall = (rule.bounding_box() or {"height": 0.0})["height"]
    pinch(tablet, x - 40, y)  # one finger begins on the line itself
    still(rule)
    assert (rule.bounding_box() or {"height": 0.0})["height"] > 1.3 * tall
    assert [one.get_attribute("x1") for one in tablet.locator(".layout-rule").all()] == drawn
