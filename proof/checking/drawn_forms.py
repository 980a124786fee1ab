"""What the recogniser reads where a project's font draws characters that it was not taught."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from proof.ocr.drawn import DrawnReadings
from proof.ocr.engine import Engine
from proof.ocr.external.folder import ExternalEngine
from proof.settings.config import Settings
from proof.store.cache import Cache
from proof.text.model import is_han
from proof.text.transcription import Transcription


def drawn_forms(
    settings: Settings, engine: Engine, texts: Iterable[Transcription], cache: Cache
) -> DrawnReadings | None:
    """What `engine` reads where the font of the settings draws the characters of the texts that the engine does not
    know; None without such a font. Each character is drawn and read once; `cache` keeps the result. Raises FontError,
    EngineError."""
    font = settings.engine.font
    if font is None or isinstance(engine, ExternalEngine):
        return None
    wanted = {char for text in texts for char in set(text.text) if is_han(char) and not engine.knows(char)}
    sha = hashlib.sha256(font.read_bytes()).hexdigest()
    key = f"drawn {hashlib.sha256(f'{sha} {engine.identity.checksum}'.encode()).hexdigest()}"
    drawn, readings = _unpacked(cache.get(key), engine)
    if missing := wanted - drawn:
        readings = readings.joined(_drawn(font, engine, missing))
        cache.put(key, _packed(drawn | wanted, readings))
    return readings


def _drawn(font: Path, engine: Engine, characters: Iterable[str]) -> DrawnReadings:
    """What is read of those characters that `font` has; the well-known ones drawn between them may be of another
    font."""
    from proof.facsimile.drawn import drawn_readings  # noqa: PLC0415 - what few projects need
    from proof.facsimile.fonts import FontChain  # noqa: PLC0415

    fonts = FontChain.of_installed([str(font)])
    return drawn_readings(engine, fonts, sorted(char for char in characters if fonts.face_of(char) == fonts.faces[0]))


def _packed(drawn: Iterable[str], readings: DrawnReadings) -> bytes:
    return json.dumps(sorted(drawn)).encode() + b"\n" + readings.packed()


def _unpacked(data: bytes | None, engine: Engine) -> tuple[set[str], DrawnReadings]:
    """The characters that were drawn, and what was read of them."""
    if data is None:
        return set(), DrawnReadings.of(engine.identity.checksum, {})
    drawn, _, readings = data.partition(b"\n")
    return set(json.loads(drawn)), DrawnReadings.unpacked(readings)
