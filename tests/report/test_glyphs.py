"""A glyph is shown whole, in the middle, with what stands beside it pale."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from proof.facsimile.fonts import find_faces
from proof.model.flags import Evidence, Flag, Kind
from proof.model.geometry import Box
from proof.model.result import CheckedCharacter, CheckedColumn, PageResult, Status
from proof.report.glyphs import GlyphPlace, GlyphTile, character_place, cut_glyph, flag_place
from proof.text.model import Row

PITCH, WIDTH = 60.0, 100.0
COLUMN = Box(100.0, 40.0, WIDTH, 10 * PITCH)
GLYPHS = 10


def paper(*, ruled: bool = False) -> tuple[Image.Image, ImageDraw.ImageDraw]:
    """A page to draw on, empty or with the rules of one column, and a pen."""
    image = Image.new("L", (300, 700), 255)
    pen = ImageDraw.Draw(image)
    for x in (100, 200) if ruled else ():
        pen.line([x, 0, x, 700], fill=0, width=3)
    return image, pen


def drawn(skip: int = -1) -> Image.Image:
    """A ruled column of ten glyphs like 其: a body and two legs that stand apart from it; one may be left out."""
    image, pen = paper(ruled=True)
    for number in range(GLYPHS):
        if number != skip:
            _write(pen, 125, 40 + number * PITCH + 6)
    return image


def _write(pen: ImageDraw.ImageDraw, x: float, y: float, size: float = 50) -> None:
    pen.rectangle([x, y, x + size, y + 0.66 * size], outline=0, width=4)
    pen.line([x, y + 0.33 * size, x + size, y + 0.33 * size], fill=0, width=4)
    pen.rectangle([x + 0.1 * size, y + 0.8 * size, x + 0.3 * size, y + 0.96 * size], fill=0)
    pen.rectangle([x + 0.7 * size, y + 0.8 * size, x + 0.9 * size, y + 0.96 * size], fill=0)


def checked(off: float = 0.0) -> PageResult:
    """The page as a check found it, every box too high by `off` cells."""
    characters = tuple(
        CheckedCharacter(1, n, 1, Row.MAIN, "其", Box(100, 40 + (n - off) * PITCH, WIDTH, PITCH), "其", 0.9)
        for n in range(GLYPHS)
    )
    columns = (CheckedColumn(1, COLUMN, "其" * GLYPHS),)
    size = Box(0, 0, 300, 700)
    return PageResult(
        "p", "p", Status.CHECKED, image_size=(300, 700), image_box=size, columns=columns, characters=characters
    )


def dark(tile: GlyphTile) -> NDArray[np.bool_]:
    return np.asarray(np.asarray(tile.picture.convert("L")) < 100)


def tile_at(image: Image.Image, place: GlyphPlace) -> GlyphTile:
    tile = cut_glyph(image, place)
    assert tile is not None
    return tile


def shown(image: Image.Image, result: PageResult, number: int) -> GlyphTile:
    return tile_at(image, character_place(result, result.characters[number]))


def ink_of(image: Image.Image, result: PageResult, number: int) -> Box:
    """The extent of the ink that is shown as the glyph of a character."""
    ink = shown(image, result, number).ink
    assert ink is not None
    return ink


def place_of(result: PageResult, flag: Flag) -> GlyphPlace:
    place = flag_place(result, flag)
    assert place is not None
    return place


def height_of(tile: GlyphTile) -> int:
    """From the highest to the lowest dark pixel."""
    rows, _ = np.nonzero(dark(tile))
    return int(rows.max() - rows.min())


@pytest.mark.parametrize("off", [-0.15, 0.0, 0.15])
def test_the_whole_glyph_stands_in_the_middle_wherever_its_box_was_found(off: float) -> None:
    tile = shown(drawn(), checked(off), 4)
    rows, across = np.nonzero(dark(tile))
    assert height_of(tile) == pytest.approx(48, abs=3)  # head and legs
    middle = tile.picture.height / 2
    assert (rows.max() + rows.min()) / 2 == pytest.approx(middle, abs=3)
    assert (across.max() + across.min()) / 2 == pytest.approx(middle, abs=3)


def test_the_other_half_row_is_pale() -> None:
    image, pen = paper()
    for number in range(GLYPHS):
        for x in (106, 156):
            _write(pen, x, 40 + number * PITCH + 10, 38)
    right = tuple(
        CheckedCharacter(1, n, 1, Row.RIGHT, "其", Box(147, 40 + n * PITCH, 53, PITCH), "其", 0.9)
        for n in range(GLYPHS)
    )
    left = tuple(
        replace(glyph, row=Row.LEFT, offset=20 + glyph.offset, box=replace(glyph.box, x=100)) for glyph in right
    )
    result = replace(checked(), characters=(*right, *left))
    for number in (4, 14):
        tile = shown(image, result, number)
        across = np.nonzero(dark(tile))[1]
        assert across.max() - across.min() == pytest.approx(38, abs=3)


def test_a_place_without_ink_shows_the_gap_between_its_neighbours() -> None:
    """The text has a character after the fifth glyph that the image has not."""
    result = checked()
    later = tuple(
        replace(character, offset=character.offset + (character.offset > 4)) for character in result.characters
    )
    gap = Box(100, 40 + 4.75 * PITCH, WIDTH, PITCH / 2)
    flag = Flag("p", "p", 1, 5, 1, Kind.INSERTION, "之", "", 5.0, True, gap, Evidence("no glyph"))
    tile = tile_at(drawn(), place_of(replace(result, characters=later), flag))
    assert tile.ink is None
    inked: NDArray[np.bool_] = np.any(dark(tile)[:, 30:-30], axis=1)
    middle = len(inked) // 2
    assert not inked[middle - 2 : middle + 3].any()
    assert inked[: middle - 8].any()
    assert inked[middle + 8 :].any()


def test_a_leaning_page_gives_upright_tiles() -> None:
    image = drawn().rotate(2.0, fillcolor=255, resample=Image.Resampling.BICUBIC)
    assert height_of(shown(image, replace(checked(), skew=-2.0), 4)) == pytest.approx(48, abs=3)


def in_kai(text: str, size: float = 54) -> Image.Image:
    """A ruled column of ten glyphs in regular script."""
    image, pen = paper(ruled=True)
    font = ImageFont.truetype(str(find_faces()[0].path), size)
    for number, character in enumerate(text):
        pen.text((150, 40 + (number + 0.5) * PITCH), character, font=font, fill=0, anchor="mm")
    return image


def says(text: str) -> PageResult:
    """The page of `checked`, whose text is this."""
    result = checked()
    pairs = zip(result.characters, text, strict=True)
    return replace(result, characters=tuple(replace(pair, text=each, read=each) for pair, each in pairs))


TEXT = "天地玄黃宇宙洪荒日月"


def test_a_glyph_at_the_end_of_a_grey_image_is_not_taken_for_paper() -> None:
    image = in_kai(TEXT).point([150 + value // 3 if value else 40 for value in range(256)]).crop((0, 0, 300, 360))
    page = replace(says(TEXT), image_size=(300, 360), image_box=Box(0, 0, 300, 360))
    assert ink_of(image, page, 4).h > 30


def test_the_glyphs_of_a_run_that_is_missing_are_shown_together_and_all() -> None:
    result = checked()
    cells = tuple(character for character in result.characters if not 3 <= character.offset < 6)
    run = Box(100, 40 + 3 * PITCH, WIDTH, 3 * PITCH)
    missing = Flag("p", "p", 1, 3, 0, Kind.OMISSION, "", "其其其", 5.0, True, run, Evidence("not transcribed"), "", "1")
    place = place_of(replace(result, characters=cells, flags=(missing,)), missing)
    assert [place.boxes[number] for number in place.chosen] == [result.characters[n].box for n in (3, 4, 5)]
    assert len(place.boxes) == GLYPHS
    tile = tile_at(drawn(), place)
    assert height_of(tile) > 2.5 * PITCH
    assert tile.picture.height > 1.4 * tile.picture.width
