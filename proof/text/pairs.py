"""Files of pairs of characters that were classified by hand.

A line has a pair and its class, separated by tabs (`元<TAB>玄<TAB>taboo`). The class is `form`, `distinct` or `taboo`.
Comments begin with `#`, empty lines are ignored, and the order of a pair does not matter.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from proof.errors import TextError
from proof.locale.marking import _
from proof.text.encoding import utf8_text


class Relation(StrEnum):
    """The relation of two characters.

    `SAME`: one character. `FORM`: two shapes of one word (異體). `TABOO`: one word, written differently because of a
    naming taboo (避諱). `SCRIPT`: simplified and traditional form of one word. `DISTINCT`: two words.
    """

    SAME = "same"
    FORM = "form"
    TABOO = "taboo"
    SCRIPT = "script"
    DISTINCT = "distinct"


CLASSES = {relation.value: relation for relation in (Relation.FORM, Relation.DISTINCT, Relation.TABOO)}
"""The relations that a file of pairs can name."""

Pair = tuple[str, str]


def pair_of(first: str, second: str) -> Pair:
    """The pair in canonical order."""
    return (first, second) if first < second else (second, first)


def read_pairs(path: Path) -> dict[Pair, Relation]:
    """The pairs of a file. Raises TextError, with file and line, if it cannot be read."""
    pairs: dict[Pair, Relation] = {}
    for number, line in enumerate(utf8_text(path, _("pairs of variants")).splitlines(), start=1):
        content = line.partition("#")[0].strip()
        if content:
            pair, relation = _parse(path, number, content)
            if pairs.setdefault(pair, relation) is not relation:
                raise TextError(
                    path,
                    number,
                    _("%(first)s and %(pair)s are %(kind)s in an earlier line; keep one of the two"),
                    first=pair[0],
                    pair=pair[1],
                    kind=pairs[pair],
                )
    return pairs


def _parse(path: Path, number: int, content: str) -> tuple[Pair, Relation]:
    fields = [field.strip() for field in content.split("\t")]
    if len(fields) != 3:
        raise TextError(path, number, _("a pair is two characters and a class with tabs between: 元<TAB>玄<TAB>taboo"))
    first, second, name = fields
    for character in (first, second):
        if len(character) != 1:
            raise TextError(path, number, _("'%(character)s' is not one character"), character=character)
    if first == second:
        raise TextError(path, number, _("%(first)s is paired with itself"), first=first)
    if name not in CLASSES:
        raise TextError(
            path,
            number,
            _("'%(name)s' is not a class of pairs; write %(classes)s"),
            name=name,
            classes=", ".join(CLASSES),
        )
    return pair_of(first, second), CLASSES[name]
