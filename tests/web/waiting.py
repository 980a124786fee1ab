"""Waiting in a browser for what is meant, never for time: a busy machine takes longer."""

from __future__ import annotations

import os
import time
from pathlib import Path

from playwright.sync_api import Error, FloatRect, Locator, Page, expect

from tests.conftest import PATIENCE
from tests.wide import looks_wide

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
    """Waits for what a script says. Not Playwright's own way: our policy lets nobody evaluate text in a page."""
    deadline = time.monotonic() + PATIENCE
    while not _says(page, holds):
        assert time.monotonic() < deadline, holds
        page.wait_for_timeout(20)


def _says(page: Page, script: str) -> object:
    """What a script says; nothing where the page was left for another in the middle of it."""
    try:
        return page.evaluate(script)
    except Error as error:
        if "context was destroyed" not in error.message:
            raise
        return None


def open_desk(page: Page, address: str) -> Page:
    """Opens the desk there and waits until a flag is shown with its image: from here on a key decides at once."""
    page.goto(address)
    expect(page.locator("#flag")).to_be_visible()
    expect(page.locator("#stage.waiting")).to_have_count(0)
    return page


def shown(page: Page) -> int:
    """The number of the flag that the desk shows, as soon as it shows one; 0 where it says that nothing is left."""
    element = page.locator(
        "body[data-flag]"
    )  # it is not there before the desk is, nor while the next flags are fetched
    return int(element.get_attribute("data-flag") or 0)


def press(page: Page, key: str) -> int:
    """Decides about the flag that is shown, and gives its number; the next one is shown by then."""
    number = shown(page)
    page.keyboard.press(key)
    passed(page, number)
    return number


def passed(page: Page, number: int) -> int:
    """Waits until the desk shows that flag no longer; gives the next, 0 where nothing is left."""
    expect(page.locator("body")).not_to_have_attribute("data-flag", str(number))
    return shown(page)


def saved(page: Page) -> None:
    """Waits until no decision is on its way to the server."""
    none = "!document.querySelector('#stage.waiting')"  # a key waits for its image
    until(page, f"{none} && Object.keys(localStorage).every(key => !key.startsWith('proof:'))")


def still(place: Locator) -> None:
    """Waits until an element has been drawn at one place ten frames running: what moved it has come to its end."""
    place.evaluate(STILL, 3000)


def box_of(place: Locator) -> FloatRect:
    """Where an element is on the screen."""
    box = place.bounding_box()
    assert box is not None
    return box


def middle(place: Locator) -> tuple[float, float]:
    """The middle of an element on the screen."""
    box = box_of(place)
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def photographed(page: Page, name: str, *, full_page: bool = False) -> None:
    """A picture for whoever looks at the pages, where `SCREENSHOTS` names a folder, as `make screenshots` does."""
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=full_page)


def shown_whole(page: Page) -> None:
    """Waits until a page and its images are there; where the run looks wide, and its pictures are looked at, until
    nothing is on its way any more."""
    if looks_wide():
        page.wait_for_load_state("networkidle")
    until(page, "document.readyState === 'complete' && [...document.images].every((one) => one.complete)")
