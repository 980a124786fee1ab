"""Look-alikes, between which the language model decides: for each character those with which it is confused.

`data/look_alikes.tsv` is made by `scripts/make_look_alikes.py`, which describes the measure; the nearest come first.
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
"""A character and its look-alikes, at most."""

SURELY = 0.8
"""Measured confusion from which on a pair counts as confused by people although no list has it."""

PLANE = 0x40000
"""Code point from which on there are no Han characters."""

Codes = NDArray[np.uint32]


class Nearness(IntEnum):
    """How near two characters are: only by measurement; confused by people although images distinguish them; or alike
    in handwriting, or confused by copyists according to textual critics."""

    MEASURED = 0
    EYE = 1
    HAND = 2


MARGINS = (4.0, 2.0, 0.0)
"""Additional nats that the language model needs, by nearness, since there are many pairs that are rarely exchanged, and
texts use some of them for one another (具其, 齊齋). Measured with `scripts/bench/language.py`."""


class LookAlikes:
    """A table of look-alikes. Each row of `rivals` (rows x `MAX_RIVALS`, code points) has a character, then its
    look-alikes, nearest first, then zeros; `margins` (rows x `MAX_RIVALS`) are the additional nats for each; `row_of`
    maps a code point to its row, -1 if it has none."""

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
        """The look-alikes that come with the program."""
        return _shipped()

    def places(self, tokens: Codes) -> NDArray[np.int64]:
        """The places in a sequence of tokens of characters with look-alikes."""
        return np.flatnonzero(self.row_of[np.minimum(tokens, PLANE - 1)] >= 0)

    def of(self, tokens: Codes) -> Codes:
        """For characters with look-alikes: the character itself, then these (n x `MAX_RIVALS`)."""
        return np.asarray(self.rivals[self.row_of[tokens]])

    def margins_of(self, tokens: Codes) -> NDArray[np.float32]:
        """The margins of each of these (n x `MAX_RIVALS`)."""
        return np.asarray(self.margins[self.row_of[tokens]])

    def nearness_of(self, tokens: Codes) -> NDArray[np.int8]:
        """The nearness of the nearest look-alike of each; -1 if it has none."""
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
    """Maps characters to one form for every word, so that contexts can be compared between editions.

    A character with look-alikes is not changed, since the language model decides between these. The mapping is cached
    for all texts."""

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
    """The cache of folded characters by code point, for a table of look-alikes; 0 if not yet known."""
    return np.zeros(PLANE, np.uint32)
