"""How many errors are left if only flags from some score on are looked at: what the queue's dial shows.

The chance that a flag is an error is learned from the flags that were decided, step by step of the score,
never falling as the score rises (isotonic regression by pooling adjacent violators); what a score means by
itself, the logarithm of the odds around the threshold, counts as much as two decisions a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proof.store.decision_records import SETTLED, State
from proof.store.flag_columns import STATES

STEPS = 40
PRIOR_WEIGHT = 2.0
ABOVE = 1e-6
"""So much above the highest score lies the point where no flag is looked at."""


@dataclass(frozen=True, slots=True)
class Point:
    """With all flags from `score` on looked at: how many of these are still open, and how many errors are left in the
    others."""

    score: float
    places: int
    left: float


def dial(
    scores: NDArray[np.float64], states: NDArray[np.int8], threshold: float, genuine: NDArray[np.bool_] | None = None
) -> list[Point]:
    """Points of the dial, from all flags to none. `scores` are in falling order, `states` (places in `STATES`) go
    with them; those that are not `genuine` are places to look at and no errors."""
    if not len(scores):
        return []
    steps = np.array_split(np.arange(len(scores)), min(STEPS, len(scores)))
    counts = np.ones(len(scores), dtype=np.bool_) if genuine is None else genuine
    settled = np.isin(states, [STATES.index(state) for state in SETTLED]) & counts
    wrong = (states == STATES.index(State.CORRECTED)) & counts
    chance = _falling(
        [
            (
                wrong[step].sum() + PRIOR_WEIGHT * _prior(float(scores[step].mean()), threshold),
                settled[step].sum() + PRIOR_WEIGHT,
            )
            for step in steps
        ]
    )
    expected = np.repeat(chance, [len(step) for step in steps])
    # what was decided is known; a flag that nobody has looked at counts with its chance
    errors = np.where(settled, wrong, expected) * counts
    beyond = np.concatenate([np.cumsum(errors[::-1])[::-1], [0.0]])
    still = np.cumsum(states == STATES.index(State.OPEN))
    # flags of one score are looked at together or not at all
    ends = sorted({int(np.searchsorted(-scores, -scores[step[-1]], side="right")) for step in steps})
    none = Point(float(scores[0]) + ABOVE, 0, float(beyond[0]))
    points = [none, *(Point(float(scores[end - 1]), int(still[end - 1]), float(beyond[end])) for end in ends)]
    return points[::-1]


def _prior(score: float, threshold: float) -> float:
    return float(1 / (1 + np.exp(-np.clip(score - threshold, -30, 30))))


def _falling(steps: Sequence[tuple[float, float]]) -> list[float]:
    """Shares of wrong in all, made to fall from step to step by pooling neighbours that rise."""
    pools: list[list[float]] = []
    for wrong, every in steps:
        pools.append([wrong, every, 1])
        while len(pools) > 1 and pools[-2][0] * pools[-1][1] < pools[-1][0] * pools[-2][1]:
            last = pools.pop()
            pools[-1] = [sum(pair) for pair in zip(pools[-1], last, strict=True)]
    return [wrong / every for wrong, every, count in pools for _ in range(int(count))]
