"""Between a decision and the server's word that it has it: whatever comes in between, none is lost, none is taken for
another's, and who decided is told."""

from __future__ import annotations

import re
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route, expect

from proof.model.flags import Kind
from proof.store import Store
from proof.store.decision_records import DecisionRequest, State, Verdict
from tests.build import decision_log, queued
from tests.conftest import PATIENCE
from tests.web.drawn import WORK
from tests.web.served import serving
from tests.web.waiting import middle, open_desk, passed, press, saved, shown

DECISIONS = "**/decisions"
DESK = f"/works/{WORK}/desk?kind=substitution&kind=insertion"


@pytest.fixture
def context(folder: Path, browser: Browser) -> Iterator[BrowserContext]:
    """One browser before the drawn pages."""
    with serving(folder) as address:
        opened = browser.new_context(viewport={"width": 1300, "height": 900}, locale="en", base_url=address)
        yield opened
        opened.close()


def desk(context: BrowserContext, address: str = DESK) -> Page:
    return open_desk(context.new_page(), address)


def stands(folder: Path) -> list[tuple[int, Verdict, State]]:
    """What the store has, in the order in which it was decided."""
    with Store.open(folder / "proof.sqlite") as store:
        return [(decision.flag, decision.verdict, decision.state) for decision in decision_log(store, WORK)[::-1]]


def decide(folder: Path, flag: int, verdict: Verdict, version: int, person: str = "王") -> None:
    """Somebody else decides."""
    with Store.open(folder / "proof.sqlite") as store:
        store.decisions.decide(DecisionRequest(WORK, flag, verdict, version, person, key=f"theirs-{flag}-{version}"))


def written(page: Page, folder: Path, flags: set[int]) -> None:
    """Waits until the store has decisions of these flags and no others; any page hears meanwhile what is routed."""
    deadline = time.monotonic() + PATIENCE
    while {flag for flag, _, _ in stands(folder)} != flags:
        assert time.monotonic() < deadline, stands(folder)
        page.wait_for_timeout(50)


def cut_off(context: BrowserContext) -> None:
    """No decision reaches the server, not even after its page."""
    context.route(DECISIONS, lambda route: route.abort())
    for page in context.pages:
        page.evaluate(
            "{ const all = fetch; window.fetch = (at, how) => how?.keepalive ? Promise.reject() : all(at, how) }"
        )


def test_what_waits_is_not_shown_again_as_open_when_the_desk_is_loaded_anew(
    context: BrowserContext, folder: Path
) -> None:
    page = desk(context)
    cut_off(context)
    first, second = press(page, "k"), press(page, "t")
    page.reload()
    expect(page.locator("#flag")).to_be_visible()
    assert shown(page) not in (first, second)
    page.keyboard.press("z")
    expect(page.locator("body")).to_have_attribute("data-flag", str(second))
    context.unroute(DECISIONS)
    saved(page)
    assert [entry[:2] for entry in stands(folder)] == [
        (first, Verdict.KEEP),
        (second, Verdict.TAKE),
        (second, Verdict.UNDO),
    ]


def test_what_a_closed_desk_could_not_send_goes_from_whatever_page_is_opened_next_and_who_was_quicker_is_told_there(
    context: BrowserContext, folder: Path
) -> None:
    page = desk(context)
    cut_off(context)
    theirs, sent = press(page, "k"), press(page, "k")
    page.close()
    assert stands(folder) == []
    decide(folder, theirs, Verdict.COPY, 0)
    other = context.new_page()
    other.goto(f"/works/{WORK}/pairs")
    waiting = other.locator("#waiting")
    expect(waiting).to_have_text("2 not saved yet: the server does not answer")
    context.unroute(DECISIONS)
    expect(other.locator("#unsent")).to_contain_text("王 was quicker: copy reads so. Your decision was not written.")
    written(other, folder, {theirs, sent})
    expect(waiting).to_have_count(0)
    other.get_by_role("link", name="Look again").click()
    expect(other.locator("body")).to_have_attribute("data-flag", str(theirs))
    assert [entry[:2] for entry in stands(folder)] == [(theirs, Verdict.COPY), (sent, Verdict.KEEP)]


def test_the_last_decisions_are_current_when_a_window_is_looked_at_again(context: BrowserContext, folder: Path) -> None:
    page = desk(context)
    trail = page.locator("#trail li")
    first = press(page, "k")
    press(page, "t")
    saved(page)
    current = shown(page)
    other = desk(context)
    assert shown(other) == current
    press(other, "t")
    saved(other)
    other.keyboard.press("z")
    expect(other.locator("body")).to_have_attribute("data-flag", str(current))
    press(other, "u")
    saved(other)
    decide(folder, first, Verdict.COPY, 1)
    page.evaluate("dispatchEvent(new Event('focus'))")
    expect(trail).to_have_text([re.compile("unsure"), re.compile("吿")])
    expect(page.locator("#stands")).to_contain_text("unsure")
    assert shown(page) == current
    page.reload()
    expect(trail).to_have_count(2)


def test_what_is_taken_back_or_decided_of_flags_that_are_not_listed_counts(
    context: BrowserContext, folder: Path
) -> None:
    page = desk(context, f"/works/{WORK}/desk?kind=insertion")
    first = press(page, "k")
    saved(page)
    page.reload()
    expect(page.locator("#progress-words")).to_contain_text("1 of")
    page.keyboard.press("z")
    expect(page.locator("body")).to_have_attribute("data-flag", str(first))
    expect(page.locator("#progress-words")).to_contain_text("0 of")
    with Store.open(folder / "proof.sqlite") as store:
        unlisted = next(flag for flag in queued(store, WORK) if flag.flag.kind is Kind.SUBSTITUTION)
    decide(folder, unlisted.number, Verdict.KEEP, 0)
    page.evaluate("dispatchEvent(new Event('focus'))")
    expect(page.locator("#progress-words")).to_contain_text("1 of")


def test_an_undo_whose_answer_is_lost_is_shown_all_the_same_and_stands_in_no_way(
    context: BrowserContext, folder: Path
) -> None:
    page = desk(context)
    first, second = press(page, "k"), press(page, "k")
    written(page, folder, {first, second})

    def answered_to_nobody(route: Route) -> None:
        route.fetch()
        route.abort()

    context.route("**/undo", answered_to_nobody)
    page.keyboard.press("z")
    expect(page.locator("#progress-words")).to_contain_text("1 of")
    context.unroute("**/undo")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("body")).to_have_attribute("data-flag", str(second))
    page.keyboard.press("u")
    expect(page.locator("#progress-words")).to_contain_text("2 of")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("z")
    expect(page.locator("#progress-words")).to_contain_text("1 of")
    expect(page.locator("#notices .notice")).to_have_count(0)
    deadline = time.monotonic() + PATIENCE
    while (verdicts := [verdict.value for flag, verdict, _ in stands(folder) if flag == second])[3:] != ["undo"]:
        assert time.monotonic() < deadline, verdicts
        page.wait_for_timeout(50)
    assert verdicts == ["keep", "undo", "unsure", "undo"]


def test_a_download_is_asked_for_again_while_the_server_is_busy(context: BrowserContext) -> None:
    page = context.new_page()
    page.goto(f"/works/{WORK}/progress")
    page.route("**/downloads/*", lambda route: route.fulfill(status=429, json={"message": "busy"}), times=2)
    with page.expect_download():
        page.get_by_role("button", name="Report", exact=True).click()


def test_nothing_is_taken_home_without_what_a_desk_has_still_to_send(context: BrowserContext) -> None:
    page = desk(context)
    cut_off(context)
    press(page, "t")
    other = context.new_page()
    other.goto(f"/works/{WORK}/progress")
    asked: list[str] = []
    other.on("request", lambda request: asked.append(request.url))
    report = other.get_by_role("button", name="Report", exact=True)
    report.click()
    expect(other.locator("#download")).to_contain_text("1 not saved yet")
    assert not any(address.endswith("/downloads") for address in asked)
    context.unroute(DECISIONS)
    saved(page)
    with other.expect_download() as download:
        report.click()
    with zipfile.ZipFile(download.value.path()) as archive:
        assert "report.html" in archive.namelist()
    with other.expect_download():  # it came by itself, and is there to be taken again
        other.get_by_role("link", name="Download them").click()


def double_click(page: Page, place: Locator) -> None:
    """A twentieth of a second from the first to the second, however long a busy browser takes over them."""
    x, y = middle(place)
    at = {"x": x, "y": y, "button": "left"}
    mouse, begun = page.context.new_cdp_session(page), time.time()
    for count in (1, 2):
        for kind in ("mousePressed", "mouseReleased"):
            how = {"type": kind, "clickCount": count, "timestamp": begun + count / 20}
            mouse.send("Input.dispatchMouseEvent", at | how)


def test_a_double_click_decides_one_flag(context: BrowserContext, folder: Path) -> None:
    page = desk(context)
    first = shown(page)
    double_click(page, page.locator(".tile.said"))
    second = passed(page, first)
    page.locator(".tile.seen").click()
    written(page, folder, {first, second})
    assert [verdict for _, verdict, _ in stands(folder)] == [Verdict.KEEP, Verdict.TAKE]
