#!/usr/bin/env python3
"""Make `drawn.npz`, `sure.npz` and `shapes.npz` of `proof/ocr/data` from characters drawn with a font and the readings
of the recogniser.

    make_drawn.py TEXT_OR_FOLDER... [--font NAME_OR_FILE]... [--out FILE] [--only drawn,sure,shapes]

`drawn.npz` has the readings of characters that the recogniser does not know: those of the list of variants and of the
texts. Each is drawn in regular script among well-known characters, cut as a strip of main text, and read. Characters
that it knows and misreads are left out, since such a reading is mostly an error of the text (昜 for 易). `sure.npz` has
the probabilities with which characters that it knows are read as themselves, drawn clear and worn. `shapes.npz` has the
shapes of the characters of `sure.npz`, and of those of `drawn.npz` that are in the texts or the Basic Multilingual
Plane. A font is the name of a family or a file; by default it is the best font on this machine.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from proof.errors import TextError
from proof.facsimile.drawn import drawn_readings, drawn_shapes, sure_forms
from proof.facsimile.fonts import FontChain
from proof.language.stream import stream_of
from proof.ocr.drawn import SHIPPED, SHIPPED_SURE, DrawnReadings, SureForms
from proof.ocr.drawn_shapes import SHIPPED_SHAPES
from proof.ocr.ppocr import PPOCR
from proof.text.authorities import DATA as VARIANTS
from proof.text.model import Script, is_han
from proof.text.read import read_transcription
from proof.text.variants import Relation, policy_of

LAST_OF_PLANE = "\uffff"
"""The last code point of the Basic Multilingual Plane."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="*", type=Path)
    parser.add_argument("--font", action="append", default=[])
    parser.add_argument("--out", type=Path, default=SHIPPED)
    parser.add_argument("--only", default="drawn,sure,shapes")
    options = parser.parse_args()
    engine, fonts = PPOCR(), FontChain.of_installed(options.font)
    if "sure" in options.only:
        taught = [
            character
            for character in engine.trained_characters().characters
            if len(character) == 1 and is_han(character) and engine.knows(character)
        ]
        policy = policy_of(Script.TRADITIONAL)
        sure = sure_forms(
            engine, fonts, taught, lambda char, text: policy.relation(char, text).relation is not Relation.DISTINCT
        )
        sure.save(beside := options.out.with_name(SHIPPED_SURE.name))
        Console().print(
            f"{len(taught)} characters taught, {len(sure)} drawn, {beside.stat().st_size:,} bytes: {beside}"
        )
    if "drawn" in options.only:
        make_drawn(engine, fonts, options.texts, options.out)
    if "shapes" in options.only:
        make_shapes(fonts, options.texts, options.out)


def met_in(texts: Sequence[Path]) -> set[str]:
    """The characters of some texts."""
    met: set[str] = set()
    for path in (file for text in texts for file in (sorted(text.rglob("*.txt")) if text.is_dir() else [text])):
        try:
            met |= {chr(token) for token in set(stream_of(read_transcription(path)).tokens.tolist())}
        except TextError:
            continue  # a head without pages
    return met


def make_shapes(fonts: FontChain, texts: Sequence[Path], drawn: Path) -> None:
    """Write the shapes of the characters in `drawn` that are common enough, of their readings, and of the characters
    that the recogniser knows."""
    known, met = DrawnReadings.load(drawn), met_in(texts)
    untaught = {char for char in map(chr, known.codes.tolist()) if char <= LAST_OF_PLANE or char in met}
    read = {text for char in untaught for text, _ in known.readings(char)}
    taught = set(map(chr, SureForms.load(drawn.with_name(SHIPPED_SURE.name)).codes.tolist()))
    shapes = drawn_shapes(known.checksum, fonts, sorted(untaught | read | taught))
    shapes.save(out := drawn.with_name(SHIPPED_SHAPES.name))
    Console().print(f"{len(shapes)} shapes, {out.stat().st_size:,} bytes: {out}")


def make_drawn(engine: PPOCR, fonts: FontChain, texts: Sequence[Path], out: Path) -> None:
    """Draw the characters that the recogniser does not know, and write their readings."""
    lines = VARIANTS.read_text(encoding="utf-8").splitlines()
    wanted = {char for line in lines if line[:1] != "#" for char in line} | met_in(texts)
    characters = sorted(char for char in wanted if is_han(char) and not engine.knows(char))
    readings = drawn_readings(engine, fonts, characters)
    readings.save(out)
    size = out.stat().st_size
    Console().print(f"{len(characters)} characters drawn, {len(readings)} read, {size:,} bytes: {out}")


if __name__ == "__main__":
    main()
