"""Recognising versions of the same text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)

MIN_SHARED_LINES = 0.5
"""Minimum share of equal lines of two versions of one text: twice the common lines, divided by the lines of both."""


def most_alike(content: str, others: Mapping[Key, str]) -> Key | None:
    """The key of the text that is a version of `content`: the one with the most common lines; None if none has
    enough."""
    shared = {key: _shared_lines(content, other) for key, other in others.items()}
    best = max(shared, key=lambda key: shared[key], default=None)
    return best if best is not None and shared[best] >= MIN_SHARED_LINES else None


def _shared_lines(first: str, second: str) -> float:
    first_lines, second_lines = (Counter(line for line in text.split("\n") if line.strip()) for text in (first, second))
    common = (first_lines & second_lines).total()
    return 2 * common / max(first_lines.total() + second_lines.total(), 1)
