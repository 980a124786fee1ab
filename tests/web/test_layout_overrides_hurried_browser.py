"""A page set right by somebody who is quicker than the server, acts twice, leaves in the middle, or thinks again."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from proof.settings.config import Settings
from proof.store import Store
from tests.conftest import PATIENCE
from tests.web.served import serving
from tests.web.waiting import still

JOB = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def page(project: Path, browser: Browser) -> Iterator[Page]:
    """The first page of the sample in a browser."""
    with serving(project) as address, Store.open(Settings.load(project).store_address) as store:
        [work] = store.queue.works()
        opened = browser.new_page(viewport={"width": 1300, "height": 900}, locale="en")
        said: list[str] = []
        opened.on("pageerror", lambda error: said.append(str(error)))
        opened.goto(f"{address}/works/{work.name}/pages/1")
        expect(opened.locator("body")).to_have_attribute("data-ready", "1")
        yield opened
        opened.close()
        assert said == []


def held(page: Page, what: str) -> list[Route]:
    """What is asked for there, in its order; none is answered before the test says so."""
    routes: list[Route] = []

    def keep(route: Route) -> None:
        routes.append(route)

    page.route(what, keep)
    return routes


def come(page: Page, routes: list[Route], many: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while len(routes) < many:
        assert time.monotonic() < deadline
        page.wait_for_timeout(20)


def rule(page: Page) -> Locator:
    return page.locator('[data-handle="rule-3"]')


def place(page: Page) -> float:
    return float(rule(page).get_attribute("x1") or "nan")


def set_layouts(project: Path) -> list[bool]:
    """Of all that was set for the page, whether it has a layout."""
    with Store.open(Settings.load(project).store_address) as store:
        [work] = store.queue.works()
        return [one.layout is not None for one in store.layout_overrides.history(work.name, 1)]


def begin(page: Page) -> float:
    """Opens the tools and moves a rule."""
    page.locator("#layout-open").click()
    rule(page).press("ArrowRight")
    return place(page)


def said(state: str, **more: object) -> str:
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


def test_nothing_can_be_set_right_before_it_is_known_what_others_set_right(page: Page) -> None:
    answers = held(page, "**/layout-overrides")
    page.locator("#layout-open").click()
    come(page, answers, 1)
    for control in page.locator("#layout-tools").locator("button, input, select").all():
        expect(control).to_be_disabled()
    answers[0].abort()
    expect(page.locator("#layout-said")).to_contain_text("does not answer")
    expect(page.locator("#layout-read-again")).to_be_disabled()
    page.get_by_role("button", name="Try again").click()
    come(page, answers, 2)
    answers[1].continue_()
    expect(page.locator("#layout-read-again")).to_be_enabled()
    expect(page.locator("#layout-said")).to_be_empty()


def test_an_answer_that_comes_late_undoes_nothing_that_was_dragged_since(page: Page) -> None:
    answers = held(page, "**/layout-overrides")
    for _ in range(3):  # opened, shut, opened
        page.locator("#layout-open").click()
    come(page, answers, 2)
    answers[1].continue_()
    before = place(page)
    rule(page).press("ArrowRight")
    moved = place(page)
    assert moved > before
    with page.expect_response("**/layout-overrides") as late:
        answers[0].continue_()
    late.value.finished()
    page.evaluate("fetch('/healthz').then(answer => answer.text())")  # what was there before this has been read
    assert place(page) == moved


def test_what_was_set_though_its_answer_was_lost_is_not_taken_for_somebody_elses(page: Page, project: Path) -> None:
    lost: list[int] = []

    def lose(route: Route) -> None:
        if route.request.method == "POST" and not lost:
            lost.append(route.fetch().status)
            route.abort()
        else:
            route.continue_()

    page.route("**/layout-overrides", lose)
    begin(page)
    page.locator("#layout-read-again").click()
    expect(page.locator("#layout-said")).to_contain_text("does not answer")
    assert lost == [201]
    page.locator("#layout-read-again").click()
    expect(page.locator("#read-again-said")).to_contain_text("Page read again")
    assert set_layouts(project) == [True]


def test_what_was_drawn_outlives_a_page_that_is_loaded_anew(page: Page, project: Path) -> None:
    """As where the session ended in the middle: the browser comes back by way of the log-in."""
    drawn = begin(page)
    page.reload()
    expect(page.locator("#layout-said")).to_contain_text("here again")
    assert place(page) == pytest.approx(drawn)
    page.locator("#layout-read-again").click()
    expect(page.locator("#read-again-said")).to_contain_text("Page read again")
    assert set_layouts(project) == [True]
    page.reload()
    expect(page.locator("body")).to_have_attribute("data-ready", "1")
    expect(page.locator("#layout-tools")).to_be_hidden()


def test_nothing_is_drawn_while_the_page_is_read_since_it_would_be_lost(page: Page) -> None:
    page.route("**/read-again", lambda route: route.fulfill(status=202, body=said("reading", askers=["x"])))
    answers = held(page, f"**/{JOB}")
    drawn = begin(page)
    page.locator("#layout-read-again").click()
    come(page, answers, 1)
    for control in page.locator("#layout-tools > button, #layout-tools > label > *").all():
        expect(control).to_be_disabled()
    rule(page).press("ArrowRight")
    assert place(page) == drawn


def test_a_server_that_is_away_for_a_moment_is_asked_again_and_that_is_told(page: Page) -> None:
    page.route("**/read-again", lambda route: route.fulfill(status=202, body=said("reading", askers=["x"])))
    answers = held(page, f"**/{JOB}")
    begin(page)
    page.locator("#layout-read-again").click()
    come(page, answers, 1)
    answers[0].abort()
    expect(page.locator("#layout-said")).to_contain_text("it is asked again")
    come(page, answers, 2)
    answers[1].fulfill(status=502, body="<p>bad gateway")
    come(page, answers, 3)
    answers[2].fulfill(body=said("failed", reason="a.png: truncated", trouble="image", told="The image is damaged."))
    expect(page.locator("#layout-said")).to_contain_text("The page could not be read: The image is damaged.")
    expect(page.locator("#layout-said details")).to_contain_text("a.png: truncated")
    expect(page.locator("#layout-read-again")).to_be_enabled()


def test_a_reading_is_taken_back_and_the_page_stands_as_it_was(page: Page) -> None:
    page.route("**/read-again", lambda route: route.fulfill(status=202, body=said("waiting", askers=["x"])))
    polls = held(page, f"**/{JOB}")
    page.route(f"**/{JOB}/stop", lambda route: route.fulfill(body=said("reading")))
    begin(page)
    page.locator("#layout-read-again").click()
    come(page, polls, 1)
    page.locator("#layout-said").get_by_role("button", name="Take it back").click()
    expect(page.locator("#layout-said")).to_contain_text("next safe place")
    polls[0].fulfill(body=said("waiting", askers=["x"]))  # asked for before it was taken back
    come(page, polls, 2)
    expect(page.locator("#layout-said")).to_contain_text("next safe place")
    polls[1].fulfill(body=said("stopped"))
    expect(page.locator("#layout-said")).to_contain_text("Taken back: the page stands as it was")
    expect(page.locator("#layout-read-again")).to_be_enabled()


def test_an_image_that_is_chosen_takes_no_layout_that_was_drawn_on_another(page: Page) -> None:
    drawn = begin(page)
    page.locator("#layout-image").select_option("WYG0103-0192d.png")
    expect(page.locator("#layout-said")).to_contain_text("read the page again with the other one first")
    rule(page).press("ArrowRight")
    assert place(page) == drawn
    with page.expect_request(
        lambda request: request.method == "POST" and request.url.endswith("/layout-overrides")
    ) as sent:
        page.locator("#layout-read-again").click()
    body = sent.value.post_data_json or {}
    assert (body["layout"], body["image"]) == (None, "WYG0103-0192d.png")


# the image is zoomed and moved meanwhile


def spot(place: Locator) -> tuple[float, float]:
    box = place.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def height(page: Page) -> float:
    box = rule(page).bounding_box()
    assert box is not None
    return box["height"]


def closer(page: Page) -> None:
    """Turns the wheel, and waits for what comes of it: it begins when the browser has heard of it."""
    before = height(page)
    page.mouse.wheel(0, -400)
    deadline = time.monotonic() + PATIENCE
    while height(page) == before:
        assert time.monotonic() < deadline
        page.wait_for_timeout(20)
    still(rule(page))


def ready(page: Page) -> tuple[float, float]:
    """Opens the tools; gives a place in the middle of a column, away from all lines."""
    page.locator("#layout-open").click()
    expect(rule(page)).to_be_attached()
    still(rule(page))
    (one, y), (other, _) = spot(rule(page)), spot(page.locator('[data-handle="rule-4"]'))
    return (one + other) / 2, y


def test_the_image_is_zoomed_and_moved_while_a_layout_is_mended(page: Page) -> None:
    x, y = ready(page)
    drawn, tall = place(page), height(page)
    page.mouse.move(x, y)
    closer(page)
    assert height(page) > 1.1 * tall
    was = spot(rule(page))
    middle = spot(page.locator("#viewer"))
    for button, key in (("left", None), ("middle", None), ("left", " ")):
        start = (x, y) if key is None else spot(rule(page))  # held, the space bar moves the image by its lines, too
        start = (min(max(start[0], middle[0] - 200), middle[0] + 200), middle[1])
        if key:
            page.locator("#viewer").focus()
            page.keyboard.down(key)
        elif button == "left":
            start = ((spot(rule(page))[0] + spot(page.locator('[data-handle="rule-4"]'))[0]) / 2, middle[1])
        page.mouse.move(*start)
        page.mouse.down(button=button)  # type: ignore[arg-type]
        page.mouse.move(start[0] - 30, start[1] + 20, steps=5)
        page.mouse.up(button=button)  # type: ignore[arg-type]
        if key:
            page.keyboard.up(key)
        still(rule(page))
        now = spot(rule(page))
        assert now[0] < was[0] - 10, (button, key)
        was = now
    assert place(page) == drawn


def test_a_line_that_is_taken_beside_it_does_not_jump_and_is_set_more_exactly_when_close(page: Page) -> None:
    ready(page)
    drawn = place(page)
    x, y = spot(rule(page))
    page.mouse.move(x + 4, y)
    page.mouse.down()
    page.mouse.move(x + 5, y)
    page.mouse.move(x + 4, y)
    page.mouse.up()
    assert place(page) == pytest.approx(drawn, abs=0.2)

    def step() -> float:
        before = place(page)
        x, y = spot(rule(page))
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 3, y, steps=3)
        page.mouse.up()
        return place(page) - before

    far = step()
    for _ in range(3):
        closer(page)
    assert 0 < step() < 0.7 * far
