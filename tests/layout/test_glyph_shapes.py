"""Glyphs of one character have like shapes, whatever their size and the specks beside them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from proof.facsimile.fonts import find_faces
from proof.layout.glyph_shapes import LENGTH, SIZE, Shapes, draw_scaled, shapes_of


def written(text: str, size: int = 60, speck: bool = False) -> NDArray[np.uint8]:
    """A character as ink, 255 on 0."""
    image = Image.new("L", (100, 100), 0)
    pen = ImageDraw.Draw(image)
    pen.text((15, 15), text, font=ImageFont.truetype(str(find_faces()[0].path), size), fill=255)
    if speck:
        pen.rectangle([80, 12, 82, 14], fill=255)
    return np.asarray(image)


def shapes(*pieces: NDArray[np.uint8]) -> Shapes:
    squares = np.zeros((len(pieces), SIZE, SIZE), np.uint8)
    for piece, square in zip(pieces, squares, strict=True):
        draw_scaled(piece, square)
    return shapes_of(squares)


def likeness(first: NDArray[np.int8], second: NDArray[np.int8]) -> float:
    a, b = first.astype(float), second.astype(float)
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def test_a_larger_glyph_with_a_speck_beside_it_is_more_like_its_own_than_another() -> None:
    found = shapes(written("其"), written("其", 50, speck=True), written("某"), written("司"))
    assert found.shape == (4, LENGTH)
    assert found[0].nbytes < 300
    assert likeness(found[0], found[1]) > max(likeness(found[0], found[2]), likeness(found[0], found[3]))


def test_where_there_is_no_ink_there_is_no_shape() -> None:
    assert not shapes(np.zeros((50, 50), np.uint8)).any()
    assert shapes_of(np.zeros((0, SIZE, SIZE), np.uint8)).shape == (0, LENGTH)
