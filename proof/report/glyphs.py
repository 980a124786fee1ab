"""Image tiles of glyphs: the whole glyph, centred on its own ink, with all other ink pale.

The desk, the lists, the glyph views and the report use them. `flag_place` and `character_place` give the place of the
glyph of a flag or a character; `cut_glyph` finds the ink of the glyph on the image and cuts the tile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import cos, radians, sin, tan

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from proof.facsimile.forms import form_of
from proof.images.opencv import cv2
from proof.layout.glyph_form import DrawnForm
from proof.layout.glyph_ink import BESIDE_WIDTHS, WINDOW_CELLS, GlyphInk, Rectangle, glyph_ink
from proof.model.flags import PLACEHOLDER, Flag, Kind, missing_characters
from proof.model.geometry import Box
from proof.model.result import CheckedCharacter, CheckedColumn, PageResult
from proof.report.upright import upright, upright_flag
from proof.report.view import MAX_HALF_ROW_WIDTHS, focus_of, pitch_of

GLYPH_METHOD_VERSION = 6
"""Version of the tiles. Raise it with every change of them: cached tiles of other versions are not used."""

MARGIN_CELLS = 0.11
"""Margin around the ink on each side, in cells."""

MIN_SIDE_CELLS = 1.16
"""Minimum side of a tile, in cells, so that 一 is not enlarged."""

NOTE_CELL_WIDTHS = 0.56
"""Height of the cell of a glyph in a half-row, as a share of the column's width."""

PALE_INK_SHARE = 0.2
"""Share of its darkness that the ink of other glyphs keeps."""

PAPER_PERCENTILE = 80
"""Percentile of the tones that is taken for the tone of paper, with which the area beyond the image is filled."""

SAMPLE_STEP_PX = 5
"""Step in pixels, down and across, between the pixels from which the tone of paper is measured."""

SAME_ROW_CELLS = 0.5
"""Glyphs are side by side if the middles of their boxes differ by less in y, in cells."""

BESIDE_ROW_WIDTHS = 0.3
"""Distance of other glyphs of a half-row from the box of the glyph, as a share of its width."""

MIN_SKEW_DEGREES = 0.05
"""Skew up to which a window is not turned, in degrees."""

MAX_QUARTER_PX = 4e6
"""Maximum area of a quarter of a window, in pixels."""

MIN_DIVIDE = 0.38
MAX_DIVIDE = 0.62
"""Leftmost and rightmost place of the divide between two half-rows, as shares of the column's width from its left."""

DIVIDE_CELLS = 0.8
"""Distance above and below the glyph in which the divide is looked for, in cells."""

DIVIDE_TONE_PER_WIDTH = 90
"""Darkness, in tones of 256, that counts for the divide as much as a distance of one width from the middle."""


@dataclass(frozen=True, slots=True)
class GlyphPlace:
    """Where a glyph is expected, in pixels of the upright image.

    `boxes` are the boxes of glyphs in its row, in reading order; `chosen` are the indices of those that the tile shows.
    If no glyph is there, `chosen` is empty and the tile shows the gap after the first `before` boxes. `focus` is the
    place itself. `column` is the upright box around a column that leans by `skew` degrees; `pitch` is the height of a
    cell. `claims` are the characters that text, recogniser or flag give for each box."""

    boxes: tuple[Box, ...]
    chosen: tuple[int, ...]
    before: int
    focus: Box
    column: Box
    pitch: float
    skew: float
    claims: tuple[tuple[str, ...], ...] = ()

    @property
    def half(self) -> bool:
        """Whether the glyph stands in a half-row of a note."""
        return self.focus.w < MAX_HALF_ROW_WIDTHS * self.column_width

    @property
    def column_width(self) -> float:
        """The width of the column across its direction: the box of a leaning column is wider."""
        return max(self.column.w - abs(tan(radians(self.skew))) * self.column.h, self.column.w / 2)

    @property
    def cell(self) -> float:
        """The height of the glyph's cell, by which its tile is scaled: smaller in a half-row."""
        return min(self.pitch, NOTE_CELL_WIDTHS * self.column_width) if self.half else self.pitch

    def forms(self, number: int) -> list[DrawnForm]:
        """The drawn forms of the characters claimed for a box, as far as a font has them."""
        return [form for char in self.claims[number] if (form := form_of(char)) is not None]


@dataclass(frozen=True, slots=True)
class GlyphTile:
    """A tile: its picture, and the extent of the glyph's ink in pixels of the tile; None if it shows a gap. `corner` is
    its upper left corner, relative to the middle of the glyph's place."""

    picture: Image.Image
    ink: Box | None
    corner: tuple[float, float]


def flag_place(result: PageResult, flag: Flag) -> GlyphPlace | None:
    """The place of the glyph of a flag; None if it is unknown."""
    result, flag = upright(result), upright_flag(flag, result)
    focus = focus_of(result, flag)
    if focus is None:
        return None
    column = result.column_of(replace(flag, bbox=focus))
    end = flag.offset + flag.length
    inside = [
        c for c in result.characters if c.line == flag.line and flag.offset <= c.offset < end and not c.text.isspace()
    ]
    lacking = [
        box
        for other in result.flags
        if other.bbox and other.line == flag.line and not other.length and other != flag
        for box in _one_by_one(other.bbox, len(other.suggested))
    ]
    # here the transcribed text is not that of these glyphs
    if flag.kind is Kind.OMISSION or flag.evidence.reason == PLACEHOLDER:
        missing = missing_characters(flag) if flag.kind is Kind.OMISSION else flag.suggested
        return _place(result, column, focus, _one_by_one(focus, len(missing)), lacking, missing)
    if flag.length and not inside:
        return _place(result, column, focus, (), lacking)
    return _place(result, column, focus, inside or [focus], lacking, flag.suggested)


def _one_by_one(run: Box, count: int) -> list[Box]:
    """The boxes of `count` glyphs in a `run`, one below the other; one box for all if the run is broader than high."""
    if count < 2 or run.h < run.w:
        return [run]
    return [replace(run, y=run.y + number * run.h / count, h=run.h / count) for number in range(count)]


def character_place(result: PageResult, character: CheckedCharacter) -> GlyphPlace:
    """The place of the glyph of a character."""
    shown = upright(result)
    if shown is not result:
        character, result = shown.characters[result.characters.index(character)], shown
    named = [column for column in result.columns if column.number == character.line]
    x = character.box.centre[0]
    column = min(named, key=lambda candidate: abs(candidate.box.centre[0] - x), default=None)
    return _place(result, column, character.box, [character], ())


def _place(
    result: PageResult,
    column: CheckedColumn | None,
    focus: Box,
    own: Sequence[CheckedCharacter | Box],
    lacking: Sequence[Box],
    suggested: str = "",
) -> GlyphPlace:
    """The place of the glyphs `own`, at `focus` in a column. `lacking` are boxes of other glyphs of the column for
    which the result has no character; `suggested` is the suggestion of the flag."""
    area = column.box if column else focus
    pitch = pitch_of(result, focus, area)
    reach = (WINDOW_CELLS + 1) * pitch
    half = focus.w < MAX_HALF_ROW_WIDTHS * area.w
    beside = BESIDE_ROW_WIDTHS * focus.w
    left, right = focus.x - beside, focus.right + beside
    near = [
        (character.box, (character.text, character.read))
        for character in result.characters
        if not any(character is mine for mine in own)
        and (column is None or character.line == column.number)
        and not character.text.isspace()
        and focus.y - reach < character.box.centre[1] < focus.bottom + reach
        and (left < character.box.centre[0] < right or not half or character.box.w > MAX_HALF_ROW_WIDTHS * area.w)
    ]
    suggestions = list(suggested) if len(suggested) == len(own) else [suggested] * len(own)
    shown = [
        (glyph, (text,)) if isinstance(glyph, Box) else (glyph.box, (glyph.text, glyph.read, text))
        for glyph, text in zip(own, suggestions, strict=True)
    ]
    kept: list[tuple[Box, tuple[str, ...]]] = []
    for glyph in sorted([*near, *((box, ()) for box in lacking)], key=_middle_y):
        if not any(_side_by_side(glyph[0], other, pitch) for other, _ in (*kept, *shown)):
            kept.append(glyph)
    glyphs = sorted([*kept, *shown], key=_middle_y)
    chosen = tuple(number for number, glyph in enumerate(glyphs) if any(glyph is mine for mine in shown))
    boxes = tuple(box for box, _ in glyphs)
    claims = tuple(tuple(dict.fromkeys(text for text in texts if len(text) == 1)) for _, texts in glyphs)
    before = sum(box.centre[1] < focus.centre[1] for box in boxes)
    return GlyphPlace(boxes, chosen, before, focus, area, pitch, result.skew, claims)


def _middle_y(glyph: tuple[Box, tuple[str, ...]]) -> float:
    return glyph[0].centre[1]


def _side_by_side(first: Box, second: Box, pitch: float) -> bool:
    return abs(first.centre[1] - second.centre[1]) < SAME_ROW_CELLS * pitch


def cut_glyph(image: Image.Image, place: GlyphPlace) -> GlyphTile | None:
    """The upright tile of a glyph; None if its place is outside the image."""
    window = _Window.of(image, place)
    if window is None:
        return None
    column, row = window.column(place), window.row(place)
    glyphs = [window.moved(box) for box in place.boxes]
    grey = window.grey
    cut = None
    if place.chosen:
        cut = glyph_ink(grey, column, row, glyphs, place.chosen, place.pitch, place.cell, place.forms)
    if cut is not None:
        box = cut.box
        edges = _tile_edges(box, place, len(place.chosen))
        ink = Box(box.left - edges.left, box.top - edges.top, box.right - box.left, box.bottom - box.top)
        return GlyphTile(_cropped(_paled(window.pixels, cut), edges), ink, window.corner_of(edges))
    x, y = _gap(grey, column, row, glyphs, place)
    side = 0.75 * MIN_SIDE_CELLS * place.cell
    edges = Rectangle(x - side, y - side, x + side, y + side)
    return GlyphTile(_cropped(window.pixels, edges), None, window.corner_of(edges))


def _gap(
    grey: NDArray[np.uint8],
    column: Rectangle,
    row: tuple[float, float],
    glyphs: Sequence[Rectangle],
    place: GlyphPlace,
) -> tuple[float, float]:
    """The middle of the gap between two glyphs, where a glyph was expected."""
    x = (row[0] + row[1]) / 2
    if place.chosen:
        return x, glyphs[place.chosen[0]].y
    sides: list[float | None] = []
    for number in (place.before - 1, place.before):
        if 0 <= number < len(glyphs):
            ink = glyph_ink(grey, column, row, glyphs, [number], place.pitch, place.cell, place.forms)
            half = place.pitch / 2
            box = ink.box if ink else Rectangle(row[0], glyphs[number].y - half, row[1], glyphs[number].y + half)
            sides.append(box.bottom if number < place.before else box.top)
        else:
            sides.append(None)
    above, below = sides
    if above is not None and below is not None and below - above < 2 * place.pitch:
        return x, (above + below) / 2
    if above is not None:
        return x, above + place.pitch / 4
    if below is not None:
        return x, below - place.pitch / 4
    return x, grey.shape[0] / 2


def _tile_edges(ink: Rectangle, place: GlyphPlace, count: int) -> Rectangle:
    """The edges of the tile around the ink of `count` glyphs: a square, or higher if there are several."""
    air = 2 * MARGIN_CELLS * place.cell
    wide, high = ink.right - ink.left + air, ink.bottom - ink.top + air
    if count == 1:
        wide = high = max(wide, high, MIN_SIDE_CELLS * place.cell)
    else:
        wide = max(wide, MIN_SIDE_CELLS * place.cell)
        high = max(high, wide)
    return Rectangle(ink.x - wide / 2, ink.y - high / 2, ink.x + wide / 2, ink.y + high / 2)


def _paled(pixels: NDArray[np.uint8], ink: GlyphInk) -> NDArray[np.uint8]:
    """The window with the ink of all other glyphs pale."""
    own = cv2.dilate(ink.own.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    other = cv2.dilate((ink.ink & ~ink.own).astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
    colours = pixels.reshape(-1, 1 if pixels.ndim == 2 else pixels.shape[-1])
    paper = np.percentile(colours[:: SAMPLE_STEP_PX * SAMPLE_STEP_PX], PAPER_PERCENTILE, axis=0)
    faded = np.maximum(paper - (paper - colours) * PALE_INK_SHARE, colours).clip(0, 255).astype(np.uint8)
    return np.where((other & ~own).reshape(-1, 1), faded, colours).reshape(pixels.shape)


def _cropped(pixels: NDArray[np.uint8], edges: Rectangle) -> Image.Image:
    """A piece of the window; white beyond its edges."""
    left, top = round(edges.left), round(edges.top)
    wide, high = max(round(edges.right - edges.left), 1), max(round(edges.bottom - edges.top), 1)
    piece = Image.new("L" if pixels.ndim == 2 else "RGB", (wide, high), "white")
    piece.paste(Image.fromarray(pixels), (-left, -top))
    return piece


@dataclass(frozen=True, slots=True)
class _Window:
    """The part of an image around a glyph, turned upright. The middle of the glyph is at `origin` on the image and at
    `middle` in the window."""

    pixels: NDArray[np.uint8]
    origin: tuple[float, float]
    middle: tuple[float, float]
    skew: float

    @classmethod
    def of(cls, image: Image.Image, place: GlyphPlace) -> _Window | None:
        x, y = place.focus.centre
        half_height = (2 * WINDOW_CELLS * place.pitch + place.focus.h) / 2
        half_width = max(
            (0.5 + BESIDE_WIDTHS) * place.column_width + abs(_column_x(place) - x), MIN_SIDE_CELLS * place.cell
        )
        air = abs(tan(radians(place.skew))) * max(half_height, half_width) + 2
        left, top = round(x - half_width - air), round(y - half_height - air)
        right, bottom = round(x + half_width + air), round(y + half_height + air)
        outside = right <= 0 or bottom <= 0 or left >= image.width or top >= image.height
        if outside or half_width * half_height > MAX_QUARTER_PX:
            return None
        inside = (max(left, 0), max(top, 0), min(right, image.width), min(bottom, image.height))
        pixels = np.asarray(image.crop(inside))
        beyond = np.percentile(pixels[::SAMPLE_STEP_PX, ::SAMPLE_STEP_PX], PAPER_PERCENTILE, axis=(0, 1)).tolist()
        paper = tuple(beyond) if isinstance(beyond, list) else (beyond,)
        around = (inside[1] - top, bottom - inside[3], inside[0] - left, right - inside[2])
        if any(around):
            pixels = cv2.copyMakeBorder(pixels, *around, cv2.BORDER_CONSTANT, value=paper)
        if abs(place.skew) > MIN_SKEW_DEGREES:
            turn = cv2.getRotationMatrix2D((x - left, y - top), -place.skew, 1.0)
            size = (pixels.shape[1], pixels.shape[0])
            pixels = cv2.warpAffine(pixels, turn, size, flags=cv2.INTER_LINEAR, borderValue=paper)
        return cls(np.asarray(pixels, dtype=np.uint8), (x, y), (x - left, y - top), place.skew)

    @property
    def grey(self) -> NDArray[np.uint8]:
        """The channel in which ink is dark and vermilion is light."""
        return self.pixels if self.pixels.ndim == 2 else np.ascontiguousarray(self.pixels[..., 0])

    def corner_of(self, edges: Rectangle) -> tuple[float, float]:
        """The upper left corner of a rectangle, relative to the middle of the glyph's place."""
        return round(edges.left) - self.middle[0], round(edges.top) - self.middle[1]

    def moved(self, box: Box) -> Rectangle:
        """A box of the image in the coordinates of the window."""
        x, y = box.centre[0] - self.origin[0], box.centre[1] - self.origin[1]
        lean = radians(self.skew)
        u = x * cos(lean) - y * sin(lean) + self.middle[0]
        v = x * sin(lean) + y * cos(lean) + self.middle[1]
        return Rectangle(u - box.w / 2, v - box.h / 2, u + box.w / 2, v + box.h / 2)

    def column(self, place: GlyphPlace) -> Rectangle:
        """The column in the coordinates of the window."""
        x = _column_x(place) - self.origin[0] + self.middle[0]
        half, down = place.column_width / 2, self.middle[1] - self.origin[1]
        return Rectangle(x - half, place.column.y + down, x + half, place.column.bottom + down)

    def row(self, place: GlyphPlace) -> tuple[float, float]:
        """The left and right edge of the glyph's row in the window: the column, or its half on the glyph's side. The
        divide between the halves is where a strip near the middle of the column has least ink."""
        column = self.column(place)
        left, right = column.left, column.right
        if not place.half:
            return left, right
        low, high = round(left + MIN_DIVIDE * (right - left)), round(left + MAX_DIVIDE * (right - left))
        middle = (left + right) / 2
        y, reach = round(self.middle[1]), round(DIVIDE_CELLS * place.pitch)
        part = self.grey[max(y - reach, 0) : y + reach, max(low, 0) : max(high, 1)]
        if part.size:
            ink = 255.0 - part.mean(axis=0)
            away = np.abs(np.arange(len(ink)) + low - middle) / (right - left)
            smooth = np.convolve(ink, np.ones(3) / 3, mode="same")
            middle = low + float((smooth + DIVIDE_TONE_PER_WIDTH * away).argmin()) + 0.5
        return (middle, right) if self.middle[0] > middle else (left, middle)


def _column_x(place: GlyphPlace) -> float:
    """The x of the middle of the column at the height of the glyph, since the column may lean."""
    return place.column.centre[0] + tan(radians(place.skew)) * (place.focus.centre[1] - place.column.centre[1])
