"""Two engines without a model: one reads every strip as empty, the other repeats a recording of another engine.

A recording holds readings by the content of their strips, with exact posteriors, and the characters that the engine
knows. It is one compressed `.npz` of plain arrays, the same bytes for the same readings.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
import threading
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from proof.errors import EngineError, OutputError
from proof.ocr.engine import Engine, EngineIdentity, Pixels, Posterior, ReadCharacter, Reading, WrappedEngine

FORMAT = 2
"""Version of the recording format; a recording of another is refused."""

_NO_CLASS = -1

Arrays = dict[str, NDArray[Any]]


class NullEngine:
    """Reads every strip as empty and knows no character."""

    identity = EngineIdentity("null", "1", "", "")
    at_once = 1

    def knows(self, character: str) -> bool:
        return False

    def familiarity(self, character: str) -> float:
        return float(self.knows(character))

    def class_of(self, character: str) -> int | None:
        return None

    def character_of(self, number: int) -> str:
        return ""

    def read(self, strips: Sequence[Pixels], sought: Sequence[str] = ()) -> list[Reading]:
        return [Reading(()) for _ in strips]


@dataclass(frozen=True, slots=True)
class Recording:
    """Readings by `strip_key`, of the engine `identity`. `classes` maps the engine's characters to their classes in a
    posterior; `familiarity` says how well it was trained on those that it knows, up to 1."""

    identity: EngineIdentity
    readings: Mapping[bytes, Reading]
    classes: Mapping[str, int]
    familiarity: Mapping[str, float]


class ReplayEngine:
    """Repeats the readings of a recording; a strip that is not in it is an EngineError.

    Its identity is its own: `model` names the engine that was recorded, `checksum` is the SHA-256 of the
    recording. `recorded` is the identity of that engine.
    """

    at_once = 1

    def __init__(self, path: Path) -> None:
        self._path = path
        content = _content(path)
        self._recording = load_recording(path, content)
        self.recorded = self._recording.identity
        self.identity = EngineIdentity(
            "replay",
            str(FORMAT),
            f"{self.recorded.name} {self.recorded.model}".strip(),
            hashlib.sha256(content).hexdigest(),
        )
        self._characters = {number: text for text, number in self._recording.classes.items()}

    def knows(self, character: str) -> bool:
        return self.familiarity(character) > 0.0

    def familiarity(self, character: str) -> float:
        return self._recording.familiarity.get(character, 0.0)

    def class_of(self, character: str) -> int | None:
        return self._recording.classes.get(character)

    def character_of(self, number: int) -> str:
        return self._characters.get(number, "")

    def read(self, strips: Sequence[Pixels], sought: Sequence[str] = ()) -> list[Reading]:
        return [self._reading(strip) for strip in strips]

    def _reading(self, strip: Pixels) -> Reading:
        try:
            return self._recording.readings[strip_key(strip)]
        except KeyError:
            raise EngineError(
                f"{self._path}: no reading of this strip of {strip.shape[1]} x {strip.shape[0]} pixels: "
                "the image or the way it is cut has changed; record it again"
            ) from None


class RecordingEngine(WrappedEngine):
    """Reads with another engine and records its readings; `save` and the end of a `with` block write the recording. An
    existing recording of the same engine is extended."""

    def __init__(self, engine: Engine, path: Path) -> None:
        super().__init__(engine)
        self._path = path
        self._lock = threading.Lock()
        self._readings: dict[bytes, Reading] = {}
        if path.exists():
            earlier = load_recording(path)
            if earlier.identity != engine.identity:
                raise EngineError(f"{path}: is a recording of {earlier.identity}; delete it, or name another file")
            self._readings.update(earlier.readings)

    def read(self, strips: Sequence[Pixels], sought: Sequence[str] = ()) -> list[Reading]:
        readings = super().read(strips, sought)
        with self._lock:
            self._readings.update((strip_key(strip), read) for strip, read in zip(strips, readings, strict=True))
        return readings

    def save(self) -> None:
        """Write the recording. Raises OutputError, and then leaves an existing file unchanged."""
        with self._lock:
            readings = dict(self._readings)
        # The protocol lists no characters, so that every code point is asked for: half a second.
        letters = [chr(code) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF]
        classes = {letter: number for letter in letters if (number := self._engine.class_of(letter)) is not None}
        familiar = {letter: self._engine.familiarity(letter) for letter in letters if self._engine.knows(letter)}
        save_recording(self._path, Recording(self._engine.identity, readings, classes, familiar))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.save()


def record(engine: Engine, path: Path) -> RecordingEngine:
    """An engine that records the readings of `engine`: `with record(engine, path) as engine: ...`."""
    return RecordingEngine(engine, path)


def strip_key(strip: Pixels) -> bytes:
    """The key of a strip: a hash of its size and all its pixels."""
    digest = hashlib.blake2b(f"{strip.shape} {strip.dtype.str} ".encode(), digest_size=16)
    digest.update(np.ascontiguousarray(strip).tobytes())
    return digest.digest()


def save_recording(path: Path, recording: Recording) -> None:
    """Write a recording atomically. Raises OutputError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                np.savez_compressed(stream, **_packed(recording))  # type: ignore[arg-type] # the stubs take a key for an option
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OutputError(f"{path}: the recording cannot be written: {error.strerror or error}") from error


def load_recording(path: Path, content: bytes | None = None) -> Recording:
    """Read a recording (from `content`, where its bytes are at hand). Raises EngineError."""
    try:
        with np.load(io.BytesIO(_content(path) if content is None else content), allow_pickle=False) as stored:
            return _unpacked({name: stored[name] for name in stored.files})
    except (OSError, ValueError, KeyError, IndexError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise EngineError(f"{path}: not a recording of format {FORMAT}, or damaged; record it again") from error


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise EngineError(f"{path}: the recording cannot be read: {error.strerror or error}") from error


def _packed(recording: Recording) -> Arrays:
    """A recording as arrays: lists of different lengths concatenated, with their lengths; strings by number."""
    keys = sorted(recording.readings)
    readings = [recording.readings[key] for key in keys]
    characters = [character for reading in readings for character in reading.characters]
    alternatives = [pair for character in characters for pair in character.alternatives]
    posteriors = [reading.posterior for reading in readings if reading.posterior]
    strings = sorted({c.text for c in characters} | {text for text, _ in alternatives})
    number = {text: index for index, text in enumerate(strings)}
    letters = sorted(recording.classes.keys() | recording.familiarity.keys())
    classes = [recording.classes.get(letter, _NO_CLASS) for letter in letters]
    header = {"format": FORMAT, "identity": asdict(recording.identity), "strings": strings, "letters": letters}
    return {
        "header": np.frombuffer(json.dumps(header).encode(), np.uint8),
        "keys": np.frombuffer(b"".join(keys), np.uint8),
        "classes": np.array(classes, np.int32),
        "familiarity": np.array([recording.familiarity.get(letter, 0.0) for letter in letters], np.float64),
        "counts": np.array([len(reading.characters) for reading in readings], np.int32),
        "texts": np.array([number[c.text] for c in characters], np.int32),
        "figures": np.array([(c.start, c.end, c.probability) for c in characters], np.float64).reshape(-1, 3),
        "alternative_counts": np.array([len(c.alternatives) for c in characters], np.int32),
        "alternative_texts": np.array([number[text] for text, _ in alternatives], np.int32),
        "alternative_figures": np.array([figure for _, figure in alternatives], np.float64),
        "has_posterior": np.array([reading.posterior is not None for reading in readings], np.bool_),
        "shapes": np.array([posterior.classes.shape for posterior in posteriors], np.int32).reshape(-1, 2),
        "floors": np.array([posterior.floor for posterior in posteriors], np.float64),
        "step_classes": _joined([posterior.classes for posterior in posteriors], np.int32),
        "step_log_probs": _joined([posterior.log_probs for posterior in posteriors], np.float32),
        "step_centres": _joined([posterior.centres for posterior in posteriors], np.float32),
        "sought_counts": np.array([posterior.sought.size for posterior in posteriors], np.int32),
        "sought": _joined([posterior.sought for posterior in posteriors], np.int32),
        "sought_log_probs": _joined([posterior.sought_log_probs for posterior in posteriors], np.float32),
    }


def _unpacked(arrays: Arrays) -> Recording:
    header = json.loads(arrays["header"].tobytes())
    if header["format"] != FORMAT:
        raise ValueError(f"format {header['format']}")
    raw = arrays["keys"].tobytes()
    keys = [raw[start : start + 16] for start in range(0, len(raw), 16)]
    posteriors = iter(_posteriors(arrays))
    characters = _characters(arrays, header["strings"])
    readings = {
        key: Reading(tuple(characters[start:end]), next(posteriors) if has_posterior else None)
        for key, (start, end), has_posterior in zip(
            keys, _spans(arrays["counts"]), arrays["has_posterior"].tolist(), strict=True
        )
    }
    letters, classes = header["letters"], arrays["classes"].tolist()
    familiar = arrays["familiarity"].tolist()
    return Recording(
        EngineIdentity(**header["identity"]),
        MappingProxyType(readings),
        MappingProxyType({text: number for text, number in zip(letters, classes, strict=True) if number != _NO_CLASS}),
        MappingProxyType({text: degree for text, degree in zip(letters, familiar, strict=True) if degree > 0.0}),
    )


def _characters(arrays: Arrays, strings: list[str]) -> list[ReadCharacter]:
    figures = arrays["alternative_figures"].tolist()
    pairs = [
        (strings[text], figure) for text, figure in zip(arrays["alternative_texts"].tolist(), figures, strict=True)
    ]
    return [
        ReadCharacter(strings[text], top, bottom, probability, tuple(pairs[start:end]))
        for text, (top, bottom, probability), (start, end) in zip(
            arrays["texts"].tolist(), arrays["figures"].tolist(), _spans(arrays["alternative_counts"]), strict=True
        )
    ]


def _posteriors(arrays: Arrays) -> Iterator[Posterior]:
    shapes = [(int(steps), int(kept)) for steps, kept in arrays["shapes"]]
    cells = _spans(np.array([steps * kept for steps, kept in shapes], np.int64))
    steps = _spans(np.array([steps for steps, _ in shapes], np.int64))
    counts = arrays["sought_counts"].tolist()
    sought = _spans(arrays["sought_counts"])
    far = _spans(np.array([shape[0] * count for shape, count in zip(shapes, counts, strict=True)], np.int64))
    for number, (shape, floor) in enumerate(zip(shapes, arrays["floors"].tolist(), strict=True)):
        (start, end), (first, last) = cells[number], steps[number]
        yield Posterior(
            arrays["step_classes"][start:end].reshape(shape),
            arrays["step_log_probs"][start:end].reshape(shape),
            arrays["step_centres"][first:last],
            floor,
            arrays["sought"][slice(*sought[number])],
            arrays["sought_log_probs"][slice(*far[number])].reshape(shape[0], counts[number]),
        )


def _spans(counts: NDArray[Any]) -> list[tuple[int, int]]:
    """Start and end of each of several concatenated lists."""
    return list(pairwise(accumulate((int(count) for count in counts), initial=0)))


def _joined(parts: Sequence[NDArray[Any]], kind: type[np.generic]) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, kind), *(part.astype(kind, copy=False).ravel() for part in parts)])
