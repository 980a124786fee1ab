"""The geometry and drawing of a Siku half-folio: its frame, rules, cells and fold strip.

All lengths are pixels of the page before it is skewed. Proportions were measured on half-folios of the Wenyuange copy:
a column is 1.8 cells wide, a note's half-rows are centred at 27 % and 75 % of it, the fold strip is seven tenths of a
column.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from unicodedata import category

import numpy as np

from proof.errors import UsageError
from proof.facsimile.brush import Canvas, Hand, Owners, Points, rule, write_glyph
from proof.facsimile.fonts import FontChain, lacuna_field
from proof.facsimile.strokes import ink_width, stroke_apart
from proof.images.opencv import cv2
from proof.locale.marking import _
from proof.model.geometry import Box
from proof.text.model import Cell, Column, Page, Row
from proof.text.numerals import numeral

COLUMN_WIDTH = 104.0
"""Width of a ruled column at scale 1, in pixels, as in the smaller of the scans in use."""
CELL_HEIGHT = 57.6
"""Height of a cell at scale 1, in pixels."""
STRIP_WIDTH = 0.7
"""Width of the fold strip (版心) in column widths."""
ROW_CENTRE = {Row.MAIN: 0.5, Row.RIGHT: 0.755, Row.LEFT: 0.265}
"""Centre of a row as a share of the column's width, from its left rule."""
MAX_COLUMNS = 24
"""Maximum number of columns of a half-folio."""
MAX_CELLS = 84
"""Maximum number of cells of a column."""
LACUNA = lacuna_field()
"""The glyph drawn for a character that no font has (〓)."""
_CODE_POINT = re.compile(r"&#(?:x([0-9A-Fa-f]{1,6})|([0-9]{1,7}));")


@dataclass(frozen=True, slots=True)
class Style:
    """How a facsimile is drawn.

    - `columns`: the number of ruled columns; a page with more columns gets narrower ones
    - `cells`: the number of characters in a full column
    - `scale`: 1 gives half-folios of about 1150 x 1550 pixels, 2 the size of a full scan
    - `wide_margins`: leave white around the frame
    - `glyph`, `note`: em square of main text and of notes, in column widths; `squat`: its height over its width
    - `weight`: added to the strokes, in thousandths of the em
    - `hand`: how freely the hand departs from the font (0: the font itself)
    - `strip_seen`: share of the fold strip that remains at the cut edge
    - `raised`: columns raised above the frame (抬頭), as (page id, line) and number of cells; a column with one or two
      cells too many is raised without being listed
    - `detached`: share of glyphs with a separate upright stroke (同, 門)
    - `leaning`: share of glyphs written against a rule
    - `bent`: standard deviation of the bow of rules, in column widths
    - `frame`, `rule`: thickness of the outer frame and of a rule, relative to the usual one
    - `fonts`: font files or families to try first
    """

    columns: int = 8
    cells: int = 21
    scale: float = 1.0
    wide_margins: bool = True
    glyph: float = 0.72
    note: float = 0.45
    squat: float = 0.9
    weight: float = 4.0
    hand: float = 1.0
    strip_seen: float = 0.4
    raised: tuple[tuple[tuple[str, int], int], ...] = ()
    detached: float = 0.0
    leaning: float = 0.0
    bent: float = 0.0
    frame: float = 1.0
    rule: float = 1.0
    fonts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, value, most in (("columns", self.columns, MAX_COLUMNS), ("cells", self.cells, MAX_CELLS)):
            if not 1 <= value <= most:
                raise UsageError(
                    _("facsimile style: %(name)s is %(value)s, but must lie between %(least)s and %(most)s"),
                    name=name,
                    value=value,
                    least=1,
                    most=most,
                )


@dataclass(frozen=True, slots=True)
class StripText:
    """The text of the fold strip: the series, the book's title, the juan, and the leaf's number."""

    series: str = "欽定四庫全書"
    title: str = ""
    juan: str = ""
    leaf: int | None = None


@dataclass(frozen=True, slots=True)
class WrittenCell:
    """A character on the canvas: `cell` is its cell in the transcription, `line` the number of its column, `ink` the
    outermost points of its ink (None without ink), `place` its cell on the canvas; `missing`: no font has it."""

    cell: Cell
    line: int
    ink: Points | None
    place: Box
    missing: bool


@dataclass(frozen=True, slots=True)
class RuledArea:
    """The ruled area of a half-folio: within the inner frame, from the first rule to the last."""

    left: float
    top: float
    right: float
    bottom: float
    columns: int
    cells: int

    @property
    def column_width(self) -> float:
        return (self.right - self.left) / self.columns

    @property
    def cell_height(self) -> float:
        return (self.bottom - self.top) / (self.cells + 0.35)

    @property
    def first_cell(self) -> float:
        """The top of the first cell, a little below the frame."""
        return self.top + 0.25 * self.cell_height

    def column(self, number: int) -> tuple[float, float]:
        """The x of the left and right rule of a column; columns count from 1 at the right."""
        right = self.right - (number - 1) * self.column_width
        return right - self.column_width, right


@dataclass(frozen=True, slots=True)
class Pen:
    """The means of drawing one leaf. `lost` is the share of the print that is lost, as in `rule`. If given, `owners`
    records which character each pixel of ink belongs to, and `lined` the ink of lines."""

    canvas: Canvas
    fonts: FontChain
    style: Style
    hand: Hand
    lost: float
    rng: np.random.Generator
    owners: Owners | None = None
    lined: Canvas | None = None

    @property
    def scale(self) -> float:
        return self.style.scale


def pen_hand(style: Style, rng: np.random.Generator) -> Hand:
    """The hand of one page: slant and weight differ from scribe to scribe, and are constant on a page."""
    free = style.hand
    base = Hand()
    return Hand(
        size=base.size * free,
        shift=base.shift * free,
        turn=base.turn * free,
        wobble=base.wobble * free,
        slant=(base.slant + 0.025 * rng.standard_normal()) * free,
        weight=style.weight + 3 * free * rng.standard_normal(),
        weight_spread=base.weight_spread * free,
    )


def column_count(page: Page, style: Style) -> int:
    """The number of columns to rule for a page. Raises UsageError if they would be too narrow to write in."""
    most = max([style.columns, *(column.number for column in page.columns)])
    if most > MAX_COLUMNS:
        raise UsageError(
            _(
                "page %(page)s (line %(line)s) has %(most)s columns, more than a half-folio can hold "
                "(%(limit)s): the transcription needs page marks"
            ),
            page=page.id,
            line=page.file_line,
            most=most,
            limit=MAX_COLUMNS,
        )
    return most


def raised_columns(page: Page, style: Style) -> dict[int, int]:
    """The number of cells by which each raised column (抬頭) stands above the frame, by column number."""
    listed = {line: cells for (page_id, line), cells in style.raised if page_id == page.id}
    raised = {}
    for column in page.columns:
        excess = column.height - style.cells
        first_run = column.runs[0] if column.runs else None
        begins_with_text = first_run is not None and not first_run.is_note and not first_run.right[0].blank
        default = excess if begins_with_text and 0 < excess <= 2 else 0
        if height := listed.get(column.number, default):
            raised[column.number] = height
    return raised


def _cell_edges(column: Column, block: RuledArea, raised: int, pen: Pen) -> list[float]:
    """The y of the edges of a column's cells from top to bottom, one more than there are cells. Spacing is uneven, and
    一 and 二 get less room. Raises UsageError for a column that is too long."""
    count = column.height
    if count > MAX_CELLS:
        raise UsageError(
            _(
                "line %(line)s has %(count)s characters, more than a column can hold: the "
                "transcription needs a line for each column"
            ),
            line=column.file_line,
            count=count,
        )
    weights = np.ones(max(count, block.cells + raised))
    freedom = pen.style.hand
    position = 0
    for run in column.runs:
        if not run.is_note:
            for step, cell in enumerate(run.right):
                weights[position + step] -= freedom * (0.22 if cell.text in "一二" else 0.0)
        weights[position : position + run.height] *= 1 + freedom * 0.035 * pen.rng.standard_normal(run.height)
        position += run.height
    weights *= (block.cells + raised) / weights.sum()
    start = block.first_cell + (0.06 * freedom * pen.rng.standard_normal() - raised) * block.cell_height
    return list(start + np.concatenate([[0.0], np.cumsum(weights)]) * block.cell_height)


def write_columns(page: Page, block: RuledArea, pen: Pen) -> list[WrittenCell]:
    """Write the text of a page into its ruled columns. Raises UsageError for a column that is too long."""
    written: list[WrittenCell] = []
    raised = raised_columns(page, pen.style)
    for column in page.columns:
        left, right = block.column(column.number)
        edges = _cell_edges(column, block, raised.get(column.number, 0), pen)
        drift = pen.style.hand * 0.015 * block.column_width * pen.rng.standard_normal()
        position = 0
        for run in column.runs:
            for row, cells in ((Row.RIGHT if run.is_note else Row.MAIN, run.right), (Row.LEFT, run.left)):
                for step, cell in enumerate(cells):
                    if not cell.blank:
                        top, bottom = edges[position + step], edges[position + step + 1]
                        half = (right - left) / 2
                        x0 = left + half if row is Row.RIGHT else left
                        place = Box(x0, top, 2 * half if row is Row.MAIN else half, bottom - top)
                        x = left + ROW_CENTRE[row] * (right - left) + drift
                        written.append(_write_cell(cell, column.number, place, x, run.is_note, pen, len(written) + 1))
            position += run.height
    return written


def character_of(text: str) -> str:
    """The single character that a font can draw for a cell's text; empty if there is none.

    An entity of a code point and a character with a variation selector have one. Named entities and compositions have
    none, nor have private code points, which differ from font to font.
    """
    if entity := _CODE_POINT.fullmatch(text):
        code = int(entity[1], 16) if entity[1] else int(entity[2])
        text = chr(code) if code < 0x110000 else ""
    elif len(text) > 1 and all(category(mark) == "Mn" for mark in text[1:]):
        text = text[0]
    return text if len(text) == 1 and category(text) not in ("Co", "Cn", "Cs", "Cc") else ""


def _write_cell(cell: Cell, line: int, place: Box, x: float, note: bool, pen: Pen, number: int) -> WrittenCell:
    """Write a character of a `note` or of main text with its middle at `x`; `number` is its number in the owners."""
    field = pen.fonts.field(character_of(cell.text))
    style = pen.style
    missing = field is None
    field = LACUNA if field is None else field
    column_width = place.w * 2 if note else place.w
    width = column_width * (style.note if note else style.glyph)
    # in a crowded column a character is smaller, and never reaches into the next cell
    height = min(width * style.squat, place.h * (1.0 if note else 1.06))
    hand = pen.hand if not note else replace(pen.hand, weight=pen.hand.weight + 4)
    if style.detached and pen.rng.random() < style.detached:
        field = stroke_apart(field, pen.rng)
    if style.leaning and pen.rng.random() < style.leaning:
        x = _against_rule(place, cell.row, width * ink_width(field), pen.rng)
    ink = write_glyph(pen.canvas, field, (x, place.centre[1]), (width, height), hand, pen.rng, pen.owners, number)
    return WrittenCell(cell, line, ink, place, missing)


def _against_rule(place: Box, row: Row, width: float, rng: np.random.Generator) -> float:
    """The x of the middle of a glyph of this width that touches, or almost touches, the rule beside it."""
    to_right = row is Row.RIGHT or (row is Row.MAIN and rng.random() < 0.5)
    overlap = rng.uniform(-0.04, 0.03) * width
    return place.right - width / 2 + overlap if to_right else place.x + width / 2 - overlap


def draw_rules(block: RuledArea, pen: Pen) -> None:
    """Draw the rules of a half-folio, the outermost two included."""
    scale = pen.scale
    lean = 0.6 * scale * pen.rng.standard_normal(block.columns + 1)
    for number in range(block.columns + 1):
        x = block.right - number * block.column_width
        top = block.top + abs(pen.rng.normal(0, 5 * scale))
        rule(
            pen.canvas,
            (x + lean[number], top),
            (x - lean[number], block.bottom + 2 * scale),
            2.4 * scale * pen.style.rule,
            pen.rng,
            wander=0.8 * scale,
            rough=0.25,
            lost=pen.lost * 0.5,
            piece=14 * scale,
            bow=pen.style.bent * block.column_width * pen.rng.standard_normal() if pen.style.bent else 0.0,
        )


def draw_frame(
    block: RuledArea, outer: Box, raised: Mapping[int, int], pen: Pen, open_left: bool = False, open_right: bool = False
) -> None:
    """Draw the double frame: thick outside, thin inside, with a notch over raised columns.

    `raised` is the result of `raised_columns`. `open_left` and `open_right`: the cut edge is on that side, where the
    frame has no upright.
    """
    scale, rng = pen.scale, pen.rng
    thick, thin = (6.5 + 1.2 * rng.standard_normal()) * scale, 1.8 * scale
    thick = max(thick, 4 * scale) * pen.style.frame

    def outside(start: tuple[float, float], end: tuple[float, float]) -> None:
        lost = pen.lost * 0.15
        rule(pen.canvas, start, end, thick, rng, wander=1.2 * scale, rough=0.35, lost=lost, piece=30 * scale)

    def inside(start: tuple[float, float], end: tuple[float, float]) -> None:
        lost = min(pen.lost * 2, 0.85)
        rule(pen.canvas, start, end, thin, rng, wander=0.8 * scale, rough=0.3, lost=lost, piece=24 * scale)

    # along the top from left to right, up and down again around each raised column
    top, x = outer.y, outer.x
    notches = sorted((*block.column(number), cells) for number, cells in raised.items())
    reach = 0.5 * block.cell_height
    inner_x = block.left if not open_left else outer.x
    for left, right, cells in notches:
        notch_top = top - cells * block.cell_height - reach * 0.4
        notch_left, notch_right = left - 0.06 * block.column_width, right + 0.06 * block.column_width
        outside((x, top), (notch_left, top))
        outside((notch_left, top + thick / 2), (notch_left, notch_top - thick / 2))
        outside((notch_left, notch_top), (notch_right, notch_top))
        outside((notch_right, notch_top - thick / 2), (notch_right, top + thick / 2))
        inside((inner_x, block.top), (left, block.top))
        x, inner_x = notch_right, right
    outside((x, top), (outer.right, top))
    inside((inner_x, block.top), (outer.right if open_right else block.right, block.top))
    outside((outer.x, outer.bottom), (outer.right, outer.bottom))
    inside(
        (outer.x if open_left else block.left, block.bottom), (outer.right if open_right else block.right, block.bottom)
    )
    overlap = thick / 2
    if not open_left:
        outside((outer.x, outer.y - overlap), (outer.x, outer.bottom + overlap))
    if not open_right:
        outside((outer.right, outer.y - overlap), (outer.right, outer.bottom + overlap))


def draw_strip(left: float, right: float, block: RuledArea, text: StripText, pen: Pen) -> None:
    """Draw the fold strip: series, fish tail (魚尾), title on its right and juan on its left, leaf number."""
    cell, width = block.cell_height, right - left
    series = text.series[:10]
    _write_down(series, (left + right) / 2, block.first_cell, 0.95 * cell, (0.92 * width, 1.0 * cell), pen)
    tail = block.first_cell + (0.95 * len(series) + 0.35) * cell
    _draw_fish_tail(left, right, tail, cell, pen)
    small = (0.46 * width, 0.62 * cell)
    _write_down(text.title[:9], left + 0.76 * width, tail + 2.4 * cell, 0.75 * cell, small, pen)
    _write_down(text.juan[:9], left + 0.24 * width, tail + 2.4 * cell, 0.75 * cell, small, pen)
    if text.leaf is not None:
        digits = numeral(text.leaf, zero="〇")
        line = block.bottom - 3.2 * cell
        top = line - (0.6 * len(digits) + 0.2) * cell
        _write_down(digits, left + 0.74 * width, top, 0.6 * cell, small, pen)
        rule(pen.canvas, (left, line), (right, line), 1.6 * pen.scale, pen.rng, lost=pen.lost)


def _write_down(characters: str, x: float, top: float, pitch: float, size: tuple[float, float], pen: Pen) -> None:
    """Write characters of this size (width, height) one below the other, each in the middle of a cell of height
    `pitch`. Characters that no font has are left out."""
    for step, character in enumerate(characters):
        field = pen.fonts.field(character)
        if field is not None:
            write_glyph(pen.canvas, field, (x, top + (step + 0.5) * pitch), size, pen.hand, pen.rng)


def _draw_fish_tail(left: float, right: float, top: float, cell: float, pen: Pen) -> None:
    """Draw a fish tail: a rule, a black bar with a notch below it, and two strokes along the notch."""
    middle, width = (left + right) / 2, right - left
    rule(pen.canvas, (left, top - 0.25 * cell), (right, top - 0.25 * cell), 2 * pen.scale, pen.rng, lost=pen.lost)
    lower = top + 0.95 * cell
    tail = np.array([(left, top), (right, top), (right, lower), (middle, top + 0.4 * cell), (left, lower)])
    cv2.fillPoly(pen.canvas, [np.round(tail).astype(np.int32)], (255,), lineType=cv2.LINE_AA)
    for side in (-1, 1):
        start, end = (middle, top + 0.6 * cell), (middle + side * width / 2, top + 1.15 * cell)
        rule(pen.canvas, start, end, 2 * pen.scale, pen.rng, lost=pen.lost)


def draw_label(label: str, centre: tuple[float, float], pen: Pen) -> None:
    """Draw the number of the printed page below a plate."""
    size, thickness = 1.1 * pen.scale, max(int(2 * pen.scale), 1)
    (width, height), _ = cv2.getTextSize(label, cv2.FONT_HERSHEY_TRIPLEX, size, thickness)
    corner = (int(centre[0] - width / 2), int(centre[1] + height / 2))
    cv2.putText(pen.canvas, label, corner, cv2.FONT_HERSHEY_TRIPLEX, size, (255,), thickness, cv2.LINE_AA)
