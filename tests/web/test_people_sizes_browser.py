"""The pages about people on the screens that proofreaders have: a laptop, a tablet lying and upright, a telephone."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from proof.store import Store
from proof.store.accounts import AccountChannel, By, Role
from proof.store.comments import CommentRequest, CommentState
from tests.web.drawn import WORK, fill, settings_in
from tests.web.served import serving
from tests.web.waiting import photographed

PASSWORD = "四庫 full of 書"  # noqa: S105
LONGEST = "Bartholomäus-Maximilian von Hohenstein-Wallerfangen, Tübingen"
FINGER = 44
SIZES = {"laptop": (1280, 720), "lying": (1024, 768), "upright": (768, 1024), "telephone": (390, 844)}
LOOKS = {
    "laptop": ("en", "light"),
    "lying": ("zh-Hant", "dark"),
    "upright": ("zh-Hans", "light"),
    "telephone": ("en", "dark"),
}
TOO_SMALL = """least => [...document.querySelectorAll("button, select, input:not([type=hidden]), header a, p > a")]
    .filter(one => one.checkVisibility() && !one.closest(".unseen") && !one.matches(".skip"))
    .map(one => [one.getBoundingClientRect(), one.outerHTML.slice(0, 80)])
    .filter(([box]) => box.width && Math.min(box.width, box.height) < least - 0.5)
    .map(([box, said]) => `${said} ${box.width} x ${box.height}`)"""
CUT_OFF = """() => [...document.querySelectorAll("main :is(th, td, label, button, select, h1, h2, p, code)")]
    .filter(one => one.checkVisibility() && !one.closest(".unseen"))
    .filter(one => one.getBoundingClientRect().right > innerWidth + 0.5 || one.scrollWidth > one.clientWidth + 1)
    .filter(one => getComputedStyle(one).display !== "inline")
    .map(one => one.outerHTML.slice(0, 100))"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A project with a few people, one of a long name, and with what was done to their accounts."""
    folder = tmp_path_factory.mktemp("people")
    with Store.open(settings_in(folder).store_address) as store:
        fill(store, folder)
        store.accounts.add("甲", Role.ADMINISTRATOR, PASSWORD)
        by = By("甲", AccountChannel.BROWSER)
        for name in ("乙", LONGEST, "丁"):
            store.accounts.add(name, Role.PROOFREADER, PASSWORD, by=by)
        store.comments.say(CommentRequest(WORK, 1, 1, "是吿？", "乙", "request-1", CommentState.PROBLEM, "甲"))
    with serving(folder, "--auth") as served:
        yield served


def looked_at(page: Page, name: str, *, touch: bool) -> None:
    """Nothing is cut off, too small for a finger, or hinders a screen reader."""
    photographed(page, name)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
    assert page.evaluate(CUT_OFF) == [], name
    if touch:
        assert page.evaluate(TOO_SMALL, FINGER) == [], name
    grave = [one for one in Axe().run(page).response["violations"] if one["impact"] in ("serious", "critical")]
    assert grave == [], json.dumps(grave, indent=1, ensure_ascii=False)[:3000]


def log_in(page: Page) -> None:
    page.locator("#name").fill("甲")
    page.locator("#password").fill(PASSWORD)
    page.keyboard.press("Enter")


@pytest.mark.parametrize("size", SIZES)
def test_the_pages_about_people_fit_every_screen(browser: Browser, address: str, size: str) -> None:
    """Each screen in another language or theme."""
    (width, height), touch = SIZES[size], size != "laptop"
    language, theme = LOOKS[size]
    context = browser.new_context(
        viewport={"width": width, "height": height},
        has_touch=touch,
        is_mobile=touch,
        locale=language,
        color_scheme=theme,  # type: ignore[arg-type]
        base_url=address,
    )
    page = context.new_page()
    page.goto("/people")
    looked_at(page, f"login-{size}-{language}-{theme}", touch=touch)
    page.locator("#name").fill("甲")
    page.locator("#password").fill("wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert").filter(visible=True)).to_be_visible()
    looked_at(page, f"login-wrong-{size}-{language}-{theme}", touch=touch)
    log_in(page)
    expect(page.locator(".accounts")).to_be_visible()
    looked_at(page, f"people-{size}-{language}-{theme}", touch=touch)
    page.goto("/account")
    looked_at(page, f"account-{size}-{language}-{theme}", touch=touch)
    context.close()
