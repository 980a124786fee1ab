"""Columns of pages of any kind: their count is never told."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from proof.facsimile.brush import Hand, rule, write_glyph
from proof.facsimile.render import fonts_for
from proof.facsimile.wear import seal_shape
from proof.layout.page import find_columns
from proof.layout.photograph import page_columns
from tests.layout.drawn import Drawn, Layout, assert_found, boxes_of, draw, right

PAGES = {
    "without rules": Layout(),
    "without rules or frame": Layout(frame=False, columns=11),
    "set tight": Layout(pitch=46, glyph=40, cells=20, columns=14),
    "set wide": Layout(pitch=96, glyph=46, columns=7),
    "ruled": Layout(rules=1.0, pitch=70),
    "with broken rules": Layout(rules=0.5, pitch=70),
    "in two registers": Layout(registers=2, columns=14, pitch=50, glyph=32, title=True),
    "with notes in double rows": Layout(notes=0.4, pitch=72, glyph=50),
    "with short columns": Layout(short=3),
    "that leans": Layout(lean=1.7),
    "that leans the other way, ruled": Layout(lean=-2.3, rules=1.0, pitch=70),
    "with marks beside its last column": Layout(columns=14, pitch=50, glyph=32, marks=True),
    "in registers, with marks": Layout(registers=2, columns=14, pitch=50, glyph=32, marks=True),
    "of an opening": Layout(leaves=2, columns=8),
    "of an opening with a title in its fold": Layout(leaves=2, columns=8, fold=True),
    "of an opening whose frames stand close": Layout(leaves=2, registers=2, gutter=0.6, columns=8, cells=12),
    "of which every other column is short": Layout(short=2, few=4, cells=14, columns=12, pitch=46, glyph=40),
    "with a column of a single character": Layout(short=5, few=1, cells=24, columns=12),
    "all in double rows between rules": Layout(notes=1.01, rules=1.0, pitch=90, cells=30, columns=11),
    "partly in double rows, set wide": Layout(notes=0.9, rules=1.0, pitch=104, glyph=40, cells=26, columns=10, seed=3),
    "in registers with empty columns": Layout(
        registers=3, cells=10, columns=13, pitch=46, glyph=40, empty=0.25, seed=6
    ),
    # of few rows: strokes are as long as the pieces of rules of another
    "of large glyphs": Layout(columns=3, cells=6, glyph=120, pitch=170),
}


@pytest.mark.parametrize("layout", PAGES.values(), ids=PAGES.keys())
def test_every_column_of_a_page_is_found_in_reading_order_and_nothing_else(layout: Layout) -> None:
    page = draw(layout)
    assert_found(find_columns(page.pixels), page.columns)


def count(pixels: NDArray[np.uint8]) -> int:
    return len(find_columns(np.asarray(pixels, np.uint8)).columns)


def stamp(page: Drawn, x: float, y: float, size: int, seed: int, tone: int = 90) -> None:
    """A seal with its upper left corner at a place, printed over what is there."""
    part = page.pixels[round(y) :, round(x) :][:size, :size]
    inked = (seal_shape(size, np.random.default_rng(seed)) > 127)[: part.shape[0], : part.shape[1]]
    part[inked] = np.minimum(part[inked], tone)


def small_script(page: Drawn, x: float, y: float, count: int, size: int = 26) -> None:
    """So many characters of the first column, in small script below each other from a place on."""
    own = page.columns[0]
    step = own.h / 17
    for row in range(count):
        top = round(own.y + row % 17 * step)
        glyph = page.pixels[top : round(top + step), round(own.centre[0]) - 24 : round(own.centre[0]) + 24]
        at = np.s_[round(y + 1.1 * row * size) : round(y + 1.1 * row * size) + size, round(x) : round(x) + size]
        page.pixels[at] = cv2.resize(glyph, (size, size), interpolation=cv2.INTER_AREA)


# What stands beside the text and is none of it.


def test_an_ornament_that_stands_alone_beside_the_text_is_no_column() -> None:
    page = draw(Layout(frame=False, columns=11))
    wider = np.pad(page.pixels, ((0, 0), (60, 0)), constant_values=255)
    last = page.columns[-1]
    cv2.circle(wider, (round(60 + last.x - 1.3 * last.w), 140), 18, (0,), 4)
    assert count(wider) == len(page.columns)


def test_a_title_in_the_fold_is_no_column_where_frames_have_no_sides() -> None:
    page = draw(Layout(leaves=2, columns=8, fold=True, frame=False))
    middle = page.pixels.shape[1] // 2
    for y in (100, page.pixels.shape[0] - 100):
        for ends in ((90, middle - 50), (middle + 50, page.pixels.shape[1] - 90)):
            cv2.line(page.pixels, (ends[0], y), (ends[1], y), (0,), 4)
    assert count(page.pixels) == len(page.columns)


@pytest.mark.parametrize("frame", [True, False])
def test_glosses_between_columns_are_no_columns(frame: bool) -> None:
    page = draw(Layout(pitch=84, columns=11, frame=frame))
    for column in page.columns:
        small_script(page, column.x - 13, column.y + 30, 24)
    assert_found(find_columns(page.pixels), page.columns)


def test_notes_in_the_upper_margin_are_of_no_column() -> None:
    page = draw(Layout(frame=False, columns=11))
    higher = Drawn(
        np.pad(page.pixels, ((160, 0), (0, 0)), constant_values=255), [replace(c, y=c.y + 160) for c in page.columns]
    )
    for number in range(9):
        small_script(higher, higher.columns[0].right - 40 - 34 * number, 30, 5)
    boxes = boxes_of(find_columns(higher.pixels))
    assert len(boxes) == len(page.columns)
    assert all(box.y > true.y - 20 for box, true in zip(boxes, higher.columns, strict=True))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_ruled_page_without_text_has_no_columns(seed: int) -> None:
    rng, canvas = np.random.default_rng(seed), np.zeros((1400, 1000), np.uint8)
    for number in range(10):
        ends = (110.0 + 85 * number, 130.0), (110.0 + 85 * number, 1270.0)
        rule(canvas, *ends, 3.0, rng, wander=0.7, rough=0.25, lost=0.3, bow=float(rng.normal(0, 1.5)))
    for y in (130.0, 1270.0):
        rule(canvas, (110.0, y), (875.0, y), 6.0, rng)
    assert count(255 - canvas) == 0


# Seals.


def test_a_seal_beside_the_frame_is_no_column() -> None:
    page = draw(Layout(columns=14, pitch=50, glyph=34, cells=12, registers=2))
    stamp(page, 8, 500, 90, 1)
    assert count(page.pixels) == len(page.columns)


@pytest.mark.parametrize("seed", [1, 2, 5])
@pytest.mark.parametrize("rules", [0.0, 1.0])
def test_a_seal_alone_in_an_empty_column_is_none(seed: int, rules: float) -> None:
    layout = Layout(columns=12, empty=0.3, cells=16, pitch=66, rules=rules, seed=seed)
    page = draw(layout)
    columns = count(page.pixels)
    places = [110 + (number + 0.5) * layout.pitch for number in range(layout.columns)]
    empty = [x for x in places if not any(box.x < x < box.right for box in page.columns)]
    stamp(page, empty[1] - 30, 400, 60, seed)
    assert count(page.pixels) == columns


def test_the_sides_of_seals_over_text_are_no_rules() -> None:
    """Where some columns are empty every other one may be what recurs; two are one only where rules say so."""
    page = draw(Layout(registers=2, cells=14, columns=13, pitch=46, glyph=40, empty=0.3, seed=2))
    for column in (page.columns[2], page.columns[8], page.columns[13]):
        stamp(page, column.x - 20, column.y + 100, 110, 2, tone=120)
    boxes = boxes_of(find_columns(page.pixels))
    assert all(any(box.contains(*true.centre) and box.w < 1.6 * true.w for box in boxes) for true in page.columns)


def test_a_seal_over_text_leaves_its_column() -> None:
    page = draw(Layout(columns=9, pitch=66))
    stamp(page, page.columns[4].centre[0] - 32, 400, 64, 3)
    assert count(page.pixels) == len(page.columns)


# Text that is set otherwise than most of it.


@pytest.mark.parametrize("frame", [True, False])
@pytest.mark.parametrize("seed", [1, 2, 5])
def test_a_column_reaches_to_the_number_in_small_script_that_it_ends_in(seed: int, frame: bool) -> None:
    """八 is written in two strokes, neither of them as large as half a glyph; a 十 before it is thin."""
    page = draw(Layout(numbers=True, cells=13, pitch=70, frame=frame, seed=seed))
    boxes = boxes_of(find_columns(page.pixels))
    assert min(box.bottom - true.bottom for box, true in zip(boxes, page.columns, strict=True)) > -0.25 * 44


@pytest.mark.parametrize("rows", [2, 3])
@pytest.mark.parametrize("end", [0, -1])
def test_the_end_of_a_note_alone_in_the_outermost_column_of_a_frame_is_text(end: int, rows: int) -> None:
    """Two halves of a row are as broad as a glyph of main text; a title in small script is not."""
    page = draw(Layout(title=True))
    own, other = page.columns[end], page.columns[4]
    pixels = page.pixels.copy()
    pixels[round(own.y) : round(own.bottom), round(own.x + 3) : round(own.right - 3)] = 255
    for row in range(rows):
        for side in (0, 1):
            top = round(other.y + (2 * row + side) * 49)
            glyph = page.pixels[top : top + 49, round(other.x + 6) : round(other.right - 6)]
            small = cv2.resize(glyph, (26, 26), interpolation=cv2.INTER_AREA)
            y, x = round(own.y + 6 + 28 * row), round(own.centre[0] - 26 * side)
            pixels[y : y + 26, x : x + 26] = small
    assert count(pixels) == len(page.columns)


def test_characters_in_white_on_black_are_of_their_columns() -> None:
    page = draw(Layout(pitch=70, rules=1.0))
    for number, column in enumerate(page.columns):
        for row in ((0, 5), (3, 9), (7, 16))[number % 3]:
            cell = column.h / 17
            y, x = round(column.y + row * cell), round(column.x + column.w / 2)
            part = page.pixels[y : round(y + cell), x - 25 : x + 25]
            part[:] = 255 - part
    assert_found(find_columns(page.pixels), page.columns)


def test_a_column_of_notes_in_the_middle_of_a_leaf_is_no_fold_strip() -> None:
    """It is in small script between two rules that run far, as a strip is."""
    plain, noted = (draw(Layout(columns=15, pitch=70, cells=18, rules=1.0, notes=share)) for share in (0.0, 1.01))
    column = plain.columns[7]
    across = slice(round(column.x) + 4, round(column.right) - 4)
    place = slice(round(column.y), round(column.y + 0.4 * column.h)), across
    plain.pixels[round(column.y) : round(column.bottom) + 4, across] = 255
    plain.pixels[place] = noted.pixels[place]
    assert count(plain.pixels) == len(plain.columns)


def test_a_title_over_two_columns_is_one() -> None:
    page = draw(Layout(pitch=60, cells=18, columns=12, rules=1.0))
    first, second = page.columns[:2]
    page.pixels[round(first.y) - 4 : round(first.bottom) + 4, round(second.x) + 4 : round(first.right) - 4] = 255
    for row, letter in enumerate("大六之心文"):
        shape = fonts_for(()).field(letter)
        assert shape is not None
        ink = np.zeros_like(page.pixels)
        write_glyph(ink, shape, (first.x, first.y + (row + 0.6) * 115), (100, 100), Hand(), np.random.default_rng(row))
        np.minimum(page.pixels, 255 - ink, out=page.pixels)
    box, *others = boxes_of(find_columns(page.pixels))
    assert len(others) == len(page.columns) - 2
    assert box.x < second.x + 0.45 * second.w
    assert box.right > first.x + 0.55 * first.w


# Parts of pages, and lines that rule none.


def test_the_last_register_of_a_page_that_is_cut_off_is_one_of_its_registers() -> None:
    page = draw(Layout(registers=3, cells=10, columns=13, pitch=46, glyph=40))
    found = find_columns(np.ascontiguousarray(page.pixels[: round(0.85 * page.pixels.shape[0])]))
    assert [region.lined for region in found.regions] == [(True, True), (True, True), (True, False)]
    assert len(found.columns) == len(page.columns)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_part_of_a_page_without_rules_is_not_taken_for_a_ruled_one(seed: int) -> None:
    """Two sides of a frame and strokes of glyphs, which are long for so low an image, fit eight columns of double
    width; that the image cuts its columns off is said."""
    page = draw(Layout(columns=16, pitch=50, glyph=42, cells=18, seed=seed))
    rows = page.columns[0].y + 9.4 * 42 * 1.12
    layout = page_columns(np.ascontiguousarray(page.pixels[: round(rows)]), 8, 21)
    assert len(layout.columns) == len(page.columns)
    assert layout.outline.cut[1] is not None


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_lines_of_a_drawing_rule_no_page(seed: int) -> None:
    """They and a gap between every two columns fit columns of double width."""
    page = draw(Layout(columns=16, pitch=50, glyph=42, cells=18, seed=seed))
    left, edge = round(page.columns[-1].x), round(page.columns[-5].x)
    page.pixels[120:-120, left + 6 : edge] = 255
    middle, radii = ((left + edge) // 2, page.pixels.shape[0] // 2), np.array([90, 300])
    for share in (1.0, 0.7, 0.4):
        cv2.ellipse(page.pixels, middle, np.rint(share * radii).astype(int).tolist(), 0, 0, 360, (0,), 3)
    for angle in np.linspace(0, np.pi, 7):
        spoke = np.rint(radii * (np.cos(angle), np.sin(angle))).astype(int)
        cv2.line(page.pixels, (middle - spoke).tolist(), (middle + spoke).tolist(), (0,), 2)
    boxes = boxes_of(page_columns(page.pixels, 8, 21))[:12]
    assert all(right(boxes, true) for true in page.columns[:12])
