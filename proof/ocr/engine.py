"""What a recogniser is to this project: a strip image in, a reading out.

A strip is one run of one column cut upright from the page: grey, characters from top to bottom.
An engine that gives full posteriors fills `Reading.posterior`; one that gives text and a score alone
leaves it `None`, and what follows works with the characters and the score.
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
    """What read a page: kept with every run, and part of every cache key."""

    name: str
    version: str
    model: str
    checksum: str


@dataclass(frozen=True, slots=True)
class ReadCharacter:
    """One character as read. `start` and `end` are its extent along the strip, from 0 (top) to 1 (bottom).

    `alternatives` are (character, probability), most probable first, the one read included.
    """

    text: str
    start: float
    end: float
    probability: float
    alternatives: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Posterior:
    """What a CTC recogniser believes at each step along the strip, kept sparse.

    `classes` (steps x k, int32) and `log_probs` (steps x k, float32) are the k most probable classes of
    every step, most probable first; class 0 is the CTC blank. `floor` is the log-probability to take for
    a class that is not listed. `centres` (steps) is where each step lies along the strip, 0 to 1. `sought`
    (n) are classes that were asked for; `sought_log_probs` (steps x n) go on where `floor` ends.
    """

    classes: NDArray[np.int32]
    log_probs: NDArray[np.float32]
    centres: NDArray[np.float32]
    floor: float
    sought: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    sought_log_probs: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), np.float32))


@dataclass(frozen=True, slots=True)
class Reading:
    """What an engine read on one strip, characters from top to bottom."""

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
        """How many strips of one length are better given together; 1: one by one is as quick."""
        ...

    def knows(self, character: str) -> bool:
        """Whether the engine could ever read `character`."""
        ...

    def familiarity(self, character: str) -> float:
        """How well the engine was taught `character`, 0 (it does not know it) to 1."""
        ...

    def class_of(self, character: str) -> int | None:
        """The class number of `character` in a `Posterior`, or None where the engine lacks it."""
        ...

    def character_of(self, number: int) -> str:
        """The character of a class in a `Posterior`; empty for the blank."""
        ...

    def read(self, strips: Sequence[Pixels], sought: Sequence[str] = ()) -> list[Reading]:
        """Read each strip; the answer has the strips' order. Raises EngineError.

        `sought` are characters whose probability is wanted however small it is, from an engine that has it:
        of two glyphs that are both something else, it tells which one looks more like them.
        """
        ...


class WrappedEngine:
    """Another engine, asked through this one: all but what a subclass does otherwise is its own."""

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

    def familiarity(self, character: str) -> float:
        return self._engine.familiarity(character)

    def class_of(self, character: str) -> int | None:
        return self._engine.class_of(character)

    def character_of(self, number: int) -> str:
        return self._engine.character_of(number)

    def read(self, strips: Sequence[Pixels], sought: Sequence[str] = ()) -> list[Reading]:
        return self._engine.read(strips, sought)
