"""Draws a half-folio or a plate as a facsimile, with the true box of every character.

Rendered pages are test data with exact answers. A seed determines the image, given the same fonts and the same version
of the drawing library.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proof.errors import UsageError
from proof.facsimile.brush import LINES, Canvas, Owners, Points
from proof.facsimile.fonts import MIN_INK_COVERAGE, FontChain
from proof.facsimile.leaf import (
    CELL_HEIGHT,
    COLUMN_WIDTH,
    STRIP_WIDTH,
    Pen,
    RuledArea,
    StripText,
    Style,
    WrittenCell,
    column_count,
    draw_frame,
    draw_label,
    draw_rules,
    draw_strip,
    pen_hand,
    raised_columns,
    write_columns,
)
from proof.facsimile.wear import (
    Homography,
    Wear,
    age,
    mirroring,
    moved,
    photographed,
    photographed_owners,
    seal_shape,
    skewing,
)
from proof.images.opencv import cv2
from proof.locale.marking import _
from proof.model.geometry import Box
from proof.ocr.engine import Pixels
from proof.text.model import Page, Row

FRAME_GAP_PX = 9.0
"""Distance from the middle of the outer frame to the inner one, in pixels at scale 1."""

LEAF_GAP_CELLS = 1.1
"""Distance between the frames of the two leaves of a plate, in cell heights."""
SHEET_WIDTH = 1.26
"""Width of the sheet of a plate, in widths of a leaf's frame."""
ABOVE_FRAMES_CELLS = 8.4
"""Margin of a plate above its frames, in cell heights."""
BELOW_FRAMES_CELLS = 6.1
"""Margin of a plate below its frames, in cell heights."""
BELOW_LABEL_CELLS = 4.2
"""Distance from the middle of a plate's label to the lower edge of the sheet, in cell heights."""

Corners = tuple[tuple[float, float], tuple[float, float], tuple[float, float], tuple[float, float]]
"""A quadrilateral in image pixels: upper left, upper right, lower right, lower left."""


class DrawnHalf(NamedTuple):
    """A half-folio as it was drawn on a canvas."""

    page: Page
    area: RuledArea
    written: Sequence[WrittenCell]


@dataclass(frozen=True, slots=True)
class TrueCharacter:
    """The true place of a transcribed character on the image.

    `line`, `offset`, `length` and `row` are those of its cell in the text. `box` encloses its ink, `cell` is its cell
    on the image; a character without ink has the middle of its cell as `box`. `missing`: no font has it, and 〓 was
    drawn.
    """

    page: str
    line: int
    offset: int
    length: int
    text: str
    row: Row
    box: Box
    cell: Box
    missing: bool


@dataclass(frozen=True, slots=True)
class HalfFolio:
    """A half-folio on an image: its ruled area (`frame`), its columns from right to left, its characters."""

    page: str
    ref: str
    frame: Corners
    columns: tuple[Corners, ...]
    characters: tuple[TrueCharacter, ...]


@dataclass(frozen=True, slots=True)
class RenderedPage:
    """An image (grey, height x width, 0 black) and the half-folios on it; a plate has up to four.

    `skew` is the angle in degrees, positive if the top of the page leans to the right. `owners` gives the glyph that
    each pixel of ink belongs to, numbered from 1 in the order of `characters`; `lined` where lines are, also over
    glyphs. Both are None if they were not requested.
    """

    image: Pixels
    skew: float
    halves: tuple[HalfFolio, ...]
    owners: Owners | None = None
    lined: NDArray[np.bool_] | None = None

    @property
    def characters(self) -> tuple[TrueCharacter, ...]:
        return tuple(character for half in self.halves for character in half.characters)

    @property
    def missing(self) -> tuple[str, ...]:
        """The characters that no font could draw, each once, in reading order."""
        return tuple(dict.fromkeys(character.text for character in self.characters if character.missing))


@cache
def fonts_for(names: tuple[str, ...]) -> FontChain:
    """The font chain for these names, opened once. Raises FontError."""
    return FontChain.of_installed(names)


def page_seed(seed: int, name: str) -> list[int]:
    """The seed of a page, so that a page looks the same whatever is rendered before it."""
    return [seed, int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "big")]


def render_page(
    page: Page,
    style: Style | None = None,
    wear: Wear | None = None,
    seed: int = 0,
    *,
    strip: StripText | None = None,
    behind: Page | None = None,
    with_owners: bool = False,
) -> RenderedPage:
    """Draw one half-folio. `behind` is the page whose ink shows through if the wear bleeds; `with_owners` requests
    `RenderedPage.owners` and `lined`.

    Raises FontError without a font, UsageError for a page with more columns or characters than fit.
    """
    style, wear, strip = style or Style(), wear or Wear(), strip or StripText()
    fonts = fonts_for(style.fonts)
    seeds = page_seed(seed, page.id)
    rng = np.random.default_rng(seeds)
    angle = float(rng.uniform(-wear.skew, wear.skew))
    pen, half = _draw_half_folio(page, style, wear, angle, strip, fonts, rng, with_owners)
    canvas_behind = None
    if behind is not None and wear.bleed:
        # half the size is enough, since it will be blurred
        half_size = replace(style, scale=style.scale / 2)
        pen_behind, _ = _draw_half_folio(
            behind, half_size, wear, angle, strip, fonts, np.random.default_rng([*seeds, 2])
        )
        canvas_behind = pen_behind.canvas
    return _photograph(pen, [half], canvas_behind, wear, angle, seeds)


def render_plate(
    pages: Sequence[Page | None],
    style: Style | None = None,
    wear: Wear | None = None,
    seed: int = 0,
    *,
    strips: Sequence[StripText] = (),
    label: str = "",
) -> RenderedPage:
    """Draw a plate of the printed facsimile: two leaves with the half-folios a to d, or one leaf with a and b.

    a is upper right, b upper left, c lower right, d lower left, with the whole fold strip between the halves; None
    leaves a half-folio ruled but empty. `strips` are the texts of the upper and the lower fold strip, `label` is the
    number printed below (`140-330`). Raises FontError and UsageError.
    """
    if len(pages) not in (2, 4):
        raise UsageError(
            _(
                "a plate has four quadrants, but %(number)s pages were given (two are a leaf): use "
                "None for an empty one"
            ),
            number=len(pages),
        )
    style, wear = style or Style(), wear or Wear()
    seeds = page_seed(seed, " ".join(page.id for page in pages if page is not None))
    rng = np.random.default_rng(seeds)
    angle = float(rng.uniform(-wear.skew, wear.skew))
    leaves = len(pages) // 2
    sheet = _PlateMeasures.of(style, leaves)
    pen = _new_pen((sheet.width, sheet.height), style, wear, fonts_for(style.fonts), rng)
    halves: list[DrawnHalf] = []
    for leaf in range(leaves):
        strip = strips[leaf] if leaf < len(strips) else StripText()
        halves += _draw_leaf(pages[2 * leaf : 2 * leaf + 2], strip, sheet, sheet.top_of_leaf(leaf), pen)
    if label:
        label_y = sheet.height - BELOW_LABEL_CELLS * CELL_HEIGHT * style.scale
        draw_label(label, (sheet.width / 2, label_y), pen)
    return _photograph(pen, halves, None, wear, angle, seeds)


class _PlateMeasures(NamedTuple):
    """The measures of a plate in pixels: `width` and `height` of the sheet; `left` and `top` of the frame of its upper
    leaf, which is `leaf_width` x `leaf_height`; `leaf_gap` between the leaves. In a leaf the inner frame lies
    `frame_gap` within the frame, and holds two halves of `half_width` and the fold strip of `strip_width`."""

    width: int
    height: int
    left: float
    top: float
    leaf_width: float
    leaf_height: float
    leaf_gap: float
    frame_gap: float
    half_width: float
    strip_width: float

    @classmethod
    def of(cls, style: Style, leaves: int) -> _PlateMeasures:
        scale = style.scale
        half_width, strip_width = style.columns * COLUMN_WIDTH * scale, STRIP_WIDTH * COLUMN_WIDTH * scale
        frame_gap = FRAME_GAP_PX * scale
        leaf_width, leaf_height = 2 * half_width + strip_width + 2 * frame_gap, _ruled_height(style) + 2 * frame_gap
        leaf_gap = LEAF_GAP_CELLS * CELL_HEIGHT * scale
        # the sheet of the printed facsimile is a quarter wider than the frame, and its upper margin is the larger
        width = int(leaf_width * SHEET_WIDTH)
        margins = (ABOVE_FRAMES_CELLS + BELOW_FRAMES_CELLS) * CELL_HEIGHT * scale
        height = int(leaves * leaf_height + (leaves - 1) * leaf_gap + margins)
        left, top = (width - leaf_width) / 2, ABOVE_FRAMES_CELLS * CELL_HEIGHT * scale
        return cls(width, height, left, top, leaf_width, leaf_height, leaf_gap, frame_gap, half_width, strip_width)

    def top_of_leaf(self, leaf: int) -> float:
        """The y of the frame of a leaf, from 0."""
        return self.top + leaf * (self.leaf_height + self.leaf_gap)


def _draw_leaf(
    pages: Sequence[Page | None], strip: StripText, sheet: _PlateMeasures, y: float, pen: Pen
) -> list[DrawnHalf]:
    """Draw a leaf of a plate with its frame at `y`: the right page, the left page, and the fold strip between them.
    Returns the half-folios of the pages that are not None."""
    style, x = pen.style, sheet.left + sheet.frame_gap
    top, bottom = y + sheet.frame_gap, y + sheet.frame_gap + _ruled_height(style)
    fold = x + sheet.half_width
    halves = []
    for page, left in zip(pages, (fold + sheet.strip_width, x), strict=True):
        columns = column_count(page, style) if page else style.columns
        area = RuledArea(left, top, left + sheet.half_width, bottom, columns, style.cells)
        if page is not None:
            halves.append(DrawnHalf(page, area, write_columns(page, area, pen)))
        draw_rules(area, pen)
    leaf_area = RuledArea(x, top, sheet.left + sheet.leaf_width - sheet.frame_gap, bottom, 1, style.cells)
    draw_strip(fold, fold + sheet.strip_width, leaf_area, strip, pen)
    draw_frame(leaf_area, Box(sheet.left, y, sheet.leaf_width, sheet.leaf_height), {}, pen)
    return halves


def _new_pen(
    size: tuple[int, int],
    style: Style,
    wear: Wear,
    fonts: FontChain,
    rng: np.random.Generator,
    with_owners: bool = False,
) -> Pen:
    """A pen on a bare canvas of this size (width, height); `with_owners`: it records the owners of ink, and lines."""
    canvas = np.zeros((size[1], size[0]), np.uint8)
    owners = np.zeros_like(canvas, np.int16) if with_owners else None
    lined = np.zeros_like(canvas) if with_owners else None
    return Pen(canvas, fonts, style, pen_hand(style, rng), wear.broken, rng, owners, lined)


def _ruled_height(style: Style) -> float:
    """The height of the ruled area of a half-folio, in pixels."""
    return (style.cells + 0.35) * CELL_HEIGHT * style.scale


def _side(page: Page) -> str:
    """Which half of its leaf a page is (a: right, b: left), by its folio, else by its quadrant; a if unknown."""
    if page.folio is not None:
        return page.folio.side
    return "b" if page.ref is not None and page.ref.quadrant in ("b", "d") else "a"


def _margins(
    page: Page, style: Style, angle: float, side: str, rng: np.random.Generator
) -> tuple[float, float, float, float]:
    """The margins left of, right of, above and below the frame, in pixels. With them the skewed page stays on the
    image."""
    scale = style.scale
    seen_strip = STRIP_WIDTH * COLUMN_WIDTH * scale * style.strip_seen
    lean = abs(np.sin(np.radians(angle)))
    across = lean * _ruled_height(style) / 2
    down = lean * (style.columns * COLUMN_WIDTH * scale + seen_strip) / 2
    highest = max(raised_columns(page, style).values(), default=0)
    lift = (highest + 0.6) * CELL_HEIGHT * scale if highest else 0.0
    if style.wide_margins:
        left, right, above, below = np.array([130, 130, 125, 135]) * scale * rng.uniform(0.85, 1.15, 4)
        return left + across, right + across, max(above, lift + 10 * scale) + down, below + down
    left, right, above, below = rng.uniform(10, 22, 4) * scale
    # the cut edge has no margin
    left, right = (0.0, right) if side == "a" else (left, 0.0)
    return left + across, right + across, above + lift + down, below + down


def _draw_half_folio(
    page: Page,
    style: Style,
    wear: Wear,
    angle: float,
    strip: StripText,
    fonts: FontChain,
    rng: np.random.Generator,
    with_owners: bool = False,
) -> tuple[Pen, DrawnHalf]:
    """Draw a half-folio on the canvas of a new pen, with the visible part of the fold strip at the cut edge."""
    scale, side = style.scale, _side(page)
    columns = column_count(page, style)
    width, height, gap = style.columns * COLUMN_WIDTH * scale, _ruled_height(style), FRAME_GAP_PX * scale
    strip_width = STRIP_WIDTH * COLUMN_WIDTH * scale
    seen_strip = strip_width * style.strip_seen
    margin_left, margin_right, above, below = _margins(page, style, angle, side, rng)
    left, top = margin_left + (seen_strip if side == "a" else gap), above + gap
    area = RuledArea(left, top, left + width, top + height, columns, style.cells)
    size = (int(area.right + (gap if side == "a" else seen_strip) + margin_right), int(area.bottom + gap + below))
    pen = _new_pen(size, style, wear, fonts, rng, with_owners)
    written = write_columns(page, area, pen)
    fold = left - strip_width if side == "a" else area.right
    text_ink = pen.canvas.copy()
    # the image is cut at the fold: beyond it only the ends of brush strokes are seen, no lines
    beyond = np.s_[:, : max(int(left - seen_strip), 0)] if side == "a" else np.s_[:, int(area.right + seen_strip) :]
    outer = Box(min(fold, left - gap), top - gap, strip_width + width + gap, height + 2 * gap)
    raised = raised_columns(page, style)

    def draw_lines(pen: Pen) -> None:
        draw_strip(fold, fold + strip_width, area, strip, pen)
        draw_rules(area, pen)
        draw_frame(area, outer, raised, pen, open_left=side == "a", open_right=side == "b")

    if pen.lined is not None:
        draw_lines(replace(pen, canvas=pen.lined, rng=copy.deepcopy(pen.rng)))
        pen.lined[beyond] = 0
    draw_lines(pen)
    pen.canvas[beyond] = text_ink[beyond]
    if pen.owners is not None:
        pen.owners[(pen.canvas >= MIN_INK_COVERAGE) & (pen.owners == 0)] = LINES
    return pen, DrawnHalf(page, area, written)


def _photograph(
    pen: Pen, halves: Sequence[DrawnHalf], behind: Canvas | None, wear: Wear, angle: float, seeds: list[int]
) -> RenderedPage:
    """Skew and age a drawn canvas, and map the places of its characters to the image. `behind` is the canvas of the
    page behind."""
    size = (pen.canvas.shape[1], pen.canvas.shape[0])
    homography = skewing(size, wear, angle, pen.rng)
    ink = photographed(pen.canvas, homography, size)
    shown_through = None
    if behind is not None:
        half_size, shrink = (size[0] // 2, size[1] // 2), np.diag([0.5, 0.5, 1.0])
        mirrored = mirroring((behind.shape[1], behind.shape[0]), size)
        shown_through = photographed(behind, shrink @ homography @ mirrored, half_size)
    seal = photographed(_seal_canvas(halves[0].area, pen), homography, size) if wear.seal and halves else None
    image = age(ink, shown_through, seal, wear, pen.scale, [*seeds, 1])
    half_folios = tuple(
        HalfFolio(
            page.id,
            str(page.ref or ""),
            _polygon(area, area.left, area.right, homography),
            tuple(_polygon(area, *area.column(number), homography) for number in range(1, area.columns + 1)),
            tuple(_character(page.id, character, homography) for character in written),
        )
        for page, area, written in halves
    )
    owners = None if pen.owners is None else photographed_owners(pen.owners, homography, size)
    lined = None if pen.lined is None else photographed(pen.lined, homography, size) >= MIN_INK_COVERAGE
    return RenderedPage(image, angle, half_folios, owners, lined)


def _seal_canvas(area: RuledArea, pen: Pen) -> Canvas:
    """A canvas with a seal over six or seven columns of the upper part of a half-folio."""
    side = int(min(6.6 * area.column_width, 0.62 * (area.bottom - area.top)))
    shape = seal_shape(side, pen.rng)
    tilt = cv2.getRotationMatrix2D((side / 2, side / 2), float(pen.rng.normal(0, 1.0)), 1)
    shape = np.asarray(cv2.warpAffine(shape, tilt, (side, side)), dtype=np.uint8)
    x = int(area.right - 0.55 * area.column_width - side)
    y = int(area.top + 0.15 * area.cell_height)
    canvas = np.zeros_like(pen.canvas)
    place = canvas[max(y, 0) : y + side, max(x, 0) : x + side]
    place[:] = shape[: place.shape[0], : place.shape[1]]
    return canvas


def _polygon(area: RuledArea, left: float, right: float, homography: Homography) -> Corners:
    """The part of a ruled area from x `left` to `right`, as its corners on the image."""
    a, b, c, d = ((float(x), float(y)) for x, y in _corners(left, area.top, right, area.bottom, homography))
    return a, b, c, d


def _corners(left: float, top: float, right: float, bottom: float, homography: Homography) -> Points:
    """The corners of a rectangle of the canvas on the image, in the order of `Corners`."""
    return moved(np.array([(left, top), (right, top), (right, bottom), (left, bottom)], np.float64), homography)


def _bounds(points: Points) -> Box:
    """The upright box about points."""
    (x0, y0), (x1, y1) = points.min(axis=0), points.max(axis=0)
    return Box(float(x0), float(y0), float(x1 - x0), float(y1 - y0))


def _character(page: str, written: WrittenCell, homography: Homography) -> TrueCharacter:
    """The true character of a written cell: its places on the canvas, mapped to the image."""
    place, cell = written.place, written.cell
    cell_box = _bounds(_corners(place.x, place.y, place.right, place.bottom, homography))
    # pixels are squares: ink reaches from a pixel's corner to that of the next one
    ink = np.array([place.centre]) if written.ink is None else np.concatenate([written.ink, written.ink + 1])
    box = _bounds(moved(ink, homography))
    return TrueCharacter(
        page, written.line, cell.offset, cell.length, cell.text, cell.row, box, cell_box, written.missing
    )
