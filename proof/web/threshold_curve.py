"""The queue's dial: how many errors are expected to be left if only flags above some score are reviewed.

The probability that a flag is an error is estimated from the decided flags, in steps of the score, and never falls as
the score rises (isotonic regression by pooling adjacent violators). The meaning of the score itself, as log-odds around
the threshold, is a prior that counts as much as two decisions in each step.
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
"""Distance above the highest score of the last point, at which no flag is reviewed."""


@dataclass(frozen=True, slots=True)
class Point:
    """If all flags with `score` and higher are reviewed: how many of them are still open (`places`), and how many
    errors are expected among the others (`left`)."""

    score: float
    places: int
    left: float


def dial(
    scores: NDArray[np.float64], states: NDArray[np.int8], threshold: float, genuine: NDArray[np.bool_] | None = None
) -> list[Point]:
    """The points of the dial, from all flags to none. `scores` are in descending order, `states` are indices in
    `STATES`; flags that are not `genuine` have to be reviewed but are no errors of the text."""
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
    # decided flags count as decided, others with their probability
    errors = np.where(settled, wrong, expected) * counts
    beyond = np.concatenate([np.cumsum(errors[::-1])[::-1], [0.0]])
    still = np.cumsum(states == STATES.index(State.OPEN))
    # flags with the same score are reviewed together
    ends = sorted({int(np.searchsorted(-scores, -scores[step[-1]], side="right")) for step in steps})
    none = Point(float(scores[0]) + ABOVE, 0, float(beyond[0]))
    points = [none, *(Point(float(scores[end - 1]), int(still[end - 1]), float(beyond[end])) for end in ends)]
    return points[::-1]


def _prior(score: float, threshold: float) -> float:
    return float(1 / (1 + np.exp(-np.clip(score - threshold, -30, 30))))


def _falling(steps: Sequence[tuple[float, float]]) -> list[float]:
    """The shares of errors (errors, all) of each step, made to descend by pooling neighbouring steps that rise."""
    pools: list[list[float]] = []
    for wrong, every in steps:
        pools.append([wrong, every, 1])
        while len(pools) > 1 and pools[-2][0] * pools[-1][1] < pools[-1][0] * pools[-2][1]:
            last = pools.pop()
            pools[-1] = [sum(pair) for pair in zip(pools[-1], last, strict=True)]
    return [wrong / every for wrong, every, count in pools for _ in range(int(count))]
