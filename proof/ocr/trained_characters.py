"""The characters on which a recogniser was trained. It is measured once and kept, because measuring loads the
network."""

from __future__ import annotations

import hashlib
import lzma
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import msgpack
import numpy as np
from numpy.typing import NDArray

from proof.errors import OutputError
from proof.ocr.engine import EngineIdentity

FORMAT_VERSION = 2
"""Version of the packed format; bytes of another version are ignored."""


class ByteStore(Protocol):
    """Keeps bytes under a key (`Store.cache`)."""

    def get(self, key: str) -> bytes | None: ...

    def put(self, key: str, data: bytes) -> None: ...


@dataclass(frozen=True)
class TrainedCharacters:
    """The character of each class of a recogniser, and whether the recogniser was trained on it. The character of the
    first class, the blank, is ''."""

    characters: tuple[str, ...]
    is_trained: NDArray[np.bool_]

    @cached_property
    def classes(self) -> dict[str, int]:
        """The class of each character."""
        return {text: number for number, text in enumerate(self.characters) if text}

    def knows(self, character: str) -> bool:
        number = self.classes.get(character)
        return number is not None and bool(self.is_trained[number])

    def packed(self) -> bytes:
        return lzma.compress(msgpack.packb([FORMAT_VERSION, "\n".join(self.characters), self.is_trained.tobytes()]))

    @classmethod
    def unpacked(cls, data: bytes) -> TrainedCharacters | None:
        """From packed bytes; None if these are damaged or of another version."""
        try:
            version, characters, is_trained = msgpack.unpackb(lzma.decompress(data))
        except (ValueError, TypeError, lzma.LZMAError):
            return None
        if version != FORMAT_VERSION:
            return None
        return cls(tuple(characters.split("\n")), np.frombuffer(is_trained, np.bool_))

    @classmethod
    def stored(cls, store: ByteStore | None, engine: EngineIdentity) -> TrainedCharacters | None:
        """Those that the store has for an engine; None if it has none or is None itself."""
        data = store.get(_key(engine)) if store else None
        return cls.unpacked(data) if data else None

    def keep(self, store: ByteStore | None, engine: EngineIdentity) -> None:
        """Keep these for later runs; if that fails, they will be measured again."""
        if store:
            with suppress(OutputError):
                store.put(_key(engine), self.packed())


class TrainedEngine(ABC):
    """The base of engines that read with a trained model."""

    @abstractmethod
    def trained_characters(self) -> TrainedCharacters:
        """The characters of the model's classes, and whether it was trained on each."""

    def knows(self, character: str) -> bool:
        """Whether the model was trained on `character`: it never saw an example of a good part of its dictionary."""
        return self.trained_characters().knows(character)

    def class_of(self, character: str) -> int | None:
        return self.trained_characters().classes.get(character)

    def character_of(self, number: int) -> str:
        return self.trained_characters().characters[number]


def _key(engine: EngineIdentity) -> str:
    parts = (engine.name, engine.version, engine.model, engine.checksum)
    return f"taught {hashlib.sha256(chr(31).join(parts).encode()).hexdigest()}"
