"""Errors planted in texts, the check of these, and the scores of what it raised; pooled over runs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from proof.checking.pipeline import check
from proof.model.result import Status
from proof.quality.benchmark import KEY_COLUMNS, ErrorClass, Finding, KeyRow, score
from proof.settings.config import Settings
from scripts.bench.drawn_pages import Trial, choose, rendered
from scripts.bench.material import kanripo_texts, tell, write_drawn
from scripts.bench.missed import Stage, is_mended, stage_of, without_rereadings

RENDER_SEED = 20
"""The trial pages of the table; other seeds are for tuning."""


@dataclass(frozen=True)
class Case:
    """A real text with its images; `pages` is a regular expression for those that have one."""

    name: str
    text: Path
    images: Path
    imglist: Path | None
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
    def __init__(self, shared: Path, folder: Path, details: bool, unbroken: bool = False) -> None:
        """`unbroken`: the texts are checked without the line breaks of their pages."""
        self.unbroken = unbroken
        self.shared = shared
        self.folder = folder
        self.details = details
        self.score = shared_module(shared, "score")
        self.texts = shared_module(shared, "textpages")
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
        **given: Any,
    ) -> None:
        """Check one text and add what came of it to the pool; `given` are settings (`flags__language_model`). Pages
        without an image are not the check's. What was read on images is kept in a `store`, by default one of this run:
        with another run's, that run's text is checked again as it is now."""
        out = self.folder / f"out-{tag}"
        broken = text
        pool.repeats[tag] = partial(
            self.run, tag=tag, text=text, images=images, imglist=imglist, key=key, pages=pages, store=store, **given
        )
        if store or self.unbroken:
            text = self.folder / f"{store or tag}{broken.suffix}"
            source = broken.read_text(encoding="utf-8")
            text.write_text(_without_line_breaks(source) if self.unbroken else source, encoding="utf-8")
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
        texts = {p: c for p, c in self.texts.read_pages(broken).items() if re.search(pages, p)}
        statuses = json.loads((out / "summary.json").read_text(encoding="utf-8"))["pages"]
        for page, columns in texts.items():
            pool.texts[f"{page}#{tag}"] = columns
            pool.statuses[f"{page}#{tag}"] = statuses.get(page, "")
        for flag in self.score.read_flags(out / "flags.jsonl"):
            place = _place_in(texts[flag["page"]], flag["offset"]) if self.unbroken and flag["line"] else {}
            pool.flags.append({**flag, **place, "page": f"{flag['page']}#{tag}"})
        for row in self.texts.read_key(key):
            if row["page"] in texts:
                pool.rows.append({**row, "page": f"{row['page']}#{tag}"})

    def scored(self, pool: Pool) -> dict[str, Any]:
        result = score_of(pool)
        missed = set(result["missed"])
        rows = [row for row in pool.rows if row["class"] == "error" and named(row) in missed]
        left = [row for row in rows if not _is_mended(pool, row)]
        result["mended"] = len(rows) - len(left)
        if self.details:
            self._tell(pool, rows, left, result["false_flags"])
        return result

    def _tell(self, pool: Pool, missed: list[dict[str, Any]], left: list[dict[str, Any]], false: Sequence[str]) -> None:
        """Print every error that was `missed`, of those that are `left` the stage at which they were lost, and every
        false flag."""
        first = Pool()
        with without_rereadings():
            for tag in sorted({row["page"].split("#")[1] for row in left}):
                pool.repeats[tag](first)
        count: Counter[Stage] = Counter()
        for row in missed:
            stage, flag = Stage.MENDED, None
            if pool.statuses[row["page"]] != "checked":
                stage = Stage.UNREAD
            elif row in left:
                stage, flag = stage_of(row, pool.flags, first.flags, self.score.meets, Settings().flags.threshold)
            count[stage] += 1
            tell(f"missed {named(row)} | {stage.value} | {_told(flag)}")
        for line in false:
            tell(f"false {line}")
        tell("; ".join(f"{number} {stage.value}" for stage, number in count.most_common()))

    def real(self) -> Pool:
        """Check the real pages with their own errors."""
        pool = Pool()
        for case in self.cases:
            self.run(pool, f"{case.name}-real", case.text, case.images, case.imglist, self.gold, case.pages)
        return pool

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

    def render(self, count: int, seed: int = RENDER_SEED) -> Path:
        """Draw the trial pages once: images, one text, and the true boxes."""
        folder = self.folder / (f"rendered-{count}" if seed == RENDER_SEED else f"rendered-{count}-{seed}")
        if (folder / "text.txt").is_file():
            return folder
        trials = choose(kanripo_texts(self.shared), count, seed)
        draw(folder, trials, seed)
        return folder


def _without_line_breaks(source: str) -> str:
    """A text in Kanripo's notation with all columns of a page in one line."""
    head, *pages = source.split("<pb:")
    return head + "".join(
        f"<pb:{mark}\n{''.join(columns).replace('¶', '')}¶\n" for mark, *columns in (page.split("\n") for page in pages)
    )


def _place_in(columns: Sequence[str], offset: int) -> dict[str, int]:
    """The line and the offset in it of a place in a page without line breaks."""
    line = 1
    for column in columns[:-1]:
        if offset < len(column):
            break
        offset -= len(column)
        line += 1
    return {"line": line, "offset": offset}


def score_of(pool: Pool) -> dict[str, Any]:
    """What `proof bench` counts, by the names that the tables have for it."""
    checked = {page: lines for page, lines in pool.texts.items() if pool.statuses.get(page) == Status.CHECKED.value}
    rows = [
        KeyRow(**{name: row[name] for name in KEY_COLUMNS[:-1]}, category=_CLASSES[row["class"]]) for row in pool.rows
    ]
    scores = score(map(Finding.of, pool.flags), checked, rows)
    errors = sum(value.errors for value in scores.recall.values())
    return {
        **scores.as_dict(),
        "pages_checked": scores.pages,
        "errors": errors,
        "caught": scores.found,
        "recall": scores.found / errors if errors else None,
        "suggestion_accuracy": scores.suggested / scores.found if scores.found else None,
        "false_flags": [str(finding) for finding in scores.false_findings],
    }


_CLASSES = {"error": ErrorClass.PLANTED, "variant": ErrorClass.VARIANT, "ambiguous": ErrorClass.AMBIGUOUS}


def named(row: dict[str, Any]) -> str:
    """An error as `score.py` names it."""
    return f"{row['page']} {row['line']}:{row['offset']} {row['kind']} {row['transcribed']}→{row['reading']}"


def _is_mended(pool: Pool, row: dict[str, Any]) -> bool:
    """Whether an error that no flag of its own was raised for is put right by those about its neighbour."""
    place = (row["page"], row["line"])
    rows = [row for row in pool.rows if row["class"] == "error" and (row["page"], row["line"]) == place]
    flags = [flag for flag in pool.flags if (flag["page"], flag["line"]) == place]
    return is_mended(pool.texts[row["page"]][row["line"] - 1], row, rows, flags)


def _told(flag: Mapping[str, Any] | None) -> str:
    """What a flag says, in short."""
    if flag is None:
        return ""
    evidence = flag["evidence"]
    chances = [f"{name} {evidence[name]:.5f}" for name in ("p_text", "p_best") if name in evidence]
    language = [f"language {evidence['language']['weight']:+.2f}"] if "language" in evidence else []
    parts = [f"{flag['score']:.2f}", evidence["reason"], evidence.get("rule", ""), *chances, *language]
    return " ".join([f"{flag['kind']} {flag['transcribed']}→{flag['suggested']}", *filter(None, parts)])


def draw(folder: Path, trials: Sequence[Trial], seed: int) -> None:
    """Draw trial pages into a folder: images, one text, and the true boxes."""
    write_drawn(
        folder,
        rendered(trials, seed),
        lambda page: [{"line": c.line, "offset": c.offset, "cell": c.cell.rounded()} for c in page.characters],
    )


def _only(settings: Settings, text: Path, pages: str, folder: Path) -> Settings:
    """The settings with a text that has only the pages asked for, their lines and ids unchanged."""
    if not pages:
        return settings
    kept = folder / f"only-{text.name}"
    write_pages(text, pages, kept)
    return settings.replace({"project.texts": [kept]})


def write_pages(text: Path, pages: str, target: Path) -> None:
    """Write the pages of a text whose ids match `pages`, their lines and ids unchanged."""
    head, *parts = text.read_text(encoding="utf-8").split("<pb:")
    chosen = [part for part in parts if re.search(pages, part.split(">", 1)[0])]
    target.write_text("<pb:".join([head, *chosen]), encoding="utf-8")


def shared_module(shared: Path, name: str) -> ModuleType:
    """A module of `shared/bench`."""
    sys.path.insert(0, str(shared / "bench"))
    try:
        return import_module(name)
    finally:
        sys.path.pop(0)
