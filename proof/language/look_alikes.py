"""Look-alikes: the characters with which each character is confused. The language model decides between them.

`scripts/make_look_alikes.py` makes `data/look_alikes.tsv`, nearest pairs first, and describes how likeness is measured.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from enum import IntEnum
from functools import cache
from importlib import resources
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from proof.text.model import Script
from proof.text.variants import policy_of

MAX_RIVALS = 5
"""Maximum number of characters in a row: a character and its look-alikes."""

MIN_EYE_CONFUSION = 0.8
"""Probability of confusion by a recogniser from which on a pair counts as confused by people although no list has it.
"""

HAN_END = 0x40000
"""First code point above all Han characters."""

Codes = NDArray[np.uint32]


class Nearness(IntEnum):
    """How near two characters are.

    - `MEASURED`: alike by measurement only.
    - `EYE`: confused by people, although images distinguish them.
    - `HAND`: alike in handwriting, or confused by copyists according to textual critics.
    """

    MEASURED = 0
    EYE = 1
    HAND = 2


MARGINS = {Nearness.MEASURED: 4.0, Nearness.EYE: 2.0, Nearness.HAND: 0.0}
"""Nats by which the language model must at least prefer a look-alike. They are more for the many pairs that are less
near, since these are rarely exchanged, and texts use some of them for one another (具其, 齊齋). Measured with
`scripts/bench/language.py`."""


class LookAlikes:
    """A table of look-alikes. Each row of `rivals` (rows x `MAX_RIVALS`, code points) has a character, then its
    look-alikes, nearest first, then zeros; `margins` (rows x `MAX_RIVALS`) has the margin of each; `row_of` maps a code
    point to its row, -1 if it has none."""

    def __init__(self, pairs: Iterable[tuple[str, str, Nearness]]) -> None:
        look_alikes: defaultdict[int, dict[int, Nearness]] = defaultdict(dict)
        for first, second, nearness in pairs:
            look_alikes[ord(first)].setdefault(ord(second), nearness)
            look_alikes[ord(second)].setdefault(ord(first), nearness)
        self.rivals: Codes = np.zeros((len(look_alikes), MAX_RIVALS), np.uint32)
        self.margins = np.zeros((len(look_alikes), MAX_RIVALS), np.float32)
        self.row_of = np.full(HAN_END, -1, np.int32)
        self._nearest = np.full(HAN_END, -1, np.int8)
        for row, (code, others) in enumerate(sorted(look_alikes.items())):
            kept = dict(islice(others.items(), MAX_RIVALS - 1))
            self.rivals[row, : len(kept) + 1] = [code, *kept]
            self.margins[row, 1 : len(kept) + 1] = [MARGINS[nearness] for nearness in kept.values()]
            self.row_of[code] = row
            self._nearest[code] = max(others.values())

    @classmethod
    @cache
    def shipped(cls) -> LookAlikes:
        """The look-alikes that come with the program."""
        text = resources.files("proof.language").joinpath("data/look_alikes.tsv").read_text(encoding="utf-8")
        rows = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
        return cls(
            (first, second, _nearness(float(confused), origin)) for first, second, confused, _likeness, origin in rows
        )

    def has(self, tokens: Codes) -> NDArray[np.bool_]:
        """Whether each token is a character with look-alikes."""
        return np.asarray(self.row_of[np.minimum(tokens, HAN_END - 1)] >= 0)

    def places(self, tokens: Codes) -> NDArray[np.int64]:
        """The indices of the tokens that are characters with look-alikes."""
        return np.flatnonzero(self.has(tokens))

    def of(self, tokens: Codes) -> Codes:
        """The rows of `rivals` of characters with look-alikes (n x `MAX_RIVALS`)."""
        return np.asarray(self.rivals[self.row_of[tokens]])

    def margins_of(self, tokens: Codes) -> NDArray[np.float32]:
        """The rows of `margins` of characters with look-alikes (n x `MAX_RIVALS`)."""
        return np.asarray(self.margins[self.row_of[tokens]])

    def nearness_of(self, tokens: Codes) -> NDArray[np.int8]:
        """The nearness of the nearest look-alike of each token; -1 if it has none."""
        return np.asarray(self._nearest[np.minimum(tokens, HAN_END - 1)])


def _nearness(confused: float, origin: str) -> Nearness:
    """The nearness of a pair that a recogniser confuses with this probability; `origin` is the list that has it."""
    if origin in ("hand", "critics"):
        return Nearness.HAND
    return Nearness.EYE if origin or confused >= MIN_EYE_CONFUSION else Nearness.MEASURED


class Folding:
    """Maps the variant forms of a character to one form, so that contexts can be compared between editions.

    A character with look-alikes is not changed, since the language model decides between these. Results are cached for
    all texts."""

    def __init__(self, look_alikes: LookAlikes) -> None:
        self._row_of = look_alikes.row_of
        self._policy, self._table = policy_of(Script.TRADITIONAL), _folding_table(look_alikes)

    def __call__(self, tokens: Codes) -> Codes:
        """The folded tokens."""
        clipped = np.minimum(tokens, HAN_END - 1)
        for code in np.unique(clipped[self._table[clipped] == 0]):
            self._table[code] = self._folded_code(int(code))
        return np.asarray(self._table[clipped])

    def _folded_code(self, code: int) -> int:
        if self._row_of[code] >= 0 or code < 0x80:  # ASCII, breaks and unknown tokens
            return code
        folded = self._policy.standard_form(chr(code))
        return ord(folded) if len(folded) == 1 and ord(folded) < HAN_END else code


@cache
def _folding_table(_look_alikes: LookAlikes) -> Codes:
    """The folded character of each code point, for these look-alikes; 0 until `Folding` computes it."""
    return np.zeros(HAN_END, np.uint32)
