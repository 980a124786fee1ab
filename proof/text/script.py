"""Recognising whether a text is in traditional or in simplified characters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache

from proof.text.conversions import conversions
from proof.text.model import Script, is_han


def script_of(texts: Iterable[str]) -> Script:
    """The script of most of the characters that belong to only one script; traditional if there are none.

    Traditional is the safe result, since in a simplified text more pairs of characters count as one word. Characters
    such as 后, 于, 制, 里 belong to both scripts and are not counted.
    """
    characters: Counter[str] = Counter()
    for text in texts:
        characters.update(text)
    scripts: Counter[Script | None] = Counter()
    for character, count in characters.items():
        if is_han(character):
            scripts[script_of_character(character)] += count
    return Script.SIMPLIFIED if scripts[Script.SIMPLIFIED] > scripts[Script.TRADITIONAL] else Script.TRADITIONAL


@lru_cache(maxsize=1 << 16)
def script_of_character(char: str) -> Script | None:
    """The script to which alone `char` belongs; None if it belongs to both.

    A character is only simplified if OpenCC converts it to another, traditional one, and the traditional character set
    Big5 lacks it. It is only traditional if OpenCC simplifies it, and the simplified set GB 2312 lacks it.
    """
    tables = conversions()
    if _converts(char, tables.traditional) and not _in_charset(char, "big5"):
        return Script.SIMPLIFIED
    to_simplified = (tables.simplified, tables.simplified_rarely)
    if any(_converts(char, table) for table in to_simplified) and not _in_charset(char, "gb2312"):
        return Script.TRADITIONAL
    return None


def _converts(char: str, table: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether the usual conversion of a character is a different one."""
    return table.get(char, (char,))[:1] not in ((), (char,))


def _in_charset(char: str, charset: str) -> bool:
    try:
        char.encode(charset)
    except UnicodeEncodeError:
        return False
    return True
