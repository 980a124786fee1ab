"""Which characters sound alike, and which share a part of their shape: `data/sounds.tsv`."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from importlib import resources


def homophones(one: str, other: str) -> bool:
    """Whether two characters have a spelling (反切) in common, or a phonetic and, tones aside, a syllable of today."""
    if _groups("f")[one] & _groups("f")[other]:
        return True
    return share_phonetic(one, other) and bool(_groups("m")[one] & _groups("m")[other])


def share_phonetic(one: str, other: str) -> bool:
    """Whether two characters are of one phonetic series (諧聲): they differ in the radical, mostly."""
    return bool(_groups("p")[one] & _groups("p")[other])


def share_part(one: str, other: str) -> bool:
    """Whether two characters have one of the parts that they are made of in common, or the one is part of the other."""
    return bool(_groups("g")[one] & _groups("g")[other])


@cache
def _groups(kind: str) -> defaultdict[str, frozenset[int]]:
    """The numbers of the groups of a kind that a character is in."""
    found: defaultdict[str, frozenset[int]] = defaultdict(frozenset)
    text = resources.files("proof.collation").joinpath("data/sounds.tsv").read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines()):
        letter, _, members = line.partition("\t")
        if letter == kind:
            for character in members:
                found[character] |= {number}
    return found
