"""Several people in a real Chromium: logging in, a decision with a name, logging out, another role, the way back."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

from proof.languages import LANGUAGES
from proof.store import Store
from proof.store.accounts import Role
from tests.web.drawn import SCRIPT, WORK, fill, settings_in

ROOT = Path(__file__).resolve().parents[2]
SHOTS = ROOT / "out" / "screenshots"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
PASSWORD = "四庫 full of 書"  # noqa: S105
PEOPLE = {"甲": Role.ADMINISTRATOR, "乙": Role.PROOFREADER, SCRIPT: Role.PROOFREADER, "丁": Role.READER}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless Chromium."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with four people."""
    folder = tmp_path_factory.mktemp("people")
    settings = settings_in(folder)
    with Store.open(settings.store_address) as store:
        fill(store, folder)
        for name, role in PEOPLE.items():
            store.accounts.add(name, role, PASSWORD)
    return folder


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """`proof serve --auth` in a process of its own."""
    command = [sys.executable, "-m", "proof", "serve", "--auth", "--config", str(folder), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)  # noqa: S603
    assert process.stdout is not None
    yield process.stdout.readline().split()[-1].rstrip("/")
    process.kill()
    process.wait()


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


def settled(page: Page) -> None:
    """Waits until nothing is on its way to the server."""
    for _ in range(200):
        if page.evaluate("Object.keys(localStorage).every(key => !key.startsWith('proof:'))"):
            return
        page.wait_for_timeout(30)
    raise AssertionError("a decision was not sent")


def test_somebody_logs_in_decides_under_their_name_and_logs_out(page: Page, address: str, folder: Path) -> None:
    before = decided(folder)
    page.goto(f"{address}/works/{WORK}/desk")
    expect(page).to_have_url(f"{address}/login?next=/works/{WORK}/desk")
    log_in(page, "乙", "wrong password")
    expect(page.get_by_role("alert")).to_have_text("The name or the password is wrong.")
    log_in(page, "乙")
    expect(page.locator("#flag")).to_be_visible()
    page.keyboard.press("t")
    settled(page)
    assert decided(folder) == [*before, ("乙", "take")]
    page.get_by_role("link", name="乙").click()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    page.go_back()
    page.goto(f"{address}/works/{WORK}/")
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()


def test_what_was_decided_as_the_session_ended_is_sent_after_logging_in_again(
    page: Page, address: str, folder: Path
) -> None:
    page.goto(f"{address}/works/{WORK}/desk")
    log_in(page, "乙")
    expect(page.locator("#flag")).to_be_visible()
    page.wait_for_timeout(300)
    before = decided(folder)
    with Store.open(folder / "proof.sqlite") as store:
        store.accounts.end_sessions(store.accounts.named("乙").number)
    page.keyboard.press("c")
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    assert decided(folder) == before
    log_in(page, "乙")
    expect(page.locator("#flag")).to_be_visible()
    settled(page)
    assert decided(folder) == [*before, ("乙", "copy")]


def test_nobody_sends_what_another_decided_in_the_same_browser(page: Page, address: str, folder: Path) -> None:
    page.goto(f"{address}/works/{WORK}/desk")
    log_in(page, "乙")
    expect(page.locator("#flag")).to_be_visible()
    page.wait_for_timeout(300)
    before = decided(folder)
    with Store.open(folder / "proof.sqlite") as store:
        store.accounts.end_sessions(store.accounts.named("乙").number)
    page.keyboard.press("u")
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    log_in(page, "甲")
    expect(page.locator("#flag")).to_be_visible()
    page.wait_for_timeout(500)
    assert decided(folder) == before
    page.goto(f"{address}/account")
    page.get_by_role("button", name="Log out").click()
    page.goto(f"{address}/works/{WORK}/desk")
    log_in(page, "乙")
    expect(page.locator("#flag")).to_be_visible()
    settled(page)
    assert decided(folder) == [*before, ("乙", "unsure")]


def test_a_reader_looks_at_all_and_finds_no_way_to_decide(page: Page, address: str, folder: Path) -> None:
    before = decided(folder)
    page.goto(f"{address}/works/{WORK}/desk?state=")
    log_in(page, "丁")
    expect(page.locator("#flag")).to_be_visible()
    number = page.evaluate("document.body.dataset.flag")
    for key in ("t", "k", "c", "1", "z", "Enter"):
        page.keyboard.press(key)
    page.locator(".tile.seen").click()
    assert page.evaluate("document.body.dataset.flag") == number
    expect(page.locator("#panel .acts")).to_be_hidden()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.body.dataset.flag") != number
    page.goto(f"{address}/works/{WORK}/pairs")
    expect(page.locator("#stroke .acts")).to_be_hidden()
    page.goto(f"{address}/works/{WORK}/pages/1")
    expect(page.locator("#state")).to_be_disabled()
    expect(page.locator("#state")).to_have_value("not proofread")
    page.locator(".cell").first.click()
    expect(page.locator("#mend-reading")).to_be_disabled()
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


def test_markup_in_a_name_shows_as_text_where_it_decided(page: Page, address: str, folder: Path) -> None:
    page.goto(f"{address}/works/{WORK}/desk")
    log_in(page, SCRIPT)
    expect(page.locator("#flag")).to_be_visible()
    page.keyboard.press("s")
    settled(page)
    page.goto(f"{address}/works/{WORK}/history")
    expect(page.locator("#events b").first).to_have_text(SCRIPT)
    expect(page.locator("header .who")).to_have_text(SCRIPT)
    assert page.evaluate("window.broken") is None


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_pages_about_people_hinder_no_screen_reader(
    browser: Browser, address: str, language: str, theme: str
) -> None:
    """axe-core finds nothing serious; the pictures are to be looked at."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    context = browser.new_context(viewport={"width": 1440, "height": 900}, locale=language, color_scheme=theme)  # type: ignore[arg-type]
    page = context.new_page()
    for name, path in {"login": "/people", "people": None, "account": "/account"}.items():
        if path:
            page.goto(address + path)
        else:
            page.locator("#name").fill("甲")
            page.locator("#password").fill(PASSWORD)
            page.keyboard.press("Enter")
            expect(page.locator(".accounts")).to_be_visible()
        page.screenshot(path=SHOTS / f"{name}-{language}-{theme}.png")
        found = Axe().run(page)
        grave = [one for one in found.response["violations"] if one["impact"] in ("serious", "critical")]
        assert grave == [], json.dumps(grave, indent=1, ensure_ascii=False)[:3000]
    context.close()
