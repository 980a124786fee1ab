"""Scores of the characters that may stand at places of a text, from counts in the language and in the text.

The other pages of the text under check are a source beside the language. A page is no evidence for itself, nor is a
copy with the same reading, and passages of the training texts are subtracted from the counts first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from proof.language.copies import repeated_places
from proof.language.look_alikes import HAN_END, Codes, Folding
from proof.language.model import Counted
from proof.language.ngrams import PATTERNS, WIDE, Counts, Keys, Numbers, contexts_at, keys, mixed, windows
from proof.language.stream import TokenStream
from proof.language.terms import terms_with
from proof.language.weights import NOTHING, Floats, LanguageWeights, features

LONGEST = tuple(number for number, pattern in enumerate(PATTERNS) if len(pattern) == 4)
"""Patterns by which the reading of a copy of a passage is determined."""

PLACES_COUNTED_TOGETHER = 4_000
"""Places that are counted together. Memory grows with this number and the next one."""

PLACES_WEIGHED_TOGETHER = 500

MAX_RARE_SHARE = 0.005
"""Share of the expected occurrences up to which a character is rare in a text, which may write another one throughout.
The three bounds below decide whether it does. On six works on which they were not tuned, 0.36 of the characters that
are wrong throughout are found with them, 0.07 without, at the same number of false findings."""

MIN_SURE_NATS = 4.0
"""Nats in favour of the rare character, by the language alone, from which on a place of the other is sure."""

MIN_SURE_PLACES = 3
"""Number of sure places that are needed."""

MIN_SURE_SHARE = 0.05
"""Share of the places of the other character that must be sure."""

Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Met:
    """The counts of each candidate in the context of a place: in the language, and on the other pages of the text (n x
    patterns x k)."""

    language: Numbers
    text: Numbers


@dataclass(frozen=True, slots=True)
class TextTokens:
    """The texts of a work as one sequence of tokens: unchanged, folded, and the page of each, numbered through all
    texts; -1 for breaks."""

    raw: Codes
    folded: Codes
    page: NDArray[np.int32]

    @classmethod
    def of(cls, streams: Sequence[TokenStream], folding: Callable[[Codes], Codes] | Folding) -> TextTokens:
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
        `NOTHING` where a candidate is 0). The first candidate is the transcribed one.

        If a text writes one character throughout, that is no evidence against another one that is rare in it: if the
        language alone surely prefers that one at several places, the counts of the text are ignored between the two.
        """
        nats = np.empty(candidates.shape, np.float32)
        alone = np.full(candidates.shape, NOTHING, np.float32)
        lacking = self._lacking(candidates)
        for begin, met in self.met(places, candidates):
            for start in range(0, len(met.text), PLACES_WEIGHED_TOGETHER):
                part = slice(start, start + PLACES_WEIGHED_TOGETHER)
                batch = slice(begin + start, begin + min(start + PLACES_WEIGHED_TOGETHER, len(met.text)))
                language, text = met.language[part], met.text[part]
                nats[batch] = self._weighed(places[batch], candidates[batch], Met(language, text))
                rows = np.flatnonzero(lacking[batch].any(1))
                if len(rows):
                    at = begin + start + rows
                    unheard = Met(language[rows], np.zeros_like(text[rows]))
                    scores = self._weighed(places[at], candidates[at], unheard)
                    alone[at] = np.where(lacking[at], scores - scores[:, :1], NOTHING)
        throughout = _throughout(candidates, lacking, alone)
        nats[throughout] = np.maximum(nats, nats[:, :1] + alone)[throughout]
        return nats

    def _weighed(self, places: Places, candidates: Codes, met: Met) -> Floats:
        scores = self._weights.scores(self.shown(places, candidates, met))
        return np.asarray(np.where(candidates > 0, scores, NOTHING), np.float32)

    def _lacking(self, candidates: Codes) -> NDArray[np.bool_]:
        """Which candidates (n x k) are rare in the text, compared with the number that the language predicts from the
        occurrences of the first of the row."""
        met = self._occurrences[np.minimum(candidates, HAN_END - 1)]
        share = self._language.shares(candidates)
        lacking = (candidates > 0) & (met * share[:, :1] <= MAX_RARE_SHARE * met[:, :1] * share)
        lacking[:, 0] = False
        return np.asarray(lacking)

    @cached_property
    def _occurrences(self) -> Numbers:
        own = self._tokens.raw[self._tokens.page >= 0]
        return np.bincount(np.minimum(own, HAN_END - 1), minlength=HAN_END).astype(np.int32)

    def shown(self, places: Places, candidates: Codes, met: Met) -> Floats:
        """The features to which the weights are applied."""
        terms = terms_with(windows(self._tokens.folded, places), candidates)
        return features(met.language, met.text, self._language.shares(candidates), terms)

    def met(self, places: Places, candidates: Codes) -> Iterator[tuple[int, Met]]:
        """Yield the counts for batches of places, each with the number of its first place."""
        own = _OwnText(self._tokens, np.unique(candidates), self._repeated)
        for start in range(0, len(places), PLACES_COUNTED_TOGETHER):
            yield (
                start,
                self._met(
                    places[start : start + PLACES_COUNTED_TOGETHER],
                    candidates[start : start + PLACES_COUNTED_TOGETHER],
                    own,
                ),
            )

    @cached_property
    def _learned(self) -> NDArray[np.bool_]:
        return self._language.learned(self._tokens.folded)

    @cached_property
    def _repeated(self) -> NDArray[np.bool_]:
        return repeated_places(self._tokens.folded)

    def _met(self, places: Places, candidates: Codes, own: _OwnText) -> Met:
        page = self._tokens.page[places]
        shape = (len(places), len(PATTERNS), candidates.shape[1])
        language, text, whole = (np.zeros(shape, np.int32) for _ in range(3))
        rows, columns = np.nonzero(candidates)
        asked = candidates[rows, columns]
        for number in range(len(PATTERNS)):
            wanted = keys(contexts_at(self._tokens.folded, places, number)[rows], asked)
            met = own.whole[number].of_keys(wanted)
            language[rows, number, columns] = self._language.of_keys(number, wanted)
            whole[rows, number, columns] = np.maximum(met, columns == 0)
            text[rows, number, columns] = own.elsewhere(number, wanted, page[rows], met)
        copied = np.flatnonzero(self._repeated[places])
        if len(copied):
            text[copied, :, 0] = np.maximum(text[copied, :, 0] - own.copies(places[copied])[:, None], 0)
        learned = self._learned[places]
        if learned.any():
            language[learned] = _without_copy(language[learned], whole[learned])
        return Met(language, text)


def _throughout(candidates: Codes, lacking: NDArray[np.bool_], alone: Floats) -> NDArray[np.bool_]:
    """Which rare candidates (n x k) the text may write with the first one throughout: `alone` are the nats by which the
    language alone prefers each of them."""
    first = np.broadcast_to(candidates[:, :1], candidates.shape)[lacking].astype(np.uint64)
    pairs, of_pair = np.unique(first << np.uint64(32) | candidates[lacking], return_inverse=True)
    asked = np.bincount(of_pair, minlength=len(pairs))
    sure = np.bincount(of_pair, weights=alone[lacking] >= MIN_SURE_NATS, minlength=len(pairs))
    absent = np.zeros(candidates.shape, np.bool_)
    absent[lacking] = (sure >= np.maximum(MIN_SURE_PLACES, MIN_SURE_SHARE * asked))[of_pair]
    return absent


class _OwnText:
    """The counts in the text itself, over all its pages and for each page. Contexts that occur only once give no
    evidence and are left out, which saves most for longer patterns."""

    def __init__(self, tokens: TextTokens, centres: Codes, repeated: NDArray[np.bool_]) -> None:
        """`repeated` says for every token whether it is in a passage that the text has several times."""
        self.whole: list[Counts] = []
        self._pages: list[Counts] = []
        self._tokens = tokens
        places = own_places(tokens, centres)
        for number in range(len(PATTERNS)):
            self._count(number, places)
        self._count(WIDE, places[repeated[places]])

    def _count(self, number: int, places: Places) -> None:
        contexts = contexts_at(self._tokens.folded, places, number)
        again = _met_again(contexts)
        met = keys(contexts[again], self._tokens.raw[places[again]])
        self.whole.append(Counts.of(met))
        self._pages.append(Counts.of(on_page(met, self._tokens.page[places[again]]), 32))

    def copies(self, places: Places) -> Numbers:
        """How often the passages around places occur on other pages with the same character in the middle."""
        wanted = keys_at(self._tokens, places, WIDE)
        return self.elsewhere(WIDE, wanted, self._tokens.page[places], self.whole[WIDE].of_keys(wanted))

    def elsewhere(self, number: int, wanted: Keys, page: NDArray[np.int32], whole: Numbers) -> Numbers:
        """How often the keys of a pattern occur on other pages than these; `whole` are their counts on all pages."""
        counts = np.zeros(wanted.shape, np.int32)
        complete = np.flatnonzero(whole)
        here = self._pages[number].of_keys(on_page(wanted[complete], page[complete]))
        counts[complete] = np.maximum(whole[complete] - here, 0)
        return counts


def _met_again(contexts: Keys) -> Places:
    """The contexts that occur more than once."""
    order = np.argsort(contexts)
    same = contexts[order[1:]] == contexts[order[:-1]]
    again = np.concatenate([[False], same]) | np.concatenate([same, [False]])
    return np.sort(order[again[: len(order)]])


def own_places(tokens: TextTokens, centres: Codes) -> Places:
    """The places of these characters in the text."""
    wanted = np.zeros(HAN_END, np.bool_)
    wanted[np.minimum(centres, HAN_END - 1)] = True
    wanted[0] = False
    return np.flatnonzero(wanted[np.minimum(tokens.raw, HAN_END - 1)] & (tokens.page >= 0))


def keys_at(tokens: TextTokens, places: Places, number: int) -> Keys:
    """The keys of a pattern around places of the text."""
    return keys(contexts_at(tokens.folded, places, number), tokens.raw[places])


def on_page(met: Keys, page: NDArray[np.int32]) -> Keys:
    """The keys combined with their pages."""
    return mixed(met ^ page.astype(np.uint64))


def _without_copy(language: Numbers, whole: Numbers) -> Numbers:
    """The counts of the language at places of passages in the training texts, without the contribution of this text or
    its copy: the text's own counts, or, if the copy has another character here, one occurrence of that."""
    rest: Numbers = np.maximum(language - whole, 0)
    spoken = rest[:, LONGEST, :].sum(1)
    spoken[:, 0] = 0
    reading = spoken.argmax(1)
    other = spoken.max(1) > 0
    places = np.flatnonzero(other)
    rest[places, :, reading[places]] = np.maximum(rest[places, :, reading[places]] - 1, 0)
    return rest
