"""Measure the check and two naive verifiers on one benchmark: errors found, false findings, readings suggested.

    python -m scripts.bench verifiers [--first 1] [--seeds 3]

The benchmark has the form and the scores of `proof bench`. It has the pages of `planted` twice: with their own errors,
which were adjudicated by eye, and with these errors corrected and others planted by each seed. A naive verifier
transcribes a page and compares: with the page pipeline of PaddleOCR, as `proof bench --transcribe` does, or with that
of RapidOCR.
"""

from __future__ import annotations

import argparse
import csv
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from proof.checking.executor import engine_settings
from proof.commands.bench import IMAGE_LISTS, IMAGES, KEY, PAGE_PIPELINE, TEXTS, naive_findings, own_findings
from proof.ocr.engine import EngineIdentity, Pixels, ReadCharacter
from proof.ocr.page import PageEngine, PageLine, PageReading, Quad, reading_order
from proof.ocr.registry import open_page_engine
from proof.quality.benchmark import ErrorClass, Score, read_key, score
from proof.settings.config import Settings
from proof.text.read import read_transcription
from scripts.bench.material import TableRow
from scripts.bench.pool import Bench, write_pages

HEADINGS = ("figure", "the check", "PaddleOCR, compared", "RapidOCR, compared")
RATE = 0.03


class RapidPages:
    """The page pipeline of RapidOCR as it comes. The probability of a character is that of its line."""

    identity = EngineIdentity("rapidocr", "", "", "")

    def __init__(self) -> None:
        from rapidocr import RapidOCR  # noqa: PLC0415

        self._pipeline = RapidOCR(params={"Global.log_level": "critical"})

    def read_page(self, page: Pixels) -> PageReading:
        from rapidocr.utils.output import RapidOCROutput  # noqa: PLC0415

        read = self._pipeline(np.repeat(page[:, :, None], 3, axis=2))
        if not isinstance(read, RapidOCROutput) or read.boxes is None or read.txts is None or read.scores is None:
            return PageReading(())
        outlines: list[Quad] = [tuple((float(x), float(y)) for x, y in box) for box in read.boxes]  # type: ignore[misc]
        lines = []
        for place in reading_order(page, outlines):
            text, chance = read.txts[place.index], float(read.scores[place.index])
            share = 1 / max(len(text), 1)
            characters = (ReadCharacter(c, n * share, (n + 1) * share, chance) for n, c in enumerate(text))
            outline = outlines[place.index]
            lines.append(PageLine(tuple(characters), chance, outline, True, place.register, place.column))
        return PageReading(tuple(lines))


class Remembered:
    """A page pipeline that reads each page once."""

    def __init__(self, engine: PageEngine) -> None:
        self.identity = engine.identity
        self._engine = engine
        self._read: dict[bytes, PageReading] = {}

    def read_page(self, page: Pixels) -> PageReading:
        key = page.tobytes()
        if key not in self._read:
            self._read[key] = self._engine.read_page(page)
        return self._read[key]


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--first", type=int, default=1, help="the first seed of planted errors")
    parser.add_argument("--seeds", type=int, default=3)


def measure(options: argparse.Namespace) -> Iterator[TableRow]:
    bench = Bench(options.shared, options.folder, options.details)
    real = [_folder(bench, options.folder / "real", None)]
    seeds = range(options.first, options.first + options.seeds)
    planted = [_folder(bench, options.folder / f"planted-{seed}", seed) for seed in seeds]
    paddle = open_page_engine(engine_settings(Settings().replace({"engine.name": PAGE_PIPELINE})))
    pipelines = [None, Remembered(paddle), Remembered(RapidPages())]
    for name, folders in (("real", real), ("planted", planted)):
        scores = [[_scored(folder, pipeline) for folder in folders] for pipeline in pipelines]
        category = ErrorClass(name)
        yield f"{name} errors found", *(_shares(own, category) for own in scores)
        false = (f"{sum(s.false for s in own)} of {sum(s.characters for s in own)}" for own in scores)
        yield f"{name}: falsely raised, of characters", *false
        suggested = (f"{sum(s.suggested for s in own)}/{sum(s.found for s in own)}" for own in scores)
        yield f"{name}: right reading suggested", *suggested
        precision = (", ".join(f"{s.average_precision or 0:.2f}" for s in own) for own in scores)
        yield f"{name}: average precision", *precision


def _shares(scores: list[Score], category: ErrorClass) -> str:
    recalls = [score.recall[category] for score in scores]
    return f"{sum(recall.found for recall in recalls)}/{sum(recall.errors for recall in recalls)}"


def _folder(bench: Bench, folder: Path, seed: int | None) -> Path:
    """A benchmark of all cases, with errors planted by a seed, or as they came."""
    (folder / TEXTS).mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, str]] = []
    for case in bench.cases:
        text, key = (
            (case.text, bench.gold) if seed is None else bench.plant(case.text, seed, RATE, case.pages, bench.gold)
        )
        target = folder / TEXTS / case.text.name
        write_pages(text, case.pages, target)
        pages = {page.id for page in read_transcription(target).pages}
        given = csv.DictReader(key.read_text(encoding="utf-8").splitlines(), delimiter="\t")
        rows += [row for row in given if row["page"] in pages]
        shutil.copytree(case.images, folder / IMAGES / case.name, dirs_exist_ok=True)
        if case.imglist is not None:
            (folder / IMAGE_LISTS).mkdir(exist_ok=True)
            shutil.copy(case.imglist, folder / IMAGE_LISTS / case.text.name)
    origin = "natural" if seed is None else "planted"
    fields = ["page", "line", "offset", "length", "transcribed", "reading", "kind", "class", "origin"]
    with (folder / KEY).open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(
            file, fields, delimiter="\t", extrasaction="ignore", quoting=csv.QUOTE_NONE, quotechar=None
        )
        table.writeheader()
        table.writerows({**row, "origin": origin} for row in rows)
    return folder


def _scored(folder: Path, pipeline: PageEngine | None) -> Score:
    """The score of the check, or of a page pipeline whose transcription is compared."""
    texts = [read_transcription(path) for path in sorted((folder / TEXTS).iterdir())]
    out = folder / "out"
    out.mkdir(exist_ok=True)
    if pipeline is None:
        findings, pages = own_findings(folder, texts, Settings(), out)
    else:
        findings, pages = naive_findings(folder, texts, pipeline, out)
    return score(findings, pages, read_key(folder / KEY))
