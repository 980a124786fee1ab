"""A proofreader's session in a real Chromium: decisions by keyboard, input methods, conflicts, a restart."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from proof.model.flags import WitnessReading
from proof.report.source import StoredRun
from proof.report.write import write_reports
from proof.settings.config import Settings
from proof.store import Store
from proof.store.decision_records import DecisionRequest, State, Verdict
from proof.store.page_states import PageState
from tests.web.drawn import SCRIPT, WORK, fill, settings_in
from tests.web.served import ServerProcess
from tests.web.waiting import open_desk, passed, photographed, press, saved, shown, shown_whole, until
from tests.wide import looks

PAGES = {
    "queue": f"/works/{WORK}/",
    "desk": f"/works/{WORK}/desk?kind=substitution&kind=insertion",
    "pairs": f"/works/{WORK}/pairs",
    "pages": f"/works/{WORK}/pages/",
    "page": f"/works/{WORK}/pages/2",
    "layout": f"/works/{WORK}/pages/2",
    "history": f"/works/{WORK}/history",
    "help": f"/works/{WORK}/desk",
    "error": "/works/nothing/",
}


def started(folder: Path) -> Iterator[ServerProcess]:
    server = ServerProcess(folder)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    """The drawn pages, served."""
    settings = settings_in(tmp_path)
    with Store.open(settings.store_address) as store:
        fill(store, tmp_path)
    yield from started(tmp_path)


@pytest.fixture
def sample_server(sample: Path, tmp_path: Path) -> Iterator[ServerProcess]:
    """A copy of the checked sample, served."""
    folder = shutil.copytree(sample, tmp_path / "sample")
    yield from started(folder)


@dataclass
class Tab:
    """A browser of its own: `asked` is every address that it asked for, `said` what it complained of."""

    context: BrowserContext
    page: Page
    asked: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def listen(self) -> None:
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))


@pytest.fixture
def tabs(browser: Browser) -> Iterator[list[Tab]]:
    """Two browsers that share nothing."""
    opened = []
    for _ in range(2):
        context = browser.new_context(viewport={"width": 1440, "height": 900}, locale="en-GB")
        tab = Tab(context, context.new_page())
        tab.listen()
        opened.append(tab)
    yield opened
    for tab in opened:
        tab.context.close()


def desk(tab: Tab, server: ServerProcess, query: str = "") -> Page:
    return open_desk(tab.page, f"{server.address}/works/{WORK}/desk{query}")


def verdicts(folder: Path) -> list[tuple[int, Verdict, str]]:
    """What the store has, in the order in which it was decided."""
    with Store.open(folder / "proof.sqlite") as store:
        return [(one.flag, one.verdict, one.reading) for one in store.decisions.log(WORK, limit=1000)[::-1]]


def test_a_whole_session_on_the_sample(sample_server: ServerProcess, tabs: list[Tab]) -> None:
    """Each flag is decided by a key; what the store has afterwards is what was pressed."""
    tab = tabs[0]
    tab.page.goto(sample_server.address)
    expect(tab.page.locator("a.row").first).to_be_visible()
    count = tab.page.locator("a.row").count()
    assert count >= 5
    tab.page.keyboard.press("Enter")
    expect(tab.page.locator("#flag")).to_be_visible()
    pressed, keys = [], ["t", "k", "c", "u", "s"]
    for n in range(count):
        assert shown(tab.page)
        key = keys[n % len(keys)]
        pressed.append((press(tab.page, key), key))
    expect(tab.page.locator("#end")).to_be_visible()
    saved(tab.page)
    names = {"t": Verdict.TAKE, "k": Verdict.KEEP, "c": Verdict.COPY, "u": Verdict.UNSURE, "s": Verdict.SKIP}
    assert [(flag, verdict) for flag, verdict, _ in verdicts(sample_server.folder)] == [
        (number, names[key]) for number, key in pressed
    ]
    assert {url.split("/")[2] for url in tab.asked if not url.startswith("data:")} == {
        sample_server.address.split("/")[2]
    }
    assert tab.said == []


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


def test_the_next_flag_is_there_at_once_and_its_image_with_it(sample_server: ServerProcess, tabs: list[Tab]) -> None:
    """At the moment after the key the next flag is drawn, with its picture decoded, though the server is held up."""
    page = desk(tabs[0], sample_server)
    until(page, FETCHED)
    tabs[0].context.route("**/api/**", late)
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


def test_undo_and_redo_go_through_the_session_and_survive_a_reload(server: ServerProcess, tabs: list[Tab]) -> None:
    page = desk(tabs[0], server)
    first, second = press(page, "t"), press(page, "k")
    saved(page)
    page.reload()
    expect(page.locator("#flag")).to_be_visible()
    page.keyboard.press("z")
    expect(page.locator("body")).to_have_attribute("data-flag", str(second))
    page.keyboard.press("z")
    expect(page.locator("body")).to_have_attribute("data-flag", str(first))
    page.keyboard.press("y")
    passed(page, first)
    saved(page)
    assert [(flag, verdict) for flag, verdict, _ in verdicts(server.folder)] == [
        (first, Verdict.TAKE),
        (second, Verdict.KEEP),
        (second, Verdict.UNDO),
        (first, Verdict.UNDO),
        (first, Verdict.REDO),
    ]
    with Store.open(server.folder / "proof.sqlite") as store:
        assert [(one.flag, one.state) for one in store.decisions.standing(WORK)] == [(first, State.CORRECTED)]


def test_an_empty_box_deletes_nothing_and_a_deletion_is_named_and_taken_back(
    server: ServerProcess, tabs: list[Tab]
) -> None:
    page = desk(tabs[0], server)
    first = shown(page)
    page.keyboard.press("e")
    page.keyboard.press("Enter")
    expect(page.locator("#typed-problem")).to_contain_text("Type what is to stand here")
    assert shown(page) == first
    page.keyboard.press("Escape")
    page.keyboard.press("d")
    expect(page.locator("#trail li").first).to_have_text("deletes 告")
    saved(page)
    page.keyboard.press("z")
    expect(page.locator("#act-told")).to_contain_text("Taken back: deletes 告")
    assert shown(page) == first
    assert [verdict for _, verdict, _ in verdicts(server.folder)] == [Verdict.DELETE, Verdict.UNDO]
    assert tabs[0].said == []


def test_after_a_rule_z_takes_the_rule_back_and_no_decision(server: ServerProcess, tabs: list[Tab]) -> None:
    page = desk(tabs[0], server)
    page.keyboard.press("k")
    saved(page)
    page.goto(f"{server.address}/works/{WORK}/pairs?text=告&image=吿")
    expect(page.locator(".glyph")).to_have_count(3)
    page.keyboard.press("v")
    expect(page.locator("#rulelist")).to_contain_text("hides 3")
    page.keyboard.press("z")
    expect(page.locator("#act-told")).to_contain_text("Taken back: 告 → 吿: variants here")
    expect(page.locator("#rules")).to_be_hidden()
    assert [verdict for _, verdict, _ in verdicts(server.folder)] == [Verdict.KEEP]
    page.keyboard.press("y")
    expect(page.locator("#act-told")).to_contain_text("Done again: 告 → 吿: variants here")
    expect(page.locator("#rulelist")).to_contain_text("hides 3")
    left = page.locator("#pairlist li").count()
    page.get_by_role("button", name="lift the rule").click()
    expect(page.locator("#pairlist li")).to_have_count(left + 1)
    page.goto(f"{server.address}/works/{WORK}/pages/2")
    until(page, "document.body.dataset.ready === '1'")
    with page.expect_response("**/states"):
        page.get_by_label("State").select_option("problem")
    page.locator("#viewer").click(position={"x": 3, "y": 3})
    page.locator("header [data-undo=undo]").click()
    expect(page.locator("#act-told")).to_contain_text("Taken back: WYG0103-0193a: problem")
    expect(page.get_by_label("State")).to_have_value("not proofread")
    assert tabs[0].said == []


def test_keys_of_an_input_method_are_never_shortcuts(server: ServerProcess, tabs: list[Tab]) -> None:
    """吿 is composed from letters that are shortcuts; Enter and Escape end the composition and nothing else."""
    page = desk(tabs[0], server)
    number = shown(page)
    page.keyboard.press("e")
    expect(page.locator("#typed")).to_be_focused()
    driver = tabs[0].context.new_cdp_session(page)
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
    assert verdicts(server.folder) == [(number, Verdict.TYPED, "吿")]


def test_alternatives_are_taken_by_number(server: ServerProcess, tabs: list[Tab]) -> None:
    page = desk(tabs[0], server)
    number = shown(page)
    assert [text.split()[1] for text in page.locator("#alternatives button").all_inner_texts()] == ["吉", "古"]
    page.keyboard.press("2")
    saved(page)
    assert verdicts(server.folder) == [(number, Verdict.OTHER, "古")]


def test_what_was_decided_is_listed_and_can_be_taken_back(server: ServerProcess, tabs: list[Tab]) -> None:
    page = desk(tabs[0], server)
    page.keyboard.press("t")
    saved(page)
    page.goto(f"{server.address}/works/{WORK}/history")
    expect(page.locator("#events li")).to_have_count(1)
    page.locator("#events").get_by_role("button", name="take back").click()
    expect(page.locator("#events li")).to_have_count(2)
    assert [verdict for _, verdict, _ in verdicts(server.folder)] == [Verdict.TAKE, Verdict.UNDO]


def test_the_second_of_two_browsers_is_told_and_decides_anew(server: ServerProcess, tabs: list[Tab]) -> None:
    first, second = desk(tabs[0], server), desk(tabs[1], server)
    number = shown(first)
    assert shown(second) == number
    first.keyboard.press("t")
    saved(first)
    second.keyboard.press("k")
    notice = second.locator("#notices .notice")
    expect(notice).to_contain_text("was quicker: reading taken 吿")
    assert [verdict for _, verdict, _ in verdicts(server.folder)] == [Verdict.TAKE]
    notice.get_by_role("button", name="Look again").click()
    expect(second.locator("body")).to_have_attribute("data-flag", str(number))
    expect(second.locator("#stands")).to_contain_text("corrected 吿")
    second.keyboard.press("k")
    saved(second)
    assert [verdict for _, verdict, _ in verdicts(server.folder)] == [Verdict.TAKE, Verdict.KEEP]


def test_a_restart_of_the_server_loses_nothing_and_nobody_waits_for_it(server: ServerProcess, tabs: list[Tab]) -> None:
    page = desk(tabs[0], server)
    page.wait_for_load_state("networkidle")
    page.keyboard.press("t")
    saved(page)
    server.kill()
    for key in ("k", "c", "t"):
        press(page, key)
    expect(page.locator("#waiting")).to_contain_text("3 not saved yet")
    assert len(verdicts(server.folder)) == 1
    server.start()
    saved(page)
    expect(page.locator("#waiting")).to_have_count(0)
    assert [verdict for _, verdict, _ in verdicts(server.folder)] == [
        Verdict.TAKE,
        Verdict.KEEP,
        Verdict.COPY,
        Verdict.TAKE,
    ]


def test_a_reading_that_looks_like_a_slip_is_asked_about_and_one_key_confirms_it(
    server: ServerProcess, tabs: list[Tab]
) -> None:
    page = desk(tabs[0], server)
    number = shown(page)
    page.keyboard.press("e")
    page.locator("#typed").fill("告/")
    page.keyboard.press("Enter")
    expect(page.locator("#typed-problem")).to_contain_text("is markup and no character")
    page.locator("#typed").fill("gao")
    page.keyboard.press("Enter")
    expect(page.locator("#typed-problem")).to_contain_text("these are Latin letters: gao. Is it meant?")
    assert shown(page) == number
    page.keyboard.press("Enter")
    passed(page, number)
    saved(page)
    assert verdicts(server.folder) == [(number, Verdict.TYPED, "gao")]


def test_the_text_is_kept_with_what_the_copy_reads_after_an_authority_with_a_remark(
    server: ServerProcess, tabs: list[Tab]
) -> None:
    page = desk(tabs[0], server)
    number = shown(page)
    page.keyboard.press("a")
    page.locator("#authority").fill("理校")
    page.locator("#remark").fill("文義不通")
    page.keyboard.press("Enter")
    expect(page.locator("#rests")).to_have_text("after 理校 · 文義不通")
    page.keyboard.press("r")
    expect(page.locator("#typed")).to_be_focused()
    page.keyboard.press("Enter")  # it has what is suggested
    passed(page, number)
    saved(page)
    with Store.open(server.folder / "proof.sqlite") as store:
        [made] = store.decisions.log(WORK)
    assert (made.verdict, made.state, made.reading) == (Verdict.RETAIN, State.RETAINED, made.transcribed)
    assert (made.copy_reads, made.authority, made.note) == (made.suggested, "理校", "文義不通")


def test_the_glyph_in_question_is_in_the_box_and_the_text_beside_it_at_its_height(
    server: ServerProcess, tabs: list[Tab]
) -> None:
    page = desk(tabs[0], server)
    box, text = page.locator("#stage .place").bounding_box(), page.locator("#stage text.said").bounding_box()
    assert box is not None
    assert text is not None
    assert abs(box["y"] + box["height"] / 2 - text["y"] - text["height"] / 2) < 6
    assert box["height"] > 60
    assert 0.6 < text["height"] / box["height"] < 1.8


def test_the_queue_filters_counts_and_leads_to_the_desk(server: ServerProcess, tabs: list[Tab]) -> None:
    page = tabs[0].page
    page.goto(f"{server.address}/works/{WORK}/")
    assert page.locator("a.row").count() == 9
    page.get_by_label("insertion").check()
    expect(page.locator("a.row")).to_have_count(3)
    expect(page.locator("#states label").first).to_contain_text("3")
    page.get_by_label("as the pages run").check()
    page.get_by_role("link", name="Begin").click()
    expect(page.locator("#kind")).to_have_text("insertion")
    for _ in range(3):
        press(page, "k")
    expect(page.locator("#end")).to_be_visible()


def test_the_dial_trades_places_for_errors_left(server: ServerProcess, tabs: list[Tab]) -> None:
    page = tabs[0].page
    page.goto(f"{server.address}/works/{WORK}/")
    expect(page.locator("#dial-words")).to_contain_text("9 places to look at, about 0.0 errors among the others")
    page.locator("#dial").focus()
    for _ in range(3):  # to six places: the last three have one score
        page.keyboard.press("ArrowLeft")
    expect(page.locator("#dial-words")).to_contain_text("4 places")
    expect(page.locator("a.row")).to_have_count(4)


def looked_at(page: Page, name: str) -> None:
    """The page on the screens that proofreaders have, a laptop's and a tablet's."""
    for width, height in ((1366, 768), (1024, 768)):
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} is cut off at {width}"
        photographed(page, f"{name}-{width}")


@pytest.mark.parametrize(("language", "theme"), looks())
def test_no_page_is_cut_off_in_any_language_or_theme_and_each_is_photographed(
    sample_server: ServerProcess, browser: Browser, tmp_path: Path, language: str, theme: str
) -> None:
    """The pictures are to be looked at."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, locale=language, color_scheme=theme)  # type: ignore[arg-type]
    page = context.new_page()
    for name, path in PAGES.items():
        page.goto(sample_server.address + path)
        shown_whole(page)
        if name == "help":
            page.keyboard.press("?")
            expect(page.locator("#help")).to_be_visible()
        if name == "layout":
            page.locator("#layout-open").click()
            expect(page.locator("[data-handle=corner-0]")).to_be_attached()
        assert page.evaluate("document.documentElement.lang") == language
        looked_at(page, f"{name}-{language}-{theme}")
    settings = Settings.load(sample_server.folder)
    with Store.open(settings.store_address) as store:
        run = store.latest_run()
        assert run is not None
        written = write_reports(StoredRun(store, run.id), tmp_path, language=language)
    page.goto(written.page.as_uri())
    looked_at(page, f"report-{language}-{theme}")
    context.close()


def test_a_confusion_is_decided_in_one_stroke_but_for_what_was_clicked_out(
    server: ServerProcess, tabs: list[Tab]
) -> None:
    page = tabs[0].page
    page.goto(f"{server.address}/works/{WORK}/pairs?text=告&image=吿")
    expect(page.locator(".glyph")).to_have_count(3)
    page.locator(".glyph").nth(1).click()
    expect(page.locator("#chosen")).to_have_text("2 chosen")
    page.keyboard.press("t")
    expect(page.locator("#outcome")).to_have_text("2 decided")
    assert [verdict for _, verdict, _ in verdicts(server.folder)] == [Verdict.TAKE] * 2
    page.keyboard.press("z")
    expect(page.locator("#chosen")).to_have_text("2 chosen")
    with Store.open(server.folder / "proof.sqlite") as store:
        assert list(store.decisions.standing(WORK)) == []


def test_a_page_shows_each_character_on_image_and_text_and_mends_any(server: ServerProcess, tabs: list[Tab]) -> None:
    page = tabs[0].page
    page.goto(f"{server.address}/works/{WORK}/pages/1")
    until(page, "document.body.dataset.ready === '1'")
    cell = page.locator(".cell", has_text="射").first
    cell.hover()
    expect(page.locator("rect.lit")).to_have_count(1)
    box, viewer = page.locator("rect.lit").bounding_box(), page.locator("#viewer").bounding_box()
    assert box is not None
    assert viewer is not None
    assert viewer["x"] < box["x"] < viewer["x"] + viewer["width"]
    cell.click()
    page.keyboard.insert_text("謝")
    page.keyboard.press("Enter")
    expect(page.locator(".cell.corrected")).to_have_text("謝")
    expect(page.locator(".was")).to_have_text("射")
    assert verdicts(server.folder)[0][1:] == (Verdict.TYPED, "謝")
    with page.expect_response("**/states") as answer:
        page.get_by_label("State").select_option("proofread")
    assert answer.value.status == 201
    page.reload()
    expect(page.get_by_label("State")).to_have_value("proofread")
    page.get_by_label("State").select_option("validated")
    expect(page.locator("#notices")).to_contain_text("someone else must validate it")
    assert [line for line in tabs[0].said if "422" not in line] == []


def test_what_was_done_is_listed_with_what_stood_before_and_filtered(server: ServerProcess, tabs: list[Tab]) -> None:
    """Decisions, rules and page states, by whom, of which juan and with which verdict."""
    with Store.open(server.folder / "proof.sqlite") as store:
        for flag, person, verdict in ((1, "甲", Verdict.TAKE), (2, "乙", Verdict.KEEP), (5, "甲", Verdict.SKIP)):
            store.decisions.decide(DecisionRequest(WORK, flag, verdict, 0, person, f"request-{flag:04}"))
        store.page_states.set(WORK, 1, PageState.PROOFREAD, 0, "乙", "request-page", "紙裂")
        store.rules.set(WORK, "告", "吿", True, "甲")
    page = tabs[0].page
    page.goto(f"{server.address}/works/{WORK}/history")
    rows = page.locator("#events li")
    expect(rows).to_have_count(5)
    expect(rows.nth(0)).to_contain_text("告 → 吿")
    expect(rows.nth(0)).to_contain_text("variants here")
    expect(rows.nth(1)).to_contain_text("not proofread → proofread")
    expect(rows.nth(1)).to_contain_text("紙裂")
    expect(rows.nth(4)).to_contain_text("open → reading taken 吿")
    page.get_by_label("person").select_option("乙")
    expect(rows).to_have_count(2)
    page.get_by_label("What").select_option("decisions")
    expect(rows).to_have_count(1)
    page.get_by_label("person").select_option("")
    page.locator("select[name=verdict]").select_option("skip")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("甲")
    page.get_by_label("juan").select_option("卷十")
    expect(rows).to_have_count(1)
    assert tabs[0].said == []


def test_three_witnesses_stand_on_one_line_under_the_glyph(server: ServerProcess, tabs: list[Tab]) -> None:
    """Each with its reading and its side, also for who sees no colours, and how often it read what was decided where
    enough was; the apparatus opens with the keyboard."""
    note = f"告：原作吿，據嚴本改。{SCRIPT}"
    heard = (
        WitnessReading("KR1d0028_007", "告", "text", "", -2.5),
        WitnessReading("000_8d937d0b6d447d78", "吿", "image", note, 2.0),
        WitnessReading("~另讀", "", "", "", 0.0),
    )
    with Store.open(server.folder / "proof.sqlite") as store:
        first = max(store.flags(WORK), key=lambda flag: flag.score)
        store.rescore(WORK, [replace(first, evidence=replace(first.evidence, witnesses=heard))])
    records = [{"siglum": "~另讀", "places": 20, "upheld": 18}, {"siglum": "KR1d0028_007", "places": 19, "upheld": 3}]
    tabs[0].page.route("**/witnesses", lambda route: route.fulfill(json={"items": records}))
    page = desk(tabs[0], server)
    lines = page.locator("#witnesses li")
    expect(lines.last).to_contain_text("18 of 20")
    expect(lines).to_have_count(3)
    assert [" ".join(text.split()) for text in lines.all_inner_texts()] == [
        "KR1d0028_007 告 as the text",
        "000_8d937d0b6d447d78 吿 as suggested",
        "另讀 (reads the image) ∅ otherwise · decided so at 18 of 20 places",
    ]
    photographed(page, "desk-witnesses")
    boxes = [line.bounding_box() for line in lines.all()]
    glyph = page.locator("#glyph").bounding_box()
    assert glyph is not None
    assert all(box is not None and box["y"] >= glyph["y"] + glyph["height"] for box in boxes)
    assert len({round(box["y"] / 12) for box in boxes if box is not None}) == 1
    number = shown(page)
    expect(page.get_by_text(note)).to_be_hidden()
    page.locator("#witnesses summary").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text(note)).to_be_visible()
    assert shown(page) == number
    assert page.evaluate("window.broken") is None
    assert not Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa"]}).response["violations"]
    photographed(page, "desk-witnesses-open")
    page.locator("#main").focus()
    page.keyboard.press("s")
    expect(page.locator("#witnesses")).to_be_hidden()
    assert tabs[0].said == []
