"""Two engines without a model: `NullEngine` reads every strip as empty, `ReplayEngine` repeats a recording of another.

A recording holds readings by the pixels of their strips, with exact posteriors, and the characters that the engine
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
import zlib
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
"""Version of the recording format; a recording of another version is refused."""

KEY_BYTES = 16
"""Length of a `strip_key`."""

_NO_CLASS = -1
"""Stands in a recording for the class of a character that has none."""

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
    """Readings of the engine `identity` by `strip_key`. `classes` are the classes of its characters in a posterior;
    `familiarity` is how well it was trained on each character that it knows, up to 1."""

    identity: EngineIdentity
    readings: Mapping[bytes, Reading]
    classes: Mapping[str, int]
    familiarity: Mapping[str, float]


class ReplayEngine:
    """Repeats the readings of a recording; `read` raises EngineError for a strip that is not in it.

    `recorded` is the identity of the engine that was recorded. In the identity of this engine, `model` names that
    engine, and `checksum` is the SHA-256 of the recording.
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
    existing recording of the same engine is extended; one of another engine raises EngineError."""

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
        # An engine cannot list its characters, so that every code point is tried, for half a second.
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


def strip_key(strip: Pixels) -> bytes:
    """The key of a strip: a hash of its size and all its pixels."""
    digest = hashlib.blake2b(f"{strip.shape} {strip.dtype.str} ".encode(), digest_size=KEY_BYTES)
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


_DAMAGE = (OSError, ValueError, KeyError, IndexError, TypeError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)
"""What reading a damaged archive of arrays raises; RuntimeError where a member seems encrypted or compressed oddly."""


def load_recording(path: Path, content: bytes | None = None) -> Recording:
    """Read a recording; `content` are its bytes, where they are known. Raises EngineError."""
    try:
        with np.load(io.BytesIO(_content(path) if content is None else content), allow_pickle=False) as stored:
            return _unpacked({name: stored[name] for name in stored.files})
    except _DAMAGE as error:
        raise EngineError(f"{path}: not a recording of format {FORMAT}, or damaged; record it again") from error


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise EngineError(f"{path}: the recording cannot be read: {error.strerror or error}") from error


def _packed(recording: Recording) -> Arrays:
    """A recording as arrays: lists of different lengths one after the other, with their lengths; and each string by its
    number in a list of all."""
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
        "alternative_figures": np.array([probability for _, probability in alternatives], np.float64),
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
    keys_joined = arrays["keys"].tobytes()
    keys = [keys_joined[start : start + KEY_BYTES] for start in range(0, len(keys_joined), KEY_BYTES)]
    if np.count_nonzero(arrays["has_posterior"]) != len(arrays["shapes"]):
        raise ValueError("the posteriors are not as many as the readings that have one")
    posteriors = _posteriors(arrays)
    characters = _parts(_characters(arrays, header["strings"]), arrays["counts"].tolist())
    readings = {
        key: Reading(tuple(read), next(posteriors) if has_posterior else None)
        for key, read, has_posterior in zip(keys, characters, arrays["has_posterior"].tolist(), strict=True)
    }
    letters, classes = header["letters"], arrays["classes"].tolist()
    familiarity = arrays["familiarity"].tolist()
    return Recording(
        EngineIdentity(**header["identity"]),
        MappingProxyType(readings),
        MappingProxyType({text: number for text, number in zip(letters, classes, strict=True) if number != _NO_CLASS}),
        MappingProxyType({text: degree for text, degree in zip(letters, familiarity, strict=True) if degree > 0.0}),
    )


def _characters(arrays: Arrays, strings: list[str]) -> list[ReadCharacter]:
    """The characters of all readings, one after the other."""
    texts = [strings[number] for number in arrays["alternative_texts"].tolist()]
    alternatives = _parts(
        list(zip(texts, arrays["alternative_figures"].tolist(), strict=True)), arrays["alternative_counts"].tolist()
    )
    return [
        ReadCharacter(strings[number], top, bottom, probability, tuple(others))
        for number, (top, bottom, probability), others in zip(
            arrays["texts"].tolist(), arrays["figures"].tolist(), alternatives, strict=True
        )
    ]


def _posteriors(arrays: Arrays) -> Iterator[Posterior]:
    """The posteriors of those readings that have one."""
    shapes, sought_counts = arrays["shapes"].tolist(), arrays["sought_counts"].tolist()
    steps = [count for count, _ in shapes]
    cells = [count * kept for count, kept in shapes]
    sought_cells = [count * sought for count, sought in zip(steps, sought_counts, strict=True)]
    posteriors = zip(
        shapes,
        _parts(arrays["step_classes"], cells),
        _parts(arrays["step_log_probs"], cells),
        _parts(arrays["step_centres"], steps),
        arrays["floors"].tolist(),
        _parts(arrays["sought"], sought_counts),
        _parts(arrays["sought_log_probs"], sought_cells),
        strict=True,
    )
    for shape, classes, log_probs, centres, floor, sought, sought_log_probs in posteriors:
        far = sought_log_probs.reshape(shape[0], sought.size)
        yield Posterior(classes.reshape(shape), log_probs.reshape(shape), centres, floor, sought, far)


def _parts(joined: Any, counts: Sequence[int]) -> list[Any]:
    """The lists or arrays of these lengths that stand one after the other in `joined`."""
    return [joined[start:end] for start, end in pairwise(accumulate(counts, initial=0))]


def _joined(parts: Sequence[NDArray[Any]], kind: type[np.generic]) -> NDArray[Any]:
    """The values of several arrays one after the other."""
    return np.concatenate([np.zeros(0, kind), *(part.astype(kind, copy=False).ravel() for part in parts)])
