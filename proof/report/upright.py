"""Turning images upright that lie on their side or upside down.

The angle of a page (`PageResult.skew`, degrees) is the sum of the quarter turns of its image and the lean of its
columns. Boxes in a stored result are pixels of the image file; boxes that are shown are pixels of the image after
turning."""

from __future__ import annotations

from dataclasses import replace

from PIL import Image

from proof.model.flags import Flag
from proof.model.geometry import Box
from proof.model.result import PageResult

QUARTER_DEGREES = 90

_CLOCKWISE = {
    90: Image.Transpose.ROTATE_270,
    180: Image.Transpose.ROTATE_180,
    270: Image.Transpose.ROTATE_90,
}
"""Pillow's operation by degrees clockwise; Pillow itself counts counterclockwise."""


def turn_of(skew: float) -> int:
    """The degrees by which an image must be turned clockwise for its page to be upright: 0, 90, 180 or 270."""
    return round(skew / QUARTER_DEGREES) * QUARTER_DEGREES % 360


def lean_of(skew: float) -> float:
    """The degrees by which the columns of a page lean after its image was turned."""
    return skew - round(skew / QUARTER_DEGREES) * QUARTER_DEGREES


def turned_picture(picture: Image.Image, turn: int) -> Image.Image:
    """A picture turned clockwise by 0, 90, 180 or 270 degrees."""
    return picture.transpose(_CLOCKWISE[turn]) if turn else picture


def turned_size(size: tuple[int, int], turn: int) -> tuple[int, int]:
    """Width and height of an image of that `size` after turning."""
    return (size[1], size[0]) if turn in (90, 270) else size


def turned_box(box: Box, turn: int, size: tuple[int, int]) -> Box:
    """A box of an image of that `size` (width, height) after turning the image clockwise."""
    width, height = size
    if turn == 90:
        return Box(height - box.bottom, box.x, box.h, box.w)
    if turn == 180:
        return Box(width - box.right, height - box.bottom, box.w, box.h)
    if turn == 270:
        return Box(box.y, width - box.right, box.h, box.w)
    return box


def upright(result: PageResult) -> PageResult:
    """A result with all its boxes on the upright image; the same result if the image is upright already."""
    turn, size = turn_of(result.skew), result.image_size
    if not turn:
        return result
    return replace(
        result,
        image_size=turned_size(size, turn),
        image_box=turned_box(result.image_box, turn, size) if result.image_box else None,
        skew=lean_of(result.skew),
        columns=tuple(replace(column, box=turned_box(column.box, turn, size)) for column in result.columns),
        characters=tuple(replace(char, box=turned_box(char.box, turn, size)) for char in result.characters),
        flags=tuple(upright_flag(flag, result) for flag in result.flags),
    )


def upright_flag(flag: Flag, result: PageResult) -> Flag:
    """A flag of a result with its box on the upright image."""
    turn = turn_of(result.skew)
    return replace(flag, bbox=turned_box(flag.bbox, turn, result.image_size)) if turn and flag.bbox else flag
