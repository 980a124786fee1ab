"""Measure the check against known truth: errors planted in real and in drawn pages, pairs of characters.

    python -m scripts.bench planted [--only planted,alike,clean,real,rendered,pairs] [--seeds 20] [--pages 200]

The truth and the scoring are those of `shared/bench`; nothing here knows an answer.
Planted: errors planted in the texts of real pages (seeds 1 to --seeds), counts pooled over all runs.
Alike: one in five of the characters that a hand runs together (`alike.txt`) exchanged within their sets.
Clean: the same texts with their known errors mended and none planted. Real: the texts as they came.
Rendered: half-folios drawn from other texts in many styles and wears, planted and clean, with true boxes.
With --details every error that was missed is listed with the stage at which it was lost, and every false flag.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scripts.bench.material import TableRow, results_in
from scripts.bench.pool import Bench, Pool


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", default="planted,alike,clean,real,rendered")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1, help="the first seed (others than 1 to 20 are for tuning)")
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument(
        "--unbroken", action="store_true", help="check the texts without the line breaks of their pages"
    )


def measure(options: argparse.Namespace) -> Iterator[TableRow]:
    bench = Bench(options.shared, options.folder, options.details, options.unbroken)
    wanted = set(options.only.split(","))
    seeds = range(options.first, options.first + options.seeds)
    if "planted" in wanted:
        yield from _planted_rows("real pages", bench.planted(seeds, 0.03))
    if "alike" in wanted:
        scores = bench.planted(seeds, 0.2, "alike.txt")
        counts = f"{scores['caught']} of {scores['errors']} errors, {scores['false']} false"
        yield "real pages: recall within look-alikes", f"{scores['recall']:.4f}", "", counts
    if "clean" in wanted:
        yield _clean_row("real pages", bench.planted(seeds[:1], 0.0))
    if "real" in wanted:
        scores = bench.scored(bench.real())
        missed = "; ".join(scores["missed"])
        yield "real errors caught", f"{scores['caught']} of {scores['errors']}", "all", missed
    if "rendered" in wanted:
        yield from _planted_rows("rendered", _rendered(bench, options.pages, 0.03))
        clean = _rendered(bench, options.pages, 0.0)
        yield _clean_row("rendered", clean)
        inside, total = clean["boxes"]
        yield "rendered: box centres in the true cell", f"{inside / max(total, 1):.4f}", "0.99", f"{inside} of {total}"


def _planted_rows(name: str, scores: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    counts = (
        f"{scores['caught']} of {scores['errors']} errors, {scores['pages_checked']} pages, {scores['false']} false"
    )
    whole = scores["caught"] + scores["mended"]
    return [
        (f"{name}: recall of planted errors", f"{scores['recall']:.4f}", "0.995", counts),
        (f"{name}: the same with those mended beside another", f"{whole / scores['errors']:.4f}", "", f"{whole}"),
        (f"{name}: average precision", f"{scores['average_precision']:.4f}", "0.98", f"{scores['duplicates']} doubled"),
        (f"{name}: right reading suggested", f"{scores['suggestion_accuracy']:.4f}", "0.90", ""),
    ]


def _clean_row(name: str, scores: dict[str, Any]) -> tuple[str, str, str, str]:
    counts = f"{scores['false']} in {scores['characters']} characters"
    return f"{name}: false flags per 1,000, clean", f"{scores['false_per_1000']:.2f}", "1.0", counts


def _rendered(bench: Bench, count: int, rate: float) -> dict[str, Any]:
    folder = bench.render(count)
    text, key = bench.plant(folder / "text.txt", 1, rate, "", None)
    pool = Pool()
    store = f"checked-{count}"
    bench.run(pool, f"rendered-{count}-{rate}", text, folder, None, key, "", store)
    result = bench.scored(pool)
    if rate == 0:
        result["boxes"] = _boxes(bench, folder, store)
    return result


def _boxes(bench: Bench, folder: Path, store: str) -> tuple[int, int]:
    """Of the aligned characters of the run that a store had last, how many have their box's centre inside their
    true cell."""
    true = {
        (b["page"], b["line"], b["offset"]): b["cell"]
        for b in json.loads((folder / "boxes.json").read_text(encoding="utf-8"))
    }
    inside = total = 0
    for result in results_in(bench.folder / f"{store}.sqlite"):
        for character in result.characters:
            cell = true.get((result.page, character.line, character.offset))
            if cell is None:
                continue
            x, y = character.box.centre
            total += 1
            inside += cell[0] <= x <= cell[0] + cell[2] and cell[1] <= y <= cell[1] + cell[3]
    return inside, total
