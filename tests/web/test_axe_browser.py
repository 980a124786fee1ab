"""axe-core finds nothing serious on any view, in any language, in either theme, whatever is open in it; and no view is
cut off on the screens that proofreaders have, nor too small for a finger."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from proof.images.load import sha256_of
from proof.locale.languages import LANGUAGES
from proof.model.flags import Evidence
from proof.model.notices import Notice, NoticeCode
from proof.model.result import CheckedColumn, PageResult, Status
from proof.store import Store
from proof.store.accounts import AccountActor, AccountChannel, Role
from proof.store.comments import CommentRequest, CommentState
from proof.store.decision_records import DecisionRequest, Verdict
from proof.store.page_states import PageState
from proof.verify.page_findings import unreadable
from proof.web import create_app
from tests.sampling import looks_wide
from tests.web.drawn import LINES, WORK, add_page, checked, fill, settings_in, wrong
from tests.web.served import serving
from tests.web.test_people import PASSWORD, PEOPLE
from tests.web.waiting import photographed, shown_whole

AT = f"/works/{WORK}"
BARE = "bare"
"""A work with one page, which has no image."""
UNREAD = "unread"
"""A work with one page, whose image is mirrored."""
VIEWS = {
    "works": "/",
    "search": "/search?q=公公",
    "for me": "/for-me",
    "people": "/people",
    "account": "/account",
    "queue": f"{AT}/",
    "desk": f"{AT}/desk",
    "desk, comment": f"{AT}/desk?flag=1",
    "desk, end": f"{AT}/desk?kind=layout",
    "pairs": f"{AT}/pairs",
    "glyphs, chosen": f"{AT}/glyphs?text=告&against=吿",
    "pages": f"{AT}/pages/",
    "page": f"{AT}/pages/2",
    "page, character": f"{AT}/pages/2",
    "page, comment": f"{AT}/pages/2",
    "page, layout": f"{AT}/pages/3",
    "page, column": f"{AT}/pages/2",
    "page, no image": f"/works/{BARE}/pages/4",
    "page, unread": f"/works/{UNREAD}/pages/5",
    "find": f"{AT}/find?q=公公",
    "progress": f"{AT}/progress",
    "export": f"{AT}/export",
    "replace": f"{AT}/replace?old=公&new=工",
    "certificate": f"{AT}/certificate",
    "history": f"{AT}/history",
    "changed by others": f"{AT}/changed",
    "unencoded": f"{AT}/unencoded",
    "reports": f"{AT}/reports",
    "two readers": f"{AT}/readings",
    "error": "/works/nothing/",
}
OPENED = {
    "page, column": "#column-open",
    "desk, comment": "[data-act=comment]",
    "glyphs, chosen": "#grid .glyph",
    "page, character": ".cell",
    "page, comment": "#comments-open",
    "page, layout": "#layout-open",
}
"""What is pressed before a view is looked at."""
LONGEST = "Bartholomäus-Maximilian von Hohenstein-Wallerfangen, Tübingen"
UNSEEN = {"accounts.log_in", "pages.page_called", "pages.validate", "accounts.log_out"}
"""Addresses that lead elsewhere, or are looked at before anybody has logged in."""


def text_of(folder: Path, work: str, page: str) -> str:
    """A file of that one page in the folder."""
    text = folder / f"{work}.txt"
    text.write_text(f"卷一 第 1a 页 {page}.png\n" + "\n".join(LINES) + "\n", encoding="utf-8")
    return str(text)


def add_bare(store: Store, folder: Path) -> None:
    """A work whose one page has no image: its text, and what the language model says against it."""
    page = "WYG0104-0001a"
    flags = tuple(
        replace(flag, bbox=None, evidence=Evidence("language", alternatives=()))
        for flag in (wrong(page, 1, 2, "吿", 3.0), wrong(page, 3, 0, "斯", 2.0))
    )
    whole = checked(page, folder, "", flags)
    columns = tuple(
        CheckedColumn(column.number, column.box, column.source) for column in whole.columns if column.number != 2
    )
    result = PageResult(page, page, Status.NO_IMAGE, columns=columns, flags=flags)
    add_page(store, result, work=BARE, text=text_of(folder, BARE, page))


def add_unread(store: Store, folder: Path) -> None:
    """A work on the image of whose one page nothing of its text was found: it is mirrored."""
    page, image = "WYG0105-0001a", folder / "page.png"
    whole = replace(checked(page, image, sha256_of(image), ()), columns=(), characters=())
    result = unreadable(whole, "image mirrored", Notice(NoticeCode.IMAGE_MIRRORED))
    add_page(store, result, work=UNREAD, text=text_of(folder, UNREAD, page))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in which everything has happened that a view can show."""
    folder = tmp_path_factory.mktemp("views")
    with Store.open(settings_in(folder).store_address) as store:
        fill(store, folder)
        add_bare(store, folder)
        add_unread(store, folder)
        for name, role in PEOPLE.items():
            store.accounts.add(name, role, PASSWORD)
        store.accounts.add(LONGEST, Role.PROOFREADER, PASSWORD, by=AccountActor("甲", AccountChannel.BROWSER))
        say = store.comments.add
        say(CommentRequest(WORK, 1, 1, "看不清", "乙", "request-1", CommentState.PROBLEM, "甲"))
        say(CommentRequest(WORK, 2, None, "缺半葉", "乙", "request-2", CommentState.PROBLEM, "甲"))
        store.decisions.decide(DecisionRequest(WORK, 2, Verdict.KEEP, 0, "乙", "request-3", note="據影像"))
        store.decisions.decide(DecisionRequest(WORK, 2, Verdict.COPY, 1, "丙", "request-4"))
        store.page_states.set(WORK, 3, PageState.PROOFREAD, 0, "乙", "request-5")
    return folder


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with serving(folder, "--auth") as address:
        yield address


def grave(page: Page, rules: list[str] | None = None) -> list[str]:
    """What axe finds that is serious or critical. It is given to a page once, and tells of violations alone."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    options: dict[str, object] = {"resultTypes": ["violations"]}
    if rules:
        options["runOnly"] = {"type": "rule", "values": rules}
    violations = page.evaluate("async (options) => (await axe.run(options)).violations", options)
    serious = [violation for violation in violations if violation["impact"] in ("serious", "critical")]
    return [f"{violation['id']}: {json.dumps(violation['nodes'][0]['html'])[:200]}" for violation in serious]


def logged_in(page: Page, name: str) -> Page:
    """The browser's page after that person has logged in."""
    page.goto("/login")
    page.locator("#name").fill(name)
    page.locator("#password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator("header .who").first).to_be_visible()
    return page


def is_cut_off(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth > innerWidth"))


def resized(page: Page, size: tuple[int, int]) -> None:
    width, height = size
    page.set_viewport_size({"width": width, "height": height})


SCREENS = ((1280, 800), (1024, 768))
TELEPHONE = (390, 844)
SMALL_IN_HEAD = """() => [...document.querySelectorAll("header :is(a, button)")]
    .filter(one => one.checkVisibility() && !one.closest(".unseen") && !one.matches(".skip"))
    .map(one => [one.getBoundingClientRect(), one.outerHTML.slice(0, 80)])
    .filter(([box]) => box.width && Math.min(box.width, box.height) < 43.5)
    .map(([, said]) => said)"""


@pytest.mark.parametrize("language", list(LANGUAGES))
def test_no_view_is_cut_off_or_hinders_anybody_in_any_language_or_theme_and_each_is_photographed(
    browser: Browser, address: str, language: str
) -> None:
    """Colours are looked at in both themes; all else is the same in both. Each view is looked at in one of the
    languages, and in all of them where the run looks wide; on a telephone its head fits a finger, and what is wider
    than the screen is moved by keys."""
    step = 1 if looks_wide() else len(LANGUAGES)
    views = dict(list(VIEWS.items())[list(LANGUAGES).index(language) % step :: step])
    context = browser.new_context(has_touch=True, locale=language, base_url=address, color_scheme="light")
    page = context.new_page()
    page.goto("/login")
    violations = {"login": grave(page)}
    logged_in(page, "甲")
    for name, path in views.items():
        resized(page, SCREENS[0])
        page.goto(path)
        shown_whole(page)
        assert page.evaluate("document.documentElement.lang") == language
        for size in SCREENS:
            resized(page, size)
            assert not is_cut_off(page), (name, size)
            photographed(page, f"{name}-{language}-{size[0]}")
        if name in OPENED:
            page.locator(OPENED[name]).first.click()
            assert not is_cut_off(page), name
        violations[name] = grave(page)
        page.emulate_media(color_scheme="dark")
        violations[f"{name}, dark"] = grave(page, ["color-contrast"])
        photographed(page, f"{name}-{language}-dark")
        page.emulate_media(color_scheme="light")
        resized(page, TELEPHONE)
        if name in OPENED:
            page.goto(path)
            shown_whole(page)
        violations[f"{name}, telephone"] = grave(page, ["scrollable-region-focusable"]) + page.evaluate(SMALL_IN_HEAD)
        assert not is_cut_off(page), f"{name}, telephone"
    context.close()
    assert {name: faults for name, faults in violations.items() if faults} == {}


def test_all_views_are_among_those_that_are_looked_at(folder: Path) -> None:
    with Store.open(folder / "proof.sqlite") as store:
        rules = list(create_app(settings_in(folder), store=store).url_map.iter_rules())
    seen = {path.split("?")[0] for path in VIEWS.values()}
    for rule in rules:
        if rule.endpoint.split(".")[0] in {"pages", "accounts"} and "GET" in (rule.methods or ()):
            pattern = re.sub(r"<(int:)?\w+>", lambda match: r"\d+" if match[1] else r"\w+", rule.rule)
            assert rule.endpoint in UNSEEN or any(re.fullmatch(pattern, path) for path in seen), rule.endpoint


def test_a_page_without_an_image_shows_its_text_what_is_flagged_and_the_way_to_an_image(
    browser: Browser, address: str
) -> None:
    context = browser.new_context(viewport={"width": 768, "height": 1024}, locale="en", base_url=address)
    page = logged_in(context.new_page(), "乙")
    page.goto(f"/works/{BARE}/pages/4")
    expect(page.locator("#text-alone p")).to_have_text(LINES)
    expect(page.locator("#text-alone .flagged")).to_have_count(2)
    expect(page.locator("#viewer")).to_be_hidden()
    page.get_by_role("button", name="Assign an image").click()
    expect(page.locator("#layout-image")).to_be_visible()
    page.locator("#text-alone a.flagged").first.click()
    page.wait_for_url("**/desk*")
    expect(page.locator("#flag")).to_be_visible()
    context.close()


def test_a_page_that_was_not_read_on_its_image_shows_why_and_its_text(browser: Browser, address: str) -> None:
    context = browser.new_context(viewport={"width": 1100, "height": 700}, locale="zh-Hant", base_url=address)
    page = logged_in(context.new_page(), "乙")
    page.goto(f"/works/{UNREAD}/pages/5")
    expect(page.locator("#unread .told")).to_have_text("此書影左右相反：請翻正後再校本葉")
    expect(page.locator("#text-alone p")).to_have_text(LINES)
    expect(page.locator("#viewer")).to_be_visible()
