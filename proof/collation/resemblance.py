"""Characters that are similar in shape (`data/shapes.tsv`), sound alike or share a component (`data/sounds.tsv`)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib import resources

GroupsOfCharacter = defaultdict[str, frozenset[int]]
"""The numbers of the groups that a character is in."""

_SPELLING, _SYLLABLE, _PHONETIC_SERIES, _COMPONENT = "f", "m", "p", "g"
"""The kinds of groups in `data/sounds.tsv`: 反切, modern syllable without tone, 諧聲, component."""


def near_in_shape(first: str, second: str) -> bool:
    """Whether a copyist or a typist may confuse two characters by their shapes (形近)."""
    return second in _near()[first] or first in _near()[second]


def homophones(first: str, second: str) -> bool:
    """Whether two characters share a spelling (反切), or belong to one phonetic series (諧聲: most differ only in the
    radical) and share a modern syllable, without its tone."""
    if _share(_SPELLING, first, second):
        return True
    return _share(_PHONETIC_SERIES, first, second) and _share(_SYLLABLE, first, second)


def share_part(first: str, second: str) -> bool:
    """Whether two characters share a component, or one is a component of the other."""
    return _share(_COMPONENT, first, second)


def _share(kind: str, first: str, second: str) -> bool:
    """Whether two characters are in one group of a kind."""
    return bool(_groups()[kind][first] & _groups()[kind][second])


def _rows(name: str) -> Iterator[tuple[str, str]]:
    """The lines of a data file, each divided at its tab."""
    text = resources.files("proof.collation").joinpath(f"data/{name}").read_text(encoding="utf-8")
    for line in text.splitlines():
        first, _, second = line.partition("\t")
        yield first, second


@cache
def _near() -> defaultdict[str, str]:
    return defaultdict(str, _rows("shapes.tsv"))


@cache
def _groups() -> defaultdict[str, GroupsOfCharacter]:
    """The groups of each character, by the kind of group."""
    groups: defaultdict[str, GroupsOfCharacter] = defaultdict(lambda: defaultdict(frozenset))
    for number, (kind, members) in enumerate(_rows("sounds.tsv")):
        for character in members:
            groups[kind][character] |= {number}
    return groups
