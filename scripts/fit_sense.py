#!/usr/bin/env python3
"""Fit what the sense weighs beside the image (`CONTEXT` and `LIFTED` in proof/verify/scores.py, `FIRM`,
`COMMON` and `FAMILIAR` in proof/language/neighbours.py), and print what comes of it.

    fit_sense.py --keep DIR [--shared DIR] [--pages 100] [--foreign 60] [--seed 31]

Half-folios are drawn from the texts of `shared/kanripo`, by a seed that no measurement uses, and `--foreign` ones from
works of `shared/corpus` that have foreign names: of many those of which the language knows least. Errors are planted in
their text: those of `plant.py` twice, and once fluent ones (a look-alike of `confusables.txt` that was met with a
neighbour of the place `MET` times). They are checked with the sense silent. Every flag on one character is an example:
its score, what the image may show there, and by `score.py` whether it is an error. The counts of the language are those
without the work that the page is of. Logistic regression of error on score and odds gives what a nat of the odds is
worth in nats of the image; each work in turn is judged by what the others gave.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from bench import Bench, Pool, draw, module
from benchmark_pages import Trial, choose
from make_language import LEAST, Without, Work, works
from numpy.typing import NDArray
from rich.console import Console

from proof.language.doubts import MOST as PLACES
from proof.language.doubts import Doubt, DoubtedText, odds_against
from proof.language.look_alikes import Codes, Folding, LookAlikes
from proof.language.model import LanguageModel
from proof.language.neighbours import COMMON, FAMILIAR, FIRM, Pairs, fitting, trusted
from proof.language.ngrams import BEFORE, BEHIND
from proof.text.read import read_transcription
from proof.text.transcription import Transcription
from proof.verify.scores import CONTEXT, CONTEXT_AGAINST

ROOT = Path(__file__).resolve().parents[1]
CONSOLE = Console(width=110)
THRESHOLD, MOST = 3.0, 8.0
MET = 5
FLUENT_RATE = 0.25
PLANTINGS = ("plain-1", "fluent-2", "plain-3")
FIRMS = (0.5, 1.0, 2.0, 5.0, 10.0)
COMMONS = (0.0, 0.25, 0.5, 1.0)
FAMILIARS = (0.001, 0.2, 0.4, 0.6, 0.8, 1.0)
OF, FILES = 6, 12
"""One in so many pages of the corpus is taken, out of so many files of each work."""

Floats = NDArray[np.float64]


class FluentErrors:
    """Look-alikes in the place of characters that make a common pair with a neighbour."""

    def __init__(self, every: list[Work], similar: dict[str, list[str]]) -> None:
        tokens = np.concatenate([work.tokens for work in every]).astype(np.uint64)
        self._pairs, self._numbers = np.unique(tokens[:-1] << np.uint64(32) | tokens[1:], return_counts=True)
        self._similar = similar

    def planted(self, text: str, rng: random.Random) -> tuple[str, list[dict[str, Any]]]:
        """A column with errors, and their rows of the key."""
        out, rows = list(text), []
        for at, own in enumerate(text):
            others = self._similar.get(own, ())
            if not others or rng.random() >= FLUENT_RATE:
                continue
            before, behind = text[at - 1 : at], text[at + 1 : at + 2]
            number, best = max((self._met(before + other) + self._met(other + behind), other) for other in others)
            if number >= MET:
                out[at] = best
                row = {"offset": at, "length": 1, "transcribed": best, "reading": own, "kind": "substitution"}
                rows.append({**row, "class": "error"})
        return "".join(out), rows

    def _met(self, pair: str) -> int:
        if len(pair) < 2:
            return 0
        wanted = np.uint64(ord(pair[0]) << 32 | ord(pair[1]))
        at = min(int(np.searchsorted(self._pairs, wanted)), len(self._pairs) - 1)
        return int(self._numbers[at]) if self._pairs[at] == wanted else 0


def planted(bench: Bench, kind: str, seed: int, text: Path, fluent: FluentErrors) -> tuple[Path, Path]:
    """The spoiled text and its key."""
    if kind == "plain":
        return bench.plant(text, seed, 0.03, "", None)
    out, key = (bench.folder / f"{text.stem}-{kind}-{seed}.{ending}" for ending in ("txt", "tsv"))
    names = ["page", "line", "offset", "length", "transcribed", "reading", "kind", "class"]
    rng, lines, rows = random.Random(seed), [], ["\t".join(names)]  # noqa: S311 - a measurement that can be repeated
    for raw, page, number, body in bench.texts.walk(text.read_text(encoding="utf-8")):
        spoiled, wrong = fluent.planted(body, rng) if number else (body, [])
        lines.append(spoiled + raw[len(body) :] if number else raw)
        rows += ["\t".join(str({**row, "page": page, "line": number}[name]) for name in names) for row in wrong]
    out.write_text("".join(lines), encoding="utf-8")
    key.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return out, key


@dataclass(frozen=True)
class Examples:
    """Flags of one work: scores, whether each is an error, and what the language counts at them."""

    scores: Floats
    error: NDArray[np.bool_]
    candidates: Codes
    chances: NDArray[np.float32]
    met: Pairs
    frequency: NDArray[np.float32]
    beside: tuple[NDArray[np.float32], ...]
    passage: NDArray[np.float32]

    def odds(self, firm: float, common: float, familiar: float = FAMILIAR) -> Floats:
        """The odds against what is transcribed, under other constants than those of the program."""
        scores = fitting(self.candidates, self.frequency, self.met, self.beside, firm, common)
        known = self.met.before.any(1) | self.met.behind.any(1)
        odds = np.where(known, odds_against(scores, self.chances), 0.0)
        return np.clip(odds * trusted(self.passage, familiar), -MOST, MOST)


def judged(bench: Bench, pool: Pool) -> list[tuple[dict[str, Any], bool]]:
    """Flags on one character and whether each is an error, as `score.py` has it."""
    errors = [row for row in pool.rows if row["class"] == "error"]
    found = []
    for flag in pool.flags:
        if flag["kind"] == "substitution" and flag["length"] == 1:
            found.append((flag, any(bench.score.meets(flag, row) for row in errors)))
    return found


def doubt_of(text: Transcription, flag: dict[str, Any]) -> Doubt:
    page = flag["page"].split("#")[0]
    number = next(n for n, one in enumerate(text.pages) if one.id == page)
    column = next(n for n, one in enumerate(text.pages[number].columns) if one.number == flag["line"])
    shown = tuple((text, chance) for text, chance in flag["evidence"].get("alternatives", ()))
    return Doubt(number, column, flag["offset"], flag["transcribed"], flag["suggested"], shown)


class Languages:
    """The counts of the language without the work that is looked at."""

    def __init__(self, every: list[Work]) -> None:
        self._every = {work.name: work for work in every}
        self._folding = Folding(LookAlikes.shipped())
        self._found: dict[str, Without] = {}

    def without(self, name: str) -> Without:
        if name not in self._found:
            tokens = self._every[name].tokens
            model = LanguageModel.shipped()
            self._found[name] = Without(model, tokens, self._folding(tokens), LEAST, (BEFORE, BEHIND))
        return self._found[name]


def foreign(options: argparse.Namespace, languages: Languages) -> list[Trial]:
    """Pages of the corpus of which the language knows least, one in `OF` that fit."""
    rng = np.random.default_rng([options.seed, 9])
    found: list[tuple[float, str, Trial]] = []
    for folder in sorted((options.shared / "corpus").iterdir()):
        files = sorted(folder.glob("*_[0-9]*.txt"))
        texts = [read_transcription(files[int(at)]) for at in rng.permutation(len(files))[:FILES]]
        texts = [text for text in texts if text.pages]
        told = {id(text): DoubtedText(text, languages.without(folder.name)) for text in texts}
        for trial in choose(texts, OF * options.foreign, options.seed):
            number = trial.transcription.pages.index(trial.page)
            tokens = told[id(trial.transcription)]
            found.append((tokens.known_on(number), trial.page.id, trial))
    found.sort(key=lambda one: one[:2])
    return [trial for _, _, trial in found[: options.foreign]]


def gathered(bench: Bench, options: argparse.Namespace) -> dict[str, list[Examples]]:
    """The examples, by work."""
    every = works(options.shared)
    languages = Languages(every)
    folders = [bench.render(options.pages, options.seed)]
    if options.foreign:
        folders.append(bench.folder / f"foreign-{options.foreign}-{options.seed}")
        if not (folders[1] / "text.txt").is_file():
            draw(folders[1], foreign(options, languages), options.seed)
    plant = module(options.shared / "bench" / "plant.py")
    fluent = FluentErrors(every, plant.look_alikes())
    found: defaultdict[str, list[Examples]] = defaultdict(list)
    for folder, planting in product(folders, PLANTINGS):
        kind, seed = planting.split("-")
        copied = bench.folder / f"{folder.name}.txt"
        copied.write_bytes((folder / "text.txt").read_bytes())
        spoiled, key = planted(bench, kind, int(seed), copied, fluent)
        pool = Pool()
        bench.run(
            pool,
            f"{planting}-{folder.name}",
            spoiled,
            folder,
            None,
            key,
            "",
            store=f"fit-{folder.name}",
            flags__sense=False,
        )
        CONSOLE.print(f"{folder.name} {planting}: {len(pool.rows)} errors, {len(pool.flags)} flags")
        text = read_transcription(spoiled)
        of_work: defaultdict[str, list[tuple[Doubt, float, bool]]] = defaultdict(list)
        for flag, error in judged(bench, pool):
            of_work[flag["page"].split("_")[0]].append((doubt_of(text, flag), float(flag["score"]), error))
        for name, flags in of_work.items():
            found[name].append(examples(text, languages.without(name), flags))
    return found


def examples(text: Transcription, language: Without, flags: list[tuple[Doubt, float, bool]]) -> Examples:
    doubted = DoubtedText(text, language)
    asked = [(row, flag) for flag in flags if (row := doubted.row(flag[0])) is not None]
    candidates = np.array([row.candidates for row, _ in asked], np.uint32).reshape(-1, PLACES)
    places = np.array([row.place for row, _ in asked], np.int64)
    return Examples(
        np.array([score for _, (_, score, _) in asked]),
        np.array([error for _, (_, _, error) in asked], np.bool_),
        candidates,
        np.array([row.chances for row, _ in asked], np.float32).reshape(-1, PLACES),
        doubted.neighbours.met(places, candidates),
        language.frequency(candidates),
        tuple(language.occurrences(doubted.tokens.raw[places + step])[:, None] for step in (-1, 1)),
        doubted.neighbours.known(places),
    )


def regression(scores: Floats, odds: Floats, error: NDArray[np.bool_]) -> Floats:
    """Constant, weight of the score, weight of the odds: Newton's method, with a faint prior."""
    shown = np.stack([np.ones(len(scores)), scores, odds], 1)
    weights = np.zeros(3)
    for _ in range(30):
        chance = 1 / (1 + np.exp(-shown @ weights))
        slope = shown.T @ (error - chance) - 1e-3 * weights
        curve = (shown * (chance * (1 - chance))[:, None]).T @ shown + 1e-3 * np.eye(3)
        weights = weights + np.linalg.solve(curve, slope)
    return weights


def loss(weights: Floats, scores: Floats, odds: Floats, error: NDArray[np.bool_]) -> float:
    at = weights[0] + weights[1] * scores + weights[2] * odds
    return float(np.logaddexp(0, np.where(error, -at, at)).mean())


@dataclass(frozen=True)
class Fitted:
    """All examples by work, as regression takes them."""

    parts: dict[str, list[Examples]]

    def of(self, name: str) -> dict[str, NDArray[Any]]:
        return {work: np.concatenate([getattr(one, name) for one in ones]) for work, ones in self.parts.items()}

    def told(self, firm: float, common: float, familiar: float) -> str:
        """How well the odds under these constants tell errors, each work judged by what the others gave."""
        scores, error = self.of("scores"), self.of("error")
        odds = {
            name: np.concatenate([one.odds(firm, common, familiar) for one in ones])
            for name, ones in self.parts.items()
        }
        left_out = alone = 0.0
        for name in self.parts:
            rest = [other for other in self.parts if other != name] or [name]
            s, o, e = (np.concatenate([each[other] for other in rest]) for each in (scores, odds, error))
            near = s < 9
            weights, plain = regression(s[near], o[near], e[near]), regression(s[near], 0 * o[near], e[near])
            own = scores[name] < 9
            left_out += loss(weights, scores[name][own], odds[name][own], error[name][own]) * own.sum()
            alone += loss(plain, scores[name][own], 0 * odds[name][own], error[name][own]) * own.sum()
        size = sum((scores[name] < 9).sum() for name in self.parts)
        s, o, e = (np.concatenate(list(each.values())) for each in (scores, odds, error))
        weights = regression(s[s < 9], o[s < 9], e[s < 9])
        return (
            f"log loss {left_out / size:.4f} (image alone {alone / size:.4f}); "
            f"a nat of odds weighs {weights[2] / weights[1]:.3f}; even at {-weights[0] / weights[1]:.2f}"
        )

    def raised(self, lifted: float, lowered: float, familiar: float) -> str:
        """How many errors and others are raised by the image alone, and with the sense."""
        s, e = (np.concatenate(list(self.of(name).values())) for name in ("scores", "error"))
        odds = np.concatenate([one.odds(FIRM, COMMON, familiar) for ones in self.parts.values() for one in ones])
        weighed = np.where(odds > 0, CONTEXT_AGAINST, CONTEXT) * odds
        before, after = s >= THRESHOLD, s + np.clip(weighed, -lowered, lifted) >= THRESHOLD
        return ", ".join(f"{(which & before).sum()} to {(which & after).sum()}" for which in (e, ~e))


def report(found: dict[str, list[Examples]], shared: Path) -> None:
    parts = {name: ones for name, ones in found.items() if sum(len(one.scores) for one in ones)}
    corpus = {folder.name for folder in (shared / "corpus").iterdir()}
    groups = {
        "all": Fitted(parts),
        "foreign": Fitted({name: ones for name, ones in parts.items() if name in corpus}),
        "others": Fitted({name: ones for name, ones in parts.items() if name not in corpus}),
    }
    groups = {name: group for name, group in groups.items() if group.parts}
    for name, errors in groups["all"].of("error").items():
        CONSOLE.print(name, len(errors), int(errors.sum()), f"{groups['all'].of('passage')[name].mean():.2f}")
    for firm, common in product(FIRMS, COMMONS):
        CONSOLE.print(f"firm {firm:6.1f} common {common:.2f}:", groups["all"].told(firm, common, (FAMILIAR)))
    for familiar in FAMILIARS:
        for name, group in groups.items():
            CONSOLE.print(f"familiar to {familiar}, {name}:", group.told(FIRM, COMMON, familiar))
    for familiar, lifted, lowered in product(FAMILIARS, (1.0, 1.5, 2.0, 2.5, 3.0), (0.0, 1.0, 2.0)):
        counts = [f"{name} {group.raised(lifted, lowered, familiar)}" for name, group in groups.items()]
        CONSOLE.print(f"familiar {familiar} up {lifted} down {lowered}: errors, false raised:", "; ".join(counts))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--keep", type=Path, required=True, help="pages and checks are kept here")
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--foreign", type=int, default=0)
    parser.add_argument("--seed", type=int, default=31)
    options = parser.parse_args()
    options.keep.mkdir(parents=True, exist_ok=True)
    report(gathered(Bench(options.shared, options.keep, False), options), options.shared)


if __name__ == "__main__":
    main()
