"""A rendered half-folio: what is drawn stands where the truth says, and looks as a half-folio does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import cv2
import numpy as np
import pytest
from rapidfuzz.distance import Levenshtein

from proof.errors import FontError, UsageError
from proof.facsimile.brush import LINES as OF_LINES
from proof.facsimile.leaf import Style
from proof.facsimile.render import RenderedPage, TrueCharacter, render_page, render_plate
from proof.facsimile.wear import LEVELS, Wear
from proof.ocr.ppocr import PPOCR
from proof.text.model import Page

pytestmark = pytest.mark.slow

MakePage = Callable[..., Page]

LINES = (
    "欽定四庫全書",
    "　儀禮集釋卷十　　　　　宋　李如圭　撰",
    "大射儀",
    "司射適西階西倚扑升自西階東面請射于公",
    "司射東面于大夫之西比耦大夫與大夫(案比今注疏/本訛作北據)",
    "(唐石經及/宋本改正)命上射曰某御于子命下射曰子與某子射",
    "　鄭注𫝊告服不使知此司射所命",
    "",
)
APART = Style(detached=0.5, leaning=0.2, bent=0.02, frame=1.5)
"""Of pages of which it is told whose ink is where."""


@pytest.fixture(scope="module")
def page(make_page: MakePage) -> Page:
    return make_page(*LINES)


@pytest.fixture(scope="module")
def plain(page: Page) -> RenderedPage:
    """The page without wear."""
    return render_page(page)


def test_every_cell_with_a_character_is_on_the_page_once_in_reading_order(page: Page, plain: RenderedPage) -> None:
    assert [(character.line, character.offset, character.text, character.row) for character in plain.characters] == [
        (column.number, cell.offset, cell.text, cell.row)
        for column in page.columns
        for cell in column.cells
        if not cell.blank
    ]


@pytest.mark.parametrize("wear", [Wear(), Wear(skew=3.0, keystone=0.004)], ids=["straight", "skewed"])
@pytest.mark.parametrize("scale", [1.0, 1.8])
def test_all_ink_of_the_text_lies_in_the_boxes_and_every_box_is_tight(page: Page, wear: Wear, scale: float) -> None:
    drawn = render_page(page, Style(scale=scale), wear, seed=1)
    ink = drawn.image < 128
    covered, between_rules = np.zeros(ink.shape, np.uint8), np.zeros(ink.shape, np.uint8)
    slack = 1 + scale
    reach = round(slack) + 1
    for character in drawn.characters:
        corner = (int(character.box.x - slack), int(character.box.y - slack))
        cv2.rectangle(
            covered, corner, (int(character.box.right + slack), int(character.box.bottom + slack)), (255,), -1
        )
        box = ink[
            round(character.box.y) : round(character.box.bottom), round(character.box.x) : round(character.box.right)
        ]
        edges = (box[:reach], box[-reach:], box[:, :reach], box[:, -reach:])
        assert all(edge.any() for edge in edges), character.text
    for column in drawn.halves[0].columns:
        corners = np.array(column)
        shrunk = corners + (corners.mean(axis=0) - corners) * (0.2, 0.02)
        cv2.fillConvexPoly(between_rules, shrunk.astype(np.int32), (255,))
    assert not (ink & (between_rules > 0) & (covered == 0)).any()


def test_the_middle_of_the_ink_lies_in_the_characters_own_cell(page: Page) -> None:
    worn = [render_page(page, wear=LEVELS["heavy"], seed=seed) for seed in range(3)]
    assert (
        np.mean([character.cell.contains(*character.box.centre) for drawn in worn for character in drawn.characters])
        >= 0.99
    )


def test_a_column_is_raised_when_that_is_asked_for(make_page: MakePage) -> None:
    page = make_page("聖度謙沖", "國朝")
    plain, drawn = (render_page(page, Style(raised=each)) for each in ((), (((page.id, 1), 1),)))
    assert plain.characters[0].cell.y > plain.halves[0].frame[0][1]
    top = drawn.halves[0].frame[0][1]
    assert drawn.characters[0].cell.centre[1] < top < drawn.characters[1].cell.centre[1]
    assert drawn.characters[4].cell.y > top


def test_a_character_without_a_font_is_drawn_as_a_lacuna_and_told(make_page: MakePage) -> None:
    drawn = render_page(make_page("其&KR0058;人", "[扌*奎]之", "&KR0058;&#x4E00;"))
    lacunae = [character for character in drawn.characters if character.missing]
    assert drawn.missing == ("&KR0058;", "[扌*奎]")
    assert [(character.line, character.offset, character.length) for character in lacunae] == [
        (1, 1, 8),
        (2, 0, 5),
        (3, 0, 8),
    ]
    for box in (character.box for character in lacunae):
        ink = drawn.image[round(box.y) : round(box.bottom), round(box.x) : round(box.right)] < 128
        assert ink.mean() > 0.3


def test_a_full_page_has_the_size_of_a_scan(page: Page, plain: RenderedPage) -> None:
    height, width = plain.image.shape
    assert (1400 < height < 1700, 1000 < width < 1300) == (True, True)
    height, width = render_page(page, Style(scale=2, wide_margins=False)).image.shape
    assert (2400 < height < 2800, 1700 < width < 1900) == (True, True)


def test_what_no_half_folio_can_hold_is_refused_by_its_line(make_page: MakePage) -> None:
    with pytest.raises(UsageError, match=r"TEST_WYG_001-1a \(line 1\) has 10000 columns.*page marks"):
        render_page(make_page(*["之"] * 10_000))
    with pytest.raises(UsageError, match=r"line 2 has 300 characters"):
        render_page(make_page("之", "乎" * 300))


def test_a_plate_has_its_four_half_folios_in_the_four_quadrants_some_of_them_empty(make_page: MakePage) -> None:
    pages = [
        make_page(character * 3, folio=folio, name=f"T-{folio}")
        for folio, character in (("1a", "甲"), ("1b", "乙"), ("2a", "丙"), ("2b", "丁"))
    ]
    drawn = render_plate(pages, label="140-330")
    middle_x, middle_y = drawn.image.shape[1] / 2, drawn.image.shape[0] / 2
    where = {
        character.text: (character.box.centre[0] > middle_x, character.box.centre[1] < middle_y)
        for character in drawn.characters
    }
    assert where == {"甲": (True, True), "乙": (False, True), "丙": (True, False), "丁": (False, False)}
    assert [half.page for half in drawn.halves] == [page.id for page in pages]
    assert drawn.image[int(drawn.halves[3].frame[2][1]) + 60 :].min() == 0, "the number below"
    assert {character.text for character in render_plate([None, pages[1], None, None]).characters} == {"乙"}
    with pytest.raises(UsageError, match="four quadrants, but 1 pages"):
        render_plate([None])


@pytest.mark.parametrize("change", [{"columns": 0}, {"cells": 200}])
def test_a_style_out_of_range_is_refused(change: dict[str, int]) -> None:
    with pytest.raises(UsageError, match=f"{next(iter(change))} is"):
        Style(**change)  # type: ignore[arg-type]


def test_a_font_that_is_not_there_is_an_error(page: Page) -> None:
    with pytest.raises(FontError, match="No Such Kai"):
        render_page(page, Style(fonts=("No Such Kai",)))


READABLE = (
    "鄭注此命入次之事也司射既命而反位不言之者",
    "上射出當作取矢事未訖",
    "一耦出西面揖當北面揖及南面揖",
    "之乃揖行也當正南之東西",
    "上射東面下射西面上射揖進坐弓手自弓下取",
    "司射作射如初一耦揖升如初司馬命去侯負侯許諾",
    "公將射則司馬師命負侯皆執其旌以負其侯而俟",
    "左右卒射",
)


@pytest.mark.parametrize(
    "wear", [LEVELS["none"], replace(LEVELS["moderate"], seal=0.0, skew=0.0)], ids=["none", "moderate"]
)
def test_a_recogniser_reads_what_was_written(make_page: MakePage, wear: Wear) -> None:
    drawn = render_page(make_page(*READABLE), wear=wear, seed=6)
    columns: dict[int, list[TrueCharacter]] = {}
    for character in drawn.characters:
        columns.setdefault(character.line, []).append(character)
    strips = []
    for column in columns.values():
        box = column[0].cell.union(column[-1].cell)
        strips.append(drawn.image[int(box.y) - 6 : int(box.bottom) + 6, int(box.x) + 4 : int(box.right) - 4].copy())
    readings = PPOCR().read(strips)
    wrong = sum(Levenshtein.distance(line, reading.text) for line, reading in zip(READABLE, readings, strict=True))
    assert wrong <= 0.04 * sum(map(len, READABLE))


def test_it_is_known_whose_ink_is_where(page: Page) -> None:
    drawn = render_page(page, APART, seed=2, with_owners=True)
    assert drawn.owners is not None
    assert drawn.lined is not None
    ink, of_lines = drawn.image < 128, drawn.owners == OF_LINES
    for number, character in enumerate(drawn.characters, 1):
        ys, xs = np.nonzero(drawn.owners == number)
        assert ((xs >= character.box.x - 2) & (xs <= character.box.right + 2)).mean() > 0.95, character.text
        assert ink[ys, xs].mean() > 0.7, character.text
    assert ink[of_lines].mean() > 0.7
    assert drawn.lined[of_lines].mean() > 0.97
    assert not drawn.lined[drawn.owners == 0].any()
    assert (drawn.lined & (drawn.owners > 0)).any(), "a line that runs over a glyph"
