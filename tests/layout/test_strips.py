"""Columns cut into strips: notes told from main text, half-rows from one another, each where it stands."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from proof.facsimile.brush import Hand, write_glyph
from proof.facsimile.fonts import FontChain
from proof.facsimile.leaf import StripText, Style
from proof.facsimile.render import RenderedPage, render_page
from proof.facsimile.wear import LEVELS, Wear, without_seal
from proof.layout.crossings import OVER_RULE_WIDTHS
from proof.layout.half_folio import ColumnArea, Layout, Outline, find_layout
from proof.layout.photograph import page_columns
from proof.layout.rules import Rectification
from proof.layout.runs import CutBy
from proof.layout.strips import MAIN_PITCH, STRIP_WIDTH, Strip, cut_strips, window
from proof.model.geometry import Box
from proof.ocr.ppocr import PPOCR
from proof.text.model import Column, Page, Row
from tests.half_folios import MakePage
from tests.layout import drawn
from tests.verify.pages import line

LINES = (
    "司射適西階西倚扑升自西階東面請射于公",
    "　鄭注倚扑者將即君前不敢佩刑器也升堂者欲諸",
    "司射東面于大夫之西比耦大夫與大夫(案比今注疏/本訛作北據)",
    "(唐石經及/宋本改正)命上射曰某御于子命下射曰子與某子射",
    "　　(此節言射禮之儀注家以爲大射之前必有此事今據/石經補正其文與鄉射禮略同而詳畧各異讀者互參)",
    "公許遂適(謂公既許之/也適猶往也)西階上命賓御于公(賓尊故/先命之)諸公卿",
    "御定易經通注卷一",
    "",
)
RUNS: tuple[tuple[Row, ...], ...] = (
    (Row.MAIN,),
    (Row.MAIN,),
    (Row.MAIN, Row.RIGHT, Row.LEFT),
    (Row.RIGHT, Row.LEFT, Row.MAIN),
    (Row.RIGHT, Row.LEFT),
    (Row.MAIN, Row.RIGHT, Row.LEFT, Row.MAIN, Row.RIGHT, Row.LEFT, Row.MAIN),
    (Row.MAIN,),
    (),
)
ROWS = 21


@dataclass(frozen=True)
class Cut:
    """A drawn page, its layout, its lines, and the strips of each column."""

    drawn: RenderedPage
    layout: Layout
    page: Page
    strips: tuple[tuple[Strip, ...], ...]

    def again(self, number: int, line: Column | None, cut_by: CutBy) -> tuple[Strip, ...]:
        return cut_strips(self.layout, self.layout.columns[number - 1], line, ROWS, cut_by)

    @property
    def pitch(self) -> float:
        """The height of a cell."""
        return (self.layout.columns[0].bottom - self.layout.columns[0].top) / ROWS

    def file_box(self, strip: Strip) -> Box:
        return self.layout.outline.file_box(strip.left, strip.top, strip.right, strip.bottom)


@pytest.fixture(scope="module", params=["none", "grey"])
def cut(request: pytest.FixtureRequest, make_page: MakePage) -> Cut:
    page = make_page(*LINES, name="P")
    worn = LEVELS["moderate"] if request.param == "grey" else LEVELS[request.param]
    wear = replace(without_seal(worn), stains=0.0, grey=request.param == "grey")
    style = Style(scale=1.35 if request.param == "grey" else 1.0, raised=((("P", 7), 1),))
    drawn = render_page(page, style, wear, seed=5, strip=StripText(title="儀禮", leaf=1))
    layout = find_layout(drawn.image)
    strips = tuple(
        cut_strips(layout, area, line, ROWS) for area, line in zip(layout.columns, page.columns, strict=True)
    )
    return Cut(drawn, layout, page, strips)


def runs_of(strips: tuple[Strip, ...]) -> tuple[Row, ...]:
    return tuple(strip.row for strip in strips)


def test_notes_are_told_from_main_text_with_without_and_against_the_line(cut: Cut) -> None:
    for number, expected in enumerate(RUNS, 1):
        assert runs_of(cut.strips[number - 1]) == expected, number
    for number in (1, 3, 4, 5, 8):
        assert runs_of(cut.again(number, None, CutBy.SEEN)) == RUNS[number - 1], number
    for number in (3, 4):
        forgotten = line(LINES[number - 1].translate(str.maketrans("", "", "()/")))
        assert runs_of(cut.again(number, forgotten, CutBy.SEEN)) == RUNS[number - 1], number


@pytest.mark.parametrize("text", ["門", "東"])
def test_where_a_note_begins_no_stroke_is_cut(make_page: MakePage, text: str) -> None:
    """What the boundary goes through is one glyph's, and main text where it is too wide for a
    note."""
    page = make_page(f"司射適{text}(案比今注疏/本訛作北據)", *[""] * 7)
    drawn = render_page(page, Style(), LEVELS["none"], seed=3)
    layout = find_layout(drawn.image)
    box = drawn.characters[3].box
    (_, top), (_, bottom) = layout.rectification.to_page(np.array([[box.x, box.y], [box.right, box.bottom]])).tolist()
    area = replace(layout.columns[0], notes=((bottom - 0.45 * (bottom - top), layout.columns[0].bottom),))
    main, right, left = cut_strips(layout, area, page.columns[0], ROWS)
    assert main.top + np.flatnonzero((main.clean < 160).any(axis=1))[-1] >= bottom - 2
    for strip in (right, left):
        assert strip.top + np.flatnonzero((strip.clean < 160).any(axis=1))[0] > bottom


def test_a_note_beyond_the_image_that_cuts_its_column_off_has_no_strip(make_page: MakePage) -> None:
    page = make_page("司射適東(案比今注疏/本訛作北據)", *[""] * 7)
    layout = find_layout(render_page(page, Style(), LEVELS["none"], seed=3).image)
    whole = replace(layout.columns[0], notes=())
    (alone,) = cut_strips(layout, whole, None, ROWS)
    for beyond in (-90.0, layout.ink.shape[0] + 90.0):
        reaching = replace(whole, top=min(whole.top, 2 * beyond), bottom=max(whole.bottom, 2 * beyond))
        (strip,) = cut_strips(layout, replace(reaching, notes=((beyond, beyond),)), None, ROWS)
        assert (strip.left, strip.right, strip.row) == (alone.left, alone.right, Row.MAIN)


def test_under_a_seal_a_strip_is_read_without_its_dots(make_page: MakePage) -> None:
    page = make_page(*LINES, name="S")
    layout = find_layout(render_page(page, Style(), Wear(seal=0.6), seed=5).image)
    (strip,) = cut_strips(layout, layout.columns[0], page.columns[0], ROWS)
    inked = layout.ink_of(1)[round(strip.top) : round(strip.bottom)]
    dots, kept = (cv2.connectedComponents((ink > 0).astype(np.uint8))[0] for ink in (inked, strip.clean < 128))
    assert kept < 0.6 * dots


def test_strips_come_in_reading_order_and_as_wide_as_the_recogniser_takes_them(cut: Cut) -> None:
    for number, strips in enumerate(cut.strips, 1):
        for strip in strips:
            assert strip.column == number
            assert strip.pixels.shape[1] == STRIP_WIDTH
            assert strip.pixels.dtype == np.uint8
            assert strip.clean.shape[0] == pytest.approx(strip.bottom - strip.top, abs=1)
        assert [strip.run for strip in strips] == sorted(strip.run for strip in strips)
        for strip, next_strip in itertools.pairwise(strips):
            if strip.run == next_strip.run:
                assert (strip.row, next_strip.row) == (Row.RIGHT, Row.LEFT)
                assert strip.left > next_strip.left
            else:
                assert (strip.top + strip.bottom) / 2 < (next_strip.top + next_strip.bottom) / 2


def test_the_strips_of_a_page_read_as_what_was_drawn(cut: Cut, ppocr: PPOCR) -> None:
    """Fewer than one character in ten differs, unaided by any transcription of the characters; a half-row has none of
    the other half."""
    wrong = total = 0
    for number, strips in enumerate(cut.strips, 1):
        shown = [character for character in cut.drawn.characters if character.line == number]
        read = [reading.text for reading in ppocr.read([strip.pixels for strip in strips])]
        wrong += Levenshtein.distance("".join(cell.text for cell in shown), "".join(read))
        total += len(shown)
        if number == 5:
            for strip, text in zip(strips, read, strict=True):
                own = "".join(cell.text for cell in shown if cell.row is strip.row)
                assert Levenshtein.distance(text, own) <= 4, (text, own)
    assert wrong / total < 0.1


def test_a_column_without_ink_has_no_strips(cut: Cut) -> None:
    for cut_by in CutBy:
        assert cut.again(8, None, cut_by) == ()
        assert cut.again(8, line("三"), cut_by) == ()


def test_a_window_is_the_same_strip_between_two_places_only_longer(cut: Cut) -> None:
    """Past the end of the strip it ends with it."""
    (strip,) = cut.strips[0]
    part = window(strip, strip.top + 2 * cut.pitch, strip.top + 8 * cut.pitch, 1.5)
    assert part.bottom - part.top == pytest.approx(6 * cut.pitch, abs=2)
    assert part.left == strip.left
    same = strip.clean[round(2 * cut.pitch) : round(2 * cut.pitch) + part.clean.shape[0]]
    assert ((part.clean == same) | (part.clean == 255)).all()  # without its specks
    assert np.count_nonzero(part.clean < 128) > 0.98 * np.count_nonzero(same < 128)
    assert part.pixels.shape[0] / (part.bottom - part.top) == pytest.approx(
        1.5 * strip.pixels.shape[0] / (strip.bottom - strip.top), rel=0.1
    )
    whole = window(strip, strip.top - 500, strip.bottom + 500, 1.0)
    assert (whole.top, whole.bottom) == pytest.approx((strip.top, strip.bottom), abs=1)


def test_the_page_as_it_is_has_its_rules_and_of_a_half_row_its_own_half(cut: Cut) -> None:
    grey = cut.layout.grey
    for strip in cut.strips[3]:
        shown = window(strip, strip.top, strip.bottom, 1.0, grey).clean
        width = shown.shape[1]
        if strip.row is not Row.MAIN:
            assert width < 0.95 * strip.clean.shape[1]
        own = strip.clean[:, -width:] if strip.row is Row.RIGHT else strip.clean[:, :width]
        assert np.count_nonzero(shown < 128) >= 0.98 * np.count_nonzero(own < 128)
    main = next(strip for strip in cut.strips[0] if strip.row is Row.MAIN)
    ruled = window(main, main.top, main.bottom, 1.0, grey).clean
    edges, without = (np.count_nonzero(pixels[:, [0, 1, 2, 3, -4, -3, -2, -1]] < 128) for pixels in (ruled, main.clean))
    assert edges > without


@given(cells=st.floats(0.3, 60), zoom=st.sampled_from([1.0, 1.5, 2.0]))
def test_strips_come_in_few_lengths_and_are_never_squeezed_more_than_is_set(
    cut: Cut, cells: float, zoom: float
) -> None:
    """A recogniser that prepares itself for every length has few to remember."""
    (strip,) = cut.strips[0]
    height = round(cells * 60)
    tall = replace(strip, clean=np.full((height, 90), 255, np.uint8), top=0.0, bottom=float(height), cell=60.0)
    length = window(tall, 0, height, zoom).pixels.shape[0]
    assert length % 8 == 0
    assert length % 32 == 0 or length <= 256
    wanted = height / 60 * zoom * MAIN_PITCH
    assert length >= round(wanted)
    if cells > 4:
        assert length < 1.13 * wanted + 1


@given(
    runs=st.lists(st.tuples(st.booleans(), st.integers(1, 25)), min_size=1, max_size=14),
    cut_by=st.sampled_from(CutBy),
    number=st.integers(1, 8),
)
def test_a_line_that_does_not_fit_its_column_is_cut_all_the_same(
    cut: Cut, runs: list[tuple[bool, int]], cut_by: CutBy, number: int
) -> None:
    source = "".join(f"({'注' * size}/{'疏' * size})" if note else "經" * size for note, size in runs)
    area = cut.layout.columns[number - 1]
    for strip in cut_strips(cut.layout, area, line(source), ROWS, cut_by):
        assert strip.top < strip.bottom
        over = OVER_RULE_WIDTHS * area.width + 1
        assert area.left - over <= strip.left < strip.right <= area.right + over


def test_a_note_beside_no_rules_is_squeezed_by_cells_lower_than_those_of_main_text() -> None:
    layout = page_columns(drawn.draw(drawn.Layout(notes=0.4, pitch=72, glyph=50)).pixels, 8, 21)
    for area in layout.columns:
        strips = cut_strips(layout, area, None, 21)
        main, note = ([strip.cell for strip in strips if (strip.row is Row.MAIN) == wanted] for wanted in (True, False))
        assert max(note) < 0.8 * min(main)


def test_low_rows_of_notes_in_a_ruled_column_are_found_by_what_the_column_holds() -> None:
    """Two notes that have room for half as many cells of main text as they have rows."""
    parts = (
        "大雅",
        "旱麓清酒既載箋云既載/謂已在尊中也祭祀之",
        "事先",
        "為清酒鳬鷖爾酒既/清篤公劉酌之用",
        "匏箋酌酒以匏",
    )
    cell, row, ink, fonts = 54, 30, np.zeros((1134, 90), np.uint8), FontChain.of_installed()
    edges, y = [0], 0
    for part in parts:
        halves = list(zip(part.split("/"), (68, 22), strict=True)) if "/" in part else [(part, 45)]
        high = row if "/" in part else cell
        for letter, x, n in [(letter, x, n) for half, x in halves for n, letter in enumerate(half)]:
            shape = fonts.field(letter)
            assert shape is not None
            hand = Hand(0.0, 0.0, 1.0, 0.0, 0.0, 3.0, 0.0)
            write_glyph(ink, shape, (x, y + high * (n + 0.5)), (0.9 * high, 0.9 * high), hand, np.random.default_rng(1))
        y += high * len(halves[0][0])
        edges.append(y)
    area = ColumnArea(1, 0, 90, 0, 1134, 0.0)
    outline = Outline(Rectification.of(1.0, 0.0, 0.0, 90, 1134, (0, 0)), (area,), True, None, 0.0)
    layout = Layout(outline, 255 - ink, ink, 1.0, np.ones(ink.shape, np.int16))
    source = "".join(f"({part})" if "/" in part else part for part in parts)
    strips = [
        strip for strip in cut_strips(layout, area, line(source), 21, CutBy.LOW_NOTES) if strip.row is not Row.LEFT
    ]
    inked = [np.flatnonzero((strip.clean < 128).any(axis=1))[[0, -1]] + strip.top for strip in strips]
    assert np.array(inked) == pytest.approx(np.array(list(itertools.pairwise(edges))), abs=12)
