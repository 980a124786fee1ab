"""Measures what a recogniser reads where characters are drawn in given fonts, and stores their shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import eq

import numpy as np
from numpy.typing import NDArray

from proof.facsimile.brush import Hand, write_glyph
from proof.facsimile.fonts import FontChain
from proof.facsimile.wear import Wear, age
from proof.images.opencv import cv2
from proof.layout.glyph_shapes import SIZE, draw_scaled, shapes_of
from proof.layout.strips import MAIN_PITCH, STRIP_WIDTH
from proof.ocr.drawn import SMALL_PX, DrawnReadings, SureForms
from proof.ocr.drawn_shapes import DrawnShapes
from proof.ocr.engine import Engine
from proof.ocr.spikes import spikes_of

CELL_HEIGHT_PX = 57
COLUMN_WIDTH_PX = 104
"""The size of a character's cell in the drawn column."""


@dataclass(frozen=True, slots=True)
class DrawnHand:
    """How a character is drawn and read: `size` is its em square in column widths, `weight` that of `Hand`, `wear` the
    wear of the print, `zoom` the length of its strip relative to that of the recogniser's first pass over a page.
    `height` is that of its characters in a scan in black and white, in pixels; None: they are drawn large."""

    size: float = 0.66
    weight: float = 6.0
    wear: Wear | None = None
    zoom: float = 1.0
    height: int | None = None


CLEAR = (DrawnHand(),)
"""The hand in which untaught characters are drawn."""

WORN = (
    DrawnHand(),
    DrawnHand(0.74, 2.0, Wear(fade=0.6, grain=0.6, blur=0.6)),
    DrawnHand(0.66, 3.0, Wear(fade=0.9, grain=0.9), 1.5),
    DrawnHand(0.70, 8.0, Wear(fade=0.6, grain=0.6, blur=1.2, grey=True), 1.25),
)
"""Clear and worn hands, thin and thick, at the pitches at which pages are read. `sure_forms` measures over them how
surely a character is read as itself."""

SMALL = (
    DrawnHand(0.72, 6.0, zoom=1.25, height=SMALL_PX),
    DrawnHand(0.72, 12.0, zoom=1.25, height=SMALL_PX),
    DrawnHand(0.72, 6.0, zoom=1.25, height=SMALL_PX - 4),
)
"""Hands for small characters, with thin and with thick strokes."""

INK_LEVEL = 150
"""Grey value of the edge of ink in a scan in black and white."""

STROKES = (104, 116, 128)
"""Levels of a distance field used as the outline: the font's own stroke thickness (128), and two thicker ones."""

FILLERS = "之人其"
"""Well-known characters: one is drawn before every two measured characters, and one at the end."""

CHARACTERS_PER_STRIP = 12
"""Number of measured characters in a strip; it must be even."""


def drawn_readings(engine: Engine, fonts: FontChain, characters: Iterable[str]) -> DrawnReadings:
    """What `engine` reads where `fonts` draw each of the characters; characters that no font has are left out.
    Raises EngineError."""
    readings = _read_all(engine, fonts, characters, CLEAR)
    return DrawnReadings.of(engine.identity.checksum, {char: by_hand[0] for char, by_hand in readings.items()})


def sure_forms(
    engine: Engine, fonts: FontChain, characters: Iterable[str], are_same_word: Callable[[str, str], bool] = eq
) -> SureForms:
    """The mean probabilities, over the hands `WORN` and over the hands `SMALL`, with which `engine` reads each of the
    characters as itself or another form of the same word; characters that no font has are left out. Raises
    EngineError."""
    readings = _read_all(engine, fonts, characters, (*WORN, *SMALL))
    probabilities = {}
    for char, by_hand in readings.items():
        as_itself = [sum(p for text, p in read.items() if are_same_word(char, text)) for read in by_hand]
        large, small = as_itself[: len(WORN)], as_itself[len(WORN) :]
        probabilities[char] = float(np.mean(large)), float(np.mean(small))
    return SureForms.of(engine.identity.checksum, probabilities)


def drawn_shapes(checksum: str, fonts: FontChain, characters: Iterable[str]) -> DrawnShapes:
    """The shape of each of the characters in `fonts`, the mean over `STROKES`, for the recogniser of this checksum;
    characters that no font has are left out."""
    shapes = {}
    for character in characters:
        field = fonts.field(character)
        if field is None:
            continue
        squares = np.zeros((len(STROKES), SIZE, SIZE), np.uint8)
        for square, level in zip(squares, STROKES, strict=True):
            draw_scaled(np.where(field >= level, 255, 0).astype(np.uint8), square)
        shapes[character] = np.rint(shapes_of(squares).mean(axis=0, keepdims=True)).astype(np.int8)
    return DrawnShapes.made_of(checksum, shapes)


def _read_all(
    engine: Engine, fonts: FontChain, characters: Iterable[str], hands: Sequence[DrawnHand]
) -> dict[str, list[dict[str, float]]]:
    """For each character that a font has, its readings with their probabilities, one mapping for each of the hands."""
    drawable = [char for char in characters if fonts.field(char) is not None]
    readings: dict[str, list[dict[str, float]]] = {char: [] for char in drawable}
    rng = np.random.default_rng(0)
    for hand in hands:
        for start in range(0, len(drawable), CHARACTERS_PER_STRIP):
            group = drawable[start : start + CHARACTERS_PER_STRIP]
            for character, probabilities in zip(group, _read(engine, fonts, group, hand, rng), strict=True):
                readings[character].append(probabilities)
    return readings


def _read(
    engine: Engine, fonts: FontChain, characters: Sequence[str], drawn: DrawnHand, rng: np.random.Generator
) -> list[dict[str, float]]:
    """Writes the characters into one column among `FILLERS` and reads it. Gives for each character its readings with
    their probabilities."""
    cells = -(-len(characters) // 2) * 3 + 1
    character_cells = [cell for cell in range(cells) if cell % 3][: len(characters)]
    index_of = {cell: index for index, cell in enumerate(character_cells)}
    canvas = np.zeros((cells * CELL_HEIGHT_PX, COLUMN_WIDTH_PX), np.uint8)
    hand = Hand(weight=drawn.weight)
    for cell in range(cells):
        character = characters[index_of[cell]] if cell in index_of else FILLERS[cell // 3 % len(FILLERS)]
        field = fonts.field(character)
        if field is not None:
            em = (drawn.size * COLUMN_WIDTH_PX, min(drawn.size * COLUMN_WIDTH_PX * 0.9, 1.06 * CELL_HEIGHT_PX))
            write_glyph(canvas, field, (COLUMN_WIDTH_PX / 2, (cell + 0.5) * CELL_HEIGHT_PX), em, hand, rng)
    (reading,) = engine.read([_as_strip(canvas, drawn, cells, int(rng.integers(1 << 30)))])
    kept, _ = spikes_of(reading, engine.character_of, [])
    readings: list[dict[str, float]] = [{} for _ in characters]
    for spike in kept.spikes():
        index = index_of.get(int(spike.place * cells))
        if index is not None and spike.presence > 0.5:
            readings[index] = {text: float(np.exp(p)) for text, p in spike.believed.items()}
    return readings


def _as_strip(canvas: NDArray[np.uint8], drawn: DrawnHand, cells: int, seed: int) -> NDArray[np.uint8]:
    """The image strip, as recognisers read it, of a column of ink."""
    grey = 255 - canvas if drawn.wear is None else age(canvas, None, None, drawn.wear, 1.0, [seed])
    length = round(cells * MAIN_PITCH * drawn.zoom)
    if drawn.height is not None:
        scale = drawn.height / (drawn.size * COLUMN_WIDTH_PX)
        small = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        grey = np.where(cv2.GaussianBlur(small, (0, 0), 0.6) > INK_LEVEL, 255, 0).astype(np.uint8)
    return np.asarray(cv2.resize(grey, (STRIP_WIDTH, length), interpolation=cv2.INTER_AREA), dtype=np.uint8)
