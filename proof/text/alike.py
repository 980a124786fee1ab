"""Characters with similar shapes: those that look the same in handwriting (`data/alike.txt`), and those that people
confuse although images distinguish them (`data/similar.txt`). Each line of a file is a group."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from importlib import resources


def run_together(first: str, second: str) -> bool:
    """Whether two different characters look the same in handwriting, so that their image does not distinguish them."""
    return first != second and second in _groups("alike.txt").get(first, frozenset())


def look_alikes(character: str) -> tuple[str, ...]:
    """The characters with which `character` is confused although images distinguish them, by code point."""
    return tuple(sorted(_groups("similar.txt").get(character, frozenset()) - {character}))


@cache
def _groups(name: str) -> dict[str, frozenset[str]]:
    text = resources.files("proof.text").joinpath(f"data/{name}").read_text(encoding="utf-8")
    lines = (line.strip() for line in text.splitlines())
    groups: defaultdict[str, frozenset[str]] = defaultdict(frozenset)
    for line in lines:
        if line and not line.startswith("#"):
            for character in line:
                groups[character] |= frozenset(line)
    return dict(groups)
