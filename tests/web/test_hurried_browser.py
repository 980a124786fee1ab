"""A proofreader who is quicker than the server, in a real Chromium: nothing is decided twice, nothing fails unsaid."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from proof.model.result import PageResult
from proof.ocr.engine import EngineIdentity
from proof.store import PagePlace, RunInfo, Store, TextInfo
from proof.store.decision_records import Verdict
from proof.store.page_states import PageState
from proof.store.saving import CheckedResult
from tests.build import decision_log
from tests.conftest import PATIENCE
from tests.web.drawn import SCRIPT, WORK, fill, settings_in
from tests.web.waiting import until

AT = f"/works/{WORK}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project of twelve drawn pages: more flags of one pair than the history shows at once."""
    with Store.open(settings_in(tmp_path).store_address) as store:
        fill(store, tmp_path, pages=12)
    return tmp_path


def verdicts(folder: Path) -> list[Verdict]:
    """What the store has, in the order in which it was decided."""
    with Store.open(folder / "proof.sqlite") as store:
        return [decision.verdict for decision in decision_log(store, WORK)[::-1]]


def pairs(page: Page) -> Locator:
    page.goto(f"{AT}/pairs?text=告&image=吿")
    glyphs = page.locator(".glyph")
    expect(glyphs).to_have_count(12)
    expect(page.locator("#chosen")).to_have_text("12 chosen")  # from here on a key decides
    return glyphs


def held_back(page: Page, address: str) -> Callable[[], None]:
    """Requests to that address wait until what is returned is called."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(address, hold)

    def let_go() -> None:
        for route in held:
            route.continue_()
        page.unroute(address, hold)

    return let_go


def check_again(folder: Path, change: Callable[[PageResult], PageResult]) -> None:
    """A check that finds the first page otherwise, while it is looked at."""
    with Store.open(folder / "proof.sqlite") as store:
        texts = (TextInfo("text.txt", "5eed", "mirror", "traditional"),)
        run = store.begin_run(RunInfo(WORK, "大射儀", texts, EngineIdentity("null", "1", "", "")))
        for number, result in enumerate(list(store.results(work=WORK))):
            now = change(result) if not number else result
            store.save_pages(run, [CheckedResult(PagePlace(number, "text.txt", "卷十", f"{number + 1}a"), "", now)])
        store.finish_run(run, whole=True)


def test_what_is_corrected_on_a_page_of_before_a_check_is_written_to_no_other_character(
    page: Page, folder: Path
) -> None:
    page.goto(f"{AT}/pages/1")
    until(page, "document.body.dataset.ready === '1'")
    check_again(folder, lambda was: replace(was, columns=(replace(was.columns[0], source="上下"), *was.columns[1:])))
    page.locator(".cell", has_text="人").first.focus()
    page.keyboard.press("d")
    expect(page.locator("#notices .notice")).to_contain_text("no longer reads so")
    assert verdicts(folder) == []


def test_a_stroke_counts_for_its_pair_though_another_is_shown_by_then(page: Page, folder: Path) -> None:
    pairs(page)
    listed = page.locator("#pairlist button")
    struck = listed.filter(has_text="吿")
    other = listed.filter(has_text=SCRIPT)
    expect(struck).to_have_text("告→吿12")
    let_go = held_back(page, "**/decisions")
    with page.expect_request("**/decisions"):
        page.keyboard.press("t")
    other.click()
    expect(page.locator("#pair-image")).to_have_text(SCRIPT)
    let_go()
    expect(struck).to_have_text("告→吿0/12")
    expect(other).to_contain_text(f"{SCRIPT}12")
    expect(page.locator("#chosen")).to_have_text("12 chosen")

    page.keyboard.press("z")  # takes back what was struck, not what is shown
    expect(struck).to_have_text("告→吿12")
    expect(other).to_contain_text(f"{SCRIPT}12")
    assert verdicts(folder) == [Verdict.TAKE] * 12 + [Verdict.UNDO] * 12


def test_a_state_that_the_server_never_heard_is_not_shown_as_said_and_one_on_its_way_comes_without_its_page(
    page: Page, folder: Path
) -> None:
    page.goto(f"{AT}/pages/2")
    state = page.locator("#state")
    page.route("**/states", lambda route: route.abort())
    state.select_option("proofread")
    expect(page.locator("#notices")).to_contain_text("The server does not answer")
    expect(state).to_have_value("not proofread")
    page.unroute("**/states")
    let_go = held_back(page, "**/states")
    with page.expect_request("**/states"):
        state.select_option("proofread")
    expect(state).to_have_attribute("aria-busy", "true")
    page.goto(f"{AT}/pages/3")
    let_go()
    with Store.open(folder / "proof.sqlite") as store:
        deadline = time.monotonic() + PATIENCE
        while store.queue.pages(WORK)[1].state is not PageState.PROOFREAD:
            assert time.monotonic() < deadline
            page.wait_for_timeout(20)


def come(page: Page, let_go: Callable[[], None], address: str) -> None:
    """Lets an answer come to the page, and waits until the page has read it."""
    with page.expect_response(address) as late:
        let_go()
    late.value.finished()
    page.evaluate("fetch('/healthz').then(answer => answer.text())")


def test_a_stroke_that_is_quicker_than_the_glyphs_of_its_pair_decides_none_of_another(page: Page, folder: Path) -> None:
    pairs(page)
    let_go = held_back(page, "**/api/**/flags?*")
    with page.expect_request("**/api/**/flags?*"):
        page.locator("#pairlist button", has_text=SCRIPT).click()
    page.keyboard.press("t")
    expect(page.locator("#pair-image")).to_have_text(SCRIPT)
    come(page, let_go, "**/api/**/flags?*")
    expect(page.locator("#chosen")).to_have_text("12 chosen")
    assert verdicts(folder) == []
    page.keyboard.press("t")
    expect(page.locator("#outcome")).to_have_text("12 decided")
    with Store.open(folder / "proof.sqlite") as store:
        assert {decision.reading for decision in decision_log(store, WORK)} == {SCRIPT}


def test_a_reading_that_is_typed_while_another_is_on_its_way_or_was_not_written_is_not_lost(
    page: Page, folder: Path
) -> None:
    page.goto(f"{AT}/glyphs?text=公")
    glyphs, typed = page.locator("#grid .glyph"), page.locator("#typed")
    glyphs.nth(0).click()
    page.keyboard.press("e")
    page.keyboard.insert_text("松")
    let_go = held_back(page, "**/glyphs/corrections")
    with page.expect_request("**/glyphs/corrections"):
        page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    glyphs.nth(1).click()
    page.keyboard.press("e")
    page.keyboard.insert_text("訟")
    page.keyboard.press("Enter")  # too early: the first is still being written
    come(page, let_go, "**/glyphs/corrections")
    expect(page.locator("#act-told")).to_contain_text("公 → 松 · 1 decided")
    expect(typed).to_have_value("訟")
    expect(typed).to_be_visible()
    page.route("**/glyphs/corrections", lambda route: route.abort())
    page.keyboard.press("Enter")
    expect(page.locator("#outcome")).to_have_text("The server does not answer. Try again.")
    page.unroute("**/glyphs/corrections")
    page.keyboard.press("Enter")
    expect(page.locator("#act-told")).to_contain_text("公 → 訟 · 1 decided")
    expect(typed).to_be_hidden()
    assert verdicts(folder) == [Verdict.TYPED] * 2
