"""How the recogniser reads the characters that it was not trained on, drawn in a font of the project."""

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
    """How `engine` reads the characters of the texts that it does not know, drawn in the font of the settings. None if
    no font is set, or if the engine cannot read drawings. Each character is drawn and read once; `cache` keeps the
    result. Raises FontError, EngineError."""
    font = settings.engine.font
    if font is None or isinstance(engine, ExternalEngine):
        return None
    unknown = {char for text in texts for char in set(text.text) if is_han(char) and not engine.knows(char)}
    sha = hashlib.sha256(font.read_bytes()).hexdigest()
    key = f"drawn {hashlib.sha256(f'{sha} {engine.identity.checksum}'.encode()).hexdigest()}"
    tried, readings = _unpacked(cache.get(key), engine)
    if untried := unknown - tried:
        readings = readings.joined(_read_drawn(font, engine, untried))
        cache.put(key, _packed(tried | unknown, readings))
    return readings


def _read_drawn(font: Path, engine: Engine, characters: Iterable[str]) -> DrawnReadings:
    """How `engine` reads those of the characters that `font` has. They are drawn among characters that it knows well;
    these may be drawn in another font."""
    from proof.facsimile.drawn import drawn_readings  # noqa: PLC0415 - few projects need it
    from proof.facsimile.fonts import FontChain  # noqa: PLC0415

    fonts = FontChain.of_installed([str(font)])
    return drawn_readings(engine, fonts, sorted(char for char in characters if fonts.face_of(char) == fonts.faces[0]))


def _packed(tried: Iterable[str], readings: DrawnReadings) -> bytes:
    """`tried` are the characters that were to be drawn, including those that the font lacks."""
    return json.dumps(sorted(tried)).encode() + b"\n" + readings.packed()


def _unpacked(data: bytes | None, engine: Engine) -> tuple[set[str], DrawnReadings]:
    """The characters that were to be drawn before, and their readings."""
    if data is None:
        return set(), DrawnReadings.of(engine.identity.checksum, {})
    tried, _, readings = data.partition(b"\n")
    return set(json.loads(tried)), DrawnReadings.unpacked(readings)
