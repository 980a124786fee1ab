"""Shapes of characters in fonts, to distinguish a character that the recogniser does not know from what it reads.

The recogniser reads 附 for 弣 as well as for 附; only the ink says which of the two it is. `data/shapes.npz` is made by
`scripts/make_drawn.py`: the shapes of `proof.layout.glyph_shapes`, quantised.
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
from proof.ocr.drawn import place_of

SHIPPED_SHAPES = Path(__file__).with_name("data") / "shapes.npz"

STEP = 12
"""Quantisation step of the values of a shape (0 to 127), which are stored in four bits each."""

MIN_DISTANCE = 1e-3
"""Distance of two unit shapes up to which they look the same."""


@dataclass(frozen=True, slots=True)
class DrawnShapes:
    """The shapes of characters. `codes` (n) are the characters as sorted code points, `packed` (n x `LENGTH` / 2) the
    shapes, two numbers a byte; `checksum` is that of the recogniser, which does not know some of them and reads them as
    the others."""

    checksum: str
    codes: NDArray[np.uint32]
    packed: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.codes)

    def of(self, character: str) -> NDArray[np.float32] | None:
        """The shape of a character as a unit vector; None if the character is not listed."""
        at = place_of(self.codes, character)
        if at is None:
            return None
        pairs = self.packed[at]
        return _unit(np.stack([pairs >> 4, pairs & 15], axis=-1).ravel())

    def form_preference(self, other: str, transcribed: str, shape: Callable[[], Shapes]) -> float | None:
        """How much more a glyph resembles `other` than `transcribed`: the difference of the cosines of its shape (1 x
        `LENGTH`) with both, relative to the distance of these. None if one of them is not listed, if both look the same
        (then `shape` is not called), or if the shape is empty."""
        to_other, to_transcribed = self.of(other), self.of(transcribed)
        if to_other is None or to_transcribed is None:
            return None
        apart = to_other - to_transcribed
        far = float(np.linalg.norm(apart))
        unit = _unit(shape()[0]) if far > MIN_DISTANCE else None
        return float(unit @ apart) / far if unit is not None and unit.any() else None

    @classmethod
    def made_of(cls, checksum: str, shapes: Mapping[str, Shapes]) -> DrawnShapes:
        """From the shape (1 x `LENGTH`) of each character."""
        kept = {character: shape for character, shape in sorted(shapes.items()) if shape.any()}
        steps = np.array([np.rint(shape[0] / STEP) for shape in kept.values()], np.uint8).reshape(-1, LENGTH)
        codes = np.array([ord(character) for character in kept], np.uint32)
        return cls(checksum, codes, np.asarray(steps[:, ::2] << 4 | steps[:, 1::2], np.uint8))

    def save(self, file: Path) -> None:
        np.savez_compressed(file, checksum=np.array(self.checksum), codes=self.codes, packed=self.packed)

    @classmethod
    def load(cls, file: Path) -> DrawnShapes:
        with np.load(file) as data:
            return cls(str(data["checksum"]), data["codes"], data["packed"])


def _unit(vector: NDArray[np.integer[Any]]) -> NDArray[np.float32]:
    values = vector.astype(np.float32)
    return np.asarray(values / max(float(np.linalg.norm(values)), 1e-6), np.float32)


@cache
def shipped_shapes(checksum: str) -> DrawnShapes:
    """The shapes that come with the program; none if they were made for another recogniser than that of `checksum`."""
    known = DrawnShapes.load(SHIPPED_SHAPES)
    return known if known.checksum == checksum else DrawnShapes.made_of(checksum, {})
