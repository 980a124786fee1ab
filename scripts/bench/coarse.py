"""Measure from which size on characters can be read: recall and false flags on drawn pages that are shrunk.

    python -m scripts.bench coarse [--pages 12] [--seed 41] [--cells 40,24,...]

Half-folios are drawn from the texts of `shared/kanripo` in many styles and wears, errors are planted in their text
(`plant.py`), and every image is shrunk to each height of a cell in pixels. A row has the number of pages that are said
to be too coarse, the planted errors raised on the others, the false flags, the pages that are taken for other ones, and
the maximum number of findings of a page that is not read, which should be one.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median

import cv2

from scripts.bench.material import TableRow
from scripts.bench.pool import Bench, Pool, score_of

CELLS = (40, 24, 20, 17, 15, 13, 12, 11, 10, 9, 8, 7, 6)
NAMED = "image too coarse"


def cell_heights(folder: Path) -> dict[str, float]:
    """The height of a cell of each page's main text in pixels: the median of the higher half of all its cells."""
    heights: defaultdict[str, list[float]] = defaultdict(list)
    for box in json.loads((folder / "boxes.json").read_text(encoding="utf-8")):
        heights[box["page"]].append(box["cell"][3])
    return {page: median(sorted(of_page)[len(of_page) // 2 :]) for page, of_page in heights.items()}


def shrunk(folder: Path, cell: int, heights: dict[str, float]) -> Path:
    """The pages of a folder with cells of that height."""
    out = folder.with_name(f"{folder.name}-{cell}")
    out.mkdir(exist_ok=True)
    for file in folder.glob("*.png"):
        image = cv2.imread(str(file), cv2.IMREAD_UNCHANGED)
        assert image is not None
        scale = min(1.0, cell / heights[file.stem])
        size = (max(1, round(image.shape[1] * scale)), max(1, round(image.shape[0] * scale)))
        cv2.imwrite(str(out / file.name), cv2.resize(image, size, interpolation=cv2.INTER_AREA))
    return out


def row_of(bench: Bench, folder: Path, cell: int, text: Path, key: Path) -> tuple[str, ...]:
    pool = Pool()
    bench.run(pool, f"coarse-{cell}", text, folder, None, key, "")
    named = {flag["page"] for flag in pool.flags if flag["evidence"]["reason"] == NAMED}
    named |= {page for page, status in pool.statuses.items() if status.startswith("failed")}
    findings = Counter(flag["page"] for flag in pool.flags if flag["raised"])
    texts = {page: columns for page, columns in pool.texts.items() if page not in named}
    read = score_of(replace(pool, texts=texts, rows=[row for row in pool.rows if row["page"] not in named]))
    other = [page for page, status in pool.statuses.items() if status != "checked" and page not in named]
    return (
        f"{cell}",
        f"{len(named)} of {len(pool.texts)}",
        f"{read['caught']} of {read['errors']}",
        f"{read['false']} in {read['characters']}",
        f"{len(other)}",
        f"{max((findings[page] for page in pool.texts if page in named or page in other), default=0)}",
    )


HEADINGS = ("pixels a cell", "too coarse", "planted raised elsewhere", "false", "another image", "findings if not read")


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pages", type=int, default=12)
    parser.add_argument("--seed", type=int, default=41)
    parser.add_argument("--cells", default=",".join(map(str, CELLS)))


def measure(options: argparse.Namespace) -> Iterator[TableRow]:
    bench = Bench(options.shared, options.folder, False)
    folder = bench.render(options.pages, options.seed)
    text, key = bench.plant(folder / "text.txt", 1, 0.03, "", None)
    heights = cell_heights(folder)
    for cell in map(int, options.cells.split(",")):
        yield row_of(bench, shrunk(folder, cell, heights), cell, text, key)
