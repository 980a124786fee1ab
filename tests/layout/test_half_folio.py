"""The columns of a half-folio: all of them, where they are, whatever happened to rules and frames."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgpack
import numpy as np
import pytest
from _pytest.mark import ParameterSet
from rapidfuzz import fuzz

from proof.facsimile.leaf import StripText, Style
from proof.facsimile.render import RenderedPage, render_page
from proof.facsimile.wear import LEVELS, Wear, without_seal
from proof.images.load import load_image
from proof.layout.half_folio import ColumnArea, Layout, Outline
from proof.layout.ink import has_ink
from proof.layout.photograph import page_columns
from proof.layout.plate import quadrant_boxes
from proof.layout.rules import ink_mask
from proof.layout.runs import CutBy
from proof.layout.strips import cut_strips
from proof.locale.notices import in_english
from proof.model.geometry import Box
from proof.model.notices import Notice, NoticeCode
from proof.ocr.engine import Pixels
from proof.ocr.ppocr import PPOCR
from proof.text.model import Page
from proof.text.read import read_transcription
from tests.layout.half_folio import LINES

PAGES = Path(__file__).resolve().parents[2] / "pages"

MakePage = Callable[..., Page]

STRIP = StripText(title="儀禮集釋", juan="卷十", leaf=1)

WORN = {
    "clean": (Style(), Wear()),
    "leaning": (Style(), Wear(skew=3.0)),
    "broken": (Style(), Wear(skew=1.0, broken=0.6)),
    "under a seal": (Style(), Wear(skew=1.0, seal=0.7)),
    "askew": (Style(), Wear(skew=1.0, keystone=0.006)),
    "heavy": (Style(strip_seen=0.8), LEVELS["heavy"]),
    "grey": (Style(wide_margins=False), replace(LEVELS["moderate"], grey=True, jpeg=70)),
    "large": (Style(scale=1.7, strip_seen=1.0), LEVELS["moderate"]),
    "cut close": (Style(wide_margins=False, strip_seen=0.9), LEVELS["moderate"]),
}


@pytest.fixture(scope="session")
def worn(make_page: MakePage) -> dict[str, tuple[RenderedPage, Layout]]:
    """Drawn half-folios with every kind of wear, right and left halves in turn, and what was found on them."""
    found = {}
    for number, (name, (style, wear)) in enumerate(WORN.items()):
        page = make_page(*LINES, folio="1a" if number % 2 else "1b", name=f"P-{name}")
        drawn = render_page(page, style, wear, seed=number, strip=STRIP)
        found[name] = drawn, page_columns(drawn.image)
    return found


def edges(corners: tuple[tuple[float, float], ...]) -> tuple[float, float]:
    """Left and right edge of a drawn column at mid-height."""
    (ax, _), (bx, _), (cx, _), (dx, _) = corners
    return (ax + dx) / 2, (bx + cx) / 2


def found_edges(layout: Layout, area: ColumnArea, y: float | None = None) -> tuple[float, float]:
    """Left and right edge of a found column in the image file, at the middle of it or where it crosses `y` there."""
    middle = (area.top + area.bottom) / 2
    if y is not None:
        x = layout.file_box(area.left, middle, area.right, middle).centre[0]
        middle = float(layout.rectification.to_page(np.array([[x, y]]))[0, 1])
    ends = layout.rectification.to_file(np.array([[area.left, middle], [area.right, middle]]))
    return float(ends[0, 0]), float(ends[1, 0])


def on_page(layout: Layout, box: Box) -> tuple[float, float, float, float]:
    """A box of the image file on the rectified page: left, top, right, bottom."""
    corners = np.array([[box.x, box.y], [box.right, box.y], [box.right, box.bottom], [box.x, box.bottom]])
    moved = layout.rectification.to_page(corners)
    (x0, y0), (x1, y1) = moved.min(axis=0), moved.max(axis=0)
    return float(x0), float(y0), float(x1), float(y1)


def assert_columns(drawn: RenderedPage, layout: Layout, tolerance: float = 0.1) -> None:
    true = drawn.halves[0].columns
    assert [area.number for area in layout.columns] == list(range(1, len(true) + 1))
    for area, corners in zip(layout.columns, true, strict=True):
        left, right = edges(corners)
        found = found_edges(layout, area, sum(y for _, y in corners) / 4)
        assert found == pytest.approx((left, right), abs=tolerance * (right - left)), area.number


def assert_frame(drawn: RenderedPage, layout: Layout, cells: int = 21) -> None:
    """Every column begins at the frame, within half a cell, holds its characters and does not reach below the frame."""
    for area, corners in zip(layout.columns, drawn.halves[0].columns, strict=True):
        middle = (area.left + area.right) / 2
        ends = layout.rectification.to_file(np.array([[middle, area.top], [middle, area.bottom]]))
        top, bottom = (corners[0][1] + corners[1][1]) / 2, (corners[2][1] + corners[3][1]) / 2
        half = 0.5 * (bottom - top) / cells
        last = max((c.box.centre[1] for c in drawn.characters if c.line == area.number), default=top)
        assert float(ends[0, 1]) == pytest.approx(top, abs=half)
        assert last < float(ends[1, 1]) < bottom + half


@pytest.mark.parametrize("name", WORN)
def test_all_eight_columns_are_found(worn: dict[str, tuple[RenderedPage, Layout]], name: str) -> None:
    drawn, layout = worn[name]
    assert layout.ruled, layout.why
    assert_columns(drawn, layout)
    assert_frame(drawn, layout)


@pytest.mark.parametrize("name", WORN)
def test_the_skew_is_that_of_the_page(worn: dict[str, tuple[RenderedPage, Layout]], name: str) -> None:
    drawn, layout = worn[name]
    assert abs(layout.skew) == pytest.approx(abs(drawn.skew), abs=0.3)


def test_one_of_the_pages_leans_by_more_than_two_degrees(worn: dict[str, tuple[RenderedPage, Layout]]) -> None:
    assert max(abs(drawn.skew) for drawn, _ in worn.values()) > 2


@pytest.mark.parametrize("folio", ["1a", "1b"])
@pytest.mark.parametrize("seed", range(2))
def test_a_lean_of_three_degrees_either_way_loses_no_column(make_page: MakePage, folio: str, seed: int) -> None:
    page = make_page(*LINES, folio=folio, name=f"L-{folio}")
    wear = Wear(skew=3.0, broken=0.2)
    drawn = max(
        (render_page(page, Style(scale=0.5), wear, seed=s) for s in range(10 * seed, 10 * seed + 4)),
        key=lambda one: abs(one.skew),
    )
    assert_columns(drawn, page_columns(drawn.image), tolerance=0.13)


@pytest.mark.parametrize("name", WORN)
def test_rules_and_frame_are_no_ink_and_characters_are(worn: dict[str, tuple[RenderedPage, Layout]], name: str) -> None:
    drawn, layout = worn[name]
    kept = [has_ink(layout.ink, *on_page(layout, one.box)) for one in drawn.characters]
    assert np.mean(kept) >= 0.99
    if name not in {"under a seal", "heavy"}:
        for area in layout.columns:
            left = round(area.left)
            rule = layout.ink[round(area.top) : round(area.bottom), max(0, left - 2) : left + 3]
            # where a stroke meets a rule the rule's ink stays with it, and a seal prints over rules too
            assert (rule > 0).mean() < 0.06, area.number


@pytest.mark.parametrize("name", WORN)
def test_the_fold_strip_is_never_a_column(worn: dict[str, tuple[RenderedPage, Layout]], name: str) -> None:
    drawn, layout = worn[name]
    half = drawn.halves[0]
    left, right = edges(half.columns[-1])[0], edges(half.columns[0])[1]
    slack = 0.1 * (right - left) / len(half.columns)
    for area in layout.columns:
        low, high = found_edges(layout, area, sum(y for _, y in half.columns[0]) / 4)
        assert left - slack <= low < high <= right + slack, area.number


@pytest.mark.parametrize("lost", ["top", "bottom", "both"])
def test_a_missing_frame_costs_no_column(make_page: MakePage, lost: str) -> None:
    drawn = render_page(make_page(*LINES), Style(), Wear(specks=40), strip=STRIP)
    image = drawn.image.copy()
    (_, top), _, (_, bottom), _ = drawn.halves[0].frame
    if lost in ("top", "both"):
        image[: round(top) + 4] = 255
    if lost in ("bottom", "both"):
        image[round(bottom) - 4 :] = 255
    layout = page_columns(image)
    assert layout.ruled, layout.why
    assert_columns(drawn, layout)
    assert_frame(drawn, layout)


@pytest.mark.parametrize("missing", [(1,), (4,), (3, 4), (0,), (8,)])
def test_a_missing_rule_costs_no_column(make_page: MakePage, missing: tuple[int, ...]) -> None:
    """Rules are counted from the right, 0 being the one before the first column."""
    drawn = render_page(make_page(*LINES), Style(), Wear(), strip=STRIP)
    image = drawn.image.copy()
    columns = drawn.halves[0].columns
    for number in missing:
        x = round(edges(columns[0])[1] if number == 0 else edges(columns[number - 1])[0])
        image[:, x - 5 : x + 6] = 255
    layout = page_columns(image)
    assert layout.ruled, layout.why
    # where a rule is lost nothing but its neighbours say where it was
    assert_columns(drawn, layout, tolerance=0.15)


@pytest.mark.parametrize(("folio", "fold"), [("1a", 8), ("1b", 0)])
def test_no_column_is_lost_at_the_fold_for_blank_paper_beyond_the_frame(
    make_page: MakePage, folio: str, fold: int
) -> None:
    """Where the rule at the fold is lost, and a scratch stands as far from the frame as the next rule would."""
    drawn = render_page(make_page(*LINES[:7], LINES[0], folio=folio), Style(), Wear(), strip=STRIP)
    image = drawn.image.copy()
    columns = drawn.halves[0].columns
    places = [round(edges(columns[0])[1]), *(round(edges(column)[0]) for column in columns)]
    image[:, places[fold] - 5 : places[fold] + 6] = 255
    beyond = 2 * places[8 - fold] - places[7 if fold == 0 else 1]
    image[300:420, beyond - 1 : beyond + 2] = 0
    layout = page_columns(image)
    assert_columns(drawn, layout, tolerance=0.15)


@pytest.mark.parametrize("count", [6, 9, 10, 12])
def test_another_number_of_columns_can_be_set(make_page: MakePage, count: int) -> None:
    lines = [LINES[n % 5] for n in range(count)]
    drawn = render_page(make_page(*lines, name=f"C-{count}"), Style(columns=count, scale=0.7), LEVELS["light"])
    assert_columns(drawn, page_columns(drawn.image, columns=count))


@pytest.mark.parametrize("count", [6, 8, 9, 10, 12])
def test_the_number_of_columns_is_found_where_it_is_not_set(make_page: MakePage, count: int) -> None:
    lines = [LINES[n % 5] for n in range(count)]
    drawn = render_page(make_page(*lines, name=f"C-{count}"), Style(columns=count, scale=0.7), LEVELS["light"])
    assert_columns(drawn, page_columns(drawn.image, columns=0))


REAL_COUNTS = {
    "other/houcun-woodblock.png": 10,
    "other/colour-scan.jpg": 10,
    "other/zongmu-print-1.png": 9,
    "JMML/images/JMML_000-1a.png": 8,
    "JMML/images/JMML_000-1b.png": 8,
    "JMML/images/JMML_000-2a.png": 8,
    "JMML/images/JMML_001-1a.jpg": 8,
    "JMML/images/JMML_001-1b.jpg": 8,
    "JMML/images/JMML_001-2a.jpg": 8,
    "JMML/images/JMML_001-2b.jpg": 8,
    "JMML/images/JMML_001-3a.jpg": 8,
}


UNCOUNTED = {
    "JMML/images/JMML_000-1a.png": "no rule right of the first column: seven with rules outweigh eight",
    "JMML/images/JMML_000-2a.png": "no rule right of the first column: seven with rules outweigh eight",
}


def counted(name: str) -> ParameterSet:
    marks = [pytest.mark.xfail(strict=True, reason=UNCOUNTED[name])] if name in UNCOUNTED else []
    return pytest.param(name, marks=marks)


@pytest.mark.parametrize("name", [counted(name) for name in REAL_COUNTS])
def test_the_columns_of_a_real_page_are_counted(shared: Path, name: str) -> None:
    page = load_image(shared / "facsimile" / name).pixels
    assert len(page_columns(page, columns=0).columns) == REAL_COUNTS[name]


def column_text(layout: Layout, area: ColumnArea, engine: PPOCR, rows: int = 21) -> str:
    """What a column shows, read without any help from a transcription."""
    strips = cut_strips(layout, area, None, rows, CutBy.SEEN)
    return "".join(reading.text for reading in engine.read([strip.pixels for strip in strips]))


def assert_shows(layout: Layout, page: Page, engine: PPOCR) -> None:
    """Every column of the image shows the line of its own number and no other."""
    texts = {line.number: "".join(c.text for c in line.cells if c.glyph) for line in page.columns}
    assert len(layout.columns) == 8
    for area in layout.columns:
        own = texts.get(area.number, "")
        # two or three characters under a seal are not enough to know a line by
        if len(own) < 6:
            continue
        shown = column_text(layout, area, engine)
        alike = {number: fuzz.ratio(shown, text) for number, text in texts.items() if text}
        assert max(alike, key=lambda n: alike[n]) == area.number, (page.id, area.number, shown)
        assert alike[area.number] >= 40, (page.id, area.number, shown, own)


@pytest.mark.parametrize("juan", ["000", "001"])
def test_every_column_of_the_scans_is_found(shared: Path, ppocr: PPOCR, juan: str) -> None:
    folder = shared / "facsimile" / "JMML"
    for page in read_transcription(folder / f"JMML_{juan}.txt").pages:
        (image,) = (folder / "images").glob(f"JMML_{juan}-{page.folio}.*")
        layout = page_columns(load_image(image).pixels)
        assert layout.ruled, (page.id, layout.why)
        assert_shows(layout, page, ppocr)


def test_every_column_of_the_plate_is_found(shared: Path, ppocr: PPOCR) -> None:
    image = load_image(shared / "facsimile" / "plates" / "WYG0140" / "WYG0140-0330.png")
    pages = read_transcription(shared / "kanripo" / "KR1d0087" / "KR1d0087_223.txt").pages
    boxes = quadrant_boxes(image.pixels)
    assert boxes is not None
    for quadrant, folio in zip("abcd", ("16a", "16b", "17a", "17b"), strict=True):
        (page,) = [page for page in pages if str(page.folio) == folio]
        part = image.crop(boxes[quadrant])
        layout = page_columns(part.pixels, origin=(boxes[quadrant].x, boxes[quadrant].y))
        assert layout.ruled, (quadrant, layout.why)
        assert_shows(layout, page, ppocr)


def raised(layout: Layout) -> list[int]:
    return [area.number for area in layout.columns if area.raised]


def test_columns_raised_in_reverence_are_told_on_real_pages(shared: Path) -> None:
    images = shared / "facsimile" / "JMML" / "images"
    seen = {image.stem: raised(page_columns(load_image(image).pixels)) for image in sorted(images.iterdir())}
    assert {name: columns for name, columns in seen.items() if columns} == {"JMML_001-1a": [8], "JMML_001-1b": [1]}


@pytest.mark.parametrize("name", ["0195c", "0196b", "0196d"])
def test_a_stain_above_the_frame_raises_no_column(name: str) -> None:
    assert raised(page_columns(load_image(PAGES / f"WYG0103-{name}.png").pixels)) == []


@pytest.mark.parametrize("wear", ["none", "moderate"])
def test_a_raised_column_is_told_from_the_others_and_how_far_it_is_raised(make_page: MakePage, wear: str) -> None:
    lines = ["御定易經通注卷一經部一易類", "聖諭", *LINES[:6]]
    page = make_page(*lines, name="R")
    style = Style(raised=((("R", 1), 1), (("R", 2), 2)))
    layout = page_columns(render_page(page, style, LEVELS[wear], seed=0).image)
    assert raised(layout) == [1, 2]
    one, two = layout.columns[0], layout.columns[1]
    cell = one.cell(21)
    assert 0.5 * cell < one.raised < 1.45 * cell
    assert 1.4 * cell < two.raised < 2.5 * cell


@pytest.mark.parametrize("wear", ["none", "light"])
def test_what_is_raised_keeps_its_ink(make_page: MakePage, wear: str) -> None:
    page = make_page("御定易經通注卷一經部一易類", "聖諭", *LINES[:6], name="R")
    style = Style(raised=((("R", 1), 1), (("R", 2), 2)))
    drawn = render_page(page, style, without_seal(LEVELS[wear]), seed=1)
    layout = page_columns(drawn.image)
    paper = ink_mask(layout.grey)
    for one in drawn.characters:
        if one.line <= 2:
            x0, y0, x1, y1 = (round(value) for value in on_page(layout, one.box))
            kept = np.count_nonzero(layout.ink[y0:y1, x0:x1]) / np.count_nonzero(paper[y0:y1, x0:x1])
            assert kept > 0.8, (one.text, kept)


def test_a_table_is_not_ruled_columns_and_is_said_to_be_one(shared: Path) -> None:
    layout = page_columns(load_image(shared / "facsimile" / "other" / "tables-seal.png").pixels)
    assert not layout.ruled
    assert layout.why
    assert "level lines across the columns" in in_english(layout.why)


def test_two_registers_are_columns_too(shared: Path) -> None:
    layout = page_columns(load_image(shared / "facsimile" / "other" / "canon-two-registers.jpg").pixels)
    assert layout.ruled
    upper, lower = layout.columns[0], layout.columns[-1]
    assert upper.bottom < lower.top


def blank_sheet(seed: int) -> Pixels:
    paper = np.full((1200, 900), 235, np.uint8)
    rng = np.random.default_rng(seed)
    for x, y in zip(rng.integers(0, 890, 60), rng.integers(0, 1190, 60), strict=True):
        paper[y : y + 3, x : x + 3] = 30
    return paper


@pytest.mark.parametrize("columns", [0, 8])
def test_a_sheet_without_rules_is_not_ruled_columns(columns: int) -> None:
    layout = page_columns(blank_sheet(1), columns=columns)
    assert not layout.ruled
    assert layout.why == Notice.of(NoticeCode.NOT_RULED)


@pytest.mark.parametrize("tone", [0, 255])
def test_a_black_or_white_sheet_is_no_page_and_no_accident(tone: int) -> None:
    layout = page_columns(np.full((1000, 800), tone, np.uint8))
    assert not layout.ruled
    assert layout.columns == ()


def test_places_are_pixels_of_the_file_that_the_page_was_cut_from(make_page: MakePage) -> None:
    drawn = render_page(make_page(*LINES), Style(scale=1.35), Wear(skew=2.0, specks=40), seed=5)
    alone = page_columns(drawn.image)
    sheet = np.pad(drawn.image, ((300, 90), (120, 500)), constant_values=255)
    height, width = drawn.image.shape
    part = np.ascontiguousarray(sheet[300 : 300 + height, 120 : 120 + width])
    cut = page_columns(part, origin=(120, 300))
    for one, other in zip(alone.columns, cut.columns, strict=True):
        here = alone.file_box(one.left, one.top, one.right, one.bottom)
        there = cut.file_box(other.left, other.top, other.right, other.bottom)
        assert (there.x, there.y, there.w, there.h) == pytest.approx((here.x + 120, here.y + 300, here.w, here.h))


def test_every_column_lies_on_the_image(worn: dict[str, tuple[RenderedPage, Layout]]) -> None:
    for name, (drawn, layout) in worn.items():
        height, width = drawn.image.shape
        for area in layout.columns:
            box = layout.file_box(area.left, area.top, area.right, area.bottom)
            assert box.x >= -2, (name, area.number)
            assert box.y >= -2, (name, area.number)
            assert box.right <= width + 2, (name, area.number)
            assert box.bottom <= height + 2, (name, area.number)


def test_an_outline_comes_back_with_what_speaks_against_columns() -> None:
    outline = page_columns(np.full((900, 600), 255, np.uint8)).outline
    assert outline.why
    again = Outline.of_list(msgpack.unpackb(msgpack.packb(outline.as_list()), use_list=False))
    assert (again.why, again.ruled, again.columns) == (outline.why, False, outline.columns)


def test_a_thin_stroke_beside_a_rule_stays(worn: dict[str, tuple[RenderedPage, Layout]]) -> None:
    """The left stroke of 同 stands by itself where the hand leaves off: without it the rest reads 司."""
    drawn, layout = worn["clean"]
    area = layout.columns[3]
    cell = (area.bottom - area.top) / 21
    for share in (0.09, 0.11, 0.13):
        image = drawn.image.copy()
        x = area.left + share * area.width
        box = layout.file_box(x - 1, area.top + 2 * cell, x + 1, area.top + 2.7 * cell)
        left, top, right, bottom = (round(edge) for edge in (box.x, box.y, box.right, box.bottom))
        image[top:bottom, left : right + 1] = 0
        ink = page_columns(image).ink[round(area.top + 2.1 * cell) : round(area.top + 2.6 * cell)]
        assert ink[:, round(x) - 2 : round(x) + 3].any(axis=1).mean() > 0.9, share
