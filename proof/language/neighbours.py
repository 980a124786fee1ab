"""Scores of how well a character fits between its two neighbours, for any character, not only look-alikes.

Its counts with either neighbour, in the language and on the other pages of the text, are compared with those expected
by chance from the frequencies of both characters, and shrunk towards these (a gamma prior, after DuMouchel 1999)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from proof.language.evidence import Places, TextTokens, on_page
from proof.language.look_alikes import PLANE, Codes, Folding, LookAlikes
from proof.language.model import Counted
from proof.language.ngrams import BEFORE, BEHIND, Counts, Numbers, pair_keys
from proof.language.stream import UNKNOWN
from proof.language.weights import NOTHING, Floats

FIRM = 1.0
"""Occurrences added to the actual and the expected counts: that a pair with an expected count below one never occurs is
hardly any evidence, and a rare word is no error."""

COMMON = 0.25
"""Weight of the frequency of a character itself (0 to 1). Fitted: log loss 0.0949, 0.0934, 0.0941 and 0.1001 at 0,
0.25, 0.5 and 1; with half of `FIRM` 0.0930, with twice 0.0944."""


AROUND = 20
"""Characters on either side from which it is measured how well the language knows a passage; fewer would often be rare
words by chance."""


FAMILIAR = 0.8
"""Share of the pairs around a place that the language has met from which on it is heard in full; of a passage that it
knows less, as of foreign names, it is heard by so much less. Fitted over the pages that `CONTEXT`
was fitted to and 60 of the corpus of which the language knows least, told by twelve characters around and by the
language alone (it had met 0.40 of their pairs, 0.85 to 0.95 of the others'): log loss 0.178 where it is heard alike
everywhere, 0.169 so; false flags 47 and 42, errors raised 1,772 and 1,773. Told by more, as now, it made no
difference on 70 other pages, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """The counts of characters with the neighbour before and with the one after (n x k each)."""

    before: Numbers
    behind: Numbers


class Neighbours:
    """The evidence of neighbours at places of a text."""

    def __init__(self, tokens: TextTokens, language: Counted) -> None:
        self._tokens = tokens
        self._language = language
        self._folding = Folding(LookAlikes.shipped())
        places = np.flatnonzero(tokens.page >= 0)
        met = pair_keys(tokens.folded[places - 1], tokens.raw[places])
        self._whole = Counts.of(met)
        self._pages = Counts.of(on_page(met, tokens.page[places]), 32)

    def scores(self, places: Places, candidates: Codes, met: Pairs) -> Floats:
        """The score of each candidate at each place (n x k), logarithms up to a constant for each place; `NOTHING`
        where a candidate is 0."""
        share = self._language.frequency(candidates)
        beside = [self._language.occurrences(self._tokens.raw[places + step])[:, None] for step in (-1, 1)]
        return fitting(candidates, share, met, beside)

    def met(self, places: Places, candidates: Codes) -> Pairs:
        """The counts of each candidate (n x k) with the neighbours of its place, without those on its own page. The
        first of a row is the transcribed one."""
        shape = candidates.shape
        rows = np.repeat(np.arange(len(places)), shape[1])
        taken = _Taken(
            self._tokens.page[places][rows], self._learned[places][rows], np.arange(len(rows)) % shape[1] > 0
        )
        own = candidates.ravel()
        before = self._counted(self._tokens.folded[places - 1][rows], own, taken)
        behind = self._counted(self._folding(own), self._tokens.raw[places + 1][rows], taken)
        return Pairs(before.reshape(shape), behind.reshape(shape))

    def _counted(self, first: Codes, second: Codes, taken: _Taken) -> Numbers:
        """The counts of pairs, the first of each folded."""
        wanted = pair_keys(first, second)
        whole = self._whole.of_keys(wanted)
        here = self._pages.of_keys(on_page(wanted, taken.page))
        language = self._in_language(first, second)
        # of a copy of the text it is not known which of the others it reads
        brought = np.where(taken.learned, whole + taken.other, 0)
        return np.asarray(np.maximum(language - brought, 0) + np.maximum(whole - here, 0), np.int32)

    def known(self, places: Places) -> Floats:
        """How well the language knows the passage around each place (n, 0 to 1): the share of the pairs of characters
        within `AROUND`, without the place itself, that the language or another page of the text has. One is added to
        the pairs, since few of them give little evidence."""
        steps = np.array([step for step in range(1 - AROUND, AROUND + 1) if step not in (0, 1)])
        second = np.clip(places[:, None] + steps, 1, len(self._tokens.raw) - 1).ravel()
        first, behind = self._tokens.folded[second - 1], self._tokens.raw[second]
        pairs = (first > UNKNOWN) & (behind > UNKNOWN)
        wanted = pair_keys(first, behind)
        whole, page = self._whole.of_keys(wanted), np.repeat(self._tokens.page[places], len(steps))
        # a passage that was learned is known by what else was
        language = self._in_language(first, behind) - np.where(self._learned[second], whole, 0)
        met = (language > 0) | (whole > self._pages.of_keys(on_page(wanted, page)))
        shape = (len(places), len(steps))
        count, hits = pairs.reshape(shape).sum(1), (pairs & met).reshape(shape).sum(1)
        return np.asarray((hits + 1) / (count + 1), np.float32)

    def _in_language(self, first: Codes, second: Codes) -> Numbers:
        """The counts of pairs in the language, the first of each folded; forms of a character with look-alikes have no
        counts of their own."""
        counts = self._language.of_keys(BEFORE, pair_keys(first, second))
        alike = LookAlikes.shipped().row_of >= 0
        around_first = alike[np.minimum(first, PLANE - 1)] & ~alike[np.minimum(second, PLANE - 1)]
        around = np.flatnonzero(around_first)
        counts[around] += self._language.of_keys(
            BEHIND, pair_keys(self._folding(second[around]), first[around], BEHIND)
        )
        return counts

    @cached_property
    def _learned(self) -> NDArray[np.bool_]:
        return self._language.learned(self._tokens.folded)


@dataclass(frozen=True, slots=True)
class _Taken:
    """What is subtracted from counts: for each the page, whether the passage is in the training texts, and whether the
    candidate differs from the transcribed character."""

    page: NDArray[np.int32]
    learned: NDArray[np.bool_]
    other: NDArray[np.bool_]


def fitting(
    candidates: Codes, share: Floats, met: Pairs, beside: Sequence[Floats], firm: float = FIRM, common: float = COMMON
) -> Floats:
    """The scores, from the share of each candidate among all characters (n x k) and the counts of both neighbours
    (n x 1)."""
    before, behind = (
        np.log((counts + firm) / (share * occurrences + firm))
        for counts, occurrences in zip((met.before, met.behind), beside, strict=True)
    )
    return np.asarray(np.where(candidates > 0, before + behind + common * np.log(share), NOTHING), np.float32)


def trusted(known: Floats, familiar: float = FAMILIAR) -> Floats:
    """The weight of the language model (0 to 1) in passages that the language knows so well."""
    return np.asarray(np.minimum(known / familiar, 1.0), np.float32)
