"""Scores of how well any characters, not only look-alikes, fit between the two neighbours of a place.

The actual count of a character beside a neighbour, in the language and on the other pages of the text, is compared with
the count that is expected by chance from the frequencies of the two, and shrunk towards it (a gamma prior, after
DuMouchel 1999)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from proof.language.evidence import Places, TextTokens, on_page
from proof.language.look_alikes import Codes, Folding, LookAlikes
from proof.language.model import Counted
from proof.language.ngrams import AFTER, BEFORE, Counts, Numbers, pair_keys
from proof.language.stream import UNKNOWN
from proof.language.weights import NO_CANDIDATE, Floats

PRIOR_COUNT = 1.0
"""Number of occurrences that are added to the actual and to the expected count. A pair that never occurs is then hardly
any evidence if less than one occurrence is expected: a rare word is no error."""

FREQUENCY_WEIGHT = 0.25
"""Weight of the frequency of a character itself (0 to 1). Fitted: log loss 0.0949, 0.0934, 0.0941 and 0.1001 at 0,
0.25, 0.5 and 1; with half of `PRIOR_COUNT` 0.0930, with twice 0.0944."""

PASSAGE_REACH = 20
"""Number of characters on either side of a place by which the familiarity of its passage is measured. With fewer, rare
words would often decide by chance."""

MIN_FAMILIAR_SHARE = 0.8
"""Share of known pairs in a passage from which on the language model has its full weight. Its weight is in proportion
to a lower share, as among foreign names.

Fitted with twelve characters on either side, of which the language alone knew the pairs, on the pages to which
`proof.verify.scores.CONTEXT_WEIGHT` was fitted and on 60 pages of the corpus that the language knows least (0.40 of
their pairs; 0.85 to 0.95 of the others'). Compared with equal weight everywhere: log loss 0.169, not 0.178; 42 false
flags, not 47; 1,773 errors raised, not 1,772. With `PASSAGE_REACH` and the other pages of the text, as now, shares from
0 to 1 made no difference on 70 other pages."""


@dataclass(frozen=True, slots=True)
class PairCounts:
    """How often candidates occur with the neighbour before a place and with the one after it (n x k each)."""

    before: Numbers
    behind: Numbers


class Neighbours:
    """The evidence of the neighbours at places of a text."""

    def __init__(self, tokens: TextTokens, language: Counted) -> None:
        self._tokens = tokens
        self._language = language
        self._folding = Folding(LookAlikes.shipped())
        places = np.flatnonzero(tokens.page >= 0)
        pairs = pair_keys(tokens.folded[places - 1], tokens.raw[places])
        self._in_text = Counts.of(pairs)
        self._by_page = Counts.of(on_page(pairs, tokens.page[places]), 32)

    def scores(self, places: Places, candidates: Codes, pair_counts: PairCounts) -> Floats:
        """The score of each candidate (n x k) at its place, by its counts with the neighbours, in nats up to
        a constant for each place; `NO_CANDIDATE` for a candidate 0."""
        share = self._language.frequency(candidates)

        def log_ratio(counts: Numbers, neighbours: Codes) -> Floats:
            expected = share * self._language.occurrences(neighbours)[:, None]
            return np.asarray(np.log((counts + PRIOR_COUNT) / (expected + PRIOR_COUNT)))

        before = log_ratio(pair_counts.before, self._tokens.raw[places - 1])
        behind = log_ratio(pair_counts.behind, self._tokens.raw[places + 1])
        scores = before + behind + FREQUENCY_WEIGHT * np.log(share)
        return np.asarray(np.where(candidates > 0, scores, NO_CANDIDATE), np.float32)

    def counts(self, places: Places, candidates: Codes) -> PairCounts:
        """The counts of each candidate (n x k) with the neighbours of its place, without those on the page of the
        place. The first candidate of a row is the transcribed character."""
        shape = candidates.shape
        rows = np.repeat(np.arange(len(places)), shape[1])
        origin = _PairOrigins(
            self._tokens.page[places][rows], self._learned[places][rows], np.arange(len(rows)) % shape[1] > 0
        )
        flat = candidates.ravel()
        before = self._pair_counts(self._tokens.folded[places - 1][rows], flat, origin)
        behind = self._pair_counts(self._folding(flat), self._tokens.raw[places + 1][rows], origin)
        return PairCounts(before.reshape(shape), behind.reshape(shape))

    def _pair_counts(self, first: Codes, second: Codes, origin: _PairOrigins) -> Numbers:
        """The counts of pairs of characters in the language and on other pages; the first ones are folded."""
        keys = pair_keys(first, second)
        in_text = self._in_text.of_keys(keys)
        on_this_page = self._by_page.of_keys(on_page(keys, origin.page))
        # The training texts may have a copy of the passage. Its pairs are subtracted as often as the text has them. As
        # the copy may read any of the other candidates here, one occurrence more is subtracted for each of these.
        of_copy = np.where(origin.learned, in_text + origin.other, 0)
        in_language = np.maximum(self._in_language(first, second) - of_copy, 0)
        return np.asarray(in_language + np.maximum(in_text - on_this_page, 0), np.int32)

    def trust(self, places: Places) -> Floats:
        """The weight (0 to 1) of the language model at each place, by the familiarity of its passage: the share of
        known pairs among the pairs of characters within `PASSAGE_REACH`, without those of the place itself. A pair is
        known if the language or another page of the text has it. One is added to the numbers of known pairs and of all
        pairs, so that few pairs decide little."""
        steps = np.array([step for step in range(1 - PASSAGE_REACH, PASSAGE_REACH + 1) if step not in (0, 1)])
        ends = np.clip(places[:, None] + steps, 1, len(self._tokens.raw) - 1).ravel()
        first, second = self._tokens.folded[ends - 1], self._tokens.raw[ends]
        pairs = (first > UNKNOWN) & (second > UNKNOWN)
        keys = pair_keys(first, second)
        in_text, page = self._in_text.of_keys(keys), np.repeat(self._tokens.page[places], len(steps))
        # occurrences in the passage itself do not make a pair known, though the training texts have the passage
        in_language = self._in_language(first, second) - np.where(self._learned[ends], in_text, 0)
        known = (in_language > 0) | (in_text > self._by_page.of_keys(on_page(keys, page)))
        shape = (len(places), len(steps))
        share = ((pairs & known).reshape(shape).sum(1) + 1) / (pairs.reshape(shape).sum(1) + 1)
        return np.asarray(np.minimum(share.astype(np.float32) / MIN_FAMILIAR_SHARE, 1.0), np.float32)

    def _in_language(self, first: Codes, second: Codes) -> Numbers:
        """The counts of pairs in the language; the first of each is folded. The model counts a pair for the second
        character, or for the first if only that one has look-alikes."""
        counts = self._language.of_keys(BEFORE, pair_keys(first, second))
        has_look_alikes = LookAlikes.shipped().has
        under_first = np.flatnonzero(has_look_alikes(first) & ~has_look_alikes(second))
        counts[under_first] += self._language.of_keys(
            AFTER, pair_keys(self._folding(second[under_first]), first[under_first], AFTER)
        )
        return counts

    @cached_property
    def _learned(self) -> NDArray[np.bool_]:
        return self._language.learned(self._tokens.folded)


@dataclass(frozen=True, slots=True)
class _PairOrigins:
    """Where pairs come from, which decides how much is subtracted from their counts: the page of each, whether the
    training texts have its passage (`learned`), and whether its candidate is an `other` than the transcribed
    character."""

    page: NDArray[np.int32]
    learned: NDArray[np.bool_]
    other: NDArray[np.bool_]
