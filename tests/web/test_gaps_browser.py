"""What is missing in the text, in a real Chromium: the gap is marked, and no character beside it; what is set stands in
the gap; a run of characters, or a column, needs no more room in a list than another flag."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FloatRect, Page, expect

from proof.model.flags import Kind, WitnessReading
from proof.model.geometry import Box
from proof.store import Store
from tests.web.drawn import LINES, PITCH, WORK, add_page, cell, checked, draw_page, settings_in, wrong
from tests.web.served import serving
from tests.web.waiting import box_of, open_desk, saved, shown_whole

AT = f"/works/{WORK}"
PAGE = f"{'KR1d0030_' * 3}WYG0103-0192a"
RUN = "惠王齊宣王"
WHOLE = "使厚幣迎之許以為相莊周笑謂楚使者曰千金重利"


@pytest.fixture
def page(tmp_path: Path, browser: Browser) -> Iterator[Page]:
    """A browser at a page that lacks a run of characters, one of two equal characters, and a column."""
    end = len(LINES[0])
    missing = replace(wrong(PAGE, 1, end - 1, RUN, 9.0, Kind.OMISSION), offset=end, length=0, transcribed="", id="run")
    place = cell(1, end)
    missing = replace(missing, bbox=Box(place.x, place.y, place.w, 1.5 * PITCH), context="公升即位[]")
    missing = replace(missing, evidence=replace(missing.evidence, spellings=(RUN.replace("齊", "齐"),)))
    equal = replace(wrong(PAGE, 2, 4, "卿卿", 8.0, Kind.OMISSION), bbox=cell(2, 3), id="equal")
    column = Box(500, 110, 100, 640)
    lacking = replace(wrong(PAGE, 3, 0, WHOLE, 7.0, Kind.LAYOUT), length=0, transcribed="", bbox=column, id="column")
    rare = wrong(PAGE, 1, 5, "鵲", 6.0)
    readings = (WitnessReading("甲本", "𪆰", name="甲書院刊本"), WitnessReading("~vlm", "鵲", "image"))
    rare = replace(rare, evidence=replace(rare.evidence, witnesses=readings), id="rare")
    settings = settings_in(tmp_path)
    with Store.open(settings.store_address) as store:
        sha = draw_page(tmp_path / "page.png")
        add_page(store, checked(PAGE, tmp_path / "page.png", sha, (missing, equal, lacking, rare)))
    with serving(tmp_path) as address:
        context = browser.new_context(viewport={"width": 1440, "height": 900}, locale="en-GB", base_url=address)
        yield context.new_page()
        context.close()


def overlap(first: FloatRect, second: FloatRect) -> float:
    """The height, in pixels, that two rectangles share."""
    ends = (min(box["y"] + box["height"] for box in (first, second)), max(first["y"], second["y"]))
    return max(0.0, ends[0] - ends[1])


def test_a_gap_is_marked_and_no_character_beside_it_and_what_is_set_stands_in_it(page: Page) -> None:
    page.goto(f"{AT}/pages/1")
    gaps = page.locator("#sheet a.cell.extra")
    expect(gaps).to_have_count(2)
    expect(page.locator("#sheet .cell[data-n].flagged")).to_have_text(LINES[0][5])
    expect(page.locator(".boxes rect.gap")).to_have_count(2)
    expect(page.locator(".boxes rect.flagged[data-n]")).to_have_count(1)
    page.keyboard.press("e")
    expect(page.locator("#column-read")).to_have_text(LINES[0] + RUN)
    page.keyboard.press("Escape")

    open_desk(page, f"{AT}/desk")
    for key in ("t", "t"):
        page.keyboard.press(key)
    saved(page)
    page.goto(f"{AT}/pages/1")
    expect(gaps).to_have_text([RUN, "卿"])
    expect(page.locator("#sheet .cell[data-n]", has_text="卿").first).to_have_text("卿")
    expect(page.locator("#sheet del")).to_have_count(0)
    last = box_of(page.locator(f"#sheet [data-n='{len(LINES[0]) - 1}']"))
    assert overlap(box_of(gaps.first), last) < 2


def test_a_run_or_a_column_is_a_row_like_another_and_its_reference_keeps_its_end(page: Page) -> None:
    for width in (1440, 1024):
        page.set_viewport_size({"width": width, "height": 768})
        page.goto(f"{AT}/")
        shown_whole(page)
        rows = page.locator("a.row")
        expect(rows).to_have_count(4)
        for row in rows.all():
            assert box_of(row)["height"] < 110
            assert row.locator(".id").evaluate(
                """(id) => {
                    const [range, text] = [document.createRange(), id.querySelector("bdi").firstChild];
                    range.setStart(text, text.length - 2);
                    range.setEnd(text, text.length);
                    return range.getBoundingClientRect().right <= id.getBoundingClientRect().right + 1;
                }"""
            )
    picture = rows.nth(2).locator("img")
    assert f"/500,110,100,{160}/" in (picture.get_attribute("src") or ""), "a column is known by its head"
    assert picture.evaluate("(image) => image.naturalWidth > 0")


def test_what_a_witness_alone_reads_is_taken_by_a_key_and_a_gap_is_called_so(page: Page) -> None:
    open_desk(page, f"{AT}/desk")
    page.keyboard.press("c")
    expect(page.locator("#trail li").first).to_contain_text("omission")
    for key in ("k", "k"):
        page.keyboard.press(key)
    expect(page.locator("#alternatives button").last).to_have_text("3 𪆰 甲本")
    page.keyboard.press("3")
    saved(page)
    page.goto(f"{AT}/desk?state=corrected")
    expect(page.locator("#stands")).to_contain_text("𪆰")
    expect(page.locator("#stands")).to_contain_text("甲本")


def test_where_the_text_leaves_a_form_open_the_desk_says_so_and_the_other_is_taken_by_a_key(page: Page) -> None:
    open_desk(page, f"{AT}/desk")
    expect(page.locator("#why")).to_contain_text("does not decide between the forms 齊/齐")
    expect(page.locator("#alternatives button").first).to_have_text("1 齐 other form")
    page.keyboard.press("1")
    saved(page)
    page.goto(f"{AT}/desk?state=corrected")
    expect(page.locator("#stands")).to_contain_text("惠王齐宣王")
    expect(page.locator("#stands")).to_contain_text("image")


def test_the_layout_that_is_set_right_begins_with_the_column_that_the_text_lacks(page: Page) -> None:
    page.goto(f"{AT}/pages/1")
    expect(page.locator("body")).to_have_attribute("data-ready", "1")
    page.get_by_role("button", name="Set the layout right").click()
    expect(page.locator(".layout-rule")).to_have_count(len(LINES))


def test_a_column_is_typed_with_its_notes_however_long_they_are(page: Page) -> None:
    """What stands for a place alone stays short and without markup."""
    column = f"({RUN * 10}/{RUN * 10})"
    open_desk(page, f"{AT}/desk?kind=layout")
    page.keyboard.press("e")
    page.locator("#typed").fill("(使厚幣")
    page.keyboard.press("Enter")
    expect(page.locator("#typed-problem")).to_contain_text("markup")
    page.locator("#typed").fill(column)
    page.keyboard.press("Enter")
    expect(page.locator("#end")).to_be_visible()
    saved(page)
    detail = page.request.get(f"/api/v1/works/{WORK}/flags?kind=layout&state=corrected").json()
    assert [flag["reading"] for flag in detail["items"]] == [column]
    open_desk(page, f"{AT}/desk?kind=substitution")
    page.keyboard.press("e")
    assert page.locator("#typed").evaluate("(input) => input.maxLength") == 64
