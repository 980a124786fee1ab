"""Image tiles of glyphs: the whole glyph, centred on its own ink, with all other ink pale.

`flag_place` and `character_place` give the place of the glyph of a flag or a character; `cut_glyph` finds the ink of
the glyph on the image and cuts the tile.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import cos, radians, sin, tan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from proof.facsimile.forms import form_of
from proof.images.opencv import cv2
from proof.layout.glyph_form import DrawnForm
from proof.layout.glyph_ink import BESIDE_WIDTHS, WINDOW_CELLS, GlyphInk, glyph_ink
from proof.model.flags import PLACEHOLDER, Flag, Kind, missing_characters
from proof.model.geometry import Box
from proof.model.result import CheckedCharacter, CheckedColumn, PageResult
from proof.report.upright import upright, upright_flag
from proof.report.view import MAX_HALF_ROW_WIDTHS, focus_of, pitch_of

GLYPH_METHOD_VERSION = 8
"""Version of the tiles. Raise it when they change: cached tiles of other versions are not used."""

MARGIN_CELLS = 0.11
"""Margin around the ink on each side, in cells."""

MIN_SIDE_CELLS = 1.16
"""Minimum side of a tile, in cells, so that 一 is not enlarged."""

NOTE_CELL_WIDTHS = 0.56
"""Height of the cell of a glyph in a half-row, as a share of the column's width."""

PALE_INK_SHARE = 0.2
"""Share of its darkness that the ink of other glyphs keeps."""

PAPER_PERCENTILE = 80
"""Percentile of the tones that is taken as the tone of paper. It fills the area beyond the image."""

SAMPLE_STEP_PX = 5
"""Distance in x and y between the pixels from which the tone of paper is measured."""

SAME_ROW_CELLS = 0.5
"""Glyphs are side by side if the middles of their boxes differ by less in y, in cells."""

BESIDE_ROW_WIDTHS = 0.3
"""Glyphs of the same half-row have their middle within this distance of the glyph's box, in widths of the box."""

MIN_SKEW_DEGREES = 0.05
"""Skew up to which a window is not turned, in degrees."""

MAX_QUARTER_PX = 4e6
"""Maximum area of a quarter of a window, in pixels."""

MIN_DIVIDE = 0.38
MAX_DIVIDE = 0.62
"""Leftmost and rightmost x of the divide between two half-rows, from the left of the column, in widths of the
column."""

DIVIDE_CELLS = 0.8
"""Distance above and below the glyph within which the divide is searched, in cells."""

DIVIDE_TONE_PER_WIDTH = 90
"""Weight of the distance of the divide from the middle of the column, in tones of 256 per width of the column."""


@dataclass(frozen=True, slots=True)
class GlyphPlace:
    """Where a glyph is expected, in pixels of the upright image.

    `boxes` are the boxes of the glyphs in its row, in reading order; `chosen` are the indices of those that the tile
    shows. Without a glyph, `chosen` is empty and the tile shows the gap after the first `before` boxes. `focus` is the
    place itself. `column` is the upright box around the column, which leans by `skew` degrees; `pitch` is the height of
    a cell. `claims` are, for each box, the characters of the text, the recogniser and the flag."""

    boxes: tuple[Box, ...]
    chosen: tuple[int, ...]
    before: int
    focus: Box
    column: Box
    pitch: float
    skew: float
    claims: tuple[tuple[str, ...], ...] = ()

    @property
    def is_in_half_row(self) -> bool:
        """Whether the glyph stands in a half-row of a note."""
        return self.focus.w < MAX_HALF_ROW_WIDTHS * self.column_width

    @property
    def column_width(self) -> float:
        """The width of the column across its direction: the box of a leaning column is wider."""
        return max(self.column.w - abs(tan(radians(self.skew))) * self.column.h, self.column.w / 2)

    @property
    def cell(self) -> float:
        """The height of the glyph's cell, by which its tile is scaled: smaller in a half-row."""
        return min(self.pitch, NOTE_CELL_WIDTHS * self.column_width) if self.is_in_half_row else self.pitch

    def forms(self, number: int) -> list[DrawnForm]:
        """The drawn forms of the characters claimed for a box; characters that no font has are left out."""
        return [form for char in self.claims[number] if (form := form_of(char)) is not None]


@dataclass(frozen=True, slots=True)
class GlyphTile:
    """A tile: its picture, and the box of the glyph's ink in pixels of the tile (None if it shows a gap). `corner` is
    the upper left corner of the tile, relative to the middle of the glyph's place."""

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
        character
        for character in result.characters
        if character.line == flag.line and flag.offset <= character.offset < end and not character.text.isspace()
    ]
    missing_boxes = [
        box
        for other in result.flags
        if other.bbox and other.line == flag.line and not other.length and other != flag
        for box in _one_by_one(other.bbox, len(other.suggested))
    ]
    # the glyphs of missing characters and of placeholders are not those of the transcribed text
    if flag.kind is Kind.OMISSION or flag.evidence.reason == PLACEHOLDER:
        suggested = missing_characters(flag) if flag.kind is Kind.OMISSION else flag.suggested
        return _place(result, column, focus, _one_by_one(focus, len(suggested)), missing_boxes, suggested)
    if flag.length and not inside:
        return _place(result, column, focus, (), missing_boxes)
    return _place(result, column, focus, inside or [focus], missing_boxes, flag.suggested)


def _one_by_one(run: Box, count: int) -> list[Box]:
    """The boxes of `count` glyphs in a `run`, one below the other; the run itself if it is broader than high."""
    if count < 2 or run.h < run.w:
        return [run]
    return [replace(run, y=run.y + number * run.h / count, h=run.h / count) for number in range(count)]


def character_place(result: PageResult, character: CheckedCharacter) -> GlyphPlace:
    """The place of the glyph of a character."""
    shown = upright(result)
    if shown is not result:
        character, result = shown.characters[result.characters.index(character)], shown
    columns = [column for column in result.columns if column.number == character.line]
    x = character.box.centre[0]
    column = min(columns, key=lambda candidate: abs(candidate.box.centre[0] - x), default=None)
    return _place(result, column, character.box, [character], ())


def _place(
    result: PageResult,
    column: CheckedColumn | None,
    focus: Box,
    own: Sequence[CheckedCharacter | Box],
    missing_boxes: Sequence[Box],
    suggested: str = "",
) -> GlyphPlace:
    """The place of the glyphs `own`, at `focus` in a column. `missing_boxes` are boxes of other glyphs in the column
    for which the result has no character; `suggested` is the suggestion of the flag."""
    area = column.box if column else focus
    pitch = pitch_of(result, focus, area)
    suggestions = list(suggested) if len(suggested) == len(own) else [suggested] * len(own)
    own_glyphs = [
        _Glyph(glyph, (text,)) if isinstance(glyph, Box) else _Glyph(glyph.box, (glyph.text, glyph.read, text))
        for glyph, text in zip(own, suggestions, strict=True)
    ]
    others = [
        *_glyphs_nearby(result, column, focus, pitch, own),
        *(_Glyph(box, ()) for box in missing_boxes),
    ]
    kept: list[_Glyph] = []
    for other in sorted(others, key=_middle_y):
        if not any(_side_by_side(other.box, glyph.box, pitch) for glyph in (*kept, *own_glyphs)):
            kept.append(other)
    glyphs = sorted([*kept, *own_glyphs], key=_middle_y)
    return GlyphPlace(
        boxes=tuple(glyph.box for glyph in glyphs),
        chosen=tuple(index for index, glyph in enumerate(glyphs) if any(glyph is mine for mine in own_glyphs)),
        before=sum(glyph.box.centre[1] < focus.centre[1] for glyph in glyphs),
        focus=focus,
        column=area,
        pitch=pitch,
        skew=result.skew,
        claims=tuple(tuple(dict.fromkeys(text for text in glyph.texts if len(text) == 1)) for glyph in glyphs),
    )


class _Glyph(NamedTuple):
    """The box of a glyph, and the texts that are claimed for it."""

    box: Box
    texts: tuple[str, ...]


def _glyphs_nearby(
    result: PageResult,
    column: CheckedColumn | None,
    focus: Box,
    pitch: float,
    own: Sequence[CheckedCharacter | Box],
) -> Iterator[_Glyph]:
    """The glyphs above and below `focus` in its column and row, except `own`."""
    column_width = column.box.w if column else focus.w
    is_in_half_row = focus.w < MAX_HALF_ROW_WIDTHS * column_width
    reach = (WINDOW_CELLS + 1) * pitch
    beside = BESIDE_ROW_WIDTHS * focus.w
    for character in result.characters:
        x, y = character.box.centre
        if any(character is mine for mine in own) or character.text.isspace():
            continue
        if column is not None and character.line != column.number:
            continue
        is_full_width = character.box.w > MAX_HALF_ROW_WIDTHS * column_width
        is_in_row = not is_in_half_row or is_full_width or focus.x - beside < x < focus.right + beside
        if is_in_row and focus.y - reach < y < focus.bottom + reach:
            yield _Glyph(character.box, (character.text, character.read))


def _middle_y(glyph: _Glyph) -> float:
    return glyph.box.centre[1]


def _side_by_side(first: Box, second: Box, pitch: float) -> bool:
    return abs(first.centre[1] - second.centre[1]) < SAME_ROW_CELLS * pitch


def cut_glyph(image: Image.Image, place: GlyphPlace) -> GlyphTile | None:
    """The upright tile of a glyph; None if its place is outside the image."""
    window = _Window.of(image, place)
    if window is None:
        return None
    column, row = window.column(place), window.row(place)
    glyphs = [window.moved(box) for box in place.boxes]
    ink = None
    if place.chosen:
        ink = glyph_ink(window.grey, column, row, glyphs, place.chosen, place.pitch, place.cell, place.forms)
    if ink is None:
        x, y = _gap(window.grey, column, row, glyphs, place)
        side = 0.75 * MIN_SIDE_CELLS * place.cell
        edges = Box(x - side, y - side, 2 * side, 2 * side)
        return GlyphTile(_cropped(window.pixels, edges), None, window.corner_of(edges))
    box = ink.box
    edges = _tile_edges(box, place, len(place.chosen))
    ink_box = replace(box, x=box.x - edges.x, y=box.y - edges.y)
    return GlyphTile(_cropped(_paled(window.pixels, ink), edges), ink_box, window.corner_of(edges))


def _gap(
    grey: NDArray[np.uint8],
    column: Box,
    row: tuple[float, float],
    glyphs: Sequence[Box],
    place: GlyphPlace,
) -> tuple[float, float]:
    """The middle of the gap in which a glyph was expected, between the ink of the glyphs above and below it."""
    x = (row[0] + row[1]) / 2
    if place.chosen:
        return x, glyphs[place.chosen[0]].centre[1]

    def ink_extent(number: int) -> tuple[float, float] | None:
        """Top and bottom of the ink of a glyph, else of its cell; None if there is no such glyph."""
        if not 0 <= number < len(glyphs):
            return None
        ink = glyph_ink(grey, column, row, glyphs, [number], place.pitch, place.cell, place.forms)
        if ink:
            return ink.box.y, ink.box.bottom
        return glyphs[number].centre[1] - place.pitch / 2, glyphs[number].centre[1] + place.pitch / 2

    glyph_above, glyph_below = ink_extent(place.before - 1), ink_extent(place.before)
    above = glyph_above[1] if glyph_above else None
    below = glyph_below[0] if glyph_below else None
    if above is not None and below is not None and below - above < 2 * place.pitch:
        return x, (above + below) / 2
    if above is not None:
        return x, above + place.pitch / 4
    if below is not None:
        return x, below - place.pitch / 4
    return x, grey.shape[0] / 2


def _tile_edges(ink: Box, place: GlyphPlace, count: int) -> Box:
    """The edges of the tile around the ink of `count` glyphs: a square; higher for several glyphs, if need be."""
    air = 2 * MARGIN_CELLS * place.cell
    wide, high = ink.w + air, ink.h + air
    if count == 1:
        wide = high = max(wide, high, MIN_SIDE_CELLS * place.cell)
    else:
        wide = max(wide, MIN_SIDE_CELLS * place.cell)
        high = max(high, wide)
    x, y = ink.centre
    return Box(x - wide / 2, y - high / 2, wide, high)


def _paled(pixels: NDArray[np.uint8], ink: GlyphInk) -> NDArray[np.uint8]:
    """The window with the ink of all other glyphs pale."""
    own = cv2.dilate(ink.own.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    other = cv2.dilate((ink.ink & ~ink.own).astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
    colours = pixels.reshape(-1, 1 if pixels.ndim == 2 else pixels.shape[-1])
    paper = np.percentile(colours[:: SAMPLE_STEP_PX * SAMPLE_STEP_PX], PAPER_PERCENTILE, axis=0)
    faded = np.maximum(paper - (paper - colours) * PALE_INK_SHARE, colours).clip(0, 255).astype(np.uint8)
    return np.where((other & ~own).reshape(-1, 1), faded, colours).reshape(pixels.shape)


def _cropped(pixels: NDArray[np.uint8], edges: Box) -> Image.Image:
    """The part of the window within `edges`; white beyond the window."""
    left, top = round(edges.x), round(edges.y)
    wide, high = max(round(edges.w), 1), max(round(edges.h), 1)
    piece = Image.new("L" if pixels.ndim == 2 else "RGB", (wide, high), "white")
    piece.paste(Image.fromarray(pixels), (-left, -top))
    return piece


@dataclass(frozen=True, slots=True)
class _Window:
    """The part of an image around a glyph, rotated so that its column is vertical. The middle of the glyph is at
    `origin` on the image and at `middle` in the window."""

    pixels: NDArray[np.uint8]
    origin: tuple[float, float]
    middle: tuple[float, float]
    skew: float

    @classmethod
    def of(cls, image: Image.Image, place: GlyphPlace) -> _Window | None:
        """The window around a glyph; None if it is outside the image or too large."""
        x, y = place.focus.centre
        half_height = (2 * WINDOW_CELLS * place.pitch + place.focus.h) / 2
        half_width = max(
            (0.5 + BESIDE_WIDTHS) * place.column_width + abs(_column_x(place) - x), MIN_SIDE_CELLS * place.cell
        )
        air = abs(tan(radians(place.skew))) * max(half_height, half_width) + 2
        left, top = round(x - half_width - air), round(y - half_height - air)
        right, bottom = round(x + half_width + air), round(y + half_height + air)
        is_outside = right <= 0 or bottom <= 0 or left >= image.width or top >= image.height
        if is_outside or half_width * half_height > MAX_QUARTER_PX:
            return None
        inside = (max(left, 0), max(top, 0), min(right, image.width), min(bottom, image.height))
        pixels = np.asarray(image.crop(inside))
        paper = tuple(
            np.atleast_1d(np.percentile(pixels[::SAMPLE_STEP_PX, ::SAMPLE_STEP_PX], PAPER_PERCENTILE, axis=(0, 1)))
        )
        borders = (inside[1] - top, bottom - inside[3], inside[0] - left, right - inside[2])
        if any(borders):
            pixels = cv2.copyMakeBorder(pixels, *borders, cv2.BORDER_CONSTANT, value=paper)
        if abs(place.skew) > MIN_SKEW_DEGREES:
            rotation = cv2.getRotationMatrix2D((x - left, y - top), -place.skew, 1.0)
            size = (pixels.shape[1], pixels.shape[0])
            pixels = cv2.warpAffine(pixels, rotation, size, flags=cv2.INTER_LINEAR, borderValue=paper)
        return cls(np.asarray(pixels, dtype=np.uint8), (x, y), (x - left, y - top), place.skew)

    @property
    def grey(self) -> NDArray[np.uint8]:
        """The red channel, in which ink is dark and vermilion is light; the only one of a grey image."""
        return self.pixels if self.pixels.ndim == 2 else np.ascontiguousarray(self.pixels[..., 0])

    def corner_of(self, edges: Box) -> tuple[float, float]:
        """The upper left corner of a rectangle, relative to the middle of the glyph's place."""
        return round(edges.x) - self.middle[0], round(edges.y) - self.middle[1]

    def moved(self, box: Box) -> Box:
        """The box of a glyph in the coordinates of the window; its size is kept."""
        x, y = box.centre[0] - self.origin[0], box.centre[1] - self.origin[1]
        lean = radians(self.skew)
        u = x * cos(lean) - y * sin(lean) + self.middle[0]
        v = x * sin(lean) + y * cos(lean) + self.middle[1]
        return Box(u - box.w / 2, v - box.h / 2, box.w, box.h)

    def column(self, place: GlyphPlace) -> Box:
        """The column in the coordinates of the window."""
        x = _column_x(place) - self.origin[0] + self.middle[0]
        half, down = place.column_width / 2, self.middle[1] - self.origin[1]
        return Box(x - half, place.column.y + down, 2 * half, place.column.h)

    def row(self, place: GlyphPlace) -> tuple[float, float]:
        """The left and right edge of the glyph's row in the window: those of the column or, in a note, of its half on
        the glyph's side. The halves are divided near the middle of the column, where there is least ink."""
        column = self.column(place)
        left, right = column.x, column.right
        if not place.is_in_half_row:
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
