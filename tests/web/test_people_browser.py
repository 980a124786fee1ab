"""Several people in a real Chromium: logging in, a decision with a name, logging out, another role, the way back."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from proof.store import Store
from proof.store.accounts import Role
from tests.web.drawn import SCRIPT, WORK, fill, settings_in
from tests.web.served import serving
from tests.web.waiting import passed, photographed, saved, shown

PASSWORD = "四庫 full of 書"  # noqa: S105
PEOPLE = {"甲": Role.ADMINISTRATOR, "乙": Role.PROOFREADER, SCRIPT: Role.PROOFREADER, "丁": Role.READER}


@pytest.fixture(scope="module")
def with_people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with four people, which nobody changes."""
    folder = tmp_path_factory.mktemp("people")
    settings = settings_in(folder)
    with Store.open(settings.store_address) as store:
        fill(store, folder)
        for name, role in PEOPLE.items():
            store.accounts.add(name, role, PASSWORD)
    return folder


@pytest.fixture
def folder(with_people: Path, tmp_path: Path) -> Path:
    """A copy of that project: what one test says of a page is not there for another."""
    return shutil.copytree(with_people, tmp_path / "project")


@pytest.fixture
def address(folder: Path) -> Iterator[str]:
    """`proof serve --auth` in a process of its own."""
    with serving(folder, "--auth") as address:
        yield address


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A browser that nobody has logged in with; its scripts complain of nothing."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, locale="en-GB")
    page, said = context.new_page(), list[str]()
    page.on("pageerror", lambda error: said.append(str(error)))
    yield page
    context.close()
    assert said == []


def log_in(page: Page, name: str, password: str = PASSWORD) -> None:
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.keyboard.press("Enter")


def decided(folder: Path) -> list[tuple[str, str]]:
    with Store.open(folder / "proof.sqlite") as store:
        return [(one.person, one.verdict.value) for one in store.decisions.log(WORK, limit=1000)[::-1]]


def test_somebody_logs_in_decides_under_their_name_and_logs_out(page: Page, address: str, folder: Path) -> None:
    before = decided(folder)
    page.goto(f"{address}/works/{WORK}/desk")
    expect(page).to_have_url(f"{address}/login?next=/works/{WORK}/desk")
    log_in(page, "乙", "wrong password")
    expect(page.get_by_role("alert")).to_have_text("The name or the password is wrong.")
    log_in(page, "乙")
    expect(page.locator("#flag")).to_be_visible()
    page.keyboard.press("t")
    saved(page)
    assert decided(folder) == [*before, ("乙", "take")]
    page.get_by_role("link", name="乙").click()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    page.go_back()
    page.goto(f"{address}/works/{WORK}/")
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()


def ends_session(folder: Path, name: str) -> Callable[[Route], None]:
    """What is asked comes when that person's session is over, and nothing comes so before it."""

    def end(route: Route) -> None:
        with Store.open(folder / "proof.sqlite") as store:
            store.accounts.end_sessions(store.accounts.named(name).number)
        route.continue_()

    return end


def test_what_was_decided_as_the_session_ended_is_sent_after_logging_in_again(
    page: Page, address: str, folder: Path
) -> None:
    page.goto(f"{address}/works/{WORK}/desk")
    log_in(page, "乙")
    expect(page.locator("#flag")).to_be_visible()
    before = decided(folder)
    page.route("**/decisions", ends_session(folder, "乙"), times=1)
    page.keyboard.press("c")
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    assert decided(folder) == before
    log_in(page, "乙")
    expect(page.locator("#flag")).to_be_visible()
    saved(page)
    assert decided(folder) == [*before, ("乙", "copy")]


def test_nobody_sends_what_another_decided_in_the_same_browser(page: Page, address: str, folder: Path) -> None:
    page.goto(f"{address}/works/{WORK}/desk")
    log_in(page, "乙")
    expect(page.locator("#flag")).to_be_visible()
    before = decided(folder)
    page.route("**/decisions", ends_session(folder, "乙"), times=1)
    page.keyboard.press("u")
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    log_in(page, "甲")
    expect(page.locator("#flag")).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert decided(folder) == before
    page.goto(f"{address}/account")
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    page.goto(f"{address}/works/{WORK}/desk")
    log_in(page, "乙")
    expect(page.locator("#flag")).to_be_visible()
    saved(page)
    assert decided(folder) == [*before, ("乙", "unsure")]


def test_a_reader_looks_at_all_and_finds_no_way_to_decide(page: Page, address: str, folder: Path) -> None:
    before = decided(folder)
    page.goto(f"{address}/works/{WORK}/desk?state=")
    log_in(page, "丁")
    expect(page.locator("#flag")).to_be_visible()
    number = shown(page)
    for key in ("t", "k", "c", "1", "z", "Enter"):
        page.keyboard.press(key)
    expect(page.locator(".tile.seen")).to_be_disabled()
    assert shown(page) == number
    expect(page.locator("#panel .acts")).to_be_hidden()
    page.keyboard.press("ArrowRight")
    passed(page, number)
    page.goto(f"{address}/works/{WORK}/pairs")
    expect(page.locator("#stroke .acts")).to_be_hidden()
    page.goto(f"{address}/works/{WORK}/pages/1")
    expect(page.locator("#state")).to_be_disabled()
    expect(page.locator("#state")).to_have_value("not proofread")
    page.locator(".cell").first.click()
    expect(page.locator("#correct-reading")).to_be_disabled()
    page.goto(f"{address}/works/{WORK}/history")
    expect(page.get_by_role("button", name="take back")).to_have_count(0)
    expect(page.get_by_role("link", name="People")).to_have_count(0)
    assert decided(folder) == before


def test_the_administrator_adds_somebody_who_chooses_a_password(page: Page, address: str, folder: Path) -> None:
    page.goto(f"{address}/people")
    log_in(page, "甲")
    added = page.get_by_role("region", name="Add somebody").or_(page.locator("form.inline"))
    added.get_by_label("Name").fill("戊")
    page.get_by_role("button", name="Add").click()
    handed = page.locator("#handed").inner_text()
    expect(page.get_by_role("rowheader", name="戊")).to_be_visible()
    expect(page.get_by_role("rowheader", name=SCRIPT)).to_be_visible()
    assert page.evaluate("window.broken") is None
    page.goto(f"{address}/account")
    page.get_by_role("button", name="Log out").click()
    log_in(page, "戊", handed)
    expect(page.get_by_role("alert")).to_contain_text("Choose one of your own")
    page.get_by_label("Password now").fill(handed)
    page.get_by_label("New password").fill("a phrase of my own")
    page.get_by_label("Once more").fill("a phrase of my own")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("The password is changed")
    page.get_by_role("link", name="To the works").click()
    expect(page.locator("a.row").first).to_be_visible()


@dataclass
class Somebody:
    """A person at a browser of their own."""

    page: Page
    name: str

    def opens(self, where: str) -> Page:
        self.page.goto(where)
        if "/login" in self.page.url:
            log_in(self.page, self.name)
        expect(self.page.locator("#state")).to_be_visible()
        return self.page


@pytest.fixture
def three(browser: Browser) -> Iterator[list[Somebody]]:
    """Three browsers that share nothing."""
    contexts = [browser.new_context(viewport={"width": 1366, "height": 768}, locale="en-GB") for _ in range(3)]
    yield [Somebody(context.new_page(), name) for context, name in zip(contexts, ("乙", "甲", "丁"), strict=True)]
    for context in contexts:
        context.close()


def says(page: Page, state: str) -> int:
    """Says where a page stands; gives the status of the answer."""
    with page.expect_response("**/states") as answer:
        page.locator("#state").select_option(state)
    return answer.value.status


def test_validation_is_a_queue_of_its_own_with_who_proofread_a_page_and_where_one_differs(
    three: list[Somebody], address: str
) -> None:
    """R by the second person marked the page as theirs, and then refused their validation; who looked at a page before
    another marked it is told, and looks again."""
    first, second, _reader = three
    other = second.opens(f"{address}/works/{WORK}/pages/1")
    one = first.opens(f"{address}/works/{WORK}/pages/1")
    for number in (1, 2):
        one.goto(f"{address}/works/{WORK}/pages/{number}")
        assert says(one, "proofread") == 201
        expect(one.locator("#ask-page")).to_contain_text("You proofread this page; someone else must validate it.")
        one.keyboard.press("r")
        expect(one.locator("#state")).to_have_value("proofread")
    one.keyboard.press("v")
    expect(one.locator("main .told")).to_contain_text("No page is left for you to validate")

    assert says(other, "validated") == 409
    expect(other.locator("#state")).to_have_value("not proofread")
    other.get_by_role("button", name="Reload the page").click()
    expect(other.locator("#state")).to_have_value("proofread")
    other.goto(f"{address}/works/{WORK}/validate")
    expect(other.locator("h1")).to_have_text("WYG0103-0192a")
    expect(other.locator("#ask-page")).to_contain_text("乙 proofread this page. Validate it?")
    photographed(other, "validate")
    other.keyboard.press("v")
    expect(other.locator("h1")).to_have_text("WYG0103-0193a")
    other.keyboard.press("r")
    expect(other.locator("#act-told")).to_contain_text("WYG0103-0193a: validated")
    expect(other.locator("h1")).to_have_text("WYG0103-0192a")
    one.goto(f"{address}/works/{WORK}/pages/2")
    expect(one.locator("#state")).to_have_value("validated")
