"""How a recogniser reads characters drawn from fonts: it reads characters that it does not know as other ones, and
characters that it knows more or less often as themselves.

楅, which it does not know, is read as 福 with probability 0.98 when drawn in regular script, so that a reading 福 is no
evidence against a transcribed 楅. Of known characters, 觀 is always read as itself, 弆 in two cases of three.
`scripts/make_drawn.py` makes `data/drawn.npz` and `data/sure.npz` for the recogniser that comes with the program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

SHIPPED = Path(__file__).with_name("data") / "drawn.npz"
SHIPPED_SURE = SHIPPED.with_name("sure.npz")

MAX_READINGS = 4
"""Maximum number of readings that are kept of a drawn character: the most probable ones."""

MIN_PROBABILITY = 0.05
"""Probability below which a reading is not kept."""

CERTAIN_CHANCE = 255
"""The stored chance, one byte, of probability 1."""


def place_of(codes: NDArray[np.uint32], character: str) -> int | None:
    """The index of a character in sorted code points; None if it is not there."""
    if len(character) != 1:
        return None
    code = np.uint32(ord(character))  # with a number of another type, numpy would convert all codes first
    at = int(np.searchsorted(codes, code))
    return at if at < len(codes) and codes[at] == code else None


@dataclass(frozen=True, slots=True)
class DrawnReadings:
    """The readings of drawn characters. `codes` (n) are the characters as sorted code points, `texts` (n x
    `MAX_READINGS`, code points, 0 for none) their readings, most probable first, and `chances` (n x `MAX_READINGS`, 0
    to `CERTAIN_CHANCE`) the probabilities. `checksum` is that of the recogniser."""

    checksum: str
    codes: NDArray[np.uint32]
    texts: NDArray[np.uint32]
    chances: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.codes)

    def readings(self, character: str) -> tuple[tuple[str, float], ...]:
        """The readings of a drawn character with their probabilities; empty if the character is not listed."""
        at = place_of(self.codes, character)
        if at is None:
            return ()
        pairs = zip(self.texts[at].tolist(), self.chances[at].tolist(), strict=True)
        return tuple((chr(text), chance / CERTAIN_CHANCE) for text, chance in pairs if text)

    def only(self, wanted: Callable[[str], bool]) -> DrawnReadings:
        """The readings of only those characters for which `wanted` is true."""
        keep = np.array([wanted(chr(code)) for code in self.codes.tolist()], np.bool_)
        return DrawnReadings(self.checksum, self.codes[keep], self.texts[keep], self.chances[keep])

    def joined(self, other: DrawnReadings) -> DrawnReadings:
        """These readings and those of `other`, of the same recogniser; of equal ones the higher probability is kept."""
        if not len(other):
            return self
        rows = {chr(code): dict(self.readings(chr(code))) for code in other.codes.tolist()}
        for character, row in rows.items():
            for text, chance in other.readings(character):
                row[text] = max(chance, row.get(text, 0.0))
        own, new = self.only(lambda known: known not in rows), DrawnReadings.of(self.checksum, rows)
        order = np.argsort(codes := np.concatenate([own.codes, new.codes]))
        texts, chances = np.concatenate([own.texts, new.texts]), np.concatenate([own.chances, new.chances])
        return DrawnReadings(self.checksum, codes[order], texts[order], chances[order])

    @classmethod
    def of(cls, checksum: str, read: Mapping[str, Mapping[str, float]]) -> DrawnReadings:
        """From the readings of each character with their probabilities; the `MAX_READINGS` most probable are kept."""
        codes, texts, chances = [], [], []
        for character, readings in sorted(read.items()):
            best = sorted(
                ((p, text) for text, p in readings.items() if p >= MIN_PROBABILITY and len(text) == 1), reverse=True
            )
            if best := best[:MAX_READINGS]:
                codes.append(ord(character))
                texts.append([ord(text) for _, text in best] + [0] * (MAX_READINGS - len(best)))
                chances.append(
                    [round(CERTAIN_CHANCE * min(p, 1.0)) for p, _ in best] + [0] * (MAX_READINGS - len(best))
                )
        shape = (len(codes), MAX_READINGS)
        return cls(
            checksum,
            np.array(codes, np.uint32),
            np.array(texts, np.uint32).reshape(shape),
            np.array(chances, np.uint8).reshape(shape),
        )

    def save(self, file: Path | IO[bytes]) -> None:
        np.savez_compressed(
            file, checksum=np.array(self.checksum), codes=self.codes, texts=self.texts, chances=self.chances
        )

    @classmethod
    def load(cls, file: Path | IO[bytes]) -> DrawnReadings:
        """What `save` kept."""
        with np.load(file) as data:
            return cls(str(data["checksum"]), data["codes"], data["texts"], data["chances"])

    def packed(self) -> bytes:
        """The readings as bytes, for `unpacked`."""
        self.save(file := BytesIO())
        return file.getvalue()

    @classmethod
    def unpacked(cls, data: bytes) -> DrawnReadings:
        """The readings from bytes that `packed` gave."""
        return cls.load(BytesIO(data))


@dataclass(frozen=True, slots=True)
class SureForms:
    """How often a recogniser reads drawn characters that it knows as themselves. `codes` (n) are the characters as
    sorted code points, `chances` (n, 0 to `CERTAIN_CHANCE`) the shares over clear and worn images; `checksum` is that
    of the recogniser."""

    checksum: str
    codes: NDArray[np.uint32]
    chances: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.codes)

    def chance(self, character: str) -> float | None:
        """The probability, 0 to 1, that a drawn character is read as itself; None if it is not listed."""
        at = place_of(self.codes, character)
        return None if at is None else float(self.chances[at]) / CERTAIN_CHANCE

    @classmethod
    def of(cls, checksum: str, chances: Mapping[str, float]) -> SureForms:
        """From the probability of each character."""
        texts = sorted(chances)
        kept = [round(CERTAIN_CHANCE * min(chances[text], 1.0)) for text in texts]
        return cls(checksum, np.array([ord(text) for text in texts], np.uint32), np.array(kept, np.uint8))

    def save(self, file: Path) -> None:
        np.savez_compressed(file, checksum=np.array(self.checksum), codes=self.codes, chances=self.chances)

    @classmethod
    def load(cls, file: Path) -> SureForms:
        """What `save` kept."""
        with np.load(file) as data:
            return cls(str(data["checksum"]), data["codes"], data["chances"])


@cache
def shipped_sure_forms(checksum: str) -> SureForms:
    """The sure forms that come with the program; empty unless the recogniser of this checksum comes with it."""
    known = SureForms.load(SHIPPED_SURE)
    return known if known.checksum == checksum else SureForms.of(checksum, {})


@cache
def shipped_readings(checksum: str) -> DrawnReadings:
    """The readings that come with the program; empty unless the recogniser of this checksum comes with it."""
    known = DrawnReadings.load(SHIPPED)
    return known if known.checksum == checksum else replace(known.only(lambda _: False), checksum=checksum)
