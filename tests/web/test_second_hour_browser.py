"""What is met in the second hour at the desk: messages in view, lists that go on, each in a real Chromium."""

from __future__ import annotations

import time

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect

from tests.conftest import PATIENCE
from tests.web.drawn import LINES, WORK
from tests.web.waiting import box_of, open_desk, photographed, press, saved

AT = f"/works/{WORK}"
SIZES: dict[str, ViewportSize] = {
    "laptop": {"width": 1024, "height": 768},
    "desktop": {"width": 1440, "height": 900},
    "telephone": {"width": 390, "height": 844},
}


def whole_in_view(place: Locator) -> bool:
    """Whether all of an element is on the screen, and nothing lies over its middle."""
    return bool(
        place.evaluate(
            """(one) => {
                const { left, top, right, bottom } = one.getBoundingClientRect();
                const inside = left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight && bottom > top;
                const there = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
                return inside && (one === there || one.contains(there));
            }"""
        )
    )


def test_a_message_of_the_desk_is_in_view_and_read_out_and_moves_nothing(page: Page) -> None:
    element = page.locator("#act-told")
    for name, size in SIZES.items():
        page.set_viewport_size(size)
        open_desk(page, f"{AT}/desk")
        press(page, "k")
        saved(page)
        tiles = box_of(page.locator(".tiles"))
        page.locator("#delete").scroll_into_view_if_needed()
        page.keyboard.press("z")
        expect(element).to_contain_text("Taken back")
        assert whole_in_view(element), name
        expect(page.get_by_role("status").filter(has=element)).to_have_count(1)
        photographed(page, f"message-{name}")
        page.evaluate("scrollTo(0, 0)")
        assert box_of(page.locator(".tiles")) == tiles, name
        assert whole_in_view(element), name
        element.get_by_role("button", name="Close").click()
        expect(element).to_be_hidden()


def test_a_form_of_the_desk_opens_in_view_and_leaves_the_next_flag_seen_from_its_head(page: Page) -> None:
    for size in (SIZES["desktop"], SIZES["laptop"]):
        page.set_viewport_size(size)
        open_desk(page, f"{AT}/desk")
        page.keyboard.press("a")
        expect(page.locator("#authority")).to_be_focused()
        for part in ("#authority", "#remark", "#resting button"):
            assert whole_in_view(page.locator(part)), part
        page.keyboard.press("Escape")
        page.keyboard.press("e")
        expect(page.locator("#typed")).to_be_focused()
        assert whole_in_view(page.locator("#typing button"))
        page.keyboard.press("Escape")
        assert whole_in_view(page.locator("#where"))
        assert page.locator("#panel").evaluate("(panel) => panel.scrollTop") == 0


def test_what_is_too_long_for_a_field_is_not_pasted_in_part(page: Page) -> None:
    open_desk(page, f"{AT}/desk?kind=substitution")
    page.keyboard.press("/")
    page.keyboard.insert_text("射" * 80)
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+c")
    page.locator("#find").get_by_role("button", name="Close").click()
    page.keyboard.press("e")
    page.keyboard.insert_text("大")
    page.keyboard.press("Control+v")
    typed = page.locator("#typed")
    expect(typed).to_have_value("大")
    message = typed.evaluate("(field) => field.validationMessage")
    assert message == "Not pasted: it has 80 characters, and 64 fit here."
    page.keyboard.press("Enter")
    expect(page.locator("#trail li")).to_have_count(1)


@pytest.mark.parametrize("view", ["progress", "history", "export", "pages/"])
def test_a_page_that_is_printed_is_as_long_as_what_it_has(page: Page, view: str) -> None:
    page.set_viewport_size({"width": 1200, "height": 160})
    page.goto(f"/works/{WORK}/{view}")
    page.emulate_media(media="print")
    hidden = page.locator("main").evaluate("(main) => main.scrollHeight - main.clientHeight")
    assert hidden <= 1
    assert page.evaluate("document.documentElement.scrollHeight") > 160


def test_on_a_low_window_the_three_glyphs_stand_beside_the_column(page: Page) -> None:
    """They stood below it, out of sight: with a zoom of 200%, or on a telephone that lies on its side."""
    for size in (ViewportSize(width=640, height=400), ViewportSize(width=667, height=375)):
        page.set_viewport_size(size)
        open_desk(page, f"{AT}/desk?kind=substitution")
        tiles, stage = page.locator(".tiles > *"), box_of(page.locator("#stage"))
        assert stage["y"] + stage["height"] <= size["height"]
        for number in range(3):
            assert whole_in_view(tiles.nth(number))
            assert box_of(tiles.nth(number))["x"] >= stage["x"] + stage["width"]


VIEWS = ("", "desk", "pairs?text=侯&image=", "glyphs?text=公", "pages/", "pages/1", "history", "progress")


def test_on_a_telephone_the_head_is_low_undo_is_where_a_thumb_is_and_what_is_chosen_above_the_fold(page: Page) -> None:
    page.set_viewport_size(SIZES["telephone"])
    for view in VIEWS:
        page.goto(f"{AT}/{view}")
        assert box_of(page.locator("header.bar"))["height"] <= 100, view
        for way in ("undo", "redo"):
            button = page.locator(f"#undoing [data-undo={way}]")
            box = box_of(button)
            assert min(box["width"], box["height"]) >= 44
            assert box["y"] > 600
            assert whole_in_view(button), (view, way)
        if "pairs" in view:
            expect(page.locator("#grid button").first).to_be_visible()
            assert whole_in_view(page.locator("#grid button").first)
            assert whole_in_view(page.locator("#pairlist [aria-current]"))
        if "glyphs" in view:
            expect(page.locator("#grid .glyph").first).to_be_visible()
            chips, last = box_of(page.locator("#offered")), box_of(page.locator("#offered .chip").last)
            assert last["y"] + last["height"] <= chips["y"] + chips["height"]
    expect(page.locator("#language")).to_be_hidden()
    page.get_by_role("button", name="Language, light or dark, account").click()
    expect(page.locator("#language")).to_be_visible()
    photographed(page, "telephone-more")
    open_desk(page, f"{AT}/desk")
    page.locator("#unsure").click()
    expect(page.locator("#trail li")).to_have_count(1)
    assert box_of(page.locator("#stage"))["y"] >= 0, "the next flag is seen from its image on"
    open_desk(page, f"{AT}/desk?kind=insertion&first_page=1&last_page=1")
    press(page, "k")
    expect(page.locator("#end")).to_be_visible()
    saved(page)
    page.locator("#undoing [data-undo=undo]").click()
    expect(page.locator("#flag")).to_be_visible()
    expect(page.locator("#act-told")).to_contain_text("Taken back")


def test_a_page_is_edited_column_by_column_beside_its_image_and_taken_back(page: Page) -> None:
    page.goto(f"{AT}/pages/1")
    expect(page.locator("#sheet .cell").first).to_be_visible()
    page.keyboard.press("e")
    text = page.locator("#column-text")
    expect(text).to_be_focused()
    expect(text).to_have_value(LINES[0])
    expect(page.locator("#column-read")).to_have_text(LINES[0])
    expect(page.locator("#column-image")).to_be_visible()
    text.fill("射人告具于公升阼即位")
    expect(page.locator("#column-read mark")).to_have_text("公")
    photographed(page, "column-edited")
    text.press("Enter")
    expect(text).to_have_value(LINES[1])
    text.fill(f"({LINES[1]}")
    text.press("Enter")
    expect(page.locator("#column-problem")).to_contain_text("markup")
    page.keyboard.press("Escape")
    expect(page.locator("#act-told")).to_contain_text("Columns edited")
    expect(page.locator("#sheet .cell.corrected, #sheet .cell.deleted")).to_have_count(2)
    page.locator("#act-told").get_by_role("button").first.click()
    expect(page.locator("#sheet .cell.corrected, #sheet .cell.deleted")).to_have_count(0)


def test_a_string_is_replaced_all_over_with_one_key_a_place_beside_its_image(page: Page) -> None:
    """Each column has 公 twice: of equal ones the one that is meant is replaced."""
    page.goto(f"{AT}/find?q=公")
    page.get_by_role("link", name="Replace 公").click()
    expect(page.locator("#places mark.found")).to_have_count(6)
    expect(page.locator("#places del")).to_have_count(0)
    page.get_by_label("What should be there instead").fill("工作")
    page.keyboard.press("Enter")
    places = page.locator("#places > li")
    expect(places).to_have_count(6)
    expect(places.first.locator("img")).to_have_js_property("complete", value=True)
    photographed(page, "replace")
    for key in ("t", "t", "k", "t"):
        page.keyboard.press(key)
    expect(page.locator("#places > [data-done=taken]")).to_have_count(3)
    expect(page.locator("#places > [data-done=left]")).to_have_count(1)
    expect(places.nth(4)).to_be_focused()
    expected = ["射人告具于工作工作升即位", "射人告具于公工作升即位", LINES[0]]
    deadline = time.monotonic() + PATIENCE
    while (read := [first_column(page, number) for number in (1, 2, 3)]) != expected:
        assert time.monotonic() < deadline, read
    page.keyboard.press("z")
    expect(page.locator("#act-told")).to_contain_text("Taken back")
    expect(places).to_have_count(4)


def first_column(page: Page, number: int) -> str:
    """How the first column of a page reads as it stands."""
    return str(page.request.get(f"/api/v1/works/{WORK}/pages/{number}").json()["columns"][0]["now"])
