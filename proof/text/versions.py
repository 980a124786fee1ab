"""Recognising versions of one text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)

MIN_SHARED_LINES = 0.5
"""Least share of equal lines of two versions of one text: twice the common lines, divided by the lines of both."""


def most_alike(content: str, others: Mapping[Key, str]) -> Key | None:
    """The key of the text that is a version of `content`: the one with most lines in common; None if none has
    enough."""
    shared = {key: _shared_lines(content, other) for key, other in others.items()}
    best = max(shared, key=lambda key: shared[key], default=None)
    return best if best is not None and shared[best] >= MIN_SHARED_LINES else None


def _shared_lines(first: str, second: str) -> float:
    lines, others = ([line for line in text.split("\n") if line.strip()] for text in (first, second))
    common = (Counter(lines) & Counter(others)).total()
    return 2 * common / max(len(lines) + len(others), 1)
