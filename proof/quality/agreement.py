"""How far two people agree who judged the same places: the share, and what is left of it beyond chance.

Cohen's kappa (Cohen 1960, Educational and Psychological Measurement 20, 37-46) is 1 where they always agree and 0 where
they agree as often as two would who say each thing as often as these do, without looking. Its interval takes the
standard error of Fleiss, Cohen and Everitt (1969, Psychological Bulletin 72, 323-327).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from proof.quality.sampling import CONFIDENT

LEAST = 20
"""Places that two must have judged before a figure says anything of them."""


@dataclass(frozen=True, slots=True)
class Kappa:
    """Agreement beyond chance, with the interval that holds the true one in 95 of 100 cases."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two people and the `places` that both judged, of which they judged so many the `same`. `validated`: of these one
    judged so many by validating their page alone, which agrees with what stands there. `kappa` is None where the places
    are too few, and where one of the two said one thing of all: then chance would agree as well."""

    people: tuple[str, str]
    places: int
    same: int
    kappa: Kappa | None
    validated: int = 0

    @property
    def too_few(self) -> bool:
        """Whether the places are too few for a figure."""
        return self.places < LEAST

    @property
    def share(self) -> float:
        """Of the places, the share judged the same."""
        return self.same / self.places if self.places else 0.0


def agreement(people: tuple[str, str], judged: Sequence[tuple[str, str]], validated: int = 0) -> Agreement:
    """How far two agree, by what each said of every place that both judged."""
    same = sum(one == other for one, other in judged)
    return Agreement(people, len(judged), same, kappa(judged) if len(judged) >= LEAST else None, validated)


def kappa(judged: Sequence[tuple[str, str]]) -> Kappa | None:
    """Cohen's kappa of two judges; None where either said one thing of all: chance then agrees as often as they do,
    and kappa is 0 or has no value, however well they agree."""
    count = len(judged)
    first, second = Counter(one for one, _ in judged), Counter(other for _, other in judged)
    if len(first) < 2 or len(second) < 2:
        return None
    by_chance = sum(first[what] * second[what] for what in first) / count**2
    observed = sum(one == other for one, other in judged) / count
    value = (observed - by_chance) / (1 - by_chance)
    spread = 0.0
    for (one, other), times in Counter(judged).items():
        if one == other:
            spread += times / count * (1 - (first[one] + second[one]) / count * (1 - value)) ** 2
        else:
            spread += times / count * (1 - value) ** 2 * ((second[one] + first[other]) / count) ** 2
    spread -= (value - by_chance * (1 - value)) ** 2
    error = sqrt(max(spread, 0.0) / count) / (1 - by_chance)
    return Kappa(value, max(value - CONFIDENT * error, -1.0), min(value + CONFIDENT * error, 1.0))
