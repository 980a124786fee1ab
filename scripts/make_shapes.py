#!/usr/bin/env python3
"""Make `proof/collation/data/shapes.tsv`: characters so similar in shape that one is easily written for the other.

    python -m scripts.make_shapes TEXT... [--out FILE]

The characters that the texts have at least `MIN_OCCURRENCES` times are drawn in a regular-script font, stretched to one
size and blurred. The likeness of two is the correlation of their drawings. They are similar if it is at least
`EVIDENT`, if it is at least `RELATED` and they have a part in common, or if they are in `ATTESTED`. A line is a
character and the similar ones with a higher code point.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import ImageFont

from proof.collation.resemblance import share_part
from proof.facsimile.fonts import find_faces
from proof.text.formats import decoded_file
from proof.text.model import is_han
from scripts.make_look_alikes import SIDE, Pixels, drawn

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "proof" / "collation" / "data" / "shapes.tsv"
MIN_OCCURRENCES = 30
"""Minimum number of occurrences of a character in the texts."""

EVIDENT = 0.8
"""Minimum likeness of two characters that are easily confused: 水木 0.86, 今令 0.93, 誡誠 0.93; 昭明 has 0.52."""

RELATED = 0.7
"""Minimum likeness of two easily confused characters with a part in common: 貧貪 0.71."""

ATTESTED = frozenset({"止比", "本卒", "北比", "王主", "刀力", "功切", "列別", "不下", "子于", "由田", "甲申"})
"""Pairs that copyists confuse although their regular script differs: 本 is written 夲, 比 resembles 止."""

BLUR = 3.0
"""Standard deviation of the blur in pixels, for drawings of `SIDE` pixels."""

GRID = 20
"""Side of a blurred drawing in pixels."""

FILLED = 72
"""Longer side of a stretched drawing in pixels."""


def blurred(glyph: Pixels) -> NDArray[np.float64]:
    """The drawing as a vector of length 1: its ink stretched to one size, but for what is twice as long as wide."""
    rows, columns = np.nonzero(glyph < SIDE)
    ink = glyph[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
    height, width = ink.shape
    scale = FILLED / max(height, width)
    size = (
        max(1, int(width * scale)) if 2 * width < height else FILLED,
        max(1, int(height * scale)) if 2 * height < width else FILLED,
    )
    stretched = cv2.resize(ink, size)
    square = np.full((SIDE, SIDE), 255, np.uint8)
    top, left = (SIDE - size[1]) // 2, (SIDE - size[0]) // 2
    square[top : top + size[1], left : left + size[0]] = stretched
    shades = cv2.resize(cv2.GaussianBlur(255.0 - square, (0, 0), BLUR), (GRID, GRID), interpolation=cv2.INTER_AREA)
    vector = np.asarray(shades, dtype=np.float64).ravel()
    vector -= vector.mean()
    return np.asarray(vector / np.linalg.norm(vector))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    for path in options.texts:
        counts.update(decoded_file(path).text)
    face = find_faces()[0]
    font = ImageFont.truetype(str(face.path), 64, index=face.index)
    often = sorted(
        char
        for char, number in counts.items()
        if number >= MIN_OCCURRENCES and is_han(char) and len(char.encode()) == 3
    )
    vectors = {
        char: blurred(glyph) for char in often if (glyph := drawn(char, font)) is not None and glyph.min() < SIDE
    }
    names, matrix = list(vectors), np.array(list(vectors.values()))
    likeness = matrix @ matrix.T
    near: defaultdict[str, set[str]] = defaultdict(set)
    for pair in ATTESTED:
        near[min(pair)].add(max(pair))
    for i, j in np.argwhere(np.triu(likeness, 1) >= RELATED):
        if likeness[i, j] >= EVIDENT or share_part(names[i], names[j]):
            near[names[i]].add(names[j])
    head = f"# Made by make_shapes.py: a character and those of near shape with a higher code point ({face.path.name})"
    lines = [f"{char}\t{''.join(sorted(others))}" for char, others in sorted(near.items())]
    options.out.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
