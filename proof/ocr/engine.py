"""The protocol of recognisers, which take images of strips and give readings.

A strip is one run of one column cut upright from the page: grey, characters from top to bottom. An engine that gives
probabilities at every step sets `Reading.posterior`; one that gives only characters with a score leaves it None.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
"""A grey image, height x width, 0 black to 255 white."""


@dataclass(frozen=True, slots=True)
class EngineIdentity:
    """Which engine read a page. It is stored with every run, and is part of the keys of stored readings and results."""

    name: str
    version: str
    model: str
    checksum: str


@dataclass(frozen=True, slots=True)
class ReadCharacter:
    """One character as read. `start` and `end` are its extent along the strip, from 0 (top) to 1 (bottom).

    `alternatives` are characters with their probabilities, most probable first; `text` is among them.
    """

    text: str
    start: float
    end: float
    probability: float
    alternatives: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Posterior:
    """The output of a CTC recogniser at each step along the strip, with only the most probable classes.

    `classes` (steps x k, int32) and `log_probs` (steps x k, float32) are the k most probable classes of every step,
    most probable first; class 0 is the CTC blank. `floor` is the log-probability of classes that are not listed.
    `centres` (steps) is the place of each step along the strip, 0 (top) to 1. `sought` (n) are classes that the caller
    asked for, `sought_log_probs` (steps x n) their log-probabilities, which may be below `floor`.
    """

    classes: NDArray[np.int32]
    log_probs: NDArray[np.float32]
    centres: NDArray[np.float32]
    floor: float
    sought: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    sought_log_probs: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), np.float32))


@dataclass(frozen=True, slots=True)
class Reading:
    """The reading of one strip, characters from top to bottom."""

    characters: tuple[ReadCharacter, ...]
    posterior: Posterior | None = None

    @property
    def text(self) -> str:
        return "".join(character.text for character in self.characters)


class Engine(Protocol):
    """A recogniser of strips. Implementations are safe to call from several threads."""

    @property
    def identity(self) -> EngineIdentity: ...

    @property
    def at_once(self) -> int:
        """How many strips of one length the engine reads fastest in one batch; 1 where batches gain nothing."""
        ...

    def knows(self, character: str) -> bool:
        """Whether the engine can read `character` at all."""
        ...

    def class_of(self, character: str) -> int | None:
        """The class number of `character` in a `Posterior`, or None where the engine lacks it."""
        ...

    def character_of(self, number: int) -> str:
        """The character of a class in a `Posterior`; empty for the blank."""
        ...

    def read(self, strips: Sequence[Pixels], sought: Sequence[str] = ()) -> list[Reading]:
        """Read each strip; the readings come in the same order. Raises EngineError.

        `sought` are characters whose probability the engine gives, if it can, however small it is. It shows which of
        two glyphs resembles a character more, though both are other characters."""
        ...


class WrappedEngine:
    """Passes all calls on to another engine; the base of classes that override some of them."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def identity(self) -> EngineIdentity:
        return self._engine.identity

    @property
    def at_once(self) -> int:
        return self._engine.at_once

    def knows(self, character: str) -> bool:
        return self._engine.knows(character)

    def class_of(self, character: str) -> int | None:
        return self._engine.class_of(character)

    def character_of(self, number: int) -> str:
        return self._engine.character_of(number)

    def read(self, strips: Sequence[Pixels], sought: Sequence[str] = ()) -> list[Reading]:
        return self._engine.read(strips, sought)
