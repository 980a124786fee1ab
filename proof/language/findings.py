"""Finding the places of a work where the language model contradicts the transcription."""

from __future__ import annotations

import ctypes
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proof.language.evidence import CandidateCounts, ContextScores, Places, TextTokens, keys_at, places_of
from proof.language.look_alikes import Codes, Folding, LookAlikes
from proof.language.model import Counted
from proof.language.ngrams import PATTERNS, Keys, contexts_at, keys
from proof.language.stream import BREAK, UNKNOWN, stream_of
from proof.language.weights import NO_CANDIDATE, LanguageWeights
from proof.model.flags import LANGUAGE, Evidence, Flag, Kind, LanguageReading
from proof.text.contexts import context_of
from proof.text.model import Page, Script
from proof.text.transcription import Transcription
from proof.text.variants import policy_of

CAUTION_NATS = 1.125
"""Nats subtracted from all odds, since errors are rarer than in the material on which the weights were fitted. The
default threshold then raises four places per 10,000 characters of correct text (`scripts/bench/language.py`)."""

MIN_ODDS_NATS = 1.5
"""Minimum odds, in nats, of a finding, raised or not."""

SHOWN_PATTERNS = tuple(
    number
    for number, pattern in enumerate(PATTERNS)
    if len(pattern) <= 3 and max(*pattern, 0) - min(*pattern, 0) == len(pattern)
)
"""The indices of patterns that span two to four consecutive characters, which can be shown to people."""

MAX_PART_LENGTH = 1_000_000
"""Maximum number of code points that are processed together, about 6,000 pages. It bounds the memory, and the
recomputation after a change, for works of any length."""

MAX_NAMED_PAGES = 3
"""Maximum number of other pages that a finding names as evidence."""


@dataclass(frozen=True, slots=True)
class PagePosition:
    """A page of a work: the index of its text in the work, and of the page in the text."""

    text: int
    page: int


@dataclass(frozen=True, slots=True)
class LanguageEvidence:
    """The language model's evidence on one place: `odds` of the `suggested` character against the transcribed one, in
    nats, less `CAUTION_NATS` and the margin of the pair; `reading` has the counts. `column` is the index of the column
    in the page, `offset` the code point in its source."""

    where: PagePosition
    column: int
    offset: int
    transcribed: str
    suggested: str
    odds: float
    reading: LanguageReading


def evidence(
    texts: Sequence[Transcription],
    language: Counted,
    weights: LanguageWeights,
    pages: Collection[PagePosition] | None = None,
) -> list[LanguageEvidence]:
    """The places of a work where the language model prefers a look-alike of the transcribed character by at least
    `MIN_ODDS_NATS`; only those on `pages`, if given (the other pages still count as context). A work of more than
    `MAX_PART_LENGTH` code points is processed in parts, which do not share context."""
    findings: list[LanguageEvidence] = []
    for first, part in _parts(texts):
        of_part = None
        if pages is not None:
            in_part = (page for page in pages if 0 <= page.text - first < len(part))
            of_part = {PagePosition(page.text - first, page.page) for page in in_part}
            if not of_part:
                continue
        for finding in _in_part(_Work(part, language, weights), of_part):
            findings.append(replace(finding, where=PagePosition(finding.where.text + first, finding.where.page)))
        _release_memory()
    return findings


def _release_memory() -> None:
    """Make the C library return freed memory to the system; glibc keeps 80 MB after each part of a work."""
    with suppress(AttributeError, OSError, TypeError):  # other C libraries lack this function
        ctypes.CDLL(None).malloc_trim(0)


def _parts(texts: Sequence[Transcription]) -> Iterator[tuple[int, Sequence[Transcription]]]:
    """The texts of a work in groups of at most `MAX_PART_LENGTH` code points (a longer text is a group of its own),
    each with the index of its first text."""
    first, size = 0, 0
    for number, text in enumerate(texts):
        size += len(text.text)
        if size > MAX_PART_LENGTH and number > first:
            yield first, texts[first:number]
            first, size = number, len(text.text)
    if texts:
        yield first, texts[first:]


def _in_part(work: _Work, pages: Collection[PagePosition] | None) -> list[LanguageEvidence]:
    places = work.places(pages)
    transcribed = work.tokens.raw[places]
    candidates = LookAlikes.shipped().of(transcribed)
    best, odds = best_against(work.contexts, places, candidates, LookAlikes.shipped().margins_of(transcribed))
    chosen = np.flatnonzero(odds >= MIN_ODDS_NATS)
    pairs = np.stack([candidates[chosen, 0], candidates[chosen, best[chosen]]], axis=1)
    return work.evidence(places[chosen], pairs.astype(np.uint32), odds[chosen])


def places_with_look_alikes(tokens: TextTokens) -> Places:
    """The places of characters that have look-alikes and at least one neighbouring character, since an isolated
    character (in a table, or alone on a page) has no context."""
    places = LookAlikes.shipped().places(tokens.raw)
    return places[(tokens.raw[places - 1] > UNKNOWN) | (tokens.raw[places + 1] > UNKNOWN)]


def best_against(
    contexts: ContextScores, places: Places, candidates: Codes, margins: NDArray[np.float32]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """For each place the index of the best candidate other than the first, which is the transcribed character, and its
    advantage over the first in nats, less `CAUTION_NATS` and its margin."""
    scores = contexts.scores(places, candidates)
    others = scores - margins - CAUTION_NATS
    others[:, 0] = NO_CANDIDATE
    best = others.argmax(1)
    return best, others[np.arange(len(places)), best] - scores[:, 0]


def _narrow(numbers: NDArray[np.integer[Any]]) -> NDArray[np.integer[Any]]:
    """Numbers of at least -1 in the smallest sufficient signed integer type."""
    return numbers.astype(np.min_scalar_type(-int(numbers.max(initial=0)) - 1))


class _Work:
    """The tokens of a work with their scores by the language model."""

    def __init__(self, texts: Sequence[Transcription], language: Counted, weights: LanguageWeights) -> None:
        self._texts = texts
        streams = [stream_of(text) for text in texts]
        self.tokens = TextTokens.of(streams, Folding(LookAlikes.shipped()))
        self.contexts = ContextScores(self.tokens, language, weights)
        self._text = _narrow(np.repeat(np.arange(len(streams)), [len(stream) for stream in streams]))
        self._page, self._line, self._offset = (
            _narrow(np.concatenate([getattr(stream, name) for stream in streams]))
            for name in ("page", "line", "offset")
        )

    def places(self, pages: Collection[PagePosition] | None) -> Places:
        """The `places_with_look_alikes` on these pages, or all of them."""
        places = places_with_look_alikes(self.tokens)
        if pages is None:
            return places
        first = np.cumsum([0, *(len(text.pages) for text in self._texts)])
        is_chosen = np.zeros(first[-1], np.bool_)
        is_chosen[[first[position.text] + position.page for position in pages]] = True
        return np.asarray(places[is_chosen[self.tokens.page[places]]])

    def evidence(self, places: Places, pairs: Codes, odds: NDArray[np.float32]) -> list[LanguageEvidence]:
        """The evidence on these places; each row of `pairs` has the code points of the transcribed and the suggested
        character."""
        patterns: list[int] = []
        readings: list[LanguageReading] = []
        for start, counts in self.contexts.counts(places, pairs):
            batch = slice(start, start + len(counts.text))
            for pattern, reading in self._readings(places[batch], pairs[batch], odds[batch], counts):
                patterns.append(pattern)
                readings.append(reading)
        elsewhere = self._elsewhere(places, pairs, np.array(patterns, np.int64))
        findings = []
        for place, pair, reading, pages, nats in zip(places, pairs, readings, elsewhere, odds, strict=True):
            where = PagePosition(int(self._text[place]), int(self._page[place]))
            line, offset = int(self._line[place]), int(self._offset[place])
            transcribed, suggested = self._written(where, line, offset, *map(chr, pair))
            if transcribed != suggested:
                with_pages = replace(reading, places=pages)
                findings.append(LanguageEvidence(where, line, offset, transcribed, suggested, float(nats), with_pages))
        return findings

    def _written(
        self, where: PagePosition, line: int, offset: int, transcribed: str, suggested: str
    ) -> tuple[str, str]:
        """The transcribed and the suggested character in the script of the text; they may be equal in simplified
        script."""
        text = self._texts[where.text]
        if text.script is Script.TRADITIONAL:
            return transcribed, suggested
        written = text.pages[where.page].columns[line].source[offset]
        return written, policy_of(Script.SIMPLIFIED).to_source_script(suggested, written)

    def _readings(
        self, places: Places, pairs: Codes, odds: NDArray[np.float32], candidates: CandidateCounts
    ) -> Iterator[tuple[int, LanguageReading]]:
        """For each place the run of characters with the strongest evidence, and its pattern."""
        counts = (candidates.language + candidates.text)[:, SHOWN_PATTERNS, :].astype(np.float64)
        weight = (np.log(counts[:, :, 1] + 0.5) - np.log(counts[:, :, 0] + 0.5)) * np.log1p(counts[:, :, 1])
        best = weight.argmax(1)
        for number, place in enumerate(places):
            pattern = SHOWN_PATTERNS[best[number]]
            transcribed_count, suggested_count = map(int, counts[number, best[number]])
            transcribed, suggested = (self._run(int(place), PATTERNS[pattern], int(code)) for code in pairs[number])
            nats = round(float(odds[number]), 3)
            yield pattern, LanguageReading(nats, suggested, suggested_count, transcribed, transcribed_count)

    def _run(self, place: int, pattern: tuple[int, ...], centre: int) -> str:
        """The characters of a pattern around a place, in reading order, with `centre` at the place."""
        codes = {0: centre} | {offset: int(self.tokens.raw[place + offset]) for offset in pattern}
        return "".join(chr(codes[offset]) for offset in sorted(codes) if codes[offset] > BREAK)

    def _elsewhere(self, places: Places, pairs: Codes, patterns: NDArray[np.int64]) -> list[tuple[str, ...]]:
        """For each place the ids of other pages that have the run with the suggested character."""
        ids_of_places: list[tuple[str, ...]] = [() for _ in places]
        for pattern in np.unique(patterns):
            chosen = np.flatnonzero(patterns == pattern)
            suggested_keys = keys(contexts_at(self.tokens.folded, places[chosen], int(pattern)), pairs[chosen, 1])
            pages_with = self._pages_with(int(pattern), suggested_keys, np.unique(pairs[chosen, 1]))
            for row, key in zip(chosen, suggested_keys, strict=True):
                own_page = self.tokens.page[places[row]]
                others = [page for page in pages_with[int(key)] if page != own_page][:MAX_NAMED_PAGES]
                ids_of_places[row] = tuple(self._id_of(page) for page in others)
        return ids_of_places

    def _pages_with(self, pattern: int, sought_keys: Keys, centres: Codes) -> dict[int, list[int]]:
        """For each key of a pattern the indices of the first pages that have it, up to `MAX_NAMED_PAGES` + 1, since the
        caller leaves out the page of the place."""
        places = places_of(self.tokens, centres)
        place_keys = keys_at(self.tokens, places, pattern)
        pages_of_key: defaultdict[int, list[int]] = defaultdict(list)
        for hit in np.flatnonzero(np.isin(place_keys, sought_keys)):
            pages = pages_of_key[int(place_keys[hit])]
            page = int(self.tokens.page[places[hit]])
            if len(pages) <= MAX_NAMED_PAGES and page not in pages:
                pages.append(page)
        return pages_of_key

    def _id_of(self, page: int) -> str:
        """The id of a page by its index among the pages of all texts."""
        for text in self._texts:
            if page < len(text.pages):
                return text.pages[page].id
            page -= len(text.pages)
        raise AssertionError("pages are counted through the texts")


def flag_of(page: Page, ref: str, finding: LanguageEvidence, threshold: float) -> Flag:
    """A finding of the language model as a flag of its page, without id and bounding box."""
    column = page.columns[finding.column]
    return Flag(
        page=page.id,
        ref=ref,
        line=column.number,
        offset=finding.offset,
        length=1,
        kind=Kind.SUBSTITUTION,
        transcribed=finding.transcribed,
        suggested=finding.suggested,
        score=finding.odds,
        raised=finding.odds >= threshold,
        bbox=None,
        evidence=Evidence(LANGUAGE, language=finding.reading),
        context=context_of(column.source, finding.offset, 1),
    )
