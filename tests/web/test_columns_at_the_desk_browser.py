"""A finding about a whole column at the desk: the column on the image, its text beside it; and the text of other flags
as it stands after decisions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from proof.model.flags import Evidence, Flag, Kind
from proof.model.geometry import Box
from proof.store import Store
from tests.web.drawn import RIGHT, TOP, WIDTH, WORK, add_page, checked, draw_page, settings_in, wrong
from tests.web.waiting import box_of, open_desk, photographed, press, saved

PAGE = "WYG0103-0292a"
MISSING = "大射正執弓皆以授有司于階下"


def about_column(line: int, reason: str, transcribed: str, suggested: str, read: str = "") -> Flag:
    """A finding about column `line`, which stands in column 4 of the image."""
    flag = wrong(PAGE, 1, 0, suggested, 9.0, Kind.LAYOUT)
    place = Box(RIGHT - 4 * WIDTH, TOP - 10, WIDTH, 640)
    evidence = Evidence(reason, note=read)
    about = replace(flag, line=line, offset=0, length=len(transcribed), transcribed=transcribed, evidence=evidence)
    return replace(about, bbox=place, context=reason, id=f"{line}{reason}"[:20])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project of one page with findings about its columns."""
    missing = replace(about_column(3, "column missing", "", MISSING, MISSING), score=9.5)
    text = "小臣師納卿大夫卿大夫"
    away, there = about_column(2, "column moved", text, ""), about_column(4, "column moved", "", text)
    flags = (
        missing,
        *(replace(away, moved=there.id), replace(there, moved=away.id)),
        wrong(PAGE, 1, 2, "吿", 8.0),
        wrong(PAGE, 1, 3, "貝", 7.0),
    )
    with Store.open(settings_in(tmp_path).store_address) as store:
        found = checked(PAGE, tmp_path / "page.png", draw_page(tmp_path / "page.png"), flags)
        add_page(store, found, text="columns.txt")
    return tmp_path


def test_a_column_is_one_card_and_decisions_are_seen_in_the_text_beside_them(page: Page) -> None:
    page.goto(f"/works/{WORK}/")
    rows = page.locator("a.row")
    expect(rows).to_have_count(4)  # what moved is one question
    expect(rows.nth(0)).to_contain_text("大射正…階下")
    expect(rows.nth(0)).to_contain_text("A column of the image is not in the text.")
    expect(rows.nth(1)).to_contain_text("column 2 → 4")
    photographed(page, "columns-queue")

    open_desk(page, f"/works/{WORK}/desk")
    assert "".join(page.locator("#stage .text text").all_text_contents()) == MISSING
    column, picture = box_of(page.locator("#stage .place")), box_of(page.locator("#stage > svg").first)
    assert column["y"] >= picture["y"]
    assert column["y"] + column["height"] <= picture["y"] + picture["height"]
    expect(page.locator("#suggested")).to_contain_text("大射正…階下")
    photographed(page, "column-missing")
    press(page, "t")
    expect(page.locator("#kind")).to_have_text("moved")
    photographed(page, "column-moved")
    press(page, "k")
    press(page, "t")
    expect(page.locator("#stage .text text.seen")).to_have_text("吿")
    expect(page.locator("#stage .text text.said")).to_have_text("具")
    saved(page)

    page.goto(f"/works/{WORK}/pages/1")
    expect(page.locator("#sheet a.whole")).to_have_count(3)
    expect(page.locator("#sheet .cell.flagged.corrected")).to_have_count(1)
    photographed(page, "columns-page")

    page.goto(f"/works/{WORK}/history")
    expect(page.locator(".log").first).to_contain_text("A column of the image is not in the text.")
    expect(page.locator(".log").first).to_contain_text("小臣師…大夫")
    expect(page.locator(".log").first).not_to_contain_text("column missing")
