#!/usr/bin/env python3
"""Fit what the image weighs between characters that are written alike (`ALIKE` in proof/verify/scores.py), and by how
much the sense lifts a score at most (`LIFTED`): print what each would raise.

    fit_alike.py --keep DIR [--shared DIR] [--first 301] [--seeds 6] [--pages 150] [--seed 131]

Errors are planted in the real half-folios of `bench.py` and in rendered ones, by seeds that no measurement uses: those
of `plant.py`, and one in five of the characters of `alike.txt` exchanged within their sets. What was found is weighed
again under other constants, and scored by `score.py`: errors raised, and false flags.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from bench import Bench, Pool
from rich.console import Console
from rich.table import Table

from proof.model.flags import SENSE
from proof.settings.config import Settings
from proof.text.alike import run_together
from proof.verify.scores import ALIKE, LIFTED, sense_weight

ROOT = Path(__file__).resolve().parents[1]
ALIKES = (0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
LIFTS = (1.0, 1.5, 2.0, 2.5, 3.0)
WITHIN = "alike.txt"
CLOSE = 0.002
"""Nats by which weights differ that were rounded."""


def weighed(flag: dict[str, Any], alike: float, lifted: float) -> dict[str, Any]:
    """A flag as it would be under these constants, but for what the sense alone says of what the image shows."""
    sense = flag["evidence"].get("sense", {})
    if flag["kind"] != "substitution" or flag["evidence"]["reason"] == SENSE:
        return flag
    weight = sense.get("weight", 0.0)
    score = flag["score"] - weight
    if run_together(flag["transcribed"], flag["suggested"]):
        score *= alike / ALIKE
    if sense and abs(weight - sense_weight(sense["odds"])) < CLOSE:
        weight = sense_weight(sense["odds"], lifted)
    return {**flag, "score": score + weight, "raised": score + weight >= Settings().flags.threshold}


def told(bench: Bench, pool: Pool, alike: float, lifted: float) -> str:
    """Errors raised, of how many, and false flags."""
    flags = [weighed(flag, alike, lifted) for flag in pool.flags]
    found = bench.score.score(flags, pool.statuses, pool.texts, pool.rows)
    return f"{found['caught']} of {found['errors']}, {found['false']} false"


def pools(bench: Bench, options: argparse.Namespace) -> dict[str, Pool]:
    """What was found on real and rendered pages, by what was planted."""
    found: dict[str, Pool] = {}
    seeds = range(options.first, options.first + options.seeds)
    folder = bench.render(options.pages, options.seed)
    rendered = partial(bench.run, images=folder, imglist=None, pages="", store="fit-alike")
    for name, rate, only in (("plain", 0.03, ""), ("alike", 0.2, WITHIN)):
        real, drawn = found[f"real, {name}"], found[f"rendered, {name}"] = Pool(), Pool()
        bench.plant_and_run(real, seeds, rate, only)
        text, key = bench.plant(folder / "text.txt", 1, rate, "", None, only)
        rendered(drawn, f"fit-alike-{name}", text, key=key)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--keep", type=Path, required=True, help="pages and checks are kept here")
    parser.add_argument("--first", type=int, default=301)
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--pages", type=int, default=150)
    parser.add_argument("--seed", type=int, default=131)
    options = parser.parse_args(arguments)
    options.keep.mkdir(parents=True, exist_ok=True)
    bench = Bench(options.shared, options.keep, False)
    found = pools(bench, options)
    table = Table(title=f"ALIKE is {ALIKE}, LIFTED {LIFTED}")
    for name in ("ALIKE", "LIFTED", *found):
        table.add_column(name)
    for alike, lifted in product(ALIKES, LIFTS):
        told_of = [told(bench, pool, alike, lifted) for pool in found.values()]
        table.add_row(f"{alike}", f"{lifted}", *told_of)
    Console(width=150).print(table)


if __name__ == "__main__":
    main()
