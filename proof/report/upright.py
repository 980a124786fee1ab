"""A page whose image lies on its side or upside down, as people are shown it: upright.

The angle of a page (`PageResult.skew`) holds by how many quarters its image lies turned; what is left of it is how far
its columns lean. Places in a result are pixels of the image as it lies; those that are shown are of the image turned.
"""

from __future__ import annotations

from dataclasses import replace

from PIL import Image

from proof.model.flags import Flag
from proof.model.geometry import Box
from proof.model.result import PageResult

QUARTER = 90

_CLOCKWISE = {
    90: Image.Transpose.ROTATE_270,
    180: Image.Transpose.ROTATE_180,
    270: Image.Transpose.ROTATE_90,
}
"""Pillow turns the other way."""


def turn_of(skew: float) -> int:
    """By how many degrees an image is to be turned clockwise until its page is upright: 0, 90, 180 or 270."""
    return round(skew / QUARTER) * QUARTER % 360


def lean_of(skew: float) -> float:
    """By how many degrees the columns of a page lean once its image was turned."""
    return skew - round(skew / QUARTER) * QUARTER


def turned_picture(picture: Image.Image, turn: int) -> Image.Image:
    """A picture turned clockwise by 0, 90, 180 or 270 degrees."""
    return picture.transpose(_CLOCKWISE[turn]) if turn else picture


def turned_size(size: tuple[int, int], turn: int) -> tuple[int, int]:
    """Width and height of an image of that `size` that was turned."""
    return (size[1], size[0]) if turn in (90, 270) else size


def turned_box(box: Box, turn: int, size: tuple[int, int]) -> Box:
    """A box of an image of that `size` (width, height) where it is once the image was turned clockwise."""
    width, height = size
    if turn == 90:
        return Box(height - box.bottom, box.x, box.h, box.w)
    if turn == 180:
        return Box(width - box.right, height - box.bottom, box.w, box.h)
    if turn == 270:
        return Box(box.y, width - box.right, box.h, box.w)
    return box


def upright(result: PageResult) -> PageResult:
    """A result with all its places on the image as it is turned upright; itself where it lies so."""
    turn, size = turn_of(result.skew), result.image_size
    if not turn:
        return result
    return replace(
        result,
        image_size=turned_size(size, turn),
        image_box=turned_box(result.image_box, turn, size) if result.image_box else None,
        skew=lean_of(result.skew),
        columns=tuple(replace(item, box=turned_box(item.box, turn, size)) for item in result.columns),
        characters=tuple(replace(item, box=turned_box(item.box, turn, size)) for item in result.characters),
        flags=tuple(upright_flag(flag, result) for flag in result.flags),
    )


def upright_flag(flag: Flag, result: PageResult) -> Flag:
    """A flag of a result, as `upright` has it."""
    turn = turn_of(result.skew)
    return replace(flag, bbox=turned_box(flag.bbox, turn, result.image_size)) if turn and flag.bbox else flag
