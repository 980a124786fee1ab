"""The reading of one strip as spikes: the place of each glyph and the probabilities of its characters.

A recogniser gives probabilities at every step along a strip. A spike is a run of steps at which one character is the
most probable, or a step at which blank is, but narrowly. Spikes take a tenth of the space of the steps, and checking
needs nothing else. Their numbers are rounded before they are used, as they are stored, so that a check from stored
spikes gives the same result to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, pairwise
from typing import NamedTuple

import msgpack
import numpy as np
from numpy.typing import NDArray

from proof.ocr.belief import FLOOR, MIN_PROBABILITY, Belief
from proof.ocr.engine import Posterior, Reading

MIN_FAINT_PRESENCE = 0.04
"""Probability of anything but blank above which a step can be a faint glyph."""

STEPS_PER_SHARE = 65535.0
"""Places and presences, 0 to 1, are stored in units of 1 / `STEPS_PER_SHARE`."""

STEPS_PER_NAT = 4096.0
"""Log-probabilities of listed characters are stored in units of 1 / `STEPS_PER_NAT` nat."""

DISTANCE_STEPS_PER_NAT = 8.0
"""Log-probabilities of sought characters that are not listed are stored as their distances below `FLOOR`, in units of
1 / `DISTANCE_STEPS_PER_NAT` nat: one byte holds the probabilities 1e-5 down to 1e-18."""

Numbers = Sequence[float] | NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Spike:
    """A glyph on its strip: its `place` from 0 (top) to 1 (bottom), the probabilities of its characters (`believed`),
    and `presence`, the probability that there is a glyph."""

    place: float
    believed: Belief
    presence: float


class Extent(NamedTuple):
    """The steps of a spike, from `start` to before `end`, and those from which the probabilities of its characters are
    taken, from `low` to before `high`."""

    start: int
    end: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class StripSpikes:
    """The n spikes of one strip as they are stored. `places` and `presences` (n, uint16) are their places and
    presences, `counts` (n) the numbers of characters that they list. `texts` are these characters, spike by spike, and
    `log_probs` (uint16) their log-probabilities."""

    places: NDArray[np.uint16]
    presences: NDArray[np.uint16]
    counts: NDArray[np.uint16]
    texts: tuple[str, ...]
    log_probs: NDArray[np.uint16]

    def spikes(
        self, sought: Mapping[str, None] | None = None, distances: Callable[[str], bytes] | None = None
    ) -> tuple[Spike, ...]:
        """The spikes. For a `sought` character that a spike does not list, `distances` gives how far its probability is
        below `FLOOR` at each spike, in units of 1 / `DISTANCE_STEPS_PER_NAT` nat; it is called only when needed."""
        places = (self.places / STEPS_PER_SHARE).tolist()
        presences = self.presences / STEPS_PER_SHARE
        log_presences = np.log(np.maximum(presences, MIN_PROBABILITY)).tolist()
        log_probs = (0.0 - self.log_probs / STEPS_PER_NAT).tolist()
        ends = np.cumsum(self.counts, dtype=np.intp).tolist()
        spikes, start = [], 0
        for number, (place, presence, end) in enumerate(zip(places, presences.tolist(), ends, strict=True)):
            believed = Belief(dict(zip(self.texts[start:end], log_probs[start:end], strict=True)))
            if distances:
                log_presence = log_presences[number]
                rest = partial(_unlisted_log_prob, distances, number, log_presence)
                believed = Belief(believed.listed, sought, rest, min(FLOOR - log_presence, 0.0))
            spikes.append(Spike(place, believed, presence))
            start = end
        return tuple(spikes)

    def packed(self) -> bytes:
        arrays = (self.places, self.presences, self.counts, self.log_probs)
        return bytes(msgpack.packb([*(array.tobytes() for array in arrays), "\n".join(self.texts)]))

    @classmethod
    def unpacked(cls, data: bytes) -> StripSpikes:
        *arrays, texts = msgpack.unpackb(data)
        places, presences, counts, log_probs = (np.frombuffer(array, np.uint16) for array in arrays)
        return cls(places, presences, counts, tuple(texts.split("\n")) if texts else (), log_probs)


def _unlisted_log_prob(
    distances: Callable[[str], bytes], spike_number: int, log_presence: float, character: str
) -> float:
    """The log-probability of a character that a spike does not list, given that there is a glyph."""
    return min(FLOOR - distances(character)[spike_number] / DISTANCE_STEPS_PER_NAT - log_presence, 0.0)


def spikes_of(
    reading: Reading, character_of: Callable[[int], str], sought: Sequence[int | None]
) -> tuple[StripSpikes, NDArray[np.uint8]]:
    """The n spikes of a reading, and how far below `FLOOR` each of the `sought` classes is at each spike (n x number of
    `sought`), in units of 1 / `DISTANCE_STEPS_PER_NAT` nat. `character_of` gives the character of a class. In `sought`,
    None stands for a character that the engine lacks."""
    posterior = reading.posterior
    if posterior is None:
        spikes = _spikes_of_characters(reading)
        return spikes, np.zeros((len(reading.characters), len(sought)), np.uint8)
    presence = _presence_of_steps(posterior)
    extents = _extents(posterior, presence)
    places, presences = _places_and_presences(posterior, presence, extents)
    stored_presences = np.rint(presences * STEPS_PER_SHARE) / STEPS_PER_SHARE
    log_presences = np.log(np.maximum(stored_presences, MIN_PROBABILITY)).tolist()
    listed_classes = _listed_classes(posterior)
    counts: list[int] = []
    texts: list[str] = []
    log_probs: list[float] = []
    for extent, log_presence in zip(extents, log_presences, strict=True):
        first = len(texts)
        for number, log_prob in _strongest(listed_classes[extent.low : extent.high]).items():
            text = character_of(number)
            if text.strip():
                texts.append(text)
                log_probs.append(log_prob - log_presence)
        counts.append(len(texts) - first)
    return _quantised(places, presences, counts, texts, log_probs), _distances(posterior, extents, sought)


def _spikes_of_characters(reading: Reading) -> StripSpikes:
    """The spikes of a reading without posteriors: one for each character read, with its alternatives."""
    characters = reading.characters
    listed = [character.alternatives or ((character.text, character.probability),) for character in characters]
    return _quantised(
        [(character.start + character.end) / 2 for character in characters],
        [1.0] * len(listed),
        [len(pairs) for pairs in listed],
        [text for pairs in listed for text, _ in pairs],
        [float(np.log(max(probability, MIN_PROBABILITY))) for pairs in listed for _, probability in pairs],
    )


def _quantised(
    places: Numbers,
    presences: Numbers,
    counts: Sequence[int],
    texts: Sequence[str],
    log_probs: Numbers,
) -> StripSpikes:
    """The spikes, with their numbers rounded to the units in which they are stored."""

    def rounded(numbers: Numbers, unit: float) -> NDArray[np.uint16]:
        return np.clip(np.rint(np.asarray(numbers, np.float64) * unit), 0, STEPS_PER_SHARE).astype(np.uint16)

    return StripSpikes(
        rounded(places, STEPS_PER_SHARE),
        rounded(presences, STEPS_PER_SHARE),
        np.asarray(counts, np.uint16),
        tuple(texts),
        rounded(log_probs, -STEPS_PER_NAT),
    )


def _presence_of_steps(posterior: Posterior) -> NDArray[np.float64]:
    """The probability of anything but blank at every step."""
    blank = np.where(posterior.classes == 0, posterior.log_probs, -np.inf).max(axis=1)
    return np.asarray(1.0 - np.exp(np.maximum(blank, posterior.floor)), np.float64)


def _places_and_presences(
    posterior: Posterior, presence: NDArray[np.float64], extents: Sequence[Extent]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The place of each spike on its strip (the mean of its steps, weighted by presence), and its greatest presence."""
    edges = _edges(extents)
    # one step more, so that every extent has an end
    weights, moments = np.append(presence, 0.0), np.append(presence * posterior.centres, 0.0)
    weight_sums, moment_sums = np.add.reduceat(weights, edges)[::2], np.add.reduceat(moments, edges)[::2]
    return moment_sums / np.maximum(weight_sums, 1e-9), np.maximum.reduceat(weights, edges)[::2]


def _edges(extents: Sequence[Extent]) -> NDArray[np.intp]:
    """The start and the end of every extent, one after the other, as `reduceat` takes them; of its results only every
    second belongs to an extent."""
    return np.array([(extent.start, extent.end) for extent in extents], np.intp).ravel()


def _distances(posterior: Posterior, extents: Sequence[Extent], sought: Sequence[int | None]) -> NDArray[np.uint8]:
    """How far below `FLOOR` each sought class is at each spike, in units of 1 / `DISTANCE_STEPS_PER_NAT` nat. Only the
    steps from `start` to `end` count: those between two glyphs show parts of both."""
    if not posterior.sought.size or not extents:
        return np.zeros((len(extents), len(sought)), np.uint8)
    column_of = {int(number): column for column, number in enumerate(posterior.sought)}
    columns = [column_of.get(number, -1) if number is not None else -1 for number in sought]
    # pad by a row, so that every extent has an end, and by a column for characters that the engine lacks
    padded = np.pad(posterior.sought_log_probs, ((0, 1), (0, 1)), constant_values=FLOOR)
    highest = np.maximum.reduceat(padded, _edges(extents), axis=0)[::2]
    distances = np.rint((FLOOR - highest[:, columns].astype(np.float64)) * DISTANCE_STEPS_PER_NAT)
    return np.asarray(distances.clip(0, 255), np.uint8)


def _extents(posterior: Posterior, presence: NDArray[np.float64]) -> list[Extent]:
    """The extents of runs of one most probable class, and of local maxima of presence where that class is blank."""
    best = posterior.classes[:, 0].tolist()
    extents: list[Extent] = []
    end = 0
    for number, run in groupby(best):
        start, end = end, end + len(list(run))
        if number > 0:
            low = start - 1 if start > 0 and best[start - 1] == 0 else start
            high = end + 1 if end < len(best) and best[end] == 0 else end
            extents.append(Extent(start, end, low, high))
        else:
            extents += [Extent(step, step + 1, step, step + 1) for step in _faint_steps(presence, start, end)]
    return extents


def _faint_steps(presence: NDArray[np.float64], start: int, end: int) -> list[int]:
    """The local maxima of presence among the steps from `start` to before `end`, at all of which blank is the most
    probable class. The first and the last of them are compared with the glyph beside them, too, so that its shoulder
    is no maximum."""
    steps = []
    for step in range(start, end):
        before = presence[step - 1] if step > 0 else 0.0
        after = presence[step + 1] if step + 1 < len(presence) else 0.0
        if presence[step] > MIN_FAINT_PRESENCE and presence[step] >= before and presence[step] > after:
            steps.append(step)
    return steps


def _listed_classes(posterior: Posterior) -> list[list[tuple[int, float]]]:
    """The classes listed at every step, the blank left out, with their log-probabilities."""
    steps, ranks = np.nonzero(posterior.classes > 0)
    classes, log_probs = posterior.classes[steps, ranks].tolist(), posterior.log_probs[steps, ranks].tolist()
    pairs = list(zip(classes, log_probs, strict=True))
    bounds = np.searchsorted(steps, np.arange(len(posterior.classes) + 1)).tolist()
    return [pairs[start:end] for start, end in pairwise(bounds)]


def _strongest(steps: Sequence[Sequence[tuple[int, float]]]) -> dict[int, float]:
    """The classes listed at these steps, each with its greatest log-probability."""
    strongest: dict[int, float] = {}
    for step in steps:
        for number, log_prob in step:
            if log_prob > strongest.get(number, -np.inf):
                strongest[number] = log_prob
    return strongest
