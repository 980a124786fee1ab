"""The report in a real browser, offline: what is seen, what is asked for, what the keys do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, FloatRect, Locator, Page
from pypdfium2 import PdfDocument
from pypdfium2.raw import FPDF_PAGEOBJ_IMAGE

from proof.locale.languages import LANGUAGES
from proof.report import write_reports
from tests.report.conftest import PAGE, flag
from tests.report.held import HeldRun


@dataclass
class Tab:
    """A tab of the browser: `asked` is every address that it asked for, `said` what it complained of."""

    page: Page
    asked: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def open(self, report: Path) -> Page:
        self.page.goto(report.as_uri())
        return self.page


@pytest.fixture
def tab(browser: Browser) -> Iterator[Tab]:
    """A new tab without a network."""
    context = browser.new_context(offline=True, viewport={"width": 1400, "height": 900})
    opened = Tab(context.new_page())
    opened.page.on("request", lambda request: opened.asked.append(request.url))
    opened.page.on("console", lambda message: opened.said.append(message.text))
    opened.page.on("pageerror", lambda error: opened.said.append(str(error)))
    yield opened
    context.close()


def rectangle(element: Locator) -> FloatRect:
    """Where an element is on the screen."""
    box = element.bounding_box()
    assert box is not None
    return box


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, held: HeldRun) -> Path:
    """A report over four pages, which nobody changes."""
    return write_reports(held, tmp_path_factory.mktemp("report")).page


def test_it_opens_offline_and_asks_for_nothing(tab: Tab, report: Path) -> None:
    page = tab.open(report)
    assert [url for url in tab.asked if not url.startswith("data:")] == [report.as_uri()]
    assert tab.said == []
    assert page.locator("article.flag:visible").count() == 8
    assert "2 most" not in page.inner_text("main")


def test_the_crops_are_pictures_and_the_mark_is_on_the_glyph(tab: Tab, report: Path, held: HeldRun) -> None:
    """某 in column 2 of the image: the box of the character in question, brought to the screen, is the mark's place."""
    page = tab.open(report)
    flag = held.pages[0].flags[0]
    card = page.locator(f"#f-{flag.id}")
    strip, mark = card.locator("svg.strip.paper"), card.locator("rect.place")
    image = strip.locator("image").evaluate("e => ({x: e.x.baseVal.value, y: e.y.baseVal.value, w: e.getBBox().width})")
    on_screen, marked = rectangle(strip), rectangle(mark)
    assert flag.bbox is not None
    scale = on_screen["width"] / image["w"]
    assert marked["x"] + marked["width"] / 2 == pytest.approx(
        on_screen["x"] + scale * (flag.bbox.centre[0] - image["x"]), abs=1.0
    )
    assert marked["y"] + marked["height"] / 2 == pytest.approx(
        on_screen["y"] + scale * (flag.bbox.centre[1] - image["y"]), abs=1.0
    )
    said = rectangle(card.locator("text.said"))
    assert abs(said["y"] + said["height"] / 2 - marked["y"] - marked["height"] / 2) < 4
    dark = page.evaluate(
        """async (uri) => {
            const image = new Image(); image.src = uri; await image.decode();
            const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
            canvas.drawImage(image, 0, 0);
            const data = canvas.getImageData(0, 0, image.width, image.height).data;
            let ink = 0; for (let i = 0; i < data.length; i += 4) ink += data[i] < 128;
            return ink / (image.width * image.height);
        }""",
        strip.locator("image").get_attribute("href"),
    )
    assert 0.05 < dark < 0.5


def test_the_glyph_is_shown_large(tab: Tab, report: Path) -> None:
    page = tab.open(report)
    boxes = [rectangle(glyph) for glyph in page.locator("figure.glyph img").all()]
    assert len(boxes) == 8
    assert min(box["width"] for box in boxes) >= 96
    assert all(box["width"] == pytest.approx(box["height"], abs=1) for box in boxes)


@pytest.mark.parametrize("width", [390, 1400])
def test_nothing_runs_out_of_its_card_or_the_window(tab: Tab, report: Path, width: int) -> None:
    tab.page.set_viewport_size({"width": width, "height": 900})
    page = tab.open(report)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    spilled = page.evaluate(
        """() => [...document.querySelectorAll("article.flag")].filter((card) => {
            const edge = card.getBoundingClientRect().right + 1;
            return [...card.querySelectorAll("svg, dd, p, li, h4")].some((e) => e.getBoundingClientRect().right > edge);
        }).length"""
    )
    assert spilled == 0


def test_kinds_pairs_and_pages_filter_the_flags(tab: Tab, report: Path) -> None:
    page = tab.open(report)
    shown = page.locator("article.flag:visible")
    page.uncheck("#filter input[value=substitution]")
    assert shown.count() == 3
    page.check("#filter input[value=substitution]")
    page.click("li[data-pair='其→某']")
    assert shown.count() == 2
    page.fill("#filter input[type=search]", "nowhere")
    assert shown.count() == 0
    assert page.inner_text("#filter output") == "0 shown"
    page.fill("#filter input[type=search]", "jmml_wyg_000-2A")
    assert shown.count() == 8


def test_j_and_k_go_from_flag_to_flag(tab: Tab, report: Path) -> None:
    page = tab.open(report)
    ids = [flag.get_attribute("id") for flag in page.locator("article.flag").all()]

    def press(key: str) -> str:
        page.keyboard.press(key)
        found: str = page.evaluate("document.activeElement.id")
        return found

    assert [press("j"), press("j"), press("k"), press("k")] == [ids[0], ids[1], ids[0], ids[0]]
    page.focus("#filter input[type=search]")
    page.keyboard.type("jk")
    assert page.input_value("#filter input[type=search]") == "jk"


def test_even_markup_smuggled_into_the_file_could_not_run_or_reach_out(tab: Tab, report: Path, tmp_path: Path) -> None:
    smuggled = (
        "<script>document.title='ran'</script><img src='http://127.0.0.1:9/x.png' onerror=\"document.title='ran'\">"
    )
    whole = report.read_text(encoding="utf-8")
    spoilt = tmp_path / "report.html"
    spoilt.write_text(whole.replace("<main>", f"<main>{smuggled}"), encoding="utf-8")
    with tab.page.expect_console_message(lambda said: "Content Security Policy" in said.text):
        page = tab.open(spoilt)
    assert page.title() != "ran"


@pytest.mark.parametrize(("language", "scheme"), [*zip(LANGUAGES, ["light", "dark"] * 2, strict=False)])
def test_it_is_accessible_in_either_theme(
    browser: Browser, tmp_path: Path, held: HeldRun, scheme: Literal["light", "dark"], language: str
) -> None:
    report = write_reports(held, tmp_path, language=language).page
    context = browser.new_context(color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    page.goto(report.as_uri())
    found = Axe().run(page).response
    context.close()
    assert len(found["passes"]) > 20
    assert [(v["id"], v["nodes"][0]["html"][:120]) for v in found["violations"]] == []


A4 = (595.3, 841.9)
"""Points."""


@pytest.fixture(scope="module")
def long_report(tmp_path_factory: pytest.TempPathFactory, held: HeldRun) -> Path:
    """A report with a flag on every second character of a page, and 40 clean pages after it, which nobody changes."""
    page = held.pages[0]
    flags = tuple(flag(line, offset, "某") for line in range(1, 9) for offset in range(1, 20, 2))
    rest = [replace(page, page=f"JMML_WYG_000-{number}b", flags=()) for number in range(3, 43)]
    run = HeldRun(held.run, [replace(page, flags=flags), *rest])
    return write_reports(run, tmp_path_factory.mktemp("long")).page


def test_a_printed_sheet_holds_ten_whole_flags_with_their_references(tab: Tab, long_report: Path) -> None:
    printed = PdfDocument(tab.open(long_report).pdf(prefer_css_page_size=True))
    sheets = []
    for sheet in printed:
        assert sheet.get_size() == pytest.approx(A4, abs=1)
        for picture in sheet.get_objects([FPDF_PAGEOBJ_IMAGE]):
            left, bottom, right, top = picture.get_bounds()
            assert left >= 0, "no picture is cut at the edge of a sheet, or goes on on the next"
            assert right <= A4[0]
            assert bottom >= 0
            assert top <= A4[1]
        text = sheet.get_textpage().get_text_bounded()
        sheets.append(len(re.findall(rf"{PAGE}\s+col\. \d+, char\. \d+\s+substitution", text)))
    assert sum(sheets) == 80, "every flag is there under its whole reference"
    full = [count for count in sheets if count]
    assert min(full[:-1]) >= 10, sheets
    printed.close()


def test_the_printed_plot_is_as_large_as_it_can_be_read(tab: Tab, long_report: Path) -> None:
    page = tab.open(long_report)
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 718, "height": 1040})
    for plot in page.locator(".plot svg").all():
        box = rectangle(plot)
        assert box["x"] + box["width"] <= 718
        assert box["width"] / float(plot.get_attribute("width") or 1) > 0.9, "it is not shrunk"
    assert page.locator(".plot .juan").all_text_contents() == ["000"]
    assert page.locator(".plot .axis").first.evaluate("one => parseFloat(getComputedStyle(one).fontSize)") >= 9


def test_paper_is_printed_light_and_whole(tab: Tab, report: Path) -> None:
    tab.page.emulate_media(media="print", color_scheme="dark")
    page = tab.open(report)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("#filter").is_visible()
    assert page.pdf()[:5] == b"%PDF-"
