"""What a recogniser reads where a character stands that it was never taught: what it says to it as fonts draw it.

楅, drawn in regular script, is read 福 with 0.98: then 福, read where 楅 is transcribed, says nothing against 楅.
What is known of one that it was taught is how surely it reads it as itself: 觀 always, 弆 in two cases of three.
`data/drawn.npz` and `data/sure.npz` are made by `scripts/make_drawn.py` for the recogniser that comes with the program.
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
"""Readings of a drawn character that are kept, the most probable."""

MIN_PROBABILITY = 0.05
"""A reading that is less probable is not kept."""


def place_of(codes: NDArray[np.uint32], character: str) -> int | None:
    """Where a character stands among code points in order; None where it is not among them."""
    if len(character) != 1:
        return None
    code = np.uint32(ord(character))  # a number of another type would have all codes made that type first
    at = int(np.searchsorted(codes, code))
    return at if at < len(codes) and codes[at] == code else None


@dataclass(frozen=True, slots=True)
class DrawnReadings:
    """For characters (`codes`, n, code points in order) what they are read as: `texts` (n x `MAX_READINGS`, code
    points, 0 for none) with their probabilities (`chances`, n x `MAX_READINGS`, 0 to 255), most probable first;
    `checksum` names the recogniser that read them."""

    checksum: str
    codes: NDArray[np.uint32]
    texts: NDArray[np.uint32]
    chances: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.codes)

    def readings(self, character: str) -> tuple[tuple[str, float], ...]:
        """What a character is read as when it is drawn, each with its probability; nothing where that is not known."""
        at = place_of(self.codes, character)
        if at is None:
            return ()
        pairs = zip(self.texts[at].tolist(), self.chances[at].tolist(), strict=True)
        return tuple((chr(text), chance / 255) for text, chance in pairs if text)

    def only(self, wanted: Callable[[str], bool]) -> DrawnReadings:
        """The same for some of the characters."""
        keep = np.array([wanted(chr(code)) for code in self.codes.tolist()], np.bool_)
        return DrawnReadings(self.checksum, self.codes[keep], self.texts[keep], self.chances[keep])

    def joined(self, other: DrawnReadings) -> DrawnReadings:
        """These and others of the same recogniser: of a character that both have what either reads, as probable as the
        surer of them has it."""
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
        """Of what was read for each character, with the probabilities, the `MAX_READINGS` most probable."""
        codes, texts, chances = [], [], []
        for character, believed in sorted(read.items()):
            best = sorted(
                ((p, text) for text, p in believed.items() if p >= MIN_PROBABILITY and len(text) == 1), reverse=True
            )
            if best := best[:MAX_READINGS]:
                codes.append(ord(character))
                texts.append([ord(text) for _, text in best] + [0] * (MAX_READINGS - len(best)))
                chances.append([round(255 * min(p, 1.0)) for p, _ in best] + [0] * (MAX_READINGS - len(best)))
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
        """The same as bytes."""
        self.save(file := BytesIO())
        return file.getvalue()

    @classmethod
    def unpacked(cls, data: bytes) -> DrawnReadings:
        """What `packed` gave."""
        return cls.load(BytesIO(data))


@dataclass(frozen=True, slots=True)
class SureForms:
    """How surely characters that a recogniser was taught (`codes`, n, code points in order) are read as themselves
    where fonts draw them, clear and worn (`chances`, n, 0 to 255); `checksum` names the recogniser."""

    checksum: str
    codes: NDArray[np.uint32]
    chances: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.codes)

    def chance(self, character: str) -> float | None:
        """How surely a character is read as itself, 0 to 1; None where that is not known."""
        at = place_of(self.codes, character)
        return None if at is None else float(self.chances[at]) / 255

    @classmethod
    def of(cls, checksum: str, chances: Mapping[str, float]) -> SureForms:
        """Of how surely each character is read as itself."""
        texts = sorted(chances)
        kept = [round(255 * min(chances[text], 1.0)) for text in texts]
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
    """Those that come with the program, for the recogniser of this checksum; none for any other."""
    known = SureForms.load(SHIPPED_SURE)
    return known if known.checksum == checksum else SureForms.of(checksum, {})


@cache
def shipped_readings(checksum: str) -> DrawnReadings:
    """Those that come with the program, for the recogniser of this checksum; none for any other."""
    known = DrawnReadings.load(SHIPPED)
    return known if known.checksum == checksum else replace(known.only(lambda _: False), checksum=checksum)
