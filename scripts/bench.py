#!/usr/bin/env python3
"""Measure the check against known truth, and print one table.

    bench.py [--only planted,alike,clean,real,rendered,pairs,speed,memory] [--seeds 20] [--pages 200] [--details]
        [--shared DIR]

The truth and the scoring are those of `shared/bench` beside the checkout; nothing here knows an answer.
Planted: errors planted in the texts of real pages (seeds 1 to --seeds), counts pooled over all runs.
Alike: one in five of the characters that a hand runs together (`alike.txt`) exchanged within their sets.
Clean: the same texts with their known errors mended and none planted. Real: the texts as they came.
Rendered: half-folios drawn from other texts in many styles and wears, planted and clean, with true boxes.
Speed and memory are of one run over real and rendered pages; other work on the machine spoils them.
With --details every error that was missed is listed with the stage at which it was lost, and every false flag.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import cv2
from benchmark_pages import Trial, choose, rendered
from missed import Stage, is_mended, stage_of, without_further_looks
from rich.console import Console
from rich.table import Table

from proof.check.executor import checker_for, engine_settings
from proof.check.pipeline import check
from proof.facsimile.files import write_image
from proof.images.find import ImageIndex
from proof.images.load import load_image
from proof.ocr.registry import open_engine
from proof.report.source import StoredRun
from proof.settings.config import Settings
from proof.store import Store
from proof.text.model import Script
from proof.text.read import read_transcription
from proof.text.transcription import Transcription
from proof.text.variants import Relation, policy_of
from proof.verify.pairing import neighbours_of

ROOT = Path(__file__).resolve().parents[1]
RENDER_SEED = 20
"""The trial pages of the table; other seeds are for tuning."""


@dataclass(frozen=True)
class Case:
    """A real text with its images; `pages` is a regular expression for those that have one."""

    name: str
    text: Path
    images: Path
    imglist: Path
    pages: str


@dataclass
class Pool:
    """Counts and ranked flags, pooled over runs."""

    errors: int = 0
    caught: int = 0
    false: int = 0
    characters: int = 0
    right: int = 0
    pages: int = 0
    flags: list[dict[str, Any]] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    texts: dict[str, list[str]] = field(default_factory=dict)
    statuses: dict[str, str] = field(default_factory=dict)
    repeats: dict[str, Callable[[Pool], None]] = field(default_factory=dict)
    """By tag what makes that run once more, into another pool."""


class Bench:
    def __init__(self, shared: Path, folder: Path, details: bool) -> None:
        self.shared = shared
        self.folder = folder
        self.details = details
        sys.path.insert(0, str(shared / "bench"))
        self.score = module(shared / "bench" / "score.py")
        self.texts = module(shared / "bench" / "textpages.py")
        facsimile = shared / "facsimile"
        self.cases = [
            Case("JMML_000", facsimile / "JMML/JMML_000.txt", facsimile, facsimile / "JMML/imglist/JMML_000.txt", ""),
            Case("JMML_001", facsimile / "JMML/JMML_001.txt", facsimile, facsimile / "JMML/imglist/JMML_001.txt", ""),
            Case(
                "plate",
                shared / "kanripo/KR1d0087/KR1d0087_223.txt",
                facsimile / "plates",
                shared / "kanripo/KR1d0087/imglist/KR1d0087_223.txt",
                "-(16[ab]|17[ab])$",
            ),
        ]
        self.gold = shared / "gold/dev.tsv"

    def plant(
        self, text: Path, seed: int, rate: float, pages: str, gold: Path | None, only: str = ""
    ) -> tuple[Path, Path]:
        """Plant errors, `only` within the sets of that file; the spoiled text and its key."""
        stem = f"{text.stem}-{seed}-{rate}{only and '-' + Path(only).stem}"
        out, key = self.folder / f"{stem}.txt", self.folder / f"{stem}.tsv"
        command = [sys.executable, str(self.shared / "bench/plant.py"), str(text), str(out), str(key)]
        command += ["--seed", str(seed), "--rate", str(rate), f"--pages={pages}"]
        command += ["--fix", str(gold)] if gold else []
        command += ["--only", str(self.shared / "bench" / only)] if only else []
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603
        return out, key

    def run(
        self,
        pool: Pool,
        tag: str,
        text: Path,
        images: Path,
        imglist: Path | None,
        key: Path,
        pages: str,
        store: str = "",
        **given: object,
    ) -> None:
        """Check one text and add what came of it to the pool; `given` are settings (`flags__sense`). Pages without an
        image are not the check's. What was read on images is kept in a `store`, by default one of this run: with
        another run's, that run's text is checked again as it is now."""
        out = self.folder / f"out-{tag}"
        pool.repeats[tag] = partial(
            self.run, tag=tag, text=text, images=images, imglist=imglist, key=key, pages=pages, store=store, **given
        )
        if store:
            common = self.folder / f"{store}{text.suffix}"
            common.write_bytes(text.read_bytes())
            text = common
        settings = Settings().replace(
            {
                "project.texts": [text],
                "project.images": [images],
                "project.imglist": imglist,
                "project.out": out,
                "store.url": f"sqlite:///{self.folder}/{store or tag}.sqlite",
                **{name.replace("__", "."): value for name, value in given.items()},
            }
        )
        check(_only(settings, text, pages, self.folder), None)
        texts = {p: c for p, c in self.texts.read_pages(text).items() if re.search(pages, p)}
        statuses = json.loads((out / "summary.json").read_text(encoding="utf-8"))["pages"]
        for page, columns in texts.items():
            pool.texts[f"{page}#{tag}"] = columns
            pool.statuses[f"{page}#{tag}"] = statuses.get(page, "")
        for flag in self.score.read_flags(out / "flags.jsonl"):
            pool.flags.append({**flag, "page": f"{flag['page']}#{tag}"})
        for row in self.texts.read_key(key):
            if row["page"] in texts:
                pool.rows.append({**row, "page": f"{row['page']}#{tag}"})

    def scored(self, pool: Pool) -> dict[str, Any]:
        result: dict[str, Any] = self.score.score(pool.flags, pool.statuses, pool.texts, pool.rows)
        missed = set(result["missed"])
        rows = [row for row in pool.rows if row["class"] == "error" and _named(row) in missed]
        left = [row for row in rows if not _is_mended(pool, row)]
        result["mended"] = len(rows) - len(left)
        if self.details:
            self._tell(pool, rows, left, result["false_flags"])
        return result

    def _tell(self, pool: Pool, missed: list[dict[str, Any]], left: list[dict[str, Any]], false: Sequence[str]) -> None:
        """Print every error that was `missed`, of those that are `left` the stage at which they were lost, and every
        false flag."""
        first = Pool()
        with without_further_looks():
            for tag in sorted({row["page"].split("#")[1] for row in left}):
                pool.repeats[tag](first)
        count: Counter[Stage] = Counter()
        tell = partial(Console(soft_wrap=True).print, markup=False, highlight=False)
        for row in missed:
            stage, flag = Stage.MENDED, None
            if pool.statuses[row["page"]] != "checked":
                stage = Stage.UNREAD
            elif row in left:
                stage, flag = stage_of(row, pool.flags, first.flags, self.score.meets, Settings().flags.threshold)
            count[stage] += 1
            tell(f"missed {_named(row)} | {stage.value} | {_told(flag)}")
        for line in false:
            tell(f"false {line}")
        tell("; ".join(f"{number} {stage.value}" for stage, number in count.most_common()))

    # the figures

    def planted(self, seeds: Iterable[int], rate: float, only: str = "") -> dict[str, Any]:
        pool = Pool()
        self.plant_and_run(pool, seeds, rate, only)
        return self.scored(pool)

    def plant_and_run(self, pool: Pool, seeds: Iterable[int], rate: float, only: str = "") -> None:
        """Check the real pages with errors planted by each of the seeds; their images are read once."""
        for seed in seeds:
            for case in self.cases:
                text, key = self.plant(case.text, seed, rate, case.pages, self.gold, only)
                tag = f"{case.name}-{seed}-{rate}{only and '-' + Path(only).stem}"
                self.run(pool, tag, text, case.images, case.imglist, key, case.pages, store=f"planted-{case.name}")

    def real(self) -> dict[str, Any]:
        pool = Pool()
        for case in self.cases:
            self.run(pool, f"{case.name}-real", case.text, case.images, case.imglist, self.gold, case.pages)
        return self.scored(pool)

    def render(self, count: int, seed: int = RENDER_SEED) -> Path:
        """Draw the trial pages once: images, one text, and the true boxes."""
        folder = self.folder / (f"rendered-{count}" if seed == RENDER_SEED else f"rendered-{count}-{seed}")
        if (folder / "text.txt").is_file():
            return folder
        files = sorted((self.shared / "kanripo").glob("*/*.txt"))
        texts = [read_transcription(path) for path in files if "<pb:" in path.read_text(encoding="utf-8")]
        draw(folder, choose(texts, count, seed), seed)
        return folder

    def rendered(self, count: int, rate: float) -> dict[str, Any]:
        folder = self.render(count)
        text, key = self.plant(folder / "text.txt", 1, rate, "", None)
        pool = Pool()
        store = f"checked-{count}"
        self.run(pool, f"rendered-{count}-{rate}", text, folder, None, key, "", store)
        result = self.scored(pool)
        if rate == 0:
            result["boxes"] = self.boxes(folder, store)
        return result

    def boxes(self, folder: Path, store: str) -> tuple[int, int]:
        """Of the aligned characters of the run that a store had last, how many have their box's centre inside their
        true cell."""
        true = {
            (b["page"], b["line"], b["offset"]): b["cell"]
            for b in json.loads((folder / "boxes.json").read_text(encoding="utf-8"))
        }
        inside = total = 0
        with Store.open(f"sqlite:///{self.folder}/{store}.sqlite") as opened:
            run = opened.latest_run()
            assert run is not None
            for result in StoredRun(opened, run.id).results():
                for character in result.characters:
                    cell = true.get((result.page, character.line, character.offset))
                    if cell is None:
                        continue
                    x, y = character.box.centre
                    total += 1
                    inside += cell[0] <= x <= cell[0] + cell[2] and cell[1] <= y <= cell[1] + cell[3]
        return inside, total

    def pairs(self) -> tuple[int, int, list[str]]:
        policy = policy_of(Script.TRADITIONAL)
        lines = (self.shared / "gold/pairs.tsv").read_text(encoding="utf-8").splitlines()[1:]
        wrong = []
        for line in lines:
            a, b, expected = line.split("\t")
            verdict = policy.relation(a, b)
            form = verdict.relation in (Relation.FORM, Relation.TABOO, Relation.SAME)
            if form != (expected == "form"):
                wrong.append(f"{a}{b} {expected}: {verdict.relation} by {verdict.rule}")
        return len(lines) - len(wrong), len(lines), wrong

    def speed(self) -> tuple[float, float]:
        """Seconds a half-folio on the JMML pages, image file to flags: the check, and RapidOCR's page pipeline,
        both in one run, both warm."""
        from rapidocr import RapidOCR  # noqa: PLC0415

        settings = Settings()
        engine = open_engine(engine_settings(settings))
        texts = [read_transcription(case.text) for case in self.cases[:2]]
        index = ImageIndex([self.cases[0].images], [case.imglist for case in self.cases[:2]])
        checker = checker_for(settings, engine, texts[0].script)
        cv2.setNumThreads(1)

        def one(place: tuple[Transcription, int]) -> None:
            text, number = place
            found = index.find(text.pages[number])
            assert found is not None
            checker.check(text.pages[number], "", found, load_image(found.path), neighbours_of(text.pages, number))

        places = [(text, number) for text in texts for number in range(len(text.pages))]
        with ThreadPoolExecutor(settings.workers) as pool:
            list(pool.map(one, places))
            times = []
            for _ in range(3):
                started = time.perf_counter()
                list(pool.map(one, places))
                times.append(time.perf_counter() - started)
        cv2.setNumThreads(-1)
        files = sorted((self.shared / "facsimile/JMML/images").glob("JMML_*"))
        pipeline = RapidOCR()
        pipeline(str(files[0]))
        started = time.perf_counter()
        for file in files:
            pipeline(str(file))
        other = time.perf_counter() - started
        return min(times) / len(files), other / len(files)

    def memory(self, count: int) -> tuple[float, float, float, float]:
        """Peak memory in MB over a quarter of the rendered pages and over all, and the seconds of a first and
        a second run; each in a process of its own."""
        folder = self.render(count)
        quarter = self.folder / "quarter.txt"
        pages = (folder / "text.txt").read_text(encoding="utf-8").split("<pb:")
        quarter.write_text("<pb:".join(pages[: count // 4 + 1]), encoding="utf-8")
        small, _ = _timed(quarter, folder, self.folder / "memory-quarter")
        full, first = _timed(folder / "text.txt", folder, self.folder / "memory-full")
        _, second = _timed(folder / "text.txt", folder, self.folder / "memory-full")
        return small, full, first, second


def _named(row: dict[str, Any]) -> str:
    """An error as `score.py` names it."""
    return f"{row['page']} {row['line']}:{row['offset']} {row['kind']} {row['transcribed']}→{row['reading']}"


def _is_mended(pool: Pool, row: dict[str, Any]) -> bool:
    """Whether an error that no flag of its own was raised for is put right by those about its neighbour."""
    place = (row["page"], row["line"])
    rows = [one for one in pool.rows if one["class"] == "error" and (one["page"], one["line"]) == place]
    flags = [one for one in pool.flags if (one["page"], one["line"]) == place]
    return is_mended(pool.texts[row["page"]][row["line"] - 1], row, rows, flags)


def _told(flag: Mapping[str, Any] | None) -> str:
    """What a flag says, in short."""
    if flag is None:
        return ""
    evidence = flag["evidence"]
    chances = [f"{name} {evidence[name]:.5f}" for name in ("p_text", "p_best") if name in evidence]
    sense = [f"sense {evidence['sense']['weight']:+.2f}"] if "sense" in evidence else []
    said = [f"{flag['score']:.2f}", evidence["reason"], evidence.get("rule", ""), *chances, *sense]
    return " ".join([f"{flag['kind']} {flag['transcribed']}→{flag['suggested']}", *filter(None, said)])


def draw(folder: Path, trials: Sequence[Trial], seed: int) -> None:
    """Draw trial pages into a new folder: images, one text, and the true boxes."""
    folder.mkdir(parents=True)
    lines, boxes = [], []
    for trial, (_, page) in zip(trials, rendered(trials, seed), strict=True):
        write_image(folder / f"{trial.page.id}.png", page.image)
        lines.append(f"<pb:{trial.page.id}>¶\n" + "".join(f"{c.source}¶\n" for c in trial.page.columns))
        boxes += [
            {"page": trial.page.id, "line": c.line, "offset": c.offset, "cell": c.cell.rounded()}
            for c in page.characters
        ]
    (folder / "text.txt").write_text("".join(lines), encoding="utf-8")
    (folder / "boxes.json").write_text(json.dumps(boxes), encoding="utf-8")


def _timed(text: Path, images: Path, out: Path) -> tuple[float, float]:
    """Peak memory (MB) and seconds of `proof check` in a process of its own."""
    program = [sys.executable, "-m", "proof"]
    made = [*program, "init", str(out), "--texts", str(text), "--images", str(images)]
    if not (out / "config.toml").exists():
        subprocess.run(made, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)  # noqa: S603
    command = [*program, "check", "--config", str(out), "-q"]
    started = time.perf_counter()
    with subprocess.Popen(command, cwd=ROOT) as process:  # noqa: S603
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"proof check failed with {process.returncode}")
    return usage.ru_maxrss / 1024, time.perf_counter() - started


def _only(settings: Settings, text: Path, pages: str, folder: Path) -> Settings:
    """The settings with a text that has only the pages asked for, their lines and ids unchanged."""
    if not pages:
        return settings
    kept = folder / f"only-{text.name}"
    parts = text.read_text(encoding="utf-8").split("<pb:")
    chosen = [part for part in parts[1:] if re.search(pages, part.split(">", 1)[0])]
    kept.write_text("<pb:".join([parts[0], *chosen]), encoding="utf-8")
    return settings.replace({"project.texts": [kept]})


def module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="pairs,planted,alike,clean,real,rendered,speed,memory")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1, help="the first seed (others than 1 to 20 are for tuning)")
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--keep", type=Path, help="work in this folder and leave everything there")
    parser.add_argument("--details", action="store_true", help="list what was missed and what was false")
    options = parser.parse_args(arguments)
    if not options.shared.is_dir():
        raise SystemExit(f"{options.shared} is missing: the benchmark reads its texts, images and truth from there")
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        rows = list(measure(Bench(options.shared, folder, options.details), options))
    table = Table(title="The check against known truth")
    for name in ("figure", "measured", "bar", "counts"):
        table.add_column(name, justify="left")
    for row in rows:
        table.add_row(*row)
    Console(width=120).print(table)


def measure(bench: Bench, options: argparse.Namespace) -> Iterable[tuple[str, str, str, str]]:
    """The rows of the table: figure, measured, bar, the counts behind it."""
    wanted = set(options.only.split(","))
    seeds = range(options.first, options.first + options.seeds)
    if "pairs" in wanted:
        right, total, wrong = bench.pairs()
        yield "pairs sorted as a philologist does", f"{right / total:.3f}", "0.97", f"{right} of {total} {wrong}"
    if "planted" in wanted:
        yield from _planted_rows("real pages", bench.planted(seeds, 0.03))
    if "alike" in wanted:
        found = bench.planted(seeds, 0.2, "alike.txt")
        counts = f"{found['caught']} of {found['errors']} errors, {found['false']} false"
        yield "real pages: recall within look-alikes", f"{found['recall']:.4f}", "", counts
    if "clean" in wanted:
        yield _clean_row("real pages", bench.planted(seeds[:1], 0.0))
    if "real" in wanted:
        found = bench.real()
        missed = "; ".join(found["missed"])
        yield "real errors caught", f"{found['caught']} of {found['errors']}", "all", missed
    if "rendered" in wanted:
        yield from _planted_rows("rendered", bench.rendered(options.pages, 0.03))
        clean = bench.rendered(options.pages, 0.0)
        yield _clean_row("rendered", clean)
        inside, total = clean["boxes"]
        yield "rendered: box centres in the true cell", f"{inside / max(total, 1):.4f}", "0.99", f"{inside} of {total}"
    if "speed" in wanted:
        own, other = bench.speed()
        yield "seconds a half-folio / RapidOCR's", f"{own:.3f} / {other:.3f} = 1/{other / own:.1f}", "1/8", "8 pages"
    if "memory" in wanted:
        small, full, first, second = bench.memory(options.pages)
        counts = f"{options.pages // 4} and {options.pages} pages"
        yield "peak memory, a quarter and all pages", f"{small:.0f}, {full:.0f} MB", "700 MB, flat", counts
        yield "second run / first run", f"{second:.1f} s / {first:.1f} s = 1/{first / second:.0f}", "1/20", ""


def _planted_rows(name: str, found: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    counts = f"{found['caught']} of {found['errors']} errors, {found['pages_checked']} pages, {found['false']} false"
    whole = found["caught"] + found["mended"]
    return [
        (f"{name}: recall of planted errors", f"{found['recall']:.4f}", "0.995", counts),
        (f"{name}: the same with those mended beside another", f"{whole / found['errors']:.4f}", "", f"{whole}"),
        (f"{name}: average precision", f"{found['average_precision']:.4f}", "0.98", f"{found['duplicates']} doubled"),
        (f"{name}: right reading suggested", f"{found['suggestion_accuracy']:.4f}", "0.90", ""),
    ]


def _clean_row(name: str, found: dict[str, Any]) -> tuple[str, str, str, str]:
    counts = f"{found['false']} in {found['characters']} characters"
    return f"{name}: false flags per 1,000, clean", f"{found['false_per_1000']:.2f}", "1.0", counts


if __name__ == "__main__":
    main()
