"""What a recogniser reads where a character stands that it was never taught: what it says to it as fonts draw it.

楅, drawn in regular script, is read 福 with 0.98: then 福, read where 楅 is transcribed, says nothing against 楅.
`data/drawn.npz` is made by `scripts/make_drawn.py` for the recogniser that comes with the program.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SHIPPED = Path(__file__).with_name("data") / "drawn.npz"

MOST, LEAST = 4, 0.05
"""Of a character so many readings are kept, at most, and none that is less probable than this."""


@dataclass(frozen=True, slots=True)
class DrawnReadings:
    """For characters (`codes`, n, code points in order) what they are read as: `texts` (n x `MOST`, code points, 0 for
    none) with their probabilities (`chances`, n x `MOST`, 0 to 255), most probable first; `checksum` names the
    recogniser that read them."""

    checksum: str
    codes: NDArray[np.uint32]
    texts: NDArray[np.uint32]
    chances: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.codes)

    def readings(self, character: str) -> tuple[tuple[str, float], ...]:
        """What a character is read as when it is drawn, each with its probability; nothing where that is not known."""
        if len(character) != 1 or not len(self.codes):
            return ()
        at = int(np.searchsorted(self.codes, ord(character)))
        if at == len(self.codes) or self.codes[at] != ord(character):
            return ()
        pairs = zip(self.texts[at].tolist(), self.chances[at].tolist(), strict=True)
        return tuple((chr(text), chance / 255) for text, chance in pairs if text)

    def only(self, wanted: Callable[[str], bool]) -> DrawnReadings:
        """The same for some of the characters."""
        keep = np.array([wanted(chr(code)) for code in self.codes.tolist()], np.bool_)
        return DrawnReadings(self.checksum, self.codes[keep], self.texts[keep], self.chances[keep])

    def save(self, path: Path) -> None:
        np.savez_compressed(
            path, checksum=np.array(self.checksum), codes=self.codes, texts=self.texts, chances=self.chances
        )


@cache
def shipped_readings(checksum: str) -> DrawnReadings:
    """Those that come with the program, for the recogniser of this checksum; none for any other."""
    with np.load(SHIPPED) as data:
        known = DrawnReadings(str(data["checksum"]), data["codes"], data["texts"], data["chances"])
    return known if known.checksum == checksum else known.only(lambda _: False)
