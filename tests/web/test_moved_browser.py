"""A character that moved, as people meet it: one question at both its places, decided and taken back at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from proof.model.flags import Evidence, Kind
from proof.model.result import PageResult
from proof.report.source import StoredRun
from proof.report.write import write_reports
from proof.store import Store
from tests.web.drawn import WORK, add_page, cell, checked, draw_page, settings_in, wrong
from tests.web.waiting import photographed, saved

AT = f"/works/{WORK}"
PAGE = "WYG0103-0292a"


def page_with_a_moved_character(folder: Path) -> PageResult:
    """大 stands in the second column and belongs into the third; another flag stands before it."""
    out = replace(wrong(PAGE, 2, 5, "", 6.0, Kind.INSERTION), evidence=Evidence("no glyph"))
    into = replace(
        wrong(PAGE, 3, 3, "大", 5.0, Kind.OMISSION),
        transcribed="",
        length=0,
        context="司馬命[]量人量",
        evidence=Evidence("not transcribed", p_best=0.9, alternatives=(("大", 0.9),)),
        bbox=cell(3, 3),
    )
    flags = (wrong(PAGE, 1, 2, "吿", 9.0), replace(out, moved=into.id), replace(into, moved=out.id))
    return checked(PAGE, folder / "page.png", draw_page(folder / "page.png"), flags)


def add_moved(store: Store, folder: Path) -> int:
    """That page in a store, of a text of its own; gives its run."""
    return add_page(store, page_with_a_moved_character(folder), text="moved.txt")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with Store.open(settings_in(tmp_path).store_address) as store:
        run = add_moved(store, tmp_path)
        write_reports(StoredRun(store, run), tmp_path / "out", language="en")
    return tmp_path


def states(folder: Path) -> list[tuple[str, str]]:
    with Store.open(folder / "proof.sqlite") as store:
        return sorted((one.transcribed, one.reading) for one in store.decisions.standing(WORK))


def test_it_is_asked_once_with_both_places_and_taken_back_at_once(folder: Path, page: Page) -> None:
    page.goto(f"{AT}/")
    expect(page.locator("a.row")).to_have_count(2)
    expect(page.locator("a.row").nth(1)).to_contain_text("column 2 → 3")
    photographed(page, "moved-queue", full_page=True)
    page.goto(f"{AT}/desk")
    expect(page.locator("#progress-words")).to_have_text("0 of 2")
    page.keyboard.press("k")
    expect(page.locator("#kind")).to_have_text("moved")
    expect(page.locator("#cell")).to_have_text("col. 2, char. 6 → col. 3, char. 4")
    expect(page.locator("#why")).to_contain_text("大 moved from column 2 to column 3")
    expect(page.locator("#stage .place.other")).to_have_count(1)
    photographed(page, "moved-desk", full_page=True)
    page.keyboard.press("t")
    expect(page.locator("#end")).to_be_visible()
    expect(page.locator("#progress-words")).to_have_text("2 of 2")
    expect(page.locator("#trail li").first).to_have_text("moves 大")
    saved(page)
    assert states(folder) == [("", "大"), ("告", "告"), ("大", "")]
    page.keyboard.press("z")
    expect(page.locator("#act-told")).to_contain_text(f"Taken back: moves 大 · {PAGE} · column 2 → 3")
    photographed(page, "moved-taken-back", full_page=True)
    assert states(folder) == [("告", "告")]
    page.keyboard.press("y")
    expect(page.locator("#end")).to_be_visible()
    assert len(states(folder)) == 3
