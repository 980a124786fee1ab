"""Waits in a browser for conditions, never for a fixed time, since a busy machine takes longer."""

from __future__ import annotations

import os
import time
from pathlib import Path

from playwright.sync_api import Error, FloatRect, Locator, Page, expect

from tests.conftest import PATIENCE
from tests.sampling import looks_wide

STILL = """(element, frames) => new Promise((done, never) => {
    let [before, same] = ["", 0];
    const look = () => {
        const { x, y, width, height } = element.getBoundingClientRect();
        const now = [x, y, width, height].join();
        same = now === before ? same + 1 : 0;
        before = now;
        frames -= 1;
        if (same >= 10 && width + height > 0) done();
        else if (frames > 0) requestAnimationFrame(look);
        else never(new Error("it never stands still: " + now));
    };
    look();
})"""


def until(page: Page, holds: str) -> None:
    """Wait until a script is true. Playwright's own function does not work: the security policy of the pages forbids
    evaluating text."""
    deadline = time.monotonic() + PATIENCE
    while not _says(page, holds):
        assert time.monotonic() < deadline, holds
        page.wait_for_timeout(20)


def _says(page: Page, script: str) -> object:
    """The value of a script; None if the page was left while it ran."""
    try:
        return page.evaluate(script)
    except Error as error:
        if "context was destroyed" not in error.message:
            raise
        return None


def open_desk(page: Page, address: str) -> Page:
    """Open the desk and wait until a flag is shown with its image, so that a key decides at once."""
    page.goto(address)
    expect(page.locator("#flag")).to_be_visible()
    expect(page.locator("#stage.waiting")).to_have_count(0)
    return page


def shown(page: Page) -> int:
    """The number of the flag on the desk, once one is shown; 0 at the end of the list."""
    element = page.locator(
        "body[data-flag]"
    )  # it is not there before the desk is, nor while the next flags are fetched
    return int(element.get_attribute("data-flag") or 0)


def press(page: Page, key: str) -> int:
    """Decide the shown flag, wait for the next one, and return the number of the first."""
    number = shown(page)
    page.keyboard.press(key)
    passed(page, number)
    return number


def passed(page: Page, number: int) -> int:
    """Wait until the desk no longer shows this flag; returns the number of the next, 0 at the end of the list."""
    expect(page.locator("body")).not_to_have_attribute("data-flag", str(number))
    return shown(page)


def saved(page: Page) -> None:
    """Wait until all decisions are saved on the server."""
    none = "!document.querySelector('#stage.waiting')"  # a key waits for its image
    until(page, f"{none} && Object.keys(localStorage).every(key => !key.startsWith('proof:'))")


def still(place: Locator) -> None:
    """Wait until an element has not moved for ten frames."""
    place.evaluate(STILL, 3000)


def box_of(place: Locator) -> FloatRect:
    """The place of an element on the screen."""
    box = place.bounding_box()
    assert box is not None
    return box


def middle(place: Locator) -> tuple[float, float]:
    """The middle of an element on the screen."""
    box = box_of(place)
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def photographed(page: Page, name: str, *, full_page: bool = False) -> None:
    """Save a screenshot in the folder `SCREENSHOTS`, if set (`make screenshots`)."""
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=full_page)


def shown_whole(page: Page) -> None:
    """Wait until a page and its images are loaded; in a wide run, whose pictures are inspected, until the network is
    idle."""
    if looks_wide():
        page.wait_for_load_state("networkidle")
    until(page, "document.readyState === 'complete' && [...document.images].every((one) => one.complete)")
