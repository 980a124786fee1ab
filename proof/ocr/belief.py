"""The probabilities that an engine gives to a glyph: of the characters that it listed and, on demand, of others.

How improbable an unlisted character is matters only where two glyphs are both something else, or a character fits
none. It is computed only then, so that a changed text can mostly be checked from earlier readings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import exp, inf, log
from typing import Any, TypeVar, overload

MIN_PROBABILITY = 1e-5
"""The least probability that an engine lists."""

Other = TypeVar("Other")
"""Type of the default of `Belief.get`."""

FLOOR = log(MIN_PROBABILITY)
"""Log-probability of a character that the engine does not list."""


class Belief(Mapping[str, float]):
    """Log-probabilities of characters, given that there is a glyph. `listed` are known; `rest` computes those of the
    other `sought` characters, none of which is above `top`."""

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
    def get(self, character: str, /, default: float | Other) -> float | Other: ...

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
        """The most probable character; empty if nothing was read or sought."""
        if self._best is None:
            known: Mapping[str, float] = self.listed or self
            self._best = max(known, key=known.__getitem__, default="")
        return self._best

    def greatest(self, characters: Sequence[str]) -> float:
        """The log-probability of the most probable of these; `FLOOR` if none is known."""
        listed = self.listed
        if self.best in characters and self.best in listed and listed[self.best] >= self._top:
            return listed[self.best]
        best = max([listed[character] for character in characters if character in listed], default=-inf)
        if best < self._top:
            unlisted = (character for character in characters if character in self._sought and character not in listed)
            best = max([best, *map(self._rest, unlisted)])
        return FLOOR if best == -inf else best

    def ranked(self) -> Iterator[tuple[str, float]]:
        """All characters with their log-probabilities: the listed ones, then the others, each most probable first."""
        yield from sorted(self.listed.items(), key=lambda item: -item[1])
        rest = [(character, self._rest(character)) for character in self._sought if character not in self.listed]
        yield from sorted(rest, key=lambda item: -item[1])

    def mixed(self, other: Belief, share: float) -> Belief:
        """The weighted mean of two beliefs, `other` with the weight `share`."""

        def mean(character: str) -> float:
            ours, theirs = self.get(character, FLOOR), other.get(character, FLOOR)
            return log((1.0 - share) * exp(ours) + share * exp(theirs))

        ours, theirs = self.listed, other.listed
        # most characters are listed by both: computed without the slower `get`
        both = {
            character: log((1.0 - share) * exp(ours[character]) + share * exp(theirs[character]))
            for character in ours
            if character in theirs
        }
        listed = {
            character: both[character] if character in both else mean(character) for character in {**ours, **theirs}
        }
        return Belief(listed, {**self._sought, **other._sought}, mean, max(self._top, other._top, FLOOR))
