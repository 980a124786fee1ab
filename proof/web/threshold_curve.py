"""The dial of the queue: how many errors are expected to be left if only flags from some score on are reviewed.

The flags are divided by score into steps. The probability that a flag of a step is an error is estimated from the
decided flags of the step, and never falls as the score rises (isotonic regression by pooling adjacent violators). The
score minus the threshold, read as log-odds, gives a prior that counts as much as two decisions in each step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proof.store.decision_records import SETTLED, State
from proof.store.flag_columns import STATES

CURVE_STEPS = 40
PRIOR_WEIGHT = 2.0
"""Decisions in a step that the prior counts as much as."""
LAST_POINT_MARGIN_NATS = 1e-6
"""Distance of the last point, at which no flag is reviewed, above the highest score."""


@dataclass(frozen=True, slots=True)
class Point:
    """If all flags with `score` and higher are reviewed: how many of them are still open (`places`), and how many
    errors are expected among the others (`left`)."""

    score: float
    places: int
    left: float


def dial(
    scores: NDArray[np.float64], states: NDArray[np.int8], genuine: NDArray[np.bool_], threshold: float
) -> list[Point]:
    """The points of the dial, from all flags to none. `scores` are in descending order, `states` are indices in
    `STATES`; flags that are not `genuine` (seeded errors) have to be reviewed but are no errors of the text."""
    if not len(scores):
        return []
    steps = np.array_split(np.arange(len(scores)), min(CURVE_STEPS, len(scores)))
    settled = np.isin(states, [STATES.index(state) for state in SETTLED]) & genuine
    wrong = (states == STATES.index(State.CORRECTED)) & genuine
    probabilities = _monotone_shares(
        [
            (
                wrong[step].sum() + PRIOR_WEIGHT * _prior(float(scores[step].mean()), threshold),
                settled[step].sum() + PRIOR_WEIGHT,
            )
            for step in steps
        ]
    )
    expected = np.repeat(probabilities, [len(step) for step in steps])
    # decided flags count as decided, others with their probability
    errors = np.where(settled, wrong, expected) * genuine
    errors_from = np.concatenate([np.cumsum(errors[::-1])[::-1], [0.0]])
    open_up_to = np.cumsum(states == STATES.index(State.OPEN))
    # flags with the same score are reviewed together
    ends = sorted({int(np.searchsorted(-scores, -scores[step[-1]], side="right")) for step in steps}, reverse=True)
    points = [Point(float(scores[end - 1]), int(open_up_to[end - 1]), float(errors_from[end])) for end in ends]
    return [*points, Point(float(scores[0]) + LAST_POINT_MARGIN_NATS, 0, float(errors_from[0]))]


def _prior(score: float, threshold: float) -> float:
    return float(1 / (1 + np.exp(-np.clip(score - threshold, -30, 30))))


def _monotone_shares(steps: Sequence[tuple[float, float]]) -> list[float]:
    """The share of errors in each step, given as (errors, flags), made to descend by pooling neighbouring steps whose
    shares rise."""
    pools: list[list[float]] = []  # the sums of errors, flags and steps of each pool
    for wrong, flags in steps:
        pools.append([wrong, flags, 1])
        while len(pools) > 1 and pools[-2][0] * pools[-1][1] < pools[-1][0] * pools[-2][1]:
            last = pools.pop()
            pools[-1] = [sum(pair) for pair in zip(pools[-1], last, strict=True)]
    return [wrong / flags for wrong, flags, count in pools for _ in range(int(count))]
