#!/usr/bin/env python3
"""Make `proof/language/data/look_alikes.tsv`: the characters between which the language model is asked to decide.

    make_look_alikes.py TEXT... [--out FILE]

Two characters are measured if the texts have both at least `MIN_OCCURRENCES` times, or critics name them. `confused`
is the mean probability of one for a drawing of the other in regular script, damaged in several ways (coarse, blurred,
thinned, bled). `likeness` is the cosine between their blurred drawings, if either is among the `NEAREST` of the other.
They are look-alikes if one of these holds:

* they are written alike in the hands of the Siku (`proof/text/data/alike.txt`), or are in `ATTESTED`;
* people confuse them (`proof/text/data/similar.txt`), and they reach one of `MIN_KNOWN`;
* both have `FREQUENT` occurrences, and they reach `MIN_CONFUSED`, or both of `MIN_BOTH`.

Forms of one word are left out. The most similar pairs come first.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter, defaultdict
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from proof.errors import TextError
from proof.facsimile.fonts import find_faces
from proof.language.stream import stream_of
from proof.ocr.ppocr import PPOCR
from proof.text.alike import look_alikes, run_together
from proof.text.model import Script, is_han
from proof.text.read import read_transcription
from proof.text.variants import Relation, policy_of

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "proof" / "language" / "data" / "look_alikes.tsv"

MIN_OCCURRENCES = 60
"""Minimum number of occurrences of a character in the texts."""

NEAREST = 3
"""Number of the most similar drawings of a character for which likeness counts."""

FREQUENT = 300
"""Minimum number of occurrences of both characters if only measurement finds them similar."""

MIN_KNOWN = (0.01, 0.955)
"""Minimum confusion, and minimum likeness, of characters that people confuse; one of the two is enough."""

MIN_CONFUSED = 0.1
"""Minimum confusion of characters that only measurement finds similar."""

MIN_BOTH = (0.005, 0.965)
"""Minimum confusion and likeness together that are also enough for them."""

ATTESTED = frozenset(
    re.findall(
        r"\S+",
        """魯魚 亥豕 焉烏 烏馬 虛虎 陶陰 士土 右石 于干 于千 干千 若苦 券卷 菅管 籍藉 母毋 羸嬴 嬴贏 傅傳 徹撤 楊揚 住往
        持特 戒戎 人入 大太 天夭 戊戌 戊戍 戌戍 末未 今令 侯候 史吏 王玉 折析 徵微 氏氐 白自 矢失 侍待 免兔 治冶 師帥
        遣遺 徒徙""",
    )
)
"""Pairs that the critics name as what a copyist takes for each other (魯魚亥豕, 烏焉成馬), and others of their kind."""

SIDE = 80

Pixels = NDArray[np.uint8]


def frequent(paths: list[Path]) -> dict[str, int]:
    """The Han characters that the texts have at least `MIN_OCCURRENCES` times, or that critics name, with their counts;
    most frequent first."""
    named = set("".join(ATTESTED))
    counts: Counter[int] = Counter()
    for path in paths:
        try:
            text = read_transcription(path)
        except TextError:
            continue  # a head without pages
        tokens, numbers = np.unique(stream_of(text).tokens, return_counts=True)
        counts.update(dict(zip(tokens.tolist(), numbers.tolist(), strict=True)))
    often = (token for token, number in counts.most_common() if number >= MIN_OCCURRENCES or chr(token) in named)
    return {chr(token): counts[token] for token in often if is_han(chr(token))}


def drawn(character: str, font: ImageFont.FreeTypeFont) -> Pixels | None:
    """The character in black on white, its ink in the middle; None where the font lacks it."""
    image = Image.new("L", (SIDE, SIDE), 255)
    box = font.getbbox(character)
    if font.getmask(character).getbbox() is None:
        return None
    left = (SIDE - box[2] - box[0]) / 2
    top = (SIDE - box[3] - box[1]) / 2
    ImageDraw.Draw(image).text((left, top), character, fill=0, font=font)
    return np.array(image)


def spoiled(glyph: Pixels) -> list[Pixels]:
    """The drawing as bad prints and scans have it."""
    tall = cv2.copyMakeBorder(glyph, 8, 8, 0, 0, cv2.BORDER_CONSTANT, value=(255,))
    kernel = np.ones((3, 3), np.uint8)
    versions = [cv2.GaussianBlur(tall, (0, 0), sigma) for sigma in (3.0, 4.5)]
    versions += [cv2.GaussianBlur(cv2.erode(tall, kernel, iterations=2), (0, 0), 2.5)]
    versions += [cv2.GaussianBlur(cv2.dilate(tall, kernel), (0, 0), 2.0)]
    small = cv2.resize(tall, (14, 17), interpolation=cv2.INTER_AREA)
    versions += [cv2.resize(small, (SIDE, SIDE + 16), interpolation=cv2.INTER_LINEAR)]
    return [np.asarray(picture, np.uint8) for picture in versions]


def confusions(glyphs: dict[str, Pixels]) -> dict[tuple[str, str], float]:
    """For pairs of characters the mean probability that the drawing of either is read as the other, the greater."""
    engine = PPOCR(threads=2)
    probabilities: defaultdict[tuple[str, str], float] = defaultdict(float)
    for character, glyph in glyphs.items():
        strips = spoiled(glyph)
        for reading in engine.read(strips):
            for other, chance in {pair for character in reading.characters for pair in character.alternatives}:
                if other != character and other in glyphs:
                    probabilities[character, other] += chance / len(strips)
    return {(a, b): max(p, probabilities.get((b, a), 0.0)) for (a, b), p in probabilities.items()}


def nearest(glyphs: dict[str, Pixels]) -> dict[tuple[str, str], float]:
    """The likeness of every character and those nearest to it in shape."""
    rows = []
    for glyph in glyphs.values():
        ink = cv2.resize(cv2.GaussianBlur(255.0 - glyph, (0, 0), 3.0), (20, 20), interpolation=cv2.INTER_AREA).ravel()
        rows.append(ink / np.linalg.norm(ink))
    likeness = np.array(rows) @ np.array(rows).T
    np.fill_diagonal(likeness, 0)
    names = list(glyphs)
    neighbours = {}
    for number, near in enumerate(np.argsort(-likeness, axis=1)[:, :NEAREST]):
        for other in near:
            neighbours[names[number], names[other]] = neighbours[names[other], names[number]] = float(
                likeness[number, other]
            )
    return neighbours


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    counts = frequent(options.texts)
    characters = list(counts)
    face = find_faces()[0]
    font = ImageFont.truetype(str(face.path), 64, index=face.index)
    glyphs = {character: glyph for character in characters if (glyph := drawn(character, font)) is not None}
    confused, alike = confusions(glyphs), nearest(glyphs)
    relation = policy_of(Script.TRADITIONAL).relation
    rank = {char: number for number, char in enumerate(characters)}
    chosen = []
    for first, second in {*confused, *alike, *known(characters)}:
        if rank[first] > rank[second] or relation(first, second).relation is not Relation.DISTINCT:
            continue
        p = max(confused.get((first, second), 0.0), confused.get((second, first), 0.0))
        like = alike.get((first, second), 0.0)
        source = origin(first, second)
        both_frequent = counts[second] >= FREQUENT
        measured = p >= MIN_CONFUSED or (p >= MIN_BOTH[0] and like >= MIN_BOTH[1])
        eye = source == "eye" and (p >= MIN_KNOWN[0] or like >= MIN_KNOWN[1])
        if source in ("hand", "critics") or eye or (both_frequent and measured):
            chosen.append((source != "hand", -max(p, like - 0.5), f"{first}\t{second}\t{p:.4f}\t{like:.3f}\t{source}"))
    head = "# Made by scripts/make_look_alikes.py: one, other, confused, likeness, who knew them before"
    options.out.write_text("\n".join([head, *(line for _, _, line in sorted(chosen))]) + "\n", encoding="utf-8")


def origin(first: str, second: str) -> str:
    """Who knew the two as look-alikes before anything was measured."""
    if run_together(first, second):
        return "hand"
    if first + second in ATTESTED or second + first in ATTESTED:
        return "critics"
    return "eye" if second in look_alikes(first) else ""


def known(characters: list[str]) -> set[tuple[str, str]]:
    """The pairs that were known before."""
    return {(character, other) for character in characters for other in characters if origin(character, other)}


if __name__ == "__main__":
    main()
