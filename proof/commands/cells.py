"""Cells of a terminal: a Han character takes two of them, a letter one."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from unicodedata import combining, east_asian_width

WORD = re.compile(r"[\u1100-\U0003ffff]\s*|[^\s\u1100-\U0003ffff]+\s*")
"""A unit that is not divided between lines: a word of letters, or a wide character, with the space after it."""


def terminal_width() -> int:
    """The width of this terminal in cells; 80 without a terminal."""
    return shutil.get_terminal_size().columns


def cell_len(text: str) -> int:
    """The width of a text in cells."""
    return sum(2 if east_asian_width(letter) in "WF" else not combining(letter) for letter in text)


def start_of(text: str, cells: int) -> str:
    """The longest beginning of a text that fits into `cells`."""
    used = 0
    for count, character in enumerate(text):
        used += cell_len(character)
        if used > cells:
            return text[:count]
    return text


def wrapped(text: str, cells: int) -> Iterator[str]:
    """The lines of a text, of at most `cells` each, broken at spaces and between Han characters."""
    line = ""
    for word in WORD.findall(text):
        if line and cell_len((line + word).rstrip()) > cells:
            yield line.rstrip()
            line = ""
        line += word
    yield line.rstrip()
