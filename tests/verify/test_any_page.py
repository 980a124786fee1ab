"""Pages that are no ruled half-folio lying as it should: columns without rules, tables, turned and blank images."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from proof.images.load import LoadedImage, load_image
from proof.layout.page import find_columns
from proof.model.flags import Kind
from proof.model.result import Status
from proof.ocr.ppocr import PPOCR
from proof.report.upright import turn_of
from proof.text.model import Page
from proof.text.read import read_transcription
from scripts.bench.book_pages import draw_book_kind
from scripts.bench.plain_pages import PlainPage
from tests.half_folios import MakePage
from tests.layout.drawn import written
from tests.layout.openings import side_by_side
from tests.sampling import cross_section
from tests.verify.pages import (
    check_image,
    check_pixels,
    raised,
    reasons,
    said_of_page,
    sources_of,
    with_character,
    with_line,
    with_lines,
)

Pixels = NDArray[np.uint8]
Shown = tuple[Page, LoadedImage]

LINES = ("位導駕官同太常卿導引皇帝位", "平身贊引唱復位分獻官三祭酒", "執事者跪進於皇帝之右受胙以")
NINE = (*LINES, *(line[::-1] for line in LINES), *(line[5:] + line[:5] for line in LINES))
"""The lines of a page of nine full columns."""
FOUR = NINE[:4]


def folder_of(shared: Path, name: str) -> Path:
    folder = shared / "facsimile" / name
    if not folder.is_dir():
        pytest.skip(f"these pages are not here ({folder})")
    return folder


def canon_page(shared: Path, number: str) -> Shown:
    """A page of a printed canon: two registers of columns without rules. Those of dharanis have numbers in small
    script; the text of 2b has some of them in full width, on 2a a note is no higher than 一 beside 十."""
    folder = folder_of(shared, "canon") / "QL"
    page = next(page for page in read_transcription(folder / "KX1a0001_001.txt").pages if page.id.endswith(number))
    return page, load_image(folder / "images" / f"{page.id}.jpg")


def lying(image: LoadedImage, pixels: Pixels) -> LoadedImage:
    return replace(image, pixels=np.ascontiguousarray(pixels), size=(pixels.shape[1], pixels.shape[0]))


def smaller(image: LoadedImage, share: float) -> LoadedImage:
    pixels = cv2.resize(image.pixels, None, fx=share, fy=share, interpolation=cv2.INTER_AREA)
    return lying(image, np.asarray(pixels, np.uint8))


def columns_of(shown: Shown, first: int, last: int) -> Shown:
    """A leaf with these columns of both registers of a page alone: it is read in a fraction of the time."""
    page, image = shown
    found = find_columns(image.pixels)
    half = len(found.columns) // 2
    own = [number for top in (0, half) for number in range(top + first - 1, top + last)]
    columns = [found.columns[number] for number in own]
    boxes = [found.rectification.file_box(column.left, column.top, column.right, column.bottom) for column in columns]
    pixels = image.pixels[:, round(min(box.x for box in boxes)) - 4 : round(max(box.right for box in boxes)) + 4]
    leaf = np.pad(pixels, ((0, 0), (60, 60)), constant_values=int(np.median(pixels)))
    sources = sources_of(page)
    return with_lines(page, [sources[number] for number in own]), lying(image, leaf)


@pytest.fixture(scope="module")
def canon(shared: Path) -> Shown:
    """Five columns in each register of a page of the canon without notes."""
    return columns_of(canon_page(shared, "1b"), 1, 5)


@pytest.fixture(scope="module")
def figures(shared: Path) -> tuple[Page, Page, LoadedImage]:
    """A page with a figure: as it is transcribed, without its last line, which stands on the next page, its image."""
    folder = folder_of(shared, "figures")
    (page,) = read_transcription(folder / "KR1j0030_005.txt").pages
    image = load_image(folder / f"{page.id}.png")
    return page, with_lines(page, sources_of(page)[:-1]), smaller(image, 0.5)


def test_columns_without_rules_are_verified_like_ruled_ones(ppocr: PPOCR, canon: Shown) -> None:
    """An error is found in its place, and nothing else."""
    page, image = canon
    result = check_image(ppocr, with_character(page, 9, 5), image)
    assert result.status is Status.CHECKED
    assert len(result.columns) == 10
    [flag] = raised(result)
    assert (flag.line, flag.offset, flag.suggested) == (9, 5, sources_of(page)[8][5])


@pytest.mark.parametrize(
    ("number", "columns", "changes", "expected"),
    [
        (
            "2b",
            (14, 15),
            # the line ends with a note then: the glyph of main text is cut as one, not as a part of the note
            [(2, "(五/十)三", "(五/十)")],
            [(Kind.OMISSION, 2, "", "三")],
        ),
        ("2b", (2, 3), [(4, "五十五", "五十馬五")], [(Kind.INSERTION, 4, "馬", "")]),
    ],
)
def test_numbers_in_small_script_are_no_insertions_and_an_error_among_them_is_found(
    ppocr: PPOCR,
    shared: Path,
    number: str,
    columns: tuple[int, int],
    changes: list[tuple[int, str, str]],
    expected: list[tuple[Kind, int, str, str]],
) -> None:
    page, image = columns_of(canon_page(shared, number), *columns)
    for line, was, wrong in changes:
        source = sources_of(page)[line - 1]
        assert was in source
        page = with_line(page, line, source.replace(was, wrong))
    result = check_image(ppocr, page, image)
    assert result.characters_checked == sum(cell.glyph for line in page.columns for cell in line.cells)
    lines = {line for line, _, _ in changes}
    found = [flag for flag in raised(result) if flag.line in lines or flag.kind is Kind.INSERTION]
    assert [(flag.kind, flag.line, flag.transcribed, flag.suggested) for flag in found] == expected
    # what was left out is missing at the end of its line
    assert all(flag.length or flag.offset == len(sources_of(page)[flag.line - 1]) for flag in found)


def test_a_page_in_registers_that_is_cut_off_is_one_finding(ppocr: PPOCR, make_page: MakePage) -> None:
    lower_lines = [line[::-1] for line in FOUR]
    page = make_page(*FOUR, *lower_lines)
    upper, lower = written(make_page(*FOUR)), written(make_page(*lower_lines))
    upper[-60:-56, 40:-40] = 0
    lower[30:34, 40:-40] = 0
    whole = np.vstack([upper[:-50], lower[40:]])
    # two cells of the second register and half of one more
    gone = round(80 + 2.4 * 40)
    assert reasons(check_pixels(ppocr, page, whole[:-gone])) == ["page in part"]


def test_a_turned_page_is_turned_and_read_and_says_so_once(
    ppocr: PPOCR, figures: tuple[Page, Page, LoadedImage]
) -> None:
    """On its side no columns are found on it at all: it has few, and a figure."""
    _, shown, image = figures
    turned = lying(image, np.rot90(image.pixels))
    result = check_image(ppocr, shown, turned)
    assert result.status is Status.CHECKED
    assert reasons(result) == ["image turned", "figure not transcribed"]
    assert said_of_page(result)[0] == "on its left side"
    assert result.characters_checked == 27
    # a character's box lies where the character is on the turned image
    assert turn_of(result.skew) == 90
    at = result.characters[20].box
    width, height = turned.size
    assert 0 <= at.x < at.right <= width
    assert 0 <= at.y < at.bottom <= height
    assert turned.pixels[round(at.y) : round(at.bottom), round(at.x) : round(at.right)].min() < 100


def test_half_a_page_on_which_little_is_read_is_not_turned(
    ppocr: PPOCR, figures: tuple[Page, Page, LoadedImage]
) -> None:
    _, shown, image = figures
    half = check_image(ppocr, shown, lying(image, image.pixels[:, : image.pixels.shape[1] // 2]))
    assert reasons(half) == ["image mismatch"]


def test_titles_and_names_in_white_on_black_are_read(ppocr: PPOCR, make_page: MakePage) -> None:
    """A column that is one black block, and a character that is."""
    page = make_page(*NINE)
    pixels = written(page)
    right = pixels.shape[1] - 80
    for column, top, bottom in ((1, 0, 13), (4, 5, 6)):
        block = np.s_[80 + 40 * top : 80 + 40 * bottom, right - 54 * (column + 1) + 2 : right - 54 * column - 2]
        pixels[block] = 255 - pixels[block]
    assert raised(check_pixels(ppocr, page, pixels)) == []


def test_a_mirrored_page_is_one_finding(ppocr: PPOCR, make_page: MakePage) -> None:
    page = make_page(*LINES)
    result = check_pixels(ppocr, page, written(page)[:, ::-1])
    assert result.status is Status.MISMATCH
    assert [flag.evidence.reason for flag in result.flags] == ["image mirrored"]


@pytest.mark.parametrize("leaf", ["white", "with the other side showing through"])
def test_a_blank_page_is_one_finding(ppocr: PPOCR, canon: Shown, leaf: str) -> None:
    page, image = canon
    shown = {
        "white": np.full_like(image.pixels, 235),
        "with the other side showing through": 225 + cv2.GaussianBlur(image.pixels[:, ::-1], (0, 0), 2) // 10,
    }[leaf]
    result = check_image(ppocr, page, lying(image, np.asarray(shown, dtype=np.uint8)))
    assert result.status is Status.MISMATCH
    assert [flag.evidence.reason for flag in result.flags] == ["page blank"]


def test_a_figure_that_is_not_transcribed_is_one_finding_and_the_text_around_it_is_checked(
    ppocr: PPOCR, figures: tuple[Page, Page, LoadedImage]
) -> None:
    """An error in the second line is found, and that the last line stands on the next page."""
    page, _, image = figures
    wrong = with_line(page, 2, sources_of(page)[1].replace("藏", "馬"))
    result = check_image(ppocr, wrong, image)
    assert [(flag.line, flag.evidence.reason) for flag in raised(result) if flag.kind is Kind.LAYOUT] == [
        (0, "figure not transcribed"),
        (len(page.columns), "column not on the page"),
    ]
    assert [(flag.line, flag.suggested) for flag in raised(result) if flag.kind is not Kind.LAYOUT] == [(2, "藏")]


def test_one_register_of_two_is_said_to_be_that(ppocr: PPOCR, shared: Path) -> None:
    """It is half of the page's columns, and neither the left nor the right half: wider than high."""
    page, image = columns_of(canon_page(shared, "1b"), 1, 11)
    registers = find_columns(image.pixels)
    first = [column for column in registers.columns if column.register == 1]
    edge = round(registers.rectification.file_box(0, 0, 1, max(area.bottom for area in first)).bottom) + 8
    result = check_image(ppocr, page, lying(image, image.pixels[edge:]))
    assert len(raised(result)) == 1
    [message] = said_of_page(result)
    assert message.startswith("the upper register of the page is not on this image: 11 of its 22")


def test_a_leaf_of_two_halves_is_not_read_as_one_of_them_for_a_column_that_its_text_lacks(
    make_page: MakePage, ppocr: PPOCR
) -> None:
    """Its right half has most of the text."""
    few = [line[:5] for line in LINES]
    right, left = written(make_page(*NINE[:8])), written(make_page(*few, "迎勞諸儀"))
    left = np.pad(left, ((0, len(right) - len(left)), (0, 0)), constant_values=255)
    result = check_pixels(ppocr, make_page(*NINE[:8], *few), side_by_side(right, left).image)
    assert reasons(result) == ["column missing"]


@pytest.mark.parametrize("kind", cross_section(["any book", "black edges", "wormholes", "next leaf"], 2))
def test_notes_with_low_rows_are_read_to_their_ends_where_readings_stand_beside_the_text(
    ppocr: PPOCR, kind: str
) -> None:
    """In ruled columns, whose number of rows says nothing of those of the notes. The characters of the first and of the
    last row of a note nearly touch, and readings in small script stand between its half-rows and main text."""
    letters = (
        "天地人十一吉禮三十一五帝五帝兆五帝義及配神迎氣祭五帝祭五帝儀秦四畤漢五畤東漢五郊迎氣卷三十二吉禮三十二五帝祭"
        "寒暑歴代祭五帝祭四時附寒暑坎壇享司暑司寒歴代享司寒卷三十三吉禮三十三日月日月坎壇正祭因事祭日月祭日月儀日月附"
    )
    book = draw_book_kind(kind, cycle(letters), [10243])
    page = PlainPage.of("P", book.image, book.lines, book.boxes).page
    assert any(run.is_note for column in page.columns for run in column.runs)
    assert raised(check_pixels(ppocr, page, book.image)) == []


def test_a_note_of_two_or_three_numbers_is_read_though_its_rows_are_low_and_its_strokes_few(
    ppocr: PPOCR, make_page: MakePage
) -> None:
    """Two 一 side by side have the height of one stroke: no strip is cut for such a note at first."""
    lines = (
        "氏禮書先王之時結民以(一/一)忠信誠慤之心",
        "卷嘉祐六(九三/一)年七月乙(二一/二)丑命(九/四)",
        "(一/一)在(五/)東便其先擊小後擊大簜謂竹(五/)",
        "鄭氏鍔曰天圓(三十/三)而運(三/十)乎上故璧",
        "十(二/二)卷嘉祐六年七月乙(三/三)丑命姚闢修",
        "以(七/一)在東便其先擊小後擊大(二十/一)謂竹",
    )
    page = make_page(*lines)
    assert raised(check_pixels(ppocr, page, written(page, glyph=44, pitch=66, cells=(49, 49)))) == []
