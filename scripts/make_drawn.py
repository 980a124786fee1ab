#!/usr/bin/env python3
"""Make `proof/ocr/data/drawn.npz`: what the recogniser says to characters that it was not taught, as fonts draw them.

    make_drawn.py TEXT_OR_FOLDER... [--font NAME_OR_FILE]... [--out FILE]

Drawn are the characters of the list of variants and of the texts that the recogniser was never taught. Each is
written in regular script among characters that are well known, cut as a strip of main text and read. Those that it was
taught and yet takes for others are left out: read so, they are mostly an error of the text (昜 for 易). A font is the
name of a family or a file to draw with; the best of the machine where none is named.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console

from proof.errors import TextError
from proof.facsimile.drawn import drawn_readings
from proof.facsimile.fonts import FontChain
from proof.language.stream import stream_of
from proof.ocr.drawn import SHIPPED
from proof.ocr.ppocr import PPOCR
from proof.text.authorities import DATA as VARIANTS
from proof.text.edition import read_text
from proof.text.model import is_han


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="*", type=Path)
    parser.add_argument("--font", action="append", default=[])
    parser.add_argument("--out", type=Path, default=SHIPPED)
    options = parser.parse_args()
    engine, fonts = PPOCR(), FontChain.found(options.font)
    lines = VARIANTS.read_text(encoding="utf-8").splitlines()
    wanted = {one for line in lines if line[:1] != "#" for one in line}
    for path in (file for one in options.texts for file in (sorted(one.rglob("*.txt")) if one.is_dir() else [one])):
        try:
            wanted |= {chr(token) for token in set(stream_of(read_text(path)).tokens.tolist())}
        except TextError:
            continue  # a head without pages
    characters = sorted(one for one in wanted if is_han(one) and not engine.knows(one))
    found = drawn_readings(engine, fonts, characters)
    found.save(options.out)
    size = options.out.stat().st_size
    Console().print(f"{len(characters)} characters drawn, {len(found)} read, {size:,} bytes: {options.out}")


if __name__ == "__main__":
    main()
