"""A proofreader with a tablet and nothing else: everything is done with fingers, in a real Chromium."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.web.drawn import WORK
from tests.web.served import watched_page
from tests.web.waiting import box_of, middle, photographed, still

AT = f"/works/{WORK}"

FINGER = 44
"""CSS pixels that a finger hits without looking twice (WCAG 2.5.5)."""
UPRIGHT: ViewportSize = {"width": 768, "height": 1024}


@pytest.fixture
def tablet(untouched: str, browser: Browser) -> Iterator[Page]:
    """An upright tablet at the sample's first page."""
    with watched_page(
        browser, viewport=UPRIGHT, has_touch=True, is_mobile=True, locale="en", base_url=untouched
    ) as page:
        page.goto(f"{AT}/pages/1")
        expect(page.locator("body")).to_have_attribute("data-ready", "1")
        yield page


def small(page: Page) -> list[str]:
    """What can be touched, is in sight, and is smaller than a finger."""
    return list(
        page.evaluate(
            """least => [...document.querySelectorAll("button, select, input:not([type=hidden]), nav a, a[rel]")]
                .filter(one => one.checkVisibility() && !one.closest(".unseen, #sheet") && !one.disabled)
                .map(one => [one.closest("label") ?? one, one])
                .map(([place, one]) => [place.getBoundingClientRect(), one])
                .filter(([box]) => box.width && (box.height < least - 0.5 || box.width < least - 0.5))
                .map(([box, one]) => `${one.outerHTML.slice(0, 80)} ${box.width} x ${box.height}`)""",
            FINGER,
        )
    )


def suits_fingers(page: Page) -> bool:
    """Whether nothing is cut off, or too small for them."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth")) and small(page) == []


def touch(page: Page, *fingers: tuple[tuple[float, float], tuple[float, float]]) -> None:
    """Each finger goes from its first place to its second, slowly enough to be no flick."""
    hand = page.context.new_cdp_session(page)
    for step in range(9):
        points = [
            {"x": a + (c - a) * step / 8, "y": b + (d - b) * step / 8, "id": n}
            for n, ((a, b), (c, d)) in enumerate(fingers)
        ]
        hand.send("Input.dispatchTouchEvent", {"type": "touchMove" if step else "touchStart", "touchPoints": points})
        page.wait_for_timeout(30)
    page.wait_for_timeout(150)  # a hand that rests before it lets go, however long, flings nothing
    hand.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    hand.detach()


def test_a_page_is_panned_and_zoomed_and_a_character_tapped(tablet: Page) -> None:
    box = tablet.locator("rect[data-n]").nth(20)
    still(box)
    assert suits_fingers(tablet)
    wide = box_of(box)["width"]
    x, y = middle(tablet.locator("#viewer"))
    touch(tablet, ((x - 40, y), (x - 90, y)), ((x + 40, y), (x + 90, y)))
    still(box)
    assert box_of(box)["width"] > 1.5 * wide, "two fingers zoom"
    before = middle(box)
    touch(tablet, ((x, y), (x - 60, y + 40)))
    still(box)
    after = middle(box)
    assert after[0] < before[0] - 30
    assert after[1] > before[1] + 15
    place = box_of(tablet.locator("#viewer"))
    for rect in tablet.locator("rect[data-n]").all():  # one that is in sight after all this
        cx, cy = middle(rect)
        if place["x"] + 30 < cx < place["x"] + place["width"] - 30 and abs(cy - y) < 60:
            tablet.touchscreen.tap(cx, cy)
            break
    expect(tablet.locator("#correct")).to_be_visible()
    assert small(tablet) == []
    tablet.goto(f"{AT}/")
    assert suits_fingers(tablet)
    tablet.get_by_role("link", name="Begin").tap()
    expect(tablet.locator("#flag")).to_be_visible()
    assert suits_fingers(tablet)


def test_a_rule_is_dragged_with_a_finger_and_two_fingers_on_the_lines_zoom_and_move_none(tablet: Page) -> None:
    tablet.locator("#layout-open").tap()
    rule = tablet.locator('[data-handle="rule-3"]')
    expect(rule).to_be_attached()
    still(rule)
    assert suits_fingers(tablet)
    before = float(rule.get_attribute("x1") or "nan")
    x, y = middle(rule)
    touch(tablet, ((x + 6, y + 60), (x + 26, y + 60)))  # fingers are not exact
    assert float(rule.get_attribute("x1") or "nan") > before
    photographed(tablet, "layout-rule-tablet")
    drawn = [rule.get_attribute("x1") for rule in tablet.locator(".layout-rule").all()]
    x, y = middle(rule)
    tall = box_of(rule)["height"]
    touch(tablet, ((x - 80, y), (x - 144, y)), ((x, y), (x + 64, y)))  # one finger begins on the line itself
    still(rule)
    assert box_of(rule)["height"] > 1.3 * tall
    assert [rule.get_attribute("x1") for rule in tablet.locator(".layout-rule").all()] == drawn
