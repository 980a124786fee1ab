"""The characters of a text around a place, without its markup."""

from __future__ import annotations

import re

from proof.text.column import COMPOSITION, ENTITY

MAX_CONTEXT_CHARACTERS = 3
"""Maximum number of characters on either side of the place in a context."""

MAX_SOURCE_CODE_POINTS = 120
"""Maximum number of code points on either side of a place, with markup among them, from which characters are taken."""

_PARTS = re.compile(
    rf"(?P<character>{COMPOSITION.pattern}|{ENTITY.pattern})"
    r"|<[^<>]*>|\A[^<>]*>|<[^<>]*\Z"  # tags; the ends of the stretch may be within one
    r"|\[\^[^\]\s]+\]|\[疏\]|\{#[^}\s]*\}|[()（）/／【】¶#\r\n]"
    r"|(?P<other>.[\ufe00-\ufe0f\U000e0100-\U000e01ef]?)",
    re.DOTALL,
)
"""A character in any notation, or a mark of any format: of a note, a reference to a footnote, a heading, a line."""


def characters_of(source: str) -> list[str]:
    """The characters of a stretch of a text, blanks among them."""
    parts = (part["character"] or part["other"] for part in _PARTS.finditer(source))
    return [character for character in parts if character]


def before(source: str, at: int, count: int) -> str:
    """The last `count` characters of `source` before the code point `at`."""
    return "".join(characters_of(source[max(0, at - MAX_SOURCE_CODE_POINTS) : at])[-count:])


def behind(source: str, at: int, count: int) -> str:
    """The first `count` characters of `source` from the code point `at` on."""
    return "".join(characters_of(source[at : at + MAX_SOURCE_CODE_POINTS])[:count])


def context_of(source: str, offset: int, length: int) -> str:
    """The `context` of a flag: the text at its place in the source of a column, in brackets, with the characters around
    it."""
    end = offset + length
    first, last = (before(source, offset, MAX_CONTEXT_CHARACTERS), behind(source, end, MAX_CONTEXT_CHARACTERS))
    return f"{first}[{source[offset:end]}]{last}"
