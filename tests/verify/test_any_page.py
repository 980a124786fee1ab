"""Pages that are no ruled half-folio lying as it should: columns without rules, tables, turned and blank images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from proof.images.find import FoundBy, PageImage
from proof.images.load import LoadedImage, load_image
from proof.layout.page import find_columns
from proof.locale.notices import in_english
from proof.model.flags import Kind
from proof.model.result import PageResult, Status
from proof.ocr.page import PageEngine
from proof.ocr.ppocr import PPOCR
from proof.report.upright import turn_of
from proof.text.column import parse_column
from proof.text.model import Column, Page, Script
from proof.text.read import read_transcription
from proof.text.variants import VariantPolicy
from proof.verify.page import Checker
from tests.layout.drawn import written

MakePage = Callable[..., Page]
SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "facsimile"
TURNS: dict[str, Callable[[NDArray[np.uint8]], NDArray[np.uint8]]] = {
    "upside down": lambda page: np.rot90(page, 2),
    "on its left side": lambda page: np.rot90(page, 1),
}


def no_pages() -> PageEngine:
    raise AssertionError("this page has columns: the page pipeline is not needed")


@pytest.fixture(scope="module")
def canon() -> tuple[Page, LoadedImage]:
    """A page of a printed canon: two registers of columns without rules, no notes."""
    folder = SHARED / "canon" / "QL"
    if not folder.is_dir():
        pytest.skip(f"the canon's pages are not here ({folder})")
    page = next(page for page in read_transcription(folder / "KX1a0001_001.txt").pages if page.id.endswith("1b"))
    return page, load_image(folder / "images" / f"{page.id}.jpg")


@pytest.fixture(scope="module")
def figures() -> tuple[Page, Page, LoadedImage]:
    """A page with a figure: as it is transcribed, without its last line, which stands on the next page, its image."""
    folder = SHARED / "figures"
    if not folder.is_dir():
        pytest.skip(f"the page with figures is not here ({folder})")
    (page,) = read_transcription(folder / "KR1j0030_005.txt").pages
    shown = with_lines(page, [column.source for column in page.columns[:-1]])
    return page, shown, load_image(folder / f"{page.id}.png")


def check(ppocr: PPOCR, page: Page, image: LoadedImage) -> PageResult:
    checker = Checker.of(ppocr, VariantPolicy(Script.TRADITIONAL, None), 8, 21, 3.0, no_pages)
    return checker.check(page, page.id, PageImage(image.path, "", FoundBy.NAME), image, [])


def lying(image: LoadedImage, pixels: NDArray[np.uint8]) -> LoadedImage:
    return replace(image, pixels=np.ascontiguousarray(pixels), size=(pixels.shape[1], pixels.shape[0]))


def with_lines(page: Page, sources: Sequence[str]) -> Page:
    columns = tuple(Column(n, source, 0, n, parse_column(source).runs) for n, source in enumerate(sources, 1))
    return replace(page, cut=columns)


def test_columns_without_rules_are_verified_like_ruled_ones(ppocr: PPOCR, canon: tuple[Page, LoadedImage]) -> None:
    upright = check(ppocr, *canon)
    assert upright.status is Status.CHECKED
    assert len(upright.columns) == 30
    assert [flag for flag in upright.flags if flag.raised] == []


def test_a_coarse_image_of_a_text_that_is_right_raises_nothing(ppocr: PPOCR, canon: tuple[Page, LoadedImage]) -> None:
    """A cell shows what 16 pixels of height hold, and what 11 do: 燒 is read as 境 there, 閦 as 閩."""
    page, image = canon
    for share in (0.5, 0.4):
        pixels = cv2.resize(image.pixels, None, fx=share, fy=share, interpolation=cv2.INTER_AREA)
        result = check(ppocr, page, lying(image, np.asarray(pixels, np.uint8)))
        assert result.status is Status.CHECKED
        assert [flag for flag in result.flags if flag.raised] == []


def dharani(number: str) -> tuple[Page, LoadedImage]:
    """A page of the same canon with numbers in small script; the text of 2b has some of them in full width, on 2a a
    note is no higher than 一 beside 十."""
    folder = SHARED / "canon" / "QL"
    if not folder.is_dir():
        pytest.skip(f"the canon's pages are not here ({folder})")
    page = next(page for page in read_transcription(folder / "KX1a0001_001.txt").pages if page.id.endswith(number))
    return page, load_image(folder / "images" / f"{page.id}.jpg")


@pytest.mark.parametrize("number", ["2a", "2b"])
def test_numbers_in_small_script_are_no_insertions(ppocr: PPOCR, number: str) -> None:
    result = check(ppocr, *dharani(number))
    assert result.characters_checked > 400
    assert [flag for flag in result.flags if flag.raised and flag.kind is Kind.INSERTION] == []


def test_a_glyph_that_is_clear_in_its_middle_beside_a_note_is_none_of_it(ppocr: PPOCR, make_page: MakePage) -> None:
    """引 as part of a note is read 弓 and 一."""
    lines = ("平身贊引(五/)唱復位分獻(六六/九)官(三五/七)", "同太(五/九)常卿導引(十/八)皇帝復位")
    page = make_page(*lines * 3)
    pixels = written(page, cells=(36, 46))
    image = LoadedImage(Path("P.png"), pixels, (pixels.shape[1], pixels.shape[0]), "P")
    result = check(ppocr, page, image)
    assert result.characters_checked == sum(len(column.cells) for column in page.columns)
    assert [flag for flag in result.flags if flag.raised] == []


def test_a_page_without_rules_that_is_cut_off_below_is_one_finding(ppocr: PPOCR, make_page: MakePage) -> None:
    lines = ("位導駕官同太常卿導引皇帝位", "平身贊引唱復位分獻官三祭酒", "同太常卿導引皇帝復位奏禮畢")
    page = make_page(*lines * 3)
    whole = written(page, glyph=38)
    pixels = np.ascontiguousarray(whole[: 80 + round(10.6 * 40)])
    image = LoadedImage(Path("P.png"), pixels, (pixels.shape[1], pixels.shape[0]), "P")
    (flag,) = [flag for flag in check(ppocr, page, image).flags if flag.raised]
    assert flag.evidence.reason == "page in part"


@pytest.mark.parametrize("edge", ["above", "below"])
def test_a_page_in_registers_that_is_cut_off_is_one_finding(ppocr: PPOCR, make_page: MakePage, edge: str) -> None:
    lines = ("位導駕官同太常卿導引皇帝位", "平身贊引唱復位分獻官三祭酒", "同太常卿導引皇帝復位奏禮畢")
    page = make_page(*lines * 3, *[line[::-1] for line in lines * 3])
    upper, lower = written(make_page(*lines * 3)), written(make_page(*[line[::-1] for line in lines * 3]))
    upper[-60:-56, 40:-40] = 0
    lower[30:34, 40:-40] = 0
    whole = np.vstack([upper[:-50], lower[40:]])
    # two cells of the first register, or of the second, and half of one more
    gone = round(80 + 2.4 * 40)
    pixels = np.ascontiguousarray(whole[gone:] if edge == "above" else whole[:-gone])
    image = LoadedImage(Path("P.png"), pixels, (pixels.shape[1], pixels.shape[0]), "P")
    (flag,) = [flag for flag in check(ppocr, page, image).flags if flag.raised]
    assert flag.evidence.reason == "page in part"


@pytest.mark.parametrize("side", ["left", "right"])
def test_columns_beyond_one_side_of_a_page_without_rules_are_one_finding(
    ppocr: PPOCR, make_page: MakePage, side: str
) -> None:
    lines = ("位導駕官同太常卿導引皇帝位", "平身贊引唱復位分獻官三祭酒", "執事者跪進於皇帝之右受胙以")
    page = make_page(*lines, *(line[::-1] for line in lines), *(line[5:] + line[:5] for line in lines))
    whole = written(page)
    third = 80 + 3 * 54 + 10
    shown = np.ascontiguousarray(whole[:, third:] if side == "left" else whole[:, :-third])
    image = LoadedImage(Path("P.png"), shown, (shown.shape[1], shown.shape[0]), "P")
    (flag,) = [one for one in check(ppocr, page, image).flags if one.raised]
    assert flag.evidence.notice is not None
    told = in_english(flag.evidence.notice)
    assert told == f"the {side} side of the page is not on this image: 3 of its 9 columns"


def test_a_character_too_many_among_them_is_still_found(ppocr: PPOCR) -> None:
    page, image = dharani("2b")
    sources = [column.source for column in page.columns]
    wrong = sources[17].replace("五十五", "五十馬五")
    result = check(ppocr, with_lines(page, [*sources[:17], wrong, *sources[18:]]), image)
    assert any(flag.transcribed == "馬" and flag.raised and flag.line == 18 for flag in result.flags)


def test_a_character_left_out_behind_the_last_note_is_found(ppocr: PPOCR) -> None:
    """The line ends with a note then: the glyph of main text is cut as one, not as a part of the note."""
    page, image = dharani("2b")
    sources = [column.source for column in page.columns]
    assert sources[14].endswith("(五/十)三")
    result = check(ppocr, with_lines(page, [*sources[:14], sources[14][:-1], *sources[15:]]), image)
    found = [flag for flag in result.flags if flag.raised and flag.line == 15]
    assert [(flag.kind, flag.suggested) for flag in found] == [(Kind.OMISSION, "三")]
    assert found[0].offset == len(sources[14]) - 1


def test_one_of_two_numbers_side_by_side_that_the_line_has_in_full_width_is_found_left_out(ppocr: PPOCR) -> None:
    page, image = dharani("3b")
    sources = [column.source for column in page.columns]
    assert sources[28].endswith("南十三")
    result = check(ppocr, with_lines(page, [*sources[:28], sources[28][:-1], *sources[29:]]), image)
    found = [flag for flag in result.flags if flag.raised and flag.line == 29]
    assert [(flag.kind, flag.offset, flag.suggested) for flag in found] == [(Kind.OMISSION, len(sources[28]) - 1, "三")]


def test_an_error_in_a_column_without_rules_is_found_in_its_place(
    ppocr: PPOCR, canon: tuple[Page, LoadedImage]
) -> None:
    page, image = canon
    sources = [column.source for column in page.columns]
    wrong = sources[20][:5] + "馬" + sources[20][6:]
    result = check(ppocr, with_lines(page, [*sources[:20], wrong, *sources[21:]]), image)
    assert [(flag.line, flag.offset, flag.suggested) for flag in result.flags if flag.raised] == [
        (21, 5, sources[20][5])
    ]


@pytest.mark.parametrize("lie", ["upside down", "on its left side"])
def test_a_turned_page_is_turned_and_read_and_says_so_once(
    ppocr: PPOCR, figures: tuple[Page, Page, LoadedImage], lie: str
) -> None:
    """On its side no columns are found on it at all: it has few, and a figure."""
    _, shown, image = figures
    turned = lying(image, TURNS[lie](image.pixels))
    result = check(ppocr, shown, turned)
    assert result.status is Status.CHECKED
    flag, figure = [flag for flag in result.flags if flag.raised]
    assert (flag.evidence.reason, figure.evidence.reason) == ("image turned", "figure not transcribed")
    assert flag.evidence.notice is not None
    assert in_english(flag.evidence.notice) == lie
    assert result.characters_checked == 27
    # a character's box lies where the character is on the turned image
    assert turn_of(result.skew) == {"upside down": 180, "on its left side": 90}[lie]
    at = result.characters[20].box
    darkest = turned.pixels[round(at.y) : round(at.bottom), round(at.x) : round(at.right)].min()
    width, height = turned.size
    assert 0 <= at.x < at.right <= width
    assert 0 <= at.y < at.bottom <= height
    assert darkest < 100


def test_half_a_page_on_which_little_is_read_is_not_turned(
    ppocr: PPOCR, figures: tuple[Page, Page, LoadedImage]
) -> None:
    _, shown, image = figures
    half = check(ppocr, shown, lying(image, image.pixels[:, : image.pixels.shape[1] // 2]))
    assert [flag.evidence.reason for flag in half.flags if flag.raised] == ["image mismatch"]


def test_titles_and_names_in_white_on_black_are_read(ppocr: PPOCR, make_page: MakePage) -> None:
    """A column that is one black block, and a character that is."""
    lines = ("位導駕官同太常卿導引皇帝位", "平身贊引唱復位分獻官三祭酒", "執事者跪進於皇帝之右受胙以")
    page = make_page(*lines, *(line[::-1] for line in lines), *(line[5:] + line[:5] for line in lines))
    pixels = written(page)
    right = pixels.shape[1] - 80
    for column, top, bottom in ((1, 0, 13), (4, 5, 6)):
        block = np.s_[80 + 40 * top : 80 + 40 * bottom, right - 54 * (column + 1) + 2 : right - 54 * column - 2]
        pixels[block] = 255 - pixels[block]
    image = LoadedImage(Path("P.png"), pixels, (pixels.shape[1], pixels.shape[0]), "P")
    assert [flag for flag in check(ppocr, page, image).flags if flag.raised] == []


def test_a_mirrored_page_is_one_finding(ppocr: PPOCR, figures: tuple[Page, Page, LoadedImage]) -> None:
    _, shown, image = figures
    result = check(ppocr, shown, lying(image, image.pixels[:, ::-1]))
    assert result.status is Status.MISMATCH
    assert [flag.evidence.reason for flag in result.flags] == ["image mirrored"]


@pytest.mark.parametrize("leaf", ["white", "grey", "with the other side showing through"])
def test_a_blank_page_is_one_finding(ppocr: PPOCR, canon: tuple[Page, LoadedImage], leaf: str) -> None:
    page, image = canon
    shown = {
        "white": np.full_like(image.pixels, 235),
        "grey": np.random.default_rng(1).normal(200, 5, image.pixels.shape).astype(np.uint8),
        "with the other side showing through": 225 + cv2.GaussianBlur(image.pixels[:, ::-1], (0, 0), 2) // 10,
    }[leaf]
    result = check(ppocr, page, lying(image, np.asarray(shown, dtype=np.uint8)))
    assert result.status is Status.MISMATCH
    assert [flag.evidence.reason for flag in result.flags] == ["page blank"]


def test_a_very_pale_page_is_read(ppocr: PPOCR, canon: tuple[Page, LoadedImage]) -> None:
    page, image = canon
    result = check(ppocr, page, lying(image, 225 + image.pixels // 9))
    assert [flag for flag in result.flags if flag.raised] == []
    assert [in_english(one) for one in result.notices] == [
        "the page is very pale: its ink was strengthened and it was read"
    ]


def test_a_figure_that_is_not_transcribed_is_one_finding_and_the_text_around_it_is_checked(
    ppocr: PPOCR, figures: tuple[Page, Page, LoadedImage]
) -> None:
    page, shown, image = figures
    result = check(ppocr, shown, image)
    assert [(flag.line, flag.evidence.reason) for flag in result.flags if flag.raised] == [
        (0, "figure not transcribed")
    ]
    whole = check(ppocr, page, image)
    assert [(flag.line, flag.evidence.reason) for flag in whole.flags if flag.raised] == [
        (0, "figure not transcribed"),
        (len(page.columns), "column not on the page"),
    ]
    sources = [column.source for column in shown.columns]
    wrong = with_lines(page, [*sources[:1], sources[1].replace("藏", "馬"), *sources[2:]])
    found = check(ppocr, wrong, image)
    assert [(flag.line, flag.suggested) for flag in found.flags if flag.raised and flag.line] == [(2, "藏")]


@pytest.mark.parametrize("lower", [False, True])
def test_one_register_of_two_is_said_to_be_that(ppocr: PPOCR, canon: tuple[Page, LoadedImage], lower: bool) -> None:
    """It is half of the page's columns, and neither the left nor the right half."""
    page, image = canon
    registers = find_columns(image.pixels)
    first = [one for one in registers.columns if one.register == 1]
    edge = round(registers.file_box(0, 0, 1, max(one.bottom for one in first)).bottom) + 8
    result = check(ppocr, page, lying(image, image.pixels[edge:] if lower else image.pixels[:edge]))
    (flag,) = [flag for flag in result.flags if flag.raised]
    assert flag.evidence.notice is not None
    said = in_english(flag.evidence.notice)
    assert said.startswith(
        f"the {'upper' if lower else 'lower'} register of the page is not on this image: 15 of its 30"
    )


def test_the_half_of_a_page_in_registers_is_said_to_be_that(ppocr: PPOCR, canon: tuple[Page, LoadedImage]) -> None:
    page, image = canon
    result = check(ppocr, page, lying(image, image.pixels[:, image.pixels.shape[1] // 2 :]))
    said = [in_english(flag.evidence.notice) for flag in result.flags if flag.raised and flag.evidence.notice]
    assert [one.split(" of the page")[0] for one in said] == ["the left half"]
