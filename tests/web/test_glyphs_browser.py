"""What the eye is shown: glyphs beside glyphs, a glyph that stands still, a page as it stands now."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.web.drawn import WORK
from tests.web.test_axe_browser import grave
from tests.web.waiting import box_of, middle, passed, saved, shown, still, until


def test_the_odd_glyph_stands_first_and_is_corrected_with_others_by_keys_or_by_mouse_alone(page: Page) -> None:
    page.goto(f"/works/{WORK}/glyphs?text=公")
    glyphs = page.locator("#grid .glyph")
    expect(glyphs).to_have_count(6)
    expect(glyphs.first).to_contain_text("0194a")
    for key in ("ArrowRight", "Space", "ArrowRight", "Space"):
        page.keyboard.press(key)
    expect(page.locator("#chosen")).to_have_text("2 chosen")
    page.keyboard.press("e")
    page.keyboard.insert_text("松")
    page.keyboard.press("Enter")
    expect(page.locator("#act-told")).to_contain_text("公 → 松 · 2 decided")
    expect(page.locator("#grid .glyph.over")).to_have_count(2)
    assert grave(page) == []
    page.keyboard.press("z")
    expect(page.locator("#act-told")).to_contain_text("Taken back")
    expect(page.locator("#grid .glyph.over")).to_have_count(0)
    page.locator("#offered button", has_text="吿").click()
    expect(glyphs).to_have_count(3)
    for glyph in glyphs.all():
        glyph.click()
    page.get_by_role("button", name="告 → 吿").last.click()
    expect(page.locator("#grid .glyph.over")).to_have_count(3)
    page.goto(f"/works/{WORK}/?state=corrected")
    expect(page.locator("a.row")).to_have_count(3)


def test_a_key_waits_for_the_image_and_a_second_one_decides_nothing_unseen(page: Page) -> None:
    page.route("**/iiif/**", lambda route: None)
    page.goto(f"/works/{WORK}/desk", wait_until="domcontentloaded")
    expect(page.locator("#stage .loading")).to_have_text("The image is loading …")
    page.keyboard.press("k")
    page.keyboard.press("k")
    page.wait_for_timeout(100)
    assert shown(page) == 1
    page.unroute("**/iiif/**")  # what was held goes on
    passed(page, 1)
    saved(page)
    expect(page.locator("#trail li")).to_have_count(1)


def test_the_page_shows_what_stands_now_and_moves_with_its_image(page: Page) -> None:
    page.goto(f"/works/{WORK}/desk")
    page.keyboard.press("t")
    saved(page)
    page.goto(f"/works/{WORK}/pages/1")
    until(page, "document.body.dataset.ready === '1'")
    expect(page.locator(".cell.corrected")).to_have_text("吿")
    expect(page.locator(".was")).to_have_text("告")
    page.locator(".cell", has_text="射").first.hover()
    expect(page.locator("rect.lit")).to_have_count(1)
    lit, viewer = box_of(page.locator("rect.lit")), box_of(page.locator("#viewer"))
    assert viewer["x"] < lit["x"] < viewer["x"] + viewer["width"]

    def away() -> float:
        """How much higher or lower a character stands than its glyph."""
        return middle(page.locator(".cell[data-n='12']"))[1] - middle(page.locator("rect[data-n='12']"))[1]

    still(page.locator("rect[data-n='12']"))
    assert abs(away()) < 3
    page.keyboard.press("+")
    page.keyboard.press("+")
    still(page.locator("rect[data-n='12']"))
    assert abs(away()) < 3
    assert grave(page) == []
