"""What the recogniser reads in characters that it was not taught, drawn in a font of the project."""

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
    """What `engine` reads in the characters of the texts that it does not know, drawn in the font of the settings. None
    if no font is set, or if the engine cannot read drawings. Each character is drawn and read once; `cache` keeps the
    result. Raises FontError, EngineError."""
    font = settings.engine.font
    if font is None or isinstance(engine, ExternalEngine):
        return None
    wanted = {char for text in texts for char in set(text.text) if is_han(char) and not engine.knows(char)}
    sha = hashlib.sha256(font.read_bytes()).hexdigest()
    key = f"drawn {hashlib.sha256(f'{sha} {engine.identity.checksum}'.encode()).hexdigest()}"
    asked, readings = _unpacked(cache.get(key), engine)
    if missing := wanted - asked:
        readings = readings.joined(_read_drawn(font, engine, missing))
        cache.put(key, _packed(asked | wanted, readings))
    return readings


def _read_drawn(font: Path, engine: Engine, characters: Iterable[str]) -> DrawnReadings:
    """What `engine` reads in those characters that `font` has. Between them stand characters that it knows well, which
    may be drawn in another font."""
    from proof.facsimile.drawn import drawn_readings  # noqa: PLC0415 - few projects need it
    from proof.facsimile.fonts import FontChain  # noqa: PLC0415

    fonts = FontChain.of_installed([str(font)])
    return drawn_readings(engine, fonts, sorted(char for char in characters if fonts.face_of(char) == fonts.faces[0]))


def _packed(asked: Iterable[str], readings: DrawnReadings) -> bytes:
    """`asked` are the characters that were to be drawn, also those that the font lacks."""
    return json.dumps(sorted(asked)).encode() + b"\n" + readings.packed()


def _unpacked(data: bytes | None, engine: Engine) -> tuple[set[str], DrawnReadings]:
    """The characters that were to be drawn before, and what was read in them."""
    if data is None:
        return set(), DrawnReadings.of(engine.identity.checksum, {})
    asked, _, readings = data.partition(b"\n")
    return set(json.loads(asked)), DrawnReadings.unpacked(readings)
