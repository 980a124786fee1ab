"""Terms of closed systems, such as the calendar, in which one character follows from the other.

The sixty days and years (干支) combine a stem and a branch of equal parity: before 丑 there is 己, never 已, and after
乙 there is 巳. Reign names are in `data/reigns.txt`."""

from __future__ import annotations

from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from proof.language.look_alikes import Codes
from proof.language.stream import MARGIN_TOKENS

STEMS = "甲乙丙丁戊己庚辛壬癸"
BRANCHES = "子丑寅卯辰巳午未申酉戌亥"


@cache
def closed_terms() -> frozenset[str]:
    """The terms, each of two characters."""
    text = resources.files("proof.language").joinpath("data/reigns.txt").read_text(encoding="utf-8")
    reigns = (name for line in text.splitlines() if not line.startswith("#") for name in line.split())
    days = (STEMS[n % 10] + BRANCHES[n % 12] for n in range(60))
    return frozenset((*days, *(name for name in reigns if len(name) == 2)))


@cache
def _codes() -> NDArray[np.uint64]:
    """The terms as sorted numbers: the code point of the first character, then that of the second, of 32 bits each."""
    return np.sort(np.array([ord(term[0]) << 32 | ord(term[1]) for term in closed_terms()], np.uint64))


def _are_terms(first: Codes, second: Codes) -> NDArray[np.bool_]:
    """Whether each pair of a first and a second character is a closed term."""
    pairs = first.astype(np.uint64) << np.uint64(32) | second.astype(np.uint64)
    terms = _codes()
    nearest = np.minimum(np.searchsorted(terms, pairs), len(terms) - 1)
    return np.asarray(terms[nearest] == pairs)


def terms_with(around: Codes, candidates: Codes) -> NDArray[np.int32]:
    """The number of terms that each candidate for the middle of a window (n x k) forms with the neighbour before or
    after it; the windows are n x width."""
    before, behind = around[:, MARGIN_TOKENS - 1, None], around[:, MARGIN_TOKENS + 1, None]
    before, behind = np.broadcast_to(before, candidates.shape), np.broadcast_to(behind, candidates.shape)
    count = _are_terms(before, candidates).astype(np.int32) + _are_terms(candidates, behind).astype(np.int32)
    return np.where(candidates > 0, count, 0).astype(np.int32)
