"""A proofreader with a tablet and nothing else: everything is done with fingers, in a real Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect

from proof.settings.config import Settings
from proof.store import Store
from tests.web.served import serving
from tests.web.waiting import passed, photographed, saved, shown, still

FINGER = 44
"""CSS pixels that a finger hits without looking twice (WCAG 2.5.5)."""
UPRIGHT: ViewportSize = {"width": 768, "height": 1024}
LYING: ViewportSize = {"width": 1024, "height": 768}


@contextmanager
def tablet_of(browser: Browser, project: Path, size: ViewportSize) -> Iterator[Page]:
    """A tablet that shows what is served of the sample; nothing goes wrong in its scripts."""
    with serving(project) as address:
        context = browser.new_context(viewport=size, has_touch=True, is_mobile=True, locale="en", base_url=address)
        page = context.new_page()
        said: list[str] = []
        page.on("pageerror", lambda error: said.append(str(error)))
        yield page
        context.close()
        assert said == []


@pytest.fixture
def tablet(project: Path, browser: Browser) -> Iterator[Page]:
    with tablet_of(browser, project, UPRIGHT) as page:
        yield page


@pytest.fixture
def lying(project: Path, browser: Browser) -> Iterator[Page]:
    """One that lies, at the sample's first page."""
    with tablet_of(browser, project, LYING) as page:
        page.goto(f"/works/{work_of(project)}/pages/1")
        expect(page.locator("body")).to_have_attribute("data-ready", "1")
        yield page


def work_of(project: Path) -> str:
    with Store.open(Settings.load(project).store_address) as store:
        [work] = store.queue.works()
        return work.name


def middle(place: Locator) -> tuple[float, float]:
    box = place.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def width(place: Locator) -> float:
    box = place.bounding_box()
    assert box is not None
    return box["width"]


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


def fits(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


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


def test_flags_are_settled_by_tapping(tablet: Page, project: Path) -> None:
    work = work_of(project)
    tablet.goto(f"/works/{work}/")
    assert fits(tablet)
    assert small(tablet) == []
    tablet.get_by_role("link", name="Begin").tap()
    expect(tablet.locator("#flag")).to_be_visible()
    assert fits(tablet)
    assert small(tablet) == []
    seen = []
    for act in ("keep", "take", "copy", "unsure"):
        seen.append(shown(tablet))
        tablet.locator(f"[data-act={act}]").first.tap()
        passed(tablet, seen[-1])
    tablet.locator("[data-act=undo]").tap()
    expect(tablet.locator("body")).to_have_attribute("data-flag", str(seen[-1]))
    saved(tablet)
    with Store.open(Settings.load(project).store_address) as store:
        log = [(one.flag, one.verdict.value) for one in store.decisions.log(work, limit=10)[::-1]]
    assert log == [*zip(seen, ("keep", "take", "copy", "unsure"), strict=True), (seen[-1], "undo")]


def test_a_page_is_panned_and_zoomed_and_a_character_tapped(tablet: Page, project: Path) -> None:
    tablet.goto(f"/works/{work_of(project)}/pages/1")
    expect(tablet.locator("body")).to_have_attribute("data-ready", "1")
    box = tablet.locator("rect[data-n]").nth(20)
    still(box)
    assert fits(tablet)
    assert small(tablet) == []
    wide = width(box)
    x, y = middle(tablet.locator("#viewer"))
    touch(tablet, ((x - 40, y), (x - 90, y)), ((x + 40, y), (x + 90, y)))
    still(box)
    assert width(box) > 1.5 * wide, "two fingers zoom"
    before = middle(box)
    touch(tablet, ((x, y), (x - 60, y + 40)))
    still(box)
    after = middle(box)
    assert after[0] < before[0] - 30
    assert after[1] > before[1] + 15
    place = tablet.locator("#viewer").bounding_box()
    assert place is not None
    for one in tablet.locator("rect[data-n]").all():  # one that is in sight after all this
        cx, cy = middle(one)
        if place["x"] + 30 < cx < place["x"] + place["width"] - 30 and abs(cy - y) < 60:
            tablet.touchscreen.tap(cx, cy)
            break
    expect(tablet.locator("#correct")).to_be_visible()
    assert small(tablet.locator("#correct").page) == []


def test_a_rule_is_dragged_with_a_finger_and_the_page_read_again(tablet: Page, project: Path) -> None:
    work = work_of(project)
    tablet.goto(f"/works/{work}/pages/1")
    expect(tablet.locator("body")).to_have_attribute("data-ready", "1")
    tablet.locator("#layout-open").tap()
    rule = tablet.locator('[data-handle="rule-3"]')
    expect(rule).to_be_attached()
    still(rule)
    assert fits(tablet)
    assert small(tablet) == []
    before = float(rule.get_attribute("x1") or "nan")
    x, y = middle(rule)
    touch(tablet, ((x + 6, y + 60), (x + 26, y + 60)))  # fingers are not exact
    assert float(rule.get_attribute("x1") or "nan") > before
    photographed(tablet, "layout-rule-tablet")
    tablet.locator("#layout-read-again").tap()
    expect(tablet.locator("#read-again-said")).to_contain_text("Page read again")
    with Store.open(Settings.load(project).store_address) as store:
        assert [one.layout is not None for one in store.layout_overrides.history(work, 1)] == [True]


def test_a_finger_beside_a_character_takes_the_nearest_and_is_offered_those_around(lying: Page) -> None:
    cell = lying.locator(".cell").nth(30)
    text = cell.inner_text()
    still(cell)  # it moves with the image, which is brought to its place
    box = cell.bounding_box()
    assert box is not None
    assert box["width"] < FINGER
    lying.touchscreen.tap(box["x"] - 4, box["y"] + box["height"] / 2)  # between two columns
    expect(lying.locator("#correct-char")).to_have_text(text)
    offered = lying.locator("#correct-near button")
    expect(offered).not_to_have_count(0)
    expect(lying.locator("#correct-near [aria-pressed=true]")).to_have_text(text)
    for one in offered.all():
        size = one.bounding_box()
        assert size is not None
        assert min(size["width"], size["height"]) >= FINGER
    found = Axe().run(lying).response["violations"]
    assert [one["id"] for one in found if one["impact"] in {"serious", "critical"}] == []
    photographed(lying, "layout-tablet")
    other = lying.locator("#correct-near [aria-pressed=false]").first
    meant = other.inner_text()
    other.tap()
    expect(lying.locator("#correct-char")).to_have_text(meant)
    expect(lying.locator("#correct-near [aria-pressed=true]")).to_have_text(meant)


def test_two_fingers_on_the_lines_of_a_layout_zoom_and_move_no_line(lying: Page) -> None:
    lying.locator("#layout-open").tap()
    rule = lying.locator('[data-handle="rule-3"]')
    expect(rule).to_be_attached()
    still(rule)
    drawn = [one.get_attribute("x1") for one in lying.locator(".layout-rule").all()]
    x, y = middle(rule)
    tall = (rule.bounding_box() or {"height": 0.0})["height"]
    touch(lying, ((x - 80, y), (x - 144, y)), ((x, y), (x + 64, y)))  # one finger begins on the line itself
    still(rule)
    assert (rule.bounding_box() or {"height": 0.0})["height"] > 1.3 * tall
    assert [one.get_attribute("x1") for one in lying.locator(".layout-rule").all()] == drawn
