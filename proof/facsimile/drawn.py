"""Characters drawn in the fonts at hand and shown to a recogniser: what it reads where each of them stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from proof.facsimile.brush import Hand, write_glyph
from proof.facsimile.fonts import FontChain
from proof.images.opencv import cv2
from proof.layout.strips import MAIN_PITCH, STRIP_WIDTH
from proof.ocr.drawn import DrawnReadings
from proof.ocr.engine import Engine
from proof.ocr.spikes import spikes_of

CELL, COLUMN = 57, 104
"""Pixels: the height of a cell and the width of a column as they are drawn."""

GLYPHS = (0.66,)
"""The em square in widths of a column, for each of the hands that draw a character."""

AMONG = "之人其"
"""Well-known characters, one of which stands before every two that are drawn, and at the end."""

AT_ONCE = 12
"""Characters in one strip, an even number."""


def drawn_readings(engine: Engine, fonts: FontChain, characters: Iterable[str]) -> DrawnReadings:
    """What `engine` reads where `fonts` draw each of the characters; those that no font has are left out.
    Raises EngineError."""
    drawable = [one for one in characters if fonts.field(one) is not None]
    sums: dict[str, dict[str, float]] = {one: {} for one in drawable}
    rng = np.random.default_rng(0)
    for size in GLYPHS:
        for group in (drawable[at : at + AT_ONCE] for at in range(0, len(drawable), AT_ONCE)):
            for character, believed in zip(group, _read(engine, fonts, group, size, rng), strict=True):
                own = sums[character]
                for text, chance in believed.items():
                    own[text] = own.get(text, 0.0) + chance / len(GLYPHS)
    return DrawnReadings.of(engine.identity.checksum, sums)


def _read(
    engine: Engine, fonts: FontChain, characters: Sequence[str], size: float, rng: np.random.Generator
) -> list[dict[str, float]]:
    """For each of some characters, written into one column, what is believed of it."""
    cells = -(-len(characters) // 2) * 3 + 1
    own = {cell: at for at, cell in enumerate([cell for cell in range(cells) if cell % 3][: len(characters)])}
    canvas = np.zeros((cells * CELL, COLUMN), np.uint8)
    hand = Hand(weight=6.0)
    for cell in range(cells):
        character = characters[own[cell]] if cell in own else AMONG[cell // 3 % len(AMONG)]
        field = fonts.field(character)
        if field is not None:
            em = (size * COLUMN, min(size * COLUMN * 0.9, 1.06 * CELL))
            write_glyph(canvas, field, (COLUMN / 2, (cell + 0.5) * CELL), em, hand, rng)
    strip = cv2.resize(255 - canvas, (STRIP_WIDTH, cells * MAIN_PITCH), interpolation=cv2.INTER_AREA)
    (reading,) = engine.read([np.asarray(strip, dtype=np.uint8)])
    kept, _ = spikes_of(reading, engine.character_of, [])
    found: list[dict[str, float]] = [{} for _ in characters]
    for spike in kept.spikes():
        at = own.get(int(spike.place * cells))
        if at is not None and spike.presence > 0.5:
            found[at] = {text: float(np.exp(p)) for text, p in spike.believed.items()}
    return found
