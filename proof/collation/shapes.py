"""Which characters are so near in shape that one is an evident slip for the other (形近): `data/shapes.tsv`."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from importlib import resources


def near_in_shape(one: str, other: str) -> bool:
    """Whether a copyist or a typist may take one of two characters for the other at sight."""
    return other in _near()[one]


@cache
def _near() -> defaultdict[str, frozenset[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    text = resources.files("proof.collation").joinpath("data/shapes.tsv").read_text(encoding="utf-8")
    for line in text.splitlines():
        one, _, others = line.partition("\t")
        for other in others:
            found[one].add(other)
            found[other].add(one)
    return defaultdict(frozenset, {one: frozenset(others) for one, others in found.items()})
