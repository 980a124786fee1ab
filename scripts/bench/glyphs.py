"""Measure the view of all glyphs of a character: is a wrong one among the first?

    python -m scripts.bench glyphs [--errors 200] [--pages 200]

In the texts of drawn and of real pages some characters are replaced by others that occur at least twenty times in the
work, half of them by look-alikes if there are any. The pages are checked with the real recogniser. The figures are the
ranks of the wrong glyphs among all glyphs of their character.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from proof.quality.unlikeness import unlikeness
from proof.store import Store
from proof.text.read import read_transcription
from scripts.bench.crops import SEED, check_real, draw
from scripts.bench.material import TableRow, check_in, tell

TIMES = 20
FIRST = 0.05


@dataclass(frozen=True)
class Error:
    """A character of a page that is transcribed as another."""

    page: str
    line: int
    offset: int
    right: str
    wrong: str


def plant(sources: list[Path], folder: Path, count: int, shared: Path, seed: int) -> list[Error]:
    """Write texts with errors into a folder, and give them."""
    rng = random.Random(seed)  # noqa: S311
    texts = [read_transcription(source) for source in sources]
    places = [
        (number, page.id, column, cell)
        for number, text in enumerate(texts)
        for page in text.pages
        for column in page.columns
        for cell in column.cells
        if cell.han and cell.length == 1
    ]
    frequent = [char for char, n in Counter(cell.text for *_, cell in places).items() if n >= TIMES]
    groups = (shared / "bench/confusables.txt").read_text(encoding="utf-8").split("\n")
    rng.shuffle(places)
    alike = {
        char: [c for group in groups if char in group for c in frequent if c in group and c != char]
        for char in {cell.text for *_, cell in places}
    }
    places.sort(key=lambda place: not alike[place[3].text])
    few = min(count // 2, sum(bool(alike[cell.text]) for *_, cell in places))
    rest = places[few:]
    rng.shuffle(rest)
    written = [list(text.text) for text in texts]
    errors: list[Error] = []
    taken: set[tuple[str, int]] = set()
    for number, page, column, cell in [*places[:few], *rest]:
        wrong = rng.choice(alike[cell.text] if len(errors) < few and alike[cell.text] else frequent)
        if wrong != cell.text and (page, column.number) not in taken and len(errors) < count:
            taken.add((page, column.number))
            written[number][column.start + cell.offset] = wrong
            errors.append(Error(page, column.number, cell.offset, cell.text, wrong))
    for source, characters in zip(sources, written, strict=True):
        (folder / source.name).write_text("".join(characters), encoding="utf-8")
    return errors


def ranks(folder: Path, errors: list[Error]) -> list[tuple[Error, int, int]]:
    """Of each error that was read on its image, its place among the occurrences of its character, and how many these
    are."""
    ranked = []
    with Store.open(f"sqlite:///{folder}/proof.sqlite") as store:
        run = store.latest_run()
        assert run is not None
        numbers = {page.page: page.number for page in store.queue.pages(run.info.work)}
        planted = {(numbers.get(error.page), error.line, error.offset) for error in errors}
        for error in errors:
            here = store.glyphs.of(run.info.work, error.wrong)
            at = list(
                zip(here.pages.tolist(), here.glyphs["line"].tolist(), here.glyphs["offset"].tolist(), strict=True)
            )
            place = (numbers.get(error.page), error.line, error.offset)
            if place not in at:
                continue
            # each error by itself: several in one character would stand in each other's way
            kept = np.array([item == place or item not in planted for item in at])
            unlike = unlikeness(here.glyphs["shape"][kept], here.glyphs["posterior"][kept] / 255.0)
            own = int(kept[: at.index(place)].sum())
            ranked.append((error, int((unlike > unlike[own]).sum()) + 1, len(unlike)))
    return ranked


def first(ranked: list[tuple[Error, int, int]], errors: int) -> str:
    """How many of the errors are among the first; those that are no occurrence of their character count as missed."""
    among = sum(rank <= max(FIRST * count, 1) for _, rank, count in ranked)
    return f"{among / max(errors, 1):.3f} ({among} of {errors})"


def cases(
    options: argparse.Namespace, kept: Path
) -> Iterator[tuple[str, Path, list[Path], list[Path], Path | None, int, int]]:
    """Name, folder, texts, images, image lists, errors and seed of each work."""
    drawn = kept / f"rendered-{options.pages}-{SEED}"
    draw(drawn, options.shared, options.pages, SEED)
    yield "rendered", kept / f"glyphs-{options.pages}", [drawn / "text.txt"], [drawn], None, options.errors, 1
    jmml = sorted((options.shared / "facsimile/JMML").glob("*.txt"))
    check_real(kept / "real", options.shared)
    plate, lists = kept / "real/plate/KR1d0087_223.txt", options.shared / "kanripo/KR1d0087/imglist"
    for seed in range(1, options.seeds + 1):
        images = options.shared / "facsimile/JMML/images"
        yield "real: JMML", kept / f"glyphs-jmml-{seed}", jmml, [images], None, 20, seed
        images = options.shared / "facsimile/plates/WYG0140"
        yield "real: plate", kept / f"glyphs-plate-{seed}", [plate], [images], lists, 12, seed


HEADINGS = ("wrong glyph among the first 5 % of its character", "as shown", "bar")


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--errors", type=int, default=200)
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=4, help="how often errors are planted in the real texts")
    parser.add_argument("--only", default="", help="only works whose name begins so")


def measure(options: argparse.Namespace) -> Iterator[TableRow]:
    rows: defaultdict[str, list[tuple[Error, int, int]]] = defaultdict(list)
    counts: Counter[str] = Counter()
    for name, folder, texts, images, lists, count, seed in cases(options, options.folder):
        if not name.startswith(options.only):
            continue
        folder.mkdir(parents=True, exist_ok=True)
        errors = plant(texts, folder, count, options.shared, seed)
        check_in(folder, [folder / text.name for text in texts], images, lists)
        counts[name] += len(errors)
        rows[name] += ranks(folder, errors)
    for name, ranked in rows.items():
        yield name, first(ranked, counts[name]), "0.9"
        for error, rank, count in ranked:
            if rank > max(FIRST * count, 1):
                tell(f"{error.page} {error.line} {error.right} as {error.wrong}: {rank} of {count}")
