"""Plain text: no marks at all, a line a paragraph."""

from __future__ import annotations

import re
from pathlib import Path

from proof.errors import TextError
from proof.text.encoding import Decoded
from proof.text.layers import BlockKind, Layer, LayerStretch, TextBlock, numbered_lines
from proof.text.model import is_han
from proof.text.transcription import Format, Transcription

MIN_HAN_SHARE = 0.5
"""Share of Han characters among letters from which a file without marks is a Chinese text."""

_FOREIGN = (
    (
        re.compile(r"\s*(?:<!doctype html|<html)", re.IGNORECASE),
        "is HTML: save its text as plain text, or as EPUB",
    ),
    (re.compile(r"\s*<(?:\?xml|[A-Za-z][\w:.-]*[\s>/])"), "is XML of a kind that is not read: PAGE, ALTO and TEI are"),
    (re.compile(r"\s*[\[{]\s*[\"\[{\]}]"), "is JSON: give the text itself, or what the program exported as text"),
    (re.compile(r"\s*\\(?:documentclass|begin|usepackage)"), "is LaTeX: save its text as plain text in UTF-8"),
)
"""How text begins that is another format's, and what to do."""


def is_plain(text: str) -> bool:
    """Whether a text without marks is one of running Chinese."""
    letters = [char for char in text if char.isalpha() or is_han(char)]
    return bool(letters) and not foreign(text) and sum(map(is_han, letters)) >= MIN_HAN_SHARE * len(letters)


def foreign(text: str) -> str:
    """What a text is that is in a format of its own, and what to do; empty where it is in none that is known."""
    return next((advice for pattern, advice in _FOREIGN if pattern.match(text)), "")


def parse_plain(decoded: Decoded, path: Path) -> Transcription:
    """The transcription that a decoded file holds. Raises TextError where it is in another format."""
    if advice := foreign(decoded.text):
        raise TextError(path, 1, advice)
    blocks = []
    for number, start, line in numbered_lines(decoded.text):
        if line.strip():
            stretches = tuple(
                LayerStretch(Layer.CANON, start + part.start(), part[0]) for part in re.finditer(r"[^\u3000]+", line)
            )
            blocks.append(TextBlock(BlockKind.PARAGRAPH, start, start + len(line), number, stretches))
    return Transcription.of_blocks(decoded, path, Format.PLAIN, blocks, ())
