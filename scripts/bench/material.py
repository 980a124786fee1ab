"""What several measures read, draw and print."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import cv2
import numpy as np
from rich.console import Console

from proof.checking.executor import checker_for, engine_settings
from proof.checking.pipeline import check
from proof.facsimile.files import write_image
from proof.facsimile.render import RenderedPage
from proof.model.flags import Flag
from proof.model.geometry import Box
from proof.model.result import PageResult
from proof.ocr.engine import Engine, Pixels
from proof.ocr.registry import open_engine
from proof.report.source import StoredRun
from proof.settings.config import Settings
from proof.store import Store
from proof.text.model import Script, is_han
from proof.text.read import read_transcription
from proof.text.transcription import Transcription
from proof.verify.page import Checker
from scripts.bench.drawn_pages import Trial

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), "")
TableRow = tuple[str, ...]
"""A row of a measure's table."""

CONSOLE = Console(width=150, highlight=False, soft_wrap=True, markup=False)
tell = CONSOLE.print


def kanripo_texts(shared: Path) -> list[Transcription]:
    """All page-marked texts of the material."""
    files = sorted((shared / "kanripo").glob("*/*.txt"))
    return [read_transcription(path) for path in files if "<pb:" in path.read_text(encoding="utf-8")]


def letters(shared: Path, rng: np.random.Generator, engine: Engine | None = None) -> Iterator[str]:
    """The characters of texts from a place at random on; with an engine those that it was taught."""
    files = sorted((shared / "kanripo/KR1d0087").glob("*_0??.txt"))
    while True:
        text = read_transcription(files[int(rng.integers(len(files)))])
        for page in text.pages[int(rng.integers(max(1, len(text.pages)))) :]:
            for column in page.columns:
                yield from (char for char in column.source if is_han(char) and (engine is None or engine.knows(char)))


def write_drawn(
    folder: Path,
    pages: Iterable[tuple[Trial, RenderedPage]],
    boxes_of: Callable[[RenderedPage], list[dict[str, object]]],
) -> Path:
    """Write drawn pages into a folder: images, the true boxes of their characters, and one text, which it gives."""
    folder.mkdir(parents=True, exist_ok=True)
    lines, boxes = [], []
    for trial, page in pages:
        write_image(folder / f"{trial.page.id}.png", page.image)
        lines.append(f"<pb:{trial.page.id}>¶\n" + "".join(f"{c.source}¶\n" for c in trial.page.columns))
        boxes += [{"page": trial.page.id, **box} for box in boxes_of(page)]
    (folder / "boxes.json").write_text(json.dumps(boxes), encoding="utf-8")
    text = folder / "text.txt"
    text.write_text("".join(lines), encoding="utf-8")
    return text


def marked(image: Pixels, columns: Iterable[Box], flags: Iterable[Flag]) -> Pixels:
    """A page with its columns (green, numbered) and what is raised on it (red)."""
    shown = np.asarray(cv2.cvtColor(image, cv2.COLOR_GRAY2BGR), np.uint8)
    for number, box in enumerate(columns, 1):
        _outline(shown, box, (0, 160, 0), 2)
        cv2.putText(shown, str(number), (round(box.x), round(box.y)), cv2.FONT_HERSHEY_SIMPLEX, 0.7, (0, 160, 0), 2)
    for flag in flags:
        if flag.raised and flag.bbox is not None:
            _outline(shown, flag.bbox, (0, 0, 255), 3)
    return shown


def _outline(shown: Pixels, box: Box, colour: tuple[int, int, int], thick: int) -> None:
    cv2.rectangle(shown, (round(box.x), round(box.y)), (round(box.right), round(box.bottom)), colour, thick)


def engine_and_checker(script: Script = Script.TRADITIONAL) -> tuple[Engine, Checker]:
    """The recogniser and the checker of pages, by the default settings."""
    settings = Settings()
    engine = open_engine(engine_settings(settings))
    return engine, checker_for(settings, engine, script)


def check_in(folder: Path, texts: list[Path], images: list[Path], imglist: Path | None = None, **given: object) -> None:
    """Check texts into a store in `folder`, unless that was done before; `given` are settings
    (`flags__language_model`)."""
    if (folder / "out/summary.json").is_file():
        return
    values: dict[str, object] = {"project.texts": texts, "project.images": images, "project.imglist": imglist}
    values |= {"project.out": folder / "out", "store.url": f"sqlite:///{folder}/proof.sqlite"}
    values |= {name.replace("__", "."): value for name, value in given.items()}
    check(Settings().replace(values), None)


def results_in(store: Path) -> Iterator[PageResult]:
    """The pages of the last check into a store."""
    with Store.open(f"sqlite:///{store}") as opened:
        run = opened.latest_run()
        assert run is not None
        yield from StoredRun(opened, run.id).results()
