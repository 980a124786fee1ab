"""The table of a collation: one page that opens offline, filtered by class, in three languages and on any screen."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from proof.collation.collation import collate
from proof.collation.findings import flags
from proof.collation.report import write_collation
from proof.collation.table import rows, write_spreadsheet, write_table
from proof.locale.languages import LANGUAGES
from proof.text.transcription import Format, Transcription
from tests.build import transcription

TEXT = "司射東面于大夫之西比耦大夫與大夫命上射曰某御于子命下射曰子與某子射卒遂比衆耦衆耦立于大夫之南西面北上"
OTHER = TEXT.replace("大夫之西", "大夫之南").replace("衆耦立", "眾耦立")


def edition(text: str, name: str, page: str = "KR1_WYG_001-1a") -> Transcription:
    marked = f"<pb:{page}>¶\n{text[:21]}¶\n{text[21:42]}¶\n{text[42:]}¶\n"
    return transcription(marked, name, Format.KANRIPO)


@pytest.mark.parametrize(("language", "width"), [*zip(LANGUAGES, (390, 1440, 390), strict=True)])
def test_the_table_is_filtered_by_class_and_fits_the_screen(
    browser: Browser, tmp_path: Path, language: str, width: int
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    asked: list[str] = []
    faults: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: faults.append(message.text))
    path = tmp_path / "collation.html"
    base = edition(TEXT, "a.txt")
    collations = [collate(base, edition(OTHER, "b.txt")), collate(base, edition(TEXT, "c.txt"))]
    write_table(collations, path, language=language)
    page.goto(path.as_uri())
    shown = page.locator("tbody tr:visible")
    assert shown.count() == 2
    page.locator("input[value=orthography]").uncheck()
    assert shown.count() == 1
    assert "大夫之西" in "".join(shown.locator("td").first.inner_text().split())
    assert shown.locator("mark").all_inner_texts() == ["西", "南", "西"]
    page.locator("input[type=search]").fill("眾")
    assert shown.count() == 0
    page.locator("input[value=orthography]").check()
    assert shown.count() == 1
    assert page.locator("html").get_attribute("lang") == language
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert [url for url in asked if not url.startswith(("data:", path.as_uri()))] == []
    assert faults == []
    page.close()


def test_a_place_shows_what_the_base_has_there_whatever_layers_each_witness_has(tmp_path: Path) -> None:
    base = edition(TEXT.replace("大夫之西", "大夫(耦謂/比偶)之西"), "base.txt")
    bare = edition(TEXT, "bare.txt")
    noted = edition(TEXT.replace("大夫之西", "大夫(耦謂/比偶)之西").replace("衆耦立于", "衆耦位于"), "noted.txt")
    (row,) = rows([collate(base, bare), collate(base, noted)], {}, tmp_path)
    assert (row.base.before[-2:], row.base.text, row.base.behind[:2]) == ("衆耦", "立", "于大")
    agreeing, differing = row.readings
    assert (agreeing.text, agreeing.category) == ("立", "")
    assert (differing.before[-2:], differing.text, differing.behind[:2]) == ("衆耦", "位", "于大")


def test_the_spreadsheet_has_the_witness_s_own_forms_where_only_another_one_differs(tmp_path: Path) -> None:
    base = edition(TEXT, "base.txt")
    other_forms = edition(TEXT.replace("衆耦衆耦", "眾耦眾耦"), "forms.txt")
    shorter = edition(TEXT.replace("與某子射卒遂比衆耦衆耦立", ""), "shorter.txt")
    write_spreadsheet([collate(base, other_forms), collate(base, shorter)], tmp_path / "places.csv")
    with (tmp_path / "places.csv").open(encoding="utf-8-sig", newline="") as file:
        (lacking,) = [row for row in csv.reader(file) if row[-1] == "passage"]
    assert lacking[3:] == ["與某子射卒遂比衆耦衆耦立", "與某子射卒遂比眾耦眾耦立", "same", "∅", "passage"]


def test_the_spreadsheet_has_no_address_that_would_run_as_a_formula(tmp_path: Path) -> None:
    base, witness = edition(TEXT, "base.txt", "=1_WYG_001-1a"), edition(OTHER, "witness.txt")
    write_spreadsheet([collate(base, witness)], tmp_path / "places.csv")
    with (tmp_path / "places.csv").open(encoding="utf-8-sig", newline="") as file:
        assert {row[0] for row in csv.reader(file)} == {"page", "'=1_WYG_001-1a"}


@pytest.mark.parametrize(
    ("image", "link"), [("images/1#a.png", "../images/1%23a.png"), ("scan.pdf#3", "../scan.pdf#page=3")]
)
def test_a_row_links_to_its_image_or_the_page_of_a_pdf(tmp_path: Path, image: str, link: str) -> None:
    collation = collate(edition(TEXT, "a.txt"), edition(OTHER, "b.txt"))
    table = rows([collation], {"KR1_WYG_001-1a": tmp_path / image}, tmp_path / "out")
    assert {row.image for row in table} == {link}


def test_a_witness_is_called_as_the_user_calls_it(tmp_path: Path) -> None:
    base, witness = edition(TEXT, "a.txt"), replace(edition(OTHER, "b.txt"), siglum="四部")
    collation = collate(base, witness)
    write_table([collation], tmp_path / "collation.html")
    assert '<th scope="col">四部</th>' in (tmp_path / "collation.html").read_text(encoding="utf-8")
    write_collation([collation], tmp_path)
    table = json.loads((tmp_path / "collatex.json").read_text(encoding="utf-8"))
    assert table["witnesses"] == ["a.txt", "四部"]
    assert "四部" in (tmp_path / "places.csv").read_text(encoding="utf-8")
    (summary,) = json.loads((tmp_path / "collation.json").read_text(encoding="utf-8"))
    assert summary["siglum"] == "四部"
    assert [witness.siglum for witness in flags(collation)[0].evidence.witnesses] == ["四部"]
