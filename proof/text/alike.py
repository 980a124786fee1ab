"""Characters that one hand writes alike: groups in a plain file, `data/alike.txt`."""

from __future__ import annotations

from functools import cache
from importlib import resources


def run_together(one: str, other: str) -> bool:
    """Whether two different characters are written alike, so that their image does not tell them apart."""
    return one != other and other in _groups().get(one, frozenset())


@cache
def _groups() -> dict[str, frozenset[str]]:
    text = resources.files("proof.text").joinpath("data/alike.txt").read_text(encoding="utf-8")
    lines = (line.strip() for line in text.splitlines())
    groups = (frozenset(line) for line in lines if line and not line.startswith("#"))
    return {character: group for group in groups for character in group}
