"""Measure the check of running editions: texts without page marks, laid on rendered pages.

    python -m scripts.bench running [--pages 24] [--seeds 101 102] [--wear moderate] [--forms inline,zhushu,critical]
        [--columns 2]

Pages of a Kanripo text are drawn. The text of these pages, with the pages before and after them, is converted to each
running format, and errors are planted in it (substitutions by look-alikes, omissions, insertions, transpositions,
doubled and moved columns). It is checked against the images. The same check of the text with page marks is printed for
comparison: errors caught, false flags per 1,000 characters, and seconds a page.
"""

from __future__ import annotations

import argparse
import random
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from proof.facsimile.files import render
from proof.facsimile.wear import LEVELS
from proof.text.addresses import Addresses
from proof.text.convert import convert
from proof.text.edit import Edit, edited
from proof.text.layers import Layer, WitnessCell
from proof.text.model import HAN, is_han
from proof.text.read import read_transcription
from proof.text.transcription import Format, Transcription
from scripts.bench.material import TableRow, check_in, results_in, tell

RATE = 0.012
"""Errors a character."""

COLUMN = 21
"""Characters of a column that is doubled or moved in a text without page marks."""


@dataclass(frozen=True)
class Planted:
    """An error: where in the spoiled file it begins, and where it ends."""

    kind: str
    start: int
    end: int


def plant(
    edition: Transcription, seed: int, confusable: dict[str, str], within: str, columns: int
) -> tuple[str, list[Planted]]:
    """The text of an edition with errors at random places, and with so many `columns` doubled and moved; only what
    stands in `within`, the part on the images."""
    rng = random.Random(seed)  # noqa: S311 - a measurement that can be repeated
    stretches = [stretch for stretch in edition.stretches() if stretch.layer is not Layer.APPARATUS]
    cells = [cell for stretch in stretches for cell in stretch.cells()]
    text = "".join(cell.text if len(cell.text) == 1 else "?" for cell in cells)
    begin = text.index(within[:12])
    end = text.index(within[-12:], begin) + 12
    moves = _column_edits(edition, rng, cells[begin].start, cells[end - 1].end, columns)
    taken = [edit.start for _, edit in moves]
    places: list[int] = []
    for at in range(begin + 6, end - 6):
        is_free = all(abs(cells[at].start - start) > 3 * COLUMN for start in taken)
        if is_free and is_han(cells[at].text) and rng.random() < RATE and (not places or at - places[-1] > 6):
            places.append(at)
    edits = [*moves, *(_character_edit(cells, at, rng, confusable) for at in places)]
    planted, shift = [], 0
    for kind, edit in sorted(edits, key=lambda planned: planned[1].start):
        start = edit.start + shift
        planted.append(Planted(kind, start, start + len(edit.replacement)))
        shift += len(edit.replacement) - edit.length
    return edited(edition.text, [edit for _, edit in edits]), planted


def _character_edit(
    cells: Sequence[WitnessCell], at: int, rng: random.Random, confusable: dict[str, str]
) -> tuple[str, Edit]:
    """The kind of an error at a cell, and the edit that plants it."""
    start, here, following = cells[at].start, cells[at].text, cells[at + 1]
    kind = rng.choices(("substitution", "omission", "insertion", "transposition"), (6, 2, 1, 1))[0]
    adjacent = following.start == start + 1 and following.text != here and is_han(following.text)
    if kind == "transposition" and not adjacent:
        kind = "substitution"
    if kind == "substitution" and here not in confusable:
        kind = "omission"
    if kind == "omission" and cells[at - 1].text == here:
        kind = "insertion"
    new, length = {
        "substitution": (confusable.get(here, ""), 1),
        "omission": ("", 1),
        "insertion": (here + rng.choice("之也而其不"), 1),
        "transposition": (following.text + here, 2),
    }[kind]
    return kind, Edit(start, length, new)


def _column_edits(
    edition: Transcription, rng: random.Random, begin: int, end: int, count: int
) -> list[tuple[str, Edit]]:
    """Edits that double `count` columns, and that move as many behind the next one: lines of main text in a text with
    page marks, else passages of as many characters."""
    pattern = rf"^{HAN}{{12,}}¶\n" if edition.paged else rf"{HAN}{{{COLUMN}}}"
    found = [match.span() for match in re.compile(pattern, re.MULTILINE).finditer(edition.text, begin, end)]
    pairs = [(first, second) for first, second in pairwise(found) if first[1] == second[0]]
    edits: list[tuple[str, Edit]] = []
    for first, second in rng.sample(pairs, len(pairs)):
        if all(abs(first[0] - edit.start) > 6 * COLUMN for _, edit in edits):
            column = edition.text[slice(*first)]
            if sum(kind == "doubled column" for kind, _ in edits) < count:
                edits.append(("doubled column", Edit(first[0], 0, column)))
            elif sum(kind == "moved column" for kind, _ in edits) < count:
                edits += [
                    ("left column", Edit(first[0], len(column), "")),
                    ("moved column", Edit(second[1], 0, column)),
                ]
    return edits


@dataclass
class Score:
    caught: int = 0
    planted: int = 0
    false: int = 0
    characters: int = 0
    seconds: float = 0.0
    pages: int = 0


def score(store: Path, text: Path, planted: Sequence[Planted], total: Score, *, details: bool) -> None:
    edition = read_transcription(text)
    addresses = Addresses(edition)
    hit: set[Planted] = set()
    for result in results_in(store):
        total.pages += 1
        total.characters += result.characters_checked
        for flag in result.flags:
            if not flag.raised:
                continue
            if edition.paged or flag.line:
                start = addresses.line(flag.page if edition.paged else "", flag.line)[0] + flag.offset
            else:
                start = -9
            near = [error for error in planted if error.start - 1 <= start <= error.end + 1]
            hit |= set(near)
            total.false += not near
            if details and not near:
                what = f"{flag.context} {flag.transcribed}→{flag.suggested} {flag.score:.1f} {flag.evidence.reason}"
                tell(f"false {text.name} {flag.page} {flag.line} {what}")
    total.caught += len(hit)
    total.planted += len(planted)
    if details:
        for error in planted:
            if error not in hit:
                around = edition.text[error.start - 4 : error.end + 4].replace("\n", "/")
                tell(f"missed {text.name} {error.kind} {around}")


def measured(options: argparse.Namespace, folder: Path) -> dict[str, Score]:
    source = options.shared / "kanripo" / options.text
    parts = source.read_text(encoding="utf-8").split("<pb:")
    drawn, whole = folder / "drawn.txt", folder / "whole.txt"
    drawn.write_text("<pb:".join([parts[0], *parts[6 : 6 + options.pages]]), encoding="utf-8")
    whole.write_text("<pb:".join([parts[0], *parts[4 : 8 + options.pages]]), encoding="utf-8")
    confusable: dict[str, str] = {}
    for line in (options.shared / "bench/confusables.txt").read_text(encoding="utf-8").splitlines():
        group = re.sub(r"[#\s].*", "", line) if line.startswith("#") else "".join(line.split())
        for text, other in zip(group, group[1:] + group[:1], strict=True):
            confusable.setdefault(text, other)
    images = folder / "images"
    render(read_transcription(drawn), images, wear=LEVELS[options.wear], seed=options.seeds[0])
    within = "".join(
        cell.text if len(cell.text) == 1 else "?"
        for stretch in read_transcription(drawn).stretches()
        for cell in stretch.cells()
    )  # fmt: skip
    scores: dict[str, Score] = {}
    for name in ("kanripo", *options.forms.split(",")):
        total = scores.setdefault(name, Score())
        clean = read_transcription(drawn if name == "kanripo" else whole)
        if name != "kanripo":
            path = folder / f"clean-{name}.txt"
            path.write_text(convert(clean, Format(name)).text, encoding="utf-8")
            clean = read_transcription(path)
        for seed in options.seeds:
            text, planted = plant(clean, seed, confusable, within, options.columns)
            path = folder / f"{name}-{seed}.txt"
            path.write_text(text, encoding="utf-8")
            (own := folder / f"{name}-{seed}").mkdir(exist_ok=True)
            started = time.perf_counter()
            check_in(own, [path], [images])
            total.seconds += time.perf_counter() - started
            score(own / "proof.sqlite", path, planted, total, details=options.details)
    return scores


HEADINGS = ("form", "caught", "false per 1,000", "seconds a page")


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pages", type=int, default=24)
    parser.add_argument("--seeds", type=int, nargs="+", default=[101, 102])
    parser.add_argument("--text", default="KR1d0030/KR1d0030_010.txt", help="of the Kanripo texts")
    parser.add_argument("--wear", default="moderate")
    parser.add_argument("--columns", type=int, default=2, help="doubled columns, and moved ones, in each text")
    parser.add_argument("--forms", default="inline,critical")


def measure(options: argparse.Namespace) -> Iterator[TableRow]:
    for name, outcome in measured(options, options.folder).items():
        yield (
            name,
            f"{outcome.caught / max(outcome.planted, 1):.3f} ({outcome.caught} of {outcome.planted})",
            f"{1000 * outcome.false / max(outcome.characters, 1):.2f} ({outcome.false} in {outcome.characters:,})",
            f"{outcome.seconds / max(outcome.pages, 1):.2f}",
        )
