"""The columns of a half-folio: all of them, where they are, whatever happened to rules and frames."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import cv2
import msgpack
import numpy as np
import pytest
from _pytest.mark import ParameterSet

from proof.facsimile.brush import Hand, write_glyph
from proof.facsimile.leaf import StripText, Style
from proof.facsimile.render import RenderedPage, fonts_for, render_page
from proof.facsimile.wear import LEVELS, Wear, without_seal
from proof.images.load import load_image
from proof.layout.half_folio import ColumnArea, Layout, Outline, find_layout
from proof.layout.ink import has_ink
from proof.layout.rules import ink_mask
from proof.locale.notices import in_english
from proof.model.geometry import Box
from proof.model.notices import Notice, NoticeCode
from tests.half_folios import MakePage
from tests.layout.drawn import Layout as Ruled
from tests.layout.drawn import draw
from tests.layout.half_folio import LINES

STRIP = StripText(title="儀禮集釋", juan="卷十", leaf=1)

WORN = {
    "leaning": (Style(), Wear(skew=3.0)),
    "heavy": (Style(strip_seen=0.8), LEVELS["heavy"]),
    "grey": (Style(wide_margins=False), replace(LEVELS["moderate"], grey=True, jpeg=70)),
    "large": (Style(scale=1.7, strip_seen=1.0), LEVELS["moderate"]),
    "cut close": (Style(wide_margins=False, strip_seen=0.9), LEVELS["moderate"]),
}


@pytest.fixture(scope="module", params=WORN)
def worn(request: pytest.FixtureRequest, make_page: MakePage) -> tuple[RenderedPage, Layout]:
    """A drawn half-folio with one kind of wear, right and left halves in turn, and what was found on it."""
    number = list(WORN).index(request.param)
    style, wear = WORN[request.param]
    page = make_page(*LINES, folio="1a" if number % 2 else "1b", name=f"P-{request.param}")
    drawn = render_page(page, style, wear, seed=number, strip=STRIP)
    return drawn, find_layout(drawn.image)


def edges(corners: tuple[tuple[float, float], ...]) -> tuple[float, float]:
    """Left and right edge of a drawn column at mid-height."""
    (ax, _), (bx, _), (cx, _), (dx, _) = corners
    return (ax + dx) / 2, (bx + cx) / 2


def found_edges(layout: Layout, area: ColumnArea) -> tuple[float, float]:
    middle = (area.top + area.bottom) / 2
    ends = layout.rectification.to_file(np.array([[area.left, middle], [area.right, middle]]))
    return float(ends[0, 0]), float(ends[1, 0])


def on_page(layout: Layout, box: Box) -> tuple[float, float, float, float]:
    """A box of the image file on the rectified page: left, top, right, bottom."""
    matrix = layout.rectification.matrix
    corners = np.array([[box.x, box.y], [box.right, box.y], [box.right, box.bottom], [box.x, box.bottom]])
    moved = corners @ matrix[:, :2].T + matrix[:, 2]
    (x0, y0), (x1, y1) = moved.min(axis=0), moved.max(axis=0)
    return float(x0), float(y0), float(x1), float(y1)


def assert_columns(drawn: RenderedPage, layout: Layout, tolerance: float = 0.08) -> None:
    true = drawn.halves[0].columns
    assert [area.number for area in layout.columns] == list(range(1, len(true) + 1))
    for area, corners in zip(layout.columns, true, strict=True):
        left, right = edges(corners)
        found = found_edges(layout, area)
        assert found == pytest.approx((left, right), abs=tolerance * (right - left)), area.number


def assert_frame(drawn: RenderedPage, layout: Layout, cells: int = 21) -> None:
    """Top and bottom of every column within half a cell."""
    for area, corners in zip(layout.columns, drawn.halves[0].columns, strict=True):
        middle = (area.left + area.right) / 2
        ends = layout.rectification.to_file(np.array([[middle, area.top], [middle, area.bottom]]))
        top, bottom = (corners[0][1] + corners[1][1]) / 2, (corners[2][1] + corners[3][1]) / 2
        assert (float(ends[0, 1]), float(ends[1, 1])) == pytest.approx((top, bottom), abs=0.5 * (bottom - top) / cells)


def assert_laid_out(drawn: RenderedPage, layout: Layout, tolerance: float = 0.08) -> None:
    """The page is ruled, its columns are where they were drawn, and so is its frame."""
    assert layout.ruled, layout.outline.why
    assert_columns(drawn, layout, tolerance)
    assert_frame(drawn, layout)


def test_all_columns_are_found_the_fold_strip_is_none_and_all_lie_on_the_image(
    worn: tuple[RenderedPage, Layout],
) -> None:
    drawn, layout = worn
    assert_laid_out(drawn, layout)
    assert abs(layout.outline.skew) == pytest.approx(abs(drawn.skew), abs=0.3)
    half = drawn.halves[0]
    left, right = edges(half.columns[-1])[0], edges(half.columns[0])[1]
    slack = 0.1 * (right - left) / len(half.columns)
    height, width = drawn.image.shape
    for area in layout.columns:
        low, high = found_edges(layout, area)
        assert left - slack <= low < high <= right + slack, area.number
        box = layout.outline.file_box(area.left, area.top, area.right, area.bottom)
        assert min(box.x, box.y) >= -2, area.number
        assert box.right <= width + 2, area.number
        assert box.bottom <= height + 2, area.number


def test_rules_and_frame_are_no_ink_and_characters_are(
    worn: tuple[RenderedPage, Layout], request: pytest.FixtureRequest
) -> None:
    drawn, layout = worn
    kept = [has_ink(layout.ink, *on_page(layout, character.box)) for character in drawn.characters]
    assert np.mean(kept) >= 0.99
    if request.node.callspec.params["worn"] not in {"under a seal", "heavy"}:
        for area in layout.columns:
            left = round(area.left)
            rule = layout.ink[round(area.top) : round(area.bottom), max(0, left - 2) : left + 3]
            # where a stroke meets a rule the rule's ink stays with it, and a seal prints over rules too
            assert (rule > 0).mean() < 0.06, area.number


@pytest.mark.parametrize("missing", [(3, 4), (0,), (8,)])
def test_a_missing_rule_costs_no_column(make_page: MakePage, missing: tuple[int, ...]) -> None:
    """Rules are counted from the right, 0 being the one before the first column."""
    drawn = render_page(make_page(*LINES), Style(), Wear(), strip=STRIP)
    image = drawn.image.copy()
    columns = drawn.halves[0].columns
    for number in missing:
        x = round(edges(columns[0])[1] if number == 0 else edges(columns[number - 1])[0])
        image[:, x - 5 : x + 6] = 255
    layout = find_layout(image)
    assert layout.ruled, layout.outline.why
    # where a rule is lost nothing but its neighbours say where it was
    assert_columns(drawn, layout, tolerance=0.15)


UNCOUNTED = {
    "other/colour-scan.jpg": "the rule right of the first column is the frame itself, which is bent there",
    "other/zongmu-print-1.png": "short, faint rules of movable type",
    "JMML/images/JMML_000-1a.png": "no rule right of the first column: seven with rules outweigh eight",
    "JMML/images/JMML_000-2a.png": "no rule right of the first column: seven with rules outweigh eight",
}
REAL = {
    "other/houcun-woodblock.png": 10,
    "other/colour-scan.jpg": 10,
    "other/zongmu-print-1.png": 9,
    **{f"JMML/images/JMML_000-{folio}.png": 8 for folio in ("1a", "1b", "2a")},
    **{f"JMML/images/JMML_001-{folio}.jpg": 8 for folio in ("1a", "1b", "2a", "2b", "3a")},
}


def uncounted(name: str) -> ParameterSet:
    marks = [pytest.mark.xfail(strict=True, reason=UNCOUNTED[name])] if name in UNCOUNTED else []
    return pytest.param(name, marks=marks)


@pytest.mark.parametrize("name", [uncounted(name) for name in REAL])
def test_the_columns_of_a_real_page_are_counted(shared: Path, name: str) -> None:
    page = load_image(shared / "facsimile" / name).pixels
    assert len(find_layout(page, columns=0).columns) == REAL[name]


def raised_on(layout: Layout) -> list[int]:
    return [area.number for area in layout.columns if area.raised]


@pytest.mark.parametrize("name", [name for name in REAL if name.startswith("JMML")])
def test_on_a_real_page_eight_columns_are_found_and_those_raised_in_reverence_are_told(shared: Path, name: str) -> None:
    """That each shows its own line is tested where pages are checked."""
    layout = find_layout(load_image(shared / "facsimile" / name).pixels)
    assert layout.ruled, layout.outline.why
    assert len(layout.columns) == 8
    assert raised_on(layout) == {"JMML_001-1a": [8], "JMML_001-1b": [1]}.get(Path(name).stem, [])


def test_a_raised_column_is_told_and_how_far_it_is_raised_and_keeps_its_ink(make_page: MakePage) -> None:
    page = make_page("御定易經通注卷一經部一易類", "聖諭", *LINES[:6], name="R")
    style = Style(raised=((("R", 1), 1), (("R", 2), 2)))
    drawn = render_page(page, style, without_seal(LEVELS["moderate"]), seed=0)
    layout = find_layout(drawn.image)
    assert raised_on(layout) == [1, 2]
    first_column, second_column = layout.columns[0], layout.columns[1]
    cell = first_column.cell(21)
    assert 0.5 * cell < first_column.raised < 1.45 * cell
    assert 1.4 * cell < second_column.raised < 2.5 * cell
    paper = ink_mask(layout.grey)
    for character in drawn.characters:
        if character.line <= 2:
            x0, y0, x1, y1 = (round(value) for value in on_page(layout, character.box))
            kept = np.count_nonzero(layout.ink[y0:y1, x0:x1]) / np.count_nonzero(paper[y0:y1, x0:x1])
            assert kept > 0.7, (character.text, kept)


@pytest.mark.parametrize("letter", "擊聲崇")
def test_a_raised_character_over_both_lines_of_a_thick_frame_is_told_and_keeps_its_strokes(letter: str) -> None:
    """So it is written on paper with a printed frame."""
    plain = draw(Ruled(columns=8, cells=21, rules=1.0))
    ink = 255 - plain.pixels
    first, last = plain.columns[0], plain.columns[-1]
    # the frame is drawn 12 pixels above the columns; its outer line is thick and as far away again
    cv2.rectangle(
        ink, (round(last.x) - 12, round(first.y) - 24), (round(first.right) + 12, ink.shape[0] - 98), (255,), 7
    )
    shape = fonts_for(()).field(letter)
    assert shape is not None
    glyph = np.zeros_like(ink)
    write_glyph(glyph, shape, (plain.columns[2].centre[0], first.y - 19), (44, 44), Hand(), np.random.default_rng(1))
    layout = find_layout(255 - np.maximum(ink, glyph))
    assert raised_on(layout) == [3]
    assert layout.columns[2].raised > 0.5 * layout.columns[2].cell(21)
    strokes = cv2.warpAffine(glyph, layout.rectification.matrix, layout.ink.shape[::-1]) > 127
    assert np.count_nonzero(layout.ink[strokes]) > 0.5 * np.count_nonzero(strokes)


@pytest.mark.parametrize(
    ("name", "why"),
    [("tables-seal.png", "level lines across the columns"), ("canon-two-registers.jpg", "registers")],
)
def test_a_page_that_is_not_in_ruled_columns_is_said_to_be_so(shared: Path, name: str, why: str) -> None:
    layout = find_layout(load_image(shared / "facsimile" / "other" / name).pixels)
    assert not layout.ruled
    assert layout.outline.why
    assert why in in_english(layout.outline.why)


@pytest.mark.parametrize("columns", [0, 8])
def test_a_sheet_without_rules_is_not_ruled_columns(columns: int) -> None:
    paper = np.full((1200, 900), 235, np.uint8)
    rng = np.random.default_rng(1)
    for x, y in zip(rng.integers(0, 890, 60), rng.integers(0, 1190, 60), strict=True):
        paper[y : y + 3, x : x + 3] = 30
    layout = find_layout(paper, columns=columns)
    assert not layout.ruled
    assert layout.outline.why == Notice.of(NoticeCode.NOT_RULED)


@pytest.mark.parametrize("tone", [0, 255])
def test_a_black_or_white_sheet_is_no_page_and_what_speaks_against_columns_is_kept(tone: int) -> None:
    outline = find_layout(np.full((1000, 800), tone, np.uint8)).outline
    assert not outline.ruled
    assert len(outline.columns) == 8
    assert outline.why
    again = Outline.of_list(msgpack.unpackb(msgpack.packb(outline.as_list()), use_list=False))
    assert (again.why, again.ruled, again.columns) == (outline.why, False, outline.columns)
