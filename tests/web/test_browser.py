"""A proofreader's session in a real Chromium: decisions by keyboard, input methods, conflicts, a restart."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from proof.settings.config import Settings
from proof.store import Store
from proof.store.decision_records import State, Verdict
from tests.build import decision_log, standing_decisions
from tests.web.drawn import WORK
from tests.web.served import ServerProcess, serving
from tests.web.waiting import open_desk, passed, press, saved, shown, until

AT = f"/works/{WORK}"


def desk(page: Page, query: str = "") -> Page:
    return open_desk(page, f"{AT}/desk{query}")


def verdicts(folder: Path) -> list[tuple[int, Verdict, str]]:
    """What the store has, in the order in which it was decided."""
    with Store.open(folder / "proof.sqlite") as store:
        return [(decision.flag, decision.verdict, decision.reading) for decision in decision_log(store, WORK)[::-1]]


def kinds(folder: Path) -> list[Verdict]:
    return [verdict for _, verdict, _ in verdicts(folder)]


def test_a_whole_session_by_keys_is_what_the_store_has_and_is_gone_back_through_after_a_reload(
    page: Page, folder: Path
) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{AT}/")
    expect(page.locator("a.row")).to_have_count(9)
    page.keyboard.press("Enter")
    expect(page.locator("#flag")).to_be_visible()
    assert [text.split()[1] for text in page.locator("#alternatives button").all_inner_texts()] == ["吉", "古"]
    keys = {"t": Verdict.TAKE, "k": Verdict.KEEP, "2": Verdict.OTHER, "c": Verdict.COPY, "u": Verdict.UNSURE}
    pressed = [(press(page, key), keys[key]) for key in [*keys, "t", "k", "c"]]
    pressed.append((press(page, "s"), Verdict.SKIP))
    expect(page.locator("#end")).to_be_visible()
    saved(page)
    decided = verdicts(folder)
    assert [decision[:2] for decision in decided] == pressed
    assert decided[2][2] == "古"

    page.reload()
    for number in (pressed[-1][0], pressed[-2][0]):
        page.keyboard.press("z")
        expect(page.locator("body")).to_have_attribute("data-flag", str(number))
    page.keyboard.press("y")
    passed(page, pressed[-2][0])
    saved(page)
    assert kinds(folder)[len(pressed) :] == [Verdict.UNDO, Verdict.UNDO, Verdict.REDO]
    with Store.open(folder / "proof.sqlite") as store:
        assert sorted(decision.flag for decision in standing_decisions(store, WORK)) == sorted(
            flag for flag, _ in pressed[:-1]
        )
    assert {"/".join(url.split("/")[:3]) for url in asked if not url.startswith("data:")} == {
        "/".join(page.url.split("/")[:3])
    }


FETCHED = """async () => {
    const { flags } = JSON.parse(document.getElementById("data").textContent);
    const pictures = flags.slice(0, 4).filter(({ view }) => view).map(({ view: { image, area } }) =>
        new URL(`/iiif/${image}/${area}/max/0/default.webp`, location).href);
    const came = (one) => performance.getEntriesByName(one).some(({ responseEnd }) => responseEnd);
    if (!pictures.every(came)) return false;
    await Promise.all(pictures.map((one) => Object.assign(new Image(), { src: one }).decode())); // they can be shown
    return pictures.length > 0;
}"""
"""Whether the desk has fetched what its first flags will show, of itself."""


def late(route: Route) -> None:
    time.sleep(0.4)
    route.continue_()


def test_the_next_flag_is_there_at_once_and_its_image_with_it(project: Path, browser: Browser) -> None:
    """At the moment after the key the next flag is drawn, with its picture decoded, though the server is held up."""
    with serving(project) as address, Store.open(Settings.load(project).store_address) as store:
        [work] = store.queue.works()
        page = open_desk(browser.new_page(), f"{address}/works/{work.name}/desk")
        until(page, FETCHED)
        page.route("**/api/**", late)
        for _ in range(3):
            before = shown(page)
            after, ready = page.evaluate(
                """async () => {
                    dispatchEvent(new KeyboardEvent("keydown", {key: "k", bubbles: true}));
                    const number = Number(document.body.dataset.flag);
                    return [number, !document.querySelector("#stage").classList.contains("waiting")];
                }"""
            )
            assert after != before
            assert ready
        assert page.locator("#stage svg:not(.thumb) image").count() == 1
        page.close()


def test_keys_of_an_input_method_are_never_shortcuts(page: Page, folder: Path) -> None:
    """吿 is composed from letters that are shortcuts; Enter and Escape end the composition and nothing else."""
    number = shown(desk(page))
    page.keyboard.press("e")
    expect(page.locator("#typed")).to_be_focused()
    driver = page.context.new_cdp_session(page)
    for composed in ("k", "ku", "kus"):
        driver.send(
            "Input.imeSetComposition",
            {"text": composed, "selectionStart": len(composed), "selectionEnd": len(composed)},
        )
        page.evaluate(
            """key => document.getElementById("typed").dispatchEvent(
                new KeyboardEvent("keydown", {key, keyCode: 229, isComposing: true, bubbles: true}))""",
            composed[-1],
        )
    for key in ("Enter", "Escape", "1"):
        page.evaluate(
            """key => document.activeElement.dispatchEvent(
                new KeyboardEvent("keydown", {key, isComposing: true, bubbles: true, cancelable: true}))""",
            key,
        )
    expect(page.locator("#typed")).to_be_visible()
    assert shown(page) == number
    driver.send("Input.insertText", {"text": "吿"})
    expect(page.locator("#typed")).to_have_value("吿")
    page.evaluate("new Promise((done) => setTimeout(done, 30))")  # the method is done a moment after its text is in
    page.keyboard.press("Enter")
    passed(page, number)
    saved(page)
    assert verdicts(folder) == [(number, Verdict.TYPED, "吿")]


def test_a_confusion_is_decided_but_for_what_was_clicked_out_and_z_takes_back_what_was_done_last_whatever_it_was(
    page: Page, folder: Path
) -> None:
    page.goto(f"{AT}/pairs?text=侯&image=")
    expect(page.locator("#pair-text")).to_have_text("侯")
    expect(page.locator("[data-act=rule]")).to_be_disabled()  # what is too many can be no variant of anything
    page.goto(f"{AT}/pairs?text=告&image=吿")
    element = page.locator("#act-told")
    expect(page.locator("[data-act=rule]")).to_be_enabled()
    expect(page.locator(".glyph")).to_have_count(3)
    page.locator(".glyph").nth(1).click()
    expect(page.locator("#chosen")).to_have_text("2 chosen")
    expect(page.locator("[data-act=copy]")).to_be_enabled()
    page.keyboard.press("t")
    expect(page.locator("#outcome")).to_have_text("2 decided")
    assert kinds(folder) == [Verdict.TAKE] * 2
    page.keyboard.press("z")
    expect(page.locator("#chosen")).to_have_text("2 chosen")

    page.keyboard.press("v")
    expect(page.locator("#rulelist")).to_contain_text("hides 3")
    expect(element).to_contain_text("告 → 吿: variants here")
    page.keyboard.press("z")
    expect(element).to_contain_text("Taken back: 告 → 吿: variants here")
    expect(page.locator("#rules")).to_be_hidden()
    assert kinds(folder) == [Verdict.TAKE] * 2 + [Verdict.UNDO] * 2, "no decision is taken back with the rule"
    page.keyboard.press("y")
    expect(element).to_contain_text("Done again: 告 → 吿: variants here")
    expect(page.locator("#rulelist")).to_contain_text("hides 3")
    left = page.locator("#pairlist li").count()
    page.get_by_role("button", name="lift the rule").click()
    expect(element).to_contain_text("告 → 吿: rule lifted")
    expect(page.locator("#pairlist li")).to_have_count(left + 1)

    page.goto(f"{AT}/pages/2")
    until(page, "document.body.dataset.ready === '1'")
    with page.expect_response("**/states"):
        page.get_by_label("State").select_option("problem")
    page.locator("#viewer").click(position={"x": 3, "y": 3})
    page.locator("header [data-undo=undo]").click()
    expect(element).to_contain_text("Taken back: WYG0103-0193a: problem")
    expect(page.get_by_label("State")).to_have_value("not proofread")


def test_the_second_of_two_browsers_is_told_and_decides_anew(page: Page, browser: Browser, folder: Path) -> None:
    number = shown(desk(page))
    context = browser.new_context(locale="en-GB", base_url=page.url)
    second = desk(context.new_page())
    assert shown(second) == number
    page.keyboard.press("t")
    saved(page)
    second.keyboard.press("k")
    notice = second.locator("#notices .notice")
    expect(notice).to_contain_text("You decided here already, in another window: reading taken 吿")
    assert kinds(folder) == [Verdict.TAKE]
    notice.get_by_role("button", name="Look again").click()
    expect(second.locator("body")).to_have_attribute("data-flag", str(number))
    expect(second.locator("#stands")).to_contain_text("corrected 吿")
    second.keyboard.press("k")
    saved(second)
    assert kinds(folder) == [Verdict.TAKE, Verdict.KEEP]
    context.close()


@pytest.fixture
def server(folder: Path) -> Iterator[ServerProcess]:
    """The drawn pages, served by what a test can kill."""
    server = ServerProcess(folder)
    server.start()
    yield server
    server.stop()


def test_a_restart_of_the_server_loses_nothing_and_nobody_waits_for_it(
    server: ServerProcess, browser: Browser, folder: Path
) -> None:
    page = open_desk(browser.new_page(locale="en-GB"), f"{server.address}{AT}/desk")
    page.wait_for_load_state("networkidle")
    page.keyboard.press("t")
    saved(page)
    server.kill()
    for key in ("k", "c", "t"):
        press(page, key)
    expect(page.locator("#waiting")).to_contain_text("3 not saved yet")
    assert len(verdicts(folder)) == 1
    server.start()
    saved(page)
    expect(page.locator("#waiting")).to_have_count(0)
    assert kinds(folder) == [Verdict.TAKE, Verdict.KEEP, Verdict.COPY, Verdict.TAKE]
    page.close()


def test_the_text_is_kept_with_what_the_copy_reads_after_an_authority_with_a_remark(page: Page, folder: Path) -> None:
    number = shown(desk(page))
    page.keyboard.press("a")
    page.locator("#authority").fill("理校")
    page.locator("#remark").fill("文義不通")
    page.keyboard.press("Enter")
    expect(page.locator("#rests")).to_have_text("from 理校 · 文義不通")
    page.keyboard.press("r")
    expect(page.locator("#typed")).to_be_focused()
    page.keyboard.press("Enter")  # it has what is suggested
    passed(page, number)
    saved(page)
    with Store.open(folder / "proof.sqlite") as store:
        [made] = decision_log(store, WORK)
    assert (made.verdict, made.state, made.reading) == (Verdict.RETAIN, State.RETAINED, made.transcribed)
    assert (made.copy_reads, made.authority, made.note) == (made.suggested, "理校", "文義不通")


def test_what_is_half_typed_is_there_in_another_language(page: Page) -> None:
    desk = open_desk(page, f"/works/{WORK}/desk?kind=substitution")
    number = shown(desk)

    def in_language(tag: str) -> None:
        desk.locator("#language").select_option(tag)
        expect(desk.locator("html")).to_have_attribute("lang", tag)
        assert shown(desk) == number

    desk.keyboard.press("r")
    desk.locator("#typed").fill("半")
    in_language("zh-Hant")
    expect(desk.locator("#typed")).to_have_value("半")
    expect(desk.locator("#typed-label")).to_contain_text("底本所作")
    desk.keyboard.press("Escape")
    desk.keyboard.press("a")
    desk.locator("#authority").fill("嚴本")
    desk.keyboard.press("Enter")
    desk.keyboard.press("a")
    desk.locator("#remark").fill("疑")
    desk.keyboard.press("Escape")
    desk.keyboard.press("n")
    desk.locator("#talk-text").fill("未畢")
    desk.keyboard.press("Escape")
    desk.keyboard.press("a")
    desk.locator("#remark").fill("疑誤")
    in_language("en")
    expect(desk.locator("#authority")).to_have_value("嚴本")
    expect(desk.locator("#remark")).to_have_value("疑誤")
    desk.keyboard.press("Escape")
    expect(desk.locator("#rests")).to_have_text("from 嚴本")
    desk.keyboard.press("n")
    expect(desk.locator("#talk-text")).to_have_value("未畢")
    desk.reload()
    expect(desk.locator("#flag")).to_be_visible()
    expect(desk.locator("#resting")).to_be_hidden()


def test_the_queue_filters_counts_trades_places_for_errors_left_and_leads_to_the_desk(page: Page) -> None:
    page.goto(f"{AT}/")
    rows, dial = page.locator("a.row"), page.locator("#dial-words")
    expect(dial).to_have_text("9 places to look at")
    page.locator("#dial").focus()
    for _ in range(3):  # to six places: the last three have one score
        page.keyboard.press("ArrowLeft")
    expect(dial).to_contain_text("4 places")
    expect(rows).to_have_count(4)
    page.goto(f"{AT}/")
    first = page.get_by_label("first page")
    first.fill("0199")
    first.press("Enter")
    expect(page.locator("#trouble")).to_contain_text("there is no page 0199")
    first.fill("0193a")
    first.press("Enter")
    expect(rows).to_have_count(6)
    expect(page.locator("#trouble")).to_be_hidden()
    page.reload()
    expect(first).to_have_value("0193a")
    expect(rows).to_have_count(6)
    page.goto(f"{AT}/")
    page.get_by_label("insertion").check()
    expect(rows).to_have_count(3)
    expect(page.locator("#states label").first).to_contain_text("3")
    page.get_by_label("as the pages run").check()
    page.get_by_role("link", name="Begin").click()
    expect(page.locator("#kind")).to_have_text("insertion")
    for _ in range(3):
        press(page, "k")
    expect(page.locator("#end")).to_be_visible()
