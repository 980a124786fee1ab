#!/usr/bin/env python3
"""Fit the score of a wrong character (`proof/verify/data/score.tsv`), and print how well it does.

    fit_score.py --keep DIR [--shared DIR] [--pages 24] [--seed 7001] [--write]

Half-folios are drawn from texts of `shared/kanripo` and `shared/corpus` in several fonts and sizes (`SETS`). The text
of each is checked as it is, with errors of `plant.py`, and with look-alikes exchanged. Every character that is read as
another word is an example: its features (`proof.verify.score_model`), and whether an error was planted there. Examples
are kept in the folder, so that a second fit takes seconds. Logistic regression with increments that are never negative;
slopes of neighbouring pieces are held together (P-splines, Eilers and Marx 1996). Pages of one work in one font are
judged by what the others gave; printed is the recall at each number of false flags, beside that of the score that the
program has now.
"""

from __future__ import annotations

import argparse
import pickle
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import cv2
import numpy as np
from bench import module
from benchmark_pages import Trial, choose, trial_style, trial_wear
from numpy.typing import NDArray
from rich.console import Console

from proof.check.executor import checker_for, engine_settings
from proof.facsimile.files import strip_of, write_image
from proof.facsimile.render import page_seed, render_page
from proof.images.find import ImageIndex
from proof.images.load import load_image
from proof.ocr.readings import HalfFolioReadings
from proof.ocr.registry import open_engine
from proof.settings.config import Settings
from proof.text.alike import run_together
from proof.text.read import read_transcription
from proof.verify.align import Pairing
from proof.verify.columns import ReadColumn
from proof.verify.findings import Weigher
from proof.verify.glyphs import Glyph
from proof.verify.page import Checker
from proof.verify.score_model import SubstitutionFeatures, shipped_model

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "proof" / "verify" / "data" / "score.tsv"
KNOTS: dict[str, tuple[float, ...]] = {
    "transcribed": (-6, 0, 2, 4, 6, 8, 10, 11.5),
    "other": (-7, -4, -2, -1, -0.5, -0.2, -0.05, 0),
    "doubt": (-1, -0.6, -0.3, -0.1, 0),
    "presence": (0, 0.5, 0.8, 1),
    "taught": (0, 0.5, 1),
    "itself": (0, 0.25, 0.5, 0.9, 0.95, 1),
    "detail": (8, 12, 16, 20, 30),
    "seen": (-1, 0),
}
ZERO_AT = {"transcribed": 0.0}
"""Where a response is 0; elsewhere it is at its last knot, so that what a feature lacks is what it takes off."""

RIDGE, SMOOTHNESS = 0.1, 1.0
PRIOR = 4.0
"""Nats between the log-odds of the examples, of which three in four are errors, and the score: with it a threshold of 3
leaves 0.6 false flags in 1,000 characters of these pages."""

MIN_PRESENCE = 0.3
"""Probability that there is a glyph, below which a place is no example: what is read there tells of no character."""

FOLDS = 6
RATES = {"plain": 0.04, "alike": 0.3}

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PageSet:
    """Pages drawn alike: of which texts, in which font (empty: the first that is found), how much smaller."""

    name: str
    texts: str
    font: str = ""
    scale: float = 1.0


SETS = (
    PageSet("ukai", "corpus", "AR PL UKai TW"),
    PageSet("coarse", "kanripo", "", 0.55),
    PageSet("wenkai", "corpus"),
    PageSet("ukai-small", "kanripo", "AR PL UKai TW", 0.8),
    PageSet("wenkai-k", "kanripo"),
    PageSet("uming", "corpus", "AR PL UMing TW"),
)


@dataclass(frozen=True)
class Example:
    """A character that is read as another word, and whether it is an error."""

    group: str
    features: SubstitutionFeatures
    error: bool


class Recorder:
    """Takes the features of every character that is weighed while it is active."""

    def __init__(self) -> None:
        self.seen: dict[tuple[int, int], SubstitutionFeatures] = {}
        self._place = (0, 0)

    @contextmanager
    def active(self) -> Iterator[None]:
        match, features = Weigher._match, Weigher._features

        def at(weigher: Weigher, column: ReadColumn, pairing: Pairing, doubt: float) -> Any:
            assert column.line is not None
            self._place = column.line.number, column.cells[pairing.cells[0]].offset
            return match(weigher, column, pairing, doubt)

        def known(
            weigher: Weigher, transcribed: str, own: float, other: str, glyph: Glyph, doubt: float
        ) -> SubstitutionFeatures:
            value = features(weigher, transcribed, own, other, glyph, doubt)
            if not run_together(transcribed, other) and glyph.presence > MIN_PRESENCE:
                self.seen[self._place] = value
            return value

        with patch.object(Weigher, "_match", at), patch.object(Weigher, "_features", known):
            yield


class Collector:
    """Draws pages, plants errors in their text and checks them."""

    def __init__(self, shared: Path) -> None:
        self._shared = shared
        sys.path.insert(0, str(shared / "bench"))
        self._plant = module(shared / "bench" / "plant.py")
        self._similar = self._plant.look_alikes()
        self._alike = self._plant.look_alikes(shared / "bench" / "alike.txt")
        self._settings = Settings()
        self._engine = open_engine(engine_settings(self._settings))

    def examples(self, pages: PageSet, count: int, seed: int) -> list[Example]:
        """The examples of a set of so many pages."""
        files = sorted((self._shared / pages.texts).glob("*/*.txt"))[:: 1 if pages.texts == "kanripo" else 12]
        texts = [read_transcription(path) for path in files if "<pb:" in path.read_text(encoding="utf-8")]
        found: list[Example] = []
        for trial in choose(texts, count, seed):
            with tempfile.TemporaryDirectory() as folder:
                found += self._of_page(Path(folder), pages, trial, seed)
        return found

    def _of_page(self, folder: Path, pages: PageSet, trial: Trial, seed: int) -> Iterator[Example]:
        """The examples of a page; a right character counts once, however often its page is checked."""
        own = page_seed(seed, trial.page.id)
        style = replace(trial_style(own), fonts=(pages.font,)) if pages.font else trial_style(own)
        strip = strip_of(trial.transcription, trial.page)
        image = render_page(trial.page, style, trial_wear(own), seed, strip=strip, behind=trial.behind).image
        rng = random.Random(f"{seed} {trial.page.id}")  # noqa: S311
        if pages.scale < 1:
            scale = pages.scale * rng.uniform(0.7, 1.3)
            size = round(image.shape[1] * scale), round(image.shape[0] * scale)
            image = cv2.resize(image, size, interpolation=cv2.INTER_AREA).astype(np.uint8)
        write_image(folder / f"{trial.page.id}.png", image)
        pool = [char for char in trial.transcription.text if self._plant.is_han(char)]
        group = f"{trial.page.id.split('_')[0]} {pages.font}"
        checker: Checker | None = None
        readings: HalfFolioReadings | None = None
        right: set[tuple[int, int]] = set()
        for planting in ("clean", *RATES):
            planted = [self._planted(planting, column.source, rng, pool) for column in trial.page.columns]
            path = folder / "text.txt"
            lines = "".join(f"{text}¶\n" for text, _ in planted)
            path.write_text(f"<pb:{trial.page.id}>¶\n{lines}", encoding="utf-8")
            text = read_transcription(path)
            found = ImageIndex([folder], []).find(text.pages[0])
            assert found is not None
            checker = checker or checker_for(self._settings, self._engine, text.script)
            readings = readings or checker.readings(found, partial(load_image, found.path))
            recorder = Recorder()
            with recorder.active():
                checker.judge(text.pages[0], "", found, readings, [])
            errors = {column.number: rows for column, (_, rows) in zip(text.pages[0].columns, planted, strict=False)}
            for (line, offset), features in recorder.seen.items():
                near = [row for row in errors[line] if row["offset"] - 1 <= offset <= row["offset"] + row["length"]]
                wrong = any(row["kind"] == "substitution" and row["offset"] == offset for row in near)
                if wrong or not (near or (line, offset) in right):
                    right.add((line, offset))
                    yield Example(group, features, wrong)

    def _planted(
        self, planting: str, source: str, rng: random.Random, pool: list[str]
    ) -> tuple[str, list[dict[str, Any]]]:
        if planting == "clean":
            return source, []
        if planting == "alike":
            return self._plant.plant_within(source, [], RATES[planting], rng, self._alike)  # type: ignore[no-any-return]
        return self._plant.plant(source, [], RATES[planting], rng, self._similar, pool)  # type: ignore[no-any-return]


def pieces(values: Sequence[float], knots: Sequence[float]) -> Floats:
    """How much of each piece between two knots lies below each value, 0 to 1."""
    low, high = np.array(knots[:-1]), np.array(knots[1:])
    return np.asarray(np.clip((np.array(values)[:, None] - low) / (high - low), 0, 1), np.float64)


def design(examples: Sequence[Example]) -> Floats:
    """The pieces of all features, an example a row."""
    known = [example.features.values() for example in examples]
    return np.hstack([pieces([values[name] for values in known], knots) for name, knots in KNOTS.items()])


def penalty() -> Floats:
    """What increments cost: each by its square, and slopes of neighbouring pieces by the square of their difference."""
    size = sum(len(knots) - 1 for knots in KNOTS.values())
    whole, at = RIDGE * np.eye(size), 0
    for knots in KNOTS.values():
        count = len(knots) - 1
        slopes = np.diag((knots[-1] - knots[0]) / np.diff(knots))
        bends = np.diff(np.eye(count), axis=0) @ slopes
        whole[at : at + count, at : at + count] += SMOOTHNESS * bends.T @ bends / count**2
        at += count
    return whole


def fit(rows: Floats, errors: Floats, steps: int = 4000) -> tuple[Floats, float]:
    """Increments (none negative) and intercept, by accelerated projected gradients (Beck and Teboulle 2009)."""
    costs = penalty()
    full = np.hstack([rows, np.ones((len(rows), 1))])
    steepest = 0.25 * np.linalg.norm(full, 2) ** 2 + np.linalg.norm(costs, 2)
    weights = ahead = np.zeros(full.shape[1])
    momentum = 1.0
    for _ in range(steps):
        wrong = 1 / (1 + np.exp(-full @ ahead)) - errors
        gradient = full.T @ wrong
        gradient[:-1] += costs @ ahead[:-1]
        stepped = ahead - gradient / steepest
        stepped[:-1] = np.maximum(stepped[:-1], 0)
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = stepped + (momentum - 1) / following * (stepped - weights)
        weights, momentum = stepped, following
    return weights[:-1], float(weights[-1])


def judged(examples: Sequence[Example], rows: Floats, errors: Floats) -> Floats:
    """The score of each example by what the others gave, without those of its work in its font."""
    groups = sorted({example.group for example in examples})
    fold = np.array([groups.index(example.group) % FOLDS for example in examples])
    scores = np.zeros(len(examples))
    for number in range(FOLDS):
        own = fold == number
        if own.any():
            increments, base = fit(rows[~own], errors[~own])
            scores[own] = rows[own] @ increments + base + PRIOR
    return scores


def table(increments: Floats, base: float, note: str) -> str:
    """The increments as the file of the model."""
    lines, at, base = [], 0, base + PRIOR
    for name, knots in KNOTS.items():
        nats = np.concatenate([[0.0], np.cumsum(increments[at : at + len(knots) - 1])])
        at += len(knots) - 1
        zero = float(np.interp(ZERO_AT.get(name, knots[-1]), knots, nats))
        base += zero
        shown = " ".join(f"{value:.2f}" for value in nats - zero).replace("-0.00", "0.00")
        lines.append("\t".join((name, " ".join(f"{knot:g}" for knot in knots), shown)))
    return f"{note}base\t\t{base:.2f}\n" + "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--keep", type=Path, required=True, help="examples are kept here")
    parser.add_argument("--pages", type=int, default=24, help="pages of each set")
    parser.add_argument("--seed", type=int, default=7001)
    parser.add_argument("--write", action="store_true", help=f"write {OUT.relative_to(ROOT)}")
    options = parser.parse_args(arguments)
    options.keep.mkdir(parents=True, exist_ok=True)
    cv2.setNumThreads(1)
    examples: list[Example] = []
    for number, pages in enumerate(SETS):
        path = options.keep / f"{pages.name}-{options.pages}-{options.seed}.pickle"
        if not path.exists():
            found = Collector(options.shared).examples(pages, options.pages, options.seed + number)
            path.write_bytes(pickle.dumps(found))
        examples += pickle.loads(path.read_bytes())  # noqa: S301
    rows, errors = design(examples), np.array([example.error for example in examples], float)
    now = np.array([shipped_model().score(example.features) for example in examples])
    console = Console(width=110)
    scores = judged(examples, rows, errors)
    console.print(f"{int(errors.sum())} errors, {int((1 - errors).sum())} right characters read as others")
    right, at = np.sort(scores[errors == 0])[::-1], Settings().flags.threshold
    for false in (*(count for count in (2, 5, 10, 20, 40) if count < len(right)), int((right >= at).sum())):
        recall = float((scores[errors == 1] > right[false]).mean())
        console.print(f"at {false} false: {recall:.4f} of the errors, from a score of {right[false]:.2f}")
    recall, false_now = float((now[errors == 1] >= at).mean()), int((now[errors == 0] >= at).sum())
    console.print(f"as it is, at {at}: {recall:.4f} of the errors, {false_now} false")
    counts = f"{int(errors.sum())} errors planted, {int((1 - errors).sum())} right characters"
    made_on = f"{len(SETS)} sets of {options.pages} drawn pages: {counts}"
    note = f"# A feature, its knots, nats. Made by scripts/fit_score.py on {made_on}.\n"
    made = table(*fit(rows, errors), note)
    console.print(made, markup=False, highlight=False)
    if options.write:
        OUT.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
