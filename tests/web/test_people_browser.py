"""Several people in a real Chromium: a session that ends, a reader, and two who validate pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from proof.store import Store
from tests.build import decision_log
from tests.web.drawn import WORK
from tests.web.served import serving, watched_page
from tests.web.test_people import PASSWORD, PEOPLE
from tests.web.waiting import photographed, press, saved


@pytest.fixture
def folder(folder: Path) -> Path:
    """The drawn pages, before which people log in."""
    with Store.open(folder / "proof.sqlite") as store:
        for name, role in PEOPLE.items():
            store.accounts.add(name, role, PASSWORD)
    return folder


@pytest.fixture
def address(folder: Path) -> Iterator[str]:
    """`proof serve --auth` in a process of its own."""
    with serving(folder, "--auth") as address:
        yield address


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A browser that nobody has logged in with."""
    with watched_page(browser, viewport={"width": 1440, "height": 900}, locale="en-GB") as page:
        yield page


def log_in(page: Page, name: str, password: str = PASSWORD) -> None:
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.keyboard.press("Enter")


def log_out(page: Page, address: str) -> None:
    page.goto(f"{address}/account")
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()


def desk_of(page: Page, address: str, name: str) -> Page:
    """The desk in a browser that is sent to log in first."""
    page.goto(f"{address}/works/{WORK}/desk?state=")
    log_in(page, name)
    expect(page.locator("#flag")).to_be_visible()
    return page


def decided(folder: Path) -> list[tuple[str, str]]:
    with Store.open(folder / "proof.sqlite") as store:
        return [(decision.person, decision.verdict.value) for decision in decision_log(store, WORK)[::-1]]


def ends_session(folder: Path, name: str) -> Callable[[Route], None]:
    """What is asked comes when that person's session is over, and nothing comes so before it."""

    def end(route: Route) -> None:
        with Store.open(folder / "proof.sqlite") as store:
            store.accounts.end_sessions(store.accounts.named(name).number)
        route.continue_()

    return end


def test_what_was_decided_as_the_session_ended_is_sent_once_its_owner_logs_in_again_and_never_by_another(
    page: Page, address: str, folder: Path
) -> None:
    desk_of(page, address, "乙")
    page.route("**/decisions", ends_session(folder, "乙"), times=1)
    waiting = page.get_by_text("Decisions wait in this browser")
    page.keyboard.press("u")
    expect(waiting).to_be_visible()
    log_in(page, "甲")
    expect(page.locator("#flag")).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert decided(folder) == []
    log_out(page, address)
    saved(desk_of(page, address, "乙"))
    assert decided(folder) == [("乙", "unsure")]
    log_out(page, address)
    expect(waiting).to_be_hidden()


def says(page: Page, state: str) -> int:
    """Says where a page stands; gives the status of the answer."""
    with page.expect_response("**/states") as answer:
        page.locator("#state").select_option(state)
    return answer.value.status


def opened(browser: Browser, address: str, name: str) -> Page:
    """The first page of the work in a browser of that person's own."""
    page = browser.new_page(viewport={"width": 1366, "height": 768}, locale="en-GB")
    page.goto(f"{address}/works/{WORK}/pages/1")
    log_in(page, name)
    expect(page.locator("#state")).to_be_visible()
    return page


def test_validation_is_a_queue_of_its_own_with_who_proofread_a_page_and_where_one_differs(
    browser: Browser, address: str
) -> None:
    first, second = (opened(browser, address, name) for name in "甲乙")
    for number in (1, 2):
        second.goto(f"{address}/works/{WORK}/pages/{number}")
        assert says(second, "proofread") == 201
        expect(second.locator("#ask-page")).to_contain_text("You proofread this page; someone else must validate it.")
        second.keyboard.press("r")
        expect(second.locator("#state")).to_have_value("proofread")
    second.keyboard.press("v")
    expect(second.locator("main .told")).to_contain_text("No page is left for you to validate")

    assert says(first, "validated") == 409
    expect(first.locator("#state")).to_have_value("not proofread")
    first.get_by_role("button", name="Reload the page").click()
    expect(first.locator("#state")).to_have_value("proofread")
    first.goto(f"{address}/works/{WORK}/validate")
    expect(first.locator("h1")).to_have_text("WYG0103-0192a")
    expect(first.locator("#ask-page")).to_contain_text("乙 proofread this page. Validate it?")
    photographed(first, "validate")
    first.keyboard.press("v")
    expect(first.locator("h1")).to_have_text("WYG0103-0193a")
    first.keyboard.press("r")
    expect(first.locator("#act-told")).to_contain_text("WYG0103-0193a: validated")
    expect(first.locator("h1")).to_have_text("WYG0103-0192a")
    second.goto(f"{address}/works/{WORK}/pages/2")
    expect(second.locator("#state")).to_have_value("validated")
    for each in (second, first):
        each.close()


def test_an_administrator_takes_back_what_somebody_decided_in_a_time_in_one_act(
    page: Page, address: str, folder: Path
) -> None:
    desk_of(page, address, "乙")
    for _ in range(3):
        press(page, "k")
    saved(page)
    page.goto(f"{address}/works/{WORK}/history?person=乙")
    expect(page.locator("#withdrawal")).to_have_count(0)
    log_out(page, address)
    page.goto(f"{address}/works/{WORK}/history")
    log_in(page, "甲")
    expect(page.locator("#withdrawal")).to_have_count(0)  # it is for one person
    page.get_by_label("person").select_option("乙")
    button = page.get_by_role("button", name="Take back all that 乙 decided in this time")
    photographed(page, "withdrawal")
    button.click()
    expect(page.locator("#act-told")).to_contain_text("Places at which decisions were taken back: 3")
    assert decided(folder)[-3:] == [("甲", "undo")] * 3
    page.keyboard.press("z")
    expect(page.locator("#act-told")).to_contain_text("Taken back")
    assert decided(folder)[-3:] == [("甲", "redo")] * 3
