"""Characters with similar shapes: those that look the same in handwriting (`data/alike.txt`), and those that people
confuse although their images differ (`data/similar.txt`). Each line of these files is a group."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from importlib import resources


def run_together(first: str, second: str) -> bool:
    """Whether two different characters look the same in handwriting, so that their image does not distinguish them."""
    return first != second and second in _groups("alike.txt").get(first, frozenset())


def look_alikes(character: str) -> tuple[str, ...]:
    """The characters with which `character` is confused although their images differ, by code point."""
    return tuple(sorted(_groups("similar.txt").get(character, frozenset()) - {character}))


@cache
def _groups(name: str) -> dict[str, frozenset[str]]:
    """For each character of a file all characters that are in a group with it, including itself."""
    text = resources.files("proof.text").joinpath(f"data/{name}").read_text(encoding="utf-8")
    groups: defaultdict[str, frozenset[str]] = defaultdict(frozenset)
    for line in map(str.strip, text.splitlines()):
        if not line.startswith("#"):
            for character in line:
                groups[character] |= frozenset(line)
    return dict(groups)
