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

FAR_STEPS_PER_NAT = 8.0
"""Those of sought characters that are not listed are stored as their distance below 1e-5, in units of
1 / `FAR_STEPS_PER_NAT` nat: one byte holds 1e-5 down to 1e-18."""

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
    """The spikes of one strip as they are stored: `places` and `presences` (n, uint16), the number of characters that
    each lists (`counts`, n), these characters (`texts`) and their log-probabilities (`values`, uint16), spike by spike.
    """

    places: NDArray[np.uint16]
    presences: NDArray[np.uint16]
    counts: NDArray[np.uint16]
    texts: tuple[str, ...]
    values: NDArray[np.uint16]

    def spikes(
        self, sought: Mapping[str, None] | None = None, far: Callable[[str], bytes] | None = None
    ) -> tuple[Spike, ...]:
        """The spikes. For a `sought` character that a spike does not list, `far` gives how far its probability is below
        1e-5 at each spike, in units of 1 / `FAR_STEPS_PER_NAT` nat; it is called when that is needed."""
        presences = self.presences / STEPS_PER_SHARE
        values = (0.0 - self.values / STEPS_PER_NAT).tolist()
        scales = np.log(np.maximum(presences, MIN_PROBABILITY)).tolist()
        spikes, at = [], 0
        for number, (place, presence, count) in enumerate(
            zip((self.places / STEPS_PER_SHARE).tolist(), presences.tolist(), self.counts.tolist(), strict=True)
        ):
            listed = dict(zip(self.texts[at : at + count], values[at : at + count], strict=True))
            at += count
            rest = partial(_far_off, far, number, scales[number]) if far else None
            believed = Belief(listed, sought, rest, min(FLOOR - scales[number], 0.0)) if rest else Belief(listed)
            spikes.append(Spike(place, believed, presence))
        return tuple(spikes)

    def packed(self) -> bytes:
        numbers = (self.places, self.presences, self.counts, self.values)
        return bytes(msgpack.packb([*(part.tobytes() for part in numbers), "\n".join(self.texts)]))

    @classmethod
    def unpacked(cls, data: bytes) -> StripSpikes:
        *parts, texts = msgpack.unpackb(data)
        places, presences, counts, values = (np.frombuffer(part, np.uint16) for part in parts)
        return cls(places, presences, counts, tuple(texts.split("\n")) if texts else (), values)


def _far_off(far: Callable[[str], bytes], number: int, scale: float, character: str) -> float:
    """The log-probability of a character that a spike does not list; `scale` is the logarithm of its presence."""
    return min(FLOOR - far(character)[number] / FAR_STEPS_PER_NAT - scale, 0.0)


def spikes_of(
    reading: Reading, character_of: Callable[[int], str], sought: Sequence[int | None]
) -> tuple[StripSpikes, NDArray[np.uint8]]:
    """The spikes of a reading, and for each of them (n x number of `sought`) how far below 1e-5 the sought classes are,
    in units of 1 / `FAR_STEPS_PER_NAT` nat. `character_of` gives the character of a class; None stands for a character
    that the engine lacks."""
    if reading.posterior is None:
        lists = [c.alternatives or ((c.text, c.probability),) for c in reading.characters]
        logs = [float(np.log(max(p, MIN_PROBABILITY))) for pairs in lists for _, p in pairs]
        kept = _kept(
            [(c.start + c.end) / 2 for c in reading.characters],
            [1.0] * len(lists),
            [len(pairs) for pairs in lists],
            [text for pairs in lists for text, _ in pairs],
            logs,
        )
        return kept, np.zeros((len(lists), len(sought)), np.uint8)
    posterior = reading.posterior
    presence = _presence(posterior)
    extents = _extents(posterior, presence)
    listed_at = _listed(posterior)
    counts, texts, values = [], [], []
    places, presences = _places(posterior, presence, extents)
    scales = np.log(np.maximum(np.rint(presences * STEPS_PER_SHARE) / STEPS_PER_SHARE, MIN_PROBABILITY)).tolist()
    for extent, scale in zip(extents, scales, strict=True):
        strongest = _strongest(listed_at[extent.low : extent.high])
        listed = [(character_of(number), value) for number, value in strongest.items()]
        listed = [(text, value - scale) for text, value in listed if text.strip()]
        counts.append(len(listed))
        texts += [text for text, _ in listed]
        values += [value for _, value in listed]
    far = _far(posterior, extents, sought)
    return _kept(places, presences, counts, texts, values), far


def _kept(
    places: Numbers,
    presences: Numbers,
    counts: Sequence[int],
    texts: Sequence[str],
    values: Numbers,
) -> StripSpikes:
    def rounded(numbers: Numbers, unit: float) -> NDArray[np.uint16]:
        return np.clip(np.rint(np.asarray(numbers, np.float64) * unit), 0, STEPS_PER_SHARE).astype(np.uint16)

    return StripSpikes(
        rounded(places, STEPS_PER_SHARE),
        rounded(presences, STEPS_PER_SHARE),
        np.asarray(counts, np.uint16),
        tuple(texts),
        rounded(values, -STEPS_PER_NAT),
    )


def _presence(posterior: Posterior) -> NDArray[np.float64]:
    """The probability of anything but blank at every step."""
    blank = np.where(posterior.classes == 0, posterior.log_probs, -np.inf).max(axis=1)
    return np.asarray(1.0 - np.exp(np.maximum(blank, posterior.floor)), np.float64)


def _places(
    posterior: Posterior, presence: NDArray[np.float64], extents: Sequence[Extent]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The place of each of these spikes on its strip, and its presence."""
    edges = _edges(extents)
    weights, moments = (np.append(values, 0.0) for values in (presence, presence * posterior.centres))
    mass, moment = (np.add.reduceat(values, edges)[::2] for values in (weights, moments))
    return moment / np.maximum(mass, 1e-9), np.maximum.reduceat(weights, edges)[::2]


def _edges(extents: Sequence[Extent]) -> NDArray[np.intp]:
    """The first step of every spike and the one after its last, as `reduceat` takes them."""
    return np.array([(extent.start, extent.end) for extent in extents], np.intp).ravel()


def _far(posterior: Posterior, extents: Sequence[Extent], sought: Sequence[int | None]) -> NDArray[np.uint8]:
    """For each of these spikes how far below 1e-5 each sought class is, in units of 1 / `FAR_STEPS_PER_NAT` nat. Only
    steps from `start` to `end` count: between two glyphs there is something of both."""
    if not posterior.sought.size or not extents:
        return np.zeros((len(extents), len(sought)), np.uint8)
    columns = {int(number): at for at, number in enumerate(posterior.sought)}
    where = [columns.get(number, -1) if number is not None else -1 for number in sought]
    # pad by a row, so that every extent has an end, and by a column for characters that the engine lacks
    padded = np.pad(posterior.sought_log_probs, ((0, 1), (0, 1)), constant_values=np.log(MIN_PROBABILITY))
    highest = np.maximum.reduceat(padded, _edges(extents), axis=0)[::2]
    far = np.rint((np.log(MIN_PROBABILITY) - highest[:, where].astype(np.float64)) * FAR_STEPS_PER_NAT)
    return np.asarray(far.clip(0, 255), np.uint8)


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
            extents += [Extent(t, t + 1, t, t + 1) for t in _faint(presence, start, end)]
    return extents


def _faint(presence: NDArray[np.float64], start: int, end: int) -> list[int]:
    """The steps from `start` to before `end`, where blank is the most probable, that are a local maximum of presence,
    and not the shoulder of a glyph."""
    steps = []
    for t in range(start, end):
        here = presence[t]
        before = presence[t - 1] if t > 0 else 0.0
        after = presence[t + 1] if t + 1 < len(presence) else 0.0
        if here > MIN_FAINT_PRESENCE and here >= before and here > after:
            steps.append(t)
    return steps


def _listed(posterior: Posterior) -> list[list[tuple[int, float]]]:
    """The classes listed at every step, the blank left out, with their log-probabilities."""
    steps, ranks = np.nonzero(posterior.classes > 0)
    listed = posterior.classes[steps, ranks].tolist(), posterior.log_probs[steps, ranks].tolist()
    pairs = list(zip(*listed, strict=True))
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
