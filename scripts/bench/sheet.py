"""The sheet that pages of printed books are drawn on, with what all of them have: characters, fish tails, boxes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

import cv2
import numpy as np
from numpy.typing import NDArray

from proof.facsimile.brush import Hand, write_glyph
from proof.facsimile.fonts import FontChain

Pixels = NDArray[np.uint8]
Box = tuple[str, float, float, float, float]
"""Kind (`text`, `midText` a fold strip, `ear` what else may be taken for a column or not), x, y, w, h."""

NUMBERS = "一二三四五六七八九十"

SMALL_SCRIPT = 0.7
"""Share of the size of the main text below which a character is small script."""

SMALL_SCRIPT_WEIGHT = 8
"""By how much the half-width of strokes grows in small script, which is cut thicker for its size, in thousandths of
the em."""


@dataclass(slots=True)
class Sheet:
    """A page while it is drawn: `canvas` is its ink (255 full), `letters` gives its characters, `hand` writes them,
    those of the main text `size` pixels large. `lines` are its columns as a transcription has them, `boxes` where these
    and what may be taken for them stand."""

    canvas: Pixels
    rng: np.random.Generator
    letters: Iterator[str]
    size: float
    hand: Hand
    fonts: FontChain = field(default_factory=FontChain.of_installed)
    boxes: list[Box] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def glyph(self, letter: str, x: float, y: float, size: float) -> None:
        """Write a character about x, y; nothing where no font has it."""
        shape = self.fonts.field(letter)
        if shape is not None:
            small = SMALL_SCRIPT_WEIGHT if size < SMALL_SCRIPT * self.size else 0
            hand = replace(self.hand, weight=self.hand.weight + small)
            write_glyph(self.canvas, shape, (x, y), (size, size), hand, self.rng)

    def row(self, letters: Iterable[str], x: float, y: float, size: float, step: float) -> str:
        """Write characters one below the other, the first about x, y; gives them."""
        written = ""
        for number, letter in enumerate(letters):
            self.glyph(letter, x, y + number * step, size)
            written += letter
        return written

    def next(self, count: int) -> Iterator[str]:
        """The next characters, taken when they are written."""
        return islice(self.letters, count)

    def fish_tail(self, x: float, y: float, half: float, length: float) -> None:
        """A black fish tail, 2 x `half` wide, from y downwards; upwards where `length` is negative."""
        end, notch = y + length, y + 0.5 * length
        points = [(x - half, y), (x + half, y), (x + half, end), (x, notch), (x - half, end)]
        cv2.fillPoly(self.canvas, [np.array(points).round().astype(np.int32)], (255,))
