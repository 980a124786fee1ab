"""`NullEngine`, which reads every strip as empty, and is the base of engines that cannot read an image again."""

from __future__ import annotations

from collections.abc import Sequence

from proof.ocr.engine import EngineIdentity, Pixels, Reading


class NullEngine:
    """Reads every strip as empty and knows no character."""

    identity = EngineIdentity("null", "1", "", "")
    at_once = 1

    def knows(self, character: str) -> bool:
        return False

    def class_of(self, character: str) -> int | None:
        return None

    def character_of(self, number: int) -> str:
        return ""

    def read(self, strips: Sequence[Pixels], sought: Sequence[str] = ()) -> list[Reading]:
        return [Reading(()) for _ in strips]
