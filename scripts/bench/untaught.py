"""Measure flags on characters that the recogniser does not know, at their first occurrence.

    python -m scripts.bench untaught --font NAME_OR_FILE [--forms | --left-out] [--pages 20] [--seed 1]

Half-folios are drawn in a font that `make_drawn.py` did not use, from columns of real texts in which each such
character is inserted once. At every third of these places the image shows another character, taken at random. Prints
how many of these errors are raised, and how many flags on the other places are false. With `--forms` the text has
characters that the recogniser knows, and the image has forms of them that it does not know and reads as another word
(text 回, image 囘, read 同); at every third place the image shows that other word. With `--left-out` the text lacks the
unknown characters; prints how many of these omissions are raised.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path

import numpy as np

from proof.errors import TextError
from proof.facsimile.files import write_image
from proof.facsimile.fonts import FontChain
from proof.facsimile.render import page_seed, render_page
from proof.facsimile.wear import without_seal
from proof.images.find import ImageIndex
from proof.images.load import load_image
from proof.ocr.drawn import shipped_readings
from proof.ocr.engine import Engine
from proof.text.authorities import DATA as VARIANTS
from proof.text.model import Script, is_han
from proof.text.read import read_transcription
from proof.text.variants import Relation, policy_of
from proof.verify.page import Checker
from scripts.bench.drawn_pages import trial_style, trial_wear
from scripts.bench.material import TableRow, engine_and_checker

EVERY = 4
"""One in so many characters of a column is an untaught one."""

OTHER = Relation.DISTINCT


def untaught(engine: Engine, font: FontChain, shared: Path) -> list[str]:
    """What the font has and the recogniser was never taught, of the texts' characters and of the list of variants."""
    used: Counter[str] = Counter()
    for path in sorted((shared / "kanripo").glob("*/*.txt")) + sorted((shared / "corpus").glob("*/*_0[0-2]?.txt")):
        used.update(filter(is_han, path.read_text(encoding="utf-8")))
    listed = {char for char in VARIANTS.read_text(encoding="utf-8") if is_han(char)}
    own = font.faces[0]
    wanted = [char for char in sorted(used) if not engine.knows(char) and font.face_of(char) == own]
    rest = [char for char in sorted(listed - set(used)) if not engine.knows(char) and font.face_of(char) == own]
    return wanted + rest


@dataclass(frozen=True, slots=True)
class Put:
    """A character to be put into a text, what its image shows where the text is right, and where it is wrong: one of
    its column where that is empty."""

    transcribed: str
    shown: str
    other: str = ""


def forms(engine: Engine, font: FontChain, characters: Sequence[str]) -> list[Put]:
    """For those of the untaught `characters` that are a form of one that the recogniser knows, and are read as another
    word where they are drawn, the first such one in order of code points."""
    policy, drawn = policy_of(Script.TRADITIONAL), shipped_readings(engine.identity.checksum)
    puts = []
    for form in characters:
        read = next((text for text, _ in drawn.readings(form)), "")
        of = [
            char for char in policy.forms(form) if engine.knows(char) and policy.relation(char, read).relation is OTHER
        ]
        if read and of and policy.relation(form, read).relation is OTHER and font.face_of(read) == font.faces[0]:
            puts.append(Put(min(of), form, read))
    return puts


def columns_of(shared: Path, rng: np.random.Generator) -> Iterator[str]:
    """Columns of a text, at random, without notes."""
    files = sorted((shared / "kanripo/KR1d0087").glob("*_0??.txt"))
    text = None
    while text is None:
        with suppress(TextError):  # a head without pages
            text = read_transcription(files[int(rng.integers(len(files)))])
    while True:
        page = text.pages[int(rng.integers(len(text.pages)))]
        for column in page.columns:
            line = "".join(filter(is_han, column.source))
            if 12 <= len(line) <= 42:
                yield line[:20]


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--font", required=True)
    parser.add_argument("--forms", action="store_true", help="forms of characters that the recogniser knows")
    parser.add_argument("--left-out", action="store_true", help="the text lacks the characters")
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)


def measure(options: argparse.Namespace) -> Iterator[TableRow]:
    engine, checker = engine_and_checker()
    font = FontChain.of_installed((options.font,))
    rng = np.random.default_rng(options.seed)
    characters = untaught(engine, font, options.shared)
    every = (
        forms(engine, font, characters) if options.forms else [Put(character, character) for character in characters]
    )
    chosen = cycle([every[number] for number in rng.permutation(len(every))])
    columns = columns_of(options.shared, rng)
    counts: Counter[str] = Counter()
    for number in range(options.pages):
        texts = [
            left_out(next(columns), chosen) if options.left_out else exchanged(next(columns), chosen, rng)
            for _ in range(8)
        ]
        counts += checked(checker, texts, options.folder, f"U_WYG_001-{number + 1}a", options)
    share = f"{1000 * counts['false'] / max(counts['right'], 1):.1f}"
    yield "right ones raised, in 1,000", share, "20", f"{counts['false']} of {counts['right']}, {len(every)} characters"
    yield "errors raised", f"{counts['told']} of {counts['wrong']}"


def exchanged(column: str, chosen: Iterator[Put], rng: np.random.Generator) -> tuple[str, str, dict[int, bool]]:
    """A column as transcribed and as its image shows it; the places of untaught characters, and whether the text is
    right there."""
    text, shown, places = list(column), list(column), {}
    for place in range(EVERY // 2, len(column), EVERY):
        right = bool(rng.random() > 1 / 3)
        put = next(chosen)
        text[place] = put.transcribed
        shown[place] = put.shown if right else put.other or str(rng.choice(list(column)))
        places[place] = right
    return "".join(text), "".join(shown), places


def left_out(column: str, chosen: Iterator[Put]) -> tuple[str, str, dict[int, bool]]:
    """A column whose text lacks the untaught characters that its image shows, and the places where it does."""
    shown = list(column)
    missing = range(EVERY // 2, len(column), EVERY)
    for place in missing:
        shown[place] = next(chosen).shown
    text = "".join(character for place, character in enumerate(column) if place not in missing)
    return text, "".join(shown), {place - number: False for number, place in enumerate(missing)}


def checked(
    checker: Checker,
    columns: Sequence[tuple[str, str, dict[int, bool]]],
    folder: Path,
    name: str,
    options: argparse.Namespace,
) -> Counter[str]:
    """Draw one page, check it, and count."""
    pages = []
    for version in (0, 1):
        path = folder / f"{name}-{version}.txt"
        lines = "".join(f"{column[version]}¶\n" for column in columns)
        path.write_text(f"<pb:{name}>¶\n{lines}", encoding="utf-8")
        pages.append(read_transcription(path).pages[0])
    own = page_seed(options.seed, name)
    style = replace(trial_style(own), fonts=(options.font,))
    drawn = render_page(pages[1], style, without_seal(trial_wear(own)), options.seed)
    write_image(folder / f"{name}.png", drawn.image)
    image = ImageIndex([folder], []).find(pages[0])
    assert image is not None
    result = checker.check(pages[0], "", image, load_image(image.path), ())
    raised = {(flag.line, flag.offset) for flag in result.flags if flag.raised and (flag.length or options.left_out)}
    counts: Counter[str] = Counter()
    for number, (_, _, places) in enumerate(columns, 1):
        for place, right in places.items():
            counts["right" if right else "wrong"] += 1
            counts["false" if right else "told"] += (number, place) in raised
    return counts
