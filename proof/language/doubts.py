"""The language model's evidence at places where the image contradicts the transcription, for any character."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from proof.language.evidence import TextTokens
from proof.language.look_alikes import HAN_END, Folding, LookAlikes
from proof.language.model import Counted
from proof.language.neighbours import Neighbours
from proof.language.ngrams import Numbers
from proof.language.stream import UNKNOWN, stream_of
from proof.language.weights import NO_CANDIDATE, Floats
from proof.model.flags import LanguageReading
from proof.text.conversions import conversions
from proof.text.model import Script, is_han
from proof.text.transcription import Transcription
from proof.text.variants import policy_of

MAX_READINGS = 6
"""Readings that are compared at a place, including the transcribed one."""

UNGIVEN_PROBABILITY = 1e-4
"""The probability of a reading for which the image gives none."""

LIKELIEST_WEIGHT = 0.5
"""Weight of the language model's scores beside the log-probabilities of the image, where the most likely of several
readings is chosen."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A place of a text where its image shows something else: the index of its page, that of its column on the page,
    and the code point in the column's source; the `suggested` reading, and the other readings of the image with their
    probabilities."""

    page: int
    column: int
    offset: int
    transcribed: str
    suggested: str
    shown: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class DoubtRow:
    """The input for a doubt: the number of its token; the transcribed and the suggested reading, and the other readings
    that are different words, padded with zeros to `MAX_READINGS`; and the probability of each (0 for the first). All
    are traditional characters."""

    place: int
    candidates: tuple[int, ...]
    probabilities: tuple[float, ...]


class DoubtedText:
    """A text with doubts; a simplified text is converted to traditional characters."""

    def __init__(self, text: Transcription, language: Counted) -> None:
        stream = stream_of(text)
        self._simplified = text.script is Script.SIMPLIFIED
        self._to_traditional = conversions().full if self._simplified else _likeliest_traditional
        self._folding = Folding(LookAlikes.shipped())
        self.tokens = TextTokens.of([stream], self._folding)
        self.neighbours = Neighbours(self.tokens, language)
        self._addresses = _address(*(part.astype(np.int64) for part in (stream.page, stream.line, stream.offset)))

    def readings(self, doubts: Sequence[Doubt]) -> list[LanguageReading | None]:
        """The evidence on each doubt; None if the text does not have the character there, or nothing is known of its
        neighbours."""
        readings: list[LanguageReading | None] = [None] * len(doubts)
        rows = [(number, row) for number, doubt in enumerate(doubts) if (row := self.row(doubt)) is not None]
        if not rows:
            return readings
        places = np.array([row.place for _, row in rows])
        candidates = np.array([row.candidates for _, row in rows], np.uint32)
        pair_counts = self.neighbours.counts(places, candidates)
        probabilities = np.array([row.probabilities for _, row in rows], np.float32)
        scores = self.neighbours.scores(places, candidates, pair_counts)
        trust = self.neighbours.trust(places)
        odds = odds_against(scores, probabilities) * trust
        likeliest = 1 + likelihood(scores, probabilities, trust)[:, 1:].argmax(1)
        for index, (number, row) in enumerate(rows):
            if pair_counts.before[index].any() or pair_counts.behind[index].any():
                pair = np.array([0, likeliest[index]])
                counts = np.stack([pair_counts.before[index, pair], pair_counts.behind[index, pair]])
                readings[number] = self._reading(row, pair, counts, float(odds[index]))
        return readings

    def trust_at(self, addresses: Sequence[tuple[int, int, int]]) -> list[float]:
        """How far the language model is trusted (0 to 1) at places, given by index of the page, index of the column,
        and code point."""
        places = np.array([self._place(*address) for address in addresses], np.int64)
        return [float(trust) for trust in self.neighbours.trust(places)]

    def row(self, doubt: Doubt) -> DoubtRow | None:
        """The input for a doubt; None unless it is between single characters."""
        place = self._place(doubt.page, doubt.column, doubt.offset)
        if place < 0 or not (_is_single(doubt.transcribed) and _is_single(doubt.suggested)):
            return None
        transcribed = self._traditional(place, doubt.transcribed)
        shown: defaultdict[str, float] = defaultdict(float)
        for text, probability in doubt.shown:
            if _is_single(text) and is_han(text):
                shown[self._to_traditional(text)] += probability
        suggested = self._to_traditional(doubt.suggested)
        if suggested not in shown:
            forms = (text for text in shown if doubt.suggested in self._simplified_forms(text))
            suggested = next(forms, suggested)
        candidates = [transcribed, suggested]
        for text in shown:
            is_transcribed = self._folded(text) == self._folded(transcribed)
            if text != suggested and not is_transcribed and doubt.transcribed not in self._simplified_forms(text):
                candidates.append(text)
        del candidates[MAX_READINGS:]
        padding = MAX_READINGS - len(candidates)
        probabilities = [0.0, *(shown.get(text, UNGIVEN_PROBABILITY) for text in candidates[1:])]
        return DoubtRow(place, (*map(ord, candidates), *[0] * padding), (*probabilities, *[0.0] * padding))

    def _traditional(self, place: int, transcribed: str) -> str:
        """The traditional character for a transcribed one: of those for which a simplified one may stand (后: 後 or 后)
        the one that fits its neighbours best."""
        if not self._simplified:
            return transcribed
        forms = [text for text in conversions().traditional.get(transcribed, ()) if _is_single(text)]
        if len(forms) < 2:
            return self._to_traditional(transcribed)
        places, candidates = np.full(len(forms), place), np.array([[ord(text)] for text in forms], np.uint32)
        scores = self.neighbours.scores(places, candidates, self.neighbours.counts(places, candidates))
        return forms[int(scores[:, 0].argmax())]

    def _simplified_forms(self, text: str) -> tuple[str, ...]:
        """The simplified characters with which the text may write a traditional one; none in a traditional text."""
        return conversions().simplified.get(text, ()) if self._simplified else ()

    def _folded(self, text: str) -> int:
        return int(self._folding(np.array([ord(text)], np.uint32))[0])

    def _place(self, page: int, column: int, offset: int) -> int:
        """The number of the token at a place; -1 if there is none."""
        address = _address(page, column, offset)
        rank = int(np.searchsorted(self._addresses, address, sorter=self._order))
        number = int(self._order[min(rank, len(self._order) - 1)])
        return number if self._addresses[number] == address else -1

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        return np.argsort(self._addresses)

    def _reading(self, row: DoubtRow, pair: NDArray[np.int64], counts: Numbers, odds: float) -> LanguageReading:
        """The evidence of the neighbour, before or after, that distinguishes most between the transcribed reading and
        the most likely other one; `pair` has the numbers of these two in the row. `counts` (2 x 2) are those of both
        (columns) with either neighbour (rows)."""
        ratios = np.log(counts[:, 1] + 0.5) - np.log(counts[:, 0] + 0.5)
        side = int((ratios if odds > 0 else -ratios).argmax())
        is_behind = side == 1
        code = int(self.tokens.raw[row.place + (1 if is_behind else -1)])
        neighbour = chr(code) if code > UNKNOWN else ""
        transcribed, other = (chr(row.candidates[number]) for number in pair)
        likely, unlikely = (text + neighbour if is_behind else neighbour + text for text in (other, transcribed))
        transcribed_count, other_count = map(int, counts[side])
        return LanguageReading(round(odds, 3), likely, other_count, unlikely, transcribed_count, likeliest=other)


def odds_against(scores: Floats, probabilities: Floats) -> Floats:
    """By how many nats the readings of each row (n x k), weighted with their probabilities on the image, fit better
    than the first one, which is transcribed."""
    likely = np.where(probabilities > 0, np.log(np.maximum(probabilities, 1e-9)), NO_CANDIDATE)
    likely[:, 0] = NO_CANDIDATE
    return np.asarray(np.logaddexp.reduce(likely + scores, axis=1) - np.logaddexp.reduce(likely, axis=1) - scores[:, 0])


def likelihood(scores: Floats, probabilities: Floats, trust: Floats) -> Floats:
    """The log-likelihood of each reading (n x k) from the image (`probabilities`) and from its neighbours (`scores`).
    The latter have the weight `LIKELIEST_WEIGHT` where the language model is fully trusted. `NO_CANDIDATE` if there is
    no reading."""
    weighted = np.where(scores > NO_CANDIDATE, LIKELIEST_WEIGHT * trust[:, None] * scores, NO_CANDIDATE)
    return np.asarray(weighted + np.log(np.maximum(probabilities, UNGIVEN_PROBABILITY)))


Number = TypeVar("Number", int, NDArray[np.int64])


def _address(page: Number, column: Number, offset: Number) -> Number:
    """A place of a text as one number."""
    return (page << 40) + (column << 20) + offset


def _likeliest_traditional(character: str) -> str:
    return policy_of(Script.TRADITIONAL).written_forms(character)[0]


def _is_single(text: str) -> bool:
    return len(text) == 1 and UNKNOWN < ord(text) < HAN_END
