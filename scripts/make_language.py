#!/usr/bin/env python3
"""Make what the language model comes with: `proof/language/data/language.npz` and `weights.npz`.

    make_language.py --verse DIR [--shared DIR] [--out DIR] [--places NUMBER] [--model-only]

The model is learned from all works of `shared/corpus` and `shared/kanripo`, which have little verse, and from the verse
of the Song in the package `chinese-poetry` 2.0.1 (`npm pack chinese-poetry@2.0.1`, unpacked; MIT licence), without what
occurs once there and in no other text. The weights are fitted to works that are not in the model: the counts of a work
are subtracted while it is used. Its own pages have planted errors: one in twenty of the characters with look-alikes is
replaced by one of these, and in some pieces a few characters are wrong half of the time, as in texts whose typist chose
a wrong character throughout.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from proof.errors import TextError
from proof.language.evidence import ContextScores, TextTokens
from proof.language.look_alikes import HAN_END, Codes, Folding, LookAlikes
from proof.language.model import (
    MIN_COUNTS,
    Counted,
    LanguageModel,
    MinCounts,
    all_keys,
    learn,
    plain_pairs,
)
from proof.language.ngrams import BEFORE, PATTERNS, Counts, Keys, Numbers
from proof.language.stream import BREAK, MARGIN_TOKENS, UNKNOWN, TokenStream, stream_of
from proof.language.weights import Floats, LanguageWeights
from proof.text.model import is_han
from proof.text.read import read_transcription

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "proof" / "language" / "data"

PAIRS, TRIPLES, OTHERS = (2, 2, 1), (0, 3, 1), (0, 0, 2)
SHIPPED_MIN_COUNTS = tuple(
    {0: PAIRS, 1: PAIRS, 2: TRIPLES, 3: TRIPLES, 4: TRIPLES, 14: OTHERS, 15: OTHERS}.get(number, (0, 0, 0))
    for number in range(len(PATTERNS))
)
"""Minimum counts of the n-grams of the shipped model (`MinCounts`), so that it stays under 10 MB. Contexts that occur
once are good evidence between look-alikes in handwriting; between other characters most evidence occurs more often."""

MIN_PLAIN_PAIRS = 5
"""Minimum count of a pair of characters without look-alikes in the shipped model."""

KEY_BITS = 31
"""Length of a key of the shipped model."""

PIECE_TOKENS = (5_000, 20_000, 60_000, 200_000, 600_000)
"""Tokens of the pieces of works that the weights are fitted to, each a text of its own."""

ERROR_SHARE = 0.05
"""Share of the characters with look-alikes that are replaced."""

SYSTEMATIC_SHARE = 0.3
"""Share of the pieces in which a few characters are wrong half of the time."""

SEEDS = (1, 2, 3, 4, 5)
"""Seeds of the networks whose mean is kept, so that chance averages out."""

PLACES = 2_500
"""Places that are looked at in a piece, at most."""


IN_BRACKETS = re.compile("[（({〖].*?[)）}〗]", re.DOTALL)
MISSING = "□"

NO_WEIGHTS = LanguageWeights(*(np.zeros(shape, np.float32) for shape in ((1, 1), (1,), (1, 1), (1, 1))))


@dataclass(frozen=True, slots=True)
class Work:
    """The texts of a work as rows of tokens, by file."""

    name: str
    streams: tuple[TokenStream, ...]

    @property
    def tokens(self) -> Codes:
        return np.concatenate([stream.tokens for stream in self.streams])


def works(shared: Path) -> list[Work]:
    """All works that there are; several editions of one are one."""
    found: dict[str, list[TokenStream]] = {}
    for path in sorted([*(shared / "corpus").rglob("*.txt"), *(shared / "kanripo").rglob("*.txt")]):
        if path.parent.name == "imglist":
            continue
        try:
            found.setdefault(path.stem.split("_")[0], []).append(stream_of(read_transcription(path)))
        except TextError:
            continue  # a head without pages
    return [Work(name, tuple(streams)) for name, streams in found.items()]


def verse(package: Path) -> TokenStream:
    """The verse of the Song in the package, each poem a page between breaks, read as texts are: without punctuation and
    without what stands in brackets."""
    verses = []
    files = sorted((package / "dist" / "quantangshi").glob("poet.song.*.json"))
    if not files:
        raise SystemExit(f"{package}: no verse in it: unpack the package chinese-poetry there")
    for path in files:
        for poem in json.loads(path.read_text(encoding="utf-8")):
            text = IN_BRACKETS.sub("", "".join(poem["paragraphs"]))
            verses.append(
                [
                    UNKNOWN if character == MISSING else ord(character)
                    for character in text
                    if character == MISSING or is_han(character)
                ]
            )
    edge = [BREAK] * MARGIN_TOKENS
    tokens = np.array([*edge, *(code for poem in verses for code in (*poem, BREAK)), *edge], np.uint32)
    of_poem = np.repeat(np.arange(len(verses)), [len(poem) + 1 for poem in verses])
    page = np.pad(of_poem, MARGIN_TOKENS, constant_values=-1).astype(np.int32)
    nowhere = np.full(len(tokens), -1, np.int32)
    return TokenStream(tokens, np.where(tokens > BREAK, page, -1).astype(np.int32), nowhere, nowhere, len(verses))


class Beside:
    """How often n-grams were met in a text that was learned beside others."""

    def __init__(self, text: TokenStream) -> None:
        self._raw = text.tokens
        self._folded = Folding(LookAlikes.shipped())(self._raw)
        self._near = LookAlikes.shipped().nearness_of(self._raw[MARGIN_TOKENS:-MARGIN_TOKENS]) >= 0
        self._counts: dict[int, Counts] = {}

    def of_keys(self, pattern: int, wanted: Keys) -> Numbers:
        if pattern not in self._counts:
            self._counts[pattern] = Counts.of(all_keys(self._raw, self._folded, pattern)[self._near])
        return self._counts[pattern].of_keys(wanted)


class Without(Counted):
    """A model without what one work brought to it; n-grams that are then too rare, by the `least` that it was learned
    with, are not kept, nor what is then left of a text `beside` alone, once."""

    def __init__(
        self,
        model: LanguageModel,
        tokens: Codes,
        folded: Codes,
        least: MinCounts,
        patterns: Sequence[int] = range(len(PATTERNS)),
        beside: Beside | None = None,
    ) -> None:
        """`patterns` are those that are asked for."""
        self._model = model
        near = LookAlikes.shipped().nearness_of(tokens[MARGIN_TOKENS:-MARGIN_TOKENS])
        self._own: dict[int, Counts] = {}
        for number in patterns:
            if any(least[number]):
                kept = np.flatnonzero((near >= 0) | plain_pairs(tokens) if number == BEFORE else near >= 0)
                met, first, brought = np.unique(
                    all_keys(tokens, folded, number)[kept], return_index=True, return_counts=True
                )
                there = model.of_keys(number, met)
                rare = there - brought < np.array(least[number])[np.maximum(near[kept[first]], 0)]
                if beside is not None:
                    rare |= (there - brought == 1) & (beside.of_keys(number, met) > 0)
                self._own[number] = Counts(met, np.where(rare, np.maximum(there, brought), brought))
        self.character_counts = model.character_counts - np.bincount(np.minimum(tokens, HAN_END - 1), minlength=HAN_END)

    def of_keys(self, pattern: int, wanted: Keys) -> Numbers:
        if pattern not in self._own:
            return np.zeros(wanted.shape, np.int32)
        return np.asarray(np.maximum(self._model.of_keys(pattern, wanted) - self._own[pattern].of_keys(wanted), 0))

    def learned(self, folded: Codes) -> NDArray[np.bool_]:
        return np.zeros(len(folded), np.bool_)


def pieces(work: Work, rng: np.random.Generator) -> Iterator[tuple[TokenStream, ...]]:
    """The work cut into pieces of different sizes, whole files each."""
    waiting: list[TokenStream] = []
    size = rng.choice(PIECE_TOKENS)
    for stream in work.streams:
        waiting.append(stream)
        if sum(map(len, waiting)) >= size:
            yield tuple(waiting)
            waiting, size = [], rng.choice(PIECE_TOKENS)
    if waiting:
        yield tuple(waiting)


def with_errors(raw: Codes, look_alikes: LookAlikes, rng: np.random.Generator) -> Codes:
    """The tokens with errors among the characters that have look-alikes."""
    places = look_alikes.places(raw)
    rows = look_alikes.of(raw[places])
    wrong = rng.random(len(places)) < ERROR_SHARE
    if rng.random() < SYSTEMATIC_SHARE:
        for code in rng.choice(np.unique(raw[places]), 5):
            wrong |= (raw[places] == code) & (rng.random(len(places)) < 0.5)
    others = (rows > 0).sum(1) - 1
    chosen = rows[np.arange(len(rows)), 1 + rng.integers(0, others)]
    spoiled = raw.copy()
    spoiled[places[wrong]] = chosen[wrong]
    return spoiled


@dataclass(frozen=True, slots=True)
class Examples:
    """The features of the candidates at places, and which candidates there are (`there`); the first one is right."""

    shown: Floats
    there: NDArray[np.bool_]


def examples(
    work: Work, full: LanguageModel, small: LanguageModel, rng: np.random.Generator, most: int, beside: Beside
) -> Examples:
    """At most `most` places of a work whose counts are subtracted from the models. A third of the pieces use the full
    model, the others the small one that is shipped."""
    look_alikes = LookAlikes.shipped()
    folding = Folding(look_alikes)
    tokens = work.tokens
    folded = folding(tokens)
    without = (
        Without(full, tokens, folded, MIN_COUNTS),
        Without(small, tokens, folded, SHIPPED_MIN_COUNTS, beside=beside),
    )
    shown, there = [], []
    cut = list(pieces(work, rng))
    for turn, number in enumerate(rng.permutation(np.repeat(np.arange(len(cut)), 2))):
        clean = TextTokens.of(cut[number], folding)
        raw = with_errors(clean.raw, look_alikes, rng)
        places = look_alikes.places(clean.raw)
        if not len(places):
            continue
        places = np.sort(rng.choice(places, min(len(places), PLACES), replace=False))
        candidates = look_alikes.of(clean.raw[places])
        contexts = ContextScores(TextTokens(raw, folding(raw), clean.page), without[turn % 3 > 0], NO_WEIGHTS)
        for start, met in contexts.counts(places, candidates):
            some = slice(start, start + len(met.text))
            shown.append(contexts.features(places[some], candidates[some], met).astype(np.float16))
            there.append(candidates[some] > 0)
        if sum(map(len, there)) >= most:
            break
    return Examples(np.concatenate(shown), np.concatenate(there))


def fitted(
    parts: Sequence[Examples], hidden: int = 24, epochs: int = 6, batch: int = 2048, seed: int = 1
) -> LanguageWeights:
    """Weights that maximise the probability of the right candidates (cross-entropy, Adam)."""
    rng = np.random.default_rng(seed)
    order = [(part, start) for part, each in enumerate(parts) for start in range(0, len(each.there), batch)]
    size = parts[0].shown.shape[2]
    values = [
        rng.normal(0, size**-0.5, (size, hidden)).astype(np.float32),
        np.zeros(hidden, np.float32),
        rng.normal(0, hidden**-0.5, (hidden, 1)).astype(np.float32),
        np.zeros((size, 1), np.float32),
    ]
    shuffled = [rng.permutation(len(each.there)) for each in parts]
    first, second = ([np.zeros_like(v) for v in values] for _ in range(2))
    step, steps = 0, epochs * len(order)
    for _ in range(epochs):
        for which in rng.permutation(len(order)):
            part, start = order[which]
            rows = shuffled[part][start : start + batch]
            shown, there = parts[part].shown[rows].astype(np.float32), parts[part].there[rows]
            step += 1
            slopes = _slopes(values, shown, there)
            for number, raw in enumerate(slopes):
                slope = raw + 1e-5 * values[number]
                first[number] = 0.9 * first[number] + 0.1 * slope
                second[number] = 0.999 * second[number] + 0.001 * slope * slope
                rate = 2e-3 * (1 - step / (steps + 1))
                mean, square = first[number] / (1 - 0.9**step), second[number] / (1 - 0.999**step)
                values[number] = (values[number] - rate * mean / (np.sqrt(square) + 1e-8)).astype(np.float32)
    return LanguageWeights(*values)


def together(nets: Sequence[LanguageWeights]) -> LanguageWeights:
    """One network that says the mean of what several say."""
    return LanguageWeights(
        np.concatenate([net.inner for net in nets], axis=1),
        np.concatenate([net.bias for net in nets]),
        np.asarray(np.concatenate([net.outer for net in nets]) / len(nets), np.float32),
        np.asarray(np.mean([net.straight for net in nets], axis=0), np.float32),
    )


def _slopes(values: list[Floats], shown: Floats, there: NDArray[np.bool_]) -> list[Floats]:
    inner, bias, outer, straight = values
    before = shown @ inner + bias
    hidden = np.maximum(before, 0.01 * before)
    scores = np.where(there, (hidden @ outer + shown @ straight)[..., 0], -1e9)
    chance = np.exp(scores - scores.max(1, keepdims=True))
    chance /= chance.sum(1, keepdims=True)
    chance[:, 0] -= 1
    back = (chance / len(chance)).reshape(-1, 1).astype(np.float32)
    flat = shown.reshape(-1, shown.shape[2])
    into = (back @ outer.T) * np.where(before.reshape(len(flat), -1) > 0, 1, 0.01)
    return [flat.T @ into, into.sum(0), hidden.reshape(len(flat), -1).T @ back, flat.T @ back]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--verse", type=Path, required=True, help="folder of the unpacked package chinese-poetry 2.0.1")
    parser.add_argument("--out", type=Path, default=DATA)
    parser.add_argument("--halves", type=Path, default=ROOT / "build", help="where weights for measuring go")
    parser.add_argument("--places", type=int, default=25_000, help="places of a work, at most")
    parser.add_argument("--model-only", action="store_true", help="leave the weights as they are")
    options = parser.parse_args()
    began = time.perf_counter()
    every = works(options.shared)
    titles = [*(work.name for work in every), "chinese-poetry 2.0.1"]
    streams, beside = [stream for work in every for stream in work.streams], [verse(options.verse)]
    small = learn(streams, titles, SHIPPED_MIN_COUNTS, MIN_PLAIN_PAIRS, KEY_BITS, beside)
    with (options.out / "language.npz").open("wb") as file:
        small.write(file)
    print(f"kept: {len(small.counts.keys):,} n-grams, {time.perf_counter() - began:.0f} s", flush=True)  # noqa: T201
    if options.model_only:
        return
    full = learn([*streams, *beside], titles)
    print(f"learned: {len(full.counts.keys):,} n-grams, {time.perf_counter() - began:.0f} s", flush=True)  # noqa: T201
    rng = np.random.default_rng(1)
    parts, known_beside = {}, Beside(beside[0])
    for work in every:
        parts[work.name] = examples(work, full, small, rng, options.places, known_beside)
        print(f"{work.name}: {len(parts[work.name].there)}, {time.perf_counter() - began:.0f} s", flush=True)  # noqa: T201
    every_part = list(parts.values())
    together([fitted(every_part, seed=seed) for seed in SEEDS]).save(options.out / "weights.npz")
    for half, name in enumerate(("even", "odd")):  # for scripts/bench/language.py: fitted to every other work
        chosen = [part for number, part in enumerate(parts.values()) if number % 2 == half]
        together([fitted(chosen, seed=seed) for seed in SEEDS]).save(options.halves / f"weights-{name}.npz")
    print(f"fitted: {time.perf_counter() - began:.0f} s")  # noqa: T201


if __name__ == "__main__":
    main()
