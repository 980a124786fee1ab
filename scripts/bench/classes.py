"""Measure how many errors are raised by class: what transcribers, typists and converters of scripts do.

    python -m scripts.bench classes [--first 1] [--seeds 2] [--rate 0.03]

The truth and the texts of the real pages are those of `shared/bench` and `shared/gold`. Errors of one class at a time
are planted in the corrected texts, no two within three characters.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from proof.collation.resemblance import homophones, near_in_shape
from proof.quality.benchmark import KEY_COLUMNS
from proof.text.conversions import conversions
from proof.text.model import Script, is_han
from proof.text.variants import Relation, policy_of
from scripts.bench.material import TableRow, kanripo_texts
from scripts.bench.pool import Bench, Case, Pool

MIN_BETWEEN = 3
"""Characters between two errors, at least."""

RUN_LENGTHS = range(2, 7)
"""Characters of a run that is left out or doubled."""

PLACEHOLDERS = "□？〓"
"""What transcribers put for a character that they cannot read or type."""


@dataclass(frozen=True)
class Planted:
    """An error at an index of a line: `transcribed` stands there for `reading`."""

    kind: str
    reading: str
    transcribed: str


class Texts:
    """The characters of the corrected texts, the most frequent of `shared/kanripo`, and which pairs are one word."""

    def __init__(self, bench: Bench) -> None:
        counts: Counter[str] = Counter()
        for text in kanripo_texts(bench.shared)[::8]:
            counts.update(char for page in text.pages for line in page.columns for char in line.source if is_han(char))
        self.frequent = [char for char, _ in counts.most_common(4000)]
        self._relation = policy_of(Script.TRADITIONAL).relation

    def distinct(self, first: str, second: str) -> bool:
        return self._relation(first, second).relation is Relation.DISTINCT

    @cache  # noqa: B019 - one object for a run
    def others(self, char: str, resembles: Callable[[str, str], bool]) -> list[str]:
        """The frequent characters, other words, that resemble `char`."""
        return [other for other in self.frequent if resembles(char, other) and self.distinct(char, other)]


Substitute = Callable[[str, str], bool]

SUBSTITUTIONS: Mapping[str, Substitute] = {
    "converters: one simplified character for several": lambda a, b: conversions().one_to_many(a, b),
    "alike in shape": near_in_shape,
    "alike in sound": homophones,
    "any other character": lambda a, b: not near_in_shape(a, b) and not homophones(a, b),
}
"""By class whether two characters that are different words are exchanged in it."""


def _substituted(texts: Texts, name: str, text: str, at: int, dice: random.Random) -> Planted | None:
    options = texts.others(text[at], SUBSTITUTIONS[name])
    return Planted("substitution", text[at], dice.choice(options)) if options else None


def _placeholder(_texts: Texts, _name: str, text: str, at: int, dice: random.Random) -> Planted | None:
    return Planted("substitution", text[at], dice.choice(PLACEHOLDERS))


def _left_out(_texts: Texts, _name: str, text: str, at: int, _dice: random.Random) -> Planted | None:
    return Planted("omission", text[at], "") if _han_run(text, at) > 1 else None


def _run_left_out(_texts: Texts, _name: str, text: str, at: int, dice: random.Random) -> Planted | None:
    size = dice.choice(RUN_LENGTHS)
    return Planted("omission", text[at : at + size], "") if _han_run(text, at) > size else None


def _doubled(_texts: Texts, _name: str, text: str, at: int, _dice: random.Random) -> Planted | None:
    return Planted("insertion", text[at], text[at] * 2)


def _run_doubled(_texts: Texts, _name: str, text: str, at: int, dice: random.Random) -> Planted | None:
    size = dice.choice(RUN_LENGTHS)
    run = text[at : at + size]
    return Planted("insertion", run, run * 2) if _han_run(text, at) >= size else None


def _exchanged(_texts: Texts, _name: str, text: str, at: int, _dice: random.Random) -> Planted | None:
    pair = text[at : at + 2]
    return Planted("transposition", pair, pair[::-1]) if _han_run(text, at) > 1 and pair[0] != pair[1] else None


CLASSES: Mapping[str, Callable[[Texts, str, str, int, random.Random], Planted | None]] = {
    **dict.fromkeys(SUBSTITUTIONS, _substituted),
    "placeholder": _placeholder,
    "a character left out": _left_out,
    "two to six left out": _run_left_out,
    "a character doubled": _doubled,
    "two to six doubled": _run_doubled,
    "neighbours exchanged": _exchanged,
}


def _han_run(text: str, at: int) -> int:
    """How many Han characters stand together from `at` on."""
    return next((number for number, char in enumerate(text[at:]) if not is_han(char)), len(text) - at)


def planted(
    texts: Texts, name: str, text: str, kept: Sequence[Mapping[str, Any]], rate: float, dice: random.Random
) -> tuple[str, list[dict[str, Any]]]:
    """A line with errors of a class, and the rows of its key: the errors, and the `kept` rows where they stand now. No
    error touches one of these."""
    taken = {at for row in kept for at in range(row["offset"], row["offset"] + max(row["length"], 1))}
    spoiled, rows, moved, at, free = "", [], {}, 0, 0
    while at < len(text):
        moved[at] = len(spoiled)
        error = None
        if is_han(text[at]) and at >= free and dice.random() < rate:
            error = CLASSES[name](texts, name, text, at, dice)
        if error is None or taken & set(range(at, at + len(error.reading) + 1)):
            spoiled += text[at]
            at += 1
            continue
        offset, transcribed, reading = len(spoiled), error.transcribed, error.reading
        if error.kind == "insertion":
            offset, transcribed, reading = offset + len(reading), reading, ""
        rows.append(_row(offset, transcribed, reading, error.kind, "error"))
        spoiled += error.transcribed
        moved |= {at + step: len(spoiled) for step in range(1, len(error.reading))}
        at += len(error.reading)
        free = at + MIN_BETWEEN
    return spoiled, rows + [{**row, "offset": moved.get(row["offset"], len(spoiled))} for row in kept]


def _row(offset: int, transcribed: str, reading: str, kind: str, is_of: str) -> dict[str, Any]:
    names = {"offset": offset, "length": len(transcribed), "transcribed": transcribed, "reading": reading}
    return {**names, "kind": kind, "class": is_of}


def plant(
    bench: Bench, texts: Texts, name: str, case: Case, corrected: tuple[Path, Path], seed: int, rate: float
) -> tuple[Path, Path]:
    """The text of a case with errors of a class, and its key. `corrected` are the text without errors and its key."""
    source, key = corrected
    dice = random.Random(f"{seed} {name}")  # noqa: S311
    kept: defaultdict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for row in bench.texts.read_key(key):
        kept[row["page"], row["line"]].append(row)
    lines, key_rows = [], ["\t".join(KEY_COLUMNS)]
    for raw, page, number, body in bench.texts.walk(bench.texts.read(source)):
        text = body
        if number and re.search(case.pages, page):
            text, rows = planted(texts, name, body, kept[page, number], rate, dice)
            key_rows += [
                "\t".join(str({"page": page, "line": number, **row}[field]) for field in KEY_COLUMNS) for row in rows
            ]
        lines.append(text + raw[len(body) :])
    stem = f"{case.name}-{list(CLASSES).index(name)}-{seed}"
    spoiled, answers = bench.folder / f"{stem}.txt", bench.folder / f"{stem}.tsv"
    spoiled.write_text("".join(lines), encoding="utf-8", newline="")
    answers.write_text("\n".join(key_rows) + "\n", encoding="utf-8")
    return spoiled, answers


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--rate", type=float, default=0.03, help="errors for each character of a text")


def measure(options: argparse.Namespace) -> Iterator[TableRow]:
    bench = Bench(options.shared, options.folder, options.details)
    texts = Texts(bench)
    corrected = {case: bench.plant(case.text, 0, 0.0, case.pages, bench.gold) for case in bench.cases}
    for name in CLASSES:
        pool = Pool()
        for seed in range(options.first, options.first + options.seeds):
            for case in bench.cases:
                text, key = plant(bench, texts, name, case, corrected[case], seed, options.rate)
                store = f"planted-{case.name}"
                bench.run(pool, text.stem, text, case.images, case.imglist, key, case.pages, store=store)
        scored = bench.scored(pool)
        caught = f"{scored['caught']} of {scored['errors']}, {scored['mended']} more put right, {scored['false']} false"
        yield name, f"{scored['recall']:.3f}", "", caught
