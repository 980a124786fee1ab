"""The dial of the queue: how many errors are expected to be left if only flags above some score are reviewed.

The flags are divided by score into steps. The probability that a flag of a step is an error is estimated from the
decided flags of the step, and made monotone in the score (isotonic regression by pooling adjacent violators). The score
minus the threshold is taken as log-odds; as a prior it has the weight of two decisions in each step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proof.store.decision_records import SETTLED, State
from proof.store.flag_arrays import STATES

CURVE_STEPS = 40
PRIOR_WEIGHT = 2.0
"""Weight of the prior in each step, in decisions."""
LAST_POINT_MARGIN_NATS = 1e-6
"""Distance of the last point, for which no flag is reviewed, from the highest score."""


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the dial: if all flags with `score` or more are reviewed, `places` of them are still open, and `left`
    errors are expected among the other flags."""

    score: float
    places: int
    left: float


def dial(
    scores: NDArray[np.float64], states: NDArray[np.int8], genuine: NDArray[np.bool_], threshold: float
) -> list[Point]:
    """The points of the dial, in ascending order of score. `scores` are in descending order, `states` are indices in
    `STATES`. Flags that are not `genuine` are seeded errors: they must be reviewed but are not errors of the text."""
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
    # a decided flag counts as 0 or 1 error, another one by its probability
    errors = np.where(settled, wrong, expected) * genuine
    errors_from = np.concatenate([np.cumsum(errors[::-1])[::-1], [0.0]])
    open_up_to = np.cumsum(states == STATES.index(State.OPEN))
    # flags with the same score are reviewed together
    ends = sorted({int(np.searchsorted(-scores, -scores[step[-1]], side="right")) for step in steps}, reverse=True)
    left = [round(float(errors), 2) for errors in errors_from]
    points = [Point(float(scores[end - 1]), int(open_up_to[end - 1]), left[end]) for end in ends]
    return [*points, Point(float(scores[0]) + LAST_POINT_MARGIN_NATS, 0, left[0])]


def _prior(score: float, threshold: float) -> float:
    return float(1 / (1 + np.exp(-np.clip(score - threshold, -30, 30))))


def _monotone_shares(steps: Sequence[tuple[float, float]]) -> list[float]:
    """The share of errors in each step, given as (errors, flags). Neighbouring steps are pooled until the shares do not
    rise from one step to the next."""
    pools: list[_Pool] = []
    for errors, flags in steps:
        pool = _Pool(errors, flags, 1)
        while pools and pools[-1].errors * pool.flags < pool.errors * pools[-1].flags:
            last = pools.pop()
            pool = _Pool(last.errors + pool.errors, last.flags + pool.flags, last.steps + pool.steps)
        pools.append(pool)
    return [pool.errors / pool.flags for pool in pools for _ in range(pool.steps)]


class _Pool(NamedTuple):
    """The sums of errors and flags over a number of neighbouring steps."""

    errors: float
    flags: float
    steps: int
