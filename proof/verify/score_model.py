"""The score of a wrong character: an additive model over what is known of a glyph.

Each feature adds nats by a function that only rises, linear between a few knots, level beyond them. The table of knots
and nats (`data/score.tsv`) is fitted by `scripts/fit_score.py`: logistic regression with increments that are never
negative, on errors planted in the texts of drawn pages, judged on works and fonts that it was not fitted on. Log-odds
are nats, so that scores add up and one threshold serves all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import pairwise
from math import exp, log

from proof.ocr.belief import LEAST

MIN_SURE = 0.95
"""Share of its drawings that the engine reads as the character from which weak readings of a glyph as several other
words count together."""

MIN_SHARED_DETAIL_PX = 16.0
"""Pixels of detail of a glyph (`proof.images.detail`) up to which several weak readings tell nothing."""

FULL_SHARED_DETAIL_PX = 20.0
"""Pixels of detail from which on they count."""

MIN_BELIEVED = 0.35
"""Probability of the best other word up to which they tell nothing. Below it several words are read of a glyph that is
spoiled: without it three right characters of 1,955 on real pages are raised, with it one."""

FULL_BELIEVED = 0.5
"""Probability of the best other word from which on they count."""

UNKNOWN_SURE = 0.8
"""The share taken for a character of which it is not known, or which a further look took the glyph for."""


@dataclass(frozen=True, slots=True)
class SubstitutionFeatures:
    """What is known where another character is read than the one transcribed.

    `transcribed` and `other` are the log-probabilities of the character that stands there and of the best other word,
    `others` the probability of all other words together. `doubt` is how far the image is to be doubted around it,
    `presence` how probably there is a glyph, `taught` how well the engine was taught the character, all 0 to 1. `sure`
    is the share of its drawings that the engine reads as the character (None: not known), `detail` how many pixels the
    glyph shows, `seen` whether a further look took the glyph for the character.
    """

    transcribed: float
    other: float
    others: float = 0.0
    doubt: float = 0.0
    presence: float = 1.0
    taught: float = 1.0
    sure: float | None = None
    detail: float = 30.0
    seen: bool = False

    def values(self) -> dict[str, float]:
        """The features as the model takes them: the higher, the more they speak against the text."""
        chance = min(max(exp(self.transcribed), LEAST), 1.0 - LEAST)
        return {
            "transcribed": log((1.0 - chance) / chance),
            "other": log(max(min(exp(self.other) + self._shared(), 1.0), LEAST)),
            "doubt": -self.doubt,
            "presence": self.presence,
            "taught": self.taught,
            "itself": UNKNOWN_SURE if self.sure is None else self.sure,
            "detail": self.detail,
            "seen": -float(self.seen),
        }

    def _shared(self) -> float:
        """The probability of weak readings as several other words that counts beside that of the best one."""
        if self.sure is None or self.sure < MIN_SURE:
            return 0.0
        shown = (self.detail - MIN_SHARED_DETAIL_PX) / (FULL_SHARED_DETAIL_PX - MIN_SHARED_DETAIL_PX)
        best = exp(self.other)
        believed = (best - MIN_BELIEVED) / (FULL_BELIEVED - MIN_BELIEVED)
        return min(max(shown, 0.0), 1.0) * min(max(believed, 0.0), 1.0) * max(self.others - best, 0.0)


@dataclass(frozen=True, slots=True)
class Response:
    """What a feature adds to a score, in nats, by its value: linear between knots."""

    knots: tuple[float, ...]
    nats: tuple[float, ...]

    def __call__(self, value: float) -> float:
        if value <= self.knots[0]:
            return self.nats[0]
        for (low, below), (high, above) in pairwise(zip(self.knots, self.nats, strict=True)):
            if value <= high:
                return below + (above - below) * (value - low) / (high - low)
        return self.nats[-1]


@dataclass(frozen=True, slots=True)
class ScoreModel:
    """The responses by feature, and the score where all of them add nothing."""

    base: float
    responses: Mapping[str, Response]

    def weights(self, features: SubstitutionFeatures) -> tuple[tuple[str, float], ...]:
        """What each feature adds, in nats, the most first, without those that add nothing."""
        values = features.values()
        added = [(name, round(response(values[name]), 2)) for name, response in self.responses.items()]
        return tuple(sorted((one for one in added if one[1]), key=lambda one: (-abs(one[1]), one[0])))

    def score(self, features: SubstitutionFeatures) -> float:
        """How strongly a glyph speaks for another word than the one transcribed, in nats."""
        values = features.values()
        return self.base + sum(response(values[name]) for name, response in self.responses.items())


@cache
def shipped_model() -> ScoreModel:
    """The model that comes with the program."""
    base, responses = 0.0, {}
    text = resources.files("proof.verify").joinpath("data/score.tsv").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, knots, nats = line.split("\t")
        if name == "base":
            base = float(nats)
        else:
            responses[name] = Response(tuple(map(float, knots.split())), tuple(map(float, nats.split())))
    return ScoreModel(base, responses)
