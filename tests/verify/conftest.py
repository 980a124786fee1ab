"""The recogniser as judging needs it: what it read on a strip once, it says again without looking."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from proof.ocr.engine import Pixels, Reading
from proof.ocr.ppocr import PPOCR
from proof.ocr.replay import strip_key


class ReadOnce(PPOCR):
    """The default recogniser, which is shown no strip twice for the same characters."""

    def __init__(self) -> None:
        super().__init__()
        self._said: dict[tuple[tuple[bytes, ...], tuple[str, ...]], list[Reading]] = {}

    def read(self, strips: Sequence[Pixels], sought: Sequence[str] = ()) -> list[Reading]:
        asked = (tuple(map(strip_key, strips)), tuple(sought))
        if asked not in self._said:
            self._said[asked] = super().read(strips, sought)
        return self._said[asked]


@pytest.fixture(scope="session")
def ppocr() -> PPOCR:
    return ReadOnce()
