"""What people say to each other, in a real Chromium: written, given to somebody, found, answered, on desk and page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from proof.store import Store
from tests.web.drawn import SCRIPT, WORK, fill, settings_in
from tests.web.served import serving, watched_page
from tests.web.test_people import PASSWORD, PEOPLE
from tests.web.test_people_browser import log_in
from tests.web.waiting import shown


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("comments")
    with Store.open(settings_in(folder).store_address) as store:
        fill(store, folder)
        for name, role in PEOPLE.items():
            store.accounts.add(name, role, PASSWORD)
    with serving(folder, "--auth") as address:
        yield address


@pytest.fixture
def logged_in(browser: Browser, address: str) -> Iterator[Callable[[str], Page]]:
    """Gives a browser in which that person is logged in."""
    with ExitStack() as opened:

        def log_in_as(name: str) -> Page:
            size = {"width": 1366, "height": 768}
            page = opened.enter_context(watched_page(browser, viewport=size, locale="en-GB"))
            page.goto(f"{address}/login")
            log_in(page, name)
            expect(page.locator("header .who").first).to_be_visible()
            return page

        yield log_in_as


def test_a_problem_of_a_flag_is_given_to_another_who_finds_it_and_resolves_it(
    logged_in: Callable[[str], Page], address: str
) -> None:
    first, second, reader = map(logged_in, "乙丙丁")
    first.goto(f"{address}/works/{WORK}/desk")
    expect(first.locator("#flag")).to_be_visible()
    number = shown(first)
    first.keyboard.press("n")
    first.get_by_role("textbox", name="Comment").type(f"knt {SCRIPT}\n第二行")
    first.get_by_label("this is a problem").check()
    first.get_by_label("Who is to see to it").select_option("丙")
    first.keyboard.press("Control+Enter")
    expect(first.locator("#talk")).to_be_hidden()
    expect(first.locator("#said")).to_contain_text("第二行")
    assert shown(first) == number, "no key of the text decided anything"
    assert first.evaluate("window.broken") is None

    second.goto(f"{address}/works/{WORK}/")
    second.get_by_role("link", name="For me 1").click()
    second.locator(".problems a").click()
    expect(second.locator("#said")).to_contain_text("for 丙")
    second.locator("[data-act=comment]").click()
    second.get_by_label("the problem is resolved").check()
    expect(second.locator("#talk-assigned")).to_be_hidden()
    second.get_by_role("button", name="Write it down").click()
    expect(second.locator("#said .resolved")).to_be_visible()
    second.goto(f"{address}/for-me")
    expect(second.get_by_text("Nobody left you anything to see to.")).to_be_visible()

    reader.goto(f"{address}/works/{WORK}/desk?flag={number}")
    expect(reader.locator("#said")).to_contain_text("第二行")
    reader.keyboard.press("n")
    expect(reader.locator("#talk-text")).to_be_disabled()
    expect(reader.get_by_role("button", name="Write it down")).to_be_disabled()


def test_an_input_method_that_ends_its_composition_sends_no_comment(
    logged_in: Callable[[str], Page], address: str
) -> None:
    page = logged_in("乙")
    page.goto(f"{address}/works/{WORK}/pages/3")
    page.keyboard.press("n")
    text = page.get_by_role("textbox", name="Comment")
    text.fill("未畢")
    for composed in ({"keyCode": 229}, {"isComposing": True}):
        text.evaluate(
            """(field, composed) => field.dispatchEvent(new KeyboardEvent("keydown",
                {key: "Enter", ctrlKey: true, bubbles: true, cancelable: true, ...composed}))""",
            composed,
        )
    text.dispatch_event("compositionstart")
    page.keyboard.press("Control+Enter")
    text.dispatch_event("compositionend")
    page.evaluate("new Promise((done) => setTimeout(done, 30))")  # the method is done a moment after its text is in
    text.fill("未畢之語")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#talk")).to_be_hidden()
    page.goto(f"{address}/works/{WORK}/history?what=comment")
    expect(page.locator("#events li").filter(has_text="未畢")).to_have_text(re.compile("未畢之語"))


def test_words_that_somebody_in_between_answered_stay_and_are_sent_once(
    logged_in: Callable[[str], Page], address: str
) -> None:
    """The server has what was sent, and its answer was lost."""
    page = logged_in("乙")

    def lost(route: Route) -> None:
        route.fetch()
        route.fulfill(status=200, content_type="text/html", body="<html>log in to this network</html>")

    page.goto(f"{address}/works/{WORK}/pages/3")
    page.route("**/comments", lost, times=1)
    page.keyboard.press("n")
    page.get_by_role("textbox", name="Comment").fill("答案")
    page.get_by_role("button", name="Write it down").click()
    expect(page.locator("#talk-trouble")).not_to_be_empty()
    expect(page.get_by_role("textbox", name="Comment")).to_have_value("答案")
    page.get_by_role("button", name="Write it down").click()
    expect(page.locator("#talk")).to_be_hidden()
    page.goto(f"{address}/works/{WORK}/history?what=comment")
    expect(page.locator("#events li").filter(has_text="答案")).to_have_count(1)
