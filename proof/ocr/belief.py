"""The probabilities of the characters that a glyph may be: of those that the engine lists and, on demand, of others.

The probability of an unlisted character matters only where the text has a character that no glyph resembles: it tells
which glyph resembles it most. It is computed only then, so a changed text can mostly be checked from stored readings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import exp, inf, log
from typing import Any, TypeVar, overload

MIN_PROBABILITY = 1e-5
"""The least probability that an engine lists."""

FLOOR = log(MIN_PROBABILITY)
"""Log-probability, in nats, of a character that the engine does not list."""

Default = TypeVar("Default")
"""Type of the default of `Belief.get`."""


class Belief(Mapping[str, float]):
    """Log-probabilities, in nats, of the characters that are `listed` or `sought`, given that there is a glyph. `rest`
    computes that of a sought character that is not listed; none of these is above `top`."""

    __slots__ = ("_best", "_rest", "_sought", "_top", "listed")

    def __init__(
        self,
        listed: dict[str, float],
        sought: Mapping[str, None] | None = None,
        rest: Callable[[str], float] = lambda _: FLOOR,
        top: float = -inf,
    ) -> None:
        self.listed = listed
        self._sought = sought or {}
        self._rest = rest
        self._top = top
        self._best: str | None = None

    def __getitem__(self, character: str) -> float:
        value = self.get(character)
        if value is None:
            raise KeyError(character)
        return value

    @overload
    def get(self, character: str, /) -> float | None: ...

    @overload
    def get(self, character: str, /, default: float | Default) -> float | Default: ...

    def get(self, character: str, /, default: Any = None) -> Any:
        value = self.listed.get(character)
        if value is not None:
            return value
        return self._rest(character) if character in self._sought else default

    def __iter__(self) -> Iterator[str]:
        yield from self.listed
        yield from (character for character in self._sought if character not in self.listed)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        return bool(self.listed or self._sought)

    def __contains__(self, character: object) -> bool:
        return character in self.listed or character in self._sought

    @property
    def best(self) -> str:
        """The most probable listed character, or sought one if none is listed; '' if there is neither."""
        if self._best is None:
            candidates: Mapping[str, float] = self.listed or self
            self._best = max(candidates, key=candidates.__getitem__, default="")
        return self._best

    def greatest(self, characters: Sequence[str]) -> float:
        """The log-probability of the most probable of these characters; `FLOOR` if none is listed or sought."""
        listed = self.listed
        if self.best in characters and self.best in listed and listed[self.best] >= self._top:
            return listed[self.best]
        greatest = max([listed[character] for character in characters if character in listed], default=-inf)
        if greatest < self._top:
            unlisted = (character for character in characters if character in self._sought and character not in listed)
            greatest = max([greatest, *map(self._rest, unlisted)])
        return FLOOR if greatest == -inf else greatest

    def ranked(self) -> Iterator[tuple[str, float]]:
        """All characters with their log-probabilities: first the listed, then the other sought ones, both sorted from
        the most probable on."""
        yield from sorted(self.listed.items(), key=lambda item: -item[1])
        unlisted = [(character, self._rest(character)) for character in self._sought if character not in self.listed]
        yield from sorted(unlisted, key=lambda item: -item[1])

    def mixed(self, other: Belief, share: float) -> Belief:
        """The weighted mean of the probabilities of two beliefs; `other` has the weight `share`, 0 to 1."""

        def mean(own_log: float, other_log: float) -> float:
            return log((1.0 - share) * exp(own_log) + share * exp(other_log))

        def mean_of(character: str) -> float:
            return mean(self.get(character, FLOOR), other.get(character, FLOOR))

        listed = {}
        for character in {**self.listed, **other.listed}:
            if character in self.listed and character in other.listed:  # most characters; faster than `get`
                listed[character] = mean(self.listed[character], other.listed[character])
            else:
                listed[character] = mean_of(character)
        return Belief(listed, {**self._sought, **other._sought}, mean_of, max(self._top, other._top, FLOOR))
