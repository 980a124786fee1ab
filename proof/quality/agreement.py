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
"""Fewest places that two people must have judged before a figure is given."""


@dataclass(frozen=True, slots=True)
class Kappa:
    """Agreement beyond chance, with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of two people.

    `places` counts the places that both judged, `same` those that they judged alike, `validated` those that one of
    them judged only by validating the page, which accepts what stands there. `kappa` is None if there are too few
    places, or if one of the two gave the same answer everywhere.
    """

    people: tuple[str, str]
    places: int
    same: int
    kappa: Kappa | None
    validated: int = 0

    @property
    def too_few(self) -> bool:
        """Whether there are too few places for a figure."""
        return self.places < MIN_PLACES

    @property
    def share(self) -> float:
        """Share of the places that were judged alike, 0 to 1."""
        return self.same / self.places if self.places else 0.0


def agreement(people: tuple[str, str], answers: Sequence[tuple[str, str]], validated: int = 0) -> Agreement:
    """Agreement of two people, from the answers of both to every place that both judged."""
    same = sum(first == second for first, second in answers)
    enough = len(answers) >= MIN_PLACES
    return Agreement(people, len(answers), same, kappa(answers) if enough else None, validated)


def kappa(answers: Sequence[tuple[str, str]]) -> Kappa | None:
    """Cohen's kappa; None if one of the two gave the same answer everywhere, where kappa is 0 or undefined."""
    count = len(answers)
    firsts, seconds = Counter(first for first, _ in answers), Counter(second for _, second in answers)
    if len(firsts) < 2 or len(seconds) < 2:
        return None
    by_chance = sum(firsts[answer] * seconds[answer] for answer in firsts) / count**2
    observed = sum(first == second for first, second in answers) / count
    value = (observed - by_chance) / (1 - by_chance)
    variance = 0.0
    for (first, second), times in Counter(answers).items():
        if first == second:
            variance += times / count * (1 - (firsts[first] + seconds[first]) / count * (1 - value)) ** 2
        else:
            variance += times / count * (1 - value) ** 2 * ((seconds[first] + firsts[second]) / count) ** 2
    variance -= (value - by_chance * (1 - value)) ** 2
    error = sqrt(max(variance, 0.0) / count) / (1 - by_chance)
    return Kappa(value, max(value - Z_95 * error, -1.0), min(value + Z_95 * error, 1.0))
