"""Agreement of two people who judged the same places.

Cohen's kappa (Cohen 1960, Educational and Psychological Measurement 20, 37-46) is 1 for full agreement and 0 for as
much agreement as chance gives two people with the same frequencies of answers. Its interval uses the standard error
of Fleiss, Cohen and Everitt (1969, Psychological Bulletin 72, 323-327).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from proof.quality.sampling import Z_95

MIN_PLACES = 20
"""Minimum number of places judged by two people for their agreement to be given."""


@dataclass(frozen=True, slots=True)
class Kappa:
    """Agreement beyond chance, with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of two people.

    `places` is the number of places that both judged, `same` of those that they judged alike, `validated` of those that
    one of them judged only by validating the page, which accepts its text. `kappa` is None if there are too few places,
    or if one of the two gave the same answer everywhere.
    """

    people: tuple[str, str]
    places: int
    same: int
    kappa: Kappa | None
    validated: int = 0

    @property
    def too_few(self) -> bool:
        """Whether there are too few places for the agreement to be given."""
        return self.places < MIN_PLACES

    @property
    def share(self) -> float:
        """Share of the places that were judged alike, 0 to 1."""
        return self.same / self.places if self.places else 0.0


def agreement(people: tuple[str, str], answers: Sequence[tuple[str, str]], validated: int = 0) -> Agreement:
    """Agreement of two people, from their answers to every place that both judged."""
    same = sum(first == second for first, second in answers)
    return Agreement(people, len(answers), same, kappa(answers) if len(answers) >= MIN_PLACES else None, validated)


def kappa(answers: Sequence[tuple[str, str]]) -> Kappa | None:
    """Cohen's kappa; None if one of the two gave the same answer everywhere, since kappa is then 0 or undefined."""
    total = len(answers)
    firsts, seconds = Counter(first for first, _ in answers), Counter(second for _, second in answers)
    if len(firsts) < 2 or len(seconds) < 2:
        return None
    by_chance = sum(firsts[answer] * seconds[answer] for answer in firsts) / total**2
    observed = sum(first == second for first, second in answers) / total
    value = (observed - by_chance) / (1 - by_chance)
    variance = 0.0
    for (first, second), count in Counter(answers).items():
        if first == second:
            variance += count / total * (1 - (firsts[first] + seconds[first]) / total * (1 - value)) ** 2
        else:
            variance += count / total * (1 - value) ** 2 * ((seconds[first] + firsts[second]) / total) ** 2
    variance -= (value - by_chance * (1 - value)) ** 2
    error = sqrt(max(variance, 0.0) / total) / (1 - by_chance)
    return Kappa(value, max(value - Z_95 * error, -1.0), min(value + Z_95 * error, 1.0))
