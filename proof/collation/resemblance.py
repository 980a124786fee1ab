"""Which characters are near in shape (`data/shapes.tsv`), sound alike or share a part (`data/sounds.tsv`)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib import resources

Groups = defaultdict[str, frozenset[int]]
"""The numbers of the groups that a character is in."""


def near_in_shape(first: str, second: str) -> bool:
    """Whether a copyist or a typist may take one of two characters for the other at sight (形近)."""
    return second in _near()[first] or first in _near()[second]


def homophones(first: str, second: str) -> bool:
    """Whether two characters have a spelling (反切) in common, or are of one phonetic series (諧聲: they differ in the
    radical, mostly) and have, tones aside, a syllable of today in common."""
    return _share("f", first, second) or (_share("p", first, second) and _share("m", first, second))


def share_part(first: str, second: str) -> bool:
    """Whether two characters have one of the parts that they are made of in common, or the one is part of the other."""
    return _share("g", first, second)


def _share(kind: str, first: str, second: str) -> bool:
    """Whether two characters are in one group of a kind."""
    return bool(_groups()[kind][first] & _groups()[kind][second])


def _rows(name: str) -> Iterator[tuple[str, str]]:
    """The lines of a file of data, what stands before and behind the tab of each."""
    text = resources.files("proof.collation").joinpath(f"data/{name}").read_text(encoding="utf-8")
    for line in text.splitlines():
        head, _, rest = line.partition("\t")
        yield head, rest


@cache
def _near() -> defaultdict[str, str]:
    return defaultdict(str, _rows("shapes.tsv"))


@cache
def _groups() -> defaultdict[str, Groups]:
    """The groups by their kind: spellings (f), syllables (m), phonetic series (p), parts (g)."""
    groups: defaultdict[str, Groups] = defaultdict(lambda: defaultdict(frozenset))
    for number, (kind, members) in enumerate(_rows("sounds.tsv")):
        for character in members:
            groups[kind][character] |= {number}
    return groups
