"""Columns of the transcription are added, deleted, split and joined beside their image, and what cannot be is said."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.web.drawn import LINES, WORK
from tests.web.waiting import photographed


def now(page: Page) -> list[str]:
    """The columns as they stand."""
    return [column["now"] for column in page.request.get(f"/api/v1/works/{WORK}/pages/1").json()["columns"]]


def test_columns_are_added_deleted_split_and_joined_and_taken_back(page: Page) -> None:
    page.goto(f"/works/{WORK}/pages/1")
    expect(page.locator("#sheet .cell").first).to_be_visible()
    page.keyboard.press("e")
    text, title = page.locator("#column-text"), page.locator("#column-title")
    expect(text).to_be_focused()
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Shift+Enter")
    expect(text).to_have_value(f"{LINES[0][:4]}¶{LINES[0][4:]}")
    photographed(page, "column-split")
    page.keyboard.press("Home")
    page.keyboard.press("Shift+Enter")
    expect(page.locator("#column-problem")).to_contain_text("between two of its characters")

    page.get_by_role("button", name="Add a column before").click()
    expect(title).to_contain_text("A new column before column 1")
    expect(text).to_be_focused()
    expect(text).to_have_value("")
    for change in ("Split before the cursor", "Join with the next column", "Delete the column"):
        expect(
            page.get_by_role("button", name=change)
        ).to_be_disabled()  # it would change the column beside the new one
    text.fill("　命(上/射)曰")
    photographed(page, "column-added")
    page.keyboard.press("Enter")
    expect(text).to_have_value(f"　命(上/射)曰¶{LINES[0][:4]}¶{LINES[0][4:]}")
    page.locator("#column-next").click()
    page.get_by_role("button", name="Join with the next column").click()
    expect(title).to_contain_text("Columns edited")
    page.get_by_role("button", name="Delete the column").click()
    expect(page.locator("#column-problem")).to_contain_text("something else is decided")
    page.locator("#column-close").click()
    expect(page.locator("#act-told")).to_contain_text("Columns edited")
    expect(page.locator("#sheet a.whole.corrected")).to_have_text(["　命(上/射)曰", "", ""])
    photographed(page, "columns-by-hand")
    for left in (2, 1, 0):
        page.keyboard.press("z")
        expect(page.locator("#sheet a.whole.corrected")).to_have_count(left)
    assert now(page) == LINES
