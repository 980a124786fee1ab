"""How a recogniser reads characters drawn from fonts: as which other characters it reads those that it does not know,
and how often it reads those that it knows as themselves.

楅, which it does not know, is read as 福 with probability 0.98 when drawn in regular script, so that a reading 福 is no
evidence against a transcribed 楅. Of known characters, 觀 is always read as itself, 弆 in two cases of three.
`scripts/make_drawn.py` makes `data/drawn.npz` and `data/sure.npz` for the recogniser that comes with the program.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import IO, Any, Self

import numpy as np
from numpy.typing import NDArray

SHIPPED = Path(__file__).with_name("data") / "drawn.npz"
SHIPPED_SURE = SHIPPED.with_name("sure.npz")

MAX_READINGS = 4
"""Maximum number of readings that are kept of a drawn character: the most probable ones."""

MIN_PROBABILITY = 0.05
"""Probability below which a reading is not kept."""

SMALL_PX, LARGE_PX = 24, 57
"""The heights, in pixels, at which characters are drawn small and large."""

CHANCES_PER_PROBABILITY = 255
"""Probabilities, 0 to 1, are stored as chances: bytes in units of 1 / `CHANCES_PER_PROBABILITY`."""


def _as_chance(probability: float) -> int:
    return round(CHANCES_PER_PROBABILITY * min(probability, 1.0))


@dataclass(frozen=True, slots=True)
class CharacterTable:
    """What is known of n characters: `codes` (n) are these as sorted code points, the arrays of subclasses have a row
    for each. `checksum` is that of the recogniser."""

    checksum: str
    codes: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.codes)

    def index(self, character: str) -> int | None:
        """The index of a character; None if it is not listed."""
        if len(character) != 1:
            return None
        code = np.uint32(ord(character))  # with a number of another type, numpy would convert all codes first
        index = int(np.searchsorted(self.codes, code))
        return index if index < len(self.codes) and self.codes[index] == code else None

    def for_recogniser(self, checksum: str) -> Self:
        """The table; an empty one if it was made for another recogniser than that of `checksum`."""
        if checksum == self.checksum:
            return self
        empty = {field.name: getattr(self, field.name)[:0] for field in fields(self) if field.name != "checksum"}
        return replace(self, checksum=checksum, **empty)

    def save(self, file: Path | IO[bytes]) -> None:
        arrays: dict[str, Any] = {field.name: np.asarray(getattr(self, field.name)) for field in fields(self)}
        np.savez_compressed(file, **arrays)

    @classmethod
    def load(cls, file: Path | IO[bytes]) -> Self:
        """What `save` kept."""
        with np.load(file) as data:
            checksum, *arrays = (data[field.name] for field in fields(cls))
        return cls(str(checksum), *arrays)


@dataclass(frozen=True, slots=True)
class DrawnReadings(CharacterTable):
    """The readings of drawn characters: `texts` (n x `MAX_READINGS`, code points, 0 for none), most probable first, and
    the probabilities of these, `chances` (n x `MAX_READINGS`)."""

    texts: NDArray[np.uint32]
    chances: NDArray[np.uint8]

    def readings(self, character: str) -> tuple[tuple[str, float], ...]:
        """The readings of a drawn character with their probabilities; empty if the character is not listed."""
        index = self.index(character)
        if index is None:
            return ()
        pairs = zip(self.texts[index].tolist(), self.chances[index].tolist(), strict=True)
        return tuple((chr(text), chance / CHANCES_PER_PROBABILITY) for text, chance in pairs if text)

    def joined(self, other: DrawnReadings) -> DrawnReadings:
        """These readings and those of `other`, of the same recogniser. If both have a reading of a character, the
        higher probability is kept."""
        if not len(other):
            return self
        joined = {chr(code): dict(self.readings(chr(code))) for code in other.codes.tolist()}
        for character, readings in joined.items():
            for text, probability in other.readings(character):
                readings[text] = max(probability, readings.get(text, 0.0))
        new = DrawnReadings.of(self.checksum, joined)
        kept = np.array([chr(code) not in joined for code in self.codes.tolist()], np.bool_)
        codes = np.concatenate([self.codes[kept], new.codes])
        texts = np.concatenate([self.texts[kept], new.texts])
        chances = np.concatenate([self.chances[kept], new.chances])
        order = np.argsort(codes)
        return DrawnReadings(self.checksum, codes[order], texts[order], chances[order])

    @classmethod
    def of(cls, checksum: str, readings: Mapping[str, Mapping[str, float]]) -> DrawnReadings:
        """From the readings of each character with their probabilities; the `MAX_READINGS` most probable are kept."""
        codes, texts, chances = [], [], []
        for character, probabilities in sorted(readings.items()):
            ranked = sorted(((probability, text) for text, probability in probabilities.items()), reverse=True)
            likely = [(text, p) for p, text in ranked if p >= MIN_PROBABILITY and len(text) == 1][:MAX_READINGS]
            if likely:
                padding = [0] * (MAX_READINGS - len(likely))
                codes.append(ord(character))
                texts.append([ord(text) for text, _ in likely] + padding)
                chances.append([_as_chance(probability) for _, probability in likely] + padding)
        shape = (len(codes), MAX_READINGS)
        return cls(
            checksum,
            np.array(codes, np.uint32),
            np.array(texts, np.uint32).reshape(shape),
            np.array(chances, np.uint8).reshape(shape),
        )

    def packed(self) -> bytes:
        """The readings as bytes, for `unpacked`."""
        self.save(file := BytesIO())
        return file.getvalue()

    @classmethod
    def unpacked(cls, data: bytes) -> DrawnReadings:
        """The readings from bytes that `packed` gave."""
        return cls.load(BytesIO(data))


@dataclass(frozen=True, slots=True)
class SureForms(CharacterTable):
    """How often a recogniser reads a drawn character that it knows as itself. `chances` (n x 2) are the probabilities:
    large, from clear and worn images, and small."""

    chances: NDArray[np.uint8]

    def chance(self, character: str, size: float = LARGE_PX) -> float | None:
        """The probability, 0 to 1, that a character drawn `size` pixels high is read as itself; None if it is not
        listed."""
        index = self.index(character)
        if index is None:
            return None
        chance = np.interp(size, (SMALL_PX, LARGE_PX), self.chances[index, ::-1])
        return float(chance) / CHANCES_PER_PROBABILITY

    @classmethod
    def of(cls, checksum: str, probabilities: Mapping[str, tuple[float, float]]) -> SureForms:
        """From the probabilities of each character, drawn large and small."""
        characters = sorted(probabilities)
        codes = np.array([ord(character) for character in characters], np.uint32)
        chances = np.array([list(map(_as_chance, probabilities[character])) for character in characters], np.uint8)
        return cls(checksum, codes, chances.reshape(-1, 2))


@cache
def shipped_sure_forms(checksum: str) -> SureForms:
    """The sure forms that come with the program."""
    return SureForms.load(SHIPPED_SURE).for_recogniser(checksum)


@cache
def shipped_readings(checksum: str) -> DrawnReadings:
    """The readings that come with the program."""
    return DrawnReadings.load(SHIPPED).for_recogniser(checksum)
