"""The report in a real browser, offline: what is seen, what is asked for, what the keys do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, FloatRect, Locator, Page
from pypdfium2 import PdfDocument
from pypdfium2.raw import FPDF_PAGEOBJ_IMAGE

from proof.model.flags import Evidence, Kind
from proof.report import write_reports
from tests.report.conftest import PAGE, flag
from tests.report.held import HeldRun


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    """A new tab without a network."""
    context = browser.new_context(offline=True, viewport={"width": 1400, "height": 900})
    yield context.new_page()
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


def test_it_opens_offline_and_asks_for_nothing(tab: Page, report: Path) -> None:
    asked: list[str] = []
    complaints: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("console", lambda message: complaints.append(message.text))
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.goto(report.as_uri())
    assert [url for url in asked if not url.startswith("data:")] == [report.as_uri()]
    assert complaints == []
    assert tab.locator("article.flag:visible").count() == 8
    assert "2 most" not in tab.inner_text("main")


def test_the_crops_are_pictures_and_the_mark_is_on_the_glyph(tab: Page, report: Path, held: HeldRun) -> None:
    """某 in column 2 of the image: the box of the character in question, brought to the screen, is the mark's place.
    Beside it the glyph is shown large."""
    tab.goto(report.as_uri())
    flag = held.pages[0].flags[0]
    card = tab.locator(f"#f-{flag.id}")
    strip, mark = card.locator("svg.strip.paper"), card.locator("rect.place")
    image = strip.locator("image").evaluate("e => ({x: e.x.baseVal.value, y: e.y.baseVal.value, w: e.getBBox().width})")
    on_screen, marked = rectangle(strip), rectangle(mark)
    assert flag.bbox is not None
    scale = on_screen["width"] / image["w"]
    for side, along, centre in (("x", "width", flag.bbox.centre[0]), ("y", "height", flag.bbox.centre[1])):
        middle = marked[side] + marked[along] / 2  # type: ignore[literal-required]
        assert middle == pytest.approx(on_screen[side] + scale * (centre - image[side]), abs=1.0)  # type: ignore[literal-required]
    text_box = rectangle(card.locator("text.said"))
    assert abs(text_box["y"] + text_box["height"] / 2 - marked["y"] - marked["height"] / 2) < 4
    dark = tab.evaluate(
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
    glyphs = [rectangle(glyph) for glyph in tab.locator("figure.glyph img").all()]
    assert len(glyphs) == 8
    assert min(box["width"] for box in glyphs) >= 96
    assert all(box["width"] == pytest.approx(box["height"], abs=1) for box in glyphs)


def test_the_flags_are_filtered_and_walked_through_by_keys(tab: Page, report: Path) -> None:
    """By kind, pair and page; J and K go from flag to flag, except where one types."""
    tab.goto(report.as_uri())
    shown, sought = tab.locator("article.flag:visible"), "#filter input[type=search]"
    ids = [flag.get_attribute("id") for flag in shown.all()]

    def press(key: str) -> str:
        tab.keyboard.press(key)
        focused: str = tab.evaluate("document.activeElement.id")
        return focused

    assert [press("j"), press("j"), press("k"), press("k")] == [ids[0], ids[1], ids[0], ids[0]]
    tab.uncheck("#filter input[value=substitution]")
    assert shown.count() == 3
    tab.check("#filter input[value=substitution]")
    tab.click("li[data-pair='其→某']")
    assert shown.count() == 2
    tab.focus(sought)
    tab.keyboard.type("jk")
    assert tab.input_value(sought) == "其→某jk"
    assert shown.count() == 0
    assert tab.inner_text("#filter output") == "0 shown"
    tab.fill(sought, "jmml_wyg_000-2A")
    assert shown.count() == 8


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_accessible_in_either_theme(browser: Browser, report: Path, scheme: Literal["light", "dark"]) -> None:
    context = browser.new_context(color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    page.goto(report.as_uri())
    response = Axe().run(page).response
    context.close()
    assert len(response["passes"]) > 20
    assert [(v["id"], v["nodes"][0]["html"][:120]) for v in response["violations"]] == []


A4 = (595.3, 841.9)
"""Points."""


@pytest.fixture
def long_report(tmp_path: Path, held: HeldRun) -> Path:
    """A report with a flag on every fourth character of a page, and 40 clean pages after it."""
    page = held.pages[0]
    flags = tuple(flag(line, offset, "某") for line in range(1, 9) for offset in range(1, 20, 4))
    rest = [replace(page, page=f"JMML_WYG_000-{number}b", flags=()) for number in range(3, 43)]
    run = HeldRun(held.run, [replace(page, flags=flags), *rest])
    return write_reports(run, tmp_path).page


def test_a_printed_sheet_holds_ten_whole_flags_and_a_plot_that_can_be_read(tab: Page, long_report: Path) -> None:
    tab.goto(long_report.as_uri())
    printed = PdfDocument(tab.pdf(prefer_css_page_size=True))
    sheets = []
    for sheet in printed:
        assert sheet.get_size() == pytest.approx(A4, abs=1)
        for picture in sheet.get_objects([FPDF_PAGEOBJ_IMAGE]):
            left, bottom, right, top = picture.get_bounds()
            within = left >= 0 and right <= A4[0] and bottom >= 0 and top <= A4[1]
            assert within, "no picture is cut at the edge of a sheet, or goes on on the next"
        text = sheet.get_textpage().get_text_bounded()
        sheets.append(len(re.findall(rf"{PAGE}\s+col\. \d+, char\. \d+\s+substitution", text)))
    assert sum(sheets) == 40, "every flag is there under its whole reference"
    full = [count for count in sheets if count]
    assert min(full[:-1]) >= 10, sheets
    printed.close()
    tab.emulate_media(media="print")
    tab.set_viewport_size({"width": 718, "height": 1040})
    for plot in tab.locator(".plot svg").all():
        box = rectangle(plot)
        assert box["x"] + box["width"] <= 718
        assert box["width"] / float(plot.get_attribute("width") or 1) > 0.9, "it is not shrunk"
    assert tab.locator(".plot .juan").all_text_contents() == ["000"]
    assert tab.locator(".plot .axis").first.evaluate("one => parseFloat(getComputedStyle(one).fontSize)") >= 9


@pytest.mark.parametrize("width", [1400, 820, 390])
def test_a_long_run_stays_in_its_card_and_references_keep_their_end(
    tab: Page, tmp_path: Path, held: HeldRun, width: int
) -> None:
    page = held.pages[0]
    run = "惠王齊宣王同時其學無所不闚然其要本歸于老"
    seen = (run, 0.9), (run.replace("闚", "闕"), 0.1)
    long = flag(
        8,
        4,
        run,
        kind=Kind.OMISSION,
        length=0,
        transcribed="",
        evidence=Evidence("not transcribed", p_best=0.9, alternatives=seen),
    )
    tab.set_viewport_size({"width": width, "height": 900})
    tab.goto(
        write_reports(
            HeldRun(held.run, [replace(page, page=f"{'KR1d0030_' * 4}{PAGE}", flags=(long,))]), tmp_path
        ).page.as_uri()
    )
    card = rectangle(tab.locator("article.flag"))
    for shown in tab.locator(".alternatives > li > *, .alternatives .count").all():
        box = rectangle(shown)
        assert box["x"] + box["width"] <= card["x"] + card["width"]
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert tab.locator(".flag .id").evaluate(
        """(id) => {
            const [range, text] = [document.createRange(), id.firstChild.firstChild];
            range.setStart(text, text.length - 2);
            range.setEnd(text, text.length);
            return range.getBoundingClientRect().right <= id.getBoundingClientRect().right + 1;
        }"""
    ), "its end is seen"
