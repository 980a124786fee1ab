"""What a recogniser reads of characters that are drawn in given fonts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proof.facsimile.brush import Hand, write_glyph
from proof.facsimile.fonts import FontChain
from proof.facsimile.wear import Wear, age
from proof.images.opencv import cv2
from proof.layout.glyph_shapes import SIZE, draw_scaled, shapes_of
from proof.layout.strips import MAIN_PITCH, STRIP_WIDTH
from proof.ocr.drawn import DrawnReadings, SureForms
from proof.ocr.drawn_shapes import DrawnShapes
from proof.ocr.engine import Engine
from proof.ocr.spikes import spikes_of

CELL_HEIGHT_PX = 57
COLUMN_WIDTH_PX = 104
"""The cell of a character in the column that is drawn and read."""


@dataclass(frozen=True, slots=True)
class DrawnHand:
    """How a character is drawn and read: `size`, its em square in widths of a column; `weight`, how thick its strokes
    are; `worn`, how worn the print is; `zoom`, the length of its strip relative to the recogniser's first look at a
    page."""

    size: float = 0.66
    weight: float = 6.0
    worn: Wear | None = None
    zoom: float = 1.0


CLEAR = (DrawnHand(),)
"""How untaught characters are drawn."""

WORN = (
    DrawnHand(),
    DrawnHand(0.74, 2.0, Wear(fade=0.6, grain=0.6, blur=0.6)),
    DrawnHand(0.66, 3.0, Wear(fade=0.9, grain=0.9), 1.5),
    DrawnHand(0.70, 8.0, Wear(fade=0.6, grain=0.6, blur=1.2, grey=True), 1.25),
)
"""Clear and worn hands, thin and thick, at the pitches of the looks at a page, by which it is measured how surely a
character is read as itself."""

STROKES = (104, 116, 128)
"""Levels of a distance field that are taken for the outline: strokes as thick as the font's (128), and two thicker."""

AMONG = "之人其"
"""Well-known characters: one stands before every two that are asked for, and one at the end."""

CHARACTERS_PER_STRIP = 12
"""Characters in one strip, an even number."""


def drawn_readings(engine: Engine, fonts: FontChain, characters: Iterable[str]) -> DrawnReadings:
    """What `engine` reads where `fonts` draw each of the characters; those that no font has are left out.
    Raises EngineError."""
    read = _read_all(engine, fonts, characters, CLEAR)
    return DrawnReadings.of(engine.identity.checksum, {char: ways[0] for char, ways in read.items()})


def sure_forms(engine: Engine, fonts: FontChain, characters: Iterable[str]) -> SureForms:
    """How surely `engine` reads each of the characters as itself, in the mean of clear and worn hands; those that no
    font has are left out. Raises EngineError."""
    read = _read_all(engine, fonts, characters, WORN)
    chances = {char: float(np.mean([way.get(char, 0.0) for way in ways])) for char, ways in read.items()}
    return SureForms.of(engine.identity.checksum, chances)


def drawn_shapes(checksum: str, fonts: FontChain, characters: Iterable[str]) -> DrawnShapes:
    """What each of the characters looks like in `fonts`, in the mean of `STROKES`, for the recogniser of this checksum;
    those that no font has are left out."""
    shapes = {}
    for character in characters:
        field = fonts.field(character)
        if field is not None:
            squares = np.zeros((len(STROKES), SIZE, SIZE), np.uint8)
            for square, level in zip(squares, STROKES, strict=True):
                draw_scaled(np.where(field >= level, 255, 0).astype(np.uint8), square)
            shapes[character] = np.rint(shapes_of(squares).mean(axis=0, keepdims=True)).astype(np.int8)
    return DrawnShapes.made_of(checksum, shapes)


def _read_all(
    engine: Engine, fonts: FontChain, characters: Iterable[str], hands: Sequence[DrawnHand]
) -> dict[str, list[dict[str, float]]]:
    """For each character that a font has, the probabilities of what is read of it, for each of the hands."""
    drawable = [char for char in characters if fonts.field(char) is not None]
    read: dict[str, list[dict[str, float]]] = {char: [] for char in drawable}
    rng = np.random.default_rng(0)
    for hand in hands:
        for group in (drawable[at : at + CHARACTERS_PER_STRIP] for at in range(0, len(drawable), CHARACTERS_PER_STRIP)):
            for character, believed in zip(group, _read(engine, fonts, group, hand, rng), strict=True):
                read[character].append(believed)
    return read


def _read(
    engine: Engine, fonts: FontChain, characters: Sequence[str], drawn: DrawnHand, rng: np.random.Generator
) -> list[dict[str, float]]:
    """For each of the characters, written into one column, the probabilities of what is read of it."""
    cells = -(-len(characters) // 2) * 3 + 1
    index_of = {cell: at for at, cell in enumerate([cell for cell in range(cells) if cell % 3][: len(characters)])}
    canvas = np.zeros((cells * CELL_HEIGHT_PX, COLUMN_WIDTH_PX), np.uint8)
    hand = Hand(weight=drawn.weight)
    for cell in range(cells):
        character = characters[index_of[cell]] if cell in index_of else AMONG[cell // 3 % len(AMONG)]
        field = fonts.field(character)
        if field is not None:
            em = (drawn.size * COLUMN_WIDTH_PX, min(drawn.size * COLUMN_WIDTH_PX * 0.9, 1.06 * CELL_HEIGHT_PX))
            write_glyph(canvas, field, (COLUMN_WIDTH_PX / 2, (cell + 0.5) * CELL_HEIGHT_PX), em, hand, rng)
    (reading,) = engine.read([_as_strip(canvas, drawn, cells, int(rng.integers(1 << 30)))])
    kept, _ = spikes_of(reading, engine.character_of, [])
    chances: list[dict[str, float]] = [{} for _ in characters]
    for spike in kept.spikes():
        at = index_of.get(int(spike.place * cells))
        if at is not None and spike.presence > 0.5:
            chances[at] = {text: float(np.exp(p)) for text, p in spike.believed.items()}
    return chances


def _as_strip(canvas: NDArray[np.uint8], drawn: DrawnHand, cells: int, seed: int) -> NDArray[np.uint8]:
    """The strip that is read of a column of ink."""
    grey = 255 - canvas if drawn.worn is None else age(canvas, None, None, drawn.worn, 1.0, [seed])
    length = round(cells * MAIN_PITCH * drawn.zoom)
    return np.asarray(cv2.resize(grey, (STRIP_WIDTH, length), interpolation=cv2.INTER_AREA), dtype=np.uint8)
