"""Scores of the characters that may stand at places of a text, from counts in the language and in the text.

The other pages of the text are a source of counts beside the language. A page is no evidence for itself, nor is a copy
with the same reading. The counts of a passage that the training texts have are subtracted from those of the language
first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from proof.language.copies import repeated_places
from proof.language.look_alikes import HAN_END, Codes
from proof.language.model import Counted
from proof.language.ngrams import PATTERNS, WIDE, Counts, Keys, Numbers, contexts_at, hashed, keys, windows
from proof.language.stream import TokenStream
from proof.language.terms import terms_with
from proof.language.weights import NO_CANDIDATE, Floats, LanguageWeights, features

COPY_PATTERNS = tuple(number for number, pattern in enumerate(PATTERNS) if len(pattern) == 4)
"""The longest patterns, by which the reading of a copy of a passage is determined."""

PLACES_COUNTED_TOGETHER = 4_000
"""Number of places that are counted together. Memory grows with this number."""

PLACES_SCORED_TOGETHER = 500
"""Number of places that are scored together. Memory grows with this number."""

MAX_RARE_SHARE = 0.005
"""Share of the expected occurrences up to which a character is rare in a text. The text may then write another
character for it throughout; the three bounds below decide whether it does. On six works on which they were not tuned,
0.36 of the characters that are wrong throughout are found with them, 0.07 without, at the same number of false
findings."""

MIN_SURE_NATS = 4.0
"""Nats by which the language without the text must prefer the rare character for a place of the other one to be sure.
"""

MIN_SURE_PLACES = 3
"""Minimum number of sure places."""

MIN_SURE_SHARE = 0.05
"""Minimum share of sure places among those of the other character."""

Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class CandidateCounts:
    """How often each of the k candidates for n places occurs in the context of its place (n x patterns x k): in the
    language, and on the other pages of the text."""

    language: Numbers
    text: Numbers


@dataclass(frozen=True, slots=True)
class TextTokens:
    """The texts of a work as one sequence of tokens: unchanged (`raw`) and `folded`. `page` is the page of each token,
    numbered through all texts; -1 for breaks."""

    raw: Codes
    folded: Codes
    page: NDArray[np.int32]

    @classmethod
    def of(cls, streams: Sequence[TokenStream], folding: Callable[[Codes], Codes]) -> TextTokens:
        """The texts in this order."""
        raw = np.concatenate([stream.tokens for stream in streams])
        pages, first = [], 0
        for stream in streams:
            pages.append(np.where(stream.page >= 0, stream.page + first, -1).astype(np.int32))
            first += stream.pages
        return cls(raw, folding(raw), np.concatenate(pages))


class ContextScores:
    """The scores of the language model for one work under check."""

    def __init__(self, tokens: TextTokens, language: Counted, weights: LanguageWeights) -> None:
        self._tokens = tokens
        self._language = language
        self._weights = weights

    def scores(self, places: Places, candidates: Codes) -> Floats:
        """The scores of the candidates at each place (n x k, log-probabilities up to a constant for each place;
        `NO_CANDIDATE` where a candidate is 0). The first candidate is the transcribed one.

        If a text writes one character throughout, that is no evidence against another one that is rare in it: if the
        language without the text prefers the rare one at several sure places, the counts of the text are ignored
        between the two.
        """
        nats = np.empty(candidates.shape, np.float32)
        advantage = np.full(candidates.shape, NO_CANDIDATE, np.float32)
        rare = self._rare(candidates)
        for start, counts in self._small_batches(places, candidates):
            batch = slice(start, start + len(counts.text))
            nats[batch] = self._scores(places[batch], candidates[batch], counts)
            rows = np.flatnonzero(rare[batch].any(1))
            if len(rows):
                with_rare = start + rows
                language_alone = CandidateCounts(counts.language[rows], np.zeros_like(counts.text[rows]))
                scores = self._scores(places[with_rare], candidates[with_rare], language_alone)
                advantage[with_rare] = np.where(rare[with_rare], scores - scores[:, :1], NO_CANDIDATE)
        text_ignored = _may_replace_throughout(candidates, rare, advantage)
        nats[text_ignored] = np.maximum(nats, nats[:, :1] + advantage)[text_ignored]
        return nats

    def _small_batches(self, places: Places, candidates: Codes) -> Iterator[tuple[int, CandidateCounts]]:
        """The counts for the batches of places that are scored together, each with the index of its first place."""
        for begin, counts in self.counts(places, candidates):
            for start in range(0, len(counts.text), PLACES_SCORED_TOGETHER):
                part = slice(start, start + PLACES_SCORED_TOGETHER)
                yield begin + start, CandidateCounts(counts.language[part], counts.text[part])

    def _scores(self, places: Places, candidates: Codes, counts: CandidateCounts) -> Floats:
        scores = self._weights.scores(self.features(places, candidates, counts))
        return np.asarray(np.where(candidates > 0, scores, NO_CANDIDATE), np.float32)

    def _rare(self, candidates: Codes) -> NDArray[np.bool_]:
        """Which candidates (n x k) are rare in the text: they occur there much less often than the language predicts
        from the occurrences of the first candidate of their row."""
        occurrences = self._occurrences[np.minimum(candidates, HAN_END - 1)]
        share = self._language.shares(candidates)
        rare = (candidates > 0) & (occurrences * share[:, :1] <= MAX_RARE_SHARE * occurrences[:, :1] * share)
        rare[:, 0] = False
        return np.asarray(rare)

    @cached_property
    def _occurrences(self) -> Numbers:
        """How often each character occurs in the text, by its code."""
        characters = self._tokens.raw[self._tokens.page >= 0]
        return np.bincount(np.minimum(characters, HAN_END - 1), minlength=HAN_END).astype(np.int32)

    def features(self, places: Places, candidates: Codes, counts: CandidateCounts) -> Floats:
        """The features of the candidates, to which the weights are applied."""
        terms = terms_with(windows(self._tokens.folded, places), candidates)
        return features(counts.language, counts.text, self._language.shares(candidates), terms)

    def counts(self, places: Places, candidates: Codes) -> Iterator[tuple[int, CandidateCounts]]:
        """The counts for batches of places, each with the index of its first place."""
        text_counts = _TextCounts(self._tokens, np.unique(candidates), self._repeated)
        for start in range(0, len(places), PLACES_COUNTED_TOGETHER):
            batch = slice(start, start + PLACES_COUNTED_TOGETHER)
            yield start, self._counts(places[batch], candidates[batch], text_counts)

    @cached_property
    def _learned(self) -> NDArray[np.bool_]:
        """For each token, whether the training texts have its passage."""
        return self._language.learned(self._tokens.folded)

    @cached_property
    def _repeated(self) -> NDArray[np.bool_]:
        """For each token, whether the text has its passage several times."""
        return repeated_places(self._tokens.folded)

    def _counts(self, places: Places, candidates: Codes, text_counts: _TextCounts) -> CandidateCounts:
        page = self._tokens.page[places]
        shape = (len(places), len(PATTERNS), candidates.shape[1])
        language, text, in_text = (np.zeros(shape, np.int32) for _ in range(3))
        rows, columns = np.nonzero(candidates)
        centres = candidates[rows, columns]
        for number in range(len(PATTERNS)):
            sought = keys(contexts_at(self._tokens.folded, places, number)[rows], centres)
            on_all_pages = text_counts.on_all_pages[number].of_keys(sought)
            language[rows, number, columns] = self._language.of_keys(number, sought)
            in_text[rows, number, columns] = np.maximum(on_all_pages, columns == 0)
            text[rows, number, columns] = text_counts.elsewhere(number, sought, page[rows], on_all_pages)
        copied = np.flatnonzero(self._repeated[places])
        if len(copied):
            text[copied, :, 0] = np.maximum(text[copied, :, 0] - text_counts.copies(places[copied])[:, None], 0)
        learned = self._learned[places]
        if learned.any():
            language[learned] = _without_copy(language[learned], in_text[learned])
        return CandidateCounts(language, text)


def _may_replace_throughout(candidates: Codes, rare: NDArray[np.bool_], advantage: Floats) -> NDArray[np.bool_]:
    """The `rare` candidates (n x k) in whose place the text may write the transcribed character, the first of their
    row, throughout. `advantage` is by how many nats the language without the text prefers each of them to that."""
    transcribed = np.broadcast_to(candidates[:, :1], candidates.shape)[rare].astype(np.uint64)
    pairs, pair_of = np.unique(transcribed << np.uint64(32) | candidates[rare], return_inverse=True)
    places = np.bincount(pair_of, minlength=len(pairs))
    sure = np.bincount(pair_of, weights=advantage[rare] >= MIN_SURE_NATS, minlength=len(pairs))
    may_replace = np.zeros(candidates.shape, np.bool_)
    may_replace[rare] = (sure >= np.maximum(MIN_SURE_PLACES, MIN_SURE_SHARE * places))[pair_of]
    return may_replace


class _TextCounts:
    """The counts in the text itself by pattern: on all pages together and on each page. Contexts that occur only once
    are no evidence and are left out, which saves most memory for the longer patterns."""

    def __init__(self, tokens: TextTokens, centres: Codes, repeated: NDArray[np.bool_]) -> None:
        """`repeated` says of every token whether it is in a passage that the text has several times."""
        self.on_all_pages: list[Counts] = []
        self._on_each_page: list[Counts] = []
        self._tokens = tokens
        places = places_of(tokens, centres)
        for number in range(len(PATTERNS)):
            self._count(number, places)
        self._count(WIDE, places[repeated[places]])

    def _count(self, number: int, places: Places) -> None:
        contexts = contexts_at(self._tokens.folded, places, number)
        repeated = _repeated_indices(contexts)
        places = places[repeated]
        occurrences = keys(contexts[repeated], self._tokens.raw[places])
        self.on_all_pages.append(Counts.of(occurrences))
        self._on_each_page.append(Counts.of(on_page(occurrences, self._tokens.page[places]), 32))

    def copies(self, places: Places) -> Numbers:
        """How often the passages around places occur on other pages with the same character in the middle."""
        sought = keys_at(self._tokens, places, WIDE)
        return self.elsewhere(WIDE, sought, self._tokens.page[places], self.on_all_pages[WIDE].of_keys(sought))

    def elsewhere(self, number: int, sought: Keys, page: NDArray[np.int32], on_all_pages: Numbers) -> Numbers:
        """How often each key of a pattern occurs on other pages than its own (`page`); `on_all_pages` are the counts of
        the keys on all pages."""
        counts = np.zeros(sought.shape, np.int32)
        counted = np.flatnonzero(on_all_pages)
        on_this_page = self._on_each_page[number].of_keys(on_page(sought[counted], page[counted]))
        counts[counted] = np.maximum(on_all_pages[counted] - on_this_page, 0)
        return counts


def _repeated_indices(contexts: Keys) -> Places:
    """The indices of the contexts that occur more than once, ascending."""
    _, number, occurrences = np.unique(contexts, return_inverse=True, return_counts=True)
    return np.flatnonzero(occurrences[number] > 1)


def places_of(tokens: TextTokens, centres: Codes) -> Places:
    """The places of these characters in the text."""
    sought = np.zeros(HAN_END, np.bool_)
    sought[np.minimum(centres, HAN_END - 1)] = True
    sought[0] = False
    return np.flatnonzero(sought[np.minimum(tokens.raw, HAN_END - 1)] & (tokens.page >= 0))


def keys_at(tokens: TextTokens, places: Places, number: int) -> Keys:
    """The keys of a pattern around places of the text."""
    return keys(contexts_at(tokens.folded, places, number), tokens.raw[places])


def on_page(occurrences: Keys, page: NDArray[np.int32]) -> Keys:
    """The keys of occurrences, each combined with the number of its page."""
    return hashed(occurrences ^ page.astype(np.uint64))


def _without_copy(language: Numbers, in_text: Numbers) -> Numbers:
    """The counts of the language at places whose passage the training texts have, without those that come from this
    passage. These are the counts of the text itself, on all pages (`in_text`), and, if the training texts have another
    character there, one occurrence of that character."""
    remaining: Numbers = np.maximum(language - in_text, 0)
    in_long_contexts = remaining[:, COPY_PATTERNS, :].sum(1)
    in_long_contexts[:, 0] = 0
    reading = in_long_contexts.argmax(1)
    places = np.flatnonzero(in_long_contexts.max(1) > 0)
    remaining[places, :, reading[places]] = np.maximum(remaining[places, :, reading[places]] - 1, 0)
    return remaining
