"""Recognising whether a text is in traditional or in simplified characters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache

from proof.text.conversions import conversions
from proof.text.model import Script, is_han


def script_of(texts: Iterable[str]) -> Script:
    """The script of most of the characters that belong to one script only; traditional if there are none.

    Traditional is the safe result: in a simplified text more pairs of characters count as one word. Characters such as
    后, 于, 制, 里 belong to both scripts and are not counted.
    """
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(text)
    characters = [char for char in counts if is_han(char)]
    simplified = sum(counts[char] for char in characters if script_of_character(char) is Script.SIMPLIFIED)
    traditional = sum(counts[char] for char in characters if script_of_character(char) is Script.TRADITIONAL)
    return Script.SIMPLIFIED if simplified > traditional else Script.TRADITIONAL


@lru_cache(maxsize=1 << 16)
def script_of_character(char: str) -> Script | None:
    """The only script to which `char` belongs, or None if it belongs to both.

    A character is only simplified if OpenCC converts it to another, traditional one and Big5, the traditional character
    set, lacks it; only traditional if OpenCC simplifies it and GB 2312, the simplified set, lacks it.
    """
    tables = conversions()
    if _converts(char, tables.traditional) and not _in_charset(char, "big5"):
        return Script.SIMPLIFIED
    to_simplified = (tables.simplified, tables.simplified_rarely)
    if any(_converts(char, table) for table in to_simplified) and not _in_charset(char, "gb2312"):
        return Script.TRADITIONAL
    return None


def _converts(char: str, table: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether the usual conversion of a character is another one."""
    return table.get(char, (char,))[:1] not in ((), (char,))


def _in_charset(char: str, charset: str) -> bool:
    try:
        char.encode(charset)
    except UnicodeEncodeError:
        return False
    return True
