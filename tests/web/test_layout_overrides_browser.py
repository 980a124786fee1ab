"""A page set right in a real Chromium: a rule dragged, the page read again, and back to what was found; also by
somebody who is quicker than the server, acts twice, leaves in the middle, or thinks again."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from proof.settings.config import Settings
from proof.store import Store
from tests.conftest import PATIENCE
from tests.web.drawn import WORK
from tests.web.served import serving, watched_page
from tests.web.waiting import middle, still


@contextmanager
def page_shown(browser: Browser, address: str, number: int) -> Iterator[Page]:
    """A page of the sample in a browser."""
    with watched_page(browser, viewport={"width": 1300, "height": 900}, locale="en") as page:
        page.goto(f"{address}/works/{WORK}/pages/{number}")
        expect(page.locator("body")).to_have_attribute("data-ready", "1")
        yield page


@pytest.fixture(scope="module")
def project(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sample in which each test sets another page right."""
    return shutil.copytree(sample, tmp_path_factory.mktemp("layouts") / "project")


@pytest.fixture(scope="module")
def address(project: Path) -> Iterator[str]:
    """Its server, which loads the recogniser once for all of them."""
    with serving(project) as address:
        yield address


@pytest.fixture
def page(address: str, number: int, browser: Browser) -> Iterator[Page]:
    with page_shown(browser, address, number) as opened:
        yield opened


@pytest.fixture
def looking(untouched: str, browser: Browser) -> Iterator[Page]:
    with page_shown(browser, untouched, 1) as opened:
        yield opened


def held(page: Page, what: str) -> list[Route]:
    """What is asked for there, in its order; none is answered before the test says so."""
    routes: list[Route] = []

    def keep(route: Route) -> None:
        routes.append(route)

    page.route(what, keep)
    return routes


def comes(page: Page, holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        page.wait_for_timeout(20)


def asked(page: Page, routes: list[Route], many: int) -> Route:
    """The last of so many requests, once they have come."""
    comes(page, lambda: len(routes) >= many)
    return routes[many - 1]


def rule(page: Page) -> Locator:
    return page.locator('[data-handle="rule-3"]')


def place(page: Page) -> float:
    return float(rule(page).get_attribute("x1") or "nan")


def set_layouts(project: Path, number: int) -> list[bool]:
    """Of all that was set for a page, whether it has a layout."""
    with Store.open(Settings.load(project).store_address) as store:
        return [entry.layout is not None for entry in store.layout_overrides.history(WORK, number)]


def begin(page: Page) -> float:
    """Opens the tools and moves a rule."""
    page.locator("#layout-open").click()
    rule(page).press("ArrowRight")
    return place(page)


def read_again(page: Page) -> None:
    page.locator("#layout-read-again").click()


@pytest.mark.parametrize("number", [1])
def test_a_rule_is_dragged_and_the_page_read_again_and_it_is_taken_back(page: Page, project: Path, number: int) -> None:
    page.locator("#layout-open").click()
    expect(rule(page)).to_be_attached()
    expect(page.locator("#layout-image option")).not_to_have_count(0)
    before = place(page)
    still(rule(page))
    x, y = middle(rule(page))
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 15, y, steps=4)
    page.mouse.up()
    dragged = place(page)
    assert dragged > before
    rule(page).press("ArrowRight")
    assert place(page) > dragged
    read_again(page)
    expect(page.locator("#read-again-said")).to_contain_text("Page read again")
    with Store.open(Settings.load(project).store_address) as store:
        [override] = store.layout_overrides.history(WORK, number)
        assert override.layout is not None
        assert len(override.layout.rules) == 7

    expect(page.locator("body")).to_have_attribute("data-ready", "1")
    page.locator("#layout-open").click()
    expect(rule(page)).to_be_attached()
    with page.expect_navigation():  # what the first reading said is still there
        page.locator("#layout-back").click()
    expect(page.locator("#read-again-said")).to_contain_text("0 without a place")
    assert set_layouts(project, number) == [True, False]
    with Store.open(Settings.load(project).store_address) as store:
        assert "WYG0103-0192c" not in {page for page, _ in store.layout_overrides.of_work(WORK)}


@pytest.mark.parametrize("number", [2])
def test_the_second_of_two_who_mend_a_page_is_told_and_overwrites_nothing(
    page: Page, browser: Browser, address: str, project: Path, number: int
) -> None:
    """Both look at the page as it was found; one is quicker."""
    with page_shown(browser, address, number) as other:
        for each in (page, other):
            begin(each)
            expect(each.locator("#layout-image option")).not_to_have_count(0)
        read_again(page)
        expect(page.locator("#read-again-said")).to_contain_text("Page read again")
        read_again(other)
        expect(other.locator("#layout-said")).to_contain_text(
            "corrected this page meanwhile. Your correction was not saved."
        )
        assert set_layouts(project, number) == [True]
        other.get_by_role("button", name="Reload the page").click()
        expect(other.locator("#layout-said")).to_be_empty()


def test_nothing_can_be_set_right_before_it_is_known_what_others_set_right(looking: Page) -> None:
    answers = held(looking, "**/layout-overrides")
    looking.locator("#layout-open").click()
    first = asked(looking, answers, 1)
    for control in looking.locator("#layout-tools").locator("button, input, select").all():
        expect(control).to_be_disabled()
    first.abort()
    expect(looking.locator("#layout-said")).to_contain_text("does not answer")
    expect(looking.locator("#layout-read-again")).to_be_disabled()
    looking.get_by_role("button", name="Try again").click()
    asked(looking, answers, 2).continue_()
    expect(looking.locator("#layout-read-again")).to_be_enabled()
    expect(looking.locator("#layout-said")).to_be_empty()


@pytest.mark.parametrize("number", [4])
def test_what_was_set_though_its_answer_was_lost_is_not_taken_for_somebody_elses(
    page: Page, project: Path, number: int
) -> None:
    lost: list[int] = []

    def lose(route: Route) -> None:
        if route.request.method == "POST" and not lost:
            lost.append(route.fetch().status)
            route.abort()
        else:
            route.continue_()

    page.route("**/layout-overrides", lose)
    begin(page)
    read_again(page)
    expect(page.locator("#layout-said")).to_contain_text("does not answer")
    assert lost == [201]
    read_again(page)
    expect(page.locator("#read-again-said")).to_contain_text("Page read again")
    assert set_layouts(project, number) == [True]


@pytest.mark.parametrize("number", [5])
def test_what_was_drawn_outlives_a_page_that_is_loaded_anew(page: Page, project: Path, number: int) -> None:
    """As where the session ended in the middle: the browser comes back by way of the log-in."""
    drawn = begin(page)
    page.reload()
    expect(page.locator("#layout-said")).to_contain_text("here again")
    assert place(page) == pytest.approx(drawn)
    read_again(page)
    expect(page.locator("#read-again-said")).to_contain_text("Page read again")
    assert set_layouts(project, number) == [True]
    page.reload()
    expect(page.locator("body")).to_have_attribute("data-ready", "1")
    expect(page.locator("#layout-tools")).to_be_hidden()
