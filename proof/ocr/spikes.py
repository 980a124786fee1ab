"""What was read on one strip, glyph by glyph: where each stands and what the engine believes it to be.

A recogniser gives probabilities at every step along a strip. A spike is a run of steps that one character won, or
a place where blank won narrowly. All that is judged later is judged by spikes, and they are kept instead of the
steps: a tenth of the size. Numbers are rounded to what is kept of them before anything is judged by them, so that
a page judged from what was kept is the same page, to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import msgpack
import numpy as np
from numpy.typing import NDArray

from proof.ocr.belief import FLOOR, MIN_PROBABILITY, Belief
from proof.ocr.engine import Posterior, Reading

FAINT = 0.04
"""Probability that something other than blank stands there, above which a step is a faint glyph."""

SHARE = 65535.0
"""Places and presences are kept as parts of this."""

NAT = 4096.0
"""Log-probabilities of what is listed are kept in parts of a nat of this size."""

FAR_NAT = 8.0
"""The same for what is sought and not listed: it is told apart from 1e-5 down to 1e-18 in one byte."""


Numbers = Sequence[float] | NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Spike:
    """A glyph on its strip: `place` from 0 (top) to 1 (bottom), what is `believed` of it, and `presence`, the
    probability that there is one."""

    place: float
    believed: Belief
    presence: float


@dataclass(frozen=True, slots=True)
class StripSpikes:
    """The spikes of one strip as they are kept: `places` and `presences` (n, uint16), how many characters each one
    lists (`counts`, n), these characters (`texts`) and their log-probabilities (`values`, uint16), spike by spike.
    """

    places: NDArray[np.uint16]
    presences: NDArray[np.uint16]
    counts: NDArray[np.uint16]
    texts: tuple[str, ...]
    values: NDArray[np.uint16]

    def spikes(
        self, sought: Mapping[str, None] | None = None, far: Callable[[str], bytes] | None = None
    ) -> tuple[Spike, ...]:
        """The spikes. Where nothing more probable is known of what was `sought`, `far` gives for a character how far
        below 1e-5 it is at each of them, in parts of a nat; it is asked when it matters."""
        presences = self.presences / SHARE
        values = (0.0 - self.values / NAT).tolist()
        scales = np.log(np.maximum(presences, MIN_PROBABILITY)).tolist()
        spikes, at = [], 0
        for number, (place, presence, count) in enumerate(
            zip((self.places / SHARE).tolist(), presences.tolist(), self.counts.tolist(), strict=True)
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
    """What is believed of a character that a spike does not list, whose `scale` is the logarithm of its presence."""
    return min(FLOOR - far(character)[number] / FAR_NAT - scale, 0.0)


def spikes_of(
    reading: Reading, character_of: Callable[[int], str], sought: Sequence[int | None]
) -> tuple[StripSpikes, NDArray[np.uint8]]:
    """The spikes of a reading, and for each of them (n x number of `sought`) how far below 1e-5 the classes that were
    `sought` are, in parts of a nat. `character_of` gives the character of a class; a class that the engine lacks
    is None."""
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
    scales = np.log(np.maximum(np.rint(presences * SHARE) / SHARE, MIN_PROBABILITY)).tolist()
    for (_, _, low, high), scale in zip(extents, scales, strict=True):
        listed = [(character_of(number), value) for number, value in _strongest(listed_at[low:high]).items()]
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
        return np.clip(np.rint(np.asarray(numbers, np.float64) * unit), 0, SHARE).astype(np.uint16)

    return StripSpikes(
        rounded(places, SHARE),
        rounded(presences, SHARE),
        np.asarray(counts, np.uint16),
        tuple(texts),
        rounded(values, -NAT),
    )


def _presence(posterior: Posterior) -> NDArray[np.float64]:
    """For every step the probability that something other than blank stands there."""
    blank = np.where(posterior.classes == 0, posterior.log_probs, -np.inf).max(axis=1)
    return np.asarray(1.0 - np.exp(np.maximum(blank, posterior.floor)), np.float64)


def _places(
    posterior: Posterior, presence: NDArray[np.float64], extents: Sequence[tuple[int, int, int, int]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Where each of these spikes stands on its strip, and how surely there is one."""
    edges = _edges(extents)
    weights, moments = (np.append(values, 0.0) for values in (presence, presence * posterior.centres))
    mass, moment = (np.add.reduceat(values, edges)[::2] for values in (weights, moments))
    return moment / np.maximum(mass, 1e-9), np.maximum.reduceat(weights, edges)[::2]


def _edges(extents: Sequence[tuple[int, int, int, int]]) -> NDArray[np.intp]:
    """The first step of every spike and the one after its last, as `reduceat` takes them."""
    return np.array([extent[:2] for extent in extents], np.intp).ravel()


def _far(
    posterior: Posterior, extents: Sequence[tuple[int, int, int, int]], sought: Sequence[int | None]
) -> NDArray[np.uint8]:
    """For each of these spikes how far below 1e-5 each of the classes that were `sought` is, in parts of a nat. Of them
    a glyph's own steps speak alone: between two glyphs there is something of both."""
    if not posterior.sought.size or not extents:
        return np.zeros((len(extents), len(sought)), np.uint8)
    columns = {int(number): at for at, number in enumerate(posterior.sought)}
    where = [columns.get(number, -1) if number is not None else -1 for number in sought]
    # a row of what is not sought at the end, so that every end has a row, and a column of it
    padded = np.pad(posterior.sought_log_probs, ((0, 1), (0, 1)), constant_values=np.log(MIN_PROBABILITY))
    own = np.maximum.reduceat(padded, _edges(extents), axis=0)[::2]
    far = np.rint((np.log(MIN_PROBABILITY) - own[:, where].astype(np.float64)) * FAR_NAT)
    return np.asarray(far.clip(0, 255), np.uint8)


def _extents(posterior: Posterior, presence: NDArray[np.float64]) -> list[tuple[int, int, int, int]]:
    """Runs of one winning class, and local maxima where blank wins but something may be there: the steps `start` to
    `end` of each, and `low` to `high`, from which it is read what is believed of it."""
    best = posterior.classes[:, 0].tolist()
    steps = len(best)
    extents: list[tuple[int, int, int, int]] = []
    start = 0
    while start < steps:
        end = start + 1
        while end < steps and best[end] == best[start]:
            end += 1
        if best[start] > 0:
            low = start - 1 if start > 0 and best[start - 1] == 0 else start
            high = end + 1 if end < steps and best[end] == 0 else end
            extents.append((start, end, low, high))
        else:
            extents += [(t, t + 1, t, t + 1) for t in _faint(presence, start, end)]
        start = end
    return extents


def _faint(presence: NDArray[np.float64], start: int, end: int) -> list[int]:
    """Steps that lost to blank between `start` and `end`, the shoulders of glyphs at either end left out."""
    steps = []
    for t in range(start, end):
        here = presence[t]
        before = presence[t - 1] if t > 0 else 0.0
        after = presence[t + 1] if t + 1 < len(presence) else 0.0
        if here > FAINT and here >= before and here > after:
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
