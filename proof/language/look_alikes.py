"""The characters between which the language model decides: for each the others that a hand or a recogniser takes it
for.

`data/look_alikes.tsv` is made by `scripts/make_look_alikes.py`, which says by what measure; the nearest stand first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from enum import IntEnum
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from proof.text.model import Script
from proof.text.variants import policy_of

MAX_RIVALS = 5
"""A character and its look-alikes: how many there are at most."""

SURELY = 0.8
"""The confusion from which a pair counts as confused by eye though nobody but the measurement says so."""

PLANE = 0x40000
"""Code points from here on are no Han characters."""

Codes = NDArray[np.uint32]


class Nearness(IntEnum):
    """Who takes two characters for each other: the measurement alone; the eye, though their image tells them apart; a
    hand that runs them together, or a copyist, as the critics name them."""

    MEASURED = 0
    EYE = 1
    HAND = 2


MARGINS = (4.0, 2.0, 0.0)
"""Nats that the language model must bring on top, by nearness: pairs that are rarely exchanged are many, and texts
write some of them for one another (具其, 齊齋). What they cost and gain: `scripts/bench/language.py`."""


class LookAlikes:
    """Which characters can stand for which. `rivals` (rows x `MAX_RIVALS`, code points) has in each row a character,
    then its look-alikes, nearest first, then zeros; `margins` (rows x `MAX_RIVALS`) what the language model must bring
    on top to speak for each; `row_of` leads from a code point to its row, -1 where it has none."""

    def __init__(self, pairs: Iterable[tuple[str, str, Nearness]]) -> None:
        near: defaultdict[int, dict[int, Nearness]] = defaultdict(dict)
        for first, second, nearness in pairs:
            near[ord(first)].setdefault(ord(second), nearness)
            near[ord(second)].setdefault(ord(first), nearness)
        self.rivals: Codes = np.zeros((len(near), MAX_RIVALS), np.uint32)
        self.margins = np.zeros((len(near), MAX_RIVALS), np.float32)
        self.row_of = np.full(PLANE, -1, np.int32)
        self._nearest = np.full(PLANE, -1, np.int8)
        for row, (code, others) in enumerate(sorted(near.items())):
            kept = [code, *others][:MAX_RIVALS]
            self.rivals[row, : len(kept)] = kept
            self.margins[row, 1 : len(kept)] = [MARGINS[nearness] for nearness in others.values()][: MAX_RIVALS - 1]
            self.row_of[code] = row
            self._nearest[code] = max(others.values())

    @classmethod
    def shipped(cls) -> LookAlikes:
        """Those that come with the program."""
        return _shipped()

    def places(self, tokens: Codes) -> NDArray[np.int64]:
        """Where in a row of tokens characters with look-alikes stand."""
        return np.flatnonzero(self.row_of[np.minimum(tokens, PLANE - 1)] >= 0)

    def of(self, tokens: Codes) -> Codes:
        """For characters that have look-alikes: the character itself, then these (n x `MAX_RIVALS`)."""
        return np.asarray(self.rivals[self.row_of[tokens]])

    def margins_of(self, tokens: Codes) -> NDArray[np.float32]:
        """For the same the margins of each (n x `MAX_RIVALS`)."""
        return np.asarray(self.margins[self.row_of[tokens]])

    def nearness_of(self, tokens: Codes) -> NDArray[np.int8]:
        """How near the nearest look-alike of each is; -1 where it has none."""
        return np.asarray(self._nearest[np.minimum(tokens, PLANE - 1)])


@cache
def _shipped() -> LookAlikes:
    text = resources.files("proof.language").joinpath("data/look_alikes.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    return LookAlikes((row[0], row[1], _nearness(float(row[2]), row[4])) for row in rows)


def _nearness(confused: float, origin: str) -> Nearness:
    if origin in ("hand", "critics"):
        return Nearness.HAND
    return Nearness.EYE if origin or confused >= SURELY else Nearness.MEASURED


class Folding:
    """One form for every word, whatever the edition: what stands around a character is compared so.

    A character that has look-alikes stays what it is: between these the language model decides. What a character folds
    to is asked once for all texts."""

    def __init__(self, look_alikes: LookAlikes) -> None:
        self._kept = look_alikes.row_of >= 0
        self._policy, self._table = policy_of(Script.TRADITIONAL), _folded_so_far(look_alikes)

    def __call__(self, tokens: Codes) -> Codes:
        """The tokens folded."""
        clipped = np.minimum(tokens, PLANE - 1)
        for code in np.unique(clipped[self._table[clipped] == 0]):
            self._table[code] = self._folded(int(code))
        return np.asarray(self._table[clipped])

    def _folded(self, code: int) -> int:
        if self._kept[code] or code < 0x80:
            return code
        folded = self._policy.standard_form(chr(code))
        return ord(folded) if len(folded) == 1 and ord(folded) < PLANE else code


@cache
def _folded_so_far(_look_alikes: LookAlikes) -> Codes:
    """By code point what characters fold to beside some look-alikes, 0 where it was not asked yet."""
    return np.zeros(PLANE, np.uint32)
