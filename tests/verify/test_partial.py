"""A page of which a part is on its image: what can be checked of it, and what is said of the rest."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from proof.facsimile.leaf import Style
from proof.facsimile.render import RenderedPage, render_page
from proof.facsimile.wear import Wear
from proof.layout.half_folio import ColumnArea, Outline
from proof.layout.rules import Rectification
from proof.locale.notices import in_english
from proof.model.flags import Evidence, Flag, Kind
from proof.model.result import PageResult, Status
from proof.ocr.belief import Belief
from proof.ocr.ppocr import PPOCR
from proof.text.model import Page, Row
from proof.verify.align import Pairing, Step
from proof.verify.columns import ReadColumn
from proof.verify.glyphs import Glyph
from proof.verify.line_assignment import Assignment, LineFault, LineTrouble
from proof.verify.partial import PartOfPage, beyond_the_sides, cut_by_edges, is_cut_off
from tests.half_folios import MakePage
from tests.layout.damaged import bent
from tests.verify import pages
from tests.verify.columns import unread
from tests.verify.pages import check_pixels, line, said_of_page, with_character

LINES = (
    "公卿大夫辯聞也許遂適西階上命賓御于公諸公",
    "卿則以耦告于上大夫則降即位而后告司射東面",
    "于大夫之西比耦大夫與大夫命上射曰某御于子",
    "命下射曰子與某子射卒遂比衆耦衆耦立于大夫",
    "　鄭注倚扑者將即君前不敢佩刑器也升堂者欲",
    "之南西面北上若有士與大夫爲耦則以大夫之耦",
    "(爲上命大夫之耦曰子與某子/射告於大夫曰某御於子命衆耦)如命三耦之",
    "辭諸公卿皆未降遂命三耦各與其耦拾取弓矢皆",
)
"""Full columns of 20 cells; one is indented, one begins with a note."""

TURNED = str.maketrans("()", ")(")


def outline(cut: tuple[float | None, float | None] = (None, None), missing: int = 0, columns: int = 8) -> Outline:
    """Columns of 21 cells of 10 pixels."""
    areas = tuple(ColumnArea(n, 100.0 - 10 * n, 110.0 - 10 * n, -30.0, 180.0, 0.0) for n in range(1, columns + 1))
    straight = Rectification.of(1.0, 0.0, 0.0, 210, 100, (0, 0))
    return Outline(straight, areas, True, None, 0.0, (), cut, missing)


def texts_of(part: PartOfPage) -> list[str]:
    return ["".join(cell.text for cell in column.cells) for column in part.page.columns]


def showing(number: int, source: str, begin: int = 0, end: int = 21) -> ReadColumn:
    """A column of `outline` of which the image shows the rows from `begin` to `end` (exclusive) of a line."""
    own, area = line(source, number), outline().columns[number - 1]
    row_of: dict[int, int] = {}
    first = 0
    for run in own.runs:
        for half in (run.right, run.left):
            row_of.update({cell.offset: first + row for row, cell in enumerate(half)})
        first += run.height
    shown = [index for index, cell in enumerate(own.cells) if begin <= row_of[cell.offset] < end]
    glyphs = []
    for index in shown:
        top = area.top + 10.0 * row_of[own.cells[index].offset]
        glyphs.append(
            Glyph(Belief({own.cells[index].text: 0.0}), 1.0, 0, Row.MAIN, 0.0, top, 10.0, top + 10, top + 5, 10)
        )
    pairings = [Pairing(Step.MATCH, (index,), (glyph,), index) for glyph, index in enumerate(shown)]
    return replace(unread(area, own), glyphs=tuple(glyphs), pairings=tuple(pairings))


def test_lines_beyond_the_columns_of_the_image_are_one_notice_for_each_side(make_page: MakePage) -> None:
    page = make_page(*LINES)
    columns = [showing(1, LINES[4]), showing(2, LINES[5])]
    columns = [replace(column, line=page.columns[index]) for column, index in zip(columns, (4, 5), strict=True)]
    troubles = tuple(LineTrouble(LineFault.NOT_ON_PAGE, number, None, "") for number in (1, 2, 3, 4, 7, 8))
    assignment = Assignment((page.columns[4], page.columns[5]), troubles)
    part, left = beyond_the_sides(PartOfPage(page), outline(missing=6, columns=2), columns, assignment)
    assert [column.number for column in part.page.columns] == [5, 6]
    assert sorted(in_english(notice) for notice in part.notices) == [
        "the left side of the page is not on this image: 2 of its 8 columns",
        "the right half of the page is not on this image: 4 of its 8 columns",
    ]
    assert left.troubles == ()


def test_lines_that_a_whole_page_lacks_are_no_part_beyond_its_sides(make_page: MakePage) -> None:
    page = make_page(*LINES, *LINES[:3])
    columns = [showing(number, source) for number, source in enumerate(LINES, 1)]
    troubles = tuple(LineTrouble(LineFault.NOT_ON_PAGE, number, None, "") for number in (9, 10, 11))
    assignment = Assignment(page.columns[:8], troubles)
    assert beyond_the_sides(PartOfPage(page), outline(), columns, assignment) == (PartOfPage(page), assignment)


def cut(page: Page, columns: list[ReadColumn], edges: tuple[float | None, float | None]) -> PartOfPage:
    part = cut_by_edges(page, outline(cut=edges), columns, 180.0, 21)
    assert part is not None
    return part


def test_lines_begin_where_the_image_shows_them_and_notes_in_both_half_rows(make_page: MakePage) -> None:
    page = make_page(*LINES)
    part = cut(page, [showing(number, source, begin=3) for number, source in enumerate(LINES, 1)], (0.0, None))
    shown = [source[3:] for source in LINES[:6]] + ["大夫之耦曰子與某子大夫曰某御於子命衆耦如命三耦之", LINES[7][3:]]
    assert texts_of(part) == shown
    # every character keeps its place in the source
    assert all(c.source[cell.offset] == cell.text for c in part.page.columns for cell in c.cells)
    (notice,) = part.notices
    assert in_english(notice).startswith("the top of the page is cut off: some 3 characters")


def test_lines_end_where_the_image_cuts_them_off_and_short_ones_where_they_end(make_page: MakePage) -> None:
    sources = (*LINES[:4], "命下射", "　與大夫命上射曰某御于子命下射")
    page = make_page(*sources)
    part = cut(page, [showing(number, source, end=16) for number, source in enumerate(sources, 1)], (None, 130.0))
    assert texts_of(part) == [source[:16] for source in sources]
    assert in_english(part.notices[0]).startswith("the bottom of the page is cut off: some 4 characters")


def test_a_line_of_which_nothing_was_read_is_cut_as_the_others(make_page: MakePage) -> None:
    page = make_page(*LINES)
    columns = [showing(number, source, end=16) for number, source in enumerate(LINES, 1)]
    columns[2] = unread(columns[2].area, page.columns[2])
    assert texts_of(cut(page, columns, (None, 130.0)))[2] == LINES[2][:16]


def test_a_line_whose_last_character_was_taken_for_another_is_cut_as_the_others(make_page: MakePage) -> None:
    page = make_page(*LINES)
    columns = [showing(number, source, end=16) for number, source in enumerate(LINES, 1)]
    *pairings, last = columns[2].pairings
    cells = columns[2].cells
    columns[2] = replace(columns[2], pairings=(*pairings, replace(last, cells=(len(cells) - 1,))))
    assert texts_of(cut(page, columns, (None, 130.0)))[2] == LINES[2][:16]


def test_between_rules_only_the_edge_that_the_layout_names_cuts_columns_off(make_page: MakePage) -> None:
    page = make_page(*LINES)
    columns = [showing(number, source, begin=3) for number, source in enumerate(LINES, 1)]
    assert cut_by_edges(page, outline(cut=(None, 180.0)), columns, 180.0, 21) is None


def test_a_page_between_rules_that_the_image_shows_whole_is_not_cut(make_page: MakePage) -> None:
    page = make_page(*LINES)
    columns = [showing(number, source, end=16) for number, source in enumerate(LINES, 1)]
    assert cut_by_edges(page, outline(), columns, 130.0, 21) is None


def at(offset: int, kind: Kind, suggested: str) -> Flag:
    return Flag("p", "", 1, offset, 0, kind, "", suggested, 8.0, True, None, Evidence(reason="no glyph"))


def ending_at(edge: float, source: str, cells: int) -> ReadColumn:
    """A column without rules that ends at an edge of its image, with what is there of its line: the first `cells`."""
    own = line(source)
    there = tuple(cell for run in own.runs for cell in run.cells)[:cells]
    return unread(ColumnArea(1, 0.0, 10.0, 0.0, edge, 0.0, measured_pitch=10.0), own, there)


@pytest.mark.parametrize(("shown", "cut"), [("與", True), ("某", True), ("馬", False)])
def test_what_was_taken_for_cut_off_and_is_read_after_all_is_not_left_out_of_the_text(shown: str, cut: bool) -> None:
    column = ending_at(50.0, "命下射曰子與某", 5)
    flag = at(5, Kind.OMISSION, shown)
    assert is_cut_off(flag, column, outline((None, 50.0), columns=1), 50.0, 21) is cut
    assert not is_cut_off(flag, column, outline(columns=1), 50.0, 21), "where the image cuts nothing off"


@pytest.mark.parametrize(("offset", "cut"), [(4, False), (5, True), (8, True)])
def test_both_halves_of_a_note_end_where_the_image_ends(offset: int, cut: bool) -> None:
    column = ending_at(50.0, "命下射(曰子/與某)", 7)
    assert is_cut_off(at(offset, Kind.INSERTION, ""), column, outline(columns=1), 50.0, 21) is cut


@pytest.mark.parametrize("last", [LineFault.NOT_ON_PAGE, LineFault.DOUBLED])
def test_a_line_that_stands_twice_does_not_part_those_beyond_the_side(make_page: MakePage, last: LineFault) -> None:
    """Of two equal lines the one on the image may be the other."""
    page = make_page(*["司射北面夫之西耦"] * 9)
    lines = page.columns[4:]
    columns = [
        unread(ColumnArea(n, 500 - 50 * n, 550 - 50 * n, 0, 900, 0.0, measured_pitch=40), own)
        for n, own in enumerate(lines, 1)
    ]
    faults = [*[LineFault.NOT_ON_PAGE] * 3, last]
    troubles = tuple(LineTrouble(fault, n, None, "") for n, fault in enumerate(faults, 1))
    part, left = beyond_the_sides(PartOfPage(page), outline(), columns, Assignment(tuple(lines), troubles))
    assert [in_english(notice) for notice in part.notices] == [
        "the right half of the page is not on this image: 4 of its 9 columns"
    ]
    assert left.troubles == ()


@pytest.fixture(scope="module")
def drawn(make_page: MakePage) -> tuple[Page, RenderedPage]:
    page = make_page(*LINES)
    return page, render_page(page, Style(), Wear(broken=0.1), seed=11)


def raised(result: PageResult) -> list[tuple[int, int, str]]:
    """What is raised about characters: line, offset, suggestion."""
    return [(flag.line, flag.offset, flag.suggested) for flag in pages.raised(result) if flag.line]


def test_an_error_on_a_page_that_does_not_lie_flat_is_found_where_it_is_on_the_photograph(
    ppocr: PPOCR, drawn: tuple[Page, RenderedPage]
) -> None:
    page, rendered = drawn
    photograph = bent(rendered.image)
    result = check_pixels(ppocr, with_character(page, 4, 10), photograph.image)
    assert result.status is Status.CHECKED
    assert raised(result) == [(4, 10, "遂")]
    assert len(result.notices) == 1
    box = next(flag.bbox for flag in result.flags if flag.raised)
    true = next(character.box for character in rendered.characters if (character.line, character.offset) == (4, 10))
    assert box is not None
    ((x, y),) = photograph.gone(np.array([true.centre]))
    assert box.contains(x, y)


def test_the_top_of_a_page_that_is_cut_off_is_one_finding_and_the_rest_is_checked(
    ppocr: PPOCR, drawn: tuple[Page, RenderedPage]
) -> None:
    page, rendered = drawn
    (half,) = rendered.halves
    cell = (half.frame[3][1] - half.frame[0][1]) / 21
    result = check_pixels(ppocr, with_character(page, 4, 10), rendered.image[round(half.frame[0][1] + 3.2 * cell) :])
    assert raised(result) == [(4, 10, "遂")]
    (message,) = said_of_page(result)
    assert message.startswith("the top of the page is cut off: some 3 characters")
    # what is not on the image was not checked
    assert min(character.offset for character in result.characters if character.line == 1) >= 3
    assert result.characters_checked < sum(cell.glyph for column in page.columns for cell in column.cells) - 8 * 3
    assert all(column.box.y > -5 for column in result.columns)


def test_half_a_page_is_one_finding_and_the_other_half_is_checked(
    ppocr: PPOCR, drawn: tuple[Page, RenderedPage]
) -> None:
    page, rendered = drawn
    parted = round(rendered.halves[0].columns[4][1][0])
    result = check_pixels(ppocr, with_character(page, 7, 3), rendered.image[:, : parted + 25])
    assert raised(result) == [(7, 3, LINES[6][3])]
    assert said_of_page(result) == ["the right half of the page is not on this image: 4 of its 8 columns"]
    assert {character.line for character in result.characters} == {5, 6, 7, 8}


def test_a_page_on_an_image_of_two_is_found_in_its_half(
    ppocr: PPOCR, drawn: tuple[Page, RenderedPage], make_page: MakePage
) -> None:
    page, rendered = drawn
    other = render_page(make_page(*(source[::-1].translate(TURNED) for source in LINES)), Style(), Wear(), seed=12)
    height = max(other.image.shape[0], rendered.image.shape[0])
    own, beside = (
        cv2.copyMakeBorder(text, 0, height - text.shape[0], 0, 0, cv2.BORDER_CONSTANT, value=(255,))
        for text in (rendered.image, other.image)
    )
    result = check_pixels(ppocr, with_character(page, 4, 10), np.hstack([own, beside]).astype(np.uint8))
    assert raised(result) == [(4, 10, "遂")]
    assert said_of_page(result) == ["it is in the left half"]


def test_an_image_that_is_too_coarse_is_one_finding(ppocr: PPOCR, drawn: tuple[Page, RenderedPage]) -> None:
    """Of cells 11 pixels high one error in five would be missed, beside false flags."""
    page, rendered = drawn
    share = 11 / next(character for character in rendered.characters if character.row is Row.MAIN).cell.h
    small = cv2.resize(rendered.image, None, fx=share, fy=share, interpolation=cv2.INTER_AREA)
    result = check_pixels(ppocr, page, np.asarray(small, dtype=np.uint8))
    assert result.status is Status.MISMATCH
    assert [flag.evidence.reason for flag in result.flags] == ["image too coarse"]
