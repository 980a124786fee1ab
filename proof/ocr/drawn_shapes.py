"""Shapes of characters in fonts, to distinguish a character that the recogniser does not know, or does not read as
itself, from the one that it reads instead.

The recogniser reads 附 for 弣 as well as for 附, and 盧 for 嚧; only the ink tells which of the two it is.
`scripts/make_drawn.py` makes `data/shapes.npz`: the shapes of `proof.layout.glyph_shapes`, quantised.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proof.layout.glyph_shapes import LENGTH, Shapes
from proof.ocr.drawn import CharacterTable

SHIPPED_SHAPES = Path(__file__).with_name("data") / "shapes.npz"

STEP = 12
"""Quantisation step of the numbers of a shape (0 to 127), which are stored in four bits each."""

MIN_DISTANCE = 1e-3
"""Distance of two unit shapes up to which they look the same."""


@dataclass(frozen=True, slots=True)
class DrawnShapes(CharacterTable):
    """The shapes of the characters that a recogniser knows, and of those that it does not know: `packed` (n x `LENGTH`
    / 2), two numbers a byte."""

    packed: NDArray[np.uint8]

    def of(self, character: str) -> NDArray[np.float32] | None:
        """The shape of a character as a unit vector; None if the character is not listed."""
        index = self.index(character)
        if index is None:
            return None
        pairs = self.packed[index]
        return _unit(np.stack([pairs >> 4, pairs & 15], axis=-1).ravel())

    def form_preference(self, other: str, transcribed: str, shape: Callable[[], Shapes]) -> float | None:
        """How much more a glyph resembles `other` than `transcribed`. `shape` gives the shape of the glyph (1 x
        `LENGTH`). The preference is the difference of the cosines of this shape with the two characters, relative to
        the distance of the characters. None if one of them is not listed, if both look the same (then `shape` is not
        called), or if the shape is empty."""
        shape_of_other, shape_of_transcribed = self.of(other), self.of(transcribed)
        if shape_of_other is None or shape_of_transcribed is None:
            return None
        difference = shape_of_other - shape_of_transcribed
        distance = float(np.linalg.norm(difference))
        if distance <= MIN_DISTANCE:
            return None
        glyph = _unit(shape()[0])
        return float(glyph @ difference) / distance if glyph.any() else None

    @classmethod
    def made_of(cls, checksum: str, shapes: Mapping[str, Shapes]) -> DrawnShapes:
        """From the shape (1 x `LENGTH`) of each character."""
        inked = {character: shape for character, shape in sorted(shapes.items()) if shape.any()}
        steps = np.array([np.rint(shape[0] / STEP) for shape in inked.values()], np.uint8).reshape(-1, LENGTH)
        codes = np.array([ord(character) for character in inked], np.uint32)
        return cls(checksum, codes, np.asarray(steps[:, ::2] << 4 | steps[:, 1::2], np.uint8))


def _unit(vector: NDArray[np.integer[Any]]) -> NDArray[np.float32]:
    floats = vector.astype(np.float32)
    return np.asarray(floats / max(float(np.linalg.norm(floats)), 1e-6), np.float32)


@cache
def shipped_shapes(checksum: str) -> DrawnShapes:
    """The shapes that come with the program."""
    return DrawnShapes.load(SHIPPED_SHAPES).for_recogniser(checksum)
