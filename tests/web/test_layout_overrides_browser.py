"""A page set right in a real Chromium: a rule dragged, the page read again, and back to what was found; also by
somebody who is quicker than the server, acts twice, leaves in the middle, or thinks again."""

from __future__ import annotations

import json
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
from tests.web.served import serving
from tests.web.waiting import box_of, middle, still

JOB = "0123456789abcdef0123456789abcdef"


@contextmanager
def page_shown(browser: Browser, address: str, number: int) -> Iterator[Page]:
    """A page of the sample in a browser; nothing goes wrong in its scripts."""
    opened, said = browser.new_page(viewport={"width": 1300, "height": 900}, locale="en"), list[str]()
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.goto(f"{address}/works/{WORK}/pages/{number}")
    expect(opened.locator("body")).to_have_attribute("data-ready", "1")
    yield opened
    opened.close()
    assert said == []


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
        return [one.layout is not None for one in store.layout_overrides.history(WORK, number)]


def begin(page: Page) -> float:
    """Opens the tools and moves a rule."""
    page.locator("#layout-open").click()
    rule(page).press("ArrowRight")
    return place(page)


def read_again(page: Page) -> None:
    page.locator("#layout-read-again").click()


def said(state: str, **more: object) -> str:
    """An answer about a reading."""
    body: dict[str, object] = {
        "job": JOB,
        "state": state,
        "askers": [],
        "reason": "",
        "trouble": None,
        "told": "",
        "outcome": None,
    }
    return json.dumps(body | more)


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
        for one in (page, other):
            begin(one)
            expect(one.locator("#layout-image option")).not_to_have_count(0)
        read_again(page)
        expect(page.locator("#read-again-said")).to_contain_text("Page read again")
        read_again(other)
        expect(other.locator("#layout-said")).to_contain_text("set this page right meanwhile. Yours was not written.")
        assert set_layouts(project, number) == [True]
        other.get_by_role("button", name="Reload the page").click()
        expect(other.locator("#layout-said")).to_be_empty()


@pytest.mark.parametrize("number", [3])
def test_a_reading_that_a_server_started_anew_knows_nothing_of_is_asked_for_again(
    page: Page, project: Path, number: int
) -> None:
    """As after a stop in the middle: the answer to the first request names a reading that is gone."""
    begun: list[str] = []
    person = page.locator("body").get_attribute("data-person")

    def gone(route: Route) -> None:
        begun.append(route.request.url)
        if len(begun) > 1:
            route.continue_()
        else:
            route.fulfill(status=202, body=said("reading", askers=[person]), content_type="application/json")

    page.route("**/read-again", gone)
    begin(page)
    with page.expect_response(lambda answer: answer.url.endswith(JOB)) as answered:
        read_again(page)
    assert answered.value.status == 404
    expect(page.locator("#read-again-said")).to_contain_text("Page read again")
    assert len(begun) == 2
    assert set_layouts(project, number) == [True]


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


def test_an_answer_that_comes_late_undoes_nothing_that_was_dragged_since(looking: Page) -> None:
    answers = held(looking, "**/layout-overrides")
    for _ in range(3):  # opened, shut, opened
        looking.locator("#layout-open").click()
    asked(looking, answers, 2).continue_()
    before = place(looking)
    rule(looking).press("ArrowRight")
    moved = place(looking)
    assert moved > before
    with looking.expect_response("**/layout-overrides") as late:
        answers[0].continue_()
    late.value.finished()
    looking.evaluate("fetch('/healthz').then(answer => answer.text())")  # what was there before this has been read
    assert place(looking) == moved


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


@pytest.mark.parametrize("number", [6])
def test_nothing_is_drawn_while_the_page_is_read_and_a_server_that_is_away_for_a_moment_is_asked_again(
    page: Page,
) -> None:
    page.route("**/read-again", lambda route: route.fulfill(status=202, body=said("reading", askers=["x"])))
    answers = held(page, f"**/{JOB}")
    told = page.locator("#layout-said")
    drawn = begin(page)
    read_again(page)
    first = asked(page, answers, 1)
    for control in page.locator("#layout-tools > button, #layout-tools > label > *").all():
        expect(control).to_be_disabled()
    rule(page).press("ArrowRight")
    assert place(page) == drawn, "it would be lost"
    first.abort()
    expect(told).to_contain_text("it is asked again")
    asked(page, answers, 2).fulfill(status=502, body="<p>bad gateway")
    failed = said("failed", reason="a.png: truncated", trouble="image", told="The image is damaged.")
    asked(page, answers, 3).fulfill(body=failed)
    expect(told).to_contain_text("The page could not be read: The image is damaged.")
    expect(told.locator("details")).to_contain_text("a.png: truncated")
    expect(page.locator("#layout-read-again")).to_be_enabled()


@pytest.mark.parametrize("number", [7])
def test_a_reading_is_taken_back_and_the_page_stands_as_it_was(page: Page) -> None:
    page.route("**/read-again", lambda route: route.fulfill(status=202, body=said("waiting", askers=["x"])))
    polls, told = held(page, f"**/{JOB}"), page.locator("#layout-said")
    page.route(f"**/{JOB}/stop", lambda route: route.fulfill(body=said("reading")))
    begin(page)
    read_again(page)
    first = asked(page, polls, 1)
    told.get_by_role("button", name="Take it back").click()
    expect(told).to_contain_text("next safe place")
    first.fulfill(body=said("waiting", askers=["x"]))  # asked for before it was taken back
    second = asked(page, polls, 2)
    expect(told).to_contain_text("next safe place")
    second.fulfill(body=said("stopped"))
    expect(told).to_contain_text("Taken back: the page stands as it was")
    expect(page.locator("#layout-read-again")).to_be_enabled()


@pytest.mark.parametrize("number", [8])
def test_an_image_that_is_chosen_takes_no_layout_that_was_drawn_on_another(page: Page) -> None:
    drawn = begin(page)
    page.locator("#layout-image").select_option("WYG0103-0192d.png")
    expect(page.locator("#layout-said")).to_contain_text("read the page again with the other one first")
    rule(page).press("ArrowRight")
    assert place(page) == drawn
    with page.expect_request(lambda one: one.method == "POST" and one.url.endswith("/layout-overrides")) as sent:
        read_again(page)
    body = sent.value.post_data_json or {}
    assert (body["layout"], body["image"]) == (None, "WYG0103-0192d.png")


# the image is zoomed and moved meanwhile


def height(page: Page) -> float:
    return box_of(rule(page))["height"]


def closer(page: Page) -> None:
    """Turns the wheel, and waits for what comes of it: it begins when the browser has heard of it."""
    before = height(page)
    page.mouse.wheel(0, -400)
    comes(page, lambda: height(page) != before)
    still(rule(page))


def ready(page: Page) -> tuple[float, float]:
    """Opens the tools; gives a place in the middle of a column, away from all lines."""
    page.locator("#layout-open").click()
    expect(rule(page)).to_be_attached()
    still(rule(page))
    (one, y), (other, _) = middle(rule(page)), middle(page.locator('[data-handle="rule-4"]'))
    return (one + other) / 2, y


def test_the_image_is_zoomed_and_moved_while_a_layout_is_mended(looking: Page) -> None:
    page = looking
    x, y = ready(page)
    drawn, tall = place(page), height(page)
    page.mouse.move(x, y)
    closer(page)
    assert height(page) > 1.1 * tall
    was = middle(rule(page))
    center = middle(page.locator("#viewer"))
    for button, key in (("left", None), ("middle", None), ("left", " ")):
        start = (x, y) if key is None else middle(rule(page))  # held, the space bar moves the image by its lines, too
        start = (min(max(start[0], center[0] - 200), center[0] + 200), center[1])
        if key:
            page.locator("#viewer").focus()
            page.keyboard.down(key)
        elif button == "left":
            start = ((middle(rule(page))[0] + middle(page.locator('[data-handle="rule-4"]'))[0]) / 2, center[1])
        page.mouse.move(*start)
        page.mouse.down(button=button)  # type: ignore[arg-type]
        page.mouse.move(start[0] - 30, start[1] + 20, steps=5)
        page.mouse.up(button=button)  # type: ignore[arg-type]
        if key:
            page.keyboard.up(key)
        still(rule(page))
        now = middle(rule(page))
        assert now[0] < was[0] - 10, (button, key)
        was = now
    assert place(page) == drawn


def test_a_line_that_is_taken_beside_it_does_not_jump_and_is_set_more_exactly_when_close(looking: Page) -> None:
    page = looking
    ready(page)
    drawn = place(page)
    x, y = middle(rule(page))
    page.mouse.move(x + 4, y)
    page.mouse.down()
    page.mouse.move(x + 5, y)
    page.mouse.move(x + 4, y)
    page.mouse.up()
    assert place(page) == pytest.approx(drawn, abs=0.2)

    def step() -> float:
        before = place(page)
        x, y = middle(rule(page))
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 3, y, steps=3)
        page.mouse.up()
        return place(page) - before

    far = step()
    for _ in range(3):
        closer(page)
    assert 0 < step() < 0.7 * far
