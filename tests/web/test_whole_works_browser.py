"""A whole work: from the list of works to the last flag, the page proofread and the corrected text at home, by keyboard
alone and by finger alone."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from proof.store import Store
from proof.store.page_states import PageState
from tests.web.drawn import fill, settings_in
from tests.web.served import serving, watched_page
from tests.web.waiting import passed, saved, shown

WORK = "zhouli"
SCREENS = {"keyboard": (1440, 900), "finger": (390, 844)}
FURTHEST = 120
"""Presses of Tab after which something counts as out of reach."""
UNDOUBLED = """since => new Promise(done => {
    const look = () => Date.now() > since + 300 ? done() : requestAnimationFrame(look);
    look();
})"""
"""Waits, by the browser's clock, until the desk takes another tap at the same place for one of its own."""


class Hand:
    """A keyboard and nothing else, or one finger and nothing else, which lets a flag be seen: what comes at once after
    a tap at the same place is its other half."""

    def __init__(self, page: Page, name: str) -> None:
        self.page, self.is_finger, self.last = page, name == "finger", 0

    def press(self, place: Locator) -> None:
        """Does what a button or a link does."""
        if self.is_finger:
            return place.tap()
        expect(place).to_be_visible()
        for _ in range(FURTHEST):
            if place.evaluate("one => one === document.activeElement"):
                return self.page.keyboard.press("Enter")
            self.page.keyboard.press("Tab")
        pytest.fail(f"Tab does not lead to {place}")

    def decide(self, name: str) -> None:
        """Decides the flag that is shown: `take` or `keep`."""
        if self.is_finger:
            self.page.evaluate(UNDOUBLED, self.last)
            self.page.locator(f".tile[data-act={name}]").tap()
            self.last = self.page.evaluate("Date.now()")
        else:
            self.page.keyboard.press(name[0])

    def proofread(self) -> None:
        """Says of the page that it is proofread."""
        if self.is_finger:
            self.page.locator("#ask-yes").tap()
        else:
            self.page.keyboard.press("r")


@pytest.fixture(params=list(SCREENS))
def hand(request: pytest.FixtureRequest, tmp_path: Path, browser: Browser) -> Iterator[Hand]:
    with Store.open(settings_in(tmp_path).store_address) as store:
        fill(store, tmp_path, work=WORK)
    width, height = SCREENS[request.param]
    touch = request.param == "finger"
    with serving(tmp_path) as address:
        size = {"width": width, "height": height}
        with watched_page(
            browser, viewport=size, has_touch=touch, is_mobile=touch, locale="en", base_url=address
        ) as page:
            yield Hand(page, request.param)
        with Store.open(tmp_path / "proof.sqlite") as store:
            left = store.queue.remaining(WORK)
            assert (left.open, left.unsure, left.skipped) == (0, 0, 0)
            assert [page.state for page in store.queue.pages(WORK)].count(PageState.PROOFREAD) == 1


@pytest.mark.slow
def test_a_work_from_the_list_to_the_text_at_home(hand: Hand) -> None:
    page = hand.page
    page.goto("/")
    hand.press(page.locator(f'a[href="/works/{WORK}/"]').first)
    hand.press(page.locator("#start"))
    _decide_all(hand)
    with page.expect_download() as taken:
        hand.press(page.get_by_role("button", name="Export the corrected text"))
        # it comes by itself, and where a browser lets that go the file is there to be taken
        expect(page.locator("#download")).to_contain_text("The files are ready.")
        hand.press(page.locator("#download a"))
    with zipfile.ZipFile(taken.value.path()) as archive:
        assert any(name.endswith(".txt") for name in archive.namelist())
    hand.press(page.locator("#still a", has_text="Pages that nobody proofread yet"))
    hand.press(page.locator("a.leaf").first)
    expect(page.locator("#ask-page")).to_be_visible()
    hand.proofread()
    expect(page.locator("#state")).to_have_value("proofread")
    expect(page.locator("#state")).to_have_attribute("aria-busy", "false")


def _decide_all(hand: Hand) -> None:
    """Every flag of the work, until nothing is left."""
    page = hand.page
    page.wait_for_url("**/desk*")
    decided = 0
    number = shown(page)
    while number:
        hand.decide("take" if page.locator(".tile.seen").is_enabled() and decided % 2 == 0 else "keep")
        number = passed(page, number)
        decided += 1
    saved(page)
    expect(page.locator("#end")).to_be_visible()
    assert decided >= 6
