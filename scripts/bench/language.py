"""Measure the language model alone, without images: errors planted within sets of look-alikes, in works that are not in
the model.

    python -m scripts.bench language --verse DIR [--model FILE] [--weights DIR] [--rate 0.05] [--seed 1] [--files 12]
        [--show 10]

Every work of `shared/corpus` and `shared/kanripo` in turn is left out: its counts are subtracted from the model, and
the weights are those fitted to the other half of the works (`make_language.py` writes both into `build/`). Some
consecutive files of each work are one text; `plant.py --only alike.txt` plants errors in it, and it is also checked
without them. The figures: the share of planted errors that are raised, the false flags per 1,000 characters in the text
without errors, and those in the text with errors. `--show` prints the strongest false flags, to be judged by eye, since
some are real errors.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from proof.language.evidence import ContextScores, TextTokens
from proof.language.findings import best_against, places_with_look_alikes
from proof.language.look_alikes import Codes, Folding, LookAlikes
from proof.language.model import MIN_COUNTS, LanguageModel
from proof.language.weights import NO_CANDIDATE, Floats, LanguageWeights
from scripts.bench.material import ROOT, TableRow, tell
from scripts.bench.pool import shared_module
from scripts.make_language import SHIPPED_MIN_COUNTS, Beside, Without, Work, verse, works

THRESHOLD = 3.0


def planted(raw: Codes, sets: dict[str, list[str]], rate: float, seed: int) -> Codes:
    """The tokens with some characters exchanged within their sets, as `plant.py --only` does it."""
    rng = random.Random(seed)  # noqa: S311 - a measurement that can be repeated
    spoiled = raw.copy()
    for place in np.flatnonzero(np.isin(raw, [ord(char) for char in sets])):
        if rng.random() < rate:
            spoiled[place] = ord(rng.choice(sets[chr(raw[place])]))
    return spoiled


def odds(contexts: ContextScores, raw: Codes, places: np.ndarray) -> tuple[Floats, Codes]:
    """The odds against what stands at places, and what is suggested."""
    look_alikes = LookAlikes.shipped()
    candidates = look_alikes.of(raw[places])
    best, nats = best_against(contexts, places, candidates, look_alikes.margins_of(raw[places]))
    return nats, candidates[np.arange(len(places)), best]


class Measured:
    """One work: odds against planted errors and against sound places, and its characters."""

    def __init__(
        self,
        work: Work,
        language: Without,
        weights: LanguageWeights,
        sets: dict[str, list[str]],
        options: argparse.Namespace,
    ) -> None:
        folding = Folding(LookAlikes.shipped())
        first = min(len(work.streams) // 3, max(len(work.streams) - options.files, 0))
        clean = TextTokens.of(work.streams[first : first + options.files], folding)
        raw = planted(clean.raw, sets, options.rate, options.seed)
        spoiled = TextTokens(raw, folding(raw), clean.page)
        self.name = work.name
        self.tokens = clean
        self.characters = int((clean.page >= 0).sum())
        asked = places_with_look_alikes(spoiled)
        beside = odds(ContextScores(spoiled, language, weights), raw, asked)[0]
        wrong = raw[asked] != clean.raw[asked]
        self.planted = np.full((raw != clean.raw).sum(), NO_CANDIDATE, np.float32)  # what is never asked is missed
        self.planted[: wrong.sum()] = beside[wrong]
        self.beside = beside[~wrong]
        self.places = places_with_look_alikes(clean)
        self.sound, self.suggested = odds(ContextScores(clean, language, weights), clean.raw, self.places)

    def recall(self, threshold: float) -> float:
        return float((self.planted >= threshold).mean()) if len(self.planted) else 1.0

    def false(self, threshold: float) -> float:
        return 1000 * float((self.sound >= threshold).sum()) / max(self.characters, 1)

    def strongest(self) -> Iterable[tuple[float, str]]:
        for at in np.argsort(-self.sound)[:3]:
            place = self.places[at]
            around = "".join(chr(c) if c > 2 else "|" for c in self.tokens.raw[place - 8 : place + 9])
            description = f"{self.name} {around[:8]}[{around[8]}→{chr(self.suggested[at])}]{around[9:]}"
            yield float(self.sound[at]), description


HEADINGS = ("work or threshold", "characters", "planted", "recall", "false in 1,000", "beside errors", "means of works")


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", type=Path, help="a large model of `proof learn`; otherwise that which is shipped")
    parser.add_argument("--weights", type=Path, default=ROOT / "build", help="where weights-even.npz and -odd.npz are")
    parser.add_argument("--verse", type=Path, required=True, help="the package that make_language.py was given")
    parser.add_argument("--rate", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--files", type=int, default=12)
    parser.add_argument("--show", type=int, default=10)


def measure(options: argparse.Namespace) -> Iterator[TableRow]:
    sets = shared_module(options.shared, "plant").look_alikes(options.shared / "bench" / "alike.txt")
    model = LanguageModel.load(options.model) if options.model else LanguageModel.shipped()
    least = MIN_COUNTS if options.model else SHIPPED_MIN_COUNTS
    folding = Folding(LookAlikes.shipped())
    beside = None if options.model else Beside(verse(options.verse))
    halves = [LanguageWeights.load(options.weights / f"weights-{name}.npz") for name in ("odd", "even")]
    measured = []
    for number, work in enumerate(works(options.shared)):
        tokens = work.tokens
        language = Without(model, tokens, folding(tokens), least, beside=beside)
        measured.append(Measured(work, language, halves[number % 2], sets, options))
    for measurement in measured:
        row = (measurement.name, f"{measurement.characters:,}", str(len(measurement.planted)))
        yield *row, f"{measurement.recall(THRESHOLD):.3f}", f"{measurement.false(THRESHOLD):.2f}"
    yield from _pooled(measured)
    strongest = sorted((strength for measurement in measured for strength in measurement.strongest()), reverse=True)
    for nats, place in strongest[: options.show]:
        tell(f"{nats:.1f} {place}")


def _pooled(measured: Sequence[Measured]) -> Iterator[TableRow]:
    """All works together, at several thresholds."""
    every, planted_odds = (
        sum(measure.characters for measure in measured),
        np.concatenate([measure.planted for measure in measured]),
    )
    sound, beside = (np.concatenate([getattr(measure, name) for measure in measured]) for name in ("sound", "beside"))
    for threshold in (1.5, 2.0, 2.5, 2.75, 3.0, 3.25, 3.5, 4.0):
        recall, false = (planted_odds >= threshold).mean(), 1000 * (sound >= threshold).sum() / every
        near = 1000 * (beside >= threshold).sum() / every
        mean = np.mean([measure.recall(threshold) for measure in measured])
        means = np.mean([measure.false(threshold) for measure in measured])
        counts = (f"{recall:.3f}", f"{false:.3f}", f"{near:.3f}", f"{mean:.3f}, {means:.2f}")
        yield f"at {threshold:.2f}", f"{every:,}", str(len(planted_odds)), *counts
